// Package agent lets a model carry out tasks in a live session: the steps and verifies of a trail that have no recording
// (specification, section 22). A model proposes calls. They are checked and made as those of any agent, and a task ends as
// passed only with evidence that is checked here.
//
// It is independent of how a model is reached and configured, and of how a session was opened.
package agent

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Session is what an agent needs of a live session. A [live.API] is one. Its calls must be those of an agent.
type Session interface {
	Status(ctx context.Context) (live.Status, error)
	Snapshot(ctx context.Context, o live.SnapshotOptions) (live.Snapshot, error)
	Look(ctx context.Context, picture bool) (live.Look, error)
	Step(ctx context.Context, r live.StepRequest) (live.StepReport, error)
	Toolbox(ctx context.Context) (live.Toolbox, error)
}

var _ Session = live.API(nil)

// Options are the options of an agent.
type Options struct {
	Model   model.Model
	Context string  // what the user says of the app, sent with each request; at most 4 KB of it are sent
	Images  bool    // the model takes pictures, and may get them
	Budget  *Budget // shared by the agents of a run; nil for no limits
	Used    *Used   // what the trail has used, to which requests are added, such as by earlier attempts; nil for nothing
	// MaxOutputTokens is how many tokens an answer may have, for requests and for budgets; 0 for what models have
	// without settings.
	MaxOutputTokens int
	// Cost returns the cost of an exchange in the unit of the budget. Nil without a price: then costs are unknown,
	// and the budget must not limit them.
	Cost func(model.Usage) float64
	// Replaced is how many checks that did not hold the model may replace by others, in all tasks of the agent. They are
	// listed in the outcomes.
	Replaced int
	// Output returns a text of the session as a model and people may see it: without secrets and control characters. Nil for
	// texts as they are.
	Output func(text string) string
	// Notify is called before a request with its number and after it with the turn. It is called from the goroutine of
	// Do. May be nil.
	Notify func(Progress)
	// ExpectLimit is how long a step waits for the text that it is to bring on the screen, such as while a page is being
	// loaded; 0 for 5 seconds.
	ExpectLimit time.Duration
	// Now returns the time; nil for [time.Now].
	Now func() time.Time
}

// Progress is a request that begins, or a turn that has ended.
type Progress struct {
	Task    model.Task
	Request int   // its number in the task, from 1
	Turn    *Turn // nil before the request
	// Used is what the agent has used so far.
	Used Used
}

// Used counts what requests took.
type Used struct {
	Requests int         `json:"requests"`
	Tokens   model.Usage `json:"tokens"`
	Cost     float64     `json:"cost"` // 0 without a price
}

// Turn is a request with its answer and what became of it.
type Turn struct {
	Sent   []model.Block // the blocks that the request before did not have
	Answer model.Answer
	Usage  model.Usage
	Cost   float64 // 0 without a price
	Took   time.Duration
	Result string // what became of the calls, as the next request says it or would say it
	Err    error  // why the request failed; nil if it was answered
}

// Trail is what a model is told of the trail with a task.
type Trail struct {
	Path    string // relative to the project; for transcripts and events
	Title   string
	Context string   // of its config
	Steps   []string // the texts of all steps, in order
	Index   int      // of the task in Steps
}

// Task is a step or a verify that is to be carried out.
type Task struct {
	Number     string // of the step, see event.StepStarted
	Kind       string // trail.KindStep or trail.KindVerify
	Text       string // what is to be done or checked; it may have tokens
	Recordable bool   // false for a step with recordable: false, for which there may be nothing to do
	MaxRetries int    // how often the task is begun again after it failed
	Trail      Trail
	Memory     map[string]string // values that tokens can use, by name; without secrets
	Broken     *Broken           // the recorded call that the task is to replace; nil for a task without a recording
}

// Broken is a recorded call that failed, in a step with others.
type Broken struct {
	Made, ToCome []trail.Call // calls of the step before and after it
	Failing      trail.Call
	Reason       string // why it failed, as the app has it
}

// Outcome is how a task ended.
type Outcome struct {
	Outcome event.Outcome // Passed, Failed or Error
	// Err says why it did not pass: a fault of a kind of this package, of pkg/model, or of the session. Nil if it passed.
	Err *fault.Error
	// Warnings are for whoever reviews what passed, such as that a check is vacuous.
	Warnings []string
	// Replaced are the checks that did not hold and that others took the place of, in words.
	Replaced []string
	// Checks is how many checks of a verify have held that are not vacuous.
	Checks int
	Turns  []Turn
	Used   Used // in this task
}

// The kinds of a task that failed.
const (
	NotDone fault.Kind = "not done"      // the model says that the task cannot be done, or that what is to be verified does not hold
	Refused fault.Kind = "model refused" // to answer
	NoCall  fault.Kind = "no call"       // the answers had no call that could be read
	Stuck   fault.Kind = "stuck"         // the same calls again and again
	// OverBudget means that the next request could exceed a budget.
	OverBudget fault.Kind = "budget"
)

// Agent carries out the tasks of one trail, or of one session, one after another. It remembers what the model wrote into
// memory, and counts what the trail has used.
type Agent struct {
	opts       Options
	budget     *Budget
	mu         sync.Mutex // guards used: tools may ask while a task waits for them
	used       *Used
	offers     map[string]*offer // by kind of task
	remembered map[string]bool   // names in memory that the model has given a value
	replaced   int               // checks that others took the place of
}

// New returns an agent for a trail.
func New(o Options) *Agent {
	a := &Agent{opts: o, budget: o.Budget, used: o.Used, offers: map[string]*offer{}, remembered: map[string]bool{}}
	if a.budget == nil {
		a.budget = NewBudget(Limits{})
	}
	if a.used == nil {
		a.used = &Used{}
	}
	return a
}

// Used returns what the trail has used so far.
func (a *Agent) Used() Used {
	a.mu.Lock()
	defer a.mu.Unlock()
	return *a.used
}

func (a *Agent) addUsed(usage model.Usage, cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used.add(usage, cost)
}

func (a *Agent) maxOutputTokens() int {
	return cmp.Or(a.opts.MaxOutputTokens, model.Settings{}.OutputLimit())
}

// Do carries out a task in a session. Its calls are recorded there under the text of the task. The end of ctx ends the
// task with an Error of kind Cancelled.
func (a *Agent) Do(ctx context.Context, s Session, task Task) Outcome {
	out := a.newRun(s, task).outcome(ctx)
	a.replaced += len(out.Replaced)
	return out
}

func (a *Agent) newRun(s Session, task Task) *run {
	r := &run{agent: a, session: s, task: task, budget: a.budget, now: a.opts.Now}
	if r.now == nil {
		r.now = time.Now
	}
	r.begun = r.now()
	return r
}

// outcome carries out the task.
func (r *run) outcome(ctx context.Context) Outcome {
	ended := r.do(ctx)
	out := Outcome{Outcome: event.Passed, Warnings: r.warnings, Turns: r.turns, Used: r.used}
	if r.verify != nil {
		out.Replaced, out.Checks = r.verify.replaced, r.verify.held-r.verify.weak
	}
	if ended.err != nil {
		out.Outcome, out.Err = event.Failed, ended.err
		if ended.broken {
			out.Outcome = event.Error
		}
	}
	return out
}
