package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// success returns the result of a command that succeeded, with the notes among args.
func success(format string, args ...any) tool.Result {
	result := tool.Result{OK: true, Text: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		switch arg := arg.(type) {
		case observed:
			result.Notes = append(result.Notes, arg.notes...)
		case remarks:
			result.Notes = append(result.Notes, arg...)
		}
	}
	return result
}

// withNotes returns a result with notes, which its text has, too.
func withNotes(result tool.Result, notes ...string) tool.Result {
	result.Notes = append(result.Notes, notes...)
	result.Text += remarks(notes).String()
	return result
}

func webNavigate(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	action, err := syntax.Arguments(args).Word("action", "GOTO", "BACK", "FORWARD")
	if err != nil {
		return tool.Result{}, err
	}
	switch action {
	case "BACK":
		return p.goInHistory(ctx, -1, "back")
	case "FORWARD":
		return p.goInHistory(ctx, 1, "forward")
	}
	until, err := syntax.Arguments(args).Word("waitUntil", "LOAD", "DOMCONTENTLOADED")
	if err != nil {
		return tool.Result{}, err
	}
	address, err := p.resolveURL(syntax.Arguments(args).Text("url"))
	if err != nil {
		return tool.Result{}, err
	}
	return p.open(ctx, address, until == "DOMCONTENTLOADED")
}

// limited returns a handler that ends after timeoutMs.
func limited(run handler) handler {
	return func(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
		if syntax.Arguments(args).Has("timeoutMs") {
			var cancel context.CancelFunc
			limit := timeoutOf(args, 0)
			ctx, cancel = p.device.withTimeout(act.WithNamedLimit(ctx, limit), limit)
			defer cancel()
		}
		return run(ctx, p, args)
	}
}

// navigate opens a URL.
func navigate(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	address, err := p.resolveURL(syntax.Arguments(args).Text("url"))
	if err != nil {
		return tool.Result{}, err
	}
	return p.open(ctx, address, false)
}

// launchApp opens the base URL of the target.
func launchApp(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	if p.device.session.BaseURL == "" && p.device.app != nil {
		return success("the app runs; its session has started it"), nil
	}
	if p.device.session.BaseURL == "" {
		return tool.Result{}, fault.New(fault.ToolFailed,
			"write baseUrl in trailblaze.yaml, or base_url under platforms: web: in the target's file, or call navigate with a url",
			"neither the target nor the project has a base_url for the web")
	}
	return p.open(ctx, p.device.session.BaseURL, false)
}

// clearAppData replaces the page by one without cookies, storage and permissions.
func clearAppData(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	if p.device.app != nil {
		return tool.Result{}, fault.New(fault.ToolFailed, "start the app with a folder for its data that is new, such as --user-data-dir in args",
			"the data of an Electron app cannot be cleared while it runs")
	}
	if err := p.device.replaceContext(ctx, p.context); err != nil {
		return tool.Result{}, err
	}
	return success("cleared cookies, storage and permissions; the page is blank"), nil
}

// checkForAgent returns an error for a path that an agent may not open as a page. A token may add the beginning of a
// query, so a path has none.
func checkForAgent(command string, args device.Arguments, baseURL string) error {
	address := strings.TrimSpace(args.Text("url"))
	path := address
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	opens := address != "" && (command == "navigate" || command == "web_navigate")
	if !opens || !syntax.IsPath(address, baseURL) || access.IsPage(path) && !strings.Contains(path, "{{") && !strings.Contains(path, "${") {
		return nil
	}
	return fault.New(fault.PermissionDenied, agentFilesHint(),
		"agents may not open the file %s: it is not a page", address)
}

// resolveURL returns the URL for an argument (specification, section 15.1): without a scheme it is the path of a file,
// beside the trail, in the working directory if the project allows that, or in the project.
func (p *page) resolveURL(address string) (string, error) {
	address = strings.TrimSpace(address)
	if address == "" {
		return "", fault.New(fault.InvalidArguments, "", "url is empty")
	}
	switch session := p.device.session; {
	case syntax.IsPath(address, session.BaseURL):
	case strings.HasPrefix(address, "/"):
		return syntax.NormalizeURL(session.BaseURL, address), nil
	default:
		return address, nil
	}
	var tried []string
	for _, folder := range p.device.foldersOfPages(address) {
		file, rest := address, ""
		for {
			path := filepath.Join(folder, filepath.FromSlash(file))
			if _, err := os.Stat(path); err == nil {
				if folder != "" {
					p.device.files.AllowFolderOf(path)
				}
				return files.URL(path) + rest, nil
			}
			cut := strings.LastIndexAny(file, "?#")
			if cut < 0 {
				tried = append(tried, path)
				break
			}
			file, rest = file[:cut], address[cut:]
		}
	}
	hint := "write a URL with http:// or another scheme, or a path relative to the trail's folder or the project's"
	if len(tried) == 0 {
		return "", fault.New(fault.ToolFailed, hint, "%q is not a URL, and no folder is known in which it could be a file", address)
	}
	return "", &fault.Error{
		Kind:    fault.ToolFailed,
		Message: fmt.Sprintf("%q is not a URL, and the file %s does not exist", address, strings.Join(slices.Compact(tried), " or ")),
		Hint:    hint,
		Cause:   fs.ErrNotExist,
		Details: map[string]any{tool.MissingFile: tried[0]},
	}
}

