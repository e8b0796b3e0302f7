package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// fileSource is the trail whose steps are replayed in the session.
type fileSource struct {
	path string // absolute
	data []byte // as it was read
	file *trail.File
	args map[string]string // as they were given
}

// TrailRequest asks for the replay of a trail.
type TrailRequest struct {
	File string            `json:"file"` // relative to the project root
	Args map[string]string `json:"args,omitempty"`
	// Keep replays the trail in this session, and stops at the first call that fails, with the session as it is then.
	// The next request for the same file continues there.
	Keep bool `json:"keep,omitempty"`
}

// TrailReport is how the replay of a trail ended.
type TrailReport struct {
	Replayed
	File string `json:"file"` // relative to the project root
	// Repaired says that the session has calls that the files lack.
	Repaired bool `json:"repaired,omitempty"`
	// Check says that the call that failed checks something.
	Check   bool         `json:"check,omitempty"`
	Rest    []trail.Call `json:"-"` // calls of the step that stopped, after the one that failed; only with Keep
	URL     string       `json:"url,omitempty"`
	Changes string       `json:"changes,omitempty"` // of the screen; only with Keep
	Events  []string     `json:"events,omitempty"`
	// Messages are as in [StepReport].
	Messages []string `json:"messages,omitempty"`
}

// RunTrail replays a trail, in a session of its own or with Keep in this one.
func (s *Session) RunTrail(ctx context.Context, r TrailRequest) (TrailReport, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return TrailReport{}, err
	}
	defer release()
	path, err := s.trailPath(r.File)
	if err != nil {
		return TrailReport{}, err
	}
	if err := s.mayReplay(path); err != nil {
		return TrailReport{}, err
	}
	if !r.Keep {
		replayed, note, err := s.replay(ctx, path, nil, r.Args)
		return TrailReport{Replayed: replayed, File: s.relative(path), Events: note}, err
	}
	if err := s.load(path, r.Args); err != nil {
		return TrailReport{}, err
	}
	report := TrailReport{File: s.relative(path), Replayed: s.replaySource(ctx)}
	if report.Step > 0 && s.next < len(s.steps) {
		step := s.steps[s.next]
		report.Check = step.failing && s.isCheckIn(step.Kind, step.Calls[step.done])
		for _, call := range step.Calls[min(step.done+1, len(step.Calls)):] {
			call.Args, _ = s.opts.Redactor.Value(call.Args).(map[string]any)
			report.Rest = append(report.Rest, call)
		}
	}
	report.Repaired = slices.ContainsFunc(s.allSteps(), func(step *Step) bool { return step.changed })
	var after StepReport
	s.beforeAction = nil
	_, err = s.reportScreen(ctx, &after)
	report.URL, report.Changes, report.Events, report.Messages = after.URL, after.Changes, after.Events, after.Messages
	return report, err
}

// replay replays a trail in a session of its own. A device that allows one session at a time is released for that; note
// then says so.
func (s *Session) replay(
	ctx context.Context, path string, contents map[string][]byte, args map[string]string,
) (r Replayed, note []string, err error) {
	released, err := s.inner.ReleaseDevice(ctx)
	if err != nil {
		return r, nil, err
	}
	if released {
		note = []string{"the replay used the device of this session, which shows what the replay left"}
	}
	r, err = s.opts.Replay(ctx, path, contents, args)
	return s.redacted(r), note, err
}

// mayReplay returns an error if a trail makes calls that the caller may not make. Other problems of the file are those
// of its replay.
func (s *Session) mayReplay(path string) error {
	file, problems := s.loader().Load(s.relative(path), path)
	if len(problems) > 0 {
		return nil
	}
	return s.mayMakeCalls(slices.Concat(steps(file), file.Config.Teardown))
}

// mayMakeCalls returns an error if a step makes calls that the caller may not make.
func (s *Session) mayMakeCalls(all []trail.Step) error {
	for _, step := range all {
		calls, _ := step.Lookup(s.opts.Lineage)
		for _, call := range calls {
			if err := s.mayCall(call); err != nil {
				return err
			}
		}
		if step.Use == nil || step.Use.File == nil {
			continue
		}
		if err := s.mayMakeCalls(slices.Concat(steps(step.Use.File), step.Use.File.Config.Teardown)); err != nil {
			return err
		}
	}
	return nil
}

// loader returns what reads trails with those that they use.
func (s *Session) loader() trail.Loader {
	return trail.Loader{Root: s.opts.Project.Root, Cwd: s.opts.Project.Root}
}

// steps returns the steps of a trail, the trailhead first.
func steps(file *trail.File) []trail.Step {
	if file.Trailhead == nil {
		return slices.Clone(file.Steps)
	}
	return slices.Insert(slices.Clone(file.Steps), 0, *file.Trailhead)
}

