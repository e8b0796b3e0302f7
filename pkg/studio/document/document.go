// Package document has the trail that is edited in the studio: its text, operations on steps and calls, undo and redo.
// Data in, data out. A Document must be used by one goroutine at a time.
package document

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Options is what a document is about.
type Options struct {
	Name    string       // of the file, relative to the project root
	Lineage []string     // the classifiers under which calls for the device are looked up, narrow first
	Config  trail.Config // of a new trail
}

// Step is a step as the page shows it. Numbers count from 1, the trailhead first, the steps of config.teardown last.
type Step struct {
	Number      string   `json:"number"`
	Kind        string   `json:"kind"`
	Text        string   `json:"text"`
	Provisional bool     `json:"provisional"` // the text was made from the calls
	Classifiers []string `json:"classifiers"` // of its recordings
	Classifier  string   `json:"classifier"`  // whose calls these are; empty for none, and in the list shape
	Line        int      `json:"line"`
	Calls       []Call   `json:"calls"`
}

// Call is a call as the page shows it. Its number is that of its step and its own, such as 2.1.
type Call struct {
	Number   string         `json:"number"`
	Tool     string         `json:"tool"`
	Brief    string         `json:"brief"`
	Args     map[string]any `json:"args"`
	Optional bool           `json:"optional"`
	Soft     bool           `json:"soft"`
	Timeout  string         `json:"timeout"` // such as 5s; empty for none
	SaveAs   string         `json:"saveAs"`
	Line     int            `json:"line"`
}

// Edit is an operation, by its Op, with the fields that it has in the protocol of the page.
type Edit struct {
	Op         string         `json:"op"`
	Step       string         `json:"step"`
	Call       string         `json:"call"`
	Number     string         `json:"number"`
	To         string         `json:"to"`
	After      string         `json:"after"`
	Text       string         `json:"text"`
	Kind       string         `json:"kind"`
	Args       map[string]any `json:"args"`
	Selector   map[string]any `json:"selector"`
	Optional   bool           `json:"optional"`
	Timeout    string         `json:"timeout"`
	SaveAs     string         `json:"saveAs"`
	Classifier string         `json:"classifier"`
}

// UnmarshalJSON implements json.Unmarshaler. Numbers in arguments keep their digits.
func (e *Edit) UnmarshalJSON(data []byte) error {
	type plain Edit
	with := struct {
		*plain
		Args     trail.JSON `json:"args"`
		Selector trail.JSON `json:"selector"`
	}{plain: (*plain)(e)}
	if err := json.Unmarshal(data, &with); err != nil {
		return err
	}
	for _, object := range []struct {
		name string
		from any
		to   *map[string]any
	}{{"args", with.Args.Value, &e.Args}, {"selector", with.Selector.Value, &e.Selector}} {
		value, ok := object.from.(map[string]any)
		if !ok && object.from != nil {
			return fault.New(fault.InvalidArguments, "write it as a JSON object", "%s of the edit is not an object", object.name)
		}
		*object.to = value
	}
	return nil
}

// Place is where calls are recorded.
type Place struct {
	After   string // a step ("2") or a call ("2.1"); empty for the end
	NewStep bool   // begins a step behind that one
	// Kind is the kind that the step has. Empty, it follows from the calls: only checks are a verify.
	Kind string
	// Text is the text that the step has. Empty, a step that is begun gets a provisional one, made from its calls.
	Text string
}

// Document is a trail that is edited.
type Document struct {
	opts    Options
	now     *state
	history history
	version int
}

// New returns a document without steps. Its text is nil until something is recorded.
func New(o Options) *Document {
	return &Document{opts: o, now: emptyState(o)}
}

// Open returns a document of the text of a trail file. With problems, only the text is there, and only SetText changes
// it.
func Open(o Options, text []byte) (*Document, fault.Problems) {
	now, problems := parse(o.Name, text)
	if len(problems) > 0 {
		now = &state{text: bytes.Clone(text), rest: &trail.File{Name: o.Name}, problems: problems}
	}
	return &Document{opts: o, now: now}, problems
}

// SetName says how the file is called from now on.
func (d *Document) SetName(name string) { d.opts.Name = name }

// SetLineage says for which device calls are shown and recorded from now on.
func (d *Document) SetLineage(lineage []string) {
	d.opts.Lineage = slices.Clone(lineage)
	d.version++
}

// Text returns the text of the file, nil for a new document without steps. It must not be changed.
func (d *Document) Text() []byte { return d.now.text }

// Version grows with each change.
func (d *Document) Version() int { return d.version }

// Problems returns the problems of a text that does not parse, which it had when it was opened.
func (d *Document) Problems() fault.Problems { return d.now.problems }

// Title returns the title in the config of the trail.
func (d *Document) Title() string { return d.now.rest.Config.Title }

// Steps returns the steps with the calls for the device.
func (d *Document) Steps() []Step {
	all, lines := append(d.now.all(), d.now.rest.TeardownSteps()...), d.now.firstLines()
	out := make([]Step, len(all))
	teardown := len(lines)
	for i, s := range all {
		classifier, calls := d.recorded(s)
		out[i] = Step{
			Number: stepNumber(i), Kind: s.Kind, Text: s.Text, Provisional: d.now.isProvisional(i),
			Classifiers: append([]string{}, s.Classifiers()...), Classifier: classifier, Line: s.Line,
		}
		if i >= teardown {
			out[i].Kind, out[i].Calls = trail.KindTeardown, show(calls)
		} else {
			out[i].Line += lines[i]
			out[i].Calls = slices.Clone(d.now.shown(i, classifier, calls))
			for n := range out[i].Calls {
				out[i].Calls[n].Line += lines[i]
			}
		}
		for n := range out[i].Calls {
			out[i].Calls[n].Number = callNumber(i, n)
		}
	}
	return out
}

// show returns calls as the page shows them, without their numbers.
func show(calls []trail.Call) []Call {
	out := make([]Call, len(calls))
	for i, c := range calls {
		out[i] = Call{Tool: c.Tool, Brief: Brief(c), Args: c.Args, Optional: c.Optional, Soft: c.Soft, SaveAs: c.SaveAs, Line: c.Line}
		if c.Timeout > 0 {
			out[i].Timeout = c.Timeout.String()
		}
	}
	return out
}

// SetText replaces the text if it parses, and returns its problems. With join it is one entry of undo with the SetText
// before it.
func (d *Document) SetText(text []byte, join bool) fault.Problems {
	if bytes.Equal(text, d.now.text) {
		return nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		d.commit(emptyState(d.opts), "text", join)
		return nil
	}
	return d.replaceText(text, "text", join)
}

func (d *Document) replaceText(text []byte, by string, join bool) fault.Problems {
	next, problems := parse(d.opts.Name, text)
	if len(problems) > 0 {
		return problems
	}
	next.keepProvisional(d.now)
	d.commit(next, by, join)
	return nil
}

// recorded returns the calls of a step for the device, and for which classifier they were recorded.
func (d *Document) recorded(s *trail.Step) (classifier string, calls []trail.Call) {
	r, _ := s.Recorded(d.opts.Lineage)
	return r.Classifier, r.Calls
}

func duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return 0, fault.New(fault.InvalidArguments, "write it like 30s, 2m or 500ms", "the timeout %q is not a duration", text)
	}
	return limit, nil
}
