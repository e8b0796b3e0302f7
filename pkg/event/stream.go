package event

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Version is the value of "v" in every JSON record.
const Version = 1

// Redactor replaces secrets in text.
type Redactor interface {
	Text(s string) string
	Value(v any) any // the same for every string inside a JSON-like value; the original is left alone
}

// Record is an event with its place in the stream.
type Record struct {
	Time    time.Time
	Seq     int64
	Session string // empty outside a session
	Trail   string // file of the trail, empty outside one
	Event   Event
}

// MarshalJSON writes the record and its event as one flat object.
func (r Record) MarshalJSON() ([]byte, error) {
	line := bytes.NewBuffer(make([]byte, 0, 512))
	line.WriteString(`{"v":` + strconv.Itoa(Version) + `,"type":"` + r.Event.Type() + `","time":"`)
	line.Write(r.Time.AppendFormat(line.AvailableBuffer(), time.RFC3339Nano))
	line.WriteString(`","seq":` + strconv.FormatInt(r.Seq, 10))
	for _, place := range [][2]string{{`,"session":`, r.Session}, {`,"trail":`, r.Trail}} {
		if place[1] == "" {
			continue
		}
		line.WriteString(place[0])
		if err := encode(line, place[1]); err != nil {
			return nil, err
		}
	}
	head := line.Len()
	if err := encode(line, r.Event); err != nil {
		return nil, err
	}
	flat := line.Bytes()
	if len(flat) == head+len("{}") {
		return append(flat[:head], '}'), nil
	}
	flat[head] = ',' // where the event's own object begins
	return flat, nil
}

// encode appends v as JSON.
func encode(to *bytes.Buffer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	to.Truncate(len(bytes.TrimRight(to.Bytes(), "\n")))
	return err
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := encode(&b, v)
	return b.Bytes(), err
}

// Handler renders records. The stream calls handlers one record at a time.
type Handler interface {
	Handle(r Record)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(Record)

// Handle calls f.
func (f HandlerFunc) Handle(r Record) { f(r) }

// Stream numbers and times events and hands them to its handlers in order. It may be used from any goroutine. A handler that
// panics gets nothing more; events come from goroutines that nobody could recover otherwise.
type Stream struct {
	// OnPanic is told of a handler's panic. It may be nil.
	OnPanic func(err error)

	mu       sync.Mutex
	seq      int64
	now      func() time.Time
	redactor Redactor
	handlers []Handler
}

// NewStream makes a stream; every event goes to every handler.
func NewStream(now func() time.Time, redactor Redactor, handlers ...Handler) *Stream {
	return &Stream{now: now, redactor: redactor, handlers: handlers}
}

// Emit sends an event that belongs to no session, on the terms of Emitter.Emit.
func (s *Stream) Emit(e Event) { s.emit(Record{Event: e}, nil) }

// Session returns an emitter for one session; its records also go to extra, the session's own log.
func (s *Stream) Session(session, trail string, extra Handler) *Emitter {
	return &Emitter{stream: s, session: session, trail: trail, extra: extra}
}

func (s *Stream) emit(r Record, extra Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	r.Seq, r.Time = s.seq, s.now()
	r.Session, r.Trail = s.redactor.Text(r.Session), s.redactor.Text(r.Trail)
	r.Event = r.Event.redacted(s.redactor)
	for i, h := range s.handlers {
		if h != nil && !s.handle(h, r) {
			s.handlers[i] = nil
		}
	}
	if extra != nil {
		s.handle(extra, r)
	}
}

func (s *Stream) handle(h Handler, r Record) (sound bool) {
	defer func() {
		if p := recover(); p != nil && s.OnPanic != nil {
			s.OnPanic(fault.Panicked(p))
		}
	}()
	h.Handle(r)
	return true
}

// Emitter sends the events of one session.
type Emitter struct {
	stream         *Stream // nil for one that holds back
	session, trail string
	extra          Handler

	mu      sync.Mutex
	waiting []Event
	to      *Emitter
}

// Hold returns an emitter that keeps its events until Pass is called; without that they are lost.
func Hold() *Emitter { return &Emitter{} }

// Pass sends what was held back to another emitter, and everything from now on.
func (e *Emitter) Pass(to *Emitter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.waiting {
		to.Emit(ev)
	}
	e.waiting, e.to = nil, to
}

// Emit sends an event of the session. What the event refers to, such as arguments, must not change afterwards: handlers may keep it.
func (e *Emitter) Emit(ev Event) {
	if e.stream != nil {
		e.stream.emit(Record{Session: e.session, Trail: e.trail, Event: ev}, e.extra)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.to == nil {
		e.waiting = append(e.waiting, ev)
		return
	}
	e.to.Emit(ev)
}

// Log sends a Log event of the session.
func (e *Emitter) Log(level, source, message, hint string) {
	e.Emit(Log{Level: level, Source: source, Message: message, Hint: hint})
}
