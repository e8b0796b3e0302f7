// Package remote connects to tool servers over HTTP: to a server with a URL, which others run, or to a server process
// of this program that several sessions share. It provides a link, as pkg/stdio does for a child process.
//
// It supports streamable HTTP, and the older HTTP with SSE for servers that do not.
// docs/decisions/0005-shared-remote-many.md explains why it does not use the SDK's client transports.
//
// It does not interpret messages, apart from the handshake, whose results HTTP repeats in headers, and it does not
// depend on sessions of trails. It never starts or stops the server behind a URL, and sends its headers to no other
// host.
//
// A [Link] may be used from any goroutine. When [Link.Stop] returns, its connections are closed.
package remote

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// messageBuffer is the number of received messages that are kept before reading from the server pauses.
const messageBuffer = 16

// timing holds the limits of a link. Tests shorten them.
type timing struct {
	connect  time.Duration // for connecting to a server, and for the TLS handshake
	idle     time.Duration // that a connection is kept for the next request
	delete   time.Duration // for the request that ends a session
	drain    time.Duration // for a response that was sent before the server ended
	endpoint time.Duration // for a stream of HTTP with SSE to send its endpoint
	resume   time.Duration // before a stream is resumed, unless the server sets another pause
}

func defaultTiming() timing {
	return timing{
		connect: 10 * time.Second,
		// Shorter than that of servers (5 s in node and uvicorn), because a request that is sent while the server
		// closes the connection is lost.
		idle:     2 * time.Second,
		delete:   2 * time.Second,
		drain:    time.Second,
		endpoint: 5 * time.Second,
		resume:   time.Second,
	}
}

// Spec says where a server is.
type Spec struct {
	Name    string
	URL     string            // http or https; a user and password in it are sent as basic authorization
	Headers map[string]string // sent with every request, to this host only
	// Proxy chooses the proxy of a request, as in http.Transport. Nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// Log receives messages that are not errors; level is debug, info, warn or error. May be nil.
	Log func(level, message, hint string)

	shared bool    // it is a process of a Pool
	timing *timing // nil means the default
}

// Link is one MCP session with a server.
type Link struct {
	spec   Spec
	url    *url.URL // changes only while initialize is sent
	client *http.Client
	timing timing

	ctx          context.Context //nolint:containedctx // of all requests, because a stream outlives the call whose request opened it
	cancel       context.CancelFunc
	messages     chan jsonrpc.Message
	firstMessage chan struct{}
	firstOnce    sync.Once
	done         chan struct{}
	requests     sync.WaitGroup // the goroutines of requests that have a response
	background   sync.WaitGroup // all other goroutines of the link

	mu        sync.Mutex
	closing   bool         // no request is started any more
	failure   *fault.Error // how it ended by itself
	sessionID string       // assigned by the server; may be empty
	version   string       // of the protocol, from the handshake
	// endpoint is where messages are sent in HTTP with SSE, while all responses arrive in one stream; nil in streamable
	// HTTP.
	endpoint *url.URL
}

// Open returns a link. It sends nothing before the first message is written, so an unreachable server fails the
// handshake. The error is a *fault.Error about the URL or the headers.
func Open(ctx context.Context, spec Spec) (*Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(fault.Cancelled, err, "", "cancelled")
	}
	u, err := url.Parse(spec.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fault.New(fault.Config, "write http://HOST:PORT/PATH or https://HOST/PATH",
			"its url is not the URL of a server")
	}
	for name, value := range spec.Headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			return nil, fault.New(fault.Config, "does a variable in it contain a line break?",
				"its header %q cannot be sent", name)
		}
	}
	if spec.Log == nil {
		spec.Log = func(string, string, string) {}
	}
	limits := defaultTiming()
	if spec.timing != nil {
		limits = *spec.timing
	}
	l := &Link{
		spec: spec, url: u, client: newClient(u, spec.Proxy, limits), timing: limits,
		messages: make(chan jsonrpc.Message, messageBuffer), firstMessage: make(chan struct{}),
		done: make(chan struct{}),
	}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return l, nil
}

// Transport returns the transport of the server. It is connected once.
func (l *Link) Transport() mcp.Transport { return transport{l} }

// FirstMessage is closed when the first protocol message has been received.
func (l *Link) FirstMessage() <-chan struct{} { return l.firstMessage }

// Done is closed when no more messages will be received.
func (l *Link) Done() <-chan struct{} { return l.done }

// ExitError returns, once Done is closed, how the session ended by itself; nil if Stop ended it.
func (l *Link) ExitError() *fault.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Explain returns a copy of cause with the address of the server.
func (l *Link) Explain(cause *fault.Error) *fault.Error {
	e := *cause
	where := withoutSecrets(l.url)
	if !strings.Contains(e.Message, where) {
		e.Message += "\n  the server's url is " + where
	}
	switch {
	case e.Hint != "" || e.Kind == fault.Cancelled:
	case isSingleSession(&e):
		e.Hint = "it seems to serve one client at a time; it needs one transport for each session. Restarting it helps once"
	default:
		e.Hint = hintServerLog
	}
	e.Details = map[string]any{"url": where}
	maps.Copy(e.Details, cause.Details)
	return &e
}

// StoppedServer returns false, because a link never stops the server behind a URL.
func (l *Link) StoppedServer() bool { return false }

// Stop ends the session. The server continues to run.
func (l *Link) Stop(ctx context.Context) error {
	l.mu.Lock()
	first := !l.closing
	l.closing = true
	l.mu.Unlock()
	if first {
		l.deleteSession(ctx)
		l.close()
	}
	<-l.done
	return nil
}

// fail ends the session because the server did.
func (l *Link) fail(failure *fault.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return
	}
	l.closing, l.failure = true, failure
	go func() { // not here, because close waits for the goroutine of the caller
		defer l.close()
		defer time.AfterFunc(l.timing.drain, l.cancel).Stop()
		l.requests.Wait() // for responses that the server sent before
	}()
}

// close is called once, after closing is set.
func (l *Link) close() {
	l.cancel()
	l.requests.Wait()
	l.background.Wait()
	l.client.CloseIdleConnections()
	close(l.done)
}

// start runs f in a goroutine of the group, and reports whether it did: it does not if the link is closing.
func (l *Link) start(group *sync.WaitGroup, f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		group.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					l.fail(fault.Panicked(p))
				}
			}()
			f()
		})
	}
	return !l.closing
}

// deliver passes a message to the reader.
func (l *Link) deliver(msg jsonrpc.Message) {
	select {
	case l.messages <- msg:
	case <-l.ctx.Done():
	}
}

func (l *Link) log(level, message string) {
	l.spec.Log(level, fmt.Sprintf("server %q %s", l.spec.Name, message), "")
}

// withoutSecrets returns a URL without its user, query and fragment.
func withoutSecrets(u *url.URL) string {
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return out.String()
}

// address returns host and port of a URL.
func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "http" {
		return u.Host + ":80"
	}
	return u.Host + ":443"
}
