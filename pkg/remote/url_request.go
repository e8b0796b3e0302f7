package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxMessage is the largest message that is accepted, as from a process.
	maxMessage = 64 << 20
	// maxResumes is how often the stream of a response is resumed without receiving a new event.
	maxResumes = 5
	// streamEndTimeout bounds how long a stream may continue after the response that it was opened for.
	streamEndTimeout = time.Second
	// defaultPath is tried if a URL has no path.
	defaultPath = "/mcp"
	// maxStreamDelay bounds the pause between two attempts to open the stream of notifications.
	maxStreamDelay = 30 * time.Second
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"

	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// sendRequest sends a request and delivers its response, or in its place an error that says why there is none.
func (l *Link) sendRequest(req *jsonrpc.Request, data []byte) {
	failure := l.request(req, data)
	if failure != nil && l.ctx.Err() == nil {
		l.deliver(&jsonrpc.Response{ID: req.ID, Error: failure})
	}
}

// request sends a request and delivers its response, unless it fails.
func (l *Link) request(req *jsonrpc.Request, data []byte) *transportError {
	resp, failure := l.post(l.ctx, req, data)
	if failure != nil {
		return failure
	}
	defer func() { _ = resp.Body.Close() }()
	return l.handleResponse(resp, req, data)
}

// handleResponse handles the HTTP response to a request.
func (l *Link) handleResponse(resp *http.Response, req *jsonrpc.Request, data []byte) *transportError {
	if isSuccess(resp) {
		if req.Method == methodInitialize {
			l.mu.Lock()
			l.sessionID = resp.Header.Get(headerSession)
			l.mu.Unlock()
		}
		return l.readResponse(resp, req)
	}
	if req.Method == methodInitialize && resp.StatusCode == http.StatusNotFound && l.url.Path == "" &&
		l.sseEndpoint() == nil {
		return l.requestAtDefaultPath(req, data, resp)
	}
	return l.requestFailed(resp, req, data)
}

