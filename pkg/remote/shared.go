package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
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

// Shared says what to start, once for all who open it.
type Shared struct {
	Process spawn.Spec    // "--transport http --port N" are added to its arguments
	Token   string        // sent to it as a bearer token, so that it can refuse others on the machine; empty for none
	Limit   time.Duration // for its first answer; 0 means 60 s
}

func (s Shared) limit() time.Duration { return cmp.Or(s.Limit, startLimit) }

// Pool starts processes that serve HTTP, and gives each who wants one a [Link] to it. It may be used from any goroutine. Close it.
type Pool struct {
	supervisor *spawn.Supervisor
	work       sync.WaitGroup // every goroutine of the pool

	mu     sync.Mutex
	closed bool
	hosts  map[string]*host
}

// host is one process of a pool.
type host struct {
	Shared
	giveUp  context.CancelFunc // ends the start
	ready   chan struct{}      // closed when the rest is set
	process *spawn.Process
	url     string
	err     error
}

// NewPool returns a pool without processes.
func NewPool(supervisor *spawn.Supervisor) *Pool {
	return &Pool{supervisor: supervisor, hosts: map[string]*host{}}
}

// Open returns a link to the process of a key. It is started when there is none, or none that lives; ctx bounds the wait for that,
// which others may share. The error is a *fault.Error that says why there is no answer.
func (p *Pool) Open(ctx context.Context, key string, what Shared) (*SharedLink, error) {
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
	return h.open(ctx)
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
			err := h.process.Stop(ctx)
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, err)
		})
	}
	stops.Wait()
	if err := errors.Join(failures...); err != nil {
		return err // a process that does not die holds its goroutine
	}
	p.work.Wait()
	return nil
}

// host returns the host of a key, which is being started if it was not there: for all who wait, so that none of them ends the start.
func (p *Pool) host(ctx context.Context, key string, what Shared) (*host, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault.New(fault.Cancelled, "", "the run is over")
	}
	if h := p.hosts[key]; h != nil && !h.gone() {
		return h, nil
	}
	h := &host{Shared: what, ready: make(chan struct{})}
	ctx, h.giveUp = context.WithTimeout(context.WithoutCancel(ctx), what.limit())
	p.hosts[key] = h
	p.work.Go(func() {
		var at *port
		at, h.err = p.start(ctx, h)
		close(h.ready)
		h.giveUp()
		if h.err == nil {
			<-h.process.Done()
			at.free()
		}
	})
	return h, nil
}

// gone reports whether a host is of no use any more.
func (h *host) gone() bool {
	select {
	case <-h.ready:
	default:
		return false
	}
	if h.err != nil {
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
func (p *Pool) start(ctx context.Context, h *host) (*port, error) {
	for try := 1; ; try++ {
		at, err := reserve()
		if err != nil {
			return nil, err
		}
		err = p.launch(ctx, h, at)
		if err == nil {
			return at, nil
		}
		at.free()
		if try == maxPorts || h.process == nil || !portTaken(h.process) {
			return nil, err
		}
	}
}

// portTaken reports whether a process has ended because another one has its port, in the words of the usual runtimes.
func portTaken(process *spawn.Process) bool {
	said := strings.ToLower(process.Stderr())
	return process.End() != nil &&
		(strings.Contains(said, "eaddrinuse") || strings.Contains(said, "address already in use") || strings.Contains(said, "address in use"))
}

// launch starts the process of a host at a port, and ends it again when it does not answer there.
func (p *Pool) launch(ctx context.Context, h *host, at *port) error {
	spec := h.Process
	flags := []string{"--transport", "http", "--port", strconv.Itoa(at.number)}
	spec.Args, spec.Apart = append(append([]string{}, spec.Args...), flags...), true
	process, err := p.supervisor.Start(ctx, spec)
	h.process = process
	if err != nil {
		return err
	}
	failed := h.await(ctx, at)
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
func (h *host) await(ctx context.Context, at *port) *fault.Error {
	asking, stop := context.WithCancel(ctx)
	var asks sync.WaitGroup
	defer asks.Wait()
	defer stop()
	answers, speaks := make(chan string, 1), make(chan struct{})
	asks.Go(func() {
		if url := at.answer(asking, h.Token); url != "" {
			answers <- url
		}
	})
	asks.Go(func() {
		if speaksOnPipes(asking, h.process) {
			close(speaks)
		}
	})
	flags := fmt.Sprintf("--transport http --port %d (multiDevice: http)", at.number)
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
			how := "it was stopped"
			if end := h.process.End(); end != nil {
				how = end.Message
			}
			return fault.New(fault.Server, "", "started with %s it ended before it answered: %s", flags, how)
		case <-ctx.Done():
			if context.Cause(ctx) != context.DeadlineExceeded { //nolint:errorlint // what the context itself says
				return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for it to answer")
			}
			return fault.New(fault.Server, flagsHint+"; the key startupTimeout gives it more time",
				"timeout: started with %s it does not answer there within %s, the limit for starting", flags, h.limit())
		case <-notice.C:
			if h.Process.Log != nil {
				h.Process.Log("warn", fmt.Sprintf("does not answer at port %d for %s; waiting on", at.number, silence),
					"the key startupTimeout of its entry sets the limit")
			}
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
	if conn.Write(ctx, &jsonrpc.Request{ID: id, Method: methodInitialize, Params: greeting()}) != nil {
		return false
	}
	_, err = conn.Read(ctx)
	return err == nil
}

func greeting() []byte {
	return []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"trailblaze","version":"1"}}`)
}

// open makes a link to a host that answers.
func (h *host) open(ctx context.Context) (*SharedLink, error) {
	spec := Spec{Name: h.Process.Name, URL: h.url, Log: h.Process.Log}
	if h.Token != "" {
		spec.Headers = map[string]string{"Authorization": "Bearer " + h.Token}
	}
	link, err := Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	link.begin(func() {
		select {
		case <-h.process.Done():
			link.end(h.process.End())
		case <-link.life.Done():
		}
	})
	return &SharedLink{link, h.process}, nil
}

// SharedLink is a link to a process of a pool. It ends as the process does; stopping it ends the conversation alone.
type SharedLink struct {
	*Link
	process *spawn.Process
}

// Transport returns how to speak with the process. It is connected once.
func (l *SharedLink) Transport() mcp.Transport { return sharedTransport{l} }

// Explain returns cause with what is known about the process. cause stays as it is.
func (l *SharedLink) Explain(cause *fault.Error) *fault.Error { return l.process.Explain(cause) }

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

// dying is how long a process that has closed its connections may take to be gone.
const dying = 2 * time.Second

// Read implements mcp.Connection.
func (c *sharedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if answer, isAnswer := msg.(*jsonrpc.Response); err == nil && isAnswer && lostIn(answer) && c.died() {
		return c.Connection.Read(ctx) // to the end of the conversation
	}
	return msg, err
}

func lostIn(answer *jsonrpc.Response) bool {
	in, ours := errors.AsType[*failure](answer.Error)
	return ours && in.lost
}

// died waits for the end of a process that may be dying.
func (c *sharedConn) died() bool {
	if c.patient.IsZero() {
		c.patient = time.Now().Add(dying)
	}
	select {
	case <-c.l.process.Done():
		return true
	case <-time.After(time.Until(c.patient)):
		return false
	case <-c.l.life.Done():
		return false
	}
}
