package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// exploring is the replay to which the requests of an exploration belong, see run.Assisted: those of its steps and those of
// the repair share a budget.
const exploring = "explore"

// repairing is the one repair of a recording that does not pass its replay.
type repairing struct {
	replayed bool     // the first replay has begun
	seen     []string // screens on which the model has explored, in the text form
	base     []byte   // of the file before the first replay; nil if it does not exist
	proven   []byte   // the content with the repair; nil if there is none that has passed
	what     string   // was repaired, in words
}

// Snapshot implements agent.Session. It remembers what it returns.
func (s agentSession) Snapshot(ctx context.Context, o live.SnapshotOptions) (live.Snapshot, error) {
	shot, err := s.RedactedSession.Snapshot(ctx, o)
	s.repairing.seen = append(s.repairing.seen, shot.Text)
	return shot, err
}

// healOnce lets the model repair one step of the recording, if its first replay fails.
func (x *explorer) healOnce(o *run.Options, reset func(context.Context) error) {
	r := &x.repairing
	if r.replayed {
		return
	}
	r.replayed = true
	r.base, _ = files.Read(o.Paths[0], trail.MaxSize) // saving refuses a file that it did not read
	heal := x.models.healing(attachedTo(*o), func(string) []string { return r.seen })
	repair := heal.Repair
	heal.Repair = func(ctx context.Context, b run.Broken) run.Repair {
		x.notice("the replay failed twice at the same call, so the model may repair it once")
		b.Replay = exploring
		proposed := repair(ctx, b)
		x.use = x.use.Plus(b.Use)
		r.what = fmt.Sprintf("step %d, %s: %s: %s; see %s", b.Step.Index, b.Step.Calls[b.Call].Tool, proposed.Class, proposed.Why,
			filepath.ToSlash(x.relative(filepath.Join(b.Dir, run.HealPatch))))
		return proposed
	}
	heal.MaxSteps, heal.Proven = 1, func(content []byte) { r.proven = content }
	o.Heal, o.Reset = heal, reset
}

// save saves the recording. If that does not pass its replay, and a repair of it was proven, it saves that.
func (x *explorer) save(ctx context.Context, request live.SaveRequest) (live.SaveReport, error) {
	first, err := x.session.Save(ctx, request)
	if err != nil || x.repairing.proven == nil {
		return first, err
	}
	request.Content, request.Base, request.Title = x.repairing.proven, x.repairing.base, ""
	saved, err := x.session.Save(ctx, request)
	for _, warning := range first.Warnings {
		if !slices.Contains(saved.Warnings, warning) {
			saved.Warnings = append(saved.Warnings, warning)
		}
	}
	if saved.Written {
		x.use = x.use.Plus(&event.ModelUse{Mode: event.Healed})
		saved.Warnings = append(saved.Warnings, "the replay failed, and the recording was repaired: "+x.repairing.what)
	}
	return saved, err
}
