package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Error writes err as "trailblaze: error: …", problems with their positions, and "trailblaze: hint: …". It writes
// joined errors one after the other.
func Error(w io.Writer, style Style, err error) {
	p := newPalette(w, style)
	var b strings.Builder
	for _, e := range fault.Split(err) {
		fmt.Fprintf(&b, "%s %s\n", p.bad("trailblaze: error:"), Clean(headline(e)))
		for _, problem := range unlessSingle(problems(e)) {
			fmt.Fprintf(&b, "\n%s\n", Clean(problem.Error()))
			writeSnippet(&b, p, problem)
			if problem.Hint != "" {
				fmt.Fprintf(&b, "  %s %s\n", p.warn("hint:"), Clean(problem.Hint))
			}
		}
		if one := problems(e); len(one) == 1 {
			writeSnippet(&b, p, one[0])
		}
		for _, h := range fault.Hints(e) {
			fmt.Fprintf(&b, "%s %s\n", p.warn("trailblaze: hint:"), Clean(h))
		}
	}
	_, _ = io.WriteString(w, b.String())
}

func writeSnippet(b *strings.Builder, p palette, problem fault.Problem) {
	if problem.Snippet != "" {
		for line := range strings.SplitSeq(strings.TrimRight(Clean(problem.Snippet), "\n"), "\n") {
			fmt.Fprintln(b, p.dim(line))
		}
	}
}

// errorJSON is the object of the specification, section 10.
type errorJSON struct {
	Kind    fault.Kind     `json:"kind"`
	Message string         `json:"message"`
	Hint    string         `json:"hint"`
	Details map[string]any `json:"details"`
}

// ErrorJSON writes err as one line of JSON, with problems in details.problems. Joined errors are in details.errors, and
// the kind is that of the error that decides the exit code.
func ErrorJSON(w io.Writer, err error) {
	body := newErrorJSON(err)
	if parts := fault.Split(err); len(parts) > 1 {
		body = joinedErrorJSON(err, parts)
	}
	line, encodeErr := jsonLine(map[string]errorJSON{"error": body})
	if encodeErr != nil {
		body.Details = map[string]any{"omitted": encodeErr.Error()}
		line, _ = jsonLine(map[string]errorJSON{"error": body}) // encoding strings cannot fail
	}
	_, _ = w.Write(line)
}

func newErrorJSON(err error) errorJSON {
	e := errorJSON{Kind: fault.KindOf(err), Message: err.Error(), Hint: strings.Join(fault.Hints(err), "\n"), Details: map[string]any{}}
	if f := fault.As(err); f != nil && f.Details != nil {
		e.Details = f.Details
	}
	if ps := problems(err); len(ps) > 0 {
		e.Details = map[string]any{"problems": ps}
	}
	return e
}

func joinedErrorJSON(err error, parts []error) errorJSON {
	worst := parts[0]
	var all []errorJSON
	var messages []string
	for _, e := range parts {
		if fault.Worst(fault.ExitCode(e), fault.ExitCode(worst)) != fault.ExitCode(worst) {
			worst = e
		}
		d := newErrorJSON(e)
		all, messages = append(all, d), append(messages, d.Message)
	}
	return errorJSON{fault.KindOf(worst), strings.Join(messages, "\n"), strings.Join(fault.Hints(err), "\n"), map[string]any{"errors": all}}
}

// problems returns the problems of err, nil for another error.
func problems(err error) fault.Problems {
	var ps fault.Problems
	if fault.As(err) == nil && errors.As(err, &ps) {
		return ps
	}
	return nil
}

// unlessSingle returns ps when there are several; a single one is in the headline.
func unlessSingle(ps fault.Problems) fault.Problems {
	if len(ps) == 1 {
		return nil
	}
	return ps
}

// headline returns the first line for err.
func headline(err error) string {
	ps := problems(err)
	if len(ps) < 2 {
		return err.Error()
	}
	files := map[string]bool{}
	for _, p := range ps {
		files[p.File] = true
	}
	if len(files) == 1 {
		return fmt.Sprintf("%d problems in %s", len(ps), ps[0].File)
	}
	return fmt.Sprintf("%d problems in %d files", len(ps), len(files))
}
