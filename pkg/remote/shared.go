package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/stdio"
)

const (
	// defaultStartupTimeout and startNotice are those of every server (specification, section 5).
	defaultStartupTimeout = 60 * time.Second
	startNotice           = 5 * time.Second
	// maxPorts is how many ports are tried if a server finds that its port is taken.
	maxPorts = 3
)

const flagsHint = "remove multiDevice: http from its entry, and it is started once for each device, without these flags; " +
	"or let it serve streamable HTTP at /mcp when it gets them, as the SDKs of trailblaze do"

// SharedSpec says what to start, once for all who open it.
type SharedSpec struct {
	Process        stdio.Spec    // "--transport http --port N" are appended to its arguments
	Token          string        // sent to it as a bearer token, so that it can reject other clients; empty for none
	StartupTimeout time.Duration // for its first response; 0 means 60 s

	unresponsiveAfter time.Duration // without a message on a link, when the link is stopped; 0 means StartupTimeout
}

func (s SharedSpec) startupTimeout() time.Duration {
	return cmp.Or(s.StartupTimeout, defaultStartupTimeout)
}

// Pool starts processes that serve HTTP, and opens links to them. It may be used from any goroutine, and must be
// closed.
type Pool struct {
	supervisor *spawn.Supervisor
	wg         sync.WaitGroup // every goroutine of the pool; added to only under mu, while not closed

	mu        sync.Mutex
	closed    bool
	processes map[string]*sharedProcess
}

// sharedProcess is one process of a pool.
type sharedProcess struct {
	SharedSpec
	cancelStart  context.CancelFunc
	unresponsive bool          // it is being stopped because it does not respond; guarded by Pool.mu
	responded    atomic.Bool   // a handshake with it succeeded
	started      chan struct{} // closed when the fields below are set
	process      *stdio.Link
	port         *port
	url          string
	err          error // why it could not be started
}

// NewPool returns a pool without processes.
func NewPool(supervisor *spawn.Supervisor) *Pool {
	return &Pool{supervisor: supervisor, processes: map[string]*sharedProcess{}}
}

// Open returns a link to the process with a key. The process is started if there is none that runs; ctx bounds only
// this caller's wait for that. The error is a *fault.Error that says why the process does not respond.
func (p *Pool) Open(ctx context.Context, key string, spec SharedSpec) (*SharedLink, error) {
	sp, err := p.get(ctx, key, spec)
	if err != nil {
		return nil, err
	}
	select {
	case <-sp.started:
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for it to respond")
	}
	if sp.err != nil {
		return nil, sp.err
	}
	return p.link(ctx, sp)
}

// Close stops all processes at once. Nothing is started any more. The error is a *fault.Error: a process cannot be
// stopped.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	var mu sync.Mutex
	var failures []error
	var stops sync.WaitGroup
	for _, sp := range p.processes { // which no longer change
		sp.cancelStart()
		stops.Go(func() {
			<-sp.started
			if sp.err != nil {
				return
			}
			err := sp.process.Stop(ctx)
			sp.port.release()
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, err)
		})
	}
	stops.Wait()
	p.wg.Wait()
	return errors.Join(failures...)
}

// get returns the process with a key, and begins to start it if needed. All callers share the start, so ctx does not
// end it.
func (p *Pool) get(ctx context.Context, key string, spec SharedSpec) (*sharedProcess, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault.New(fault.Cancelled, "", "the run has ended")
	}
	if sp := p.processes[key]; sp != nil {
		if !sp.unusable() {
			return sp, nil
		}
		if sp.err == nil {
			sp.port.release()
		}
	}
	if spec.Process.Log == nil {
		spec.Process.Log = func(string, string, string) {}
	}
	sp := &sharedProcess{SharedSpec: spec, started: make(chan struct{})}
	ctx, sp.cancelStart = context.WithTimeout(context.WithoutCancel(ctx), spec.startupTimeout())
	p.processes[key] = sp
	p.wg.Go(func() {
		defer sp.cancelStart()
		defer close(sp.started)
		defer func() {
			if p := recover(); p != nil {
				sp.err = fault.Panicked(p)
			}
		}()
		sp.err = p.start(ctx, sp)
	})
	return sp, nil
}

