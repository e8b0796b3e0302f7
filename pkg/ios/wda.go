package ios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// wdaServer is the WebDriverAgent of a run.
type wdaServer struct {
	client *webdriver.Client

	mu      sync.Mutex
	process *device.PipedProcess // nil if the backend did not start it
	lock    *mobile.LockedDevice // nil before the first session, and without a folder for it
}

// acquire excludes other processes of the user from WebDriverAgent, which has one session, until close.
func (w *wdaServer) acquire(o options) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acquireLocked(o)
}

// acquireLocked is acquire for a caller that holds mu.
func (w *wdaServer) acquireLocked(o options) (err error) {
	if w.lock == nil {
		w.lock, err = mobile.Lock(o.stateDir, address(w.client.URL()), "WebDriverAgent at "+w.client.URL(),
			"give the URL of another one with --wda-url")
	}
	return err
}

// address returns what is the same for all URLs of a server: host, port and path.
func address(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])) + u.Path
}

// ensure returns the status of WebDriverAgent. It starts it if it cannot be reached and there is a command for that.
func (w *wdaServer) ensure(ctx context.Context, o options, l limits) (webdriver.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	status, err := w.status(ctx, l)
	if err == nil || len(o.start) == 0 || ctx.Err() != nil {
		return status, w.failure(ctx, err)
	}
	if err := w.acquireLocked(o); err != nil { // another process may be starting it
		return status, err
	}
	if err := w.start(ctx, o, l); err != nil {
		return status, err
	}
	return w.wait(ctx, l)
}

// status asks WebDriverAgent once.
func (w *wdaServer) status(ctx context.Context, l limits) (webdriver.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, l.probe)
	defer cancel()
	status, err := w.client.Status(ctx)
	if err == nil && !status.Ready && status.OS.Version == "" {
		err = fmt.Errorf("GET /status: not a response of WebDriverAgent")
	}
	return status, err
}

// failure returns the error for a WebDriverAgent that cannot be used; nil for nil.
func (w *wdaServer) failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "connect to WebDriverAgent")
	}
	return &fault.Error{
		Kind: fault.Device, Cause: err, Message: fmt.Sprintf("WebDriverAgent does not respond at %s: %v", w.client.URL(), err),
		Hint: "start it (xcodebuild test-without-building …, or `ios runwda` and a forwarded port), give its URL with --wda-url or " +
			"TRAILBLAZE_WDA_URL, or the command that starts it as device: {wdaStart: […]}",
	}
}

// runUntilClosed runs a command and ends it when its pipe closes, also because this process was killed. A command that
// succeeds, such as `simctl launch`, has started WebDriverAgent elsewhere: only one that fails ends the script earlier.
// What the command writes to stdout is read like its stderr.
const runUntilClosed = `"$@" >&2 3<&- 4>&- &
command=$!
(read -r _ <&3; kill "$command") 2>/dev/null &
wait "$command"
code=$?
kill "$!" 2>/dev/null
[ "$code" -ne 0 ] || read -r _ <&3
exit "$code"`

// start starts the user's command.
func (w *wdaServer) start(ctx context.Context, o options, l limits) error {
	if w.process != nil { // it has exited, or does not respond
		if err := w.stop(ctx, l); err != nil {
			return fault.Wrap(fault.Device, err, "", "end the WebDriverAgent that does not respond")
		}
	}
	program, err := shellProgram(o, "WebDriverAgent", runUntilClosed, o.start)
	if err != nil {
		return err
	}
	process, err := o.programs.Start(ctx, program)
	if err != nil {
		return err
	}
	w.process = &process
	return nil
}

// wait waits until the WebDriverAgent that was started responds.
func (w *wdaServer) wait(parent context.Context, l limits) (webdriver.Status, error) {
	ctx, cancel := context.WithTimeout(parent, l.start)
	defer cancel()
	for {
		status, err := w.status(ctx, l)
		if err == nil {
			return status, nil
		}
		timer := time.NewTimer(l.poll)
		select {
		case <-timer.C:
			continue
		case <-w.process.Done():
			err = w.process.Explain(fault.New(fault.Device, "run the command by hand to see more",
				"the command of wdaStart failed before WebDriverAgent responded at %s", w.client.URL()))
		case <-ctx.Done():
			err = w.process.Explain(&fault.Error{
				Kind: fault.Device, Cause: err, Hint: "raise device: {wdaStartTimeout: …}, or check device: {wdaUrl: …}",
				Message: fmt.Sprintf("WebDriverAgent did not respond at %s within %s after its start: %v", w.client.URL(), l.start, err),
			})
		}
		timer.Stop()
		if parent.Err() != nil {
			err = w.failure(parent, err)
		}
		return status, errors.Join(err, w.stop(parent, l))
	}
}

// explain returns an error with what is known of the process that was started.
func (w *wdaServer) explain(e *fault.Error) *fault.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process == nil {
		return e
	}
	return w.process.Explain(e)
}

// stop ends the process that was started.
func (w *wdaServer) stop(ctx context.Context, l limits) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.close)
	defer cancel()
	p := w.process
	w.process = nil
	return errors.Join(closePipes(p), p.Stop(ctx))
}

func closePipes(p *device.PipedProcess) error {
	var errs []error
	for _, f := range []*os.File{p.In, p.Out} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// close ends what the run has started.
func (w *wdaServer) close(ctx context.Context, l limits) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.client.Close()
	var err error
	if w.process != nil {
		err = w.stop(ctx, l)
	}
	if w.lock != nil {
		_ = w.lock.Close()
		w.lock = nil
	}
	return err
}

// shellProgram returns a program for a command whose pipes a script of sh arranges. The command is "$@" in the script.
func shellProgram(o options, name, script string, command []string) (device.Program, error) {
	paths := map[string]string{}
	for _, program := range []string{"sh", command[0]} {
		path, err := o.programs.LookPath(program, o.env)
		if err != nil {
			return device.Program{}, fault.New(fault.CommandNotFound, "install it, or give its path", "%s: the command %q was not found", name, program)
		}
		paths[program] = path
	}
	folder, err := os.MkdirTemp(device.Getenv(o.env, "TMPDIR"), "trailblaze-")
	if err != nil {
		return device.Program{}, fault.Wrap(fault.IO, err, "", "create a temporary folder")
	}
	args := append([]string{"-c", script, "sh", paths[command[0]]}, command[1:]...)
	return device.Program{Name: name, Path: paths["sh"], Args: args, Env: o.env, Dir: o.dir, Folder: folder}, nil
}
