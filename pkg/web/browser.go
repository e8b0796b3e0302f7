package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

const (
	// startLimit bounds the start of a browser, which takes 0.2 s, and longer with a cold disk or on a busy machine.
	startLimit = 30 * time.Second
	// closeLimit bounds the exit of a browser with a window, which may write its profile.
	closeLimit = 2 * time.Second
)

// installHint says how to get a browser on a system.
func installHint(system string) string {
	install := map[string]string{
		"linux":   "install Chrome, Chromium or Edge (Debian and Ubuntu: apt-get install chromium)",
		"darwin":  "install Chrome, Chromium or Edge (brew install --cask google-chrome)",
		"windows": "install Chrome, Chromium or Edge (winget install Google.Chrome)",
	}
	return cmp.Or(install[system], "install Chrome or Chromium") + ", give its path with --browser or TRAILBLAZE_BROWSER, or the URL of " +
		"one that runs elsewhere with --cdp-url"
}

// browser is a connection to a browser.
type browser struct {
	conn    *cdp.Conn
	process device.Process // nil for a browser that this process did not start
	name    string         // product, version and path, for messages
	product string         // product and version
	headed  bool
	folder  string // its temporary folder; empty for a browser that this process did not start

	mu       sync.Mutex
	contexts map[string]*browserContext // by id
}

// executableNames are the names of browsers on PATH, the preferred one first. A headless shell has no window. It starts
// in less than half the time, and plays a short trail in two thirds.
func (o options) executableNames() []string {
	browsers := []string{
		"google-chrome-stable",
		"google-chrome",
		"chromium",
		"chromium-browser",
		"chrome",
		"microsoft-edge-stable",
		"microsoft-edge",
		"msedge",
	}
	if o.headed {
		return browsers
	}
	return append([]string{"chrome-headless-shell", "chromium-headless-shell"}, browsers...)
}

