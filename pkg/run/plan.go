package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// plan is one case made ready for replay: its scope, arguments and the calls that its device replays. It does not
// change once it is made.
type plan struct {
	testCase
	replay.Plan
	title   string
	scope   scope.Scope
	args    map[string]any
	decided trailResult    // of a trail that needs no session; no outcome when it needs one
	tasks   []*replay.Step // for which Options.Assist has the calls
}

// newPlan returns the plan of a case about which only the path is known.
func (r *runner) newPlan(c testCase) *plan { return &plan{testCase: c, title: r.trailName(c.path)} }

// plan reads a trail and works out everything that needs no server. The error says what is wrong with the file or its
// scope; the plan then has only its path and title.
func (r *runner) plan(ctx context.Context, c testCase) (*plan, error) {
	p := r.newPlan(c)
	file, problems := r.loader().Load(c.path, r.resolve(c.path))
	if len(problems) > 0 {
		return p, r.loader().WithSnippets(problems)
	}
	if problem, wrong := replay.CheckTarget(r.Project, file); wrong && c.device.Request.FlagTarget == "" {
		return p, r.loader().WithSnippets(fault.Problems{problem})
	}
	p.title = c.title(cmp.Or(file.Config.Title, file.Config.ID, p.title))
	sc, lineage, unreachable, err := r.resolveScope(ctx, c, file)
	if err != nil {
		return p, err
	}
	p.scope = sc
	p.Plan = r.newReplayPlan(file, lineage)
	if p.args, err = r.args(file, c); err != nil {
		return p, err
	}
	reason, skip := p.SkipReason()
	if skip {
		p.decided = skipped(reason)
	} else {
		p.decided = r.withoutRecording(p)
	}
	if unreachable != nil && (p.decided.Outcome == event.Failed || !skip && p.mayBeRecordedFor(lineage[0])) {
		return p, unreachable
	}
	return p, r.checkRecord(p)
}

// mayBeRecordedFor reports whether a step without a recording has one for some of the devices of a platform.
func (p *plan) mayBeRecordedFor(platform string) bool {
	for s := range replay.Leaves(p.Steps) {
		if s.NeedsAgent && s.HasNarrowClassifiers(platform) {
			return true
		}
	}
	return false
}

// lineage returns the classifiers for which recordings of a trail are looked up. The device is asked only if they
// matter. With an error, which says why it does not respond, they are those of its platform: a phone may not be
// connected, and the trail may not use it.
func (r *runner) lineage(ctx context.Context, c testCase, sc scope.Scope, file *trail.File) ([]string, error) {
	platform := []string{sc.Driver.Platform.Lower()}
	if len(c.device.Classifiers) == 0 && r.Record == "" && !file.HasNarrowClassifiers(platform[0]) {
		return platform, nil
	}
	lineage, err := c.device.Lineage(ctx, sc)
	if err != nil {
		return platform, err
	}
	return lineage, nil
}

// resolveScope returns the scope of a trail on a device, and the classifiers for which its recordings are looked up. With
// unreachable, which says why the device does not respond, they are those of its platform.
func (r *runner) resolveScope(ctx context.Context, c testCase, file *trail.File) (sc scope.Scope, lineage []string, unreachable, err error) {
	request := c.device.request(file)
	if sc, err = scope.Resolve(request); err != nil {
		return sc, nil, nil, err
	}
	lineage, unreachable = r.lineage(ctx, c, sc, file)
	if pinned := file.Driver(lineage); pinned != "" && pinned != request.TrailDriver {
		request.TrailDriver = pinned
		sc, err = scope.Resolve(request)
	}
	return sc, lineage, unreachable, err
}

// request adds what the trail says about its scope.
func (d *deviceQueue) request(file *trail.File) scope.Request {
	return RequestFor(d.Request, file, d.Classifiers)
}

// RequestFor returns a request with what a trail says about its scope. The classifiers are those that are given for the
// device; none where it says them itself.
func RequestFor(req scope.Request, file *trail.File, classifiers []string) scope.Request {
	req.TrailTarget = file.Config.Target
	req.TrailPlatform = file.Config.Platform
	req.RecordedPlatforms = file.RecordedPlatforms()
	if len(classifiers) == 0 {
		classifiers = likelyClassifier(req, file)
	}
	req.TrailDriver = file.Driver(trail.Lineage(classifiers))
	return req
}

