package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// recordingFile is the trail that a session leaves in its folder (specification, section 13).
const recordingFile = "recording.trail.yaml"

// recording returns a trail that does what the session did. Values from the command line become the trail's own.
func (r *runner) recording(p *plan, steps []trail.StepRecording) *trail.File {
	memory := maps.Clone(p.File.Config.Memory)
	if memory == nil {
		memory = map[string]any{}
	}
	for name, value := range r.Memory {
		memory[name] = value
	}
	return trail.NewRecordedFile(p.File, p.classifier(), steps, memory, p.args)
}

// newRecording returns the content of a new file with the recording.
func (r *runner) newRecording(p *plan, steps []trail.StepRecording) ([]byte, error) {
	return trail.Format(r.redacted(r.loader().Moved(r.recording(p, steps), r.resolve(p.path))))
}

// redacted removes secrets from what the trail's author wrote about it.
func (r *runner) redacted(file *trail.File) *trail.File {
	c := &file.Config
	texts := []*string{&c.ID, &c.Title, &c.Description, &c.Priority, &c.Context}
	c.Tags, c.Skip = slices.Clone(c.Tags), slices.Clone(c.Skip)
	for i := range c.Tags {
		texts = append(texts, &c.Tags[i])
	}
	for i := range c.Skip {
		texts = append(texts, &c.Skip[i].Reason)
	}
	for _, step := range file.AllSteps() {
		texts = append(texts, &step.Text)
		r.redactUse(step)
	}
	c.Teardown = r.redactedSteps(c.Teardown)
	for _, text := range texts {
		*text = r.Redactor.Text(*text)
	}
	for name, arg := range c.Args {
		arg.Description = r.Redactor.Text(arg.Description)
		if r.hasSecret(arg.Default) {
			arg.Default, arg.HasDefault = nil, false
		}
		c.Args[name] = arg
	}
	c.Memory = maps.Clone(c.Memory)
	maps.DeleteFunc(c.Memory, func(_ string, value any) bool { return r.hasSecret(value) })
	c.Metadata, _ = r.Redactor.Value(c.Metadata).(map[string]any)
	c.Source = r.Redactor.Value(c.Source)
	return file
}

// redactedSteps removes secrets from steps that are as their author wrote them.
func (r *runner) redactedSteps(steps []trail.Step) []trail.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		s := &steps[i]
		s.Text, s.Recording = r.Redactor.Text(s.Text), slices.Clone(s.Recording)
		r.redactUse(s)
		for j := range s.Recording {
			calls := slices.Clone(s.Recording[j].Calls)
			for k := range calls {
				calls[k].Args, _ = r.Redactor.Value(calls[k].Args).(map[string]any)
			}
			s.Recording[j].Calls = calls
		}
	}
	return steps
}

// redactUse removes secrets from the arguments of the trail that a step uses.
func (r *runner) redactUse(s *trail.Step) {
	if s.Use == nil {
		return
	}
	use := *s.Use
	use.Args, _ = r.Redactor.Value(use.Args).(map[string]any)
	s.Use = &use
}

// hasSecret reports whether a value shows a secret. Tokens are not replaced where such values are, so {{NAME}} would be
// taken literally there: the value is left out instead, and a replay reports that it is missing.
func (r *runner) hasSecret(value any) bool {
	return !reflect.DeepEqual(r.Redactor.Value(value), value)
}

// saveRecording writes the recording into the session's folder.
func (r *runner) saveRecording(a attempt, recorded session.Recording) {
	for _, message := range recorded.Omitted {
		level := "debug"
		if r.Record != "" {
			level = "warn"
		}
		a.emit.Log(level, "recording", message, "")
	}
	data, err := r.newRecording(a.plan, recorded.Steps)
	if err != nil {
		a.emit.Log("warn", "recording", "cannot be written: "+err.Error(), "")
		return
	}
	if a.evidence.dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(a.evidence.dir, recordingFile), data, 0o644); err != nil {
		r.warnUnwritable(err)
	}
}

