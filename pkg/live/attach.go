package live

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Attach returns a live session in the session of a walk that somebody else runs, for the hooks of that walk. Its calls
// are those of an agent, whatever the options say. They belong to the step at which the walk is, and are recorded there
// as those that repair the replay of a trail. It neither replays nor saves nor edits trails. ctx bounds its requests.
func Attach(ctx context.Context, inner *session.Session, walk *replay.Walk, o Options) *RedactedSession {
	o.Agent = true
	return &RedactedSession{&Session{
		opts: o, inner: inner, walk: walk, attached: true, ctx: ctx, slot: make(chan struct{}, 1),
		omitted: len(inner.Recording().Omitted), events: broadcast{closed: true},
	}}
}

// Observe waits for the screen, and looks at it, after a step that somebody else has carried out in the session, such as
// a recorded one. What it shows counts as seen, and a change as one of the last step that acted, for the [Weakness] of
// checks.
func (r *RedactedSession) Observe(ctx context.Context) error {
	_, err := answer(r, func() (struct{}, error) { return struct{}{}, r.session.observe(ctx) })
	return err
}

func (s *Session) observe(ctx context.Context) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	before := s.shown
	view, err := s.settledView(ctx)
	if err != nil {
		return err
	}
	s.show(view)
	if s.lastStep = (stepName{}); before != nil && !sameScreen(before, s.shown) {
		s.beforeStep, s.beforeAction = before, before
	}
	return nil
}

// notAttached returns an error if the session is attached, and cannot do what somebody asks for.
func (s *Session) notAttached() error {
	if !s.attached {
		return nil
	}
	return fault.New(fault.Misuse, "only make calls in it", "the session is that of a trail that is being replayed")
}

// startStep begins a step for calls. One that is attached has a running step already.
func (s *Session) startStep(st session.Step) {
	if !s.attached {
		s.inner.StartStep(st)
	}
}

func (s *Session) finishStep(st session.Step, ok bool) {
	switch {
	case s.attached:
	case ok:
		s.inner.FinishStep(st, event.Passed)
	default:
		s.inner.FinishStep(st, event.Failed)
	}
}

// ofRunningStep returns a request as one for the running step of the walk.
func (s *Session) ofRunningStep(r StepRequest) (StepRequest, error) {
	if r.step = s.walk.Running(); r.step == nil {
		return r, fault.New(fault.Misuse, "", "no step of the trail is running")
	}
	r.Text, r.Kind = r.step.Text, trail.KindStep
	if r.step.Kind == trail.KindVerify {
		r.Kind = trail.KindVerify
	}
	return r, nil
}
