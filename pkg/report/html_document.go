package report

import (
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// document is the whole page.
func (p *page) document() g.Node {
	return g.Group{h.Doctype(h.HTML(h.Lang("en"), p.headElement(), h.Body(
		p.top(), g.If(len(p.trails) > 0, p.filter()),
		h.Main(p.runLog(), p.repeats(), p.groups(), h.P(h.Class("none"), h.Hidden(""), g.Text("No trail is like that."))),
		g.If(len(p.trails) > 0, g.Group{viewer(), h.Script(g.Raw(pageScript))})))), g.Raw("\n")}
}

func (p *page) headElement() g.Node {
	policy := fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		cspHash(pageStyle()), cspHash(pageScript))
	return h.Head(h.Meta(h.Charset("utf-8")),
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(policy)),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
		h.Meta(h.Name("generator"), h.Content("trailblaze")),
		h.TitleEl(g.Text(p.Headline()+" – trailblaze")),
		h.Link(h.Rel("icon"), h.Href("data:,")),
		h.StyleEl(g.Raw(pageStyle())))
}

func (p *page) top() g.Node {
	class := "bad"
	if p.NoneFailed() {
		class = "good"
	}
	return h.Header(h.Class("top"), h.P(h.Class("brand"), g.Text("trailblaze")), h.H1(h.Class(class), g.Text(p.Headline())),
		h.P(h.Class("meta"), g.Iff(len(p.trails) > 0, func() g.Node { return h.Time(g.Text(p.FormatTime(p.Began))) }),
			g.Map(p.Facts(), func(fact string) g.Node { return h.Span(g.Text(fact)) })),
		g.If(len(p.trails) > 0, p.tallyBar()))
}

// tallyBar shows how many trails have each outcome.
func (p *page) tallyBar() g.Node {
	return h.SVG(h.Class("tally"), g.Attr("viewBox", fmt.Sprintf("0 0 %d 1", len(p.trails))), g.Attr("preserveAspectRatio", "none"), h.Aria("hidden", "true"),
		g.Map(p.Outcomes, func(t tally) g.Node {
			return rectNode(int64(t.Before), int64(t.Count), "1", h.Class("is-"+string(t.Outcome)))
		}))
}

func (p *page) filter() g.Node {
	all := h.Label(outcomeInput("", h.Checked()), h.Span(g.Text("all "), h.B(g.Text(number(len(p.trails))))))
	return h.Form(h.Class("filter"), h.Role("search"), h.Aria("label", "Trails"),
		h.FieldSet(h.Legend(h.Class("vh"), g.Text("Outcome")), all, g.Map(p.Outcomes, tally.choice)),
		g.If(len(p.Devices) > 0, h.Label(h.Class("device"), h.Span(h.Class("vh"), g.Text("Device")),
			h.Select(h.Name("device"), h.Option(h.Value(""), g.Text("all devices")),
				g.Map(p.Devices, func(name string) g.Node { return h.Option(g.Text(name)) })))),
		h.Label(h.Class("find"), h.Span(h.Class("vh"), g.Text("Text")),
			h.Input(h.Type("search"), h.Name("text"), h.Placeholder("Find a trail, step, tool, result"), h.AutoComplete("off"), g.Attr("spellcheck", "false"))),
		g.El("output", h.Class("vh"), h.Aria("live", "polite")))
}

func (t tally) choice() g.Node {
	return h.Label(h.Class("is-"+string(t.Outcome)), outcomeInput(string(t.Outcome)),
		h.Span(h.I(h.Class("mark"), h.Aria("hidden", "true")), g.Text(t.Word+" "), h.B(g.Text(number(t.Count)))))
}

func outcomeInput(value string, more ...g.Node) g.Node {
	return h.Input(h.Type("radio"), h.Name("outcome"), h.Value(value), g.Group(more))
}

func (p *page) runLog() g.Node {
	if len(p.Log) == 0 {
		return nil
	}
	return more("more run-log", counted("Log of the run", len(p.Log)), logNode(p.Log))
}

// repeats says how the repetitions of trails ended.
func (p *page) repeats() g.Node {
	all := p.Repeats()
	if len(all) == 0 {
		return nil
	}
	return h.Section(h.Class("repeats"), h.Aria("label", "Repeated trails"), tableOf("Repeated trail", "Result")(
		g.Map(all, func(r repeatRow) g.Node {
			return h.Tr(g.If(r.Bad, h.Class("bad")),
				h.Td(g.Text(r.Name), with(r.DeviceName, func(name string) g.Node { return g.Group{space(), kindNode(name)} })), h.Td(g.Text(r.Result)))
		})))
}

func (p *page) groups() g.Node {
	nodes := make(g.Group, len(p.Groups))
	for i, t := range p.Groups {
		nodes[i] = t.node(i)
	}
	return nodes
}

// node is the group with its place on the page.
func (t group) node(place int) g.Node {
	id := "group-" + number(place)
	trails := make(g.Group, len(t.Trails))
	for i, c := range t.Trails {
		trails[i] = later(func() g.Node { return c.node(i) })
	}
	return h.Section(h.Class("group"), h.Aria("labelledby", id),
		h.H2(h.ID(id), g.Text(t.Name+" "), h.Span(h.Class("count"), g.Text(number(len(t.Trails))))), trails)
}

// viewer shows a picture large.
func viewer() g.Node {
	return h.Dialog(h.Class("viewer"), h.Aria("labelledby", "viewer-title"),
		h.Div(h.Class("viewer-head"), h.P(h.ID("viewer-title")), h.Button(h.Type("button"), h.Class("close"), g.Text("Close"))),
		h.Img(h.Alt("")))
}
