package studio

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Shared is a live session in which others work, too, such as commands of a terminal. They use it as any other one: their
// requests have their turn among those of the pages, what they record goes to the end of the document, and the document is
// the recording that they read and save.
type Shared struct {
	*live.RedactedSession
	desk *desk
	url  string
	end  func() // ends the studio, and waits until it has ended
}

// Share serves the page over a session that is open. The studio ends when the session is closed, and never opens another
// one: replays of the pages go on in it as it is. o.Open returns this session. o.PagesGone and o.OnReady are not used.
func Share(ctx context.Context, o Options, session *live.RedactedSession) (*Shared, error) {
	ctx, cancel := context.WithCancel(ctx)
	o.shared, o.PagesGone, o.OnReady = true, math.MaxInt64, func(string) {}
	d, serve, err := begin(ctx, o)
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := serve(); err != nil {
			d.log("error", err.Error())
		}
	}()
	return &Shared{RedactedSession: session, desk: d, url: URL(portOf(o.Listener), o.Token), end: func() { cancel(); <-ended }}, nil
}

// Close implements [live.API]. It ends the studio, too.
func (s *Shared) Close(ctx context.Context) {
	s.end()
	s.RedactedSession.Close(ctx)
}

// URL returns the address that opens the page.
func (s *Shared) URL() string { return s.url }

// Recording returns how many steps and calls the document has, and whether it is unsaved.
func (s *Shared) Recording() (steps, calls int, unsaved bool) {
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	for _, step := range s.desk.doc.Steps() {
		steps++
		calls += len(step.Calls)
	}
	return steps, calls, s.desk.isUnsaved()
}

// Used returns when a page was visible last: now, or the zero time for never.
func (s *Shared) Used() time.Time {
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	if s.desk.visible > 0 {
		return s.desk.opts.Now()
	}
	return s.desk.seen
}

// Status implements [live.API].
func (s *Shared) Status(ctx context.Context) (live.Status, error) {
	status, err := s.RedactedSession.Status(ctx)
	status.Steps, status.Calls, _ = s.Recording()
	return status, err
}

// Step implements [live.API].
func (s *Shared) Step(ctx context.Context, r live.StepRequest) (report live.StepReport, err error) {
	if len(r.Calls) == 0 {
		return s.RedactedSession.Step(ctx, r) // which says so
	}
	if r.Other {
		r.Kind = trail.KindStep // else checks would continue or begin a verify step
	}
	err = s.inTurn(ctx, document.Brief(r.Calls[0]), func(ctx context.Context) error {
		if report, err = s.RedactedSession.Step(ctx, r); len(report.Recorded) == 0 {
			return err
		}
		var unwritten error
		if report.Step, unwritten = s.desk.append(r, report.Recorded); unwritten != nil {
			report.Recorded = nil
			report.Warnings = append(report.Warnings, "the calls were made and not recorded: "+unwritten.Error())
		}
		return err // that of a request that was stopped after the calls
	})
	s.desk.refresh(ctx)
	return report, err
}

// Edit implements [live.API]. Only pages change the document.
func (s *Shared) Edit(_ context.Context, e live.Edit) (string, error) {
	if e != (live.Edit{}) {
		return "", fault.New(fault.Misuse, "change the steps in its page", "the recording of this session is edited in the studio")
	}
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	return string(s.desk.doc.Text()), nil
}

// Save implements [live.API].
func (s *Shared) Save(ctx context.Context, r live.SaveRequest) (report live.SaveReport, err error) {
	leave, err := s.turn(ctx)
	if err != nil {
		return report, err
	}
	defer leave()
	if filepath.IsAbs(r.File) {
		r.File = s.desk.relative(r.File)
	}
	return s.desk.saveFile(ctx, r)
}

// RunTrail implements [live.API].
func (s *Shared) RunTrail(ctx context.Context, r live.TrailRequest) (report live.TrailReport, err error) {
	if r.Keep {
		return report, fault.New(fault.Misuse, "replay it in the page of the session, or open it with `trailblaze studio "+r.File+"`",
			"a session with a studio replays what its page shows")
	}
	err = s.inTurn(ctx, "replaying "+r.File, func(ctx context.Context) error {
		report, err = s.RedactedSession.RunTrail(ctx, r)
		return err
	})
	return report, err
}

// turn waits until the requests before have ended, and ends what a person types. The caller calls leave at the end.
func (s *Shared) turn(ctx context.Context) (leave func(), err error) {
	if leave, err = s.desk.join()(ctx); err != nil {
		return nil, err
	}
	if err = s.desk.endTyping(ctx); err != nil {
		leave()
	}
	return leave, err
}

// inTurn does what others ask for when its turn comes. The person can stop it.
func (s *Shared) inTurn(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	leave, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, done := s.desk.busy(ctx, acting, doing)
	defer done()
	s.desk.leaveToOthers(true)
	defer s.desk.leaveToOthers(false)
	return f(ctx)
}

// leaveToOthers says whether what runs now was asked for by others.
func (d *desk) leaveToOthers(yes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byOthers = yes
}

// isOwn reports whether a person acts on the device, and not a trail or others, who know what to answer it. The caller
// holds mu.
func (d *desk) isOwn() bool { return d.state.Activity != replaying && !d.byOthers }

// append adds calls that others made to the end of the document, and returns the number of their step.
func (d *desk) append(r live.StepRequest, calls []trail.Call) (step int, err error) {
	d.set(func() {
		before := d.rows()
		var number string
		if number, err = d.doc.Record(document.Place{Kind: r.Kind, Text: d.clean(r.Text)}, calls...); err != nil {
			return
		}
		d.follows(before)
		d.cursor = number
		d.setMark(number, mark{outcome: passed})
		_, err = fmt.Sscan(stepOf(number), &step)
	})
	return step, err
}

// mayOpen returns an error if the studio has to stay with the session that it was given.
func (d *desk) mayOpen() error {
	if !d.opts.shared {
		return nil
	}
	return fault.New(fault.Misuse, "end it with `trailblaze session end`, and start another one with --device, --memory or --secret",
		"this session was started by the command line, with its device and its values")
}
