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

// said is the result of a command that succeeded.
func said(format string, args ...any) tool.Result {
	return tool.Result{OK: true, Text: fmt.Sprintf(format, args...)}
}

// webNavigate is web_navigate.
func webNavigate(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	action, err := arguments(args).word("action", "GOTO", "BACK", "FORWARD")
	if err != nil {
		return tool.Result{}, err
	}
	switch action {
	case "BACK":
		return t.travel(ctx, -1, "back")
	case "FORWARD":
		return t.travel(ctx, 1, "forward")
	}
	return navigate(ctx, t, args)
}

// navigate opens a URL.
func navigate(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	address, err := t.resolve(arguments(args).text("url"))
	if err != nil {
		return tool.Result{}, err
	}
	return t.visit(ctx, address)
}

// launchApp opens what the target calls its base URL.
func launchApp(ctx context.Context, t *tab, _ map[string]any) (tool.Result, error) {
	if t.device.session.BaseURL == "" {
		return tool.Result{}, fault.New(fault.ToolFailed,
			"write base_url under platforms: web: in the target's file, or call navigate with a url",
			"nothing says where the app is: the target has no base_url for the web")
	}
	return t.visit(ctx, t.device.session.BaseURL)
}

// clearAppData starts over with a page that knows nothing: no cookies, no storage, no permissions.
func clearAppData(ctx context.Context, t *tab, _ map[string]any) (tool.Result, error) {
	if err := t.device.renew(ctx, t); err != nil {
		return tool.Result{}, err
	}
	return said("cleared cookies, storage and permissions; the page is empty until something is opened"), nil
}

var absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://|^(?i:about|data):`)

// resolve makes a URL of what a trail says (specification, section 15.1): what is none is a file, beside the trail or in the project.
func (t *tab) resolve(address string) (string, error) {
	address = strings.TrimSpace(address)
	if address == "" {
		return "", fault.New(fault.InvalidArguments, "", "url says nothing")
	}
	if absolute.MatchString(address) {
		return address, nil
	}
	session := t.device.session
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

// visit opens a URL and waits for the page to load.
func (t *tab) visit(ctx context.Context, address string) (tool.Result, error) {
	begun := time.Now()
	ctx, cancel := within(ctx, loadLimit)
	defer cancel()
	before := t.main().document()
	var answer struct {
		LoaderID, ErrorText string
		IsDownload          bool
	}
	if err := t.page.Call(ctx, "Page.navigate", map[string]any{"url": address}, &answer); err != nil {
		return tool.Result{}, t.unloaded(ctx, address, before, begun, err)
	}
	switch {
	case answer.IsDownload:
		return said("%s is a download, and the page stays", address), nil
	case answer.ErrorText == "net::ERR_ABORTED":
		return t.aborted(ctx, address, before, answer.LoaderID)
	case answer.ErrorText != "":
		return tool.Result{}, t.failed(ctx, address, before, answer.ErrorText)
	case answer.LoaderID == "":
		return said("opened %s, in the same document", address), nil
	}
	if err := t.loads(ctx, before); err != nil {
		return tool.Result{}, t.unloaded(ctx, address, before, begun, err)
	}
	if at := t.address(); at != address && at != address+"/" {
		return said("opened %s, which led to %s", address, at), nil
	}
	return said("opened %s", address), nil
}

// failed says why a page could not be opened, once the browser shows that too: it would pass for what the next visit leads to.
func (t *tab) failed(ctx context.Context, address, before, code string) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_ = t.loads(ctx, before)
	return unopened(address, code)
}

// aborted is how a visit ends that another page, a download or an answer without content took the place of.
func (t *tab) aborted(ctx context.Context, address, before, loader string) (tool.Result, error) {
	// A page that crashes opens nothing either; it does not answer, and the call ends with the tab.
	if _, err := evaluated[int](ctx, t, "1"); err != nil && !errors.Is(err, errGone) {
		return tool.Result{}, err
	}
	if now := t.main().document(); now == before || now == loader {
		return tool.Result{}, fault.New(fault.ToolFailed, "it may be a download, or an answer without content",
			"%s opened no page: the browser gave it up (net::ERR_ABORTED)", address)
	}
	if err := t.loads(ctx, before); err != nil {
		return tool.Result{}, err
	}
	return said("opened %s, which led to %s", address, t.address()), nil
}

