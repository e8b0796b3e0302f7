package live

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// source is the trail that is replayed in the session.
type source struct {
	path string            // absolute
	args map[string]string // as they were given
	// contents are those of the trail and of the trails that it uses, as they were read or written last, by their
	// absolute paths.
	contents map[string][]byte
	given    bool // the content of the trail was given, see [TrailRequest.Content]
}

// TrailRequest asks for the replay of a trail.
type TrailRequest struct {
	File string            `json:"file"` // relative to the project root
	Args map[string]string `json:"args,omitempty"`
	// Keep replays the trail in this session, and stops at the first call that fails, with the session as it is then.
	// The next request for the same file continues there. The teardown of the trail runs after its last step, or when
	// the session is closed.
	Keep bool `json:"keep,omitempty"`
	// Content is replayed as the content of File, which need not exist: a trail is found relative to it, and so are its
	// pictures. Only with Keep. What the session replayed or recorded before is forgotten. Nil for what File has.
	Content []byte `json:"content"`
	// From and To are the first and the last call to make, as step.call such as 2.1, or a step, which is then its first
	// and its last call; empty for the beginning and the end of the trail. Only with Content. With From, the values in
	// memory stay. With To, the teardown is not run, unless the session is closed.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// TrailReport is how the replay of a trail ended.
type TrailReport struct {
	Replayed
	File string `json:"file"` // relative to the project root
	// Next is the call that would be made next, as step.call, or a step that uses a trail or has no calls; empty after the
	// last step. Only with Content.
	Next string `json:"next,omitempty"`
	// Repaired says that the session has calls that the files lack.
	Repaired bool `json:"repaired,omitempty"`
	// Invalid says that no call was made, because some of the trail cannot be made. The file has to be corrected.
	Invalid bool `json:"invalid,omitempty"`
	// Check says that the call that failed checks something.
	Check   bool         `json:"check,omitempty"`
	Rest    []trail.Call `json:"rest,omitempty"` // calls of the step that stopped, after the one that failed; only with Keep
	URL     string       `json:"url,omitempty"`
	Changes string       `json:"changes,omitempty"` // of the screen; only with Keep
	Events  []string     `json:"events,omitempty"`
	// Messages are as in [StepReport].
	Messages []string `json:"messages,omitempty"`
}

// Repairable reports whether a replay with Keep stopped at a step whose calls can be replaced by others.
func (r TrailReport) Repairable() bool {
	return !r.Invalid && r.Step > 0 && r.Outcome == event.Failed && r.Kind != trail.KindUse && r.Kind != trail.KindTeardown
}

// RunTrail replays a trail, in a session of its own or with Keep in this one. The end of ctx stops it: with Content the
// report says where, and the error is nil.
func (s *Session) RunTrail(ctx context.Context, r TrailRequest) (TrailReport, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return TrailReport{}, err
	}
	defer release()
	path, err := s.replayPath(r)
	if err == nil {
		err = s.notAttached()
	}
	if err != nil {
		return TrailReport{}, err
	}
	report := TrailReport{File: s.relative(path)}
	if r.Keep && r.Content == nil && s.source != nil && s.source.path == path && !s.source.given {
		err = s.mayContinue()
	} else {
		err = s.begin(ctx, path, r, &report)
	}
	if err != nil || !r.Keep || report.Outcome != "" {
		return report, err
	}
	report.Replayed = s.replaySource(ctx, r.To == "")
	if l := s.walk.Current; report.Step > 0 && l.Next < len(l.Steps) {
		step := l.Steps[l.Next]
		report.Check = l.Failing && s.isCheckIn(step.Kind, step.Calls[l.Done])
		report.Rest = slices.Clone(step.Calls[min(l.Done+1, len(step.Calls)):])
	}
	report.Repaired = slices.ContainsFunc(s.allSteps(), isChanged)
	if r.Content != nil {
		report.Next = s.walk.Next()
		s.walk.Abandon()
		if session.Interruption(ctx) != nil {
			return report, nil
		}
	}
	var after StepReport
	s.beforeStep, s.beforeAction, s.seen = nil, nil, seenTexts{partial: true}
	_, err = s.reportScreen(ctx, false, &after)
	report.URL, report.Changes, report.Events, report.Messages = after.URL, after.Changes, after.Events, after.Messages
	return report, err
}

// replay replays a trail in a session of its own. A device that allows one session at a time is released for that; note
// then says so.
func (s *Session) replay(
	ctx context.Context, path string, contents map[string][]byte, args map[string]string,
) (r Replayed, note []string, err error) {
	if s.inner.DeviceIsExclusive() {
		s.lent.Lock() // a look would take the device from the replay
		defer s.lent.Unlock()
	}
	released, err := s.inner.ReleaseDevice(ctx)
	if err != nil {
		return r, nil, err
	}
	if released {
		note = []string{"the replay used the device of this session, which shows what the replay left"}
	}
	r, err = s.opts.Replay(ctx, path, contents, args)
	return r, note, err
}

