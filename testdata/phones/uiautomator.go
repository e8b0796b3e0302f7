package phones

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

// uiServer is the UiAutomator2 server while it runs.
type uiServer struct {
	*webDriver
	phone    *Android
	listener *pipeListener
	ended    chan struct{}
	cause    string // why it ended; empty when it was told to
}

// instrument is `am instrument`: it starts the UiAutomator2 server, and with -w it waits until that ends.
func (p *Android) instrument(c *call) int {
	if c.last() != runner || !p.listed() {
		c.printf("android.util.AndroidException: INSTRUMENTATION_FAILED: %s\n", c.last())
		c.printf("INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS: Error=Unable to find "+
			"instrumentation info for: ComponentInfo{%s}\nINSTRUMENTATION_STATUS_CODE: -1\n", c.last())
		return 1
	}
	p.mu.Lock()
	held := p.heldBy != "" || p.server != nil
	p.mu.Unlock()
	if held {
		c.printf("INSTRUMENTATION_RESULT: shortMsg=java.lang.IllegalStateException\n" +
			"INSTRUMENTATION_RESULT: longMsg=" + alreadyRegistered + "\nINSTRUMENTATION_CODE: 0\n")
		return 0
	}
	if p.failsToStart() {
		c.printf("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n")
		return 0
	}
	s := p.startServer()
	if c.has("-r") {
		c.printf("INSTRUMENTATION_STATUS: class=io.appium.uiautomator2.server.test.AppiumUiAutomator2Server\n" +
			"INSTRUMENTATION_STATUS: current=1\nINSTRUMENTATION_STATUS: id=AndroidJUnitRunner\nINSTRUMENTATION_STATUS: numtests=1\n" +
			"INSTRUMENTATION_STATUS: test=startServer\nINSTRUMENTATION_STATUS_CODE: 1\n")
	} else {
		c.printf("\nio.appium.uiautomator2.server.test.AppiumUiAutomator2Server:\n")
	}
	if !c.has("-w") {
		return 0
	}
	select {
	case <-s.ended:
	case <-c.ctx.Done(): // the server runs on without the one who started it
		return 1
	}
	if s.cause != "" {
		c.printf("INSTRUMENTATION_RESULT: shortMsg=%s\nINSTRUMENTATION_CODE: 0\n", s.cause)
		return 0
	}
	c.printf("\nTime: 10.5\n\nOK (1 test)\n\n")
	return 0
}

// failsToStart reports whether this start of the UiAutomator2 server is one of those that fail.
func (p *Android) failsToStart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failStarts--
	return p.failStarts >= 0
}

// alreadyRegistered is what Android says when two programs want UiAutomation.
const alreadyRegistered = "UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5d1b8d1" +
	"already registered!"

func (p *Android) startServer() *uiServer {
	s := &uiServer{
		webDriver: newWebDriver(p.ctx, &p.handlers), phone: p, listener: newPipeListener(), ended: make(chan struct{}),
	}
	s.maxBody = 64 << 10 // io.appium.uiautomator2.http.ServerInitializer
	s.routes()
	p.mu.Lock()
	defer p.mu.Unlock()
	s.intercept = p.intercept
	p.server = s
	s.start(s.listener)
	return s
}

// stopServer ends the UiAutomator2 server, if it runs. An empty cause is that it was told to.
func (p *Android) stopServer(cause string) {
	p.mu.Lock()
	s := p.server
	p.server = nil
	p.mu.Unlock()
	if s == nil {
		return
	}
	s.close()
	requests, unknown := s.requestLog()
	p.mu.Lock()
	p.requests = append(p.requests, requests...)
	p.unknownRoutes = append(p.unknownRoutes, unknown...)
	p.mu.Unlock()
	s.cause = cause
	close(s.ended)
}

// uiautomator is `uiautomator dump`. Without a file it writes one, and says where.
func uiautomator(c *call) int {
	p := c.phone
	if c.arg(1) != "dump" {
		c.unknown()
		return 1
	}
	p.mu.Lock()
	held := p.heldBy != "" || p.server != nil
	p.mu.Unlock()
	if held {
		c.errorf("java.lang.IllegalStateException: %s\n", alreadyRegistered)
		return 1
	}
	if !p.waitForIdle(c.ctx) { // in the compressed form, too
		c.errorf("ERROR: could not get idle state.\n")
		return 0
	}
	p.App.Settle() // it waits until the phone is idle
	width, height := p.App.Size()
	shown := androidScreen(p.App.Read(), width, height)
	if c.has("--compressed") {
		for _, w := range shown.Windows {
			w.Root.Children = withoutUnimportant(w.Root.Children)
		}
	}
	dump := wire.Dump(shown)
	file := "/sdcard/window_dump.xml"
	if c.last() != "dump" && c.last() != "--compressed" {
		file = c.last()
	}
	switch {
	case file == "/dev/tty" && p.options.NoTerminal:
	case file == "/dev/tty":
		c.printf("%s", dump)
	default:
		_ = p.files.Write(file, dump, 0o660, fileTime)
	}
	c.printf("UI hierchary dumped to: %s\n", file) // it is spelled like this
	return 0
}

// waitForIdle waits until nothing moves on the screen, and reports whether that happened in time.
func (p *Android) waitForIdle(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, p.options.IdleLimit)
	defer cancel()
	for p.App.Moving() {
		select {
		case <-time.After(quiet / 50):
			p.App.Read() // what moves goes on
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// pipeListener accepts connections that are made in this process.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

var errRefused = errors.New("connection refused")

// dial connects to the listener.
func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
	case <-ctx.Done():
	}
	_ = ours.Close()
	_ = theirs.Close()
	return nil, errRefused
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: serverSocket, Net: "unix"} }
