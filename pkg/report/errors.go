package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Error writes err for people: "trailblaze: error: …", what is wrong in which file, "trailblaze: hint: …". Joined errors are
// written one after the other.
func Error(w io.Writer, style Style, err error) {
	p := newPalette(w, style)
	var b strings.Builder
	for _, e := range flatten(err) {
		fmt.Fprintf(&b, "%s %s\n", p.bad("trailblaze: error:"), Clean(message(e)))
		for _, problem := range several(problems(e)) {
			fmt.Fprintf(&b, "\n%s\n", Clean(problem.Error()))
			writeSnippet(&b, p, problem)
			if problem.Hint != "" {
				fmt.Fprintf(&b, "  %s %s\n", p.warn("hint:"), Clean(problem.Hint))
			}
		}
		if one := problems(e); len(one) == 1 {
			writeSnippet(&b, p, one[0])
		}
		if h := hint(e); h != "" {
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

// ErrorJSON writes err as one line of JSON. Problems in files are in details.problems; of several errors, the one that
// decides the exit code gives the kind, and all are in details.errors.
func ErrorJSON(w io.Writer, err error) {
	parts := flatten(err)
	var body errorJSON
	if len(parts) == 1 {
		body = describe(parts[0])
	} else {
		body = joined(parts)
	}
	line, encodeErr := jsonLine(map[string]errorJSON{"error": body})
	if encodeErr != nil {
		body.Details = map[string]any{"omitted": encodeErr.Error()}
		line, _ = jsonLine(map[string]errorJSON{"error": body}) // strings alone always encode
	}
	_, _ = w.Write(line)
}

func describe(err error) errorJSON {
	e := errorJSON{Kind: fault.KindOf(err), Message: err.Error(), Hint: hint(err), Details: map[string]any{}}
	if f := fault.As(err); f != nil && f.Details != nil {
		e.Details = f.Details
	}
	if ps := problems(err); len(ps) > 0 {
		e.Details = map[string]any{"problems": ps}
	}
	return e
}

func joined(parts []error) errorJSON {
	worst := parts[0]
	var all []errorJSON
	var messages, hints []string
	for _, e := range parts {
		if fault.Worst(fault.ExitCode(e), fault.ExitCode(worst)) != fault.ExitCode(worst) {
			worst = e
		}
		d := describe(e)
		all, messages = append(all, d), append(messages, d.Message)
		if d.Hint != "" && !slices.Contains(hints, d.Hint) {
			hints = append(hints, d.Hint)
		}
	}
	return errorJSON{fault.KindOf(worst), strings.Join(messages, "\n"), strings.Join(hints, "\n"), map[string]any{"errors": all}}
}

// flatten returns the errors that were joined into err.
func flatten(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var parts []error
	for _, e := range list.Unwrap() {
		parts = append(parts, flatten(e)...)
	}
	return parts
}

// problems returns what err says about files; nil for an error that is about something else.
func problems(err error) fault.Problems {
	var ps fault.Problems
	if fault.As(err) == nil && errors.As(err, &ps) {
		return ps
	}
	return nil
}

// several returns ps unless the headline has room for it.
func several(ps fault.Problems) fault.Problems {
	if len(ps) == 1 {
		return nil
	}
	return ps
}

// message is the headline of err.
func message(err error) string {
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

// hint is the advice for err as a whole. Only a bug asks for a report.
func hint(err error) string {
	if ps := problems(err); len(ps) == 1 {
		return ps[0].Hint
	} else if len(ps) > 1 {
		return ""
	}
	if e := fault.As(err); e != nil && (e.Hint != "" || e.Kind != fault.Bug) {
		return e.Hint
	}
	return "this looks like a bug in trailblaze; please report it"
}
