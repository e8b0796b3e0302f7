package agent

import (
	"fmt"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Limits bound what requests take. 0 means unlimited, but for RequestsPerStep.
type Limits struct {
	RequestsPerStep  int // 0 for DefaultRequests: every task ends
	RequestsPerTrail int
	TokensPerTrail   int // of all kinds
	TimePerStep      time.Duration
	CostPerTrail     float64
	CostPerRun       float64
}

// DefaultRequests is how many requests a step may take unless that is limited otherwise.
const DefaultRequests = 12

// Budget bounds what the agents of a run take together, and each of them. It may be used from any goroutine.
type Budget struct {
	limits Limits

	mu   sync.Mutex
	cost float64 // of the run, with what requests that are running may cost at most
}

// NewBudget returns the budget of a run.
func NewBudget(l Limits) *Budget {
	if l.RequestsPerStep == 0 {
		l.RequestsPerStep = DefaultRequests
	}
	return &Budget{limits: l}
}

// Limits returns the limits of the budget.
func (b *Budget) Limits() Limits { return b.limits }

// Cost returns what the requests of the run have cost so far, with what those that are running may cost at most.
func (b *Budget) Cost() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cost
}

// reserve takes the most that a request can cost out of the budget of the run. It returns false if that is not left.
func (b *Budget) reserve(cost float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if limit := b.limits.CostPerRun; limit > 0 && b.cost+cost > limit {
		return false
	}
	b.cost += cost
	return true
}

// settle replaces what was reserved by what the request has cost.
func (b *Budget) settle(reserved, cost float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cost += cost - reserved
}

// leastBytes is how many bytes a token of a request has at least, on average.
const leastBytes = 3

// checkBudget returns an error if a request could exceed a limit, and else the most that it can cost, which is reserved.
func (r *run) checkBudget(request model.Request) (reserved float64, err error) {
	b, l := r.budget, r.budget.limits
	input, output := request.Tokens(leastBytes), request.MaxOutputTokens
	if most := r.agent.opts.Cost; most != nil {
		reserved = max(most(model.Usage{Uncached: input, Output: output}), most(model.Usage{CacheWrite: input, Output: output}))
	}
	used, trail := r.used, r.agent.Used()
	over := func(what string) error {
		return fault.New(OverBudget, "raise the budget, or make the step smaller", "the next request could exceed the budget: %s", what)
	}
	switch {
	case used.Requests >= l.RequestsPerStep:
		return 0, over(text.Count(l.RequestsPerStep, "request") + " for a step")
	case l.RequestsPerTrail > 0 && trail.Requests >= l.RequestsPerTrail:
		return 0, over(text.Count(l.RequestsPerTrail, "request") + " for a trail")
	case l.TokensPerTrail > 0 && trail.Tokens.Input()+trail.Tokens.Output+input+output > l.TokensPerTrail:
		return 0, over(text.Count(l.TokensPerTrail, "token") + " for a trail")
	case l.TimePerStep > 0 && r.now().Sub(r.begun) >= l.TimePerStep:
		return 0, over(fmt.Sprintf("%s for a step", l.TimePerStep))
	case l.CostPerTrail > 0 && trail.Cost+reserved > l.CostPerTrail:
		return 0, over(fmt.Sprintf("%g for a trail", l.CostPerTrail))
	case !b.reserve(reserved):
		return 0, over(fmt.Sprintf("%g for a run", l.CostPerRun))
	}
	return reserved, nil
}

func (u *Used) add(usage model.Usage, cost float64) {
	u.Requests++
	u.Tokens, u.Cost = u.Tokens.Add(usage), u.Cost+cost
}
