package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// SaveRequest asks to write the recording into a trail file.
type SaveRequest struct {
	File     string `json:"file"` // relative to the project root
	Title    string `json:"title,omitempty"`
	NoReplay bool   `json:"noReplay,omitempty"` // write it without a replay before, and say so in its metadata
	// Overwrite says whether the steps of an existing file that has others are replaced.
	Overwrite trail.Overwrite `json:"overwrite,omitempty"`
	Replays   int             `json:"replays,omitempty"` // how many replays have to pass; 0 for one
	Also      bool            `json:"also,omitempty"`    // change the calls that were repaired in other files of the project, too
	// Content is written instead of the recording; nil for the recording. Base is what the file had when Content was begun
	// from it, nil if it did not exist: a file that has something else is not written, unless Overwrite is OverwriteAll.
	Content []byte `json:"content"`
	Base    []byte `json:"base"`
}

// SaveReport is what became of a recording.
type SaveReport struct {
	File     string    `json:"file"`               // relative to the project root
	Written  bool      `json:"written"`            // false when it did not pass its replay
	New      bool      `json:"new"`                // the file did not exist
	Steps    int       `json:"steps"`              // of the recording
	Parts    []string  `json:"parts,omitempty"`    // the trails that the file uses and whose calls were repaired
	Diff     string    `json:"diff"`               // unified; of what was written, or would have been
	Replayed *Replayed `json:"replayed,omitempty"` // the last replay
	Replays  int       `json:"replays,omitempty"`  // how many there were
	Warnings []string  `json:"warnings,omitempty"`
	// Also are the other files of the project that have calls as they were before their repair.
	Also []AlsoReport `json:"also,omitempty"`
}

// Save replays the recording in a session of its own and, when it passes, writes it into a trail file. In an existing
// file only the recordings of this device change. It also saves what a session recorded that has ended.
func (s *Session) Save(ctx context.Context, r SaveRequest) (SaveReport, error) {
	release, err := s.acquireRecording(ctx)
	if err != nil {
		return SaveReport{}, err
	}
	defer release()
	path, err := s.savePath(r.File)
	if err == nil {
		err = cmp.Or(s.notAttached(), r.check())
	}
	if err != nil {
		return SaveReport{}, err
	}
	report := SaveReport{File: s.relative(path)}
	d, err := s.draft(path, r)
	if err != nil {
		return report, err
	}
	changes := []change{d.change}
	if r.Content == nil {
		parts, err := s.partChanges(r)
		if err != nil {
			return report, err
		}
		changes = append(changes, parts...)
	}
	for _, c := range changes[1:] {
		report.Parts = append(report.Parts, s.relative(c.path))
	}
	report.New, report.Steps, report.Warnings = d.before == nil, len(d.steps), d.warnings
	contents := map[string][]byte{}
	for _, c := range changes {
		contents[c.path] = c.after
		report.Warnings = append(report.Warnings, s.lostChecks(c.before, c.after)...)
		report.Diff += udiff.Unified(s.relative(c.path), s.relative(c.path), string(c.before), string(c.after))
	}
	if !r.NoReplay {
		passed, err := s.replays(ctx, path, contents, r, &report)
		if err != nil || !passed {
			return report, err
		}
	}
	if err := s.writeAll(changes); err != nil {
		return report, err
	}
	report.Written, s.unsaved = true, false
	s.noteRepairs(changes)
	report.Also = s.also(ctx, r, changes)
	return report, nil
}

// maxReplays is the largest number of replays before a save.
const maxReplays = 100

func (r SaveRequest) check() error {
	switch {
	case r.Replays < 0 || r.Replays > maxReplays:
		return fault.New(fault.InvalidArguments, "", "replays is %d, not between 1 and %d", r.Replays, maxReplays)
	case r.Replays > 0 && r.NoReplay:
		return fault.New(fault.InvalidArguments, "leave one of them out", "a number of replays contradicts a save without a replay")
	case r.Base != nil && r.Content == nil:
		return fault.New(fault.InvalidArguments, "give content", "base is only for a given content")
	case r.Also && r.NoReplay:
		return fault.New(fault.InvalidArguments, "leave one of them out", "other trails are changed only after a replay, so a save with also has one")
	}
	return nil
}