// requestAtDefaultPath sends initialize once more, to defaultPath, because its URL has no path and the response was
// 404. If that is 404 too, the first response counts.
func (l *Link) requestAtDefaultPath(req *jsonrpc.Request, data []byte, first *http.Response) *transportError {
	original := l.url
	l.url = original.JoinPath(defaultPath)
	resp, failure := l.post(l.ctx, req, data)
	if failure != nil {
		return failure
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotFound {
		l.url = original
		return l.requestFailed(first, req, data)
	}
	l.log("info", fmt.Sprintf("answers 404 Not Found at %s; using %s", withoutSecrets(original), withoutSecrets(l.url)))
	return l.handleResponse(resp, req, data)
}

// requestFailed handles a response with a status other than success.
func (l *Link) requestFailed(resp *http.Response, req *jsonrpc.Request, data []byte) *transportError {
	text := readStart(resp)
	if l.deliverRPCError(resp, text, req) {
		return nil
	}
	if req.Method == methodInitialize && l.sseEndpoint() == nil &&
		(isWrongPath(resp) || resp.StatusCode == http.StatusBadRequest) {
		return l.initializeSSE(req, data, l.statusError(resp, text), rpcErrorIn(text))
	}
	return l.statusError(resp, text)
}

func isSuccess(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode < 300 }

// isWrongPath reports whether a status says that messages are not accepted at this URL.
func isWrongPath(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed
}

func isUnauthorized(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// isSessionUnknown reports whether the server rejected a request because it does not know the session any more. Some
// servers send 400 instead of 404.
func (l *Link) isSessionUnknown(resp *http.Response, text string) bool {
	if l.currentSessionID() == "" && l.sseEndpoint() == nil {
		return false
	}
	lower := strings.ToLower(text)
	return resp.StatusCode == http.StatusNotFound ||
		resp.StatusCode == http.StatusBadRequest &&
			(strings.Contains(lower, "session") || strings.Contains(lower, "not initialized"))
}

// deliverRPCError delivers the JSON-RPC error in the body of a failed request, and reports whether it did. It does not
// if the error concerns the session or the path rather than the request.
func (l *Link) deliverRPCError(resp *http.Response, text string, req *jsonrpc.Request) bool {
	rpc := rpcErrorIn(text)
	switch {
	case rpc == nil, isUnauthorized(resp):
		return false
	case rpc.Code == jsonrpc.CodeMethodNotFound: // some servers send 404 with it
	case l.isSessionUnknown(resp, text), req.Method == methodInitialize && isWrongPath(resp):
		return false
	}
	l.deliver(&jsonrpc.Response{ID: req.ID, Error: rpc})
	return true
}

// rpcErrorIn returns the JSON-RPC error in the body of a failed request, or nil. Its id is often null.
func rpcErrorIn(text string) *jsonrpc.Error {
	var response struct{ Error *jsonrpc.Error }
	if json.Unmarshal([]byte(text), &response) == nil {
		return response.Error
	}
	return nil
}

// readResponse delivers the body of a successful request: the response, or a stream of messages that contains it.
func (l *Link) readResponse(resp *http.Response, req *jsonrpc.Request) *transportError {
	if l.sseEndpoint() != nil { // the response arrives in the stream of HTTP with SSE
		return nil
	}
	switch mediaType(resp) {
	case typeStream:
		return l.readStream(resp, req)
	case typeJSON:
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
		switch {
		case err != nil:
			return l.connectionLost(err)
		case len(body) > maxMessage:
			return tooLarge()
		}
		msg, err := jsonrpc.DecodeMessage(body)
		if err != nil {
			return l.notMCP("its response is not a JSON-RPC message: " + err.Error())
		}
		if !l.deliverAndMatch(msg, req) {
			return l.notMCP("its response is to another request")
		}
		return nil
	}
	return l.unexpectedType(resp)
}

// deliverAndMatch delivers a message and reports whether it is the response to req, which may be nil.
func (l *Link) deliverAndMatch(msg jsonrpc.Message, req *jsonrpc.Request) bool {
	response, isResponse := msg.(*jsonrpc.Response)
	matches := isResponse && req != nil && (response.ID == req.ID || !response.ID.IsValid())
	if matches {
		response.ID = req.ID
		if req.Method == methodInitialize {
			l.setVersion(response)
		}
	}
	l.deliver(msg)
	return matches
}

// readStream reads the stream that contains the response to req, and resumes it after an interruption if the server
// supports that.
func (l *Link) readStream(resp *http.Response, req *jsonrpc.Request) *transportError {
	pos := streamPosition{delay: l.timing.resume}
	for attempts := 0; ; attempts++ {
		before := pos.lastID
		answered, err := l.readMessages(resp.Body, req, &pos)
		if answered {
			readToEnd(resp.Body)
		}
		_ = resp.Body.Close()
		var large *transportError
		switch {
		case answered:
			return nil
		case errors.As(err, &large):
			return large
		case pos.lastID != before:
			attempts = 0
		}
		if pos.lastID == "" || attempts == maxResumes || !l.pause(pos.delay) {
			return l.connectionLost(err)
		}
		resp, err = l.get(l.ctx, pos.lastID) //nolint:bodyclose // closed in the next iteration
		if err != nil {
			return l.connectionLost(err)
		}
		if !isEventStream(resp) {
			_ = resp.Body.Close()
			return l.connectionLost(errors.New("the server did not resume its response: " + resp.Status))
		}
	}
}

// readToEnd reads the end of a stream after the response, so that its connection can be used again.
func readToEnd(body io.ReadCloser) {
	defer time.AfterFunc(streamEndTimeout, func() { _ = body.Close() }).Stop()
	_, _ = io.CopyN(io.Discard, body, readSize)
}

// streamPosition is how far a stream has been read.
type streamPosition struct {
	lastID string // of the last event that had an id
	delay  time.Duration
}

// readMessages delivers the messages of a stream until it ends or, if req is not nil, until the response to req.
func (l *Link) readMessages(body io.Reader, req *jsonrpc.Request, pos *streamPosition) (answered bool, err error) {
	for e, err := range readEvents(body) {
		if err != nil {
			return false, err
		}
		pos.update(e)
		if len(e.data) == 0 || (e.name != "" && e.name != "message") {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(e.data)
		if err != nil {
			l.log("warn", "sent an event that is not a JSON-RPC message: "+err.Error())
			continue
		}
		if l.deliverAndMatch(msg, req) {
			return true, nil
		}
	}
	return false, io.ErrUnexpectedEOF
}

func (p *streamPosition) update(e sseEvent) {
	if e.id != "" {
		p.lastID = e.id
	}
	if e.retry > 0 {
		p.delay = min(e.retry, maxStreamDelay)
	}
}

// readNotifications reads the stream of messages that are not responses, for as long as the server offers it.
func (l *Link) readNotifications() {
	pos := streamPosition{delay: l.timing.resume}
	for {
		resp, err := l.get(l.ctx, pos.lastID)
		if err != nil {
			return // the next request reports it
		}
		if !isEventStream(resp) {
			_ = resp.Body.Close()
			return
		}
		started := time.Now()
		_, _ = l.readMessages(resp.Body, nil, &pos)
		_ = resp.Body.Close()
		if time.Since(started) < pos.delay {
			pos.delay = min(2*pos.delay, maxStreamDelay)
		}
		if !l.pause(pos.delay) {
			return
		}
	}
}

func (l *Link) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-l.ctx.Done():
		return false
	}
}

// notify sends a message that has no response. req is nil if it is a response to a request of the server.
func (l *Link) notify(ctx context.Context, req *jsonrpc.Request, data []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	resp, failure := l.post(ctx, req, data)
	if failure != nil {
		l.log("debug", "did not receive a notification: "+failure.Error())
		return
	}
	_ = resp.Body.Close()
	if !isSuccess(resp) {
		l.log("debug", "rejected a notification: "+resp.Status)
	}
	if req != nil && req.Method == methodInitialized && l.sseEndpoint() == nil {
		l.start(&l.background, l.readNotifications)
	}
}

// post sends a message. An HTTP response of any status is not an error.
func (l *Link) post(ctx context.Context, req *jsonrpc.Request, data []byte) (*http.Response, *transportError) {
	to := l.url
	if endpoint := l.sseEndpoint(); endpoint != nil {
		to = endpoint
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(data))
	if err != nil {
		return nil, l.notMCP(err.Error())
	}
	l.setHeaders(r)
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", typeJSON+", "+typeStream)
	setModernHeaders(r.Header, req)
	resp, err := l.client.Do(r)
	if err == nil {
		return resp, nil
	}
	if sent.Load() {
		return nil, l.noResponseError(err)
	}
	return nil, l.unreachable(err)
}

// get opens the stream of notifications, or resumes a stream after the event with the id after.
func (l *Link) get(ctx context.Context, after string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	l.setHeaders(r)
	r.Header.Set("Accept", typeStream)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	return l.client.Do(r)
}

// deleteSession notifies the server that the session has ended. The server may ignore it.
func (l *Link) deleteSession(ctx context.Context) {
	if l.currentSessionID() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.timing.delete)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.url.String(), http.NoBody)
	if err != nil {
		return
	}
	l.setHeaders(r)
	if resp, err := l.client.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}