// stopUnresponsive stops a process that does not respond, so that the next Open starts another one.
func (p *Pool) stopUnresponsive(ctx context.Context, sp *sharedProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || sp.unresponsive {
		return
	}
	sp.unresponsive = true
	// the supervisor reports processes that cannot be stopped
	p.wg.Go(func() { _ = sp.process.Stop(context.WithoutCancel(ctx)) })
}

// unusable reports whether another process has to be started. The caller holds Pool.mu.
func (sp *sharedProcess) unusable() bool {
	select {
	case <-sp.started:
	default:
		return false
	}
	if sp.err != nil || sp.unresponsive {
		return true
	}
	select {
	case <-sp.process.Done():
		return true
	default:
		return false
	}
}

// start starts a process and waits until it responds. On failure nothing is left of it.
func (p *Pool) start(ctx context.Context, sp *sharedProcess) (err error) {
	for try := 1; ; try++ {
		if sp.port, err = reservePort(ctx); err != nil {
			return err
		}
		if err = p.launch(ctx, sp); err == nil {
			return nil
		}
		defer sp.port.release() // when start returns, so that the next try gets another port
		if try == maxPorts || sp.process == nil || !portTaken(sp.process) {
			return err
		}
	}
}

// portTaken reports whether a process exited because its port is in use, by the messages of common runtimes.
func portTaken(process *stdio.Link) bool {
	stderr := strings.ToLower(process.Stderr())
	return process.ExitError() != nil && (strings.Contains(stderr, "eaddrinuse") ||
		strings.Contains(stderr, "address already in use") || strings.Contains(stderr, "address in use"))
}

// launch starts a process at its port, and stops it if it does not respond there.
func (p *Pool) launch(ctx context.Context, sp *sharedProcess) error {
	spec := sp.Process
	flags := []string{"--transport", "http", "--port", strconv.Itoa(sp.port.number)}
	spec.Args, spec.LogStdout = append(append([]string{}, spec.Args...), flags...), true
	process, err := stdio.Start(ctx, p.supervisor, spec)
	sp.process = process
	if err != nil {
		return err
	}
	failure := sp.awaitResponse(ctx)
	if failure == nil {
		return nil
	}
	if failure.Kind != fault.Cancelled {
		failure = process.Explain(failure)
		if failure.Hint == "" {
			failure.Hint = flagsHint
		}
	}
	if err := process.Stop(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(failure, err)
	}
	return failure
}

// awaitResponse waits for the first response of a process that was started, and sets its url.
func (sp *sharedProcess) awaitResponse(ctx context.Context) *fault.Error {
	pollCtx, stop := context.WithCancel(ctx)
	var polls sync.WaitGroup
	defer polls.Wait()
	defer stop()
	responses, stdio := make(chan string, 1), make(chan struct{})
	polls.Go(func() {
		if url := sp.port.awaitServer(pollCtx, sp.Token); url != "" {
			responses <- url
		}
	})
	polls.Go(func() {
		if respondsOnStdio(pollCtx, sp.process) {
			close(stdio)
		}
	})
	flags := fmt.Sprintf("--transport http --port %d (multiDevice: http)", sp.port.number)
	notice := time.NewTimer(startNotice)
	defer notice.Stop()
	for {
		select {
		case sp.url = <-responses:
			return nil
		case <-stdio:
			return fault.New(fault.Server, flagsHint,
				"it does not support %s: it responds on stdout, like a server for one device", flags)
		case <-sp.process.Done():
			return fault.New(fault.Server, "", "started with %s, it exited before it responded: %s", flags,
				sp.exitError().Message)
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for it to respond")
			}
			return fault.New(fault.Server, flagsHint+"; startupTimeout in its entry sets the limit",
				"timeout: started with %s, it does not respond at %s within %s, the limit for starting", flags,
				sp.port.base()+"/mcp", sp.startupTimeout())
		case <-notice.C:
			sp.Process.Log("warn", fmt.Sprintf("has not responded at %s/mcp for %s; waiting up to %s", sp.port.base(),
				startNotice, sp.startupTimeout()),
				"startupTimeout in its entry sets the limit")
		}
	}
}

