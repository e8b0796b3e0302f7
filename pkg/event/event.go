// Package event has the stream of events of a run. The console, JSON lines, JUnit and session logs render it and know
// nothing else of the run. The stream numbers, times and redacts records once, before any handler receives them.
package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Event is one of the structs of this package; the set is closed.
type Event interface {
	// Type returns the value of "type" in JSON (specification, section 10.3).
	Type() string
	// withoutSecrets returns a copy with secrets replaced by r, and with texts of calls cut to MaxText.
	withoutSecrets(r Redactor) Event
}

// Outcome is how a trail or a step ended.
type Outcome string

// The outcomes of section 9 of the specification.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Error   Outcome = "error"
	Skipped Outcome = "skipped"
)

// RunStarted is the first event of a run. Paths of trails are relative to Dir, or absolute.
type RunStarted struct {
	Trails  int    `json:"trails"`
	Workers int    `json:"workers,omitempty"` // sessions at once
	DryRun  bool   `json:"dryRun,omitempty"`  // no tool is called: trails that pass were only checked
	Shard   string `json:"shard,omitempty"`   // 2/3 is the second of three; empty without sharding
	Plan    string `json:"plan,omitempty"`    // the same for all shards of the same trails and durations
	Root    string `json:"root,omitempty"`    // of the project
	Dir     string `json:"dir,omitempty"`     // where the run was started
	Version string `json:"version,omitempty"` // of trailblaze
	Commit  string `json:"commit,omitempty"`  // of the project in git; empty when it is not known
}

// Case says which replay of a trail is meant.
type Case struct {
	Row     int `json:"row,omitempty"`     // of the file with arguments, from 1; 0 without one
	Repeat  int `json:"repeat,omitempty"`  // the number of the repetition, from 1; 0 if the trail is not repeated
	Repeats int `json:"repeats,omitempty"` // how many there are
}

// RepeatSuffix is the end of the title of a trail that is repeated, empty for others.
func (c Case) RepeatSuffix() string {
	if c.Repeats == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", c.Repeat, c.Repeats)
}

// TrailStarted says that a trail starts. Its scope is known by then.
type TrailStarted struct {
	Case
	File   string `json:"file"`
	Title  string `json:"title"`
	Target string `json:"target"`
	Driver string `json:"driver"`
	Agent  string `json:"agent"`
	Device string `json:"device,omitempty"` // its name in the project or on the command line; empty when there is only one
	// DeviceID identifies the device on its platform, such as a serial number; empty when it is not known.
	DeviceID string `json:"deviceId,omitempty"`
	Steps    int    `json:"-"`
}

// ServerStarted says that a tool server runs and has listed its tools.
type ServerStarted struct {
	Server     string `json:"server"`
	Tools      int    `json:"tools"`
	DurationMs int64  `json:"durationMs"`
}

// StepStarted says that step Index, from 1, of Of starts. The steps of the teardown are numbered after the others. Of
// includes them only in the events of these steps.
type StepStarted struct {
	Index int    `json:"index"`
	Of    int    `json:"of"`
	Text  string `json:"text"`
	Kind  string `json:"kind"` // step, verify, trailhead, tools, use or teardown
	// Within is the number of the step whose trail this step belongs to: 3, or 3.2 for the second step of the trail
	// that step 3 uses; empty for a step of the trail itself.
	Within string `json:"within,omitempty"`
}

// Number returns the number of the step: 3, or 3.2 for the second step of the trail that step 3 uses.
func (e StepStarted) Number() string { return stepNumber(e.Within, e.Index) }

func stepNumber(within string, index int) string {
	if within == "" {
		return strconv.Itoa(index)
	}
	return within + "." + strconv.Itoa(index)
}

// CallStarted says that a call is about to be sent.
type CallStarted struct {
	Call   string         `json:"call"` // unique in the session
	Tool   string         `json:"tool"`
	Source string         `json:"source"`
	Args   map[string]any `json:"args"`
}

// CallProgress is a progress message of a running call. In JSON it is a log record.
type CallProgress struct {
	Call    string
	Tool    string
	Message string
}

// MarshalJSON encodes the message as a Log with the id of the call.
func (e CallProgress) MarshalJSON() ([]byte, error) {
	return marshal(logFields{Level: "info", Source: e.Tool, Message: e.Message, Call: e.Call})
}

