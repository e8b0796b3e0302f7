// Package event is the one stream of what a run does. The console, JSON lines, JUnit and the session log render it and know
// nothing else of the run. Records are numbered, timed and stripped of secrets here, once, before any handler sees them.
package event

import (
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Event is one of the structs of this package; the set is closed.
type Event interface {
	// Type is the value of "type" in JSON (specification, section 10.3).
	Type() string
	// redacted returns a copy whose free text went through r.
	redacted(r Redactor) Event
}

// Outcome is how a trail or a step ended.
type Outcome string

// The outcomes of section 9.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Error   Outcome = "error"
	Skipped Outcome = "skipped"
)

// RunStarted opens a run. Paths of trails are relative to Dir, or absolute.
type RunStarted struct {
	Trails  int    `json:"trails"`
	Workers int    `json:"workers,omitempty"` // sessions at once
	Shard   string `json:"shard,omitempty"`   // 2/3 is the second of three; empty for a run that is no part of one
	Plan    string `json:"plan,omitempty"`    // the same for all shards that were cut from the same trails by the same durations
	Root    string `json:"root,omitempty"`    // of the project
	Dir     string `json:"dir,omitempty"`     // where the run was started
}

// TrailStarted opens a trail, once its scope is known.
type TrailStarted struct {
	File   string `json:"file"`
	Title  string `json:"title"`
	Target string `json:"target"`
	Driver string `json:"driver"`
	Agent  string `json:"agent"`
	Device string `json:"device,omitempty"` // as the user calls it; empty when there is only one
	// DeviceID is what the platform calls the device, such as a serial; empty when it is not known.
	DeviceID string `json:"deviceId,omitempty"`
	Steps    int    `json:"-"`
}

// ServerStarted says that a tool server is up and listed.
type ServerStarted struct {
	Server     string `json:"server"`
	Tools      int    `json:"tools"`
	DurationMs int64  `json:"durationMs"`
}

// StepStarted opens step Index (from 1) of Of.
type StepStarted struct {
	Index int    `json:"index"`
	Of    int    `json:"of"`
	Text  string `json:"text"`
	Kind  string `json:"kind"` // step, verify, trailhead or tools
}

// CallStarted says that a call is about to be sent.
type CallStarted struct {
	Call   string         `json:"call"` // unique in the session
	Tool   string         `json:"tool"`
	Source string         `json:"source"`
	Args   map[string]any `json:"args"`
}

// CallProgress carries what a running call says of itself. In JSON it is a log record.
type CallProgress struct {
	Call    string
	Tool    string
	Message string
}

// MarshalJSON writes the progress as a Log that says whose it is.
func (e CallProgress) MarshalJSON() ([]byte, error) {
	return marshal(logged{Level: "info", Source: e.Tool, Message: e.Message, Call: e.Call})
}

// CallFinished closes a call.
type CallFinished struct {
	Call       string     `json:"call"`
	Tool       string     `json:"tool"`
	OK         bool       `json:"ok"`
	Text       string     `json:"text"`
	Error      string     `json:"error"` // empty when OK
	Kind       fault.Kind `json:"kind"`
	DurationMs int64      `json:"durationMs"`
}

// StepFinished closes a step.
type StepFinished struct {
	Index   int     `json:"index"`
	Outcome Outcome `json:"outcome"`
}

// Evidence says that a file about the session was kept.
type Evidence struct {
	File  string `json:"file"`  // below the session's folder, with slashes
	Title string `json:"title"` // what it shows
	Step  int    `json:"step"`  // during which step, from 1; 0 outside of one
	Call  string `json:"call"`  // during which call; empty outside of one
}