// open opens a URL and waits for the page to load, or with parsed only until its document is complete.
func (p *page) open(ctx context.Context, address string, parsed bool) (tool.Result, error) {
	ctx, cancel := p.device.withLimit(ctx, p.limits().navigation)
	defer cancel()
	if err := p.device.origins.Request(ctx, address); err != nil {
		return tool.Result{}, err
	}
	if err := p.allowFiles(ctx, address); err != nil {
		return tool.Result{}, err
	}
	before, answer, err := p.startNavigation(ctx, address)
	if err != nil {
		return tool.Result{}, p.loadTimeout(ctx, address, before, err)
	}
	switch {
	case answer.IsDownload:
		return success("%s is a download; the page did not change", address), nil
	case answer.ErrorText == "net::ERR_ABORTED":
		return tool.Result{}, p.abortedNavigation(ctx, address, before, answer.LoaderID)
	case answer.ErrorText != "":
		return tool.Result{}, p.openingError(ctx, address, before, answer.ErrorText)
	case answer.LoaderID == "":
		return success("opened %s, in the same document", address), nil
	}
	err = p.waitForDocument(ctx, before, parsed)
	pending := ""
	if err != nil && p.isParsed(before) {
		if pending = p.device.network.Unfinished(); pending != "" {
			err = nil
		}
	}
	if err != nil {
		return tool.Result{}, p.loadTimeout(ctx, address, before, err)
	}
	return p.opened(address, pending), nil
}

// navigationAnswer is the result of Page.navigate.
type navigationAnswer struct {
	LoaderID, ErrorText string
	IsDownload          bool
}

// startNavigation makes the page open a URL, and does so again if the page before it refreshes itself meanwhile: nobody
// can know of its <meta http-equiv=refresh> before it has been read. It returns the loader of the document before.
func (p *page) startNavigation(ctx context.Context, address string) (before string, answer navigationAnswer, err error) {
	for again := true; ; again = false {
		f := p.main()
		before = f.loaderID()
		refreshed := f.refreshesSoFar()
		answer = navigationAnswer{}
		err = p.target.Call(ctx, "Page.navigate", map[string]any{"url": address}, &answer)
		if err != nil || answer.ErrorText != "net::ERR_ABORTED" || !again {
			return before, answer, err
		}
		_, _ = evaluateInMain[int](ctx, p, "1") // so that the events before the response have come
		if f.refreshesSoFar() == refreshed {
			return before, answer, nil
		}
		if err := p.waitUntil(ctx, func() bool { return p.root.leaving == nil }); err != nil {
			return before, answer, err
		}
	}
}

// opened is the result of a page that was opened.
func (p *page) opened(address, pending string) tool.Result {
	result := success("opened %s", address)
	if at := p.url(); at != address && at != address+"/" {
		result.Text += ", which led to " + at
	}
	return p.arrived(result, pending)
}

// arrived returns the result of a call that led to a page, with notes: that its status is an error, and what it still loads.
func (p *page) arrived(result tool.Result, pending string) tool.Result {
	var notes []string
	if status := p.errorStatus(); status != "" {
		notes = append(notes, status)
	}
	if pending != "" {
		notes = append(notes, "its document is complete, but "+pending+" has not ended")
	}
	return withNotes(result, notes...)
}

