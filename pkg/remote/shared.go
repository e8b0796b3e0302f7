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
)

const (
	// startLimit and silence are those of every server (specification, section 5).
	startLimit = 60 * time.Second
	silence    = 5 * time.Second
	// maxPorts is how many ports are tried when a server finds that its own is taken.
	maxPorts = 3
)

const flagsHint = "remove multiDevice: http from its entry, and it is started once for each device, without these flags; " +
	"or have it serve streamable HTTP at /mcp when it gets them, as it does with the SDKs of trailblaze"

// SharedSpec says what to start, once for all who open it.
type SharedSpec struct {
	Process        spawn.Spec    // "--transport http --port N" are added to its arguments
	Token          string        // sent to it as a bearer token, so that it can refuse others on the machine; empty for none
	StartupTimeout time.Duration // for its first answer; 0 means 60 s
}

func (s SharedSpec) limit() time.Duration { return cmp.Or(s.StartupTimeout, startLimit) }

// Pool starts processes that serve HTTP, and gives each who wants one a [Link] to it. It may be used from any goroutine. Close it.
type Pool struct {
	supervisor *spawn.Supervisor
	work       sync.WaitGroup // every goroutine of the pool; grows only while not closed, under mu

	mu     sync.Mutex
	closed bool
	hosts  map[string]*host
}

// host is one process of a pool.
type host struct {
	SharedSpec
	giveUp  context.CancelFunc // ends the start
	stuck   bool               // it no longer answers; guarded by Pool.mu
	spoke   atomic.Bool        // it has shaken hands with somebody
	ready   chan struct{}      // closed when the rest is set
	process *spawn.Process
	at      *port
	url     string
	err     error
}

// NewPool returns a pool without processes.
func NewPool(supervisor *spawn.Supervisor) *Pool {
	return &Pool{supervisor: supervisor, hosts: map[string]*host{}}
}

// Open returns a link to the process of a key. It is started when there is none, or none that lives; ctx bounds the wait for that,
// which others may share. The error is a *fault.Error that says why there is no answer.
func (p *Pool) Open(ctx context.Context, key string, what SharedSpec) (*SharedLink, error) {
	h, err := p.host(ctx, key, what)
	if err != nil {
		return nil, err
	}
	select {
	case <-h.ready:
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for it to answer")
	}
	if h.err != nil {
		return nil, h.err
	}
	return p.link(ctx, h)
}

// Close ends the processes politely, all at once. Nothing is started any more. The error is a *fault.Error: a process does not die.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	var mu sync.Mutex
	var failures []error
	var stops sync.WaitGroup
	for _, h := range p.hosts { // which no longer change
		h.giveUp()
		stops.Go(func() {
			<-h.ready
			if h.err != nil {
				return
			}
			err := h.stop(ctx)
			h.at.free()
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, err)
		})
	}
	stops.Wait()
	p.work.Wait()
	return errors.Join(failures...)
}

// host returns the host of a key, which is being started if it was not there: for all who wait, so that none of them ends the start.
func (p *Pool) host(ctx context.Context, key string, what SharedSpec) (*host, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault.New(fault.Cancelled, "", "the run is over")
	}
	if h := p.hosts[key]; h != nil {
		if !h.gone() {
			return h, nil
		}
		if h.err == nil {
			h.at.free()
		}
	}
	if what.Process.Log == nil {
		what.Process.Log = func(string, string, string) {}
	}
	h := &host{SharedSpec: what, ready: make(chan struct{})}
	ctx, h.giveUp = context.WithTimeout(context.WithoutCancel(ctx), what.limit())
	p.hosts[key] = h
	p.work.Go(func() {
		defer h.giveUp()
		defer close(h.ready)
		defer func() {
			if p := recover(); p != nil {
				h.err = fault.Panicked(p)
			}
		}()
		h.err = p.start(ctx, h)
	})
	return h, nil
}

// stop ends a process politely, and says when that was not enough: it makes the end of every run longer.
func (h *host) stop(ctx context.Context) error {
	select {
	case <-h.process.Done():
		return h.process.Stop(ctx)
	default:
	}
	begun := time.Now()
	err := h.process.Stop(ctx)
	if took := time.Since(begun); err == nil && took >= spawn.CloseGrace && ctx.Err() == nil {
		h.Process.Log("info", fmt.Sprintf("did not end with its standard input; it was terminated after %s", took.Round(time.Second)),
			"have it exit at the end of its standard input, and runs end sooner")
	}
	return err
}