// TrailFinished closes a trail. Step is the 1-based step that decided the outcome, 0 when none did. MarshalJSON writes place and
// hint into the reason too, for readers that look at nothing else; Decode takes them out again.
type TrailFinished struct {
	File       string   `json:"file"`
	Title      string   `json:"title"`
	Device     string   `json:"device,omitempty"` // as the user calls it; empty when there is only one
	Outcome    Outcome  `json:"outcome"`
	Flaky      bool     `json:"flaky"` // passed, but not at the first attempt
	Reason     string   `json:"reason"`
	Hint       string   `json:"hint"`
	Step       int      `json:"step"`
	StepText   string   `json:"stepText"`
	Tool       string   `json:"tool"`    // the call that failed
	Line       int      `json:"line"`    // where the failing call stands in File, from 1; 0 for none
	Snippet    string   `json:"snippet"` // that line and those around it, ready to print; may be empty
	DurationMs int64    `json:"durationMs"`
	Attempts   int      `json:"attempts"`
	Artifacts  []string `json:"artifacts"`
}

// MarshalJSON writes the fields of the specification, section 10.3; the reason says where and what to do.
func (e TrailFinished) MarshalJSON() ([]byte, error) {
	type plain TrailFinished
	e.Reason = withHint(e.place()+e.Reason, e.Hint)
	return marshal(plain(e))
}

// place is what the reason starts with in JSON: nothing when it says so itself.
func (e TrailFinished) place() string {
	if e.Line == 0 || strings.HasPrefix(e.Reason, e.File+":") {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", e.File, e.Line)
}

func withHint(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + "\nhint: " + hint
}

// RunFinished closes a run.
type RunFinished struct {
	Passed     int      `json:"passed"`
	Failed     int      `json:"failed"`
	Errors     int      `json:"errors"`
	Skipped    int      `json:"skipped"`
	Flaky      int      `json:"flaky"`
	ExitCode   int      `json:"exitCode"`
	DurationMs int64    `json:"durationMs"`
	NotRun     []NotRun `json:"notRun,omitempty"` // what the run ended before
}

// Count adds a trail that ended.
func (e *RunFinished) Count(o Outcome, flaky bool) {
	switch o {
	case Passed:
		e.Passed++
	case Failed:
		e.Failed++
	case Error:
		e.Errors++
	case Skipped:
		e.Skipped++
	}
	if flaky {
		e.Flaky++
	}
}

// NotRun is a trail whose turn did not come.
type NotRun struct {
	File   string `json:"file"`
	Title  string `json:"title"`
	Device string `json:"device,omitempty"`
}

// Log is anything else worth saying. Level is debug, info, warn or error.
type Log struct {
	Level   string `json:"level"`
	Source  string `json:"source"`
	Message string `json:"message"`
	Hint    string `json:"-"`
}

// logged is a log record in JSON.
type logged struct {
	Level   string `json:"level"`
	Source  string `json:"source"`
	Message string `json:"message"`
	Call    string `json:"call,omitempty"`
}

// MarshalJSON writes the fields of the specification, section 10.3; the hint is part of the message.
func (e Log) MarshalJSON() ([]byte, error) {
	return marshal(logged{Level: e.Level, Source: e.Source, Message: withHint(e.Message, e.Hint)})
}

// Type implements Event.
func (RunStarted) Type() string { return "run.started" }

// Type implements Event.
func (TrailStarted) Type() string { return "trail.started" }

// Type implements Event.
func (ServerStarted) Type() string { return "server.started" }

// Type implements Event.
func (StepStarted) Type() string { return "step.started" }

// Type implements Event.
func (CallStarted) Type() string { return "call.started" }

// Type implements Event.
func (CallProgress) Type() string { return "log" }

// Type implements Event.
func (CallFinished) Type() string { return "call.finished" }

// Type implements Event.
func (StepFinished) Type() string { return "step.finished" }

// Type implements Event.
func (Evidence) Type() string { return "evidence" }

// Type implements Event.
func (TrailFinished) Type() string { return "trail.finished" }

// Type implements Event.
func (RunFinished) Type() string { return "run.finished" }

// Type implements Event.
func (Log) Type() string { return "log" }
