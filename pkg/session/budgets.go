package session

import "github.com/trailblaze/trailblaze/pkg/budget"

// Budgets bound the memory of all sessions of a program together. The zero value bounds nothing.
type Budgets struct {
	Values    *budget.Budget // of the values in memory and in recordings; the memory of each session has a limit of its own
	Callbacks *budget.Budget // of requests and responses of callbacks
	Others    *budget.Budget // the same of processes that no session started
}

// NewBudgets returns the budgets of a program.
func NewBudgets() Budgets {
	return Budgets{Values: budget.New(128 << 20), Callbacks: budget.New(128 << 20), Others: budget.New(64 << 20)}
}
