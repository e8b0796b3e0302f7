package run

import (
	"errors"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// verdict is how one attempt at a trail ended, and why.
type verdict struct {
	outcome  event.Outcome
	cause    error // for failed and error; its kind decides the exit code of an error
	reason   string
	hint     string
	step     int // 1-based, 0 when no step decided
	stepText string
	tool     string
	line     int
	column   int      // 0 when the reason shows the line itself
	hidden   []string // what the line must not show
	attempts int
	took     time.Duration // all attempts
	final    bool          // another attempt cannot end differently
}

func passed() verdict { return verdict{outcome: event.Passed} }

func skipped(reason string) verdict { return verdict{outcome: event.Skipped, reason: reason} }

// failed is the verdict on a trail that did not hold; broken on one that could not be judged.
func failed(err error) verdict { return because(event.Failed, err) }
func broken(err error) verdict { return because(event.Error, err) }

func because(outcome event.Outcome, err error) verdict {
	if problems, ok := errors.AsType[fault.Problems](err); ok && fault.As(err) == nil {
		return verdict{outcome: outcome, cause: err, reason: explain(problems)}
	}
	return verdict{outcome: outcome, cause: err, reason: err.Error(), hint: hintOf(err)}
}

// explain is each problem with its place, the line it is about, and its hint.
func explain(problems fault.Problems) string {
	var parts []string
	for _, p := range problems {
		parts = append(parts, p.Error())
		if p.Snippet != "" {
			parts = append(parts, p.Snippet)
		}
		if p.Hint != "" {
			parts = append(parts, "  hint: "+p.Hint)
		}
	}
	return strings.Join(parts, "\n")
}

// hintOf is every hint in err's tree, one a line.
func hintOf(err error) string { return strings.Join(fault.Hints(err), "\n") }

// at says where in the trail it happened.
func (v verdict) at(index int, text, tool string, line int) verdict {
	v.step, v.stepText, v.tool, v.line = index, text, tool, line
	return v
}

// once marks a verdict that a retry cannot change.
func (v verdict) once() verdict {
	v.final = true
	return v
}

// flaky reports whether a trail passed, but not at the first attempt.
func (v verdict) flaky() bool { return v.outcome == event.Passed && v.attempts > 1 }

// exit is what the verdict adds to the run's exit code. An error in a trail file or in the scope is misuse; any other error
// is infrastructure (specification, section 10).
func (v verdict) exit() int {
	switch v.outcome {
	case event.Failed:
		return fault.ExitFailed
	case event.Error:
		if code := fault.ExitCode(v.cause); code == fault.ExitMisuse {
			return code
		}
		return fault.ExitInfra
	default:
		return fault.ExitPassed
	}
}

// permanent reports whether a session cannot open on another attempt either.
func permanent(err error) bool {
	switch fault.KindOf(err) {
	case fault.Registration, fault.Runtime, fault.CommandNotFound, fault.PermissionDenied:
		return true
	default:
		return false
	}
}

func (v verdict) worthRetrying() bool {
	return !v.final && (v.outcome == event.Failed || v.outcome == event.Error)
}
