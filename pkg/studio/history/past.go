package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const (
	maxMoments = 10_000
	// maxTraced bounds the requests and the lines of the console of a session, in bytes; later ones are left out.
	maxTraced = 16 << 20
)

// Past is a finished session: its calls in the order in which they began, with the screen before and after each of them.
type Past struct {
	Session string    `json:"session"`
	Title   string    `json:"title"`
	Outcome string    `json:"outcome"` // see Summary
	Reason  string    `json:"reason"`  // why it did not pass
	Hint    string    `json:"hint"`
	Device  string    `json:"device"`
	File    string    `json:"file"`   // the trail, as the run named it; empty for a session without a trail
	Failed  int       `json:"failed"` // index of the first moment whose call failed and is not optional; -1 for none
	Moments []Moment  `json:"moments"`
	Log     []LogLine `json:"log"`
	Notes   []string  `json:"notes"` // what is missing
}

// Moment is a call, with the screen before and after it. Pictures and the tree are names for ServeFile.
type Moment struct {
	Time       time.Time     `json:"time"` // when the call began
	Step       string        `json:"step"` // its number, such as 3, or 3.2 for one of a trail that step 3 uses; empty outside of steps
	StepText   string        `json:"stepText"`
	Call       string        `json:"call"` // its number, such as 3.1; 3.1.2 is the second call that 3.1 made
	Tool       string        `json:"tool"`
	Brief      string        `json:"brief"` // what it does, such as click button "Save"
	Args       string        `json:"args"`  // as JSON; empty for none
	Outcome    event.Outcome `json:"outcome"`
	Optional   bool          `json:"optional"`
	Message    string        `json:"message"` // its result, or why it failed
	DurationMs int64         `json:"durationMs"`
	Before     string        `json:"before"` // empty for none
	After      string        `json:"after"`  // the same as Before if nothing changed; empty for none, then NoPicture says why
	NoPicture  string        `json:"noPicture"`
	Width      int           `json:"width"` // of the screen, in the unit of Touched; 0 if it is not known
	Height     int           `json:"height"`
	Touched    *event.Point  `json:"touched"` // where the call acted; nil if nowhere, or if it is not known
	URL        string        `json:"url"`
	Tree       string        `json:"tree"` // a text file with the elements of the screen after the call; empty for none
	Requests   []string      `json:"requests"`
	Console    []string      `json:"console"`
	failed     bool          // and not optional
}

// LogLine is a line of a session's log.
type LogLine struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // info, warn or error
	Text  string    `json:"text"`
}

// Open reads a session, by its folder as List returns it or another one below the folder of logs.
func (h *History) Open(session string) (*Past, error) {
	dir, err := h.dir(session)
	if err != nil {
		return nil, err
	}
	run := report.NewRun(h.logsDir)
	if err := run.AddSession(dir); err != nil {
		return nil, err
	}
	c := run.Cases[len(run.Cases)-1]
	p := newPast(session, c)
	h.known.set(session, p.files())
	return p, nil
}

// dir returns the folder of a session.
func (h *History) dir(session string) (string, error) {
	const hint = "give a session of the list, or the folder of one below logsDir"
	root, err := os.OpenRoot(h.logsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(fault.Misuse, hint, "session %q was not found: %s does not exist", session, h.logsDir)
	}
	if err != nil {
		return "", fault.Wrap(fault.Misuse, err, "", "read sessions")
	}
	defer root.Close()
	name := filepath.FromSlash(session)
	if info, err := root.Stat(name); session == "" || session == "." || err != nil || !info.IsDir() {
		return "", fault.New(fault.Misuse, hint, "session %q was not found in %s", session, h.logsDir)
	}
	return filepath.Join(h.logsDir, name), nil
}

// builder collects the moments of a session.
type builder struct {
	past   *Past
	traced map[string]event.TracedCall // by ids of calls
	shown  string                      // the newest picture; empty when it is not known what the screen shows
	room   int                         // bytes of requests and lines of the console
	more   int                         // moments that are left out
}

func newPast(session string, c *report.Case) *Past {
	p := &Past{
		Session: session, Title: title(c.Title, c.File, nameOf(session)), Device: oneLine(cmp.Or(c.Device, c.Driver)), File: c.File,
		Failed: -1, Moments: []Moment{}, Log: []LogLine{}, Notes: []string{},
	}
	if e := c.Finished; e != nil {
		p.Reason, p.Hint = report.Clean(e.Reason), report.Clean(e.Hint)
	}
	if c.File != "" || c.Finished != nil {
		p.Outcome = outcome(c.Finished)
	}
	b := &builder{past: p, traced: map[string]event.TracedCall{}, room: maxTraced}
	trace, err := c.ReadTrace()
	if err != nil {
		p.note("the trace could not be read: " + err.Error())
	}
	for _, call := range trace.Calls {
		b.traced[call.Call] = call
	}
	for _, s := range c.Steps {
		b.addStep(s)
	}
	b.addFailure(c)
	p.Failed = slices.IndexFunc(p.Moments, func(m Moment) bool { return m.failed })
	p.addLog(c)
	p.addNotes(b, c, trace)
	return p
}

func (p *Past) note(s string) { p.Notes = append(p.Notes, oneLine(s)) }

// addNotes says what is missing.
func (p *Past) addNotes(b *builder, c *report.Case, t event.Trace) {
	for _, n := range []struct {
		count      int
		noun, what string
	}{
		{c.Lost, "line", "of the log could not be read"},
		{c.MoreLog, "line", "of the log left out"},
		{b.more, "call", "left out"},
		{t.RemovedPictures, "picture", "removed, because the trace was too large"},
		{t.RemovedTrees, "list", "of elements removed, because the trace was too large"},
		{t.RemovedCalls, "call", "removed from the trace, because it was too large"},
	} {
		if n.count > 0 {
			p.note(text.Count(n.count, n.noun) + " " + n.what)
		}
	}
}