// setHeaders sets the headers of the entry and of the session.
func (l *Link) setHeaders(r *http.Request) {
	r.Header.Set("User-Agent", "trailblaze")
	for name, value := range l.spec.Headers {
		r.Header.Set(name, value)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessionID != "" {
		r.Header.Set(headerSession, l.sessionID)
	}
	if l.version != "" {
		r.Header.Set(headerVersion, l.version)
	}
}

// setModernHeaders sets the headers that repeat parts of a request of the modern protocol, which has no handshake.
func setModernHeaders(h http.Header, req *jsonrpc.Request) {
	if req == nil {
		return
	}
	var params struct {
		Name string         `json:"name"`
		URI  string         `json:"uri"`
		Meta map[string]any `json:"_meta"`
	}
	if json.Unmarshal(req.Params, &params) != nil {
		return
	}
	version, found := params.Meta[mcp.MetaKeyProtocolVersion].(string)
	if !found {
		return
	}
	h.Set(headerVersion, version)
	h.Set("Mcp-Method", req.Method)
	if name := params.Name + params.URI; name != "" {
		h.Set("Mcp-Name", name)
	}
}

// sseEndpoint returns where messages are sent in HTTP with SSE, nil in streamable HTTP.
func (l *Link) sseEndpoint() *url.URL {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.endpoint
}

func mediaType(resp *http.Response) string {
	t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func isEventStream(resp *http.Response) bool { return isSuccess(resp) && mediaType(resp) == typeStream }
