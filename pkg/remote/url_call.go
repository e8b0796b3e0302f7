package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	// maxMessage is the longest message that is taken, as of a process.
	maxMessage = 64 << 20
	// maxResumes is how often an answer's stream is taken up again without hearing anything new.
	maxResumes = 5
	// drainLimit is how long a stream may go on after the answer that it is for.
	drainLimit = time.Second
	// resumeDelay is what the server's own wish replaces.
	resumeDelay = time.Second
	// listenDelay is the longest between two attempts to hear what the server says of its own accord.
	listenDelay = 30 * time.Second
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"

	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// call sends a request and hands on its answer, or in its place why there is none.
func (l *Link) call(req *jsonrpc.Request, data []byte) {
	failed := l.ask(req, data)
	if failed != nil && l.life.Err() == nil {
		l.deliver(&jsonrpc.Response{ID: req.ID, Error: failed})
	}
}

func (l *Link) ask(req *jsonrpc.Request, data []byte) *failure {
	resp, failed := l.post(l.life, req, data)
	if failed != nil {
		return failed
	}
	defer func() { _ = resp.Body.Close() }()
	if ok(resp) {
		if req.Method == methodInitialize {
			l.mu.Lock()
			l.session = resp.Header.Get(headerSession)
			l.mu.Unlock()
		}
		return l.readAnswer(resp, req)
	}
	text := opening(resp)
	if l.answeredIn(resp, text, req) {
		return nil
	}
	if req.Method == methodInitialize && l.endpoint() == nil && (elsewhere(resp) || resp.StatusCode == http.StatusBadRequest) {
		return l.askLegacy(req, data, l.refusal(resp, text), errorIn(text))
	}
	return l.refusal(resp, text)
}

func ok(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode < 300 }

// elsewhere reports whether this is no place to post to.
func elsewhere(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed
}

func unauthorized(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// forgotten reports whether the server refused a request because it no longer knows the conversation. Servers that are not
// strict say 400.
func (l *Link) forgotten(resp *http.Response, text string) bool {
	if l.sessionID() == "" && l.endpoint() == nil {
		return false
	}
	said := strings.ToLower(text)
	return resp.StatusCode == http.StatusNotFound ||
		resp.StatusCode == http.StatusBadRequest && (strings.Contains(said, "session") || strings.Contains(said, "not initialized"))
}

// answeredIn hands on the JSON-RPC error in a refusal, and reports whether it is the server's answer to the request, and not that of
// what stands before it.
func (l *Link) answeredIn(resp *http.Response, text string, req *jsonrpc.Request) bool {
	rpc := errorIn(text)
	switch {
	case rpc == nil, unauthorized(resp):
		return false
	case rpc.Code == jsonrpc.CodeMethodNotFound: // some say 404 with it
	case l.forgotten(resp, text), req.Method == methodInitialize && elsewhere(resp):
		return false
	}
	l.deliver(&jsonrpc.Response{ID: req.ID, Error: rpc})
	return true
}

// errorIn is the JSON-RPC error in the body of a refusal, nil when there is none. Its id is often null.
func errorIn(text string) *jsonrpc.Error {
	var answer struct{ Error *jsonrpc.Error }
	if json.Unmarshal([]byte(text), &answer) == nil {
		return answer.Error
	}
	return nil
}

// readAnswer hands on what comes back to a request: the answer alone, or a stream of messages with the answer in it.
func (l *Link) readAnswer(resp *http.Response, req *jsonrpc.Request) *failure {
	if l.endpoint() != nil { // the answer comes in the one stream that there is
		return nil
	}
	switch mediaType(resp) {
	case typeStream:
		return l.follow(resp, req)
	case typeJSON:
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
		switch {
		case err != nil:
			return l.lost(err)
		case len(body) > maxMessage:
			return tooLarge()
		}
		msg, err := jsonrpc.DecodeMessage(body)
		if err != nil {
			return l.nonsense("its answer is no message: " + err.Error())
		}
		if !l.take(msg, req) {
			return l.nonsense("its answer is to something else")
		}
		return nil
	}
	return l.odd(resp)
}

// take hands on a message and reports whether it is the answer to req.
func (l *Link) take(msg jsonrpc.Message, req *jsonrpc.Request) bool {
	answer, isAnswer := msg.(*jsonrpc.Response)
	answers := isAnswer && req != nil && (answer.ID == req.ID || !answer.ID.IsValid())
	if answers {
		answer.ID = req.ID
		if req.Method == methodInitialize {
			l.agreed(answer)
		}
	}
	l.deliver(msg)
	return answers
}

// follow reads the stream that holds the answer to req, and takes it up again where it broke off if the server can do that.
func (l *Link) follow(resp *http.Response, req *jsonrpc.Request) *failure {
	at := place{delay: resumeDelay}
	for silent := 0; ; silent++ {
		before := at.id
		answered, err := l.listen(resp.Body, req, &at)
		if answered {
			drain(resp.Body)
		}
		_ = resp.Body.Close()
		var large *failure
		switch {
		case answered:
			return nil
		case errors.As(err, &large):
			return large
		case at.id != before:
			silent = 0
		}
		if at.id == "" || silent == maxResumes || !l.pause(at.delay) {
			return l.lost(err)
		}
		resp, err = l.get(l.life, at.id) //nolint:bodyclose // by the next round
		if err != nil {
			return l.lost(err)
		}
		if !streams(resp) {
			_ = resp.Body.Close()
			return l.lost(errors.New("the server does not go on with its answer: " + resp.Status))
		}
	}
}

// drain reads what a stream has after the answer, which is its end: only then can its connection be used again.
func drain(body io.ReadCloser) {
	defer time.AfterFunc(drainLimit, func() { _ = body.Close() }).Stop()
	_, _ = io.CopyN(io.Discard, body, readSize)
}

// place is how far a stream has been read.
type place struct {
	id    string // of the last event that had one
	delay time.Duration
}

// listen hands on the messages of a stream until it ends, or until the answer to req.
func (l *Link) listen(body io.Reader, req *jsonrpc.Request, at *place) (answered bool, err error) {
	for e, err := range events(body) {
		if err != nil {
			return false, err
		}
		at.note(e)
		if len(e.data) == 0 || (e.name != "" && e.name != "message") {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(e.data)
		if err != nil {
			l.log("warn", "sends something that is no message: "+err.Error())
			continue
		}
		if l.take(msg, req) {
			return true, nil
		}
	}
	return false, io.ErrUnexpectedEOF
}

func (p *place) note(e sseEvent) {
	if e.id != "" {
		p.id = e.id
	}
	if e.retry > 0 {
		p.delay = min(e.retry, listenDelay)
	}
}

// attend hears what the server says of its own accord, for as long as it offers that.
func (l *Link) attend() {
	at := place{delay: resumeDelay}
	for {
		resp, err := l.get(l.life, at.id)
		if err != nil {
			return // the next request will say so
		}
		if !streams(resp) {
			_ = resp.Body.Close()
			return
		}
		begun := time.Now()
		_, _ = l.listen(resp.Body, nil, &at)
		_ = resp.Body.Close()
		if time.Since(begun) < at.delay {
			at.delay = min(2*at.delay, listenDelay)
		}
		if !l.pause(at.delay) {
			return
		}
	}
}

func (l *Link) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-l.life.Done():
		return false
	}
}