// begin reads a trail once, checks that the caller may make its calls, and replays what was read in a session of its
// own, or with Keep makes its steps those of this session.
func (s *Session) begin(ctx context.Context, path string, r TrailRequest, report *TrailReport) error {
	read := &source{path: path, args: r.Args, contents: map[string][]byte{}, given: r.Content != nil}
	loader := s.loaderWith(path, r.Content)
	readFile := loader.Read
	loader.Read = func(name, path string) ([]byte, fault.Problems) {
		data, problems := readFile(name, path)
		read.contents[path] = data
		return data, problems
	}
	file, problems := loader.Load(report.File, path)
	if len(problems) == 0 {
		if err := s.mayReplay(file); err != nil {
			return err
		}
	}
	switch {
	case r.Keep:
		return s.load(read, loader, file, problems, r, report)
	case len(problems) > 0:
		read.contents = nil // the replay reports them
	}
	var err error
	report.Replayed, report.Events, err = s.replay(ctx, path, read.contents, r.Args)
	return err
}

// mayReplay returns an error if a trail makes calls that the caller may not make.
func (s *Session) mayReplay(file *trail.File) error {
	for _, step := range file.StepsAndTeardown() {
		calls, _ := step.Lookup(s.opts.Lineage)
		for _, call := range calls {
			if err := s.mayCall(call); err != nil {
				return err
			}
		}
		if used := step.UseFor(s.opts.Lineage); used != nil && used.File != nil {
			if err := s.mayReplay(used.File); err != nil {
				return err
			}
		}
	}
	return nil
}

// toReplay returns what to replay of a trail when files have other contents: these, and the trails that it uses. The
// error says that the trail cannot be replayed, or not by the caller.
func (s *Session) toReplay(path string, contents map[string][]byte) (map[string][]byte, error) {
	all, loader := maps.Clone(contents), s.loader()
	loader.Read = func(name, at string) ([]byte, fault.Problems) {
		if data, ok := all[at]; ok {
			return data, nil
		}
		data, problems := trail.ReadFile(name, at)
		if len(problems) == 0 {
			all[at] = data
		}
		return data, problems
	}
	file, problems := loader.Load(s.relative(path), path)
	if len(problems) > 0 {
		return nil, loader.WithSnippets(problems)
	}
	return all, s.mayReplay(file)
}

// loader returns what reads trails with those that they use.
func (s *Session) loader() trail.Loader {
	return trail.Loader{Root: s.opts.Project.Root, Cwd: s.opts.Project.Root}
}

// loaderWith is loader with the content of the trail at a path; nil for what it has.
func (s *Session) loaderWith(path string, content []byte) trail.Loader {
	loader := s.loader()
	loader.Read = func(name, at string) ([]byte, fault.Problems) {
		if content != nil && at == path {
			return content, nil
		}
		return trail.ReadFile(name, at)
	}
	return loader
}

// mayContinue returns an error if the replay of the session's trail cannot be continued.
func (s *Session) mayContinue() error {
	name := s.relative(s.source.path)
	data, err := files.Read(s.source.path, trail.MaxSize)
	if err == nil {
		err = s.source.unchanged(name, s.source.path, data)
	}
	l := s.walk.Current
	if err == nil && l.Outer == nil && l.Next == len(l.Steps) && !s.owesTeardown.Load() {
		err = fault.New(fault.Misuse, "start another session to replay it again, or replay it without keep",
			"every step of %s was replayed in this session already", name)
	}
	return err
}

// load makes the steps of a trail, which was read with problems or none, those of the session. The report gets an
// outcome if the trail is not replayed: it is skipped on the device, or a call in it cannot be made.
func (s *Session) load(
	read *source, loader trail.Loader, file *trail.File, problems fault.Problems, r TrailRequest, report *TrailReport,
) error {
	if err := s.mayLoad(report.File); err != nil && !read.given {
		return err
	}
	if len(problems) == 0 {
		problems = loader.WithSnippets(s.unreplayable(file))
	}
	if len(problems) > 0 {
		return problems
	}
	resolved, err := trail.ResolveArgs(file.Config.Args, read.args, nil, s.opts.Wording)
	if err != nil {
		return err
	}
	plan := replay.NewPlan(file, s.opts.Lineage)
	if reason, skip := plan.SkipReason(); skip {
		report.Replayed = Replayed{Outcome: event.Skipped, Reason: reason}
		return nil
	}
	if err := plan.Limit(r.From, r.To); err != nil {
		return err
	}
	for _, at := range plan.Misspelt(s.tools()) {
		s.emit.Log("warn", "replay", at.Error(), "")
	}
	if calls, _ := plan.Check(s.tools(), false); len(calls) > 0 {
		report.Replayed = s.invalid(calls[0], session.Failed(loader.WithSnippets(replay.Problems(calls))))
		report.Invalid = true
		if read.given {
			report.Next = s.newWalk(plan).Next()
		}
		return nil
	}
	s.walk.Abandon()
	if err := s.setValues(file, resolved, r.From == ""); err != nil {
		return err
	}
	s.source, s.walk, s.parts, s.unsaved = read, s.newWalk(plan), map[string]*replay.Frame{}, false
	s.owesTeardown.Store(s.walk.HasTeardown())
	s.inner.SetTrailDir(filepath.Dir(read.path))
	return nil
}