// condemn ends a process that no longer answers, so that whoever comes next gets another one.
func (p *Pool) condemn(ctx context.Context, h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || h.stuck {
		return
	}
	h.stuck = true
	p.work.Go(func() { _ = h.process.Stop(context.WithoutCancel(ctx)) }) // one that does not die, the supervisor names at its end
}

// gone reports whether a host is of no use any more. The caller holds Pool.mu.
func (h *host) gone() bool {
	select {
	case <-h.ready:
	default:
		return false
	}
	if h.err != nil || h.stuck {
		return true
	}
	select {
	case <-h.process.Done():
		return true
	default:
		return false
	}
}

// start starts a host and waits until it answers. On failure nothing is left of it.
func (p *Pool) start(ctx context.Context, h *host) (err error) {
	for try := 1; ; try++ {
		if h.at, err = reserve(ctx); err != nil {
			return err
		}
		if err = p.launch(ctx, h); err == nil {
			return nil
		}
		defer h.at.free() // at the end: until then nobody chooses it, neither do we
		if try == maxPorts || h.process == nil || !portTaken(h.process) {
			return err
		}
	}
}

// portTaken reports whether a process has ended because another one has its port, in the words of the usual runtimes.
func portTaken(process *spawn.Process) bool {
	said := strings.ToLower(process.Stderr())
	return process.ExitError() != nil &&
		(strings.Contains(said, "eaddrinuse") || strings.Contains(said, "address already in use") || strings.Contains(said, "address in use"))
}

