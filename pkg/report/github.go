package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Annotations collects a run for GitHub Actions: a workflow command for each trail that did not pass or is flaky, which
// GitHub shows at the file and line.
type Annotations struct {
	file     func(trail string) string
	errors   []string
	warnings []string
}

const (
	// maxAnnotations is the number of annotations of a kind that GitHub shows for one step.
	maxAnnotations = 10
	// maxAnnotation is the number of bytes of a message.
	maxAnnotation = 4 << 10
)

// NewAnnotations returns empty Annotations. file returns the path of a trail's file below the root of the repository,
// empty for what is not a file.
func NewAnnotations(file func(trail string) string) *Annotations { return &Annotations{file: file} }

// Handle implements event.Handler.
func (a *Annotations) Handle(r event.Record) {
	e, ok := r.Event.(event.TrailFinished)
	if !ok {
		return
	}
	switch {
	case e.Outcome == event.Failed || e.Outcome == event.Error:
		step := ""
		if e.Step > 0 {
			step = fmt.Sprintf("step %d: %s\n", e.Step, e.StepText)
		}
		appendLimited(&a.errors, a.command("error", e, step+e.Reason+"\n"+e.Hint))
	case e.Flaky:
		appendLimited(&a.warnings, a.command("warning", e, fmt.Sprintf("flaky: passed on attempt %d", e.Attempts)))
	}
}

func appendLimited(to *[]string, command string) {
	if len(*to) < maxAnnotations {
		*to = append(*to, command)
	}
}

func (a *Annotations) command(kind string, e event.TrailFinished, message string) string {
	at, title := e.FailedAt(), withoutCommands(finishedID(e).displayName())
	message = withoutCommands(Clean(truncate(strings.TrimSpace(message), maxAnnotation)))
	position := ""
	if file := a.file(at.File); file != "" {
		position = fmt.Sprintf("file=%s,line=%d,", escapeProperty(file), max(at.Line, 1))
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", kind, position, escapeProperty(title), escapeData(message))
}

// Write writes the commands, each as a line.
func (a *Annotations) Write(w io.Writer) error {
	for _, line := range append(a.errors, a.warnings...) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}
