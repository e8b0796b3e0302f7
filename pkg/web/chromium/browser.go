// Package chromium starts Chrome, Chromium or Edge as a process, or connects to one that runs already, and ends it.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

const (
	// startLimit bounds the start of a browser, which takes 0.2 s, and longer with a cold disk or on a busy machine.
	startLimit = 30 * time.Second
	// exitLimit bounds the exit of a browser with a window, which may write its profile.
	exitLimit = 2 * time.Second
)

// Options say which browser is used and how it is started.
type Options struct {
	Browser  string // its path, or its name on PATH; empty for one that is found
	CDPURL   string // of a browser that runs already, which is used instead; empty for none
	Headed   bool   // it has a window
	Root     bool   // this process runs as root, for which Chromium's sandbox does not work
	Env      []string
	Programs device.Programs
}

// Listener receives the events of the browser itself. One may come before Start returns.
type Listener func(*cdp.Conn, cdp.Event)

// Browser is a connection to a browser.
type Browser struct {
	Conn    *cdp.Conn
	Name    string // product, version and path, for messages
	Product string // product and version
	Headed  bool   // it has a window
	Folder  string // its temporary folder; empty for a browser that this process did not start

	process device.Process // nil for a browser that this process did not start
	grace   time.Duration  // that the process has to exit after SIGTERM
	isApp   bool
}

// Started reports whether this process started the browser.
func (b *Browser) Started() bool { return b.process != nil }

// flags are the browser's flags. Most turn off network access of the browser itself, questions to the user, and
// throttling of pages in the background. The last features prepare address bars and spare processes, which takes a
// quarter of the start. The network service needs a process of its own only where browsing has to survive its crash.
// A frame of another site has a process of its own, also in a headless shell, so that it cannot stop or crash the page.
func (o Options) flags(folder string) []string {
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
	if !o.Headed {
		flags = append(flags, "--headless=new")
	}
	if o.Programs.CanPipe() {
		return append(flags, "--remote-debugging-pipe")
	}
	return append(flags, "--remote-debugging-port=0")
}

// Start starts a browser, or connects to the one at CDPURL. It reports to log what the user should know of the start.
func (o Options) Start(ctx context.Context, log func(level, message, hint string), listen Listener) (*Browser, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if o.CDPURL != "" {
		return o.connect(ctx, listen)
	}
	path, err := o.Find()
	if err != nil {
		return nil, err
	}
	if o.Root {
		log("info", "the browser runs without its sandbox, which does not work for root",
			"run as another user to have the sandbox")
		return o.launch(ctx, path, listen, "--no-sandbox")
	}
	b, err := o.launch(ctx, path, listen)
	if err != nil && noSandbox().MatchString(err.Error()) {
		log("info", "the browser runs without its sandbox, which this machine or container does not allow",
			"allow unprivileged user namespaces to have it")
		return o.launch(ctx, path, listen, "--no-sandbox")
	}
	return b, err
}

// launch starts a browser with a profile of its own.
func (o Options) launch(ctx context.Context, path string, listen Listener, more ...string) (*Browser, error) {
	folder, err := os.MkdirTemp(o.tempDir(), "trailblaze-")
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "", "making a folder for the browser's profile")
	}
	// Its temporary files are removed with the profile. Windows has them in TMP or TEMP.
	env := slices.Concat(o.Env, []string{"TMPDIR=" + folder, "TEMP=" + folder, "TMP=" + folder, "BREAKPAD_DUMP_LOCATION=" + folder})
	piped, err := o.Programs.Start(ctx, device.Program{
		Name: "browser", Path: path, Args: append(o.flags(folder), more...), Env: env, Folder: folder, IsNoise: isBrowserNoise,
	})
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	b := &Browser{process: piped.Process, Name: path, Headed: o.Headed, Folder: folder}
	var transport cdp.Transport
	if o.Programs.CanPipe() {
		transport = cdp.Pipes(piped.Out, piped.In)
	} else if transport, err = dialPort(ctx, folder, piped.Process); err != nil {
		_ = b.kill()
		return nil, b.startError(err)
	}
	b.Conn = cdp.NewConn(transport)
	if err := b.Attach(ctx, listen); err != nil {
		if b.Conn.Err() != nil {
			b.WaitForExit()
		}
		_ = b.kill()
		return nil, b.startError(err)
	}
	return b, nil
}

