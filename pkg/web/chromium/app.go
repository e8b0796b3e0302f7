package chromium

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

const (
	// appLimit bounds the start of an app, until it has a window.
	appLimit = 30 * time.Second
	// appGrace is how long an app may take to exit after SIGTERM, in which it writes its data.
	appGrace = 2 * time.Second
	// maxLine is how much of a line that an app writes is kept, in bytes.
	maxLine = 4 << 10
)

// App is an Electron app to start, or to connect to.
type App struct {
	device.App
	Dir      string   // in which Command is started, absolute
	Vars     []string // the environment, to which Env is added
	Programs device.Programs
}

// OverrideApp returns an app with what the environment says of it.
func OverrideApp(app device.App, env []string) (device.App, error) {
	if command := device.Getenv(env, "TRAILBLAZE_ELECTRON_COMMAND"); command != "" {
		app.Command, app.URL = command, ""
	}
	if args := device.Getenv(env, "TRAILBLAZE_ELECTRON_ARGS"); args != "" {
		app.Args = strings.Fields(args)
	}
	app.URL = cmp.Or(device.Getenv(env, "TRAILBLAZE_ELECTRON_CDP_URL"), app.URL)
	if port := device.Getenv(env, "TRAILBLAZE_ELECTRON_CDP_PORT"); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return app, fault.New(fault.Misuse, "write a number, or 0 to let the app choose one",
				"TRAILBLAZE_ELECTRON_CDP_PORT: %q is not a port", port)
		}
		app.Port = int(number)
	}
	if headless := device.Getenv(env, "TRAILBLAZE_ELECTRON_HEADLESS"); headless != "" {
		is, err := strconv.ParseBool(headless)
		if err != nil {
			return app, fault.New(fault.Misuse, "write true or false",
				"TRAILBLAZE_ELECTRON_HEADLESS: %q is neither true nor false", headless)
		}
		app.Headless = is
	}
	return app, nil
}

// Limit is how long the app may take until it has a window.
func (a App) Limit() time.Duration { return cmp.Or(a.Timeout, appLimit) }

// Start starts the app and connects to it, or connects to the one at URL. The caller attaches to its pages.
func (a App) Start(ctx context.Context) (*Browser, error) {
	if a.URL != "" {
		conn, err := dial(ctx, a.URL)
		if err != nil {
			return nil, connectError("an Electron app", a.URL, "cdpUrl or TRAILBLAZE_ELECTRON_CDP_URL", err)
		}
		return &Browser{Conn: conn, Name: a.URL, Headed: true, isApp: true}, nil
	}
	path, err := a.Find()
	if err != nil {
		return nil, err
	}
	if err := a.checkPort(ctx); err != nil {
		return nil, err
	}
	return a.launch(ctx, path)
}

