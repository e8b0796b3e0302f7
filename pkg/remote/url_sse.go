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

// initializeSSE sends initialize to a server that rejected it over streamable HTTP, over HTTP with SSE: it opens the
// stream in which all responses arrive, and sends the request to the endpoint that the stream names. rejected is the
// failure if the server does not support that either, and rpc the JSON-RPC error in its response, which may be nil.
func (l *Link) initializeSSE(req *jsonrpc.Request, data []byte, rejected *transportError,
	rpc *jsonrpc.Error,
) *transportError {
	ctx, cancel := context.WithCancel(l.ctx)
	timeout := time.AfterFunc(l.timing.endpoint, cancel)
	resp, err := l.get(ctx, "")
	if err != nil {
		cancel()
		return l.noMCP(rejected, err, rpc)
	}
	body := bufio.NewReaderSize(resp.Body, readSize)
	endpoint, err := l.readEndpoint(resp, body)
	if !timeout.Stop() {
		err = fmt.Errorf("its stream sends nothing for %s", l.timing.endpoint)
	}
	if err != nil {
		cancel()
		_ = resp.Body.Close()
		return l.noMCP(rejected, err, rpc)
	}
	l.mu.Lock()
	l.endpoint = endpoint
	l.mu.Unlock()
	l.log("debug", "uses HTTP with SSE, the transport of 2024-11-05")
	l.start(&l.background, func() {
		defer cancel()
		_, err := l.readMessages(body, nil, &streamPosition{})
		_ = resp.Body.Close()
		l.fail(l.connectionLost(err).cause)
	})
	return l.request(req, data)
}

// readEndpoint reads where messages are sent. Another host is refused, as in a redirect.
func (l *Link) readEndpoint(resp *http.Response, body io.Reader) (*url.URL, error) {
	if !isSuccess(resp) {
		return nil, errors.New(resp.Status)
	}
	if mediaType(resp) != typeStream {
		return nil, fmt.Errorf("%s, but not an event stream", resp.Status)
	}
	for e, err := range readEvents(body) {
		if err != nil {
			return nil, err
		}
		if len(e.data) == 0 {
			continue // a comment, or a time to reconnect
		}
		if e.name != "endpoint" {
			return nil, errors.New("its stream does not begin with an endpoint event")
		}
		u, err := l.url.Parse(string(e.data))
		if err != nil {
			return nil, errors.New("its endpoint is not a URL")
		}
		if u.Host != l.url.Host || u.Scheme != l.url.Scheme {
			return nil, fmt.Errorf("its endpoint is on another host, %s", withoutSecrets(u))
		}
		return u, nil
	}
	return nil, errors.New("its stream ends without an event")
}
