package report

import (
	"fmt"
	"io"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// later makes a node when it is written. So the files of a page are read, and counted, in its order, and are not in memory
// at once.
func later(node func() g.Node) g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		if n := node(); n != nil {
			return n.Render(w)
		}
		return nil
	})
}

// with returns what node makes of a text, nothing of an empty one.
func with(text string, node func(text string) g.Node) g.Node {
	if text == "" {
		return nil
	}
	return node(text)
}

// textIn returns a function for with: an element with a class around the text.
func textIn(element func(...g.Node) g.Node, class string) func(string) g.Node {
	return func(text string) g.Node { return element(h.Class(class), g.Text(text)) }
}

// countNote is a note about so many things, nothing about none.
func countNote(count int, one, many, rest string) g.Node {
	if count <= 0 {
		return nil
	}
	if count != 1 {
		one = many
	}
	return h.P(h.Class("note"), g.Text(fmt.Sprintf("%d %s %s", count, one, rest)))
}

func space() g.Node { return g.Text(" ") }

func kindNode(text string) g.Node { return h.Span(h.Class("kind"), g.Text(text)) }

func markNode(label string) g.Node {
	return h.Span(h.Class("mark"), h.Role("img"), h.Aria("label", label))
}

func (b bar) node() g.Node {
	return h.SVG(h.Class("bar"), g.Attr("viewBox", "0 0 1000 4"), g.Attr("preserveAspectRatio", "none"), h.Aria("hidden", "true"),
		rectNode(b.At, b.Length, "4"))
}

func rectNode(x, width int64, height string, more ...g.Node) g.Node {
	return g.El("rect", append(more, g.Attr("x", number(x)), h.Width(number(width)), h.Height(height))...)
}

func number[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

func (e Excerpt) node() g.Node {
	return g.Group{h.Pre(g.Text(e.Text)), with(e.Note, textIn(h.P, "note"))}
}

// more is a part of the page that opens.
func more(class string, summary g.Group, content ...g.Node) g.Node {
	return h.Details(with(class, h.Class), h.Summary(summary), g.Group(content))
}

func counted(name string, count int) g.Group {
	return g.Group{g.Text(name + " "), h.Span(h.Class("count"), g.Text(number(count)))}
}

// term is a name and a value of a list; nil without a value.
func term(name string, value g.Node) g.Node { return g.Group{h.Dt(g.Text(name)), h.Dd(value)} }

func textTerm(name, text string) g.Node {
	return with(text, func(text string) g.Node { return term(name, g.Text(text)) })
}

func excerptTerm(name string, e Excerpt) g.Node {
	return with(e.Text, func(string) g.Node { return term(name, e.node()) })
}

// tableOf returns a function for a table whose columns have names.
func tableOf(columns ...string) func(rows ...g.Node) g.Node {
	return func(rows ...g.Node) g.Node {
		names := g.Map(columns, func(name string) g.Node { return h.Th(h.Scope("col"), g.Text(name)) })
		return h.Table(h.Class("servers"), h.THead(h.Tr(names)), h.TBody(rows...))
	}
}

func logNode(lines []LogLine) g.Node {
	return h.Ol(h.Class("log"), g.Map(lines, func(l LogLine) g.Node {
		return h.Li(h.Class("log-"+l.Level),
			h.Span(h.Class("after"), g.Text(formatMillis(l.After.Milliseconds()))), h.Span(h.Class("vh"), g.Text(l.Level+": ")),
			h.Span(h.Class("said"), with(l.Source, func(source string) g.Node { return g.Group{h.B(g.Text(source)), space()} }),
				g.Text(l.Message.Text), spaced(l.Message.Note, "note")))
	}))
}
