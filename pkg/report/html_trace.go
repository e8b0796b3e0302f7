package report

import (
	"fmt"
	"path"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// traceIndex is the path of the index of a trace below the session's folder.
const traceIndex = event.TraceFolder + "/" + event.TraceIndex

// trace is the trace of an attempt, by the ids of calls.
type trace struct {
	event.Trace
	calls map[string]event.TracedCall
	err   string // why it cannot be shown; empty if it can
}

// Trace returns the trace of the case. It is empty if none was kept.
func (c *pageCase) Trace() *trace {
	if c.trace != nil {
		return c.trace
	}
	c.trace = &trace{calls: map[string]event.TracedCall{}}
	var err error
	if c.trace.Trace, err = c.ReadTrace(); err != nil {
		c.trace.err = "The trace could not be read: " + lineText(err.Error())
	}
	for _, call := range c.trace.Calls {
		c.trace.calls[call.Call] = call
	}
	return c.trace
}

// Note says what of the trace is missing; empty if nothing is.
func (t *trace) Note() string {
	var parts []string
	for _, part := range []struct {
		count int
		noun  string
	}{{t.RemovedPictures, "picture"}, {t.RemovedTrees, "screen text"}, {t.RemovedCalls, "call"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, plural(part.count, part.noun)))
		}
	}
	if len(parts) == 0 {
		return t.err
	}
	return "The trace was too large. Its oldest parts were removed: " + strings.Join(parts, ", ") + "."
}

// filmFrame is a picture of the film strip of a step.
type filmFrame struct {
	shownFile
	When   string // before or after a call, in words
	Failed bool   // after a call that failed
	Note   string // in place of a picture
}

// Film returns the screen before the first traced call of a step and after each of them.
func (s pageStep) Film() []filmFrame {
	var frames []filmFrame
	t := s.parent.Trace()
	eachCall(s.Step.Calls, func(c *Call) {
		traced, ok := t.calls[c.Call]
		if !ok {
			return
		}
		name := lineText(c.Tool)
		if len(frames) == 0 && traced.Before != "" {
			frames = append(frames, s.parent.frame("before "+name, traced.Before))
		}
		f := filmFrame{When: name}
		switch traced.After {
		case "":
			f.Note = lineText(traced.NoPicture)
		case traced.Before:
			f.Note = "no change"
		default:
			f = s.parent.frame(name, traced.After)
		}
		f.Failed = c.Done != nil && !c.Done.OK
		frames = append(frames, f)
	})
	return frames
}

// frame loads a picture of the trace.
func (c *pageCase) frame(when, name string) filmFrame {
	shown := c.page.load(c.Dir, event.Evidence{File: path.Join(event.TraceFolder, name), Title: when})
	return filmFrame{shownFile: shown, When: when, Note: shown.Missing}
}

// traceLines returns lines of the trace.
func (h *HTML) traceLines(lines []string) Excerpt {
	e := h.excerpt(strings.Join(lines, "\n"), maxText)
	if e.Note != "" {
		e.Note = "The rest is in " + traceIndex + " in the session's folder."
	}
	return e
}

// traceDetails is what the trace has of a call besides pictures.
type traceDetails struct {
	URL      string
	Requests Excerpt
	Console  Excerpt
	Omitted  int
	Tree     []shownFile // the elements of the screen after the call; at most one
}

// Details returns what the trace has of the call, nil for nothing.
func (c pageCall) Details() *traceDetails {
	traced, ok := c.parent.Trace().calls[c.Call.Call]
	if !ok {
		return nil
	}
	h := c.parent.page
	d := &traceDetails{
		URL:      pathText(truncate(traced.URL, maxLine)),
		Requests: h.traceLines(traced.Requests),
		Console:  h.traceLines(traced.Console),
		Omitted:  traced.Omitted,
	}
	if traced.Tree != "" {
		d.Tree = c.parent.load([]event.Evidence{{File: path.Join(event.TraceFolder, traced.Tree), Title: "elements of the screen"}})
	}
	return d
}

// film is the screen before and after each call of the step.
func (s pageStep) film() g.Node {
	frames := s.Film()
	if len(frames) == 0 {
		return nil
	}
	return h.Ol(h.Class("film"), h.TabIndex("0"), h.Aria("label", "The screen before and after each call"), g.Map(frames, filmFrame.node))
}

func (f filmFrame) node() g.Node {
	content := g.Group{h.P(h.Class("gap"), g.Text(f.Note)), h.P(h.Class("dim"), g.Text(f.When))}
	if f.Picture != "" {
		content = g.Group{f.shot(f.When, f.When)}
	}
	return h.Li(g.If(f.Failed, h.Class("is-failed")), content)
}

// node has what the trace has of a call.
func (d *traceDetails) node() g.Node {
	if d == nil {
		return nil
	}
	return g.Group{
		textTerm("Page", d.URL), excerptTerm("Requests", d.Requests), excerptTerm("Console", d.Console),
		g.If(d.Omitted > 0, term("Left out", g.Text(number(d.Omitted)+" requests and lines of the console"))),
		g.Map(d.Tree, func(f shownFile) g.Node { return term("Elements", f.content()) }),
	}
}
