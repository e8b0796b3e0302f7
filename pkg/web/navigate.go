package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// loadLimit is for a page to load, and what Playwright waits for one (specification, section 15.1, of waiting for a URL).
const loadLimit = 30 * time.Second

// success is the result of a command that succeeded.
func success(format string, args ...any) tool.Result {
	return tool.Result{OK: true, Text: fmt.Sprintf(format, args...)}
}

// webNavigate is web_navigate.
func webNavigate(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	action, err := arguments(args).word("action", "GOTO", "BACK", "FORWARD")
	if err != nil {
		return tool.Result{}, err
	}
	switch action {
	case "BACK":
		return p.goInHistory(ctx, -1, "back")
	case "FORWARD":
		return p.goInHistory(ctx, 1, "forward")
	}
	return navigate(ctx, p, args)
}

// navigate opens a URL.
func navigate(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	address, err := p.resolveURL(arguments(args).text("url"))
	if err != nil {
		return tool.Result{}, err
	}
	return p.open(ctx, address)
}

// launchApp opens what the target calls its base URL.
func launchApp(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	if p.device.session.BaseURL == "" {
		return tool.Result{}, fault.New(fault.ToolFailed,
			"write base_url under platforms: web: in the target's file, or call navigate with a url",
			"nothing says where the app is: the target has no base_url for the web")
	}
	return p.open(ctx, p.device.session.BaseURL)
}

// clearAppData starts over with a page that knows nothing: no cookies, no storage, no permissions.
func clearAppData(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	if err := p.device.replacePage(ctx, p); err != nil {
		return tool.Result{}, err
	}
	return success("cleared cookies, storage and permissions; the page is empty until something is opened"), nil
}

var absoluteURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://|^(?i:about|data):`)

// resolveURL makes a URL of what a trail says (specification, section 15.1): what is none is a file, beside the trail or in the project.
func (p *page) resolveURL(address string) (string, error) {
	address = strings.TrimSpace(address)
	if address == "" {
		return "", fault.New(fault.InvalidArguments, "", "url says nothing")
	}
	if absoluteURL.MatchString(address) {
		return address, nil
	}
	session := p.device.session
	var tried []string
	for _, folder := range []string{session.TrailDir, session.Root} {
		if folder == "" && !filepath.IsAbs(address) {
			continue
		}
		file, rest := address, ""
		for {
			path := file
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, filepath.FromSlash(file))
			}
			if _, err := os.Stat(path); err == nil {
				return fileURL(path) + rest, nil
			}
			cut := strings.LastIndexAny(file, "?#")
			if cut < 0 {
				tried = append(tried, path)
				break
			}
			file, rest = file[:cut], address[cut:]
		}
	}
	hint := "a URL begins with http:// or another scheme; anything else is a path, looked up from the trail's folder and the project's"
	return "", &fault.Error{
		Kind: fault.ToolFailed, Message: fmt.Sprintf("%q is no URL, and there is no file %s", address, strings.Join(tried, ", nor ")),
		Hint: hint, Cause: fs.ErrNotExist,
	}
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/ on Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// open opens a URL and waits for the page to load.
func (p *page) open(ctx context.Context, address string) (tool.Result, error) {
	begun := time.Now()
	ctx, cancel := withLimit(ctx, loadLimit)
	defer cancel()
	before := p.main().loaderID()
	var answer struct {
		LoaderID, ErrorText string
		IsDownload          bool
	}
	if err := p.target.Call(ctx, "Page.navigate", map[string]any{"url": address}, &answer); err != nil {
		return tool.Result{}, p.loadTimeout(ctx, address, before, begun, err)
	}
	switch {
	case answer.IsDownload:
		return success("%s is a download, and the page stays", address), nil
	case answer.ErrorText == "net::ERR_ABORTED":
		return p.abortedNavigation(ctx, address, before, answer.LoaderID)
	case answer.ErrorText != "":
		return tool.Result{}, p.openingError(ctx, address, before, answer.ErrorText)
	case answer.LoaderID == "":
		return success("opened %s, in the same document", address), nil
	}
	if err := p.waitForLoad(ctx, before); err != nil {
		return tool.Result{}, p.loadTimeout(ctx, address, before, begun, err)
	}
	if at := p.url(); at != address && at != address+"/" {
		return success("opened %s, which led to %s", address, at), nil
	}
	return success("opened %s", address), nil
}

// openingError says why a page could not be opened, once the browser shows that too: it would pass for what the next visit leads to.
func (p *page) openingError(ctx context.Context, address, before, code string) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_ = p.waitForLoad(ctx, before)
	return navigationError(address, code)
}

// abortedNavigation is how a visit ends that another page, a download or an answer without content took the place of.
func (p *page) abortedNavigation(ctx context.Context, address, before, loader string) (tool.Result, error) {
	// A page that crashes opens nothing either; it does not answer, and the call ends with the tab.
	if _, err := evaluated[int](ctx, p, "1"); err != nil && !errors.Is(err, errGone) {
		return tool.Result{}, err
	}
	if now := p.main().loaderID(); now == before || now == loader {
		return tool.Result{}, fault.New(fault.ToolFailed, "it may be a download, or an answer without content",
			"%s opened no page: the browser gave it up (net::ERR_ABORTED)", address)
	}
	if err := p.waitForLoad(ctx, before); err != nil {
		return tool.Result{}, err
	}
	return success("opened %s, which led to %s", address, p.url()), nil
}

