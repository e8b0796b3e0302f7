package android

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

const (
	serverSocket = "tcp:6790" // of the server on the phone; it has no option for it
	serverURL    = "http://127.0.0.1:6790"
)

// server is the UiAutomator2 server of Appium on a phone. It is reached through the adb server, without a forwarded
// port. Its methods are called one after another.
type server struct {
	phone  adb.Device
	user   string // of the phone
	apks   serverAPKs
	limits limits
	log    func(level, message, hint string)
	client *webdriver.Client

	process *adb.Process // am instrument; nil while the server does not run
	output  *tail        // of process
	session *webdriver.Session
	// stopRenewing ends the renewal of the lock that keeps the screen on; nil without a session.
	stopRenewing func()
	// unresponsive says that a call got no response, so that the server is started again before the next one.
	unresponsive bool
	// restarted says that the server was started again and no call has succeeded since. It is then not started once
	// more.
	restarted bool
}

func newServer(p *phone, apks serverAPKs) (*server, error) {
	client, err := webdriver.New(serverURL, webdriver.Options{
		Limit: p.limits.call,
		// A connection for each request: over the adb server, the response on a used one comes 40 ms late, because the
		// server waits for the acknowledgment of its first part.
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return p.Dial(ctx, serverSocket)
		},
	})
	if err != nil {
		return nil, err
	}
	return &server{phone: p.Device, user: p.user, apks: apks, limits: p.limits, log: p.log, client: client}, nil
}

// running reports whether a server runs already: it may be that of an Appium session.
func (s *server) running(ctx context.Context) bool {
	conn, err := s.phone.Dial(ctx, serverSocket)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// noteStopped says that the server of another program was stopped.
func (s *server) noteStopped() {
	s.log("warn", "a UiAutomator2 server was running on "+s.phone.Serial()+" and was stopped",
		"if an Appium session used it, that has ended; one program at a time can use a phone")
}

// install installs the server's APKs unless the phone has this version or a later one.
func (s *server) install(ctx context.Context) error {
	main, err := installedApp(ctx, s.phone, s.user, serverPackage)
	if err != nil {
		return err
	}
	test, err := installedApp(ctx, s.phone, s.user, testPackage)
	if err != nil {
		return err
	}
	if main.Installed && test.Installed && compareVersions(main.Version, s.apks.version) >= 0 {
		return nil
	}
	s.log("info", fmt.Sprintf("installing the UiAutomator2 server %s on %s", s.apks.version, s.phone.Serial()), "")
	i := installer{s.phone, s.limits, s.log}
	for _, part := range []struct{ path, app string }{{s.apks.server, serverPackage}, {s.apks.test, testPackage}} {
		a := &apk{path: part.path, files: []apkFile{plainAPK(part.path)}}
		err := i.install(ctx, a, serverTemp)
		if err != nil && strings.Contains(err.Error(), "INSTALL_FAILED_UPDATE_INCOMPATIBLE") { // signed with another key
			_, _, _ = runAny(ctx, s.phone, "pm", "uninstall", part.app)
			err = i.install(ctx, a, serverTemp)
		}
		if err != nil {
			return err
		}
	}
	return s.waitUntilListed(ctx)
}

// waitUntilListed waits until the phone lists the server among what it can start: slow ones need a moment after an
// installation or a boot. If it does not, starting it says so.
func (s *server) waitUntilListed(ctx context.Context) error {
	_, err := act.Await(ctx, s.limits.start, s.limits.poll, func() (bool, error) {
		out, _, err := runAny(ctx, s.phone, "pm", "list", "instrumentation")
		return strings.Contains(out, testPackage+"/"), err
	})
	return err
}

// startTwice starts the server, and once more if it exits meanwhile, as it may on phones that are slow or were just
// booted.
func (s *server) startTwice(ctx context.Context) error {
	err := s.start(ctx)
	if !errors.Is(err, errExited) || ctx.Err() != nil {
		return err
	}
	s.log("info", err.Error()+"; it is started again", "")
	if err := act.Pause(ctx, s.limits.retry); err != nil {
		return err
	}
	if err := s.waitUntilListed(ctx); err != nil {
		return err
	}
	return s.start(ctx)
}

// start starts the server, and ends one that runs already.
func (s *server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limits.start, errSlowStart)
	defer cancel()
	if err := forceStop(ctx, s.phone); err != nil {
		return err
	}
	if err := s.waitForPort(ctx); err != nil {
		return err
	}
	s.unresponsive, s.output = false, &tail{}
	var err error
	s.process, err = s.phone.Start(ctx, adb.Quote("am", "instrument", "-w",
		"-e", "DISABLE_SUPPRESS_ACCESSIBILITY_SERVICES", "true", "-e", "disableAnalytics", "true",
		testPackage+"/androidx.test.runner.AndroidJUnitRunner"), s.output)
	if err != nil {
		return err
	}
	if err = s.newSession(ctx); err == nil {
		s.stopRenewing = s.renewWakeLock(ctx)
		return nil
	}
	if s.waitForExit(0) {
		err = s.startFailure(context.WithoutCancel(ctx))
	} else if cause := context.Cause(ctx); cause != nil {
		err = fault.Wrap(fault.Device, cause, "restart the phone if it happens again",
			"starting the UiAutomator2 server on "+s.phone.Serial())
	}
	s.kill()
	return err
}