// mayLoad returns an error if the session has steps of its own, or a trail whose steps were dropped but not its
// teardown.
func (s *Session) mayLoad(name string) error {
	switch {
	case len(s.walk.Root.Steps) > 0:
		return fault.New(fault.Misuse, "save or drop the recorded steps, or start another session",
			"the session has recorded steps, and %s cannot be replayed in it", name)
	case s.owesTeardown.Load():
		return fault.New(fault.Misuse, "start another session",
			"the teardown of %s has not run, and %s cannot be replayed before", s.relative(s.source.path), name)
	}
	return nil
}

// unreplayable returns why a trail cannot be replayed in the session: it has no steps, or is for another target.
func (s *Session) unreplayable(file *trail.File) fault.Problems {
	if problem, empty := file.EmptyProblem(); empty {
		return fault.Problems{problem}
	}
	if s.opts.TargetChosen {
		return nil
	}
	if problem, wrong := replay.CheckTarget(s.opts.Project, file); wrong {
		return fault.Problems{problem}
	}
	name, target := file.Config.Target, s.opts.Scope.Target
	isApp := func(ids []string) bool { return slices.Contains(ids, name) }
	if name == "" || target.ID == "" || name == target.ID || slices.ContainsFunc(slices.Collect(maps.Values(target.AppIDs)), isApp) {
		return nil
	}
	return fault.Problems{file.TargetProblem("start a session for that target, or choose the target of the session yourself",
		"the trail is for target %q, and the session for %q", name, target.ID)}
}

// invalid returns how a replay ended in which no call was made, because of the calls that why lists.
func (s *Session) invalid(first replay.CallProblem, why session.Result) Replayed {
	r := Replayed{
		Outcome: why.Outcome, Reason: why.Reason, Step: first.Step.Index, Kind: first.Step.Kind, Text: first.Step.Text,
		Call: first.Call, Tool: first.Tool, Line: first.Line,
	}
	if first.Step.Root != nil {
		r.Part, r.Outer = first.Step.File.Name, first.Step.Top().Index
	}
	return r
}