// checkRecord returns why --record cannot work, before the trail is replayed: an existing file must have the trail's
// steps and be writable.
func (r *runner) checkRecord(p *plan) error {
	if r.Record == "" {
		return nil
	}
	steps := make([]trail.StepRecording, len(p.Steps))
	for i, st := range p.Steps {
		steps[i] = trail.StepRecording{Calls: st.Calls, Recorded: !st.NeedsAgent}
	}
	if _, err := r.recordContent(p, steps); err != nil {
		return err
	}
	if err := Replaceable(r.resolve(r.Record)); err != nil {
		return fault.Wrap(fault.Misuse, err, "choose a --record file that can be read and written", "record")
	}
	return nil
}

// recordContent returns the content of the --record file: a new file, or the existing one with the calls of this device
// replaced.
func (r *runner) recordContent(p *plan, steps []trail.StepRecording) ([]byte, error) {
	data, err := files.Read(r.resolve(r.Record), trail.MaxSize)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r.newRecording(p, steps)
	case err != nil:
		return nil, fault.Wrap(fault.Misuse, err, "choose a --record file that can be read and written", "record")
	}
	return trail.ReplaceCalls(r.Record, data, p.classifier(), r.recording(p, steps))
}

// writeRecord writes the --record file after a trail has passed.
func (r *runner) writeRecord(a attempt, steps []trail.StepRecording, res trailResult) trailResult {
	if r.Record == "" || res.Outcome != event.Passed {
		return res
	}
	data, err := r.recordContent(a.plan, steps)
	switch {
	case err != nil:
		return res.notRecorded(errored(err))
	case slices.ContainsFunc(a.tasks, func(s *replay.Step) bool { return s.Recordable && s.Root == nil }):
		res.record = data
		return res
	}
	return r.replaceRecord(a, data, res)
}

func (r *runner) replaceRecord(a attempt, data []byte, res trailResult) trailResult {
	if err := ReplaceFile(r.resolve(r.Record), data); err != nil {
		return res.notRecorded(errored(err))
	}
	a.emit.Log("info", "recording", "written to "+r.Record, "")
	return res
}

// prove replays a recording that has calls of a model, in a fresh session, and writes it if that passes.
func (r *runner) prove(ctx context.Context, a attempt, res trailResult) trailResult {
	a.emit.Log("info", "recording", "replaying it in a fresh session, before it is written to "+r.Record, "")
	if r.Reset != nil {
		if err := r.Reset(ctx); err != nil {
			return res.notRecorded(errored(err))
		}
	}
	ended, err := r.replayRecord(ctx, a, res.record)
	res.use = res.use.Plus(ended.ModelUse)
	switch {
	case err != nil:
		return res.notRecorded(errored(err))
	case ended.Outcome != event.Passed:
		return res.notRecorded(failed(fault.New(fault.Trail, ended.Hint,
			"the trail passed, but not when what was recorded was replayed in a fresh session, so %s is not written: %s", r.Record, ended.Reason)))
	}
	return r.replaceRecord(a, res.record, res)
}

// replayRecord replays the content of the --record file.
func (r *runner) replayRecord(ctx context.Context, a attempt, data []byte) (event.TrailFinished, error) {
	return r.replayContent(ctx, a, r.Record, data, func(o *Options) {
		o.Assist = func(in Assisted) {
			in.Replay = a.name()
			r.Assist(in)
		}
	})
}

// ReplaceFile writes a file in one step, so that readers see either the old or the new content. It keeps the mode of an
// existing file, and follows a link.
func ReplaceFile(path string, data []byte) error {
	path = followed(path)
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = replace(path, data, mode)
	}
	if err != nil {
		return fault.Wrap(fault.IO, err, "check the folder's permissions and the disk", "write "+filepath.Base(path))
	}
	return nil
}

// Replaceable says why ReplaceFile could not write a file, before there is something to write.
func Replaceable(path string) error {
	path = followed(path)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	folder := existing(filepath.Dir(path))
	temp, err := os.CreateTemp(folder, ".*")
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("write into %s: %w", folder, pe.Err)
	}
	if err != nil {
		return err
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}

// existing is the folder, or the nearest one above it that exists.
func existing(folder string) string {
	for above := filepath.Dir(folder); above != folder; above = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			break
		}
		folder = above
	}
	return folder
}

func followed(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func replace(path string, data []byte, mode os.FileMode) error {
	return files.Replace(path, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Chmod(mode))
	})
}
