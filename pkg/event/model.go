package event

import (
	"math"
	"slices"
)

// TaskStarted says that a model begins to carry out the running step.
type TaskStarted struct {
	Step  string `json:"step"`  // its number, see StepStarted.Number
	Kind  string `json:"kind"`  // step or verify
	Model string `json:"model"` // such as anthropic/claude-sonnet
	// MaxRequests is how many requests the task may make.
	MaxRequests int `json:"maxRequests,omitempty"`
}

// LLMFinished says how a request to a model ended.
type LLMFinished struct {
	N            int      `json:"n"`      // its number in the task, from 1
	Task         string   `json:"task"`   // the number of the step, see StepStarted.Number
	Status       string   `json:"status"` // how the answer ended: calls, text, cut off or refused; else the kind of the error
	Tokens       int      `json:"tokens"` // of the request, those from a cache included
	CachedTokens int      `json:"cachedTokens"`
	OutputTokens int      `json:"outputTokens"`        // of the answer
	Estimated    bool     `json:"estimated,omitempty"` // the provider did not count the tokens
	Cost         *float64 `json:"cost,omitempty"`      // as the configured prices have it; absent when there are none
	DurationMs   int64    `json:"durationMs"`
	Attempts     int      `json:"attempts"`
	File         string   `json:"file,omitempty"` // with the request and the answer, below the session's folder
}

// TaskFinished says how a task ended.
type TaskFinished struct {
	Step    string  `json:"step"` // its number, see StepStarted.Number
	Outcome Outcome `json:"outcome"`
	// Warnings say what whoever reviews the recording should look at, such as a check that held before, too.
	Warnings []string `json:"warnings,omitempty"`
}

// Mode says where the calls of a trail came from.
type Mode string

// The modes of a trail, the stronger one last. A run has the strongest of its trails.
const (
	Recorded Mode = "recorded" // all of them from recordings
	Assisted Mode = "assisted" // some from a model
	Healed   Mode = "healed"   // all of them from recordings, of which a model has repaired some
)

// HealProposed says what a model proposes in place of a recorded call that failed.
type HealProposed struct {
	Step  string `json:"step"`  // its number, see StepStarted.Number
	Call  int    `json:"call"`  // its number in the step, from 1
	Tool  string `json:"tool"`  // that it calls
	Class string `json:"class"` // same, rerouted, renamed or different
	Why   string `json:"why"`   // of the class, for people
	Guard string `json:"guard"` // why it may not be written; empty if it may
	Proof string `json:"proof"` // how the replay of the repaired trail ended: passed, not made, or why it did not pass
	File  string `json:"file"`  // with the patch, below the session's folder
}

// MayBeWritten reports whether the repaired trail may take the place of the other.
func (e HealProposed) MayBeWritten() bool { return e.Guard == "" && e.Proof == string(Passed) }

// ModelUse sums up the requests to a model of a trail, or of a run, in which a model may be asked.
type ModelUse struct {
	Mode         Mode     `json:"mode"`
	Requests     int      `json:"requests"`
	Tokens       int      `json:"tokens"` // see LLMFinished, of all requests
	CachedTokens int      `json:"cachedTokens"`
	OutputTokens int      `json:"outputTokens"`
	Estimated    bool     `json:"estimated,omitempty"`
	Cost         *float64 `json:"cost,omitempty"` // absent when it is not known of each request
}

func modes() []Mode { return []Mode{Recorded, Assisted, Healed} }

// Plus returns the sum of two; nil is that of a trail in which no model may be asked.
func (u *ModelUse) Plus(other *ModelUse) *ModelUse {
	switch {
	case u == nil:
		return other
	case other == nil:
		return u
	}
	sum := *u
	if slices.Index(modes(), other.Mode) > slices.Index(modes(), sum.Mode) {
		sum.Mode = other.Mode
	}
	sum.Cost = addCost(u, other)
	sum.Requests += other.Requests
	sum.Tokens += other.Tokens
	sum.CachedTokens += other.CachedTokens
	sum.OutputTokens += other.OutputTokens
	sum.Estimated = u.Estimated || other.Estimated
	return &sum
}

func addCost(a, b *ModelUse) *float64 {
	switch {
	case b.Requests == 0:
		return a.Cost
	case a.Requests == 0:
		return b.Cost
	case a.Cost == nil || b.Cost == nil:
		return nil
	}
	sum := math.Round((*a.Cost+*b.Cost)*1e6) / 1e6 // a sum of prices has no more digits that matter
	return &sum
}

// AddRequest adds a request.
func (u *ModelUse) AddRequest(e LLMFinished) {
	*u = *u.Plus(&ModelUse{
		Mode: Assisted, Requests: 1, Tokens: e.Tokens, CachedTokens: e.CachedTokens, OutputTokens: e.OutputTokens,
		Estimated: e.Estimated, Cost: e.Cost,
	})
}

// Type implements Event.
func (TaskStarted) Type() string { return "task.started" }

// Type implements Event.
func (LLMFinished) Type() string { return "llm.finished" }

// Type implements Event.
func (TaskFinished) Type() string { return "task.finished" }

// Type implements Event.
func (HealProposed) Type() string { return "heal.proposed" }

func (e TaskStarted) withoutSecrets(r Redactor) Event {
	e.Model = r.Text(e.Model)
	return e
}

func (e LLMFinished) withoutSecrets(r Redactor) Event {
	e.File = r.Text(e.File)
	return e
}

func (e HealProposed) withoutSecrets(r Redactor) Event {
	for _, text := range []*string{&e.Tool, &e.Class, &e.Why, &e.Guard, &e.Proof, &e.File} {
		*text = limitText(r.Text(*text))
	}
	return e
}

func (e TaskFinished) withoutSecrets(r Redactor) Event {
	e.Warnings = withoutSecretsIn(e.Warnings, r)
	return e
}

func withoutSecretsIn(texts []string, r Redactor) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = limitText(r.Text(text))
	}
	return texts
}
