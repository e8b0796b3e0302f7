package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// endpointWait is how long a stream may take to say where messages go.
const endpointWait = 5 * time.Second

// askLegacy takes a server that refused initialize for one of HTTP with SSE: it opens the stream that all its answers come in,
// and sends the request where the stream says. refused is the failure when it is no such server either, and rpc what it said in the words of the
// protocol; may be nil.
func (l *Link) askLegacy(req *jsonrpc.Request, data []byte, refused *failure, rpc *jsonrpc.Error) *failure {
	ctx, cancel := context.WithCancel(l.life)
	patience := time.AfterFunc(endpointWait, cancel)
	resp, err := l.get(ctx, "")
	if err != nil {
		cancel()
		return l.noMCP(refused, err, rpc)
	}
	body := bufio.NewReaderSize(resp.Body, readSize)
	endpoint, err := l.readEndpoint(resp, body)
	if !patience.Stop() {
		err = fmt.Errorf("a stream that says nothing for %s", endpointWait)
	}
	if err != nil {
		cancel()
		_ = resp.Body.Close()
		return l.noMCP(refused, err, rpc)
	}
	l.mu.Lock()
	l.legacy = endpoint
	l.mu.Unlock()
	l.log("debug", "speaks HTTP with SSE, the transport of 2024-11-05")
	l.begin(&l.work, func() {
		defer cancel()
		_, err := l.listen(body, nil, &place{})
		_ = resp.Body.Close()
		l.end(l.lost(err).why)
	})
	return l.ask(req, data)
}

// readEndpoint reads where messages go. Another host is refused, as in a redirect.
func (l *Link) readEndpoint(resp *http.Response, body io.Reader) (*url.URL, error) {
	if !ok(resp) {
		return nil, errors.New(resp.Status)
	}
	if mediaType(resp) != typeStream {
		return nil, fmt.Errorf("%s, but no stream of events", resp.Status)
	}
	for e, err := range events(body) {
		if err != nil {
			return nil, err
		}
		if e.name != "endpoint" {
			return nil, errors.New("a stream that does not begin with an endpoint")
		}
		u, err := l.url.Parse(string(e.data))
		if err != nil {
			return nil, errors.New("an endpoint that is no URL")
		}
		if u.Host != l.url.Host || u.Scheme != l.url.Scheme {
			return nil, fmt.Errorf("an endpoint on another host, %s", shown(u))
		}
		return u, nil
	}
	return nil, errors.New("a stream that ends at once")
}
