package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// trailResult is how a trail ended, and where. It has no outcome when the trail was not started.
type trailResult struct {
	session.Result
	step     int // from 1; 0 when no step decided
	stepText string
	tool     string
	line     int
	used     *event.Position // see event.TrailFinished
	column   int             // 0 when Reason shows the line itself
	hidden   []string        // texts that the line must not show
	attempts int
	duration time.Duration // of all attempts
	product  string        // see event.TrailFinished
	earlier  []event.Attempt
	final    bool // another attempt cannot end differently
	teardown bool // the teardown did not pass, and Reason says so
	failures []event.Failure
	use      *event.ModelUse // of all attempts, see event.TrailFinished
	record   []byte          // the content for Options.Record, which is still to be proven
	broken   *broken         // the recorded call that failed, nil unless it decided and Options.Heal is set
	healing  *healing        // a repair that was proven and is still to be written
	held     bool            // the case ends after all others
	healed   int             // steps that were repaired in the file
}

func passed() trailResult               { return trailResult{Result: session.Passed()} }
func skipped(reason string) trailResult { return trailResult{Result: session.Skipped(reason)} }
func failed(err error) trailResult      { return trailResult{Result: session.Failed(err)} }
func errored(err error) trailResult     { return trailResult{Result: session.Errored(err)} }

// at returns the result with the step and the call that decided it.
func (r trailResult) at(index int, text, tool string, line int) trailResult {
	r.step, r.stepText, r.tool, r.line = index, text, tool, line
	return r
}

// atStep returns the result with the step, and the call of it, that decided it. call is nil for none. For a step of a
// trail that another uses, the reason names its position.
func (r trailResult) atStep(s *replay.Step, call *trail.Call) trailResult {
	top, line, tool := s.Top(), s.Line, ""
	if call != nil {
		line, tool = call.Line, call.Tool
	}
	if top != s {
		step := fmt.Sprintf("step %d %q", s.Index, s.Text)
		if s.Kind == trail.KindTools {
			step = fmt.Sprintf("step %d", s.Index)
		}
		r.Reason = fmt.Sprintf("%s:%d: %s: %s", s.File.Name, line, step, r.Reason)
		r.used = &event.Position{File: s.File.Name, Line: line}
		return r.at(top.Index, top.Text, tool, top.Line)
	}
	return r.at(s.Index, s.Text, tool, line)
}

// atProblem returns the result, of a trail that is not valid, with the position of its first problem: in the file of
// the trail, or in one that it uses.
func (r trailResult) atProblem(path string) trailResult {
	problems, ok := errors.AsType[fault.Problems](r.Cause)
	if !ok || len(problems) == 0 {
		return r
	}
	if p := problems[0]; p.File == path {
		r.line = p.Line
	} else {
		r.used = &event.Position{File: p.File, Line: p.Line}
	}
	return r
}

// withTeardown returns the result with that of a step of the teardown, which did not pass. The first failure decides.
func (r trailResult) withTeardown(t trailResult) trailResult {
	if !r.bad() {
		t.Reason, t.teardown = "the teardown did not pass: "+t.Reason, true
		return t
	}
	r.Reason += fmt.Sprintf("\nteardown, step %d %q: %s", t.step, t.stepText, t.Reason)
	if t.Hint != "" && !strings.Contains(r.Hint, t.Hint) {
		r.Hint = strings.TrimPrefix(r.Hint+"\n"+t.Hint, "\n")
	}
	r.teardown = true
	return r
}

// notRecorded returns the result of a trail that passed, and whose recording could not be written.
func (r trailResult) notRecorded(why trailResult) trailResult {
	why.attempts, why.earlier, why.product, why.use = r.attempts, r.earlier, r.product, r.use
	return why
}

// asFinal marks a result that a retry cannot change.
func (r trailResult) asFinal() trailResult {
	r.final = true
	return r
}

// bad reports whether the outcome is failed or error.
func (r trailResult) bad() bool { return r.Outcome == event.Failed || r.Outcome == event.Error }

// flaky reports whether the trail passed as it is, but not at the first attempt.
func (r trailResult) flaky() bool {
	return r.Outcome == event.Passed && r.attempts > 1 && r.healed == 0
}

// retryable reports whether another attempt may end differently.
func (r trailResult) retryable() bool { return !r.final && r.bad() }

// exitCode returns what the trail adds to the run's exit code. An error in a trail file or in the scope is misuse; any
// other error is infrastructure (specification, section 10).
func (r trailResult) exitCode() int {
	switch r.Outcome {
	case event.Failed:
		return fault.ExitFailed
	case event.Error:
		if code := fault.ExitCode(r.Cause); code == fault.ExitMisuse {
			return code
		}
		return fault.ExitInfra
	default:
		return fault.ExitPassed
	}
}

// permanent reports whether opening a session would fail again at the next attempt.
func permanent(err error) bool {
	switch fault.KindOf(err) {
	case fault.Registration, fault.Runtime, fault.CommandNotFound, fault.PermissionDenied:
		return true
	default:
		return false
	}
}
