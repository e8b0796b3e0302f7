package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// AlsoReport is another file of the project with calls that the session has repaired.
type AlsoReport struct {
	File    string `json:"file"`  // relative to the project root
	Calls   int    `json:"calls"` // of those
	Written bool   `json:"written"`
	Diff    string `json:"diff,omitempty"`   // of what was written
	Reason  string `json:"reason,omitempty"` // why it was not written although that was asked for
}

// repair is a call of a trail, and the calls that have taken its place.
type repair struct {
	old trail.Call
	now []trail.Call
}

// noteRepairs remembers which calls of files were replaced by a save.
func (s *Session) noteRepairs(changes []change) {
	for _, c := range changes {
		for _, r := range s.repairsIn(c.before, c.after) {
			for i, before := range s.repairs { // that was repaired again
				if len(before.now) == 1 && sameCall(before.now[0], r.old) {
					s.repairs[i].now = r.now
				}
			}
			s.repairs = append(s.repairs, r)
		}
	}
}

// repairsIn returns the calls of a file that are replaced in its new content.
func (s *Session) repairsIn(before, after []byte) []repair {
	had, _ := trail.Parse("", before) // content with problems was refused before
	has, _ := trail.Parse("", after)
	if had == nil || has == nil {
		return nil
	}
	var repairs []repair
	left := has.AllSteps()
	for _, step := range had.AllSteps() {
		i := slices.IndexFunc(left, func(other *trail.Step) bool { return other.Kind == step.Kind && other.Text == step.Text })
		if i < 0 {
			continue
		}
		old, _ := step.Lookup(s.opts.Lineage)
		now, _ := left[i].Lookup(s.opts.Lineage)
		repairs, left = append(repairs, replacedCalls(old, now)...), left[i+1:]
	}
	return repairs
}

// replacedCalls returns the calls of old that others have taken the place of: where one call is gone between calls that
// stay, or several of them of the same tools.
func replacedCalls(old, now []trail.Call) (repairs []repair) {
	for len(old) > 0 {
		gone, next := 0, -1
		for ; gone < len(old); gone++ {
			if next = slices.IndexFunc(now, func(c trail.Call) bool { return sameCall(c, old[gone]) }); next >= 0 {
				break
			}
		}
		come := now
		if next >= 0 {
			come = now[:next]
		}
		switch {
		case gone == 1 && len(come) > 0:
			repairs = append(repairs, repair{old[0], come})
		case gone == len(come) && slices.EqualFunc(old[:gone], come, func(a, b trail.Call) bool { return a.Tool == b.Tool }):
			for i, c := range come {
				repairs = append(repairs, repair{old[i], []trail.Call{c}})
			}
		}
		if next < 0 {
			break
		}
		old, now = old[gone+1:], now[next+1:]
	}
	return repairs
}

// repaired returns calls with the repairs of the session, and how many were replaced. A call keeps its own timeout.
func (s *Session) repaired(calls []trail.Call) (out []trail.Call, n int) {
	for _, c := range calls {
		i := slices.IndexFunc(s.repairs, func(r repair) bool { return sameCall(r.old, c) })
		switch {
		case i < 0:
			out = append(out, c)
			continue
		case len(s.repairs[i].now) == 1 && s.repairs[i].now[0].Tool == c.Tool:
			c.Args = s.repairs[i].now[0].Args
			out = append(out, c)
		default:
			out = append(out, s.repairs[i].now...)
		}
		n++
	}
	return out, n
}

// alsoFile is a file with calls that were repaired elsewhere.
type alsoFile struct {
	change
	report AlsoReport
	failed string // why it is not written; empty if nothing is known against it
}

// alsoTrail is a trail that has such calls, or uses parts that have.
type alsoTrail struct {
	path  string
	parts []*alsoFile // the trail itself included
}

// fail says why the files of a trail are not written, unless that is known.
func (t alsoTrail) fail(reason string) {
	for _, f := range t.parts {
		f.failed = cmp.Or(f.failed, reason)
	}
}

// also finds the other files of the project with calls that the session has repaired, and with r.Also changes those
// calls in them, if every trail that it concerns passes with that.
func (s *Session) also(ctx context.Context, r SaveRequest, saved []change) []AlsoReport {
	if len(s.repairs) == 0 {
		return nil
	}
	found, trails := s.findAlso(saved)
	if r.Also {
		var stopped error
		for _, t := range trails {
			if stopped == nil {
				stopped = s.tryAlso(ctx, t)
			}
			if stopped != nil {
				t.fail(stopped.Error())
			}
		}
		s.writeAlso(found, trails)
	}
	var reports []AlsoReport
	for _, path := range slices.Sorted(maps.Keys(found)) {
		reports = append(reports, found[path].report)
	}
	return reports
}

