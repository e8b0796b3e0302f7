package document

import (
	"bytes"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// state is a text and what it means. It is not changed after it was made.
type state struct {
	text        []byte
	problems    fault.Problems // why the text does not parse
	provisional []bool         // for each step of all

	// rest is the trail, without the steps that parts have.
	rest  *trail.File
	head  string // the text before the parts
	parts []part // the rest of the text, for each of File.Steps; none when it cannot be divided
}

// part is the lines of a step, with the comments above and below it.
type part struct {
	text  string
	lines int
	step  *trail.Step       // its lines count from the first of the part
	shown map[string][]Call // what show returned for the calls of a classifier
}

func emptyState(o Options) *state { return &state{rest: &trail.File{Name: o.Name, Config: o.Config}} }

func parse(name string, text []byte) (*state, fault.Problems) {
	file, problems := trail.Parse(name, text)
	if len(problems) > 0 {
		return nil, problems
	}
	return newState(bytes.Clone(text), file), nil
}

func newState(text []byte, file *trail.File) *state {
	s := &state{text: text, rest: file, provisional: make([]bool, len(file.AllSteps()))}
	if head, parts, ok := divide(string(text), file); ok {
		s.head, s.parts, s.rest = head, parts, withoutSteps(file)
	}
	return s
}

func withoutSteps(file *trail.File) *trail.File {
	rest := *file
	rest.Steps = nil
	return &rest
}

// all returns the steps that can be edited. The lines of those in parts count from the first of the part.
func (s *state) all() []*trail.Step {
	all := s.rest.AllSteps()
	for _, p := range s.parts {
		all = append(all, p.step)
	}
	return all
}

// firstLines returns, for each step of all, how many lines precede those from which its lines count.
func (s *state) firstLines() []int {
	lines := make([]int, len(s.rest.AllSteps()))
	line := strings.Count(s.head, "\n")
	for _, p := range s.parts {
		lines = append(lines, line)
		line += p.lines
	}
	return lines
}

// shown returns the calls of a step, which are those for a classifier, as show does.
func (s *state) shown(step int, classifier string, calls []trail.Call) []Call {
	i := step - len(s.rest.AllSteps())
	if i < 0 || i >= len(s.parts) {
		return show(calls)
	}
	known := s.parts[i].shown
	if _, ok := known[classifier]; !ok {
		known[classifier] = show(calls)
	}
	return known[classifier]
}

func (s *state) isProvisional(step int) bool { return step < len(s.provisional) && s.provisional[step] }

// keepProvisional marks the steps that have the text of a provisional one of before, in their order.
func (s *state) keepProvisional(before *state) {
	steps, next := before.all(), 0
	for i, step := range s.all() {
		have := slices.IndexFunc(steps[next:], func(old *trail.Step) bool { return old.Kind == step.Kind && old.Text == step.Text })
		if have >= 0 {
			s.provisional[i] = before.isProvisional(next + have)
			next += have + 1
		}
	}
}

// revision is a change of the trail.
type revision struct {
	provisional []bool // of the steps after it
	touched     []int  // the indexes of the steps before it that it is about
	shift       int    // by how many steps the first of them are more afterwards, when a step moves to the others
	// change is given where a step, one of those that are touched or beside one, is in the file that is revised.
	change func(v *trail.Revision, at func(step int) int) error
}

// revise returns the state after a revision. Only the steps that are touched and those beside them are parsed, so that
// it takes the same time in a long trail; if that is not possible, all are.
func (s *state) revise(name string, r revision) (*state, error) {
	if next, ok := s.reviseParts(name, r); ok {
		return next, nil
	}
	text, file, err := trail.Revise(name, s.text, func(v *trail.Revision) error {
		return r.change(v, func(step int) int { return step })
	})
	if err != nil {
		return nil, err
	}
	next := newState(text, file)
	next.provisional = r.provisional
	return next, nil
}

// reviseParts makes a revision in a file that has only the steps in a window around those that are touched.
func (s *state) reviseParts(name string, r revision) (next *state, ok bool) {
	if len(s.parts) == 0 {
		return nil, false
	}
	first := len(s.rest.AllSteps())
	window := s.window(r.touched, first)
	small := []byte(s.head)
	for _, i := range window {
		small = append(small, s.parts[i].text...)
	}
	text, file, err := trail.Revise(name, small, func(v *trail.Revision) error {
		return r.change(v, func(step int) int {
			if step < first {
				return step
			}
			i, _ := slices.BinarySearch(window, step-first)
			return first + i
		})
	})
	if err != nil {
		return nil, false
	}
	head, parts, ok := divide(string(text), file)
	if !ok {
		return nil, false
	}
	next = &state{rest: withoutSteps(file), head: head, provisional: r.provisional, parts: s.spliced(window, parts, r.shift)}
	next.text = append(make([]byte, 0, len(s.text)+len(text)), head...)
	for i, p := range next.parts {
		if !strings.HasSuffix(p.text, "\n") && i < len(next.parts)-1 {
			return nil, false
		}
		next.text = append(next.text, p.text...)
	}
	return next, len(next.text) <= trail.MaxSize
}

// window returns the indexes of the parts of steps and of those beside them.
func (s *state) window(steps []int, first int) []int {
	var window []int
	for _, step := range steps {
		i := max(0, step-first)
		for j := max(0, i-1); j <= min(i+1, len(s.parts)-1); j++ {
			window = append(window, j)
		}
	}
	slices.Sort(window)
	return slices.Compact(window)
}

// spliced returns the parts with others in place of those in a window, which has one gap at most.
func (s *state) spliced(window []int, with []part, shift int) []part {
	gap := 1
	for gap < len(window) && window[gap] == window[gap-1]+1 {
		gap++
	}
	last := window[len(window)-1] + 1
	if gap == len(window) {
		return slices.Concat(s.parts[:window[0]], with, s.parts[last:])
	}
	return slices.Concat(s.parts[:window[0]], with[:gap+shift], s.parts[window[gap-1]+1:window[gap]], with[gap+shift:], s.parts[last:])
}