// likelyClassifier returns the classifier whose driver pin counts if the driver is not determined yet: that of the platform
// that the strongest source names, or the only one that the trail pins.
func likelyClassifier(req scope.Request, file *trail.File) []string {
	ofDriver := func(name string) string {
		d, _ := scope.ParseDriver(name)
		return d.Platform.Lower()
	}
	pinned, platform := "", ""
	if len(file.Config.Devices) == 1 {
		pinned = file.Config.Devices[0].Classifier
		platform, _, _ = strings.Cut(pinned, "-")
	}
	name := strings.ToLower(cmp.Or(ofDriver(req.FlagDriver), req.FlagPlatform, req.TrailPlatform, platform, ofDriver(req.EnvDriver),
		ofDriver(req.ProjectDriver), req.ProjectPlatform))
	if name == "" {
		sc, _ := scope.Resolve(req) // by the target or the recordings; the caller says why it fails
		name = sc.Driver.Platform.Lower()
	}
	switch name {
	case "":
		return nil
	case platform:
		return []string{pinned}
	}
	return []string{name}
}

func (r *runner) args(file *trail.File, c testCase) (map[string]any, error) {
	var row map[string]any
	if c.row.n > 0 {
		row = r.ArgRows[c.row.n-1]
	}
	return trail.ResolveArgs(file.Config.Args, r.Args, row, r.Wording)
}

// withoutRecording returns the result of a trail that cannot be replayed as it is: it has no step, or one that needs an
// agent. The result has no outcome when the trail can be replayed.
func (r *runner) withoutRecording(p *plan) trailResult {
	if problem, empty := p.File.EmptyProblem(); empty {
		return errored(r.loader().WithSnippets(fault.Problems{problem}))
	}
	all := slices.Collect(replay.Leaves(p.Steps))
	var unrecorded []*replay.Step
	p.tasks, unrecorded = r.needAgent(p)
	switch {
	case len(unrecorded) == 0:
		return trailResult{}
	case !r.SkipUnrecorded:
		s := unrecorded[0]
		return failed(r.needsAgent(p, s)).atStep(s, nil)
	case !slices.ContainsFunc(all, func(s *replay.Step) bool { return !s.NeedsAgent }):
		return skipped("no step is recorded for " + strings.Join(p.Lineage, ", "))
	}
	return trailResult{}
}

// name returns a text that no other replay of the run has.
func (p *plan) name() string { return fmt.Sprintf("%s %s %+v", p.path, p.device.Name, p.event()) }

func (p *plan) assisted() bool { return len(p.tasks) > 0 }

// needAgent returns the steps without a recording for which Assist has the calls, and the others.
func (r *runner) needAgent(p *plan) (tasks, others []*replay.Step) {
	for s := range replay.Leaves(p.Steps) {
		switch {
		case !s.NeedsAgent:
		case r.assistsSteps() && mayAssist(s) && (!r.Proof || !s.Recordable):
			tasks = append(tasks, s)
		default:
			others = append(others, s)
		}
	}
	for s := range replay.Leaves(p.Teardown) {
		if s.NeedsAgent {
			others = append(others, s)
		}
	}
	return tasks, others
}

// assistsSteps reports whether somebody else makes the calls of steps without a recording.
func (r *runner) assistsSteps() bool { return r.Assist != nil && !r.WithoutTasks }

// mayAssist reports whether Assist may have the calls of a step, which is not in the teardown.
func mayAssist(s *replay.Step) bool { return s.Kind == trail.KindStep || s.Kind == trail.KindVerify }

// newReplayPlan returns what a replay of a trail does on a device.
func (r *runner) newReplayPlan(file *trail.File, lineage []string) replay.Plan {
	p := replay.NewPlan(file, lineage)
	for s := range replay.Leaves(p.Steps) {
		if r.IgnoreRecordings && mayAssist(s) && len(s.Calls) > 0 {
			s.Calls, s.NeedsAgent = nil, true
		}
	}
	return p
}

// needsAgent returns the error for a step without a recording whose calls nobody makes.
func (r *runner) needsAgent(p *plan, s *replay.Step) error {
	mayAssist := mayAssist(s) && s.Top().Index <= len(p.Steps)
	skip, record := "run with --unrecorded skip to leave such steps out", "record the step for this device, or run with --unrecorded skip"
	switch {
	case r.Proof:
		record = "record the step for this device first, if it is in another trail by a run of that one"
	case mayAssist && !r.assistsSteps():
		skip, record = skip+", or with --unrecorded llm to let a model carry them out", record+" or --unrecorded llm"
	case !mayAssist:
		record += "; a model carries out neither the trailhead nor the teardown"
	}
	if !s.Recordable {
		return fault.New(fault.Trail, skip, "step %d %q is never recorded (recordable: false): it needs an agent on every run", s.Index, s.Text)
	}
	have := "nothing is recorded"
	if recorded := s.Classifiers(); len(recorded) > 0 {
		have = "recorded are " + strings.Join(recorded, ", ")
	}
	return fault.New(fault.Trail, record,
		"step %d %q has no recording for this device: looked for %s; %s", s.Index, s.Text, strings.Join(p.Lineage, ", "), have)
}