func (p *Past) addLog(c *report.Case) {
	for _, line := range c.Log {
		level := line.Level
		switch level {
		case "debug":
			continue
		case "warn", "error":
		default:
			level = "info"
		}
		message := line.Message.Text
		if line.Source != "" {
			message = line.Source + ": " + message
		}
		p.Log = append(p.Log, LogLine{Time: c.From.Add(line.After), Level: level, Text: message})
	}
}

// addStep adds the calls of a step, and what was kept after it.
func (b *builder) addStep(s *report.Step) {
	number := ""
	if s.Index > 0 {
		number = s.Number()
	}
	before := len(b.past.Moments)
	b.addCalls(s, number, number, s.Calls)
	b.more += s.MoreCalls
	if all := b.past.Moments; len(all) > before {
		b.addEvidence(&all[len(all)-1], s.Files)
	}
}

// addCalls adds calls that are numbered below a step or a call.
func (b *builder) addCalls(s *report.Step, step, below string, calls []*report.Call) {
	for i, c := range calls {
		number := strings.TrimPrefix(below+"."+strconv.Itoa(i+1), ".")
		if len(b.past.Moments) == maxMoments {
			b.more++
			continue
		}
		m := Moment{
			Time: c.From, Step: step, StepText: oneLine(s.Text), Call: number, Tool: oneLine(c.Tool), Brief: brief(c),
			Args: excerpt(c.Arguments), Message: excerpt(c.Result), Requests: []string{}, Console: []string{},
		}
		if d := c.Done; d != nil {
			m.Outcome, m.Optional, m.DurationMs = event.Passed, d.Optional, d.DurationMs
			if !d.OK {
				m.Outcome, m.failed = event.Failed, !d.Optional
			}
		}
		b.addTraced(&m, c.Call)
		b.addEvidence(&m, c.Files)
		b.past.Moments = append(b.past.Moments, m)
		outer := len(b.past.Moments) - 1
		b.addCalls(s, step, number, c.Calls)
		b.more += c.MoreCalls
		b.addInner(outer)
	}
}

// brief returns what a call does in a few words, as the steps of a trail are shown, or its arguments in a line.
func brief(c *report.Call) string {
	call := trail.Call{Tool: c.Tool}
	if c.Arguments.Text != "" && json.Unmarshal([]byte(c.Arguments.Text), &call.Args) != nil {
		return oneLine(c.Tool + " " + c.Preview) // they are longer than what is kept
	}
	return oneLine(document.Brief(call))
}

// addInner shows a call, by its index, with the screen after the last of those that it made.
func (b *builder) addInner(outer int) {
	all := b.past.Moments
	if m, last := &all[outer], all[len(all)-1]; m.After == "" {
		m.After, m.NoPicture = last.After, last.NoPicture
	}
}

func excerpt(e report.Excerpt) string {
	if e.Note == "" {
		return e.Text
	}
	return e.Text + "\n(" + e.Note + ")"
}

// addTraced adds what the trace has of a call. A call that did not use the device is shown with the screen before it.
func (b *builder) addTraced(m *Moment, id string) {
	t, ok := b.traced[id]
	if !ok {
		m.Before, m.NoPicture = b.shown, "the call did not use the device"
		if len(b.traced) == 0 {
			m.NoPicture = "the session kept no picture of this call"
		}
		return
	}
	m.Before, m.After = cmp.Or(traceFile(t.Before), b.shown), traceFile(t.After)
	m.URL, m.Tree, m.Touched = oneLine(t.URL), traceFile(t.Tree), t.Touched
	m.Width, m.Height = t.Width, t.Height
	m.Requests, m.Console = b.lines(t.Requests), b.lines(t.Console)
	if b.shown = m.After; m.After == "" {
		m.NoPicture = cmp.Or(oneLine(t.NoPicture), "no picture was taken")
	}
}

// traceFile returns the path of a file of the trace, empty for none and for a name that no trace has.
func traceFile(name string) string {
	if name == "" || name != path.Base(name) || strings.ContainsRune(name, '\\') {
		return ""
	}
	return path.Join(event.TraceFolder, name)
}

// lines returns lines of the trace, none once there are too many.
func (b *builder) lines(all []string) []string {
	out := make([]string, 0, len(all))
	for _, line := range all {
		if b.room -= len(line); b.room < 0 {
			break
		}
		out = append(out, oneLine(line))
	}
	return out
}

// addEvidence adds the picture and the elements that were kept after a call, if the trace has none.
func (b *builder) addEvidence(m *Moment, kept []event.Evidence) {
	for _, e := range kept {
		switch {
		case isPicture(e.File) && m.After == "" && e.HasSecret:
			m.NoPicture = "the picture is not shown, because a secret was found in it"
		case isPicture(e.File) && m.After == "":
			m.After, m.NoPicture, b.shown = e.File, "", e.File
		case path.Base(e.File) == "screen.txt" && m.Tree == "" && !e.HasSecret:
			m.Tree = e.File
		}
	}
}

// addFailure adds what was kept when the trail failed to the last call that failed.
func (b *builder) addFailure(c *report.Case) {
	all := b.past.Moments
	for i := range slices.Backward(all) {
		if all[i].failed {
			b.addEvidence(&all[i], c.FailureFiles)
			return
		}
	}
	if len(all) > 0 {
		b.addEvidence(&all[len(all)-1], c.FailureFiles)
	}
}

func isPicture(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".png", ".jpg", ".jpeg", ".webp", ".gif":
		return true
	}
	return false
}
