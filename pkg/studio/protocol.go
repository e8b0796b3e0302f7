package studio

import (
	"encoding/json"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// What the server says to pages. page/src/protocol.ts has the same types, with what they mean.

type state struct {
	Project   string         `json:"project"`
	Device    string         `json:"device"`
	Devices   []DeviceOption `json:"devices"`
	Platform  string         `json:"platform"`
	Screen    size           `json:"screen"`
	URL       string         `json:"url"`
	Title     string         `json:"title"`
	Activity  activity       `json:"activity"`
	Doing     string         `json:"doing"`
	Recording bool           `json:"recording"`
	Unsaved   bool           `json:"unsaved"`
	File      string         `json:"file"`
	TrailsDir string         `json:"trailsDir"`
	Typing    *typingState   `json:"typing"`
	Ask       *ask           `json:"ask"`
	Notices   []notice       `json:"notices"`
	Variables []variable     `json:"variables"`
	Kept      *keptRecording `json:"kept"`
	Past      string         `json:"past"`
}

// DeviceOption is a device that the person can choose.
type DeviceOption struct {
	Name     string `json:"name"` // what --device takes
	Platform string `json:"platform"`
	Why      string `json:"why"` // it cannot be chosen; empty if it can
}

type size struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

type activity string

const (
	opening   activity = "opening"
	idle      activity = "idle"
	acting    activity = "acting"
	replaying activity = "replaying"
	saving    activity = "saving"
	lost      activity = "lost"
)

type typingState struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

// ask is something that the device asks and a picture does not show.
type ask struct {
	ID       int           `json:"id"`
	Kind     string        `json:"kind"`
	Text     string        `json:"text"`
	Value    string        `json:"value"`
	Input    string        `json:"input,omitempty"`
	Multiple bool          `json:"multiple"`
	Options  []live.Option `json:"options"`
	Bounds   *screen.Rect  `json:"bounds,omitempty"`
}

type answer struct {
	Ask    int      `json:"ask"`
	OK     bool     `json:"ok"`
	Text   string   `json:"text"`
	Values []string `json:"values"`
}

type notice struct {
	ID   int    `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type keptRecording struct {
	File  string    `json:"file"`
	Steps int       `json:"steps"`
	When  time.Time `json:"when"`
}

type variable struct {
	live.Variable
	Given bool `json:"given,omitempty"` // by a flag or by a person, so that it can be removed
}

type newCall struct {
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args"`
	SaveAs string         `json:"saveAs"`
}

// UnmarshalJSON implements json.Unmarshaler. Numbers keep their digits.
func (c *newCall) UnmarshalJSON(data []byte) error {
	type plain newCall
	with := struct {
		*plain
		Args trail.JSON `json:"args"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(data, &with); err != nil {
		return err
	}
	args, isObject := with.Args.Value.(map[string]any)
	if !isObject && with.Args.Value != nil {
		return fault.New(fault.InvalidArguments, "write it as a JSON object", "args of the call is not an object")
	}
	c.Args = args
	return nil
}

func (c newCall) call() trail.Call {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return trail.Call{Tool: c.Tool, Args: args, SaveAs: c.SaveAs}
}

type made struct {
	OK         bool     `json:"ok"`
	Text       string   `json:"text"`
	Hint       string   `json:"hint,omitempty"`
	Warnings   []string `json:"warnings"`
	Structured any      `json:"structured,omitempty"`
}

type documentView struct {
	Version  int        `json:"version"`
	Text     string     `json:"text"`
	Title    string     `json:"title"`
	Problems []problem  `json:"problems"`
	Steps    []stepView `json:"steps"`
	Selected string     `json:"selected"`
	Next     string     `json:"next"`
	CanUndo  bool       `json:"canUndo"`
	CanRedo  bool       `json:"canRedo"`
	Lineage  []string   `json:"lineage"`
}

type stepView struct {
	document.Step
	Calls   []callView `json:"calls"`
	Outcome outcome    `json:"outcome"`
}

type callView struct {
	document.Call
	Outcome outcome `json:"outcome"`
	Message string  `json:"message"`
}

type outcome string

const (
	running outcome = "running"
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped"
)

type problem struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Severity string `json:"severity"`
}

func problemsOf(found fault.Problems, severity string) []problem {
	out := []problem{}
	for _, p := range found {
		out = append(out, problem{Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint, Severity: severity})
	}
	return out
}

type locationView struct {
	live.Location
	Checks []gesture.Check `json:"checks"`
}

type toolView struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      any    `json:"schema"`
	Source      string `json:"source"`
}

type pictureMessage struct {
	Seq      int     `json:"seq"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
	Withheld string  `json:"withheld"`
}

type logMessage struct {
	Lines []logLine `json:"lines"`
}

type logLine struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"`
	Text  string    `json:"text"`
}

type savedView struct {
	File     string         `json:"file"`
	Written  bool           `json:"written"`
	Diff     string         `json:"diff"`
	Warnings []string       `json:"warnings"`
	Replayed *live.Replayed `json:"replayed"`
}