// redacted removes secrets from the texts of a replay.
func (s *Session) redacted(r Replayed) Replayed {
	r.Reason, r.Hint, r.Text, r.Dialogs = s.text(r.Reason), s.text(r.Hint), s.text(r.Text), s.texts(r.Dialogs)
	return r
}

// load makes the steps of a trail those of the session, unless they are already.
func (s *Session) load(path string, args map[string]string) error {
	source := s.root.source
	if source != nil && source.path == path {
		data, err := files.Read(path, trail.MaxSize)
		if err == nil {
			err = source.unchanged(s.relative(path), data)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case source != nil && source.path == path && s.outer == nil && s.next == len(s.steps):
		return fault.New(fault.Misuse, "start another session to replay it again, or replay it without keep",
			"every step of %s was replayed in this session already", s.relative(path))
	case source != nil && source.path == path:
		return nil
	case len(s.root.steps) > 0:
		return fault.New(fault.Misuse, "save or drop the recorded steps, or start another session",
			"the session has recorded steps, and %s cannot be replayed in it", s.relative(path))
	}
	data, problems := trail.ReadFile(s.relative(path), path)
	if len(problems) > 0 {
		return problems
	}
	file, problems := s.loader().Parse(s.relative(path), path, data)
	if len(problems) > 0 {
		return problems
	}
	resolved, err := trail.ResolveArgs(file.Config.Args, args, nil)
	if err != nil {
		return err
	}
	values := s.inner.Memory()
	values.SetArgs(resolved)
	for name, value := range file.Config.Memory {
		if _, given := s.opts.Memory[name]; !given {
			if err := values.Set(name, value); err != nil {
				return err
			}
		}
	}
	s.steps = s.stepsOf(file)
	s.source = &fileSource{path, data, file, args}
	s.inner.SetTrailDir(filepath.Dir(path))
	return nil
}

// replaySource makes the calls of the steps that are still to come, up to the first that fails.
func (s *Session) replaySource(ctx context.Context) Replayed {
	s.continueParts(s.list)
	for {
		switch {
		case s.next < len(s.steps):
			if r := s.replayStep(ctx); !r.Passed() {
				s.pauseParts(r.Outcome)
				return r
			}
		case s.outer != nil:
			s.leavePart(event.Passed)
		default:
			return Replayed{Outcome: event.Passed}
		}
	}
}

// replayStep makes the calls of the next step that are still to come, or enters the trail that it uses.
func (s *Session) replayStep(ctx context.Context) Replayed {
	step := s.steps[s.next]
	st := s.numbered()
	if step.source != nil && step.source.Use != nil {
		return s.enterPart(st, step.source.Use)
	}
	if step.source != nil {
		if _, recorded := step.source.Lookup(s.opts.Lineage); !recorded && len(step.Calls) == 0 {
			return s.stopped(st, session.Failed(fault.New(fault.Trail, "make its calls now, in a step with the same text",
				"step %d %q has no recording for this device", st.Index, step.Text)), nil)
		}
	}
	s.inner.StartStep(st)
	for i := step.done; i < len(step.Calls); i++ {
		done := s.inner.CallFromTrail(ctx, st, &step.Calls[i])
		if !done.OK() {
			s.inner.FinishStep(st, done.Outcome)
			step.done, step.failing = i, true
			return s.stopped(st, done.Result, &step.Calls[i])
		}
	}
	s.inner.FinishStep(st, event.Passed)
	s.next++
	return Replayed{Outcome: event.Passed}
}

// numbered returns the next step for events.
func (s *Session) numbered() session.Step {
	step := s.steps[s.next]
	return session.Step{
		Index: s.next + 1, Of: len(s.steps), Text: step.Text, Kind: step.Kind, Within: s.within(), Unrecorded: s.outer != nil,
	}
}

func (s *Session) stopped(st session.Step, why session.Result, call *trail.Call) Replayed {
	r := Replayed{Outcome: why.Outcome, Reason: why.Reason, Hint: why.Hint, Step: st.Index, Kind: st.Kind, Text: st.Text}
	if call != nil {
		r.Tool, r.Line = call.Tool, call.Line
	}
	if s.outer != nil {
		r.Part = s.source.file.Name
	}
	return s.redacted(r)
}

// trailPath returns the absolute path of a trail that exists. Below the folder of trails it may be a part, which has any
// name. Other files are not read: their lines would be in the problems of the trail.
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

// unchanged returns an error when the trail was changed since it was loaded.
func (src *fileSource) unchanged(name string, now []byte) error {
	if bytes.Equal(src.data, now) {
		return nil
	}
	return fault.New(fault.Trail, fmt.Sprintf("start another session and replay %s in it", name),
		"%s was changed since the session read it", name)
}