// setValues sets the arguments of a trail, and the values of its config.memory that nobody gave to the session. Those
// that memory has already are set only with again.
func (s *Session) setValues(file *trail.File, args map[string]any, again bool) error {
	values := s.inner.Memory()
	values.SetArgs(args)
	for name, value := range file.Config.Memory {
		_, given := s.opts.Memory[name]
		if _, known := values.Get(name); !given && (again || !known) {
			if err := values.Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Session) newWalk(p replay.Plan) *replay.Walk {
	return replay.NewWalk(s.inner, p, replay.Hooks{Unrecorded: s.unrecordedStep, Entered: s.enteredPart})
}

// unrecordedStep stops a replay at a step without a recording, so that its caller makes the calls.
func (s *Session) unrecordedStep(_ context.Context, at session.Step, _ *replay.Step) session.Result {
	return session.Failed(fault.New(fault.Trail, "make its calls now, in a step with the same text",
		"step %d %q has no recording for this device", at.Index, at.Text))
}

// replaySource makes the calls of the steps that are still to come, up to the first that fails, and to the end runs the
// teardown after them.
func (s *Session) replaySource(ctx context.Context, toEnd bool) Replayed {
	if done := s.walk.Run(ctx); !done.OK() {
		return s.stopped(done)
	} else if !toEnd {
		return Replayed{Outcome: event.Passed}
	}
	return s.teardown(ctx, Replayed{Outcome: event.Passed})
}

// teardown runs the teardown of the trail, unless it ran, and returns r with what failed. It is still owed when ctx has
// ended meanwhile.
func (s *Session) teardown(ctx context.Context, r Replayed) Replayed {
	if !s.owesTeardown.Load() {
		return r
	}
	all := s.walk.Teardown(ctx)
	if session.Interruption(ctx) == nil { // else Close runs it again
		s.owesTeardown.Store(false)
	}
	for _, failed := range all {
		t := s.stopped(failed)
		if r.Passed() {
			r, r.Reason = t, "the teardown did not pass: "+t.Reason
			continue
		}
		r.Reason += fmt.Sprintf("\nteardown, step %d %q: %s", t.Step, t.Text, t.Reason)
	}
	return r
}

// closeTrail runs the teardown of a trail whose replay was stopped, for at most the limit.
func (s *Session) closeTrail(ctx context.Context) {
	if !s.owesTeardown.Load() {
		return
	}
	ctx, cancel := replay.TeardownContext(ctx, cmp.Or(s.opts.TeardownLimit, replay.TeardownLimit), "at the end of the session")
	defer cancel()
	release, err := s.acquireRecording(ctx)
	if err == nil {
		defer release()
		err = s.inner.Err()
	}
	r := Replayed{Outcome: event.Passed}
	if err == nil {
		r = s.teardown(ctx, r)
	} else {
		r.Outcome, r.Reason = event.Error, "the teardown was not run: "+err.Error()
	}
	if !r.Passed() {
		s.emit.Log("warn", "replay", r.Reason, r.Hint)
	}
}

// stopped returns how a replay ended that a step stopped.
func (s *Session) stopped(done replay.Ended) Replayed {
	r := Replayed{Outcome: done.Outcome, Reason: done.Reason, Hint: done.Hint, Step: done.At.Index, Kind: done.At.Kind, Text: done.At.Text}
	if done.Call != nil {
		r.Call, r.Tool, r.Line = done.CallIndex()+1, done.Call.Tool, done.Call.Line
	}
	if done.At.Within != "" {
		r.Part = done.File.Name
		outer, _, _ := strings.Cut(done.At.Within, ".")
		r.Outer, _ = strconv.Atoi(outer)
	}
	return r
}

// replayPath returns the absolute path of the trail to replay.
func (s *Session) replayPath(r TrailRequest) (string, error) {
	switch {
	case r.Content != nil && !r.Keep:
		return "", fault.New(fault.InvalidArguments, "give keep", "a given content is replayed only in the session")
	case r.Content == nil && (r.From != "" || r.To != ""):
		return "", fault.New(fault.InvalidArguments, "give content", "from and to are only for a given content")
	}
	if r.Content != nil {
		return s.contentPath(r.File)
	}
	return s.trailPath(r.File)
}

// contentPath returns the absolute path of a trail that exists, or could be saved.
func (s *Session) contentPath(name string) (string, error) {
	if path, err := s.trailPath(name); err == nil {
		return path, nil
	}
	return s.savePath(name)
}

// trailPath returns the absolute path of a trail that exists. Below the folder of trails it may be a part, which has
// any name. Other files are not read: their lines would be in the problems of the trail.
func (s *Session) trailPath(name string) (string, error) {
	for _, dir := range []string{s.opts.Project.Root, s.opts.Project.TrailsDir} {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if rel, err := filepath.Rel(s.opts.Project.Root, path); err != nil || !filepath.IsLocal(rel) {
			return "", fault.New(fault.InvalidArguments, "name a file below the project root", "%s is outside of the project", name)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, s.checkTrailName(path)
		}
	}
	return "", fault.New(fault.InvalidArguments, "trails are below "+s.relative(s.opts.Project.TrailsDir),
		"trail %s does not exist", name)
}

// checkTrailName returns an error unless a file of the project, or what it links to, has the name of a trail or a part.
func (s *Session) checkTrailName(path string) error {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fault.Wrap(fault.InvalidArguments, err, "", "read "+s.relative(path))
	}
	for _, name := range []string{path, resolved} {
		below, err := filepath.Rel(s.opts.Project.TrailsDir, path)
		isPart := err == nil && filepath.IsLocal(below) && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name))
		if !isPart && !trail.IsTrail(filepath.ToSlash(name)) {
			return fault.New(fault.InvalidArguments, "name a file *.trail.yaml, or a part of trails below "+s.relative(s.opts.Project.TrailsDir),
				"%s is not a trail", s.relative(path))
		}
	}
	return nil
}

// relative returns a path relative to the project root.
func (s *Session) relative(path string) string {
	if rel, err := filepath.Rel(s.opts.Project.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// unchanged returns an error when a file of the trail was changed since it was loaded.
func (src *source) unchanged(name, path string, now []byte) error {
	if bytes.Equal(src.contents[path], now) {
		return nil
	}
	return fault.New(fault.Trail, fmt.Sprintf("start another session and replay %s in it", name),
		"%s was changed since the session read it", name)
}
