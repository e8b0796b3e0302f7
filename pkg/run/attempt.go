package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// plan is one trail made ready: its file, scope, values and the steps with the calls that this device replays.
type plan struct {
	path    string
	title   string
	lane    *lane
	file    *trail.File
	scope   scope.Scope
	args    map[string]any
	steps   []step
	lineage []string // the device's lineage, narrow first
	decided verdict  // without a session; outcome empty when it needs one
	early   *early   // a session that opens ahead of the trail's turn; may be nil
	emit    *event.Emitter
	retain  evidence
}

// step is a trail's step with the recording that was chosen for the device.
type step struct {
	trail.Step
	index      int
	calls      []trail.Call
	needsAgent bool
}

// runCase makes a trail ready and tries it until it passes or the attempts are used up. The verdict has no outcome when ctx ended before
// the trail began.
func (r *runner) runCase(ctx context.Context, c testCase) verdict {
	at := r.Now()
	ready, ok := r.ahead.of(c)
	if !ok {
		ready.plan, ready.err = r.prepare(ctx, c)
	}
	p := ready.plan
	if ready.err != nil {
		v := broken(ready.err)
		v.attempts, v.took = 1, r.Now().Sub(at)
		r.Stream.Session("", p.path, nil).Emit(p.finished(v))
		return v
	}
	if p.decided.outcome == "" && !r.DryRun {
		leave, ok := c.lane.enter(ctx, p.scope)
		if !ok {
			return verdict{}
		}
		defer leave()
		at = r.Now()
	}
	defer func() { p.retain.close() }()
	v := r.attempts(ctx, p)
	if r.Record != "" && v.outcome != event.Passed {
		p.emit.Log("warn", "recording", r.Record+" is not written, because the trail did not pass", "")
	}
	v.took = r.Now().Sub(at)
	done := p.finished(v)
	done.Snippet = r.snippet(p.path, v)
	if v.outcome == event.Failed || v.outcome == event.Error {
		done.Artifacts = p.retain.files()
	}
	p.emit.Emit(done)
	return v
}

// attempts tries a trail as often as the options allow.
func (r *runner) attempts(ctx context.Context, p *plan) verdict {
	v := r.attempt(ctx, p)
	for v.attempts = 1; v.worthRetrying() && v.attempts <= r.Retries && ctx.Err() == nil; {
		p.emit.Log("warn", "run", fmt.Sprintf("attempt %d of %d: %s: %s", v.attempts, r.Retries+1, v.outcome, v.reason), "")
		p.retain.close()
		attempts := v.attempts + 1
		v = r.attempt(ctx, p)
		v.attempts = attempts
	}
	return v
}

// snippet shows the line of the call that decided, as the file is now.
func (r *runner) snippet(path string, v verdict) string {
	if v.column == 0 {
		return ""
	}
	text := r.withSnippets(path, fault.Problems{{Line: v.line, Column: v.column}})[0].Snippet
	for _, hidden := range v.hidden {
		if hidden != "" && !trail.HasToken(hidden) {
			text = strings.ReplaceAll(text, hidden, "{{hidden}}")
		}
	}
	return text
}

func (p *plan) finished(v verdict) event.TrailFinished {
	return event.TrailFinished{
		File: p.path, Title: p.title, Device: p.lane.name, Outcome: v.outcome, Flaky: v.flaky(),
		Reason: v.reason, Hint: v.hint, Step: v.step, StepText: v.stepText, Tool: v.tool, Line: v.line,
		DurationMs: v.took.Milliseconds(), Attempts: v.attempts, Artifacts: []string{},
	}
}

// prepare reads a trail and works out everything that needs no server. The error is what is wrong with the file or its scope;
// the plan then has only its path and title.
func (r *runner) prepare(ctx context.Context, c testCase) (*plan, error) {
	p := &plan{path: c.path, title: trailName(c.path), lane: c.lane}
	file, problems := readTrail(c.path, r.resolve(c.path))
	if len(problems) > 0 {
		return p, problems
	}
	if problem, wrong := CheckTarget(r.Project, file); wrong && c.lane.setup.Request.FlagTarget == "" {
		return p, r.withSnippets(c.path, fault.Problems{problem})
	}
	p.file = file
	if named := cmp.Or(file.Config.Title, file.Config.ID); named != "" {
		p.title = named
	}
	p.title = c.title(p.title)
	var err error
	if p.scope, err = scope.Resolve(c.lane.request(file)); err != nil {
		return p, err
	}
	if p.lineage, err = c.lane.lineage(ctx, p.scope); err != nil {
		return p, err
	}
	if p.args, err = r.args(file, c); err != nil {
		return p, err
	}
	p.steps = steps(file, p.lineage)
	if reason, skip := file.SkipReason(p.lineage); skip {
		p.decided = skipped(reason)
	} else {
		p.decided = r.unrecorded(p, p.lineage)
	}
	return p, r.checkRecord(p)
}