// sessionOptions returns what a session of the plan is opened with.
func (r *runner) sessionOptions(p *plan, id, dir string, emit *event.Emitter) session.Options {
	asks := p.assisted() || r.again.repairs()
	restrict, origins := r.RestrictOrigins || asks, r.AllowedOrigins
	if !restrict {
		origins = nil
	}
	return session.Options{
		Setup: r.Setup, Scope: p.scope, Device: p.device.Device, ID: id, Dir: dir,
		Title: p.title, TrailDir: filepath.Dir(r.resolve(p.path)), Baselines: r.baselines(p), Emit: emit, Values: r.values(p), Tools: p.Tools(),
		Shared: r.shared, Unwritable: r.warnUnwritable, SuggestRetries: r.Retries == 0,
		Trace: r.Trace == config.TraceOn || r.Trace == config.TraceOnFailure, TraceWhole: r.Trace == config.TraceOn,
		Live: asks, RestrictOrigins: restrict, AllowedOrigins: origins, Incidents: len(r.failOn(p)) > 0 || r.again.repairs(),
	}
}

// failOn returns the kinds of incident for which the plan's trail fails: those of the trail, else those of the project.
func (r *runner) failOn(p *plan) []string {
	if kinds := p.File.Config.FailOn; kinds != nil {
		return kinds
	}
	return r.Project.FailOn
}

// baselines returns the pictures of the plan's trail: in the folder checkout.screens beside checkout.trail.yaml, by the
// device, and on the web by the system too, because each draws texts in its own way.
func (r *runner) baselines(p *plan) picture.Baselines {
	stem := strings.TrimSuffix(strings.TrimSuffix(r.resolve(p.path), ".yaml"), ".trail")
	system := p.scope.Driver.Platform.Lower()
	if p.scope.Driver.Platform == scope.Web {
		system = runtime.GOOS
	}
	return picture.Baselines{Dir: stem + ".screens", Device: p.classifier() + "-" + system, Update: r.Screenshots}
}

func (r *runner) values(p *plan) *trail.Values {
	return trail.NewValues(trail.Sources{Trail: p.File.Config.Memory, Memory: r.Memory, Secrets: r.Secrets, Args: p.args, Wording: r.Wording})
}

func (r *runner) newSessionID(p *plan) string {
	return session.NewID(r.Redactor.Text(r.trailName(p.path)), r.Now())
}

// servers returns the entries that the plan's sessions start.
func (r *runner) servers(p *plan) []config.Server { return r.Project.ServersFor(p.scope.Target.ID) }

// classifier returns the key under which the device's calls are recorded.
func (p *plan) classifier() string { return p.Lineage[0] }

// finishedEvent returns the event that closes the trail.
func (p *plan) finishedEvent(r trailResult) event.TrailFinished {
	return event.TrailFinished{
		Case:        p.event(),
		Interrupted: r.Cause != nil && isInterruption(r.Cause) && !r.teardown, // else the reason says more
		File:        p.path, Title: p.title, Device: p.device.Name, Outcome: r.Outcome, Flaky: r.flaky(),
		Reason: r.Reason, Hint: r.Hint, Step: r.step, StepText: r.stepText, Tool: r.tool, Line: r.line,
		DurationMs: r.duration.Milliseconds(), Attempts: r.attempts, Artifacts: []string{},
		Used: r.used, Product: r.product, Earlier: r.earlier, Failures: r.failures, ModelUse: r.use, Healed: r.healed,
	}
}

// loader returns what reads trails with those that they use.
func (r *runner) loader() trail.Loader {
	return trail.Loader{
		Root: r.Project.Root, Cwd: r.Cwd,
		Read: func(name, _ string) ([]byte, fault.Problems) { return r.trailContent(name) },
	}
}

// readTrail reads and parses a trail file. Its problems name the path as it is given.
func (r *runner) readTrail(path string) (*trail.File, fault.Problems) {
	data, problems := r.trailContent(path)
	if len(problems) > 0 {
		return nil, problems
	}
	return trail.Parse(path, data)
}

// trailContent returns the content of a trail file, or what is replayed in its place.
func (r *runner) trailContent(path string) ([]byte, fault.Problems) {
	if data, ok := r.Contents[r.resolve(path)]; ok {
		return data, nil
	}
	return trail.ReadFile(path, r.resolve(path))
}
