// Package remote reaches tool servers over HTTP: one that somebody else runs, or one process of ours that several sessions share.
// What it gives is a link like that of a child's pipes: a transport, an end, and facts for an error message.
//
// It speaks streamable HTTP, and with servers that do not, the older HTTP with SSE. The SDK's client transports would bind an
// answer to the context that its request was written with, retry and fail in their own time, and lose why.
//
// It refuses to know what the messages mean, beyond the handshake that HTTP carries in headers, and what a session is. It never
// starts or stops what stands behind a URL, and sends its headers to no other host.
//
// A [Link] may be used from any goroutine. Nothing of it is left when [Link.Stop] returns, connections included.
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

const (
	// farewell is how long saying goodbye to a server may take.
	farewell = 2 * time.Second
	// waiting is how many messages may wait to be read before the server's stream does.
	waiting = 16
	// delivery is how long what a server said before it ended may take to be read.
	delivery = time.Second
)

// Spec says where a server is.
type Spec struct {
	Name    string
	URL     string            // http or https; a user and password in it are sent as basic authorization
	Headers map[string]string // sent with every request, to this host only
	// Proxy says which proxy a request goes through, as of http.Transport. Nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// Log is told what is worth saying besides errors; level is debug, info, warn or error. May be nil.
	Log func(level, message, hint string)

	shared bool // it is a process of a pool
}

// Link is one conversation with a server.
type Link struct {
	spec   Spec
	url    *url.URL
	client *http.Client

	life     context.Context //nolint:containedctx // of every request: no caller's context may end another one's stream
	over     context.CancelFunc
	messages chan jsonrpc.Message
	heard    chan struct{}
	hearOnce sync.Once
	done     chan struct{}
	calls    sync.WaitGroup // the goroutines of requests that have an answer
	work     sync.WaitGroup // every other goroutine of the link

	mu      sync.Mutex
	ending  bool         // no request is begun any more
	fate    *fault.Error // how it ended by itself
	session string       // what the server calls the conversation; empty when it does not
	version string       // of the protocol, once agreed
	legacy  *url.URL     // where messages go when the answers come from one stream, of HTTP with SSE; else nil
}

// Open makes a link. Nothing is sent before the first message is written, so a server that cannot be reached shows in the
// handshake. The error is a *fault.Error about the URL or the headers.
func Open(ctx context.Context, spec Spec) (*Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(fault.Cancelled, err, "", "cancelled")
	}
	u, err := url.Parse(spec.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fault.New(fault.Config, "write http://HOST:PORT/PATH or https://HOST/PATH", "its url is no URL of a server")
	}
	for name, value := range spec.Headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			return nil, fault.New(fault.Config, "is there a line break in a variable that it takes?", "its header %q cannot be sent", name)
		}
	}
	if spec.Log == nil {
		spec.Log = func(string, string, string) {}
	}
	l := &Link{
		spec: spec, url: u, client: newClient(u, spec.Proxy),
		messages: make(chan jsonrpc.Message, waiting), heard: make(chan struct{}), done: make(chan struct{}),
	}
	l.life, l.over = context.WithCancel(context.WithoutCancel(ctx))
	return l, nil
}

// Transport returns how to speak with the server. It is connected once.
func (l *Link) Transport() mcp.Transport { return transport{l} }

// FirstMessage is closed at the first protocol message.
func (l *Link) FirstMessage() <-chan struct{} { return l.heard }

// Done is closed when nothing will come any more.
func (l *Link) Done() <-chan struct{} { return l.done }

// ExitError says, once Done is closed, how the conversation ended by itself; nil when we stopped it.
func (l *Link) ExitError() *fault.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fate
}

// Explain returns cause with where the server is. cause stays as it is.
func (l *Link) Explain(cause *fault.Error) *fault.Error {
	e := *cause
	where := shown(l.url)
	if !strings.Contains(e.Message, where) {
		e.Message += "\n  the server is at " + where
	}
	switch {
	case e.Hint != "" || e.Kind == fault.Cancelled:
	case oneClient(&e):
		e.Hint = "it seems to serve one client at a time: it needs a transport for each session; until then, starting it anew helps once"
	default:
		e.Hint = hintTheirs
	}
	e.Details = map[string]any{"url": where}
	maps.Copy(e.Details, cause.Details)
	return &e
}

// StoppedServer is false: what stands behind a URL is not ours to replace.
func (l *Link) StoppedServer() bool { return false }

// Stop says goodbye and ends what is left of the conversation. The server goes on.
func (l *Link) Stop(ctx context.Context) error {
	l.mu.Lock()
	first := !l.ending
	l.ending = true
	l.mu.Unlock()
	if first {
		l.goodbye(ctx)
		l.finish()
	}
	<-l.done
	return nil
}

// end ends the conversation because the server did.
func (l *Link) end(fate *fault.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return
	}
	l.ending, l.fate = true, fate
	go func() { // it waits for the caller
		defer l.finish()
		defer time.AfterFunc(delivery, l.over).Stop()
		l.calls.Wait() // for the answers that the server gave before
	}()
}

func (l *Link) finish() {
	l.over()
	l.calls.Wait()
	l.work.Wait()
	l.client.CloseIdleConnections()
	close(l.done)
}

// begin runs part of the conversation in a group, unless it is ending.
func (l *Link) begin(group *sync.WaitGroup, part func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ending {
		group.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					l.end(fault.Panicked(p))
				}
			}()
			part()
		})
	}
	return !l.ending
}

// deliver hands on what the server said.
func (l *Link) deliver(msg jsonrpc.Message) {
	select {
	case l.messages <- msg:
	case <-l.life.Done():
	}
}

func (l *Link) log(level, message string) {
	l.spec.Log(level, fmt.Sprintf("server %q %s", l.spec.Name, message), "")
}

// shown is a URL without what may be secret in it.
func shown(u *url.URL) string {
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return out.String()
}

// address is where a URL is connected to.
func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "http" {
		return u.Host + ":80"
	}
	return u.Host + ":443"
}