// CallFinished says how a call ended.
type CallFinished struct {
	Call       string     `json:"call"`
	Tool       string     `json:"tool"`
	OK         bool       `json:"ok"`
	Text       string     `json:"text"`
	Error      string     `json:"error"` // empty when OK
	Kind       fault.Kind `json:"kind"`
	DurationMs int64      `json:"durationMs"`
	Optional   bool       `json:"optional,omitempty"` // its failure does not fail the step
	Soft       bool       `json:"soft,omitempty"`     // its failure fails the trail only at its end
	// Details are what programs may read of a failure, such as the number of tries to find an element.
	Details map[string]any `json:"details,omitempty"`
	// Notes say why the call may not have done or checked what was meant, although it succeeded: see tool.Result.
	Notes []string `json:"notes,omitempty"`
}

// StepFinished says how a step ended.
type StepFinished struct {
	Index   int     `json:"index"`
	Outcome Outcome `json:"outcome"`
	Within  string  `json:"within,omitempty"` // see StepStarted
}

// Number returns what StepStarted.Number returned.
func (e StepFinished) Number() string { return stepNumber(e.Within, e.Index) }

// Evidence says that a file was added to the session's folder.
type Evidence struct {
	File  string `json:"file"`  // below the session's folder, with slashes
	Title string `json:"title"` // what it shows
	Step  int    `json:"step"`  // that was running, from 1; 0 outside of steps
	Call  string `json:"call"`  // id of the call that it belongs to; empty outside of calls
	// HasSecret says that a secret was found in data that is not text, so that reports do not show it.
	HasSecret bool `json:"hasSecret,omitempty"`
}

// DeviceNoted is something that happened on the device without a call that asked for it.
type DeviceNoted struct {
	Kind string `json:"kind"` // dialog, download, tab, crash, anr, console or chooser
	Text string `json:"text"`
}

// TrailFinished says how a trail ended. Step is the step that decided the outcome, from 1; 0 when none did. MarshalJSON
// adds the position and the hint to the reason, for readers that use nothing else; Decode removes them again.
type TrailFinished struct {
	Case
	File       string   `json:"file"`
	Title      string   `json:"title"`
	Device     string   `json:"device,omitempty"` // its name in the project or on the command line; empty when there is only one
	Outcome    Outcome  `json:"outcome"`
	Flaky      bool     `json:"flaky"` // passed, but not on the first attempt
	Reason     string   `json:"reason"`
	Hint       string   `json:"hint"`
	Step       int      `json:"step"`
	StepText   string   `json:"stepText"`
	Tool       string   `json:"tool"`    // the call that failed
	Line       int      `json:"line"`    // of the failed call or the use: step in File, from 1; 0 for none
	Snippet    string   `json:"snippet"` // that line and those around it, formatted; may be empty
	DurationMs int64    `json:"durationMs"`
	Attempts   int      `json:"attempts"`
	Artifacts  []string `json:"artifacts"`
	// Used is where the call that failed is, when that is in a trail that File uses; Snippet is then of that trail.
	Used *Position `json:"used,omitempty"`
	// Product is the browser or device that was used, such as Chrome 140.0; empty when none was.
	Product string `json:"product,omitempty"`
	// Earlier are the attempts before the last one.
	Earlier []Attempt `json:"earlier,omitempty"`
	// Failures did not end the trail when they happened, but fail it at its end. Reason has them in words.
	Failures []Failure `json:"failures,omitempty"`
	// Interrupted reports that a signal ended the trail, which the log says.
	Interrupted bool `json:"interrupted,omitempty"`
	// Healed is how many steps of a trail that passed were repaired in its file.
	Healed    int `json:"healed,omitempty"`
	*ModelUse     // of all attempts; nil if no model may be asked
}

// Position is a line of a file.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// FailedAt returns where the call that failed is: in File, or in a trail that it uses. The line is 0 when no call
// failed.
func (e TrailFinished) FailedAt() Position {
	if e.Used != nil {
		return *e.Used
	}
	return Position{e.File, e.Line}
}

// Attempt is an attempt at a trail that did not pass.
type Attempt struct {
	Outcome    Outcome `json:"outcome"`
	Reason     string  `json:"reason"`
	Session    string  `json:"session,omitempty"`
	DurationMs int64   `json:"durationMs"`
}

// Failure is something for which a trail fails at its end, after its other calls were made.
type Failure struct {
	Kind     string `json:"kind"` // soft for a call, else one of tool.IncidentKinds
	Reason   string `json:"reason"`
	Step     string `json:"step,omitempty"` // the number of the step, such as 3.2; empty outside of steps
	StepText string `json:"stepText,omitempty"`
	Tool     string `json:"tool,omitempty"` // the call that failed, or during or after which it happened
	File     string `json:"file,omitempty"` // of the call
	Line     int    `json:"line,omitempty"`
}

