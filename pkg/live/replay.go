package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// source is the trail whose steps are replayed in the session.
type source struct {
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
	File    string       `json:"file"` // relative to the project root
	Rest    []trail.Call `json:"-"`    // calls of the step that stopped, after the one that failed; only with Keep
	URL     string       `json:"url,omitempty"`
	Changes string       `json:"changes,omitempty"` // of the screen; only with Keep
	Events  []string     `json:"events,omitempty"`
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
		for _, call := range step.Calls[min(step.done+1, len(step.Calls)):] {
			call.Args, _ = s.opts.Redactor.Value(call.Args).(map[string]any)
			report.Rest = append(report.Rest, call)
		}
	}
	var after StepReport
	_, err = s.reportScreen(ctx, &after)
	report.URL, report.Changes, report.Events = after.URL, after.Changes, after.Events
	return report, err
}

// replay replays a trail in a session of its own. A device that allows one session at a time is released for that; note
// then says so.
func (s *Session) replay(
	ctx context.Context, path string, content []byte, args map[string]string,
) (r Replayed, note []string, err error) {
	released, err := s.inner.ReleaseDevice(ctx)
	if err != nil {
		return r, nil, err
	}
	if released {
		note = []string{"the replay used the device of this session, which shows what the replay left"}
	}
	r, err = s.opts.Replay(ctx, path, content, args)
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
			if !s.Allowed(call.Tool) {
				return notAllowed(call.Tool)
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
	r.Reason, r.Hint, r.Text = s.text(r.Reason), s.text(r.Hint), s.text(r.Text)
	return r
}

// load makes the steps of a trail those of the session, unless they are already.
func (s *Session) load(path string, args map[string]string) error {
	if s.source != nil && s.source.path == path {
		data, err := files.Read(path, trail.MaxSize)
		if err == nil {
			err = s.source.unchanged(s.relative(path), data)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case s.source != nil && s.source.path == path && s.next == len(s.steps):
		return fault.New(fault.Misuse, "start another session to replay it again, or replay it without keep",
			"every step of %s was replayed in this session already", s.relative(path))
	case s.source != nil && s.source.path == path:
		return nil
	case len(s.steps) > 0:
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
			values.Set(name, value)
		}
	}
	all := steps(file)
	for i := range all {
		calls, _ := all[i].Lookup(s.opts.Lineage)
		s.steps = append(s.steps, &Step{Kind: all[i].Kind, Text: all[i].Text, Calls: calls, source: &all[i]})
	}
	s.source = &source{path, data, file, args}
	return nil
}

// replaySource makes the calls of the steps that are still to come, up to the first that fails.
func (s *Session) replaySource(ctx context.Context) Replayed {
	for ; s.next < len(s.steps); s.next++ {
		step := s.steps[s.next]
		st := session.Step{Index: s.next + 1, Of: len(s.steps), Text: step.Text, Kind: step.Kind}
		if step.source != nil && step.source.Use != nil {
			if r := s.replayUse(ctx, st, step.source.Use); !r.Passed() {
				return r
			}
			continue
		}
		if step.source != nil {
			if _, recorded := step.source.Lookup(s.opts.Lineage); !recorded && len(step.Calls) == 0 {
				return s.stopped(st, session.Failed(fault.New(fault.Trail, "make its calls now, in a step with the same text",
					"step %d %q has no recording for this device", st.Index, step.Text)), nil)
			}
		}
		s.inner.StartStep(st)
		for i := step.done; i < len(step.Calls); i++ {
			done := s.inner.CallFromTrail(ctx, step.Calls[i])
			if !done.OK() {
				s.inner.FinishStep(st, done.Outcome)
				step.done, step.failing = i, true
				return s.stopped(st, done.Result, &step.Calls[i])
			}
		}
		s.inner.FinishStep(st, event.Passed)
	}
	return Replayed{Outcome: event.Passed}
}

// replayUse makes the calls of the trail that a step uses. It is not recorded, since the trail has a file of its own.
func (s *Session) replayUse(ctx context.Context, st session.Step, use *trail.Use) (r Replayed) {
	s.inner.StartStep(st)
	outcome := event.Passed
	defer func() { s.inner.FinishStep(st, outcome) }()
	fail := func(why session.Result, call *trail.Call) Replayed {
		outcome = why.Outcome
		why.Hint = strings.TrimPrefix(why.Hint+"\nrepair "+use.File.Name+" in a session of its own, then replay this trail again", "\n")
		return s.stopped(st, why, call)
	}
	if reason, skipped := use.File.SkipReason(s.opts.Lineage); skipped {
		outcome = event.Skipped
		return Replayed{Outcome: event.Passed, Reason: reason}
	}
	leave, err := s.inner.Memory().Enter(use)
	if err != nil {
		return fail(session.Failed(err), nil)
	}
	defer leave()
	all := steps(use.File)
	number := event.StepStarted{Index: st.Index, Within: st.Within}.Number()
	for i, step := range all {
		inner := session.Step{Index: i + 1, Of: len(all), Text: step.Text, Kind: step.Kind, Within: number, Unrecorded: true}
		if step.Use != nil {
			if r := s.replayUse(ctx, inner, step.Use); !r.Passed() {
				outcome, r.Step, r.Kind, r.Text = r.Outcome, st.Index, st.Kind, st.Text
				return r
			}
			continue
		}
		calls, recorded := step.Lookup(s.opts.Lineage)
		if !recorded {
			return fail(session.Failed(fault.New(fault.Trail, "", "%s:%d: step %q has no recording for this device",
				use.File.Name, step.Line, step.Text)), nil)
		}
		s.inner.StartStep(inner)
		for _, call := range calls {
			if done := s.inner.CallFromTrail(ctx, call); !done.OK() {
				s.inner.FinishStep(inner, done.Outcome)
				done.Reason = fmt.Sprintf("%s:%d: %s", use.File.Name, call.Line, done.Reason)
				call.Line = use.Line
				return fail(done.Result, &call)
			}
		}
		s.inner.FinishStep(inner, event.Passed)
	}
	return Replayed{Outcome: event.Passed}
}

func (s *Session) stopped(st session.Step, why session.Result, call *trail.Call) Replayed {
	r := Replayed{Outcome: why.Outcome, Reason: why.Reason, Hint: why.Hint, Step: st.Index, Kind: st.Kind, Text: st.Text}
	if call != nil {
		r.Tool, r.Line = call.Tool, call.Line
	}
	return s.redacted(r)
}

// trailPath returns the absolute path of a trail that exists.
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
			return path, nil
		}
	}
	return "", fault.New(fault.InvalidArguments, "trails are below "+s.relative(s.opts.Project.TrailsDir),
		"trail %s does not exist", name)
}

// relative returns a path relative to the project root.
func (s *Session) relative(path string) string {
	if rel, err := filepath.Rel(s.opts.Project.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// unchanged returns an error when the trail was changed since it was loaded.
func (src *source) unchanged(name string, now []byte) error {
	if bytes.Equal(src.data, now) {
		return nil
	}
	return fault.New(fault.Trail, fmt.Sprintf("start another session and replay %s in it", name),
		"%s was changed since the session read it", name)
}
