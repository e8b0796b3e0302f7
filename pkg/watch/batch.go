package watch

import (
	"os"
	"slices"
	"time"
)

// batch collects changes until none has come for a while.
type batch struct {
	paths       map[string]bool // whether the path has appeared since the batch began
	all         bool
	first, last time.Time // of the changes; the zero time while there are none
	deadline    time.Time // when it is reported although more changes come
	due         *Change   // what is reported until something changes again; computed once, since it may be large
}

// add adds a path. appeared says that it did not exist before.
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

// change returns the changes and how long to wait before they are reported: 0 when they are due, which is when none has
// come for the time of debounce, and negative when there are none.
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