// replays replays what will be saved as often as it is asked for, up to the first replay that does not pass.
func (s *Session) replays(
	ctx context.Context, path string, contents map[string][]byte, r SaveRequest, report *SaveReport,
) (passed bool, err error) {
	if contents, err = s.toReplay(path, contents); err != nil {
		return false, err
	}
	for n := 1; n <= max(1, r.Replays); n++ {
		if err := s.reset(ctx, ", so nothing was written"); err != nil {
			return false, err
		}
		replayed, note, err := s.replay(ctx, path, contents, s.args())
		if err != nil {
			return false, err
		}
		report.Replayed, report.Replays = &replayed, n
		if !replayed.Passed() {
			if n > 1 {
				why := fmt.Sprintf("%s passed before, and replay %d did not: the trail does not pass each time", text.Count(n-1, "replay"), n)
				if s.opts.Reset == nil {
					why += ", or a replay changes the app; `reset:` in trailblaze.yaml names a command that resets it before each"
				}
				note = append(note, why)
			}
			report.Warnings = append(report.Warnings, note...)
			return false, nil
		}
	}
	return true, nil
}

// reset brings the app into the state in which recordings begin, if the project says how. The error has
// what follows from it.
func (s *Session) reset(ctx context.Context, consequence string) error {
	if s.opts.Reset == nil {
		return nil
	}
	err := s.opts.Reset(ctx)
	if e := fault.As(err); e != nil {
		return fault.New(e.Kind, e.Hint, "the app could not be reset for the replay%s: %s", consequence, e.Message)
	}
	return err
}

// savePath returns the absolute path of a file that a recording may be written to: below trailsDir, named *.trail.yaml,
// and without links on the way.
func (s *Session) savePath(name string) (string, error) {
	trails := s.opts.Project.TrailsDir
	refuse := func(format string, args ...any) error {
		return fault.New(fault.InvalidArguments, "write it like "+s.relative(filepath.Join(trails, "checkout.trail.yaml")),
			"trails are saved only below %s, in files named *.trail.yaml: %s", s.relative(trails), fmt.Sprintf(format, args...))
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.opts.Project.Root, path)
	}
	rel, err := filepath.Rel(trails, path)
	switch {
	case name == "":
		return "", refuse("no file is named")
	case err != nil || !filepath.IsLocal(rel) || rel == ".":
		return "", refuse("%s is not below it", name)
	case !strings.HasSuffix(path, ".trail.yaml"):
		return "", refuse("%s has another name", name)
	}
	if err := s.checkPlace(trails, path); err != nil {
		return "", refuse("%s", err)
	}
	return path, nil
}

// checkNewFile is described at [RedactedSession.CheckNewFile].
func (s *Session) checkNewFile(file string, overwrite trail.Overwrite) error {
	path, err := s.savePath(file)
	if err != nil || overwrite != trail.OverwriteNothing {
		return err
	}
	if before, err := s.readOld(path); err != nil || before == nil {
		return err
	}
	return fault.New(fault.Misuse, "choose another file, or overwrite it", "%s exists already", s.relative(path))
}

// checkPlace returns an error unless a path leads to a regular file, or none yet, below a folder and without links.
func (s *Session) checkPlace(folder, path string) error {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return fault.New(fault.Misuse, "move it there", "%s is not below %s and is not written", path, folder)
	}
	for at := path; at != folder; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fault.New(fault.Misuse, "", "%s is a symbolic link", s.relative(at))
		}
		if err == nil && at == path && !info.Mode().IsRegular() {
			return fault.New(fault.Misuse, "", "%s is not a regular file", s.relative(path))
		}
	}
	return nil
}

// draft is what a save writes into the file that it names.
type draft struct {
	change
	steps    []*replay.Step
	warnings []string
}