// installPaths are the usual paths of browsers that are not on PATH.
func installPaths(goos string, getenv func(string) string) []string {
	switch goos {
	case "darwin":
		var found []string
		for _, folder := range []string{"/Applications", getenv("HOME") + "/Applications"} {
			for _, app := range []string{"Google Chrome", "Chromium", "Microsoft Edge"} {
				found = append(found, folder+"/"+app+".app/Contents/MacOS/"+app)
			}
		}
		return found
	case "windows":
		var found []string
		for _, folder := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			for _, app := range []string{
				`Google\Chrome\Application\chrome`, `Chromium\Application\chrome`,
				`Microsoft\Edge\Application\msedge`,
			} {
				if dir := getenv(folder); dir != "" {
					found = append(found, dir+`\`+app+".exe")
				}
			}
		}
		return found
	}
	return []string{
		"/opt/google/chrome/chrome",
		"/usr/lib/chromium/chromium",
		"/usr/lib/chromium-browser/chromium-browser",
		"/snap/bin/chromium",
		"/opt/microsoft/msedge/msedge",
	}
}

// find returns the path of the browser to start.
func (o options) find() (string, error) {
	if o.browser != "" {
		return o.lookUp()
	}
	for _, name := range o.executableNames() {
		path, err := o.programs.LookPath(name, o.env)
		if err == nil {
			return filepath.Abs(path)
		}
		if errors.Is(err, fs.ErrPermission) {
			return "", fault.New(fault.PermissionDenied, "make it executable, or remove it from PATH",
				"the browser %s is on PATH but is not executable", name)
		}
	}
	paths := installPaths(runtime.GOOS, func(name string) string { return device.Getenv(o.env, name) })
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fault.New(fault.CommandNotFound, installHint(runtime.GOOS), "no browser was found: looked for %s on PATH, and for %s",
		strings.Join(o.executableNames(), ", "), strings.Join(paths, ", "))
}

// lookUp finds the browser that the user configured, by a path or a name on PATH.
func (o options) lookUp() (string, error) {
	path, err := o.programs.LookPath(o.browser, o.env)
	if strings.ContainsAny(o.browser, `/\`) {
		path = o.browser
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", &fault.Error{
			Kind:    fault.CommandNotFound,
			Hint:    "write its path, or leave it out to use the browser that is installed",
			Cause:   err,
			Message: fmt.Sprintf("the browser %q of --browser or TRAILBLAZE_BROWSER was not found", o.browser),
		}
	}
	if o.headed && strings.Contains(filepath.Base(path), "headless-shell") {
		return "", fault.New(fault.Misuse, "leave out --headed, or choose another browser with --browser",
			"the browser %q has no window to show", o.browser)
	}
	return filepath.Abs(path)
}

// flags are the browser's flags. Most turn off network access of the browser itself, questions to the user, and
// throttling of pages in the background. The last features prepare address bars and spare processes, which takes a
// quarter of the start. The network service needs a process of its own only where browsing has to survive its crash.
// A frame of another site has a process of its own, also in a headless shell, so that it cannot stop or crash the page.
func (o options) flags(folder string) []string {
	flags := []string{
		"--user-data-dir=" + folder,
		"--no-first-run",
		"--no-default-browser-check",
		"--no-startup-window",
		"--no-service-autorun",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-default-apps",
		"--disable-sync",
		"--disable-domain-reliability",
		"--disable-client-side-phishing-detection",
		"--disable-field-trial-config",
		"--metrics-recording-only",
		"--disable-extensions",
		"--disable-component-extensions-with-background-pages",
		"--disable-search-engine-choice-screen",
		"--disable-prompt-on-repost",
		"--disable-hang-monitor",
		"--site-per-process",
		"--disable-popup-blocking",
		"--disable-infobars",
		"--disable-breakpad",
		"--disable-back-forward-cache",
		"--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",
		"--disable-ipc-flooding-protection",
		"--disable-dev-shm-usage",
		"--allow-pre-commit-input",
		"--password-store=basic",
		"--use-mock-keychain",
		"--mute-audio",
		"--force-color-profile=srgb",
		"--hide-scrollbars",
		"--export-tagged-pdf",
		"--enable-features=NetworkServiceInProcess2",
		"--disable-features=" + strings.Join([]string{
			"Translate",
			"MediaRouter",
			"DialMediaRouteProvider",
			"GlobalMediaControls",
			"OptimizationHints",
			"AcceptCHFrame",
			"HttpsUpgrades",
			"HttpsFirstBalancedModeAutoEnable",
			"CertificateTransparencyComponentUpdater",
			"LensOverlay",
			"PaintHolding",
			"DeferRendererTasksAfterInput",
			"AutofillServerCommunication",
			"DestroyProfileOnBrowserClose",
			"ThirdPartyStoragePartitioning",
			"SpareRendererForSitePerProcess",
			"PreloadTopChromeWebUI",
			"WebUIOmniboxPopup",
			"WebUIOmniboxAimPopup",
			"WebUIOmniboxFullPopup",
		}, ","),
	}
	if !o.headed {
		flags = append(flags, "--headless=new")
	}
	if o.programs.CanPipe() {
		return append(flags, "--remote-debugging-pipe")
	}
	return append(flags, "--remote-debugging-port=0")
}

// start starts a browser, or connects to the one at cdpUrl.
func (o options) start(ctx context.Context, log func(level, message, hint string)) (*browser, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if o.cdpURL != "" {
		return o.connect(ctx)
	}
	path, err := o.find()
	if err != nil {
		return nil, err
	}
	if o.root {
		log("info", "the browser runs without its sandbox, which does not work for root",
			"run as another user to have the sandbox")
		return o.launch(ctx, path, "--no-sandbox")
	}
	b, err := o.launch(ctx, path)
	if err != nil && noSandbox().MatchString(err.Error()) {
		log("info", "the browser runs without its sandbox, which this machine or container does not allow",
			"allow unprivileged user namespaces to have it")
		return o.launch(ctx, path, "--no-sandbox")
	}
	return b, err
}

// launch starts a browser with a profile of its own.
func (o options) launch(ctx context.Context, path string, more ...string) (*browser, error) {
	folder, err := os.MkdirTemp(o.tempDir(), "trailblaze-")
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "", "making a folder for the browser's profile")
	}
	// Its temporary files are removed with the profile.
	env := slices.Concat(o.env, []string{"TMPDIR=" + folder, "BREAKPAD_DUMP_LOCATION=" + folder})
	piped, err := o.programs.Start(ctx, device.Program{
		Name: "browser", Path: path, Args: append(o.flags(folder), more...), Env: env, Folder: folder, IsNoise: isBrowserNoise,
	})
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	b := &browser{process: piped.Process, name: path, headed: o.headed, folder: folder, contexts: map[string]*browserContext{}}
	var transport cdp.Transport
	if o.programs.CanPipe() {
		transport = cdp.Pipes(piped.Out, piped.In)
	} else if transport, err = dialPort(ctx, folder, piped.Process); err != nil {
		_ = b.kill()
		return nil, b.startError(err)
	}
	b.conn = cdp.NewConn(transport)
	if err := b.initialize(ctx); err != nil {
		if b.conn.Err() != nil {
			b.waitForExit()
		}
		_ = b.kill()
		return nil, b.startError(err)
	}
	return b, nil
}

// tempDir is the parent of a browser's folder. Chromium exits at once when the path of a socket in the folder has more
// than 103 bytes, of which the names of the folder and the socket take 66.
func (o options) tempDir() string {
	const longest = 37
	dir := device.Getenv(o.env, "TMPDIR")
	if dir == "" {
		dir = os.TempDir() //nolint:forbidigo // when the given environment has no TMPDIR
	}
	if runtime.GOOS != "windows" && len(dir) > longest {
		return "/tmp"
	}
	return dir
}

// dialPort connects to a browser that chose a port and writes it to a file.
func dialPort(ctx context.Context, folder string, process device.Process) (cdp.Transport, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if data, err := os.ReadFile(filepath.Join(folder, "DevToolsActivePort")); err == nil {
			if port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n"); ok {
				return cdp.Dial(ctx, "ws://127.0.0.1:"+port+path, nil)
			}
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return nil, io.ErrUnexpectedEOF
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// initialize reads the version, and makes the browser attach this connection to every new page before its scripts run.
func (b *browser) initialize(ctx context.Context) error {
	s := b.conn.Browser()
	s.Listen(b.onEvent)
	version := s.Send("Browser.getVersion", nil)
	attach := s.Send("Target.setAutoAttach", autoAttach("page"))
	var about struct{ Product string }
	if err := version(ctx, &about); err != nil {
		return err
	}
	if err := attach(ctx, nil); err != nil {
		return err
	}
	b.product = strings.NewReplacer("HeadlessChrome", "Chrome", "/", " ").Replace(about.Product)
	b.name = fmt.Sprintf("%s (%s)", b.product, b.name)
	return nil
}

// autoAttach are the parameters of Target.setAutoAttach for one type of target.
func autoAttach(kind string) map[string]any {
	return map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": []map[string]any{{"type": kind}},
	}
}

// attachedTarget are the parameters of Target.attachedToTarget.
type attachedTarget struct {
	SessionID  string
	TargetInfo struct {
		TargetID, Type, URL, BrowserContextID, ParentFrameID, OpenerID string
	}
	WaitingForDebugger bool
}

// onEvent passes a new page to the context that it is in, and detaches from pages of other clients. Events of downloads
// are passed to the context whose page began them.
func (b *browser) onEvent(e cdp.Event) {
	switch e.Method {
	case "Target.attachedToTarget":
		b.onAttached(e)
	case "Browser.downloadWillBegin", "Browser.downloadProgress":
		b.onDownload(e)
	}
}

func (b *browser) onAttached(e cdp.Event) {
	var a attachedTarget
	if e.Decode(&a) != nil {
		return
	}
	b.mu.Lock()
	c := b.contexts[a.TargetInfo.BrowserContextID]
	b.mu.Unlock()
	s := b.conn.Session(a.SessionID)
	if c != nil {
		c.onAttached(s, a)
		return
	}
	s.Send("Runtime.runIfWaitingForDebugger", nil)
	b.conn.Browser().Send("Target.detachFromTarget", map[string]any{"sessionId": a.SessionID})
}

// connect connects to the browser at cdpUrl.
func (o options) connect(ctx context.Context) (*browser, error) {
	fail := func(err error) (*browser, error) {
		return nil, &fault.Error{
			Kind:    fault.Device,
			Message: fmt.Sprintf("cannot connect to a browser at %s: %v", o.cdpURL, err),
			Cause:   err,
			Hint: "--cdp-url, TRAILBLAZE_CDP_URL or cdpUrl is the URL of a browser that was started with " +
				"--remote-debugging-port: http://HOST:PORT or ws://…",
		}
	}
	address := o.cdpURL
	if strings.HasPrefix(address, "http") {
		var err error
		if address, err = webSocketURL(ctx, address); err != nil {
			return fail(err)
		}
	}
	transport, err := cdp.Dial(ctx, address, nil)
	if err != nil {
		return fail(err)
	}
	b := &browser{conn: cdp.NewConn(transport), name: o.cdpURL, headed: o.headed, contexts: map[string]*browserContext{}}
	if err := b.initialize(ctx); err != nil {
		_ = b.conn.Close()
		return fail(err)
	}
	return b, nil
}

// webSocketURL requests the URL of a browser's WebSocket. Chrome rejects requests whose Host is a name other than
// localhost, and answers a URL with the Host of the request, so for a browser in a container both are replaced.
func webSocketURL(ctx context.Context, address string) (string, error) {
	base, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	for _, host := range []string{base.Host, "localhost"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("json", "version").String(), nil)
		if err != nil {
			return "", err
		}
		request.URL.RawQuery = base.RawQuery
		request.Host = host
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		_ = response.Body.Close()
		switch {
		case err != nil:
			return "", err
		case response.StatusCode == http.StatusInternalServerError && host != "localhost":
			continue
		case response.StatusCode != http.StatusOK:
			return "", fmt.Errorf("%s answers %s", request.URL, response.Status)
		}
		return withHost(data, base)
	}
	return "", fmt.Errorf("%s refuses the request", address)
}

// withHost reads the response of /json/version and replaces the host by the one that was connected to.
func withHost(data []byte, base *url.URL) (string, error) {
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal(data, &version); err != nil || version.URL == "" {
		return "", fmt.Errorf("%s is not the debugging port of a browser", base)
	}
	socket, err := url.Parse(version.URL)
	if err != nil {
		return "", err
	}
	socket.Host = base.Host
	if base.Scheme == "https" {
		socket.Scheme = "wss"
	}
	return socket.String(), nil
}

// startError is the error for a browser that was started and cannot be used.
func (b *browser) startError(cause error) error {
	if b.process == nil {
		return fault.Wrap(fault.Crashed, cause, "", "the browser at "+b.name)
	}
	what := fmt.Sprintf("cannot use the browser %s: %v", b.name, cause)
	if errors.Is(cause, context.DeadlineExceeded) {
		what = fmt.Sprintf("the browser %s did not respond within %s", b.name, startLimit)
	}
	if end := b.process.ExitError(); end != nil {
		what = fmt.Sprintf("the browser %s exited during its start: %s", b.name, end.Message)
	}
	return b.process.Explain(fault.New(fault.Crashed, startHint(b.process.Stderr()), "%s", what))
}

var (
	// Without Chromium's setuid helper, which no container allows either, and with it.
	noSandbox  = lazyregexp.New(`No usable sandbox|Failed to move to new namespace`)
	browserLog = lazyregexp.New(`^\[[^\]]*:(?:ERROR|WARNING|INFO|VERBOSE\d*):([^\]]*)\]`)
	// The parts of its source that a start needs: the display, and the processes in the sandbox.
	startsBrowser = lazyregexp.New(`ozone|zygote`)
	stackOfDump   = lazyregexp.New(`^\s*(?:Warning: vk|at .*\.\./third_party/|#\d+ 0x|r\d+: |[a-z]{2,3}: [0-9a-f]{16}|\[end of stack trace\])`)
)

// isBrowserNoise reports whether a line that a browser wrote says nothing about its end: its own log, which has errors
// about services and drivers that a machine lacks, and addresses of a stack. Errors of the display and the sandbox are
// reasons not to start.
func isBrowserNoise(line string) bool {
	log := browserLog().FindStringSubmatch(line)
	return log != nil && !startsBrowser().MatchString(log[1]) || stackOfDump().MatchString(line) ||
		strings.HasPrefix(line, "DevTools listening on") || strings.TrimSpace(line) == ""
}

// startHint is the advice for what a browser wrote when it could not start.
func startHint(stderr string) string {
	switch {
	case strings.Contains(stderr, "error while loading shared libraries"):
		return "libraries are missing; the distribution's own package, such as chromium, installs them"
	case strings.Contains(stderr, "Missing X server") || strings.Contains(stderr, "$DISPLAY"):
		return "--headed needs a display: leave it out, or run under xvfb-run"
	}
	return "try to start it by hand, or choose another one with --browser or TRAILBLAZE_BROWSER"
}

// lostError is the error for a browser that exited, or to which the connection was lost.
func (b *browser) lostError() *fault.Error {
	if b.process == nil {
		return fault.New(fault.Crashed, "the log of the browser may say why",
			"the connection to the browser at %s was lost: %v", b.name, b.conn.Err())
	}
	return b.process.Explain(fault.New(fault.Crashed, "", "the browser %s exited", b.name))
}

// waitForExit waits for the exit of a browser whose pipes were closed, so that errors can report its exit code.
func (b *browser) waitForExit() {
	if b.process == nil {
		return
	}
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	select {
	case <-b.process.Done():
	case <-limit.C:
	}
}

// close closes the connection, and ends the browser if this process started it. Only a browser with a window is asked
// to exit by itself; the profile of any other is removed anyway.
func (b *browser) close() error {
	if b.process == nil {
		return b.conn.Close()
	}
	if b.headed {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit) //nolint:forbidigo // outlives calls
		defer cancel()
		b.conn.Browser().Send("Browser.close", nil)
		select {
		case <-b.process.Done():
		case <-ctx.Done():
		}
	}
	return b.kill()
}

// kill kills a browser that this process started.
func (b *browser) kill() error {
	now, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // outlives calls
	cancel()
	err := b.process.Stop(now)
	if b.conn != nil {
		_ = b.conn.Close()
	}
	return err
}
