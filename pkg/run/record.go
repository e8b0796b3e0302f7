package run

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// recordingFile is what a session leaves of itself as a trail (specification, section 13).
const recordingFile = "recording.trail.yaml"

// rememberValue is the built-in that a replay uses for what a tool that is not replayed has put into memory.
const rememberValue = "rememberValue"

// record is what of a successful call is to be recorded: itself, or nil if its tool does not allow that.
func (p *player) record(t *discover.Tool, as trail.Call) []trail.Call {
	if !t.IsRecordable {
		p.leave("tool %q is not recordable; its call is left out", t.Name)
		return nil
	}
	as.Args, _ = p.session.setup.Redactor.Value(as.Args).(map[string]any)
	return []trail.Call{as}
}

// leave notes what of the step that runs is not in the recording.
func (p *player) leave(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if len(p.steps) > 0 {
		message = fmt.Sprintf("step %d: %s", len(p.steps), message)
	}
	p.left = append(p.left, message)
}

// remembered records as calls what was put into memory since the given count of changes, in a call that delegates. Whatever else
// it did is not done again, since its replay does not call it.
func (p *player) remembered(l *level, as trail.Call, changes int) []trail.Call {
	set, gone := p.values.ChangedSince(changes)
	for _, name := range gone {
		p.leave("tool %q took %q out of memory before it delegated; a replay does not", as.Tool, name)
	}
	if l.calls.Load() > 0 {
		p.leave("tool %q called other tools before it delegated; a replay does not, it only sets the memory that they left", as.Tool)
	}
	var calls []trail.Call
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !trail.IsValueName(name) {
			p.leave("the value %q is left out, because a trail cannot name it", name)
			continue
		}
		calls = append(calls, p.remember(name, set[name]))
	}
	return calls
}

func (p *player) remember(name string, value any) trail.Call {
	safe := p.session.setup.Redactor.Value(trail.Escape(value))
	return trail.Call{Tool: rememberValue, Args: map[string]any{"name": name, "value": safe}}
}

// keepSaved records what saveAs left in memory, unless the call that is recorded for it does: the last delegate, not one that delegated
// to nothing.
func (p *player) keepSaved(name string) {
	step := &p.steps[len(p.steps)-1]
	n := len(step.Calls)
	if !step.Recorded || n > 0 && step.Calls[n-1].SaveAs == name {
		return
	}
	if value, ok := p.values.Get(name); ok {
		step.Calls = append(step.Calls, p.remember(name, value))
	}
}

// keep adds calls to the recording of the step. With nil alone a step has no recording, which means that it needs an agent.
func (p *player) keep(calls []trail.Call) {
	step := &p.steps[len(p.steps)-1]
	step.Calls = append(step.Calls, calls...)
	step.Recorded = step.Recorded || calls != nil
}

// recording is the trail that does what the runner did. Values from the command line become its own.
func (r *runner) recording(p *plan, steps []trail.StepRecording) *trail.File {
	memory := maps.Clone(p.file.Config.Memory)
	if memory == nil {
		memory = map[string]any{}
	}
	for name, value := range r.Memory {
		memory[name] = value
	}
	return trail.NewRecording(p.file, p.classifier(), steps, memory, p.args)
}

// withoutSecrets takes secrets out of what the trail's author wrote about it. What stands beside it in a file that is there stays.
func (r *runner) withoutSecrets(file *trail.File) *trail.File {
	c := &file.Config
	texts := []*string{&c.ID, &c.Title, &c.Description, &c.Priority, &c.Context}
	c.Tags, c.Skip = slices.Clone(c.Tags), slices.Clone(c.Skip)
	for i := range c.Tags {
		texts = append(texts, &c.Tags[i])
	}
	for i := range c.Skip {
		texts = append(texts, &c.Skip[i].Reason)
	}
	for i := range file.Steps {
		texts = append(texts, &file.Steps[i].Text)
	}
	if file.Trailhead != nil {
		texts = append(texts, &file.Trailhead.Text)
	}
	for _, text := range texts {
		*text = r.Redactor.Text(*text)
	}
	for name, arg := range c.Args {
		arg.Description = r.Redactor.Text(arg.Description)
		if r.secret(arg.Default) {
			arg.Default, arg.HasDefault = nil, false
		}
		c.Args[name] = arg
	}
	c.Memory = maps.Clone(c.Memory)
	maps.DeleteFunc(c.Memory, func(_ string, value any) bool { return r.secret(value) })
	c.Metadata, _ = r.Redactor.Value(c.Metadata).(map[string]any)
	c.Source = r.Redactor.Value(c.Source)
	return file
}

// secret reports whether a value shows a secret. Nothing is filled in where it stands, so that its name would mean itself there:
// the value is left out, and a replay says that it is missing.
func (r *runner) secret(value any) bool {
	return !reflect.DeepEqual(r.Redactor.Value(value), value)
}

// saveRecording leaves the recording in the session's folder.
func (r *runner) saveRecording(p *plan, player *player) {
	for _, message := range player.left {
		level := "debug"
		if r.Record != "" {
			level = "warn"
		}
		p.emit.Log(level, "recording", message, "")
	}
	data, err := trail.Format(r.withoutSecrets(r.recording(p, player.steps)))
	if err != nil {
		p.emit.Log("warn", "recording", "cannot be written: "+err.Error(), "")
		return
	}
	if p.retain.dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(p.retain.dir, recordingFile), data, 0o644); err != nil {
		r.warnUnwritable(err)
	}
}

// checkRecord sees before the run that --record can be done: there is one trail, and a file that exists has its steps.
func (r *runner) checkRecord(p *plan) error {
	if r.Record == "" {
		return nil
	}
	steps := make([]trail.StepRecording, len(p.steps))
	for i, st := range p.steps {
		steps[i] = trail.StepRecording{Calls: st.calls, Recorded: !st.needsAgent}
	}
	if _, err := r.recorded(p, steps); err != nil {
		return err
	}
	if err := Replaceable(r.resolve(r.Record)); err != nil {
		return fault.Wrap(fault.Misuse, err, "choose a --record file that can be read and written", "record")
	}
	return nil
}

// recorded is the content of the --record file: a new one, or the one there with the calls of this device replaced.
func (r *runner) recorded(p *plan, steps []trail.StepRecording) ([]byte, error) {
	file := r.recording(p, steps)
	data, err := os.ReadFile(r.resolve(r.Record))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return trail.Format(r.withoutSecrets(file))
	case err != nil:
		return nil, fault.Wrap(fault.Misuse, err, "choose a --record file that can be read and written", "record")
	}
	return trail.Merge(r.Record, data, p.classifier(), file)
}

// writeRecord writes the --record file after a trail has passed.
func (r *runner) writeRecord(p *plan, steps []trail.StepRecording, v verdict) verdict {
	if r.Record == "" || v.outcome != event.Passed {
		return v
	}
	data, err := r.recorded(p, steps)
	if err == nil {
		err = ReplaceFile(r.resolve(r.Record), data)
	}
	if err != nil {
		return broken(err)
	}
	p.emit.Log("info", "recording", "written to "+r.Record, "")
	return v
}

// ReplaceFile writes a file in one step: whoever reads it sees the old content or the new one. Its mode stays, a link is followed.
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
		return fault.Wrap(fault.Server, err, "check the folder's permissions and the disk", "write "+filepath.Base(path))
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
	temp, err := os.CreateTemp(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
