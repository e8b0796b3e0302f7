package live

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// enteredPart takes the steps of a part from the last time that it was used, with their repair.
func (s *Session) enteredPart(part *replay.Frame) {
	path := s.partPath(part.File)
	if before := s.parts[path]; before != nil {
		part.Steps = make([]*replay.Step, len(before.Steps))
		for i, step := range before.Steps {
			again := *step
			part.Steps[i] = &again
		}
	}
	s.parts[path] = part
}

// partPath returns the absolute path of a trail that another uses.
func (s *Session) partPath(file *trail.File) string {
	if filepath.IsAbs(file.Name) {
		return file.Name
	}
	return filepath.Join(s.opts.Project.Root, file.Name)
}

// leaveFinishedParts leaves the parts whose steps are all done, unless a request continues their last step.
func (s *Session) leaveFinishedParts(ctx context.Context, r StepRequest) {
	for {
		l := s.walk.Current
		if l.Outer == nil || l.Next < len(l.Steps) || r.Unrecorded || s.continues(r, l.Steps[l.Next-1]) {
			return
		}
		s.walk.Leave(ctx)
	}
}

// allSteps returns the steps of the recording and of its parts.
func (s *Session) allSteps() []*replay.Step {
	all := slices.Clone(s.walk.Root.Steps)
	for _, path := range s.partPaths() {
		all = append(all, s.parts[path].Steps...)
	}
	return all
}

// partPaths returns the paths of the parts that were replayed.
func (s *Session) partPaths() []string { return slices.Sorted(maps.Keys(s.parts)) }

// change is a file with the content it had, nil if it did not exist, and the content it gets.
type change struct {
	path          string
	before, after []byte
	part          bool // it may lie anywhere below the project
}

// partChanges returns the parts whose calls were repaired.
func (s *Session) partChanges(r SaveRequest) ([]change, error) {
	var changes []change
	for _, path := range s.partPaths() {
		part := s.parts[path]
		if !slices.ContainsFunc(part.Steps, isChanged) {
			continue
		}
		name := s.relative(path)
		if err := s.checkPlace(s.opts.Project.Root, path); err != nil {
			return nil, err
		}
		before, err := files.Read(path, trail.MaxSize)
		if err == nil {
			err = s.source.unchanged(name, path, before)
		}
		if err != nil {
			return nil, err
		}
		after, err := trail.Update(name, before, s.opts.Lineage, s.file(part, name, "", true), r.Overwrite)
		if err != nil {
			return nil, err
		}
		if err := s.noSecrets(before, after); err != nil {
			return nil, err
		}
		changes = append(changes, change{path, before, after, true})
	}
	return changes, nil
}

func isChanged(step *replay.Step) bool { return step.Changed }
