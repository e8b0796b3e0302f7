package trail

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// place is where a step is in the list shape: prompts is the list that contains it, absent for a bare list of calls;
// index is its index there; item is the index of the root's item that contains it.
type place struct {
	prompts     yamldoc.Node
	size        int // of prompts
	index, item int
}

// places returns the places of the steps in the list shape, and the index of the trailhead's item, -1 for none.
func (r *reader) places() (steps []place, trailhead int) {
	trailhead = -1
	if r.file.Bare {
		return make([]place, 1), trailhead
	}
	for i, item := range r.root.Items() {
		if _, ok := field(item, "trailhead"); ok {
			trailhead = i
		} else if _, ok := field(item, "tools"); ok {
			steps = append(steps, place{item: i})
		} else if prompts, ok := field(item, "prompts"); ok {
			size := len(prompts.Items())
			for index := range size {
				steps = append(steps, place{prompts, size, index, i})
			}
		}
	}
	return steps, trailhead
}

// listUpdate changes the steps of a file in the list shape.
type listUpdate struct {
	file    *File
	root    *listEdit
	prompts map[int]*listEdit // by index of the root's item
	places  []place
}

// updateList inserts and removes steps in the list shape, and writes the trailhead. In a bare list it changes nothing.
func (r *reader) updateList(edit *yamldoc.Editor, want *File, matched []int, classifier string) error {
	if r.file.Bare {
		return nil
	}
	places, trailhead := r.places()
	items := r.root.Items()
	u := &listUpdate{r.file, newListEdit(r.root, len(items)), map[int]*listEdit{}, places}
	for _, p := range places {
		if p.size > 0 && u.prompts[p.item] == nil {
			u.prompts[p.item] = newListEdit(p.prompts, p.size)
		}
	}
	switch {
	case trailhead >= 0:
		r.updateTrailhead(edit, items[trailhead], want, classifier)
	case want.Trailhead != nil:
		at := 0
		if len(items) > 0 {
			if _, ok := field(items[0], "config"); ok {
				at = 1
			}
		}
		u.root.insert(at, formatList(nil, nil, formatStep(*want.Trailhead)))
	}
	u.remove(matched)
	if err := u.insert(want.Steps, matched); err != nil {
		return err
	}
	u.root.apply(edit)
	for item, prompts := range u.prompts {
		if !u.root.removed[item] {
			prompts.apply(edit)
		}
	}
	return nil
}

// remove removes the steps that are not matched, and the lists of prompts that lose all of them.
func (u *listUpdate) remove(matched []int) {
	for _, p := range u.places {
		u.root.removed[p.item] = true
		if prompts := u.prompts[p.item]; prompts != nil {
			prompts.removed[p.index] = true
		}
	}
	for _, i := range matched {
		if i < 0 {
			continue
		}
		p := u.places[i]
		u.root.removed[p.item] = false
		if prompts := u.prompts[p.item]; prompts != nil {
			prompts.removed[p.index] = false
		}
	}
}

// insert inserts the steps that are not matched, those between two matched steps at once.
func (u *listUpdate) insert(steps []Step, matched []int) error {
	previous := -1
	for i := 0; i < len(steps); i++ {
		if matched[i] >= 0 {
			previous = matched[i]
			continue
		}
		end := i
		for end < len(steps) && matched[end] < 0 {
			end++
		}
		next := len(u.places)
		if end < len(steps) {
			next = matched[end]
		}
		if err := u.insertBetween(previous, next, steps[i:end]); err != nil {
			return err
		}
		i = end - 1
	}
	return nil
}

// insertBetween inserts steps between two steps that stay. Prompts are added to the list of prompts before or after
// them, other steps to the root. -1 is the start of the trail, the number of steps its end.
func (u *listUpdate) insertBetween(previous, next int, steps []Step) error {
	at, before, after := len(u.root.removed), -1, -1 // indexes of items of the root
	if previous < 0 && len(u.places) > 0 {
		at = u.places[0].item
	}
	if next < len(u.places) {
		after = u.places[next].item
		at = after
	}
	if previous >= 0 {
		p := u.places[previous]
		before, at = p.item, p.item+1
		if prompts := u.prompts[before]; prompts != nil {
			n := slices.IndexFunc(append(slices.Clone(steps), Step{Kind: KindTools}), isTools)
			prompts.insert(p.index+1, formatPrompts(steps[:n]))
			steps = steps[n:]
		}
	}
	if len(steps) > 0 && before >= 0 && before == after {
		return fault.New(fault.Trail, "save into another file",
			"%s: a list of calls cannot be inserted between two prompts, below line %d", u.file.Name,
			u.file.Steps[previous].Line)
	}
	if prompts := u.prompts[after]; prompts != nil {
		n := len(steps)
		for n > 0 && !isTools(steps[n-1]) {
			n--
		}
		prompts.insert(u.places[next].index, formatPrompts(steps[n:]))
		steps = steps[:n]
	}
	u.root.insert(at, formatList(steps, nil, nil))
	return nil
}

func isTools(s Step) bool { return s.Kind == KindTools }

func formatPrompts(steps []Step) []any {
	return each(steps, func(s Step) any { return formatStep(s) })
}
