// Package budget bounds the memory that several parts of a program hold at the same time. Each part has a share, and
// resizes it before it allocates memory.
package budget

import (
	"context"
	"math"
	"sync"
)

// Budget is a number of bytes that shares divide among themselves. It may be used from any goroutine. A nil one has no
// limit.
type Budget struct {
	limit int

	mu    sync.Mutex
	used  int
	freed chan struct{} // closed and replaced when a share shrinks
}

// New returns a budget of a number of bytes.
func New(limit int) *Budget { return &Budget{limit: limit, freed: make(chan struct{})} }

// Share returns an empty share. Whoever has it calls Release at the end.
func (b *Budget) Share() *Share { return &Share{budget: b} }

// Share is the part of a budget that one holder has. It must be used by one goroutine at a time. A nil one has no
// limit.
type Share struct {
	budget *Budget
	bytes  int
}

// Resize makes the share a number of bytes large. It reports false, and changes nothing, if it grows and the budget
// has not enough left.
func (s *Share) Resize(bytes int) bool {
	if s == nil || s.budget == nil {
		return true
	}
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	grow := bytes - s.bytes
	if grow > 0 && b.used+grow > b.limit {
		return false
	}
	b.used += grow
	s.bytes = bytes
	if grow < 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
	return true
}

// Wait resizes the share as soon as the budget has enough left. It reports false if ctx ends before, and at once if the
// whole budget is smaller.
func (s *Share) Wait(ctx context.Context, bytes int) bool {
	if s == nil || s.budget == nil {
		return true
	}
	b := s.budget
	for bytes <= b.limit {
		b.mu.Lock()
		freed := b.freed
		b.mu.Unlock()
		if s.Resize(bytes) {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// Limit returns the number of bytes of the whole budget.
func (b *Budget) Limit() int {
	if b == nil {
		return math.MaxInt
	}
	return b.limit
}

// Limit returns the number of bytes of the whole budget.
func (s *Share) Limit() int { return s.budget.Limit() }

// Used returns how many bytes of the budget all shares have.
func (s *Share) Used() int {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.budget.used
}

// Release makes the share empty.
func (s *Share) Release() { s.Resize(0) }
