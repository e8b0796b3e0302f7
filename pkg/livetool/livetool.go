// Package livetool has the seven tools with which an agent works in a live session: it sees the screen, makes calls,
// and saves what was recorded as a trail (specification, section 18.2). At most one session is open at a time.
//
// It is independent of how calls reach it, such as MCP or a loop with a model, and of how a session is opened: flags,
// projects, devices.
package livetool

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
)

// Wording returns how agents write their requests, for the hints of their sessions.
func Wording() fault.Wording {
	return fault.Wording{ListTools: "toolbox lists the tools", GiveArg: "give it in args: "}
}

// Start says which session to open. What is empty is as the user has chosen it.
type Start struct {
	Device string `json:"device"`
	Target string `json:"target"`
	Memory Texts  `json:"memory"`
}

// Opened is an open session.
type Opened struct {
	Session live.API
	Notes   []string // for the agent, such as that no project was found
}

// Options are the options of the tools.
type Options struct {
	// Open opens a live session, whose lifetime ctx bounds. Calls of it run one after another.
	Open func(ctx context.Context, s Start) (Opened, error)
	// Output returns a text as the agent may see it: without secrets and control characters.
	Output func(text string) string
	// AllTools makes each tool that the open session offers a tool of its own, see [Tools.Offered].
	AllTools bool
	// ToolsChanged is called when a session was opened or ended, or the tools of the open one have changed, so that
	// [Tools.Offered] and [Tools.Registry] return others. May be nil.
	ToolsChanged func()
	// RunWait is after how long a request for a replay is answered before the replay has ended; 0 for the default.
	RunWait time.Duration
}

const runWait = 45 * time.Second

// Tools are the tools of an agent, with its live session. Its methods may be called from any goroutine.
type Tools struct {
	opts     Options
	own      []definition
	sessions sessions
	replays  replays

	ctx    context.Context //nolint:containedctx // the lifetime: sessions and work for calls end with it
	cancel context.CancelCauseFunc
	closed sync.Once
}

// New returns tools without a session. [Tools.Close] closes them; the end of ctx ends what they do.
func New(ctx context.Context, o Options) *Tools {
	o.RunWait = cmp.Or(o.RunWait, runWait)
	ts := &Tools{opts: o, own: definitions()}
	ts.ctx, ts.cancel = context.WithCancelCause(ctx)
	ts.sessions = sessions{tools: ts, slot: make(chan struct{}, 1)}
	ts.replays.byID = map[string]*replay{}
	return ts
}

// List returns the seven tools.
func (ts *Tools) List() []Definition { return described(ts.own) }

// Offered returns the tools that the open session offers as tools of their own, with [Options.AllTools].
func (ts *Tools) Offered() []Definition { return described(ts.sessions.listed()) }

func described(definitions []definition) []Definition {
	list := make([]Definition, len(definitions))
	for i, d := range definitions {
		list[i] = d.Definition
	}
	return list
}

// Call calls a tool with an object of arguments. It opens a session for a tool that needs one. The end of ctx cancels
// the call.
func (ts *Tools) Call(ctx context.Context, name string, args json.RawMessage) Answer {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ts.ctx, func() { cancel(context.Cause(ts.ctx)) })()
	all := slices.Concat(ts.own, ts.sessions.listed())
	i := slices.IndexFunc(all, func(d definition) bool { return d.Name == name })
	if i < 0 {
		return ts.finished(Answer{}, fault.New(fault.UnknownTool, "step calls the tools that toolbox lists", "unknown tool %q", name))
	}
	return ts.finished(all[i].answer(ts, ctx, args))
}

// finished returns what the agent receives. It is the only place that makes answers, so that every text goes through
// Options.Output.
func (ts *Tools) finished(a Answer, err error) Answer {
	if err != nil {
		a = Answer{Text: faultText(err), Failed: true}
	}
	for _, note := range ts.sessions.takeNotes() {
		a.Text += "\nnote: " + note
	}
	a.Text = pagetext.CutMiddle(ts.opts.Output(a.Text), max(maxAnswer, a.limit))
	return a
}

// Reset closes the session and forgets its recording: another agent begins.
func (ts *Tools) Reset() {
	ts.replays.cancelAll(fault.New(fault.Cancelled, "", "another client began"))
	ts.sessions.forget()
}

// Close ends what the tools do and closes the session. It may be called again.
func (ts *Tools) Close(ctx context.Context) {
	ts.closed.Do(func() {
		ts.cancel(fault.New(fault.Cancelled, "", "the session was closed"))
		ts.replays.wait()
		ts.sessions.close(ctx)
	})
}
