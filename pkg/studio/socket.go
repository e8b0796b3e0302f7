package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	maxMessage     = 8 << 20  // bytes of a message from a page
	maxPending     = 256      // requests of a page that run
	maxQueue       = 1024     // messages that wait for a slow page
	maxQueuedBytes = 64 << 20 // in those messages
	maxLines       = 1000     // of the log that wait for a slow page
)

// page is a page that is connected. Its fields are guarded by the mu of the server.
type page struct {
	server *server
	conn   *websocket.Conn
	cancel context.CancelFunc // closes the socket
	wake   chan struct{}      // receives when there may be something to send

	visible bool
	unseen  *shot // that was sent, and that the page has not shown yet; nil for none
	sent    *shot

	pending int // requests that run
	queue   []outgoing
	queued  int               // bytes in queue
	latest  map[string][]byte // the newest bodies of pushes of which only the newest waits
	lines   []logLine         // that wait
	left    int               // lines that were left out
	last    bool              // nothing follows what is in queue
}

// outgoing is a message to a page: data, or else what is newest of a push.
type outgoing struct {
	on   string
	data []byte
}

// encoded is a push whose body was encoded once for all pages.
type encoded struct {
	on    string
	body  []byte    // a JSON object
	lines []logLine // of the log, instead of body
}

func encodePush(p push, now func() time.Time) encoded {
	if log, ok := p.body.(logMessage); ok {
		return encoded{on: onLog, lines: log.Lines}
	}
	body, err := json.Marshal(p.body)
	if err != nil {
		return encoded{on: onLog, lines: []logLine{{Time: now(), Level: "error", Text: fmt.Sprintf("%s could not be sent: %v", p.on, err)}}}
	}
	return encoded{on: p.on, body: body}
}

// socket serves a page until it is closed.
func (s *server) socket(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the guard did
	if err != nil {
		return // it has answered
	}
	conn.SetReadLimit(maxMessage)
	pageCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	p := &page{server: s, conn: conn, cancel: cancel, wake: make(chan struct{}, 1), visible: true, latest: map[string][]byte{}}
	written := make(chan struct{})
	if s.open(p) {
		p.greet()
	} else {
		p.reject()
	}
	s.running.Go(func() {
		defer close(written)
		defer cancel()
		p.write(pageCtx)
	})
	s.running.Go(func() {
		defer cancel()
		p.ping(pageCtx)
	})
	p.read(ctx, pageCtx)
	s.close(p)
	cancel()
	<-written
	_ = conn.CloseNow()
}

// greet sends a page what it must know.
func (p *page) greet() {
	s := p.server
	var first []encoded
	for _, m := range s.handler.greet() {
		first = append(first, encodePush(m, s.now))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range first {
		if p.latest[m.on] == nil { // else something newer was pushed since
			p.push(m)
		}
	}
}

// reject says that a page cannot be served.
func (p *page) reject() {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.bye(fmt.Sprintf("%d pages are open already, or the studio has ended; close one and load this one again", maxPages))
}

// push adds a push to what the page is sent. The caller holds mu.
func (p *page) push(m encoded) {
	switch m.on {
	case onLog:
		p.lines = append(p.lines, m.lines...)
		if extra := len(p.lines) - maxLines; extra > 0 {
			p.lines, p.left = slices.Clone(p.lines[extra:]), p.left+extra
		}
	case onState, onDocument:
		if bytes.Equal(p.latest[m.on], m.body) {
			return
		}
		p.latest[m.on] = m.body
	default:
		p.enqueue(outgoing{data: object(m.on, m.body)})
		return
	}
	p.again(m.on)
}

// again sends the newest of a push. The caller holds mu.
func (p *page) again(on string) {
	known := p.latest[on] != nil || on == onLog && len(p.lines) > 0
	if known && !slices.ContainsFunc(p.queue, func(o outgoing) bool { return o.on == on }) {
		p.enqueue(outgoing{on: on})
	}
}

// enqueue adds a message. A page that does not read what it is sent is closed. The caller holds mu.
func (p *page) enqueue(o outgoing) {
	if p.last {
		return
	}
	p.queue, p.queued = append(p.queue, o), p.queued+len(o.data)
	if len(p.queue) > maxQueue || p.queued > maxQueuedBytes {
		p.cancel()
	}
	p.signal()
}

// bye sends a page the last message, and closes the socket soon whether or not the page reads it. The caller holds mu.
func (p *page) bye(why string) {
	body, _ := json.Marshal(map[string]string{"why": why})
	p.enqueue(outgoing{data: object("bye", body)})
	p.last = true
	time.AfterFunc(p.server.limits.bye, p.cancel)
}

func (p *page) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// object returns {"on": on, …fields of body}.
func object(on string, body []byte) []byte {
	out := fmt.Appendf(nil, `{"on":%q`, on)
	if fields := bytes.TrimSpace(body[1:]); len(fields) > 1 {
		out = append(out, ',')
	}
	return append(out, body[1:]...)
}

// next returns what to send now: data, and a picture behind it. done says that nothing follows. The caller does not
// hold mu.
func (p *page) next() (data, picture []byte, done bool) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p.queue) > 0 {
		first := p.queue[0]
		p.queue, p.queued = p.queue[1:], p.queued-len(first.data)
		if first.on != "" {
			return p.newest(first.on), nil, false
		}
		return first.data, nil, false
	}
	if p.last {
		return nil, nil, true
	}
	if shown := p.nextPicture(); shown != nil {
		body, _ := json.Marshal(shown.message)
		return object("picture", body), shown.data, false
	}
	return nil, nil, false
}

