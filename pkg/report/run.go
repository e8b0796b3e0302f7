package report

import (
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Limits of a Run, so that browsers can open the page of a large one. The Run has the number of what was left out.
const (
	maxText     = 16 << 10 // bytes of arguments, a result or a message; an error may have maxReason
	maxAllText  = 24 << 20 // bytes of all of them; beyond it each may have lessText
	lessText    = 256      // bytes
	maxReason   = 64 << 10 // bytes of the reason of a case, its hint, and the error of a call
	maxSnippet  = 8 << 10  // bytes of the snippet of a failure
	maxLog      = 300      // lines of the log of a case
	maxNotes    = 10       // notes of the calls of a case
	maxFiles    = 400      // files of a case
	maxInner    = 500      // nested calls of a case
	maxAllInner = 50_000   // of all cases
	maxAllCalls = 50_000   // other calls of all cases; beyond it only those that failed
	maxAllSteps = 50_000   // of all cases; beyond it only those that did not pass, or have calls
)

// Run is what the events of a run, or of sessions, say. Every renderer reads it. Fold adds the events one by one, so
// that it can be read while the run goes on. Its memory is bounded. One goroutine may use it at a time.
type Run struct {
	Started  event.RunStarted  // the first run; zero for sessions of earlier runs
	Current  event.RunStarted  // the last run: with several shards there are several
	Runs     int               // number of runs
	Planned  int               // number of cases that the runs said they have
	Ended    bool              // the last run has ended
	Finished event.RunFinished // sums up what has ended so far
	Began    time.Time         // time of the earliest event
	Last     time.Time         // time of the last event
	Running  []*Case           // which started, and have neither ended nor been followed by another attempt
	Cases    []*Case           // all, in the order in which they began
	Log      []LogLine         // outside of cases
	// Interrupted are the cases of [ReadResults] that did not end. They count as errors.
	Interrupted []event.TrailFinished
	Lost        int // number of lines of [ReadResults] that could not be decoded

	logsDir  string
	forget   bool // keep only running cases, with the step and the call that are running
	open     map[caseKey]*Case
	text     int // bytes kept
	inner    int // nested calls kept
	calls    int // other calls kept
	steps    int // steps kept
	maxCalls int // maxAllCalls, except in tests
	maxSteps int // maxAllSteps, except in tests
}

// caseKey identifies a case by its session, or by the trail when it has none.
type caseKey struct {
	session string
	trailID
}

// Case is one attempt at a replay of a trail, in a session or, when it was skipped or only checked, without one. The
// session of an agent is a case without a trail.
type Case struct {
	event.TrailStarted
	Session   string
	Dir       string               // the session's folder; empty without a session
	Finished  *event.TrailFinished // nil when it runs, did not end, or another attempt followed
	Earlier   []*Case              // the attempts before it
	Retried   bool                 // it is an earlier attempt of another case
	Servers   []event.ServerStarted
	Steps     []*Step
	MoreSteps int   // number of steps that are left out
	Reached   int   // number of steps of the trail itself that started
	Call      *Call // of the trail itself, that is running; nil for none
	// Failed is the last call of the trail itself that failed and was not optional, nil for none. It has no texts.
	Failed       *event.CallFinished
	Use          *event.ModelUse      // of the requests so far, nil for none
	Heals        []event.HealProposed // repairs of recordings that broke
	Since        time.Time            // when the current step began, or in it a call began or ended
	Notes        []Note               // the first ones
	MoreNotes    int                  // number of notes that are left out
	Log          []LogLine
	MoreLog      int              // number of lines that are left out
	Lost         int              // number of lines of the session's log that could not be decoded
	FailureFiles []event.Evidence // what the device showed when the case failed
	Files        []event.Evidence // others that belong to no step or call
	MoreFiles    int              // number of files that are left out
	HasTrace     bool
	From, To     time.Time // of the first and the last event

	key       caseKey
	callsByID map[string]*Call
	files     int // number of files, including those of steps and calls
	inner     int // number of nested calls
}

// Step is a step of a case. Steps of a trail that a step uses follow that step; see StepStarted.Within. Calls outside
// of steps are in a step without an index.
type Step struct {
	event.StepStarted
	Outcome   event.Outcome // empty when it did not end
	Calls     []*Call
	MoreCalls int // number of calls that are left out
	Files     []event.Evidence
	From, To  time.Time           // To is zero when it did not end
	Task      *Task               // nil unless a model carried it out, or repaired its recording
	Heal      *event.HealProposed // nil unless a repair of its recording is proposed
}

// Call is a call of a step, or one that is nested in another.
type Call struct {
	event.CallStarted                     // without the arguments
	Done              *event.CallFinished // nil when it did not end; it has no texts
	Preview           string              // of the arguments, in one line
	Arguments         Excerpt             // as JSON
	Brief             string              // of the result or the error, in one line
	Result            Excerpt             // or the error
	Progress          []Excerpt
	Calls             []*Call
	MoreCalls         int // number of nested calls that are left out
	Files             []event.Evidence
	From, To          time.Time // To is zero when it did not end

	step *Step // nil for a nested call
}

// Note says why a call or a task that succeeded may not have done what was meant.
type Note struct {
	Step  *Step  // nil outside of steps
	About string // the tool of the call, or the model
	Text  string
}

// LogLine is a message, or what the device noted without a call that asked for it.
type LogLine struct {
	Level    string
	Source   string
	Message  Excerpt
	After    time.Duration // since the case, or the run, began
	Incident bool          // the device noted it
}

// Excerpt is a text without control characters, with a note when it was truncated.
type Excerpt struct {
	Text string
	Note string // empty when the text is complete
}

// NewRun returns an empty Run whose sessions have their folders in logsDir.
func NewRun(logsDir string) *Run {
	return &Run{logsDir: logsDir, open: map[caseKey]*Case{}, maxCalls: maxAllCalls, maxSteps: maxAllSteps}
}

// newStreamedRun returns a Run for a renderer that writes a case when it ends. It has only the running cases, and of
// them the notes and what is current: the step, the call and its last progress message.
func newStreamedRun() *Run { return &Run{open: map[caseKey]*Case{}, forget: true} }

// endings returns the events that end the cases which are running, when no others follow.
func (r *Run) endings() []event.Record {
	records := make([]event.Record, len(r.Running))
	for i, c := range r.Running {
		records[i] = event.Record{Time: r.Last, Session: c.Session, Trail: c.key.file, Event: event.TrailFinished{
			Case: c.Case, File: c.File, Title: c.Title, Device: c.Device, Outcome: event.Error, Reason: "the run ended before this trail did",
			DurationMs: r.Last.Sub(c.From).Milliseconds(), Attempts: 1, Artifacts: []string{},
		}}
	}
	return records
}

// id identifies the replay that the case is an attempt at.
func (c *Case) id() trailID { return startedID(c.TrailStarted) }

// Step returns the current or last step, nil when none has started.
func (c *Case) Step() *Step {
	if len(c.Steps) == 0 {
		return nil
	}
	return c.Steps[len(c.Steps)-1]
}

// topNumber returns the number of the step of the trail itself that the step is, or belongs to.
func (s *Step) topNumber() string {
	number, _, _ := strings.Cut(s.Number(), ".")
	return number
}

// eachCall calls f for calls and the calls within them, in the order in which they began.
func eachCall(calls []*Call, f func(*Call)) {
	for _, c := range calls {
		f(c)
		eachCall(c.Calls, f)
	}
}