var errSlowStart = errors.New("it did not respond in time")

// errExited says that the server exited while it was being started.
var errExited = errors.New("it exited while it was being started")

// wakeLock is the setting for how long the server keeps the screen on, in milliseconds. Its own value is a day, during
// which the screen would stay on if this process was killed.
func (s *server) wakeLock() map[string]any {
	return map[string]any{"wakeLockTimeout": s.limits.wakeLock.Milliseconds()}
}

// renewWakeLock keeps the screen on until the function is called that it returns.
func (s *server) renewWakeLock(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	session, done := s.session, make(chan struct{})
	go func() {
		defer close(done)
		for act.Pause(ctx, s.limits.wakeLock/2) == nil {
			_ = session.Settings(ctx, s.wakeLock()) // one that is missed makes the screen dark only
		}
	}()
	return func() { cancel(); <-done }
}

// forceStop ends what runs of the server on a phone, however it was started.
func forceStop(ctx context.Context, phone adb.Device) error {
	_, err := runLine(ctx, phone, "am force-stop "+serverPackage+" && am force-stop "+testPackage)
	return err
}

// waitForPort waits until nothing accepts connections at the server's port: a server that was stopped may need a
// moment.
func (s *server) waitForPort(ctx context.Context) error {
	deadline := time.Now().Add(s.limits.exit)
	for {
		conn, err := s.phone.Dial(ctx, serverSocket)
		if errors.Is(err, adb.ErrRefused) {
			return nil
		}
		if err != nil {
			return err
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			return fault.New(fault.Device, "end the app that uses it, or restart the phone",
				"port 6790 of %s, which the UiAutomator2 server needs, is used by another app", s.phone.Serial())
		}
		if err := act.Pause(ctx, s.limits.poll); err != nil {
			return err
		}
	}
}