// lineage is what the user says of the device, else what its backend does, else the platform.
func (l *lane) lineage(ctx context.Context, sc scope.Scope) ([]string, error) {
	if len(l.classifiers) > 0 {
		return trail.Lineage(l.classifiers), nil
	}
	classifiers := []string{sc.Driver.Platform.Lower()}
	if d, ok := l.setup.deviceFor(sc.Driver.Key); ok {
		more, err := d.Backend.Classifiers(ctx)
		if err != nil {
			return nil, err
		}
		classifiers = append(classifiers, more...)
	}
	return trail.Lineage(classifiers), nil
}

// request adds what the trail says about its scope.
func (l *lane) request(file *trail.File) scope.Request {
	req := l.setup.Request
	req.TrailTarget = file.Config.Target
	req.TrailPlatform = file.Config.Platform
	classifiers := l.classifiers
	if len(classifiers) == 0 {
		classifiers = likelyPlatform(req, file)
	}
	req.TrailDriver = file.Driver(trail.Lineage(classifiers))
	return req
}

// likelyPlatform is the platform whose driver pin counts while the driver itself is still open: the one that somebody named,
// strongest first, or the only one that the trail pins.
func likelyPlatform(req scope.Request, file *trail.File) []string {
	ofDriver := func(name string) string {
		d, _ := scope.ParseDriver(name)
		return d.Platform.Lower()
	}
	pinned := ""
	if len(file.Config.Devices) == 1 {
		pinned, _, _ = strings.Cut(file.Config.Devices[0].Classifier, "-")
	}
	for _, name := range []string{
		ofDriver(req.FlagDriver), req.FlagPlatform, req.TrailPlatform, pinned, ofDriver(req.EnvDriver), ofDriver(req.ProjectDriver), req.ProjectPlatform,
	} {
		if name != "" {
			return []string{strings.ToLower(name)}
		}
	}
	return nil
}

func (r *runner) args(file *trail.File, c testCase) (map[string]any, error) {
	var row map[string]any
	if c.row >= 0 {
		row = r.ArgRows[c.row]
	}
	return trail.ResolveArgs(file.Config.Args, r.Args, row)
}

func steps(file *trail.File, lineage []string) []step {
	var all []trail.Step
	if file.Trailhead != nil {
		all = append(all, *file.Trailhead)
	}
	all = append(all, file.Steps...)
	out := make([]step, len(all))
	for i, s := range all {
		calls, found := s.Lookup(lineage)
		out[i] = step{Step: s, index: i + 1, calls: calls, needsAgent: !found}
	}
	return out
}

// unrecorded gives the verdict on a trail that cannot be replayed as it is: no step to execute, or a step for an agent.
func (r *runner) unrecorded(p *plan, lineage []string) verdict {
	if len(p.steps) == 0 {
		return broken(fault.New(fault.Server, "add steps under trail:", "the trail has no step to execute"))
	}
	open := slices.DeleteFunc(slices.Clone(p.steps), func(s step) bool { return !s.needsAgent })
	switch {
	case len(open) == 0:
		return verdict{}
	case !r.SkipUnrecorded:
		return failed(needsAgent(open[0], lineage)).at(open[0].index, open[0].Text, "", open[0].Line)
	case len(open) == len(p.steps):
		return skipped("no step is recorded for " + strings.Join(lineage, ", "))
	}
	return verdict{}
}

func needsAgent(s step, lineage []string) error {
	const hint = "record the step for this device, or run with --unrecorded skip"
	if !s.Recordable {
		return fault.New(fault.Trail, "run with --unrecorded skip to leave such steps out", "step %d %q is never recorded (recordable: false): it needs an agent on every run", s.index, s.Text)
	}
	have := "nothing is recorded"
	if recorded := s.Classifiers(); len(recorded) > 0 {
		have = "recorded are " + strings.Join(recorded, ", ")
	}
	return fault.New(fault.Trail, hint, "step %d %q has no recording for this device: looked for %s; %s",
		s.index, s.Text, strings.Join(lineage, ", "), have)
}