// respondsOnStdio sends initialize over stdio, and reports whether the process responds there. One that serves HTTP
// does not read its stdin.
func respondsOnStdio(ctx context.Context, process *stdio.Link) bool {
	conn, err := process.Transport().Connect(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	id, _ := jsonrpc.MakeID("trailblaze") // a string is always valid
	if conn.Write(ctx, &jsonrpc.Request{ID: id, Method: methodInitialize, Params: []byte(initializeParams)}) != nil {
		return false
	}
	_, err = conn.Read(ctx)
	return err == nil
}

const initializeParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"trailblaze","version":"1"}}`

// link opens a link to a process that has responded.
func (p *Pool) link(ctx context.Context, sp *sharedProcess) (*SharedLink, error) {
	spec := Spec{Name: sp.Process.Name, URL: sp.url, Log: sp.Process.Log, shared: true}
	if sp.Token != "" {
		spec.Headers = map[string]string{"Authorization": "Bearer " + sp.Token}
	}
	link, err := Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	link.start(&link.background, func() {
		select {
		case <-sp.process.Done():
			link.fail(sp.exitError())
		case <-link.ctx.Done():
		}
	})
	return &SharedLink{Link: link, pool: p, shared: sp, opened: time.Now()}, nil
}

// exitError returns how the process ended.
func (sp *sharedProcess) exitError() *fault.Error {
	if err := sp.process.ExitError(); err != nil {
		return err
	}
	return fault.New(fault.Crashed, "", "stopped responding and was stopped")
}

// SharedLink is a link to a process of a pool. It ends when the process does; stopping it ends only the session.
type SharedLink struct {
	*Link
	pool           *Pool
	shared         *sharedProcess
	opened         time.Time
	stoppedProcess atomic.Bool
}

// StoppedServer reports whether Stop has stopped a process that had responded to others before.
func (l *SharedLink) StoppedServer() bool { return l.stoppedProcess.Load() }

// Stop ends the session. If the process has sent nothing for as long as a start may take, it is stopped as well,
// because it would not respond to anyone.
func (l *SharedLink) Stop(ctx context.Context) error {
	select {
	case <-l.FirstMessage():
	default:
		if time.Since(l.opened) >= cmp.Or(l.shared.unresponsiveAfter, l.shared.startupTimeout()) {
			l.pool.stopUnresponsive(ctx, l.shared)
			l.stoppedProcess.Store(l.shared.responded.Load())
		}
	}
	return l.Link.Stop(ctx)
}

// Transport returns the transport of the process. It is connected once.
func (l *SharedLink) Transport() mcp.Transport { return sharedTransport{l} }

// Explain returns a copy of cause with what is known about the process.
func (l *SharedLink) Explain(cause *fault.Error) *fault.Error {
	e := *cause
	if e.Kind != fault.Crashed && !strings.Contains(e.Message, l.shared.url) {
		e.Message += "\n  its url is " + l.shared.url
	}
	if e.Hint == "" && isSingleSession(&e) {
		e.Hint = hintTransport
	}
	return l.shared.process.Explain(&e)
}

type sharedTransport struct{ l *SharedLink }

// Connect implements mcp.Transport.
func (t sharedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.l.Link.Transport().Connect(ctx)
	return &sharedConnection{Connection: conn, l: t.l}, err
}

// sharedConnection distinguishes the exit of the process from the loss of a connection to it.
type sharedConnection struct {
	mcp.Connection
	l        *SharedLink
	deadline time.Time // until when an exit is waited for; zero before the first lost connection
}

// exitTimeout is how long a process that closed its connections may take to exit: node frees its memory first, which
// takes seconds on a busy machine.
const exitTimeout = 10 * time.Second

// Read implements mcp.Connection. If the process exits, it does not return the errors of requests whose connection was
// lost, but io.EOF.
func (c *sharedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	select {
	case <-c.l.firstMessage:
		c.l.shared.responded.Store(true)
	default:
	}
	if response, isResponse := msg.(*jsonrpc.Response); err == nil && isResponse && hasNoConnection(response) &&
		c.awaitExit() {
		return c.Read(ctx)
	}
	return msg, err
}

func hasNoConnection(response *jsonrpc.Response) bool {
	failure, ours := errors.AsType[*transportError](response.Error)
	return ours && failure.noConnection
}

// awaitExit waits for the exit of the process, and reports whether the session ends.
func (c *sharedConnection) awaitExit() bool {
	if c.deadline.IsZero() {
		c.deadline = time.Now().Add(exitTimeout)
	}
	select {
	case <-c.l.shared.process.Done():
		return true
	case <-c.l.ctx.Done():
		return true
	case <-time.After(time.Until(c.deadline)):
		return false
	}
}