// newSession waits until the server responds and starts a session in it.
func (s *server) newSession(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	defer func() { cancel(); <-stopped }()
	go func() { // ends the calls when the server has exited
		defer close(stopped)
		select {
		case <-s.process.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		status, err := s.client.Status(ctx)
		if err == nil && (status.Ready || status.Message != "") {
			break
		}
		if err := act.Pause(ctx, s.limits.poll); err != nil {
			return err
		}
	}
	session, err := s.client.NewSession(ctx, webdriver.Capabilities{})
	if err != nil {
		return fault.Wrap(fault.Device, err, "", "starting a session in the UiAutomator2 server on "+s.phone.Serial())
	}
	settings := appium.ServerSettings()
	maps.Copy(settings, s.wakeLock())
	if err := session.Settings(ctx, settings); err != nil {
		return fault.Wrap(fault.Device, err, installServer+"@latest installs a current one",
			"changing the settings of the UiAutomator2 server on "+s.phone.Serial())
	}
	s.session = session
	return nil
}

// waitForExit reports whether the server has exited, or does so within a time.
func (s *server) waitForExit(within time.Duration) bool {
	if s.process == nil {
		return true
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-s.process.Done():
		return true
	case <-timer.C:
	}
	select {
	case <-s.process.Done():
		return true
	default:
		return false
	}
}

// exits reports whether the server has exited, or does so soon. It does not wait for one that responds.
func (s *server) exits(ctx context.Context) bool {
	if ctx.Err() != nil {
		return s.waitForExit(0)
	}
	end := time.Now().Add(s.limits.exit)
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	if _, err := s.client.Status(ctx); err == nil {
		return false
	}
	return s.waitForExit(time.Until(end))
}

// startFailure returns the error of a server that exited before it had a session.
func (s *server) startFailure(ctx context.Context) error {
	if err := s.lostError(ctx); err != nil {
		return err
	}
	reason := parseCrash(s.output.String())
	if strings.Contains(reason, "already registered") {
		return s.heldFailure(ctx, reason)
	}
	return &fault.Error{
		Kind: fault.Device, Cause: errExited, Hint: "`adb logcat` shows more; " + installServer + "@latest installs a current server",
		Message: fmt.Sprintf("the UiAutomator2 server on %s exited while it was being started: %s", s.phone.Serial(),
			cmp.Or(reason, outputText(s.output.String()))),
	}
}

// heldFailure returns the error of a server that did not get UiAutomation, which one program at a time can use.
func (s *server) heldFailure(ctx context.Context, reason string) error {
	holder := "another program"
	if out, _, err := runAny(ctx, s.phone, "dumpsys", "activity", "processes"); err == nil {
		var names []string
		for _, app := range parseInstrumentations(out) {
			if app != testPackage {
				names = append(names, programName(app))
			}
		}
		holder = cmp.Or(strings.Join(names, ", "), holder)
	}
	return &fault.Error{
		Kind: fault.Device, Cause: errors.New(reason),
		Hint:    "end it, such as Maestro, an Appium session, an inspector or `uiautomator`; restarting the phone ends all",
		Message: fmt.Sprintf("UiAutomation of %s is used by %s; one program at a time can use it", s.phone.Serial(), holder),
	}
}

// programName returns the package of an instrumentation with the program that it belongs to.
func programName(app string) string {
	for prefix, name := range map[string]string{
		"dev.mobile.maestro": "Maestro", "io.appium": "Appium", "com.github.uiautomator": "uiautomator2 for Python",
		"xyz.block.trailblaze": "Trailblaze for the JVM",
	} {
		if strings.HasPrefix(app, prefix) {
			return fmt.Sprintf("%s (%s)", app, name)
		}
	}
	return app
}

// lostError returns an error of kind Crashed if the phone cannot be reached any more.
func (s *server) lostError(ctx context.Context) error {
	return disconnectedError(s.phone.Serial(), probe(ctx, s.phone, s.limits.exit))
}

// disconnectedError returns an error of kind Crashed, which ends the session, for one of adb that says that the phone
// cannot be reached. It returns others as they are.
func disconnectedError(serial string, err error) error {
	known := fault.As(err)
	if known == nil || known.Kind != fault.Device {
		return err
	}
	for _, lost := range []struct {
		cause  error
		reason string
	}{
		{adb.ErrNotRunning, "the adb server does not run any more"},
		{adb.ErrNotFound, "it is not connected any more"},
		{adb.ErrOffline, "it is offline"},
		{adb.ErrUnauthorized, "it does not authorize this computer any more"},
		{adb.ErrMaybeExecuted, known.Message},
	} {
		if errors.Is(err, lost.cause) {
			return &fault.Error{
				Kind: fault.Crashed, Cause: err, Hint: known.Hint,
				Message: fmt.Sprintf("the connection to %s was lost: %s", serial, lost.reason),
			}
		}
	}
	return err
}

// ensure starts the server if it has exited or stopped responding.
func (s *server) ensure(ctx context.Context) error {
	if s.session != nil && !s.unresponsive && !s.waitForExit(0) {
		return nil
	}
	if s.restarted {
		return s.crash(ctx, "the UiAutomator2 server on %s exited again after it was restarted")
	}
	s.restarted = true
	s.log("warn", "restarting the UiAutomator2 server", "the previous call may have stopped it")
	s.kill()
	err := s.start(ctx)
	if ctx.Err() != nil {
		s.restarted = false // the call ended before the server had the time to start
	}
	return disconnectedError(s.phone.Serial(), err)
}

// crash returns the error of a server that has exited or does not respond. format has a place for the serial.
func (s *server) crash(ctx context.Context, format string) error {
	if err := s.lostError(ctx); err != nil {
		return err
	}
	message := fmt.Sprintf(format, s.phone.Serial())
	if reason := parseCrash(s.output.String()); reason != "" {
		message += ": " + reason
	}
	return fault.New(fault.Device, "`adb logcat` shows more", "%s", message)
}

// act makes a call that changes something. The error is an *act.UnconfirmedError when it may have happened.
func (s *server) act(ctx context.Context, what string, call func(context.Context, *webdriver.Session) error) error {
	return s.call(ctx, what, true, call)
}

// read makes a call that changes nothing. It is repeated once if the server has exited.
func (s *server) read(ctx context.Context, what string, call func(context.Context, *webdriver.Session) error) error {
	return s.call(ctx, what, false, call)
}

func (s *server) call(
	ctx context.Context, what string, acts bool, call func(context.Context, *webdriver.Session) error,
) error {
	for again := false; ; again = true {
		if err := s.ensure(ctx); err != nil {
			return err
		}
		err := call(ctx, s.session)
		e := webdriver.As(err)
		sent := e != nil && e.MaybeExecuted()
		switch {
		case err == nil:
			s.restarted = false
			return nil
		case e == nil:
			return err
		case sent && acts:
			return &act.UnconfirmedError{Cause: s.noResponse(ctx, what, err)}
		case (sent || e.Status == 0) && !again && ctx.Err() == nil && s.exits(ctx):
			continue // nothing was changed: it was not sent, or it only reads
		case sent:
			return s.noResponse(ctx, what, err)
		}
		return s.failure(ctx, what, err)
	}
}

// noResponse returns why a call got no response.
func (s *server) noResponse(ctx context.Context, what string, err error) error {
	if s.exits(ctx) {
		return s.crash(context.WithoutCancel(ctx), "the UiAutomator2 server on %s exited while "+what)
	}
	s.unresponsive = true
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return fault.New(fault.CallTimeout, "", "%s: the UiAutomator2 server on %s did not respond within the limit of the call",
			what, s.phone.Serial())
	case cause != nil:
		return cause
	}
	return fault.Wrap(fault.CallTimeout, err, "", what)
}

