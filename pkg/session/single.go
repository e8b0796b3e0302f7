package session

import (
	"context"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Single is one call by hand, in a session of its own.
type Single struct {
	Tool string
	Args func(t *discover.Tool) (map[string]any, error) // tokens in them are replaced
	Save bool                                           // the call is refused when its tool cannot be recorded
}

// SingleResult is how a single call ended.
type SingleResult struct {
	Answer   tool.Result  // the result of the tool
	Recorded []trail.Call // what a trail records of it; nil when that is nothing
	Omitted  []string     // calls that are not in Recorded although they were made, as text for people
	Log      string       // path of the log of the tool's server; empty unless the call did not succeed and it wrote some
	Logs     []string     // the same of the other servers
}

// Call opens a session, makes the call and closes the session again. The error is the reason why there is no result.
// Files of the device stay below logsDir, and so do the servers' logs when the call did not succeed.
func (c Single) Call(ctx context.Context, o Options) (SingleResult, error) {
	o.ID = NewID(c.Tool, o.Now())
	o.Dir = filepath.Join(o.Project.LogsDir, o.ID)
	if MakeDir(o.Dir) != nil {
		o.Dir = "" // the call is made without evidence
	}
	o.Emit, o.Tools, o.WithoutTrail = o.Stream.Session(o.ID, "", nil), []string{c.Tool}, true
	out, own, err := c.call(ctx, o)
	if o.Dir == "" {
		return out, err
	}
	keep := logsMatter(out, err) && Interruption(ctx) == nil
	for _, name := range logNames(o.Project.ServersFor(o.Scope.Target.ID)) {
		path := filepath.Join(o.Dir, name)
		switch _, missing := os.Stat(path); {
		case missing != nil:
		case !keep:
			_ = os.Remove(path)
		case name == own:
			out.Log = path
		default:
			out.Logs = append(out.Logs, path)
		}
	}
	RemoveEmptyDir(o.Dir)
	_ = os.Remove(o.Project.LogsDir) // succeeds when it is empty
	return out, err
}

// logsMatter reports whether the servers' logs may say more about how a call ended: not when it was refused as written.
func logsMatter(out SingleResult, err error) bool {
	switch fault.KindOf(err) {
	case fault.Misuse, fault.UnknownTool, fault.InvalidArguments, fault.UnknownValue:
		return false
	default:
		return err != nil || !out.Answer.OK
	}
}

// call makes the call; own is the name of the log file of the tool's server, if it has one.
func (c Single) call(ctx context.Context, o Options) (out SingleResult, own string, err error) {
	s, err := Open(ctx, o)
	if err != nil {
		if cause := Interruption(ctx); cause != nil {
			err = cause
		}
		return SingleResult{}, "", err
	}
	defer s.Close(ctx)
	t, err := s.Registry().Find(c.Tool)
	if err != nil {
		return SingleResult{}, "", err
	}
	if c.Save && !t.IsRecordable && !t.IsDelegating {
		return SingleResult{}, "", fault.New(fault.Misuse, "leave --save out; its server says so in the tool's _meta or in its registry",
			"tool %q is not recordable, so its call cannot be saved", t.Name)
	}
	call := trail.Call{Tool: t.Name}
	if call.Args, err = c.Args(t); err != nil {
		return SingleResult{}, "", err
	}
	if err := argumentError(t, ArgumentProblems(t, call.Args)); err != nil {
		return SingleResult{}, "", err
	}
	for _, problem := range t.MisspeltArgs(call.Args) {
		o.Emit.Log("warn", "tool", problem.Message, "")
	}
	if _, _, err := s.prepare(call, false); err != nil {
		return SingleResult{}, "", err
	}
	done := s.Call(ctx, call)
	own = s.logName(t.Source.Name)
	if done.Outcome == event.Error {
		return SingleResult{}, own, done.Cause
	}
	return SingleResult{Answer: done.Answer, Recorded: done.Recorded, Omitted: s.Recording().Omitted}, own, nil
}
