package agent

import (
	"sync"
	"time"
)

// Limits bound what requests take. 0 is no limit.
type Limits struct {
	RequestsPerStep  int
	RequestsPerTrail int
	TokensPerTrail   int // of all kinds
	TimePerStep      time.Duration
	CostPerTrail     float64
	CostPerRun       float64
}

// Budget bounds what the agents of a run take together, and each of them. It may be used from any goroutine.
type Budget struct {
	limits Limits

	mu   sync.Mutex
	cost float64 // of the run, with what requests that are running may cost at most
}

// NewBudget returns the budget of a run.
func NewBudget(l Limits) *Budget { return &Budget{limits: l} }

// Cost returns what the requests of the run have cost so far, with what those that are running may cost at most.
func (b *Budget) Cost() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cost
}
