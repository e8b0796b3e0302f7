package document

import (
	"bytes"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// state is a text and what it means. It is not changed after it was made.
type state struct {
	text        []byte
	file        *trail.File
	problems    fault.Problems
	provisional []bool // for each of file.AllSteps
}

func parse(name string, text []byte) (*state, fault.Problems) {
	file, problems := trail.Parse(name, text)
	if len(problems) > 0 {
		return nil, problems
	}
	return newState(bytes.Clone(text), file), nil
}

func newState(text []byte, file *trail.File) *state {
	return &state{text: text, file: file, provisional: make([]bool, len(file.AllSteps()))}
}

func (s *state) hasContent() bool { return len(bytes.TrimSpace(s.text)) > 0 }

func (s *state) whole(string) *trail.File { return s.file }

func (s *state) isProvisional(step int) bool { return step < len(s.provisional) && s.provisional[step] }

// keepProvisional marks the steps that have the text of a provisional one of before, in their order.
func (s *state) keepProvisional(before *state) {
	steps := before.file.AllSteps()
	next := 0
	for i, step := range s.file.AllSteps() {
		have := slices.IndexFunc(steps[next:], func(old *trail.Step) bool { return old.Kind == step.Kind && old.Text == step.Text })
		if have >= 0 {
			s.provisional[i] = before.isProvisional(next + have)
			next += have + 1
		}
	}
}

// revise returns the state after a revision.
func (s *state) revise(name string, provisional []bool, change func(*trail.Revision) error) (*state, error) {
	text, file, err := trail.Revise(name, s.text, change)
	if err != nil {
		return nil, err
	}
	return &state{text: text, file: file, provisional: provisional}, nil
}