// newest returns the newest of a push. The caller holds mu.
func (p *page) newest(on string) []byte {
	s := p.server
	switch on {
	case onState:
		data := object(on, p.latest[on])
		return fmt.Appendf(data[:len(data)-1], `,"controls":%t,"pages":%d}`, s.controller == p, len(s.pages))
	case onLog:
		if p.left > 0 {
			lost := logLine{Time: s.now(), Level: "warn", Text: fmt.Sprintf("%d lines were left out, because this page was slow", p.left)}
			p.lines = slices.Insert(p.lines, 0, lost)
		}
		body, _ := json.Marshal(logMessage{p.lines}) // texts and times can be encoded
		p.lines, p.left = nil, 0
		return object(on, body)
	default:
		return object(on, p.latest[on])
	}
}

// write sends messages until ctx ends, the page stops reading, or there was a last message. Then it closes the socket.
func (p *page) write(ctx context.Context) {
	for {
		data, picture, done := p.next()
		switch {
		case done:
			_ = p.conn.Close(websocket.StatusGoingAway, "")
			return
		case data == nil:
			select {
			case <-p.wake:
			case <-ctx.Done():
				return
			}
			continue
		}
		err := p.send(ctx, websocket.MessageText, data)
		if err == nil && len(picture) > 0 {
			err = p.send(ctx, websocket.MessageBinary, picture)
		}
		if err != nil {
			return
		}
	}
}

func (p *page) send(ctx context.Context, kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, p.server.limits.write)
	defer cancel()
	return p.conn.Write(ctx, kind, data)
}

// ping finds out whether the page is still there. It returns when it is not.
func (p *page) ping(ctx context.Context) {
	ticker := time.NewTicker(p.server.limits.ping)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		limited, cancel := context.WithTimeout(ctx, p.server.limits.ping)
		err := p.conn.Ping(limited)
		cancel()
		if err != nil {
			return
		}
	}
}

// read takes requests until the socket is closed. ctx ends with the server, pageCtx with the page.
func (p *page) read(ctx, pageCtx context.Context) {
	for {
		kind, data, err := p.conn.Read(pageCtx)
		if err != nil {
			return
		}
		p.receive(ctx, kind, data)
	}
}

// pageRequest is what the server itself reads of a request.
type pageRequest struct {
	ID      int64  `json:"id"`
	Do      string `json:"do"`
	Visible bool   `json:"visible"`
	Seq     int    `json:"seq"`
}

