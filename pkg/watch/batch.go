package watch

import (
	"os"
	"slices"
	"time"
)

// batch collects changes until the debounce time has passed without one.
type batch struct {
	paths       map[string]bool // whether the path has appeared since the batch began
	all         bool
	first, last time.Time // of the changes; the zero time while there are none
	deadline    time.Time // when the batch is reported even if changes continue
	due         *Change   // the result of change until the next change; computed once, because it may be large
}

// add adds a path. appeared is true if it did not exist before.
func (b *batch) add(path string, appeared bool) {
	if b.paths == nil {
		b.paths = map[string]bool{}
	}
	if _, known := b.paths[path]; !known {
		b.paths[path] = appeared
	}
	b.extend(time.Now())
}

// extend records the time of a change.
func (b *batch) extend(now time.Time) {
	if b.first.IsZero() {
		b.first = now
	}
	if b.deadline.IsZero() || b.due != nil {
		b.deadline = now.Add(maxDelay)
	}
	b.last, b.due = now, nil
}

// change returns the changes and how long to wait before they are reported. wait is 0 when they are due, because none
// was added during debounce or the deadline has passed. It is negative when there are no changes.
func (b *batch) change(now time.Time, debounce time.Duration) (c Change, wait time.Duration) {
	if b.first.IsZero() {
		return Change{}, -1
	}
	if b.due != nil {
		return *b.due, 0
	}
	at := b.last.Add(debounce)
	if b.deadline.Before(at) {
		at = b.deadline
	}
	if wait = at.Sub(now); wait > 0 {
		return Change{}, wait
	}
	c = Change{All: b.all, Since: b.first}
	for path, appeared := range b.paths {
		info, err := os.Lstat(path)
		isFile, appearedAndWasRemoved := err == nil && !info.IsDir(), err != nil && appeared
		if isFile || err != nil && !appearedAndWasRemoved {
			c.Paths = append(c.Paths, path)
		}
	}
	if slices.Sort(c.Paths); len(c.Paths) == 0 && !c.All {
		*b = batch{}
		return Change{}, -1
	}
	b.due = &c
	return c, 0
}