// errorStatus returns the status of the page in words if it is 400 or more; empty for any other.
func (p *page) errorStatus() string {
	status := p.device.network.Status(p.main().loaderID())
	if status < http.StatusBadRequest {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// isParsed reports whether the main frame has another document than before, and the document is complete: at most what
// it loads is missing.
func (p *page) isParsed(before string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.loader != before && p.root.parsedLoader == p.root.loader && p.root.leaving == nil
}

// waitForDocument is waitForLoad, or with parsed waits only until the document is complete.
func (p *page) waitForDocument(ctx context.Context, before string, parsed bool) error {
	if !parsed {
		return p.waitForLoad(ctx, before)
	}
	return p.waitUntil(ctx, func() bool { return p.root.loader != before && p.root.parsedLoader == p.root.loader })
}

// openingError is the error for a page that could not be opened. It waits for the browser's error page, which would
// otherwise look like the page that the next navigation opened.
func (p *page) openingError(ctx context.Context, address, before, code string) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_ = p.waitForLoad(ctx, before)
	return navigationError(address, code)
}

// abortedNavigation is the error for a navigation that another one, a download, or a response without content replaced.
func (p *page) abortedNavigation(ctx context.Context, address, before, loader string) error {
	// A page that crashes opens nothing either, but it does not respond, and the call ends with the page.
	if _, err := evaluateInMain[int](ctx, p, "1"); err != nil && !errors.Is(err, errGone) {
		return err
	}
	if other := p.otherNavigation(before, loader); other != "" {
		return fault.New(fault.ToolFailed, "wait for that page first, with web_waitForUrl or a check of what it shows",
			"%s did not open: the page before it opened %s meanwhile", address, other)
	}
	if blocked := p.device.origins.LastBlocked(); blocked != "" {
		refusal := p.device.origins.Refusal(blocked, address)
		if p.url() == "about:blank" && p.device.origins.Withdraw(address) {
			fault.As(refusal).Hint = "open " + blocked + " itself, which allows its origin"
		}
		return refusal
	}
	return fault.New(fault.ToolFailed, "it may be a download, or a response without content",
		"%s did not open a page: the browser aborted the navigation (net::ERR_ABORTED)", address)
}

// otherNavigation returns the URL that the main frame opens, or has opened since it had the document before, by a
// navigation other than loader; empty if there is none.
func (p *page) otherNavigation(before, loader string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch f := p.root; {
	case f.leaving != nil && f.leaving.loader != loader:
		return f.leaving.url
	case f.loader != before && f.loader != loader:
		return f.url
	}
	return ""
}

// loaderID returns the id of the navigation that loaded the frame's document.
func (f *frame) loaderID() string {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	return f.loader
}

// refreshesSoFar returns how often documents of the frame have refreshed themselves.
func (f *frame) refreshesSoFar() int {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	return f.refreshed
}

// waitForLoad waits until the main frame has another document than before, which has loaded and is not left at once.
// It does not wait until the network is idle, because some pages never are.
func (p *page) waitForLoad(ctx context.Context, before string) error {
	loaded := func() bool {
		f := p.root
		return f.loader != before && f.loadedLoader == f.loader && f.leaving == nil && !f.refreshes
	}
	if err := p.waitUntil(ctx, loaded); err != nil {
		return err
	}
	p.timers = p.sendTimers() // in which a script may open another page
	p.timers(ctx)
	return p.waitUntil(ctx, loaded)
}

// loadTimeout is the error for a page that did not load in time.
func (p *page) loadTimeout(ctx context.Context, address, before string, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	limit := cmp.Or(act.CallLimit(ctx), p.limits().navigation)
	if p.main().loaderID() == before {
		return fault.New(fault.CallTimeout, "check the server; a timeout: of the call allows more time",
			"%s did not respond within %s", address, limit)
	}
	missing := p.device.network.Unfinished()
	if missing != "" {
		missing = ": " + missing + " has not ended"
	}
	return fault.New(fault.CallTimeout,
		"something that the page loads does not end: waitUntil: domcontentloaded does not wait for it, and web_route with "+
			"abort: true for its URL keeps it from being loaded; a timeout: of the call allows more time",
		"%s responded, but did not finish loading within %s%s", address, limit, missing)
}

// navigationError is the error for a page that could not be opened. The browser's own code comes last.
func navigationError(address, code string) error {
	known := map[string][2]string{
		"net::ERR_CONNECTION_REFUSED":    {"the connection was refused", "check that the server is running"},
		"net::ERR_NAME_NOT_RESOLVED":     {"its host name is unknown", "check the host name"},
		"net::ERR_CONNECTION_RESET":      {"the server closed the connection", ""},
		"net::ERR_EMPTY_RESPONSE":        {"the server closed the connection without a response", ""},
		"net::ERR_INTERNET_DISCONNECTED": {"the network is not connected", ""},
		"net::ERR_FILE_NOT_FOUND":        {"the file does not exist", ""},
		"net::ERR_TOO_MANY_REDIRECTS":    {"too many redirects", ""},
		"net::ERR_SSL_PROTOCOL_ERROR":    {"the server does not use TLS", "use http:// instead of https://"},
		"net::ERR_CERT_AUTHORITY_INVALID": {
			"its certificate is not signed by a known authority",
			"install the authority, or use http:// in tests",
		},
		"net::ERR_INVALID_URL": {"the URL is invalid", ""},
	}
	why := known[code]
	if why[0] == "" {
		why[0] = "the browser reported an error"
	}
	err := fault.New(fault.ToolFailed, why[1], "%s could not be opened: %s (%s)", address, why[0], code)
	if code == "net::ERR_FILE_NOT_FOUND" {
		err.Details = map[string]any{tool.MissingFile: address}
	}
	return err
}

// history is the session history of a page.
type history struct {
	CurrentIndex int
	Entries      []struct {
		ID  int
		URL string
	}
}

// history returns the session history.
func (p *page) history(ctx context.Context) (history, error) {
	var h history
	err := p.callAttached(ctx, "Page.getNavigationHistory", nil, &h)
	return h, err
}

// callAttached calls a method that needs an attached page. While one page replaces another there is none, and the call
// is repeated.
func (p *page) callAttached(ctx context.Context, method string, params, result any) error {
	for tick := time.Tick(20 * time.Millisecond); ; {
		err := p.target.Call(ctx, method, params, result)
		if refused, ok := errors.AsType[*cdp.Error](err); !ok || !isDetached(refused.Message) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick:
		}
	}
}

