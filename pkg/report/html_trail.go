package report

import (
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// why has the reason of a trail that did not pass, and the screen then.
func (c *pageCase) why() g.Node {
	failure := c.ShownFailure()
	if !c.Bad() && len(failure) == 0 {
		return nil
	}
	return h.Div(h.Class("why"),
		h.Div(h.Class("words"), g.Iff(c.Bad(), c.words), h.Div(textNodes(failure))),
		h.Div(h.Class("shots"), pictureNodes(failure)))
}

func (c *pageCase) words() g.Node {
	reason := c.Reason()
	rest := with(reason[1], func(rest string) g.Node { return g.Text("\n" + rest) })
	return g.Group{
		c.where(),
		h.Pre(h.Class("reason"), h.TabIndex("0"), h.B(g.Text(reason[0])), rest),
		with(c.Hint(), func(hint string) g.Node {
			return h.P(h.Class("hint"), h.B(g.Text("Hint")), space(), h.Span(g.Text(hint)))
		}),
		c.snippet(),
	}
}

// where names the step and the tool that failed.
func (c *pageCase) where() g.Node {
	step, tool := lineText(c.Finished.StepText), lineText(c.Finished.Tool)
	if step == "" && tool == "" {
		return nil
	}
	return h.P(h.Class("where"), g.If(c.Finished.Step > 0, g.Text("Step "+number(c.Finished.Step))),
		with(step, func(step string) g.Node { return g.Group{space(), h.B(g.Text(step))} }),
		with(tool, func(tool string) g.Node { return g.Group{space(), h.Code(g.Text(tool))} }))
}

func (c *pageCase) snippet() g.Node {
	lines := c.Snippet()
	if len(lines) == 0 {
		return h.P(h.Class("place"), h.Code(g.Text(c.Place())))
	}
	return h.Table(h.Class("snippet"), h.Caption(g.Text(c.Place())), g.Map(lines, func(l snippetLine) g.Node {
		return h.Tr(g.If(l.Hit, h.Class("hit")), h.Th(h.Scope("row"), g.Text(l.Number)), h.Td(h.Code(g.Text(l.Text))))
	}))
}

func (s pageStep) node() g.Node {
	class := "step is-" + string(s.State())
	if s.Within != "" {
		class += " inner"
	}
	return h.Li(h.Class(class),
		g.Iff(s.Index > 0, s.head),
		later(s.film), later(s.task), later(s.heal), callList(s.Calls()),
		countNote(s.MoreCalls, "more call that did not fail is", "more calls that did not fail are", "left out here; the session's events.ndjson has all of them."),
		later(func() g.Node { return keptNode(s.ShownFiles()) }))
}

func (s pageStep) head() g.Node {
	kind := lineText(s.Kind)
	return h.Div(h.Class("head"), markNode(string(s.State())),
		h.H4(h.Span(h.Class("number"), g.Text(s.Number())), space(), g.Text(lineText(s.Text))),
		g.If(kind != "step", kindNode(kind)), s.Bar().node(), h.Span(h.Class("took"), g.Text(s.Duration())))
}

// attempt is one attempt of a trail.
func (c *pageCase) attempt() g.Node {
	steps := c.Steps()
	return g.Group{
		later(c.why),
		g.If(len(steps) > 0, h.Ol(h.Class("steps"), g.Map(steps, func(s pageStep) g.Node { return later(s.node) }))),
		countNote(c.MoreSteps, "more step that passed is", "more steps that passed are", "left out; the session's events.ndjson has all of them."),
		g.Iff(c.Unreached() > 0, func() g.Node {
			return h.Div(h.Class("unreached"), countNote(c.Unreached(), "step was", "steps were", "not reached."))
		}),
		later(func() g.Node { return keptNode(c.ShownFiles()) }),
		with(c.Trace().Note(), textIn(h.P, "note")),
		countNote(c.MoreFiles, "more kept file is", "more kept files are", "not shown."),
		countNote(c.Lost, "line", "lines", "of the session's events.ndjson could not be read."),
		later(c.rest), c.factList(),
	}
}

// rest has the log, the servers and the files of the session.
func (c *pageCase) rest() g.Node {
	artifacts := c.Artifacts()
	return h.Div(h.Class("rest"),
		g.Iff(len(c.Log) > 0, func() g.Node {
			return more("more", counted("Log", len(c.Log)), logNode(c.Log),
				countNote(c.MoreLog, "more line is", "more lines are", "in the session's events.ndjson."))
		}),
		g.Iff(len(c.Servers) > 0, c.serverTable),
		g.Map(c.ServerLogs(), func(f shownFile) g.Node {
			return more("more", g.Group{g.Text("Server log "), h.Code(g.Text(f.Title))}, f.content())
		}),
		g.If(len(artifacts) > 0, more("more", counted("Files", len(artifacts)),
			h.Ul(h.Class("files"), g.Map(artifacts, func(file string) g.Node { return h.Li(h.Code(g.Text(file))) })))))
}

func (c *pageCase) serverTable() g.Node {
	return more("more", counted("Servers", len(c.Servers)), tableOf("Server", "Tools", "Start")(g.Map(c.Servers, func(s event.ServerStarted) g.Node {
		return h.Tr(h.Td(h.Code(g.Text(lineText(s.Server)))), h.Td(g.Text(number(s.Tools))), h.Td(g.Text(formatMillis(s.DurationMs))))
	})))
}

// factList has names and values about the session.
func (c *pageCase) factList() g.Node {
	facts := c.Facts()
	if len(facts) == 0 {
		return nil
	}
	return h.Dl(h.Class("facts"), g.Map(facts, func(fact [2]string) g.Node { return h.Div(textTerm(fact[0], fact[1])) }))
}

// openFailures is how many trails of a group that did not pass are open at first.
const openFailures = 5

// node is a trail in a group, with its place there.
func (c *pageCase) node(place int) g.Node {
	return h.Details(h.Class("trail is-"+string(c.Outcome())), h.Data("outcome", string(c.Outcome())),
		with(c.DeviceName(), func(name string) g.Node { return h.Data("device", name) }),
		g.If((c.Bad() || c.Outcome() == unfinished) && place < openFailures, g.Attr("open")),
		c.head(),
		h.Div(h.Class("body"), c.remark(), c.attempt(), c.earlier()))
}

func (c *pageCase) head() g.Node {
	earlier := len(c.Earlier()) > 0
	return h.Summary(markNode(c.Word()),
		h.Span(h.Class("title"), h.H3(g.Text(c.Name())), with(c.DeviceName(), kindNode), h.Span(h.Class("path"), g.Text(c.Path()))),
		with(string(c.Mode()), func(mode string) g.Node { return h.Span(h.Class("kind mode-"+mode), g.Text(mode)) }),
		g.Iff(earlier, func() g.Node { return kindNode("attempt " + number(c.Attempts())) }),
		h.Span(h.Class("took"), g.Text(c.Duration())))
}

// remark is what is said of a trail that did not fail.
func (c *pageCase) remark() g.Node {
	if c.Finished == nil || c.Bad() {
		return nil
	}
	return with(c.Reason()[0], textIn(h.P, "note"))
}

func (c *pageCase) earlier() g.Node {
	var nodes g.Group
	for n, e := range c.Earlier() {
		title := fmt.Sprintf("Attempt %d of %d, which did not pass", c.Number(n), c.Attempts())
		nodes = append(nodes, more("more earlier", g.Group{g.Text(title)}, e.attempt()))
	}
	return nodes
}