// MarshalJSON encodes the fields of the specification, section 10.3, with position and hint in the reason.
func (e TrailFinished) MarshalJSON() ([]byte, error) {
	type plain TrailFinished
	e.Reason = withHint(e.position()+e.Reason, e.Hint)
	return marshal(plain(e))
}

// position returns what the reason begins with in JSON; it is empty when the reason has a position already.
func (e TrailFinished) position() string {
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

// RunFinished is the last event of a run.
type RunFinished struct {
	Passed     int      `json:"passed"`
	Failed     int      `json:"failed"`
	Errors     int      `json:"errors"`
	Skipped    int      `json:"skipped"`
	Flaky      int      `json:"flaky"`
	ExitCode   int      `json:"exitCode"`
	DurationMs int64    `json:"durationMs"`
	NotRun     []NotRun `json:"notRun,omitempty"` // trails that were not started
	// Repeated sums up each trail that is repeated, with a row and on a device.
	Repeated  []Repeated `json:"repeated,omitempty"`
	Assisted  int        `json:"assisted,omitempty"` // trails that passed with calls from a model
	Healed    int        `json:"healed,omitempty"`   // trails that passed when they were repaired
	*ModelUse            // of all trails; nil if no model may be asked
}

// Repeated is how the repetitions of a trail ended. Runs is how many ended, of Of.
type Repeated struct {
	File    string `json:"file"`
	Title   string `json:"title"` // with the row, without the number of a repetition
	Device  string `json:"device,omitempty"`
	Row     int    `json:"row,omitempty"`
	Of      int    `json:"of"`
	Runs    int    `json:"runs"`
	Failed  int    `json:"failed"`
	Errors  int    `json:"errors"`
	Skipped int    `json:"skipped"`
	Flaky   int    `json:"flaky"`
}

// CountRepeat adds a finished trail to Repeated, if it is repeated.
func (e *RunFinished) CountRepeat(t TrailFinished) {
	if t.Repeats == 0 {
		return
	}
	i := slices.IndexFunc(e.Repeated, func(r Repeated) bool { return r.File == t.File && r.Device == t.Device && r.Row == t.Row })
	if i < 0 {
		title := strings.TrimSuffix(t.Title, t.RepeatSuffix())
		e.Repeated = append(e.Repeated, Repeated{File: t.File, Title: title, Device: t.Device, Row: t.Row, Of: t.Repeats})
		i = len(e.Repeated) - 1
	}
	r := &e.Repeated[i]
	r.Runs++
	switch t.Outcome {
	case Failed:
		r.Failed++
	case Error:
		r.Errors++
	case Skipped:
		r.Skipped++
	case Passed:
		if t.Flaky {
			r.Flaky++
		}
	}
}

// Count adds a finished trail.
func (e *RunFinished) Count(o Outcome, flaky bool, use *ModelUse) {
	e.ModelUse = e.Plus(use)
	switch o {
	case Passed:
		e.Passed++
		if use != nil && use.Mode == Assisted {
			e.Assisted++
		}
		if use != nil && use.Mode == Healed {
			e.Healed++
		}
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

// NotRun is a trail that the run ended before.
type NotRun struct {
	Case
	File   string `json:"file"`
	Title  string `json:"title"`
	Device string `json:"device,omitempty"`
}

// Log is any other message. Level is debug, info, warn or error.
type Log struct {
	Level   string `json:"level"`
	Source  string `json:"source"`
	Message string `json:"message"`
	Hint    string `json:"-"`
}

// logFields are the fields of a log record in JSON.
type logFields struct {
	Level   string `json:"level"`
	Source  string `json:"source"`
	Message string `json:"message"`
	Call    string `json:"call,omitempty"`
}

// MarshalJSON encodes the fields of the specification, section 10.3. The hint is part of the message.
func (e Log) MarshalJSON() ([]byte, error) {
	return marshal(logFields{Level: e.Level, Source: e.Source, Message: withHint(e.Message, e.Hint)})
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
func (DeviceNoted) Type() string { return "device.noted" }

// Type implements Event.
func (TrailFinished) Type() string { return "trail.finished" }

// Type implements Event.
func (RunFinished) Type() string { return "run.finished" }

// Type implements Event.
func (Log) Type() string { return "log" }
