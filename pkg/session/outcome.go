package session

import (
	"context"
	"errors"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Result is how a call, a step or a whole trail ended, and why.
type Result struct {
	Outcome event.Outcome
	Cause   error  // of failed and error; its kind decides the exit code of an error
	Reason  string // Cause in words; also why something was skipped
	Hint    string
}

// Passed is the result of a call, step or trail that succeeded.
func Passed() Result { return Result{Outcome: event.Passed} }

// Skipped is the result of a step or trail that was not run.
func Skipped(reason string) Result { return Result{Outcome: event.Skipped, Reason: reason} }

// Failed is the result if a tool reported a failure, or the trail is wrong.
func Failed(err error) Result { return newResult(event.Failed, err) }

// Errored is the result if a server, the device or the configuration failed, so that nothing is known about the app.
func Errored(err error) Result { return newResult(event.Error, err) }

// OK reports whether it passed.
func (r Result) OK() bool { return r.Outcome == event.Passed }

func newResult(outcome event.Outcome, err error) Result {
	if problems, ok := errors.AsType[fault.Problems](err); ok && fault.As(err) == nil {
		return Result{Outcome: outcome, Cause: err, Reason: listProblems(problems)}
	}
	return Result{Outcome: outcome, Cause: err, Reason: err.Error(), Hint: Hint(err)}
}

// listProblems writes each problem with its place, its snippet and its hint.
func listProblems(problems fault.Problems) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error())
		if p.Snippet != "" {
			lines = append(lines, p.Snippet)
		}
		if p.Hint != "" {
			lines = append(lines, "  hint: "+p.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

// Hint returns every hint in err's tree, one a line.
func Hint(err error) string { return strings.Join(fault.Hints(err), "\n") }

// Interruption returns the cause that ended ctx from outside: a signal or a time limit. It is nil while ctx has not
// ended.
func Interruption(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if fault.As(cause) != nil {
		return cause
	}
	return fault.New(fault.Interrupted, "", "interrupted")
}
