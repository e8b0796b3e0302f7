package run

import (
	"context"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Single is one call by hand.
type Single struct {
	Tool    string
	Args    func(t *discover.Tool) (map[string]any, error) // tokens in them are filled in
	Memory  map[string]string
	Secrets map[string]string
	Record  bool // it is refused when its tool cannot be recorded
}

// Called is what came of a call by hand.
type Called struct {
	Result tool.Result  // the tool's, whatever it says
	Calls  []trail.Call // what a trail would record of it; nil when that is nothing
	Left   []string     // what is not in the calls though it happened, for people
	Log    string       // what the tool's server wrote, kept when the call did not succeed; empty when it wrote nothing
	Logs   []string     // the same of the other servers
}

// Call makes one call in a session of its own. The error says why there is no result. What the device keeps is left in the logs
// folder, and so is what the servers wrote when the session does not end well.
func Call(ctx context.Context, setup Setup, sc scope.Scope, o Single) (Called, error) {
	id := newSessionID(o.Tool, setup.Now())
	dir := filepath.Join(setup.Project.LogsDir, id)
	if makeSessionDir(dir) != nil {
		dir = "" // nothing is kept
	}
	out, own, err := o.call(ctx, setup, sc, opening{
		id: id, dir: dir, emit: setup.Stream.Session(id, "", nil), needs: []string{o.Tool},
	})
	if dir == "" {
		return out, err
	}
	keep := worthReading(out, err) && outside(ctx) == nil
	for _, name := range logNames(setup.Project.ServersFor(sc.Target.ID)) {
		path := filepath.Join(dir, name)
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
	_ = os.Remove(dir) // when it is empty, as the next one
	_ = os.Remove(setup.Project.LogsDir)
	return out, err
}

// worthReading reports whether the logs may say more about how a call ended: not when it was not made as it was written.
func worthReading(out Called, err error) bool {
	switch fault.KindOf(err) {
	case fault.Misuse, fault.UnknownTool, fault.InvalidArguments, fault.UnknownValue:
		return false
	default:
		return err != nil || !out.Result.OK
	}
}

// call makes the call; own is the name of the log of the tool's server, if it has one.
func (o Single) call(ctx context.Context, setup Setup, sc scope.Scope, open opening) (out Called, own string, err error) {
	s, err := openSession(ctx, setup, sc, open)
	if err != nil {
		return Called{}, "", first(outside(ctx), err)
	}
	defer s.close(ctx)
	t, err := s.registry.Load().Find(o.Tool)
	if err != nil {
		return Called{}, "", err
	}
	if o.Record && !t.IsRecordable && !t.IsDelegating {
		return Called{}, "", fault.New(fault.Misuse, "leave --save out; its server says so in the tool's _meta or in its registry",
			"tool %q is not recordable, so that its call cannot be saved", t.Name)
	}
	call := trail.Call{Tool: t.Name}
	if call.Args, err = o.Args(t); err != nil {
		return Called{}, "", err
	}
	if err := argsFault(t, unfit(t, call.Args)); err != nil {
		return Called{}, "", err
	}
	p := newPlayer(s, trail.NewValues(trail.Sources{Memory: o.Memory, Secrets: o.Secrets}))
	p.byHand = true
	_, args, err := p.ready(call)
	if err != nil {
		return Called{}, "", err
	}
	end := p.invoke(s.ctx, p.trail.next(false), t, args, call)
	if v := p.judge(end); v.outcome == event.Error {
		return Called{}, s.logName(t.Source.Name), withoutTrail(v.cause)
	}
	return Called{Result: end.result, Calls: end.calls, Left: p.left}, s.logName(t.Source.Name), nil
}

// withoutTrail takes advice about trails out of an error.
func withoutTrail(err error) error {
	e := fault.As(err)
	if e == nil || e.Hint != crashHint {
		return err
	}
	with := *e
	with.Hint = lookHint
	return &with
}
