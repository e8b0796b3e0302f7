package live

import (
	"sync"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Subscribe returns the events of the session from now on, without secrets. At most buffer of them wait for a slow
// reader, at least 1: then the oldest are dropped, and an [event.Lost] in their place says how many. The channel is
// closed when the session is closed, after the last event, or by stop, which must be called. A session that is attached
// has no events of its own. The events must not be changed.
func (s *Session) Subscribe(buffer int) (events <-chan event.Event, stop func()) {
	return s.events.subscribe(buffer)
}

// SendMarker sends every subscriber an [event.Lost] of 0 events, behind what happened before.
func (r *RedactedSession) SendMarker() { r.session.events.mark() }

// broadcast passes the events of a session to its log and to subscribers. It never waits for a subscriber.
type broadcast struct {
	log event.Handler // may be nil

	mu          sync.Mutex
	subscribers map[*subscriber]bool
	closed      bool
}

// Handle implements event.Handler.
func (b *broadcast) Handle(r event.Record) {
	if b.log != nil {
		b.log.Handle(r)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subscribers {
		s.add(r.Event)
	}
}

func (b *broadcast) mark() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subscribers {
		s.add(event.Lost{})
	}
}

func (b *broadcast) subscribe(buffer int) (events <-chan event.Event, stop func()) {
	s := &subscriber{
		limit: max(1, buffer), out: make(chan event.Event), more: make(chan struct{}, 1), stopped: make(chan struct{}), done: make(chan struct{}),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.ended = b.closed; !s.ended {
		if b.subscribers == nil {
			b.subscribers = map[*subscriber]bool{}
		}
		b.subscribers[s] = true
	}
	go s.run()
	return s.out, sync.OnceFunc(func() {
		b.mu.Lock()
		delete(b.subscribers, s)
		b.mu.Unlock()
		close(s.stopped)
		<-s.done
	})
}

// close ends all subscriptions: each gets the events that wait for it.
func (b *broadcast) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subscribers {
		s.end()
	}
}

// subscriber receives the events of one subscription.
type subscriber struct {
	limit   int
	out     chan event.Event // not buffered; closed at the end
	more    chan struct{}    // holds a value when waiting, lost or ended may have changed
	stopped chan struct{}    // closed when nobody reads any more
	done    chan struct{}    // closed when run has returned

	mu      sync.Mutex
	waiting []event.Event
	lost    int // events that were dropped before the first one of waiting
	ended   bool
}

// add adds an event, and drops the oldest one when the buffer is full.
func (s *subscriber) add(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == s.limit {
		s.waiting = s.waiting[1:]
		s.lost++
	}
	s.waiting = append(s.waiting, e)
	s.wake()
}

func (s *subscriber) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.wake()
}

func (s *subscriber) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// take returns the next event; nil if none waits. ended is true if none comes any more.
func (s *subscriber) take() (e event.Event, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.lost > 0:
		e = event.Lost{Count: s.lost}
		s.lost = 0
	case len(s.waiting) > 0:
		e = s.waiting[0]
		s.waiting = s.waiting[1:]
	}
	return e, s.ended
}

// run passes the events on until the session is closed or nobody reads any more.
func (s *subscriber) run() {
	defer close(s.done)
	defer close(s.out)
	for {
		e, ended := s.take()
		if e == nil && ended {
			return
		}
		if e == nil {
			select {
			case <-s.more:
			case <-s.stopped:
				return
			}
			continue
		}
		select {
		case s.out <- e:
		case <-s.stopped:
			return
		}
	}
}
