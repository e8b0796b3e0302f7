package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// pageTurn is a request to a model, on a page.
type pageTurn struct {
	event.LLMFinished
	Brief     string  // of the answer, in one line
	Saw, Said Excerpt // what the model was sent since the request before, and its answer
	Missing   string  // why neither is shown
}

type transcriptBlock struct {
	Text  string `json:"text"`
	Image []byte `json:"image"`
}

// transcript is what a page shows of the file of a request.
type transcript struct {
	Blocks []transcriptBlock `json:"blocks"`
	Answer struct {
		Text  string `json:"text"`
		Calls []struct {
			Name    string          `json:"name"`
			Args    json.RawMessage `json:"args"`
			Problem string          `json:"problem"`
		} `json:"calls"`
	} `json:"answer"`
	Error string `json:"error"`
}

// maxTranscript is the size of the file of a request that is read, the same as for replays of models.
const maxTranscript = 64 << 20

// Turns returns the requests of the task of a step.
func (s pageStep) Turns() []pageTurn {
	if s.Task == nil {
		return nil
	}
	var before []transcriptBlock // of the last request that is shown
	return mapSlice(s.Task.Turns, func(e event.LLMFinished) pageTurn {
		turn := pageTurn{LLMFinished: e}
		t, missing := s.parent.transcript(e.File)
		if turn.Missing = missing; missing != "" {
			return turn
		}
		h := s.parent.page
		turn.Brief, turn.Said = shortLine(t.said(" ")), h.excerpt(t.said("\n"), maxText)
		turn.Saw = h.excerpt(t.saw(before), maxText)
		before = t.Blocks
		return turn
	})
}

// transcript reads the file of a request, in the folder of the session.
func (c *pageCase) transcript(name string) (t transcript, missing string) {
	if name == "" || c.Dir == "" {
		return t, "The request was not kept."
	}
	file, err := OpenFile(c.Dir, name)
	if err != nil {
		return t, "The file of the request is not there, or cannot be read."
	}
	defer file.Close()
	if err := json.NewDecoder(io.LimitReader(file, maxTranscript)).Decode(&t); err != nil {
		return t, "The file of the request cannot be read."
	}
	return t, ""
}

// saw returns the texts of the blocks after those with which the request before began, too. It had a picture at its end
// that is not kept.
func (t transcript) saw(before []transcriptBlock) string {
	from := 0
	for from < min(len(before), len(t.Blocks)) && before[from].Text == t.Blocks[from].Text && bytes.Equal(before[from].Image, t.Blocks[from].Image) {
		from++
	}
	var parts []string
	for _, b := range t.Blocks[from:] {
		if len(b.Image) > 0 {
			parts = append(parts, "(a picture of the screen)")
		}
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// said returns the answer: its text and its calls, or why there is none.
func (t transcript) said(separator string) string {
	parts := []string{t.Answer.Text}
	for _, call := range t.Answer.Calls {
		var args bytes.Buffer
		_ = json.Compact(&args, call.Args) // it was decoded from JSON
		parts = append(parts, joinNonEmpty(" ", call.Name, args.String(), call.Problem))
	}
	return joinNonEmpty(separator, append(parts, t.Error)...)
}

// State returns how the request ended, for a CSS class and a label.
func (t pageTurn) State() event.Outcome {
	if t.Status == "calls" {
		return event.Passed
	}
	return event.Failed
}

// Duration returns how long the request took.
func (t pageTurn) Duration() string { return formatMillis(t.DurationMs) }

// Used returns what the request took.
func (t pageTurn) Used() string {
	var use event.ModelUse
	use.AddRequest(t.LLMFinished)
	return joinNonEmpty(", ", tokensText(&use), countText(t.OutputTokens)+" of the answer", costText(&use))
}

// Used returns what the requests of the step took.
func (s pageStep) Used() string { return UsageSummary(&s.Task.Use) }

// Mode returns where the calls of the trail came from, empty if no model may be asked.
func (c *pageCase) Mode() event.Mode {
	if c.Finished == nil || c.Finished.ModelUse == nil {
		return ""
	}
	return c.Finished.Mode
}

// task has the requests to a model of a step.
func (s pageStep) task() g.Node {
	if s.Task == nil {
		return nil
	}
	return g.Group{
		g.Map(s.Task.Warnings, func(w string) g.Node { return h.P(h.Class("warning"), g.Text(lineText(w))) }),
		more("more task", g.Group{g.Text("Carried out by " + lineText(s.Task.Model) + " "), h.Span(h.Class("dim"), g.Text(s.Used()))},
			h.Ol(h.Class("calls"), g.Map(s.Turns(), pageTurn.node)),
			countNote(s.Task.MoreTurns, "more request is", "more requests are", "left out here; the session's events.ndjson has all of them.")),
	}
}

func (t pageTurn) node() g.Node {
	state, used := t.State(), t.Used()
	if t.Attempts > 1 {
		used += fmt.Sprintf(", %d attempts", t.Attempts)
	}
	return h.Li(h.Class("call is-"+string(state)), more("",
		g.Group{
			markNode(string(state)),
			h.Span(h.Class("line"), h.Code(h.Class("tool"), g.Text(fmt.Sprintf("request %d", t.N))),
				g.If(state != event.Passed, g.Group{space(), kindNode(lineText(t.Status))}), spaced(t.Brief, "result")),
			h.Span(h.Class("took"), g.Text(t.Duration())),
		},
		h.Dl(h.Class("io"), term("Used", g.Text(used)), textTerm("Request", t.Missing), excerptTerm("Was sent", t.Saw), excerptTerm("Answered", t.Said))))
}