// tell sends a message that has no answer.
func (l *Link) tell(ctx context.Context, req *jsonrpc.Request, data []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	resp, failed := l.post(ctx, req, data)
	if failed != nil {
		l.log("debug", "could not be told something: "+failed.Error())
		return
	}
	_ = resp.Body.Close()
	if !ok(resp) {
		l.log("debug", "does not want to be told something: "+resp.Status)
	}
	if req != nil && req.Method == methodInitialized && l.endpoint() == nil {
		l.begin(&l.work, l.attend)
	}
}

// post sends a message. An answer with a status is none of its failures.
func (l *Link) post(ctx context.Context, req *jsonrpc.Request, data []byte) (*http.Response, *failure) {
	to := l.url
	if legacy := l.endpoint(); legacy != nil {
		to = legacy
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(data))
	if err != nil {
		return nil, l.nonsense(err.Error())
	}
	l.dress(r)
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", typeJSON+", "+typeStream)
	nameRequest(r.Header, req)
	resp, err := l.client.Do(r)
	if err == nil {
		return resp, nil
	}
	if sent.Load() {
		return nil, l.brokenOff(err)
	}
	return nil, l.unreachable(err)
}

// get opens the stream of what the server says of its own accord, or goes on with one after an event.
func (l *Link) get(ctx context.Context, after string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	l.dress(r)
	r.Header.Set("Accept", typeStream)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	return l.client.Do(r)
}

// goodbye tells the server that the conversation is over. It may not care.
func (l *Link) goodbye(ctx context.Context) {
	if l.sessionID() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.url.String(), http.NoBody)
	if err != nil {
		return
	}
	l.dress(r)
	if resp, err := l.client.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}

// dress gives a request the headers of the entry and of the conversation.
func (l *Link) dress(r *http.Request) {
	r.Header.Set("User-Agent", "trailblaze")
	for name, value := range l.spec.Headers {
		r.Header.Set(name, value)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != "" {
		r.Header.Set(headerSession, l.session)
	}
	if l.version != "" {
		r.Header.Set(headerVersion, l.version)
	}
}

// nameRequest repeats in headers what a request of the protocol without a handshake says of itself.
func nameRequest(h http.Header, req *jsonrpc.Request) {
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
	version, has := params.Meta[mcp.MetaKeyProtocolVersion].(string)
	if !has {
		return
	}
	h.Set(headerVersion, version)
	h.Set("Mcp-Method", req.Method)
	if name := params.Name + params.URI; name != "" {
		h.Set("Mcp-Name", name)
	}
}

func (l *Link) endpoint() *url.URL {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.legacy
}

func mediaType(resp *http.Response) string {
	t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func streams(resp *http.Response) bool { return ok(resp) && mediaType(resp) == typeStream }