// receive takes a message of a page.
func (p *page) receive(ctx context.Context, kind websocket.MessageType, data []byte) {
	r, err := parseRequest(kind, data)
	if err != nil {
		p.reply(r.ID, nil, err)
		return
	}
	switch r.Do {
	case "takeOver":
		p.server.takeOver(p)
	case "visible":
		p.show(r.Visible)
	case "seen":
		p.seen(r.Seq)
	default:
		p.do(ctx, r, data)
		return
	}
	p.reply(r.ID, nil, nil)
}

func parseRequest(kind websocket.MessageType, data []byte) (r pageRequest, err error) {
	switch {
	case kind != websocket.MessageText:
		err = errors.New("it is binary")
	case !utf8.Valid(data):
		err = errors.New("it is not UTF-8")
	default:
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.Do == "" {
		err = errors.New(`"do" is missing`)
	}
	if err != nil {
		return r, fault.New(fault.InvalidArguments, "", "the message is not a request: %v", err)
	}
	return r, nil
}

// do has the handler carry out a request.
func (p *page) do(ctx context.Context, r pageRequest, params json.RawMessage) {
	s := p.server
	if needsControl(r.Do) && !s.controls(p) {
		p.reply(r.ID, nil, fault.New(fault.Unavailable, "press Take over", "another page controls the session"))
		return
	}
	if !p.add() {
		p.reply(r.ID, nil, fault.New(fault.Unavailable, "wait until some have ended, or press Stop", "%d requests of this page run already", maxPending))
		return
	}
	run, err := recovered(func() (func(context.Context) (any, error), error) { return s.handler.begin(r.Do, params), nil })
	s.running.Go(func() {
		var result any
		if err == nil {
			result, err = recovered(func() (any, error) { return run(ctx) })
		}
		p.reply(r.ID, result, err)
		p.remove()
	})
}

// add reports whether the page may make one more request.
func (p *page) add() bool {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	if p.pending >= maxPending {
		return false
	}
	p.pending++
	return true
}

func (p *page) remove() {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.pending--
}

// recovered calls f. A panic becomes an error.
func recovered[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fault.Panicked(v)
		}
	}()
	return f()
}

// needsControl reports whether only the page that controls may make a request. page/src/protocol.ts says the same.
func needsControl(do string) bool {
	return slices.Contains([]string{
		"act", "navigate", "assert", "call", "edit", "yaml", "nameStep", "undo", "redo", "select", "replay", "record",
		"device", "answer", "notice", "variable", "removeVariable", "save", "restore", "openPast",
	}, do)
}

// failure is an error as pages get it.
type failure struct {
	Message   string     `json:"message"`
	Hint      string     `json:"hint,omitempty"`
	Kind      fault.Kind `json:"kind,omitempty"`
	Overwrite bool       `json:"overwrite,omitempty"`
	Problems  []problem  `json:"problems,omitempty"`
}

type reply struct {
	Re     int64    `json:"re"`
	OK     bool     `json:"ok"`
	Result any      `json:"result,omitempty"`
	Error  *failure `json:"error,omitempty"`
}

// reply answers a request.
func (p *page) reply(id int64, result any, err error) {
	s := p.server
	r := reply{Re: id, OK: err == nil, Result: result}
	if err != nil {
		r = reply{Re: id, Error: s.failureOf(err)}
	}
	data, err := json.Marshal(r)
	if err != nil {
		data, _ = json.Marshal(reply{Re: id, Error: &failure{Message: "the answer could not be encoded: " + s.output(err.Error())}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.enqueue(outgoing{data: data})
}

// failureOf returns an error as pages get it, without secrets.
func (s *server) failureOf(err error) *failure {
	f := &failure{Message: s.output(err.Error()), Hint: s.output(strings.Join(fault.Hints(err), "; ")), Kind: fault.KindOf(err)}
	if e := fault.As(err); e != nil {
		f.Overwrite, _ = e.Details["overwrite"].(bool)
	}
	if found, ok := errors.AsType[fault.Problems](err); ok {
		f.Problems = problemsOf(found, "error")
		for i := range f.Problems {
			f.Problems[i].Message, f.Problems[i].Hint = s.output(f.Problems[i].Message), s.output(f.Problems[i].Hint)
		}
	}
	return f
}