// draft returns what a save writes.
func (s *Session) draft(path string, r SaveRequest) (d draft, err error) {
	d.path = path
	if r.Content != nil {
		err = s.given(&d, r)
	} else {
		err = s.recorded(&d, r)
	}
	if err == nil {
		err = s.noSecrets(d.before, d.after)
	}
	if err == nil {
		d.after, err = trail.SetMetadata(s.relative(path), d.after, "replayed", unproven(r.NoReplay))
	}
	return d, err
}

// recorded makes a draft that of the recording.
func (s *Session) recorded(d *draft, r SaveRequest) (err error) {
	name, path := s.relative(d.path), d.path
	recorded := s.file(s.walk.Root, name, r.Title, false)
	source := s.source
	if len(recorded.Steps) == 0 && recorded.Trailhead == nil {
		return fault.New(fault.Misuse, "make calls with a step text first", "nothing was recorded")
	}
	if err := cmp.Or(checkTexts(s.allSteps()), s.checkVerifySteps(s.allSteps())); err != nil {
		return err
	}
	if d.before, err = s.readOld(path); err != nil {
		return err
	}
	switch {
	case d.before == nil:
		if source != nil {
			recorded = s.loader().Moved(recorded, source.path)
		}
		d.after, err = trail.Format(recorded)
	case source != nil && source.path == path:
		if err = source.unchanged(name, path, d.before); err == nil {
			d.after, err = trail.Update(name, d.before, s.opts.Lineage, s.file(s.walk.Root, name, r.Title, true), r.Overwrite)
		}
	default:
		d.after, err = trail.Update(name, d.before, s.opts.Lineage, recorded, r.Overwrite)
	}
	d.steps = s.walk.Root.Steps
	if source == nil {
		d.warnings = s.startWarning(d.steps)
	}
	d.warnings = append(d.warnings, s.recordingWarnings()...)
	d.warnings = append(d.warnings, s.stepWarnings(d.steps, "; `recording` with replace puts another selector there")...)
	d.warnings = append(d.warnings, s.secretWarnings(d.after)...)
	if d.before != nil && !strings.Contains(string(d.after), r.Title) {
		d.warnings = append(d.warnings, "the title of a file that exists is not changed")
	}
	return err
}

// readOld returns what a file that is saved has; nil if it does not exist.
func (s *Session) readOld(path string) ([]byte, error) {
	data, err := files.Read(path, trail.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fault.Wrap(fault.Misuse, err, "choose a file that can be read and written", "read "+s.relative(path))
	}
	return data, nil
}

// noSecrets returns an error if a file would get the value of a secret.
func (s *Session) noSecrets(before, after []byte) error {
	if s.secretValues(after) > s.secretValues(before) {
		return fault.New(fault.Misuse, "write {{NAME}} in its place, or drop the call", "the recording has the value of a secret")
	}
	return nil
}

// lostChecks says which steps of a file have fewer checks in its new content, or others.
func (s *Session) lostChecks(before, after []byte) []string {
	var warnings []string
	now := s.checksOf(after)
	for step, had := range s.checksOf(before) {
		has := now[step]
		isGone := func(c trail.Call) bool {
			return !slices.ContainsFunc(has, func(other trail.Call) bool { return sameCall(c, other) && (c.Optional || !other.Optional) })
		}
		switch {
		case len(has) < len(had):
			warnings = append(warnings, fmt.Sprintf("%s %q had %s in the file, now %d",
				step.kind, step.text, text.Count(len(had), "check"), len(has)))
		case slices.ContainsFunc(had, isGone):
			warnings = append(warnings, fmt.Sprintf("the check of %s %q changed; it must prove as much as before",
				step.kind, step.text))
		}
	}
	slices.Sort(warnings)
	return warnings
}

type stepName struct{ kind, text string }