// document names what the frame shows: the id of its loader.
func (f *frame) document() string {
	f.tab.mu.Lock()
	defer f.tab.mu.Unlock()
	return f.loader
}

// loads waits until the main frame shows another document than before, and that has loaded. It does not wait for the network to be
// idle, which some pages never are.
func (t *tab) loads(ctx context.Context, before string) error {
	return t.wait(ctx, func() bool { return t.root.loader != before && t.root.loaded == t.root.loader })
}

// unloaded says what kept a page from loading.
func (t *tab) unloaded(ctx context.Context, address, before string, begun time.Time, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	took := time.Since(begun).Round(100 * time.Millisecond)
	if t.main().document() == before {
		return fault.New(fault.CallTimeout, "does the server answer? a timeout: beside the call allows it more time",
			"%s did not answer within %s", address, took)
	}
	return fault.New(fault.CallTimeout,
		"something that the page loads, such as an image or a script, does not end; a timeout: beside the call allows it more time",
		"%s answered, but had not loaded after %s", address, took)
}

// unopened words why a page could not be opened. The browser's own name for it comes last.
func unopened(address, code string) error {
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
func (t *tab) history(ctx context.Context) (history, error) {
	for tick := time.Tick(20 * time.Millisecond); ; {
		var h history
		err := t.page.Call(ctx, "Page.getNavigationHistory", nil, &h)
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

// travel goes back or forward in the history.
func (t *tab) travel(ctx context.Context, by int, where string) (tool.Result, error) {
	begun := time.Now()
	ctx, cancel := within(ctx, loadLimit)
	defer cancel()
	history, err := t.history(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	i := history.CurrentIndex + by
	if i < 0 || i >= len(history.Entries) {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "there is no page to go %s to from %s", where, t.address())
	}
	entry := history.Entries[i]
	before := t.main().document()
	moved := make(chan struct{}, 1)
	stop := t.page.Listen(func(e cdp.Event) {
		var p struct{ FrameID string }
		if e.Method == "Page.navigatedWithinDocument" && e.Decode(&p) == nil && p.FrameID == t.main().id {
			select {
			case moved <- struct{}{}:
			default:
			}
		}
	})
	defer stop()
	if err := t.page.Call(ctx, "Page.navigateToHistoryEntry", map[string]any{"entryId": entry.ID}, nil); err != nil {
		return tool.Result{}, err
	}
	loading, cancelLoading := context.WithCancelCause(ctx)
	defer cancelLoading(nil)
	loaded := make(chan error, 1)
	go func() { loaded <- t.loads(loading, before) }()
	select {
	case <-moved:
		cancelLoading(nil)
		<-loaded //nolint:errcheck // the page is there
	case err := <-loaded:
		if err != nil {
			return tool.Result{}, t.unloaded(ctx, entry.URL, before, begun, err)
		}
	}
	return said("went %s to %s", where, t.address()), nil
}

// webWaitForURL is web_waitForUrl.
func webWaitForURL(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	pattern, err := regexp.Compile(a.text("pattern"))
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.InvalidArguments, err, "write a regular expression; a dot in a URL is \\.", "pattern")
	}
	limit := timeoutOf(a, loadLimit)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = t.wait(waiting, func() bool { return pattern.MatchString(t.root.url) })
	switch {
	case err == nil:
		return said("the URL is %s", t.address()), nil
	case ctx.Err() != nil:
		return tool.Result{}, err
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "",
		"the URL is %s; within %s it did not become one that %q fits", t.address(), limit, pattern)
}

// webCurrentURL is web_currentUrl. The page knows of a change before we do.
func webCurrentURL(ctx context.Context, t *tab, _ map[string]any) (tool.Result, error) {
	at, err := evaluated[string](ctx, t, "location.href")
	if err != nil || strings.HasPrefix(at, "chrome-error:") {
		at = t.address()
	}
	return said("%s", at), nil
}