// tempDir is the parent of a browser's folder. Chromium exits at once when the path of a socket in the folder has more
// than 103 bytes, of which the names of the folder and the socket take 66.
func (o Options) tempDir() string {
	const longest = 37
	dir := device.Getenv(o.Env, "TMPDIR")
	if dir == "" {
		dir = os.TempDir() //nolint:forbidigo // when the given environment has no TMPDIR
	}
	if runtime.GOOS != "windows" && len(dir) > longest {
		return "/tmp"
	}
	return dir
}

// Attach reads the version, and makes the browser attach this connection to every new page before its scripts run, and to
// those that are open. Start does that; only the browser of an app has to be attached to.
func (b *Browser) Attach(ctx context.Context, listen Listener) error {
	s := b.Conn.Browser()
	s.Listen(func(e cdp.Event) { listen(b.Conn, e) })
	version := s.Send("Browser.getVersion", nil)
	attach := s.Send("Target.setAutoAttach", AutoAttach("page"))
	var about struct{ Product string }
	if err := version(ctx, &about); err != nil {
		return err
	}
	if err := attach(ctx, nil); err != nil {
		return err
	}
	b.Product = strings.NewReplacer("HeadlessChrome", "Chrome", "/", " ").Replace(about.Product)
	b.Name = fmt.Sprintf("%s (%s)", b.Product, b.Name)
	return nil
}

// AutoAttach are the parameters of Target.setAutoAttach for one type of target.
func AutoAttach(kind string) map[string]any {
	return map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": []map[string]any{{"type": kind}},
	}
}

// startError is the error for a browser that was started and cannot be used.
func (b *Browser) startError(cause error) error {
	if b.process == nil {
		return fault.Wrap(fault.Crashed, cause, "", "the browser at "+b.Name)
	}
	what := fmt.Sprintf("cannot use the browser %s: %v", b.Name, cause)
	if errors.Is(cause, context.DeadlineExceeded) {
		what = fmt.Sprintf("the browser %s did not respond within %s", b.Name, startLimit)
	}
	if end := b.process.ExitError(); end != nil {
		what = fmt.Sprintf("the browser %s exited during its start: %s", b.Name, end.Message)
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

// LostError is the error for a browser that exited, or to which the connection was lost.
func (b *Browser) LostError() *fault.Error {
	what := "browser"
	if b.isApp {
		what = "app"
	}
	if b.process == nil {
		return fault.New(fault.Crashed, "the log of the "+what+" may say why",
			"the connection to the %s at %s was lost: %v", what, b.Name, b.Conn.Err())
	}
	return b.process.Explain(fault.New(fault.Crashed, "", "the %s %s exited", what, b.Name))
}

// WaitForExit waits for the exit of a browser whose pipes were closed, so that errors can report its exit code.
func (b *Browser) WaitForExit() {
	if b.process == nil {
		return
	}
	limit := time.NewTimer(exitLimit)
	defer limit.Stop()
	select {
	case <-b.process.Done():
	case <-limit.C:
	}
}

// Close closes the connection, and ends the browser if this process started it. Only a browser with a window is asked
// to exit by itself; the profile of any other is removed anyway, and an app does not know that call.
func (b *Browser) Close() error {
	if b.process == nil {
		return b.Conn.Close()
	}
	if b.Headed && !b.isApp {
		ctx, cancel := context.WithTimeout(context.Background(), exitLimit) //nolint:forbidigo // outlives calls
		defer cancel()
		b.Conn.Browser().Send("Browser.close", nil)
		select {
		case <-b.process.Done():
		case <-ctx.Done():
		}
	}
	return b.kill()
}

// kill kills a browser that this process started. An app has time to exit by itself.
func (b *Browser) kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), b.grace) //nolint:forbidigo // outlives calls
	defer cancel()
	err := b.process.Stop(ctx)
	if b.Conn != nil {
		_ = b.Conn.Close()
	}
	return err
}