// failure returns the error of a call to which the server responded with an error.
func (s *server) failure(ctx context.Context, what string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if webdriver.HasCode(err, webdriver.InvalidSessionID) {
		s.unresponsive = true // another program has started a session, which ends this one
		return fault.New(fault.ToolFailed, "end the other program: one at a time can use the phone",
			"%s: another program uses the UiAutomator2 server on %s", what, s.phone.Serial())
	}
	if e := webdriver.As(err); e != nil && e.Status == 0 {
		if lost := s.lostError(ctx); lost != nil {
			return lost
		}
	}
	return fault.Wrap(fault.ToolFailed, err, "", what)
}

// kill ends the server at once.
func (s *server) kill() {
	if s.stopRenewing != nil {
		s.stopRenewing()
		s.stopRenewing = nil
	}
	if s.process != nil {
		s.process.Close()
	}
	s.process, s.session = nil, nil
	s.client.Close()
}

// stop ends the server.
func (s *server) stop(ctx context.Context) error {
	var errs []error
	if s.session != nil && !s.unresponsive && !s.waitForExit(0) {
		deleting, cancel := context.WithTimeout(ctx, s.limits.exit)
		_ = s.session.Delete(deleting) // the server exits, which may be before its response
		cancel()
		s.waitForExit(s.limits.exit)
	}
	errs = append(errs, forceStop(ctx, s.phone))
	s.kill()
	return errors.Join(errs...)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is how much a tail keeps, in bytes.
const maxTail = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if more := len(t.text) - maxTail; more > 0 {
		t.text = append(t.text[:0], t.text[more:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