// loaderID names what the frame shows: the id of its loader.
func (f *frame) loaderID() string {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	return f.loader
}

// waitForLoad waits until the main frame shows another document than before, and that has loaded. It does not wait for the network to be
// idle, which some pages never are.
func (p *page) waitForLoad(ctx context.Context, before string) error {
	return p.waitUntil(ctx, func() bool { return p.root.loader != before && p.root.loadedLoader == p.root.loader })
}

// loadTimeout says what kept a page from loading.
func (p *page) loadTimeout(ctx context.Context, address, before string, begun time.Time, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	took := time.Since(begun).Round(100 * time.Millisecond)
	if p.main().loaderID() == before {
		return fault.New(fault.CallTimeout, "does the server answer? a timeout: beside the call allows it more time",
			"%s did not answer within %s", address, took)
	}
	return fault.New(fault.CallTimeout,
		"something that the page loads, such as an image or a script, does not end; a timeout: beside the call allows it more time",
		"%s answered, but had not loaded after %s", address, took)
}

// navigationError words why a page could not be opened. The browser's own name for it comes last.
func navigationError(address, code string) error {
	known := map[string][2]string{
		"net::ERR_CONNECTION_REFUSED":     {"nothing listens there", "is the server running?"},
		"net::ERR_NAME_NOT_RESOLVED":      {"the name of its host is unknown", "check the host's name"},
		"net::ERR_CONNECTION_RESET":       {"the server closed the connection", ""},
		"net::ERR_EMPTY_RESPONSE":         {"the server closed the connection without an answer", ""},
		"net::ERR_INTERNET_DISCONNECTED":  {"there is no network", ""},
		"net::ERR_FILE_NOT_FOUND":         {"there is no such file", ""},
		"net::ERR_TOO_MANY_REDIRECTS":     {"it redirects without an end", ""},
		"net::ERR_SSL_PROTOCOL_ERROR":     {"the server does not speak TLS", "try http:// in place of https://"},
		"net::ERR_CERT_AUTHORITY_INVALID": {"nobody known has signed its certificate", "install who signed it, or use http:// in tests"},
		"net::ERR_INVALID_URL":            {"this is no valid URL", ""},
	}
	why := known[code]
	if why[0] == "" {
		why[0] = "the browser says so"
	}
	return fault.New(fault.ToolFailed, why[1], "%s could not be opened: %s (%s)", address, why[0], code)
}

// history is where a tab has been.
type history struct {
	CurrentIndex int
	Entries      []struct {
		ID  int
		URL string
	}
}

// history asks the browser, again while it has no page to ask because one takes the place of another.
func (p *page) history(ctx context.Context) (history, error) {
	for tick := time.Tick(20 * time.Millisecond); ; {
		var h history
		err := p.target.Call(ctx, "Page.getNavigationHistory", nil, &h)
		refused, ok := errors.AsType[*cdp.Error](err)
		if !ok || !strings.Contains(refused.Message, "Not attached to an active page") {
			return h, err
		}
		select {
		case <-ctx.Done():
			return h, err
		case <-tick:
		}
	}
}

// goInHistory goes back or forward in the history.
func (p *page) goInHistory(ctx context.Context, by int, where string) (tool.Result, error) {
	begun := time.Now()
	ctx, cancel := withLimit(ctx, loadLimit)
	defer cancel()
	history, err := p.history(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	i := history.CurrentIndex + by
	if i < 0 || i >= len(history.Entries) {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "there is no page to go %s to from %s", where, p.url())
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
		<-loaded //nolint:errcheck // the page is there
	case err := <-loaded:
		if err != nil {
			return tool.Result{}, p.loadTimeout(ctx, entry.URL, before, begun, err)
		}
	}
	return success("went %s to %s", where, p.url()), nil
}

// webWaitForURL is web_waitForUrl.
func webWaitForURL(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	pattern, err := regexp.Compile(a.text("pattern"))
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.InvalidArguments, err, "write a regular expression; a dot in a URL is \\.", "pattern")
	}
	limit := timeoutOf(a, loadLimit)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = p.waitUntil(waiting, func() bool { return pattern.MatchString(p.root.url) })
	switch {
	case err == nil:
		return success("the URL is %s", p.url()), nil
	case ctx.Err() != nil:
		return tool.Result{}, err
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "",
		"the URL is %s; within %s it did not become one that %q fits", p.url(), limit, pattern)
}

// webCurrentURL is web_currentUrl. The page knows of a change before we do.
func webCurrentURL(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	at, err := evaluated[string](ctx, p, "location.href")
	if err != nil || strings.HasPrefix(at, "chrome-error:") {
		at = p.url()
	}
	return success("%s", at), nil
}
