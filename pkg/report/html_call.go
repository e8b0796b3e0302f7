package report

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// foldedCalls is the number of nested calls beyond which they are folded.
const foldedCalls = 12

func (c pageCall) node() g.Node {
	return h.Li(h.Class("call is-"+string(c.State())),
		more("", c.summary(), h.Dl(h.Class("io"), c.io())),
		later(func() g.Node { return keptNode(c.ShownFiles()) }),
		c.nested(),
		countNote(c.MoreCalls, "more call is", "more calls are", "left out here; the session's events.ndjson has all of them."))
}

func (c pageCall) summary() g.Group {
	return g.Group{
		markNode(string(c.State())),
		h.Span(h.Class("line"), h.Code(h.Class("tool"), g.Text(lineText(c.Tool))),
			g.Iff(c.Done != nil && c.Done.Optional, func() g.Node { return g.Group{space(), kindNode("optional")} }),
			g.Iff(c.Done != nil && c.Done.Soft, func() g.Node { return g.Group{space(), kindNode("soft")} }),
			spaced(c.Preview, "args"), spaced(c.Brief, "result")),
		c.Bar().node(), h.Span(h.Class("took"), g.Text(c.Duration())),
	}
}

// spaced is a text after a space, nothing without one.
func spaced(text, class string) g.Node {
	return with(text, func(text string) g.Node { return g.Group{space(), h.Span(h.Class(class), g.Text(text))} })
}

// io is what went into the call, and what came out of it.
func (c pageCall) io() g.Node {
	result := "Error"
	if c.State() == event.Passed {
		result = "Result"
	}
	return g.Group{
		textTerm("From", lineText(c.Source)), excerptTerm("Arguments", c.Arguments), excerptTerm(result, c.Result),
		g.If(len(c.Progress) > 0, term("Progress", g.Map(c.Progress, Excerpt.node))),
		later(func() g.Node { return c.Details().node() }),
	}
}

func (c pageCall) nested() g.Node {
	calls := c.Calls()
	if len(calls) == 0 {
		return nil
	}
	list := callList(calls)
	if len(calls) <= foldedCalls {
		return list
	}
	return more("many", g.Group{g.Text(number(c.Inner()) + " calls within it")}, list)
}

func callList(calls []pageCall) g.Node {
	if len(calls) == 0 {
		return nil
	}
	return h.Ol(h.Class("calls"), g.Map(calls, pageCall.node))
}