// launch starts the process of a host at its port, and ends it again when it does not answer there.
func (p *Pool) launch(ctx context.Context, h *host) error {
	spec := h.Process
	flags := []string{"--transport", "http", "--port", strconv.Itoa(h.at.number)}
	spec.Args, spec.Apart = append(append([]string{}, spec.Args...), flags...), true
	process, err := p.supervisor.Start(ctx, spec)
	h.process = process
	if err != nil {
		return err
	}
	failed := h.await(ctx)
	if failed == nil {
		return nil
	}
	if failed.Kind != fault.Cancelled {
		failed = process.Explain(failed)
		if failed.Hint == "" {
			failed.Hint = flagsHint
		}
	}
	if err := process.Stop(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// await waits for the first answer of a host that has been started, and says why there will be none.
func (h *host) await(ctx context.Context) *fault.Error {
	asking, stop := context.WithCancel(ctx)
	var asks sync.WaitGroup
	defer asks.Wait()
	defer stop()
	answers, speaks := make(chan string, 1), make(chan struct{})
	asks.Go(func() {
		if url := h.at.answer(asking, h.Token); url != "" {
			answers <- url
		}
	})
	asks.Go(func() {
		if speaksOnPipes(asking, h.process) {
			close(speaks)
		}
	})
	flags := fmt.Sprintf("--transport http --port %d (multiDevice: http)", h.at.number)
	notice := time.NewTimer(silence)
	defer notice.Stop()
	for {
		select {
		case h.url = <-answers:
			return nil
		case <-speaks:
			return fault.New(fault.Server, flagsHint,
				"it does not understand %s: it answers on stdout, as one that is started for one device", flags)
		case <-h.process.Done():
			return fault.New(fault.Server, "", "started with %s it ended before it answered: %s", flags, h.end().Message)
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for it to answer")
			}
			return fault.New(fault.Server, flagsHint+"; the key startupTimeout gives it more time",
				"timeout: started with %s it does not answer at %s within %s, the limit for starting", flags, h.at.base()+"/mcp", h.limit())
		case <-notice.C:
			h.Process.Log("warn", fmt.Sprintf("has not answered at %s/mcp for %s; waiting on", h.at.base(), silence),
				"the key startupTimeout of its entry sets the limit")
		}
	}
}

// speaksOnPipes greets a process in the way of stdio, and reports whether it answers in that way. One that serves HTTP does not
// look at what comes there.
func speaksOnPipes(ctx context.Context, process *spawn.Process) bool {
	conn, err := process.Transport().Connect(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	id, _ := jsonrpc.MakeID("trailblaze") // of a text there always is one
	if conn.Write(ctx, &jsonrpc.Request{ID: id, Method: methodInitialize, Params: []byte(greeting)}) != nil {
		return false
	}
	_, err = conn.Read(ctx)
	return err == nil
}

// greeting is the parameters of initialize.
const greeting = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"trailblaze","version":"1"}}`

// link makes a link to a host that has answered.
func (p *Pool) link(ctx context.Context, h *host) (*SharedLink, error) {
	spec := Spec{Name: h.Process.Name, URL: h.url, Log: h.Process.Log, shared: true}
	if h.Token != "" {
		spec.Headers = map[string]string{"Authorization": "Bearer " + h.Token}
	}
	link, err := Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	link.begin(&link.work, func() {
		select {
		case <-h.process.Done():
			link.end(h.end())
		case <-link.life.Done():
		}
	})
	return &SharedLink{Link: link, pool: p, host: h, opened: time.Now()}, nil
}

// end says how the process ended while somebody waited for it.
func (h *host) end() *fault.Error {
	if end := h.process.ExitError(); end != nil {
		return end
	}
	return fault.New(fault.Crashed, "", "did not answer any more and was ended")
}

// SharedLink is a link to a process of a pool. It ends as the process does; stopping it ends the conversation alone.
type SharedLink struct {
	*Link
	pool     *Pool
	host     *host
	opened   time.Time
	replaced atomic.Bool
}

// StoppedServer reports whether Stop has ended a process that had answered others before.
func (l *SharedLink) StoppedServer() bool { return l.replaced.Load() }

// Stop ends the conversation. When the process has said nothing for as long as a start may take, it is ended as well: it is stuck, and
// would be so for everybody.
func (l *SharedLink) Stop(ctx context.Context) error {
	select {
	case <-l.FirstMessage():
	default:
		if time.Since(l.opened) >= l.host.limit() {
			l.pool.condemn(ctx, l.host)
			l.replaced.Store(l.host.spoke.Load())
		}
	}
	return l.Link.Stop(ctx)
}

// Transport returns how to speak with the process. It is connected once.
func (l *SharedLink) Transport() mcp.Transport { return sharedTransport{l} }

// Explain returns cause with what is known about the process. cause stays as it is.
func (l *SharedLink) Explain(cause *fault.Error) *fault.Error {
	e := *cause
	if e.Kind != fault.Crashed && !strings.Contains(e.Message, l.host.url) {
		e.Message += "\n  it is spoken to at " + l.host.url
	}
	if e.Hint == "" && oneClient(&e) {
		e.Hint = hintSessions
	}
	return l.host.process.Explain(&e)
}

type sharedTransport struct{ l *SharedLink }

// Connect implements mcp.Transport.
func (t sharedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.l.Link.Transport().Connect(ctx)
	return &sharedConn{Connection: conn, l: t.l}, err
}

// sharedConn is a connection that tells the end of the process from that of a connection to it.
type sharedConn struct {
	mcp.Connection
	l       *SharedLink
	patient time.Time // until when the process may be dying
}

// dying is how long a process that has closed its connections may take to be gone: node frees its memory first, which takes seconds on a
// machine that has much to do.
const dying = 10 * time.Second

// Read implements mcp.Connection.
func (c *sharedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	select {
	case <-c.l.heard:
		c.l.host.spoke.Store(true)
	default:
	}
	if answer, isAnswer := msg.(*jsonrpc.Response); err == nil && isAnswer && cutIn(answer) && c.ended() {
		return c.Read(ctx) // to the end of the conversation
	}
	return msg, err
}

func cutIn(answer *jsonrpc.Response) bool {
	in, ours := errors.AsType[*failure](answer.Error)
	return ours && in.cut
}

// ended waits for the end of the conversation, which that of the process is: it may be dying.
func (c *sharedConn) ended() bool {
	if c.patient.IsZero() {
		c.patient = time.Now().Add(dying)
	}
	select {
	case <-c.l.host.process.Done():
		return true
	case <-c.l.life.Done():
		return true
	case <-time.After(time.Until(c.patient)):
		return false
	}
}
