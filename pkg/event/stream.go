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
	Value(v any) any // replaces them in every string of a JSON-like value, which it does not change
}

// Record is an event with its position in the stream.
type Record struct {
	Time    time.Time
	Seq     int64
	Session string // empty outside a session
	Trail   string // file of the trail, empty outside one
	Event   Event
}

// MarshalJSON encodes the record and its event as one flat object.
func (r Record) MarshalJSON() ([]byte, error) {
	line := bytes.NewBuffer(make([]byte, 0, 512))
	line.WriteString(`{"v":` + strconv.Itoa(Version) + `,"type":"` + r.Event.Type() + `","time":"`)
	line.Write(r.Time.AppendFormat(line.AvailableBuffer(), time.RFC3339Nano))
	line.WriteString(`","seq":` + strconv.FormatInt(r.Seq, 10))
	for _, field := range [][2]string{{`,"session":`, r.Session}, {`,"trail":`, r.Trail}} {
		if field[1] == "" {
			continue
		}
		line.WriteString(field[0])
		if err := encode(line, field[1]); err != nil {
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
	flat[head] = ',' // instead of the opening brace of the event
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

// Handler receives records. A stream calls its handlers one at a time.
type Handler interface {
	Handle(r Record)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(Record)

// Handle calls f.
func (f HandlerFunc) Handle(r Record) { f(r) }

// Stream numbers and times events and passes them to its handlers in order. It may be used by any goroutine. It
// recovers panics of handlers; one that has panicked receives no more records.
type Stream struct {
	// OnPanic is called after a handler has panicked. It may be nil.
	OnPanic func(err error)

	mu       sync.Mutex
	seq      int64
	now      func() time.Time
	redactor Redactor
	handlers []Handler
}

// NewStream returns a stream that passes every event to every handler.
func NewStream(now func() time.Time, redactor Redactor, handlers ...Handler) *Stream {
	return &Stream{now: now, redactor: redactor, handlers: handlers}
}

// Emit emits an event that does not belong to a session; see Emitter.Emit.
func (s *Stream) Emit(e Event) { s.emit(Record{Event: e}, nil) }

// Session returns an emitter for one session. Its records are also passed to log, which may be nil.
func (s *Stream) Session(session, trail string, log Handler) *Emitter {
	return &Emitter{stream: s, session: session, trail: trail, log: log}
}

func (s *Stream) emit(r Record, log Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	r.Seq, r.Time = s.seq, s.now()
	r.Session, r.Trail = s.redactor.Text(r.Session), s.redactor.Text(r.Trail)
	r.Event = r.Event.withoutSecrets(s.redactor)
	for i, h := range s.handlers {
		if h != nil && !s.handle(h, r) {
			s.handlers[i] = nil
		}
	}
	if log != nil {
		s.handle(log, r)
	}
}

// handle reports whether the handler returned without a panic.
func (s *Stream) handle(h Handler, r Record) (ok bool) {
	defer func() {
		if p := recover(); p != nil && s.OnPanic != nil {
			s.OnPanic(fault.Panicked(p))
		}
	}()
	h.Handle(r)
	return true
}

// Emitter emits the events of one session.
type Emitter struct {
	stream         *Stream // nil for one that buffers
	session, trail string
	log            Handler

	mu       sync.Mutex
	buffered []Event
	to       *Emitter
}

// NewBuffer returns an emitter that buffers its events until ForwardTo is called. Without such a call they are lost.
func NewBuffer() *Emitter { return &Emitter{} }

// ForwardTo emits the buffered events, and all later ones, with another emitter.
func (e *Emitter) ForwardTo(to *Emitter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.buffered {
		to.Emit(ev)
	}
	e.buffered, e.to = nil, to
}

// Emit emits an event of the session. The caller must not change arguments and other values of the event afterwards,
// because handlers may keep them.
func (e *Emitter) Emit(ev Event) {
	if e.stream != nil {
		e.stream.emit(Record{Session: e.session, Trail: e.trail, Event: ev}, e.log)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.to == nil {
		e.buffered = append(e.buffered, ev)
		return
	}
	e.to.Emit(ev)
}

// Log emits a Log event of the session.
func (e *Emitter) Log(level, source, message, hint string) {
	e.Emit(Log{Level: level, Source: source, Message: message, Hint: hint})
}
