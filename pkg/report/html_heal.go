package report

import (
	"encoding/json"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// heal has the repair of the recording of a step: what changes, and the screen on which the call failed.
func (s pageStep) heal() g.Node {
	if s.Heal == nil {
		return nil
	}
	what := "Repair of the recording: "
	if !s.Heal.MayBeWritten() {
		what = "Repair of the recording that is refused: "
	}
	change := s.healDiff()
	return h.Details(h.Class("more task"), g.Attr("open"),
		h.Summary(g.Text(what+lineText(s.Heal.Class)+" "), h.Span(h.Class("dim"), g.Text(lineText(s.Heal.Why)))),
		with(lineText(s.Heal.Guard), textIn(h.P, "warning")),
		h.Dl(h.Class("io"), term("Proof", g.Text(lineText(s.Heal.Proof))), term("Change", change), excerptTerm("Screen", s.healScreen())))
}

// maxDiff is how many lines of a patch are shown.
const maxDiff = 200

// healDiff has the lines of the patch.
func (s pageStep) healDiff() g.Node {
	patch, missing := s.parent.readText(s.Heal.File)
	if missing != "" {
		return g.Text(missing)
	}
	lines := strings.Split(strings.TrimSuffix(Clean(patch), "\n"), "\n")
	lines = lines[min(2, len(lines)):] // the first ones name the file
	return h.Pre(h.Class("diff"), g.Map(lines[:min(len(lines), maxDiff)], func(line string) g.Node {
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		}
		return h.Span(with(class, h.Class), g.Text(line+"\n"))
	}))
}

// healScreen returns the screen on which the call failed, empty if it is not kept.
func (s pageStep) healScreen() Excerpt {
	var report struct {
		Steps []struct {
			Step   string
			Screen []string
		}
	}
	text, missing := s.parent.readText("heal.json")
	if missing != "" || json.Unmarshal([]byte(text), &report) != nil {
		return Excerpt{}
	}
	for _, of := range report.Steps {
		if of.Step == s.Heal.Step {
			return s.parent.page.excerpt(strings.Join(of.Screen, "\n"), maxText)
		}
	}
	return Excerpt{}
}

// readText reads a file in the folder of the session. missing says why it cannot.
func (c *pageCase) readText(name string) (text, missing string) {
	const maxFile = 4 << 20
	if c.Dir == "" {
		return "", "The session has no folder."
	}
	file, err := OpenFile(c.Dir, name)
	if err != nil {
		return "", "The file is not there, or cannot be read."
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return "", "The file cannot be read."
	}
	return string(data), ""
}