// findAlso returns the files with calls that were repaired elsewhere, by their paths, and the trails that they concern.
func (s *Session) findAlso(saved []change) (map[string]*alsoFile, []alsoTrail) {
	found, known := map[string]*alsoFile{}, map[string]bool{}
	isSaved := func(path string) bool {
		return slices.ContainsFunc(saved, func(c change) bool { return c.path == path })
	}
	for _, c := range saved {
		known[c.path] = true
	}
	project := s.opts.Project
	names, _ := trail.Find(project.Root, project.TrailsDir, project.LogsDir, nil) // broken links are those of a run
	var trails []alsoTrail
	for _, name := range names {
		t := alsoTrail{path: filepath.Join(project.Root, name)}
		file, problems := s.loader().Load(s.relative(t.path), t.path)
		if len(problems) > 0 || isSaved(t.path) {
			continue
		}
		if _, skipped := file.SkipReason(s.opts.Lineage); skipped {
			continue
		}
		s.findIn(&t, file, change{path: t.path}, found, known)
		if len(t.parts) > 0 {
			trails = append(trails, t)
		}
	}
	return found, trails
}

// findIn looks for calls that were repaired elsewhere in a file and in those that it uses.
func (s *Session) findIn(t *alsoTrail, file *trail.File, at change, found map[string]*alsoFile, known map[string]bool) {
	if !known[at.path] {
		known[at.path] = true
		if f := s.alsoFile(file, at); f != nil {
			found[at.path] = f
		}
	}
	if f := found[at.path]; f != nil && !slices.Contains(t.parts, f) {
		t.parts = append(t.parts, f)
	}
	for _, step := range file.Steps {
		if used := step.UseFor(s.opts.Lineage); used != nil && used.File != nil {
			s.findIn(t, used.File, change{path: s.partPath(used.File), part: true}, found, known)
		}
	}
}

// alsoFile returns a file with its calls repaired, nil if it has none of them.
func (s *Session) alsoFile(file *trail.File, at change) *alsoFile {
	recorded, calls := &trail.File{Name: file.Name}, 0
	for _, step := range file.AllSteps() {
		step := *step
		now, n := []trail.Call(nil), 0
		if had, ok := step.Lookup(s.opts.Lineage); ok {
			now, n = s.repaired(had)
		}
		step.Recording = nil
		if n > 0 {
			step.Recording = trail.Recording{{Classifier: s.opts.Lineage[0], Calls: now}}
		}
		if calls += n; step.Kind == trail.KindTrailhead {
			recorded.Trailhead = &step
		} else {
			recorded.Steps = append(recorded.Steps, step)
		}
	}
	if calls == 0 {
		return nil
	}
	f := &alsoFile{change: at, report: AlsoReport{File: s.relative(at.path), Calls: calls}}
	folder := s.opts.Project.TrailsDir
	if at.part {
		folder = s.opts.Project.Root
	}
	var problems fault.Problems
	f.before, problems = trail.ReadFile(f.report.File, at.path)
	err := cmp.Or(problems.Err(), s.checkPlace(folder, at.path))
	if err == nil {
		f.after, err = trail.Update(f.report.File, f.before, s.opts.Lineage, recorded, trail.OverwriteNothing)
	}
	if err == nil {
		err = s.noSecrets(f.before, f.after)
	}
	if err != nil {
		f.failed = err.Error()
	}
	return f
}

// tryAlso replays a trail with its calls repaired. An error, such as of an app that cannot be reset, concerns
// the trails after it, too.
func (s *Session) tryAlso(ctx context.Context, t alsoTrail) error {
	contents := map[string][]byte{}
	for _, f := range t.parts {
		if f.failed != "" {
			t.fail(f.report.File + " is not changed")
			return nil
		}
		contents[f.path] = f.after
	}
	contents, err := s.toReplay(t.path, contents)
	if err != nil {
		t.fail(err.Error())
		return nil
	}
	if err := s.reset(ctx, ""); err != nil {
		return err
	}
	replayed, _, err := s.replay(ctx, t.path, contents, nil)
	if err == nil && !replayed.Passed() {
		t.fail(fmt.Sprintf("the replay of %s with it %s: %s", s.relative(t.path), replayed.Outcome, replayed.Reason))
	}
	return err
}

// writeAlso writes the files that nothing speaks against. A trail that passed with a part that is not written has not
// shown that it passes without.
func (s *Session) writeAlso(found map[string]*alsoFile, trails []alsoTrail) {
	for again := true; again; {
		again = false
		for _, t := range trails {
			i := slices.IndexFunc(t.parts, func(f *alsoFile) bool { return f.failed != "" })
			for _, f := range t.parts {
				if i >= 0 && f.failed == "" {
					f.failed, again = t.parts[i].report.File+" is not changed", true
				}
			}
		}
	}
	for _, f := range found {
		if f.failed == "" {
			if err := s.writeAll([]change{f.change}); err != nil {
				f.failed = err.Error()
			}
		}
		if f.report.Written = f.failed == ""; f.report.Written {
			f.report.Diff = udiff.Unified(f.report.File, f.report.File, string(f.before), string(f.after))
		}
		f.report.Reason = f.failed
	}
}