// Find returns the path of the command.
func (a App) Find() (string, error) {
	if a.Command == "" {
		return "", fault.New(fault.Misuse,
			"write electron: { command: … } in the file of the target, or set TRAILBLAZE_ELECTRON_COMMAND or TRAILBLAZE_ELECTRON_CDP_URL",
			"the driver playwright-electron needs an app, and the target names none")
	}
	command := a.Command
	if strings.ContainsAny(command, `/\`) && !filepath.IsAbs(command) {
		command = filepath.Join(a.Dir, command)
	}
	path, err := a.Programs.LookPath(command, a.environment())
	if err != nil {
		return "", &fault.Error{
			Kind: fault.CommandNotFound, Cause: err, Message: fmt.Sprintf("the command %q of the Electron app was not found", a.Command),
			Hint: "electron: command in the file of the target, or TRAILBLAZE_ELECTRON_COMMAND, is a path in the project or a name on PATH",
		}
	}
	return filepath.Abs(path)
}

func (a App) environment() []string { return device.WithVariables(a.Vars, a.Env) }

// checkPort returns an error if another program uses the port, which would be taken for the app.
func (a App) checkPort(ctx context.Context) error {
	if a.Port == 0 {
		return nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.host())
	if err != nil {
		return nil //nolint:nilerr // the port is free
	}
	_ = conn.Close()
	return fault.New(fault.Device, "end the program that uses it, or write cdpPort: 0 to let the app choose a port",
		"the app %s cannot have the port %d for DevTools: another program uses it", a.Command, a.Port)
}

func (a App) host() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)) }

// flags are the flags that follow the arguments of the app, as Chromium reads flags anywhere. Windows are drawn also while
// others cover them, without which nothing is known of their elements.
func (a App) flags() []string {
	flags := []string{
		"--remote-debugging-port=" + strconv.Itoa(a.Port),
		"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
	}
	if a.Headless {
		flags = append(flags, "--headless")
		if runtime.GOOS == "linux" {
			flags = append(flags, "--ozone-platform=headless")
		}
	}
	return flags
}

func (a App) launch(ctx context.Context, path string) (*Browser, error) {
	announced := &announcement{url: make(chan string, 1)}
	process, err := a.Programs.Start(ctx, device.Program{
		Name: "app", Path: path, Args: slices.Concat(a.Args, a.flags()), Env: a.environment(), Dir: a.Dir,
		IsNoise: isBrowserNoise, Stderr: announced, Terminate: true,
	})
	if err != nil {
		return nil, err
	}
	if process.In != nil {
		_, _ = process.In.Close(), process.Out.Close()
	}
	b := &Browser{Name: path, Headed: true, process: process.Process, grace: appGrace, isApp: true}
	if b.Conn, err = a.connect(ctx, process.Process, announced); err != nil {
		err = a.startError(ctx, b, err)
		_ = b.kill()
		return nil, err
	}
	return b, nil
}

// connect waits until the app has said where its DevTools are, and connects to it. Another program may answer at its port.
func (a App) connect(ctx context.Context, process device.Process, announced *announcement) (*cdp.Conn, error) {
	ctx, stop := whileRunning(ctx, process)
	defer stop()
	select {
	case url := <-announced.url:
		return dial(ctx, url)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errExited = errors.New("the app has exited")

// whileRunning returns a context that also ends with a process.
func whileRunning(ctx context.Context, process device.Process) (running context.Context, stop func()) {
	running, cancel := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-process.Done():
			cancel(errExited)
		case <-running.Done():
		}
	})
	return running, func() {
		cancel(nil)
		watcher.Wait()
	}
}

// startError is the error for an app that was started with ctx and cannot be driven.
func (a App) startError(ctx context.Context, b *Browser, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Wrap(fault.Cancelled, cause, "", "starting the app "+a.Command)
	}
	what := fmt.Sprintf("the app %s cannot be driven: %v", a.Command, cause)
	if errors.Is(cause, context.DeadlineExceeded) {
		what = fmt.Sprintf("the app %s did not say on stderr within %s where its DevTools listen", a.Command, a.Limit())
	}
	if end := b.process.ExitError(); end != nil {
		what = fmt.Sprintf("the app %s ended during its start: it %s", a.Command, end.Message)
	}
	return b.process.Explain(fault.New(fault.Crashed, appHint(b.process.Stderr()), "%s", what))
}

// appHint is the advice for what an app wrote when it could not start.
func appHint(stderr string) string {
	switch {
	case strings.Contains(stderr, "--no-sandbox") || noSandbox().MatchString(stderr):
		return "write --no-sandbox in args: this user or container cannot have the sandbox of Chromium"
	case strings.Contains(stderr, "Missing X server") || strings.Contains(stderr, "$DISPLAY"):
		return "the app needs a display: run under xvfb-run, or write headless: true"
	}
	return "start it by hand with --remote-debugging-port=9222: it has to write \"DevTools listening on ws://…\", which it does not " +
		"when another program uses the port; apps that read their own arguments have to pass it on to Electron"
}

var listening = lazyregexp.New(`DevTools listening on (ws://(?:127\.0\.0\.1|localhost|\[::1\]):\d+/\S*)`)

// announcement finds the URL of DevTools in what an app writes to stderr.
type announcement struct {
	url  chan string // receives it, once
	line []byte      // the last one, which is not complete
	sent bool
}

// Write implements io.Writer.
func (a *announcement) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		if a.sent {
			break
		}
		a.line = append(a.line, part...)
		if !bytes.HasSuffix(part, []byte("\n")) && len(a.line) < maxLine {
			break
		}
		if found := listening().FindSubmatch(a.line); found != nil {
			a.sent = true
			a.url <- string(found[1])
		}
		a.line = a.line[:0]
	}
	return len(p), nil
}
