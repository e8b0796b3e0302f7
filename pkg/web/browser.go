package web

import (
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
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

const (
	// startLimit is for a cold disk and a machine that is busy with other browsers; a start takes 0.2 s.
	startLimit = 30 * time.Second
	// closeLimit is how long a browser that people can see, or the script around it, may take to tidy up.
	closeLimit = 2 * time.Second
)

const installHint = "install Chrome, Chromium or Edge (Debian and Ubuntu: apt-get install chromium), say where it is with --browser or " +
	"TRAILBLAZE_BROWSER, or name one that runs elsewhere with --cdp-url"

// browser is a browser that we are connected to.
type browser struct {
	conn    *cdp.Conn
	process *spawn.Process // nil for one that somebody else runs
	name    string         // for people: what it is, and where
	headed  bool
	folder  string // what it may write into, empty when somebody else runs it

	mu    sync.Mutex
	pages map[string]*page // by browser context
}

// executableNames are what browsers are called on PATH. The last ones cannot show a window, and start in half the time.
func executableNames() []string {
	return []string{
		"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome", "microsoft-edge-stable", "microsoft-edge", "msedge",
		"chrome-headless-shell", "chromium-headless-shell",
	}
}

// installPaths are where browsers are that are not on PATH.
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
			for _, app := range []string{`Google\Chrome\Application\chrome`, `Chromium\Application\chrome`, `Microsoft\Edge\Application\msedge`} {
				if dir := getenv(folder); dir != "" {
					found = append(found, dir+`\`+app+".exe")
				}
			}
		}
		return found
	}
	return []string{
		"/opt/google/chrome/chrome", "/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser", "/snap/bin/chromium",
		"/opt/microsoft/msedge/msedge",
	}
}

// find returns the path of the browser to start.
func (o options) find() (string, error) {
	if o.browser != "" {
		return o.lookUp()
	}
	for _, name := range executableNames() {
		path, err := spawn.LookPath(name, o.env)
		if err == nil {
			return filepath.Abs(path)
		}
		if errors.Is(err, fs.ErrPermission) {
			return "", fault.New(fault.PermissionDenied, "make it executable, or take it off PATH",
				"the browser %s is on PATH but may not be executed", name)
		}
	}
	elsewhere := installPaths(runtime.GOOS, o.getenv)
	for _, path := range elsewhere {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fault.New(fault.CommandNotFound, installHint, "there is no browser: looked for %s on PATH, and for %s",
		strings.Join(executableNames(), ", "), strings.Join(elsewhere, ", "))
}

// lookUp finds the browser that the user named, by a path or a name on PATH.
func (o options) lookUp() (string, error) {
	path, err := spawn.LookPath(o.browser, o.env)
	if strings.ContainsAny(o.browser, `/\`) {
		path = o.browser
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", &fault.Error{
			Kind: fault.CommandNotFound, Hint: "write its path, or leave it away to use the one that is installed", Cause: err,
			Message: fmt.Sprintf("the browser %q, which --browser or TRAILBLAZE_BROWSER names, is not there", o.browser),
		}
	}
	return filepath.Abs(path)
}

// flags are those that every start needs. Most turn off what would talk to the network, ask a person, or slow down what nobody looks
// at; the last features prepare address bars and processes that nobody will use, and take a quarter of a start.
func (o options) flags(folder string) []string {
	flags := []string{
		"--user-data-dir=" + folder, "--no-first-run", "--no-default-browser-check", "--no-startup-window", "--no-service-autorun",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
		"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-field-trial-config", "--metrics-recording-only",
		"--disable-extensions", "--disable-component-extensions-with-background-pages", "--disable-search-engine-choice-screen",
		"--disable-prompt-on-repost", "--disable-hang-monitor", "--disable-popup-blocking", "--disable-infobars", "--disable-breakpad",
		"--disable-back-forward-cache", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding", "--disable-ipc-flooding-protection", "--disable-dev-shm-usage", "--allow-pre-commit-input",
		"--password-store=basic", "--use-mock-keychain", "--mute-audio", "--force-color-profile=srgb", "--hide-scrollbars",
		"--export-tagged-pdf", "--disable-features=" + strings.Join([]string{
			"Translate", "MediaRouter", "DialMediaRouteProvider", "GlobalMediaControls", "OptimizationHints", "AcceptCHFrame", "HttpsUpgrades",
			"HttpsFirstBalancedModeAutoEnable", "CertificateTransparencyComponentUpdater", "LensOverlay", "PaintHolding",
			"AutofillServerCommunication", "DestroyProfileOnBrowserClose", "ThirdPartyStoragePartitioning",
			"SpareRendererForSitePerProcess", "PreloadTopChromeWebUI", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup",
		}, ","),
	}
	if !o.headed {
		flags = append(flags, "--headless=new")
	}
	if spawn.CanPipe {
		return append(flags, "--remote-debugging-pipe")
	}
	return append(flags, "--remote-debugging-port=0")
}

// start starts a browser of our own, or connects to one of somebody else.
func (o options) start(ctx context.Context, supervisor *spawn.Supervisor, log func(level, message, hint string)) (*browser, error) {
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
		log("info", "the browser runs without its sandbox, which root cannot use", "run as another user to have the sandbox")
		return o.launch(ctx, supervisor, path, "--no-sandbox")
	}
	b, err := o.launch(ctx, supervisor, path)
	if err != nil && strings.Contains(err.Error(), "No usable sandbox") {
		log("info", "the browser runs without its sandbox, which this machine or container does not allow",
			"allow unprivileged user namespaces to have it")
		return o.launch(ctx, supervisor, path, "--no-sandbox")
	}
	return b, err
}

// launch starts a browser with a profile of its own.
func (o options) launch(ctx context.Context, supervisor *spawn.Supervisor, path string, more ...string) (*browser, error) {
	folder, err := os.MkdirTemp(o.tempDir(), "trailblaze-")
	if err != nil {
		return nil, fault.Wrap(fault.Server, err, "", "making a folder for the browser's profile")
	}
	// What it puts into its folder for temporary files goes with the profile.
	env := slices.Concat(o.env, []string{"TMPDIR=" + folder, "BREAKPAD_DUMP_LOCATION=" + folder})
	piped, err := supervisor.Open(ctx, spawn.Program{
		Name: "browser", Path: path, Args: append(o.flags(folder), more...), Env: env, Folder: folder,
	})
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	b := &browser{process: piped.Process, name: path, headed: o.headed, folder: folder, pages: map[string]*page{}}
	var transport cdp.Transport
	if spawn.CanPipe {
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

// tempDir is where the folder of a browser begins. Chromium ends at once when the path of a socket that it puts there does not fit into
// the 103 bytes that systems allow, of which the folder and the socket take 66.
func (o options) tempDir() string {
	const longest = 37
	dir := o.getenv("TMPDIR")
	if dir == "" {
		dir = os.TempDir() //nolint:forbidigo // where the environment we were given does not say
	}
	if runtime.GOOS != "windows" && len(dir) > longest {
		return "/tmp"
	}
	return dir
}

// dialPort connects to a browser that opened a port of its own choosing. It says which one in a file, which nothing tells us of.
func dialPort(ctx context.Context, folder string, process *spawn.Process) (cdp.Transport, error) {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		if data, err := os.ReadFile(filepath.Join(folder, "DevToolsActivePort")); err == nil {
			if port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n"); ok {
				return cdp.Dial(ctx, "ws://127.0.0.1:"+port+path, nil)
			}
		}
		select {
		case <-look.C:
		case <-process.Done():
			return nil, io.ErrUnexpectedEOF
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// initialize asks who is there and has the browser hold every new page until we have seen it.
func (b *browser) initialize(ctx context.Context) error {
	s := b.conn.Browser()
	s.Listen(b.onEvent)
	version := s.Send("Browser.getVersion", nil)
	attach := s.Send("Target.setAutoAttach", autoAttach("page"))
	var is struct{ Product string }
	if err := version(ctx, &is); err != nil {
		return err
	}
	if err := attach(ctx, nil); err != nil {
		return err
	}
	product := strings.NewReplacer("HeadlessChrome", "Chrome", "/", " ").Replace(is.Product)
	b.name = fmt.Sprintf("%s (%s)", product, b.name)
	return nil
}

// autoAttach are parameters of Target.setAutoAttach for one type of target.
func autoAttach(kind string) map[string]any {
	return map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": []map[string]any{{"type": kind}},
	}
}

// attachedTarget is what Target.attachedToTarget says.
type attachedTarget struct {
	SessionID  string
	TargetInfo struct {
		TargetID, Type, URL, BrowserContextID, ParentFrameID string
	}
	WaitingForDebugger bool
}

// onEvent hands new pages to the tab whose context they belong to. Those of other people are let go.
func (b *browser) onEvent(e cdp.Event) {
	var a attachedTarget
	if e.Method != "Target.attachedToTarget" || e.Decode(&a) != nil {
		return
	}
	b.mu.Lock()
	t := b.pages[a.TargetInfo.BrowserContextID]
	b.mu.Unlock()
	s := b.conn.Session(a.SessionID)
	if t != nil {
		t.onAttached(s, a)
		return
	}
	s.Send("Runtime.runIfWaitingForDebugger", nil)
	b.conn.Browser().Send("Target.detachFromTarget", map[string]any{"sessionId": a.SessionID})
}

// connect connects to a browser that somebody else runs.
func (o options) connect(ctx context.Context) (*browser, error) {
	fail := func(err error) (*browser, error) {
		return nil, &fault.Error{
			Kind: fault.Server, Message: fmt.Sprintf("no browser can be reached at %s: %v", o.cdpURL, err), Cause: err,
			Hint: "--cdp-url, TRAILBLAZE_CDP_URL or cdpUrl names a browser that was started with --remote-debugging-port: " +
				"http://HOST:PORT or ws://…",
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
	b := &browser{conn: cdp.NewConn(transport), name: o.cdpURL, headed: o.headed, pages: map[string]*page{}}
	if err := b.initialize(ctx); err != nil {
		_ = b.conn.Close()
		return fail(err)
	}
	return b, nil
}

// webSocketURL asks a browser for its WebSocket. Chrome answers nobody who calls it by another name than localhost or an address, and names
// itself as it was called, so a browser in a container needs both put right.
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
	return "", fmt.Errorf("%s refuses us", address)
}

// withHost reads the answer of /json/version and puts the host in that we know.
func withHost(data []byte, base *url.URL) (string, error) {
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal(data, &version); err != nil || version.URL == "" {
		return "", fmt.Errorf("%s is no browser's debugging port", base)
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

// startError explains why a browser that was just started cannot be used.
func (b *browser) startError(cause error) error {
	if b.process == nil {
		return fault.Wrap(fault.Crashed, cause, "", "the browser at "+b.name)
	}
	what := fmt.Sprintf("the browser %s could not be used: %v", b.name, cause)
	if errors.Is(cause, context.DeadlineExceeded) {
		what = fmt.Sprintf("the browser %s did not answer within %s", b.name, startLimit)
	}
	if end := b.process.ExitError(); end != nil {
		what = fmt.Sprintf("the browser %s ended at its start: %s", b.name, end.Message)
	}
	return b.process.Explain(fault.New(fault.Crashed, startHint(b.process.Stderr()), "%s", what))
}

// startHint knows what browsers say when they cannot start.
func startHint(stderr string) string {
	switch {
	case strings.Contains(stderr, "error while loading shared libraries"):
		return "libraries are missing; installing the distribution's own package, such as chromium, brings them"
	case strings.Contains(stderr, "Missing X server") || strings.Contains(stderr, "$DISPLAY"):
		return "--headed needs a screen: leave it away, or run under xvfb-run"
	}
	return "does it start by hand? --browser or TRAILBLAZE_BROWSER names another one"
}

// lostError says why a browser that worked is not there any more.
func (b *browser) lostError() *fault.Error {
	if b.process == nil {
		return fault.New(fault.Crashed, "whoever runs it may know why", "the connection to the browser at %s is lost: %v", b.name, b.conn.Err())
	}
	return b.process.Explain(fault.New(fault.Crashed, "", "the browser %s is gone", b.name))
}

// waitForExit waits, when the pipes of a browser have ended, until its process has too, so that gone can say how.
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

// close ends our part of the browser, and the browser if it is ours. One that nobody can see has nothing to tidy up, and a profile that
// is removed need not be written first.
func (b *browser) close() error {
	if b.process == nil {
		return b.conn.Close()
	}
	if b.headed {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit) //nolint:forbidigo // an end belongs to no call
		defer cancel()
		b.conn.Browser().Send("Browser.close", nil)
		select {
		case <-b.process.Done():
		case <-ctx.Done():
		}
	}
	return b.kill()
}

// kill ends a browser of ours.
func (b *browser) kill() error {
	now, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // an end belongs to no call
	cancel()
	err := b.process.Stop(now)
	if b.conn != nil {
		_ = b.conn.Close()
	}
	return err
}
