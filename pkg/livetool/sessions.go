package livetool

import (
	"context"
	"fmt"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// sessions holds the live session of an agent: at most one is open.
type sessions struct {
	tools *Tools
	slot  chan struct{} // holds a value while one is opened or ended

	mu      sync.Mutex
	open    live.API                // nil when none is open
	cancel  context.CancelCauseFunc // ends what open does
	last    live.API                // ended before open; its recording remains. May be nil
	offered []definition            // tools of open
	notes   []string                // about open, for its first answer
	closing sync.WaitGroup          // of what watches sessions and closes them
}

// current returns the open session, nil if there is none.
func (m *sessions) current() live.API {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}

// get returns the open session, and opens one with the defaults if there is none. The error is about a session that
// ended since, or that cannot be opened.
func (m *sessions) get(ctx context.Context) (live.API, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.unlock()
	if err := m.ended(); err != nil {
		return nil, err
	}
	if open := m.current(); open != nil {
		return open, nil
	}
	return m.start(ctx, Start{})
}

func (m *sessions) lock(ctx context.Context) error {
	select {
	case m.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *sessions) unlock() { <-m.slot }

// start opens a session. The end of ctx before it is open cancels that. The caller holds the slot.
func (m *sessions) start(ctx context.Context, request Start) (live.API, error) {
	lifetime, cancel := context.WithCancelCause(m.tools.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	opened, err := m.tools.opts.Open(lifetime, request)
	if !stop() && err == nil {
		opened.Session.Close(context.WithoutCancel(ctx))
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	offered := m.tools.offered(ctx, opened.Session)
	m.mu.Lock()
	m.open, m.cancel, m.notes, m.offered = opened.Session, cancel, opened.Notes, offered
	m.mu.Unlock()
	m.watchReloads(lifetime, opened.Session)
	m.toolsChanged()
	return opened.Session, nil
}

// listed returns the tools that the open session offers.
func (m *sessions) listed() []definition {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offered
}

// takeNotes returns what is to be said about the open session once.
func (m *sessions) takeNotes() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	notes := m.notes
	m.notes = nil
	return notes
}

// ended returns an error when the open session cannot be used any more. It is then closed, and its recording kept. The
// caller holds the slot.
func (m *sessions) ended() error {
	open := m.current()
	if open == nil {
		return nil
	}
	cause := open.Err()
	if cause == nil {
		return nil
	}
	n := keptSteps(m.tools.ctx, open)
	m.closeOpen(n > 0)
	text := "the session ended: " + faultText(cause)
	if n > 0 {
		text += "\n" + keptText(n)
	}
	return fault.New(fault.Crashed, "the next snapshot, step or run_trail opens a new session, at its start", "%s", text)
}

// keptText says that the recording of a session that ended is kept.
func keptText(steps int) string {
	return fmt.Sprintf("its recording (%s) is kept: recording shows it and save_trail writes it, until another session records a step or replays with keep",
		text.Count(steps, "step"))
}

// keptText says that the recording of the last session is kept, empty when there is none.
func (m *sessions) keptText(ctx context.Context) string {
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	if last == nil {
		return ""
	}
	return "the last session ended; " + keptText(keptSteps(ctx, last))
}

// closeOpen closes the open session in the background. keep says that its recording is the one that remains.
func (m *sessions) closeOpen(keep bool) {
	m.mu.Lock()
	open, cancel := m.open, m.cancel
	m.open, m.offered = nil, nil
	if keep {
		m.last = open
	}
	m.mu.Unlock()
	if open == nil {
		return
	}
	m.toolsChanged()
	m.closing.Go(func() {
		open.Close(context.WithoutCancel(m.tools.ctx))
		cancel(nil)
	})
}

// recorded returns the session whose recording is shown and saved: the open one, or the last one until the open one has
// a recording. It is nil if there is neither.
func (m *sessions) recorded(ctx context.Context) live.API {
	open := m.current()
	isEmpty := open == nil || keptSteps(ctx, open) == 0
	m.mu.Lock()
	defer m.mu.Unlock()
	if !isEmpty && m.open == open {
		m.last = nil
	}
	if open == nil || m.last != nil {
		return m.last
	}
	return open
}

// leaveDraft leaves what the open session has not saved to the next one of the project, if it is of this process.
func (m *sessions) leaveDraft(ctx context.Context) {
	open := m.current()
	leaver, ok := open.(interface{ LeaveDraft() })
	if !ok {
		return
	}
	if status, err := open.Status(ctx); err == nil && status.Unsaved {
		leaver.LeaveDraft()
	}
}

// forget closes the open session, and drops all recordings: another client begins.
func (m *sessions) forget() {
	m.leaveDraft(m.tools.ctx)
	m.closeOpen(false)
	m.mu.Lock()
	m.last = nil
	m.mu.Unlock()
}

// close closes the open session and waits until all are closed.
func (m *sessions) close(ctx context.Context) {
	_ = m.lock(ctx)
	m.leaveDraft(ctx)
	m.closeOpen(false)
	m.closing.Wait()
}

// keptSteps returns how many steps the recording of a session has.
func keptSteps(ctx context.Context, s live.API) int {
	status, err := s.Status(ctx)
	if err != nil {
		return 0
	}
	return status.Kept
}
