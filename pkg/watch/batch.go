package watch

import (
	"os"
	"slices"
	"time"
)

// batch gathers changes until nothing changes for a while.
type batch struct {
	seen        map[string]bool // by path: whether it has appeared since the batch began
	all         bool
	first, last time.Time // the zero time while nothing has changed
	late        time.Time // when it is told though more changes
	ripe        *Change   // what is told until something changes again; looked up once, it can be much
}

// see adds a path; appeared says that it was not there before.
func (b *batch) see(path string, appeared bool) {
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	if _, known := b.seen[path]; !known {
		b.seen[path] = appeared
	}
	b.note(time.Now())
}

func (b *batch) note(now time.Time) {
	if b.first.IsZero() {
		b.first = now
	}
	if b.late.IsZero() || b.ripe != nil {
		b.late = now.Add(patience)
	}
	b.last, b.ripe = now, nil
}

// change returns what has changed and how long to wait before it is told: 0 when it is ripe, less when there is nothing to tell.
func (b *batch) change(now time.Time) (c Change, wait time.Duration) {
	if b.first.IsZero() {
		return Change{}, -1
	}
	if b.ripe != nil {
		return *b.ripe, 0
	}
	ripe := b.last.Add(Quiet)
	if b.late.Before(ripe) {
		ripe = b.late
	}
	if wait = ripe.Sub(now); wait > 0 {
		return Change{}, wait
	}
	c = Change{All: b.all, Since: b.first}
	for path, appeared := range b.seen {
		info, err := os.Lstat(path)
		isFile, cameAndWent := err == nil && !info.IsDir(), err != nil && appeared
		if isFile || err != nil && !cameAndWent {
			c.Paths = append(c.Paths, path)
		}
	}
	if slices.Sort(c.Paths); len(c.Paths) == 0 && !c.All {
		*b = batch{}
		return Change{}, -1
	}
	b.ripe = &c
	return c, 0
}