// isDetached reports whether an error of the browser says that one page is replacing another.
func isDetached(message string) bool {
	return strings.Contains(message, "Not attached to an active page") ||
		strings.Contains(message, "Unable to capture screenshot")
}

// goInHistory goes back or forward in the session history.
func (p *page) goInHistory(ctx context.Context, by int, where string) (tool.Result, error) {
	ctx, cancel := p.device.withLimit(ctx, p.limits().navigation)
	defer cancel()
	history, err := p.history(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	i := history.CurrentIndex + by
	if i < 0 || i >= len(history.Entries) {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "cannot go %s from %s: the history has no such page",
			where, p.url())
	}
	entry := history.Entries[i]
	before := p.main().loaderID()
	moved := make(chan struct{}, 1)
	stop := p.target.Listen(func(e cdp.Event) {
		var params struct{ FrameID string }
		if e.Method == "Page.navigatedWithinDocument" && e.Decode(&params) == nil && params.FrameID == p.main().id {
			select {
			case moved <- struct{}{}:
			default:
			}
		}
	})
	defer stop()
	if err := p.target.Call(ctx, "Page.navigateToHistoryEntry", map[string]any{"entryId": entry.ID}, nil); err != nil {
		return tool.Result{}, err
	}
	loading, cancelLoading := context.WithCancelCause(ctx)
	defer cancelLoading(nil)
	loaded := make(chan error, 1)
	go func() { loaded <- p.waitForLoad(loading, before) }()
	select {
	case <-moved:
		cancelLoading(nil)
		<-loaded //nolint:errcheck // the navigation stayed in the document
	case err := <-loaded:
		if err != nil {
			return tool.Result{}, p.loadTimeout(ctx, entry.URL, before, err)
		}
	}
	if failed := p.loadFailure(); failed != "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "went %s, and %s", where, failed)
	}
	return p.arrived(success("went %s to %s", where, p.url()), ""), nil
}

func webWaitForURL(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	pattern, err := patternOf(a, "pattern")
	if err != nil {
		return tool.Result{}, err
	}
	limit := timeoutOf(a, p.limits().navigation)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = p.waitUntil(waiting, func() bool { return !p.root.failed && pattern.MatchString(p.root.url) })
	switch {
	case err == nil && matchesEverything(pattern):
		return success("the URL is %s (the pattern matches every URL)", p.url()), nil
	case err == nil:
		return success("the URL is %s", p.url()), nil
	case ctx.Err() != nil:
		return tool.Result{}, err
	}
	if failed := p.loadFailure(); failed != "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s; timed out after %s waiting for a URL that matches %q",
			failed, limit, pattern)
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "",
		"the URL is %s; timed out after %s waiting for one that matches %q", p.url(), limit, pattern)
}

// webCurrentURL asks the page, which has its new URL before the event about it arrives.
func webCurrentURL(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	at, err := evaluateInMain[string](ctx, p, "location.href")
	if err != nil || strings.HasPrefix(at, "chrome-error:") {
		at = p.url()
	}
	return success("%s", at), nil
}