// announce opens the trail in the event stream.
func (r *runner) announce(p *plan, sessionID string, kept evidence) {
	p.retain = kept
	var extra event.Handler
	if kept.log != nil {
		extra = kept.log
	}
	p.emit = r.Stream.Session(sessionID, p.path, extra)
	p.emit.Emit(event.TrailStarted{
		File: p.path, Title: p.title, Target: p.scope.Target.ID, Driver: p.scope.Driver.Key, Agent: string(p.scope.Location), Device: p.lane.name,
		Steps: len(p.steps),
	})
}

// attempt runs a trail once, in a session of its own.
func (r *runner) attempt(ctx context.Context, p *plan) verdict {
	if p.decided.outcome != "" {
		r.announce(p, "", evidence{})
		return p.decided.once()
	}
	if r.DryRun {
		r.announce(p, "", evidence{})
		return r.dryRun(ctx, p)
	}
	s, err := r.open(ctx, p)
	if err != nil {
		v := broken(first(outside(ctx), err))
		v.final = permanent(err)
		return v
	}
	defer s.close(ctx)
	r.ahead.more()
	v := r.replay(ctx, s, p)
	if r.Evidence != EvidenceOff && (v.outcome == event.Failed || v.outcome == event.Error) {
		s.collect(ctx, "failure")
	}
	return v
}

// open announces the trail and opens its session, or takes the one that was opened ahead.
func (r *runner) open(ctx context.Context, p *plan) (*session, error) {
	var id string
	if p.early != nil {
		id = p.early.id
	} else {
		id = r.newID(p)
	}
	r.announce(p, id, r.openEvidence(id))
	if s := r.ahead.take(p); s != nil {
		return s, nil
	}
	return openSession(ctx, p.lane.setup, p.scope, r.opening(p, id, p.retain.dir, p.emit))
}

func (r *runner) newID(p *plan) string {
	return newSessionID(r.Redactor.Text(trailName(p.path)), r.Now())
}

func (r *runner) opening(p *plan, id, dir string, emit *event.Emitter) opening {
	return opening{id: id, dir: dir, trailDir: filepath.Dir(r.resolve(p.path)), emit: emit, needs: p.tools()}
}

func first(errs ...error) error {
	return errs[slices.IndexFunc(errs, func(e error) bool { return e != nil })]
}

// replay checks every call and then makes them.
func (r *runner) replay(ctx context.Context, s *session, p *plan) verdict {
	if misfits, _ := checkCalls(s.registry.Load(), p, false); len(misfits) > 0 {
		return r.argumentsWrong(misfits).once()
	}
	player := newPlayer(s, r.values(p))
	v := r.play(ctx, player, p)
	r.saveRecording(p, player)
	return r.writeRecord(p, player.steps, v)
}

// play makes the calls of every step.
func (r *runner) play(ctx context.Context, player *player, p *plan) verdict {
	for _, st := range p.steps {
		v := player.step(st, len(p.steps))
		if r.Evidence == EvidenceAlways {
			player.session.collect(ctx, fmt.Sprintf("steps/%02d", st.index))
		}
		if v.outcome != event.Passed && v.outcome != event.Skipped {
			return v
		}
	}
	if cause := player.session.broke(); cause != nil {
		return broken(cause)
	}
	v := passed()
	if n := p.openSteps(); n > 0 {
		v.reason = fmt.Sprintf("%d of %d steps skipped: they have no recording for this device", n, len(p.steps))
	}
	return v
}

// servers are the entries that the trail's sessions start.
func (p *plan) servers() []config.Server { return p.lane.setup.Project.ServersFor(p.scope.Target.ID) }

// classifier is the key under which the device's calls are recorded.
func (p *plan) classifier() string { return p.lineage[0] }

// tools are those that recorded calls name.
func (p *plan) tools() []string {
	var names []string
	for _, s := range p.steps {
		for _, c := range s.calls {
			names = append(names, c.Tool)
		}
	}
	return names
}

// openSteps counts the steps that need an agent.
func (p *plan) openSteps() int {
	n := 0
	for _, s := range p.steps {
		if s.needsAgent {
			n++
		}
	}
	return n
}

func (r *runner) values(p *plan) *trail.Values {
	return trail.NewValues(trail.Sources{Trail: p.file.Config.Memory, Memory: r.Memory, Secrets: r.Secrets, Args: p.args})
}