// checksOf returns the checks that each step of a trail has on this device.
func (s *Session) checksOf(data []byte) map[stepName][]trail.Call {
	file, _ := trail.Parse("", data) // content with problems was refused before
	out := map[stepName][]trail.Call{}
	if file == nil {
		return out
	}
	for _, step := range file.Steps {
		calls, _ := step.Lookup(s.opts.Lineage)
		for _, call := range calls {
			if s.isCheckIn(step.Kind, call) {
				name := stepName{step.Kind, step.Text}
				out[name] = append(out[name], call)
			}
		}
	}
	return out
}

// secretValues returns how often the value of a secret is in a text.
func (s *Session) secretValues(text []byte) int {
	redacted, n := s.text(string(text)), 0
	for name := range s.opts.Secrets {
		token := "{{" + name + "}}"
		n += strings.Count(redacted, token) - strings.Count(string(text), token)
	}
	return n
}

// args returns the arguments that the replayed trail got.
func (s *Session) args() map[string]string {
	if s.source == nil {
		return nil
	}
	return s.source.args
}

// unproven returns the value of metadata.replayed: false for a trail that was written without a replay, nil to remove
// it.
func unproven(noReplay bool) any {
	if noReplay {
		return false
	}
	return nil
}

// writeAll writes files, unless one of them was changed since it was read.
func (s *Session) writeAll(changes []change) error {
	for _, c := range changes {
		now, err := files.Read(c.path, trail.MaxSize)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Misuse, err, "choose a file that can be read and written", "write "+s.relative(c.path))
		}
		if !bytes.Equal(now, c.before) {
			return fault.New(fault.Misuse, "save again to see what changes then",
				"%s was changed while the recording was replayed; nothing was written", s.relative(c.path))
		}
	}
	for _, c := range changes {
		if err := s.write(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) write(c change) error {
	if !bytes.Equal(c.before, c.after) {
		err := s.replace(c)
		if fault.As(err) != nil {
			return err
		}
		if err != nil {
			return fault.Wrap(fault.IO, err, "check the folder's permissions and the disk", "write "+s.relative(c.path))
		}
	}
	if s.source != nil {
		s.source.contents[c.path] = c.after
	}
	return nil
}

// replace replaces a file below trailsDir, or a part below the project. A link that leads out of the folder is
// not followed, even if it is made meanwhile.
func (s *Session) replace(c change) error {
	path, content, trails := c.path, c.after, s.opts.Project.TrailsDir
	if c.part {
		trails = s.opts.Project.Root
		if err := s.checkPlace(trails, path); err != nil {
			return err
		}
	} else if _, err := s.savePath(path); err != nil { // a link may have been made since it was checked
		return err
	}
	if err := os.MkdirAll(trails, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(trails)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	name, err := filepath.Rel(trails, path)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return files.ReplaceIn(root, name, func(f *os.File) error {
		_, err := f.Write(content)
		return errors.Join(err, f.Chmod(mode))
	})
}

// file returns the recording as a trail. Steps without calls are left out, unless they come from the replayed trail.
// With onlyChanged, which is for the file of that trail, steps that are as in it have no recording, and the steps of the
// file keep their texts, also those with the value of a secret.
func (s *Session) file(l *replay.Frame, name, title string, onlyChanged bool) *trail.File {
	f := &trail.File{Name: name, Config: s.config(l, name, title)}
	classifier := s.opts.Lineage[0]
	if l.File != nil && l.File.List {
		f.List, f.Bare, classifier = true, l.File.Bare, ""
	}
	for _, step := range l.Steps {
		if step.File == nil && len(step.Calls) == 0 {
			continue
		}
		out := step.Step
		out.Recording = nil
		if step.Kind == trail.KindUse {
			out.Text = step.Use.Path
		} else {
			out.Use = nil // its call says it
		}
		if step.Kind == trail.KindTools {
			out.Text = "" // and not the title of the trail that it runs
		}
		if !onlyChanged || step.File == nil {
			out.Text = s.text(out.Text)
		}
		if waitsForText(step) {
			out.Text = noText
		}
		recorded := step.Changed
		if !recorded && !onlyChanged {
			_, recorded = step.Lookup(s.opts.Lineage)
		}
		if recorded && out.Recordable {
			out.Recording = trail.Recording{{Classifier: classifier, Calls: step.Calls}}
		}
		if step.Kind == trail.KindTrailhead {
			f.Trailhead = &out
			continue
		}
		f.Steps = append(f.Steps, out)
	}
	return f
}

// config returns the config of the recording in a file: that of the replayed trail, else one with the initial memory.
// Only the file of the replayed trail has its id.
func (s *Session) config(l *replay.Frame, name, title string) trail.Config {
	if l.File != nil {
		config := l.File.Config
		config.Title = cmp.Or(title, config.Title)
		if name != "" && name != l.File.Name {
			config.ID = ""
		}
		return config
	}
	config := trail.Config{Target: s.opts.Scope.Target.ID, Title: title}
	if driver := s.opts.Scope.Driver; s.opts.NameDriver {
		config.Devices = []trail.DeviceDriver{{Classifier: driver.Platform.Lower(), Driver: driver.Key}}
	}
	if len(s.opts.Memory) > 0 {
		config.Memory = map[string]any{}
	}
	for name, value := range s.opts.Memory {
		config.Memory[name] = s.text(value)
	}
	return config
}

// recordingWarnings says what was done in the session and is not in the recording.
func (s *Session) recordingWarnings() (out []string) {
	for _, step := range s.unfinished {
		which := strconv.Quote(step.text)
		if step.text == "" {
			which = "the step without a text"
		}
		out = append(out, fmt.Sprintf("the last calls of %s failed, and are not in the trail", which))
	}
	for _, step := range s.notPassed {
		if slices.ContainsFunc(s.walk.Root.Steps, func(other *replay.Step) bool { return s.name(other.Kind, other.Text) == step }) {
			out = append(out, fmt.Sprintf("the task %q did not pass, so its calls in the trail may not do or check what it says", step.text))
		}
	}
	if s.unrecorded > 0 {
		out = append(out, fmt.Sprintf("%s made without recording; if the app keeps what they did, the trail passes only after them",
			wasOrWere(s.unrecorded, "call")))
	}
	for i, step := range s.walk.Root.Steps {
		if step.Changed && !step.Recordable {
			out = append(out, fmt.Sprintf("the calls of step %d %q are not written, because the step is recordable: false", i+1, step.Text))
		}
	}
	return out
}

// stepWarnings returns what in steps may not be as the caller expects. positionHint says how to replace a selector.
func (s *Session) stepWarnings(steps []*replay.Step, positionHint string) (out []string) {
	checks := func(step *replay.Step) bool {
		return step.Kind == trail.KindVerify ||
			slices.ContainsFunc(step.Calls, func(c trail.Call) bool { return s.isCheckIn(step.Kind, c) })
	}
	if !slices.ContainsFunc(steps, checks) {
		out = append(out, "the trail has no verify step, so it does not check any result")
	}
	return append(out, positionWarnings(steps, positionHint)...)
}

// secretWarnings names the secrets that a trail needs and a run does not have by itself.
func (s *Session) secretWarnings(content []byte) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.opts.Secrets)) {
		if bytes.Contains(content, []byte("{{"+name+"}}")) && !slices.Contains(s.opts.Project.SecretNames, name) {
			out = append(out, fmt.Sprintf("the trail needs a secret: run it with --secret %[1]s, or list %[1]s under secrets: in trailblaze.yaml", name))
		}
	}
	return out
}

// startWarning warns of a trail that does not begin in a known state. A replay begins with an empty device.
func (s *Session) startWarning(steps []*replay.Step) []string {
	if len(steps[0].Calls) == 0 {
		return nil
	}
	first := steps[0].Calls[0].Tool
	t, err := s.tools().Find(first)
	if err != nil || t.Source.Kind != tool.FromDevice || slices.Contains(s.kind().StartCommands, first) {
		return nil
	}
	return []string{fmt.Sprintf("the first call is %s; a trail begins with a call that brings the app into a known state: %s",
		first, strings.Join(s.kind().StartCommands, ", "))}
}
