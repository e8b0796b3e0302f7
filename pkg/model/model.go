// Package model asks models of any provider one kind of question: a system text, tools, and one user message that only
// grows, answered with calls of those tools (specification, section 22.3). It has retries, limits, usage, costs, and
// transcripts that are written and replayed.
//
// It is independent of what is asked for: it knows no screens, trails or sessions.
package model

import (
	"context"
	"encoding/json"
	"slices"
)

// Model answers requests.
type Model interface {
	// Ask sends a request and returns its answer. The usage counts every attempt that may cost:
	// for one that was sent and has no answer, as much as it can cost at most. An error is a
	// fault of one of the kinds of this package; nothing of the request is tried again after it.
	Ask(ctx context.Context, r Request) (Answer, Usage, error)
}

// Request is one exchange. It is a function of what its caller knows: nothing of an answer has to be sent back as it came.
type Request struct {
	Task            Task
	Tools           []Tool  // sorted by name
	System          string  // the rules
	Blocks          []Block // of the one user message; each request of a task begins with the blocks of the one before it
	MaxOutputTokens int     // 0 for what the model is configured with

	// Element returns role and name of the element that a reference names in the blocks, "" for what is not a reference.
	// Transcripts keep them for the references in an answer, so that a replay notices another screen. It may be nil.
	Element func(ref string) string
	// Reference returns the reference of an element as Element describes it, "" if there is none in the blocks. In a replay
	// an element may have another one than when it was recorded. It may be nil.
	Reference func(element string) string
}

// Task says where a request belongs, in transcripts and events.
type Task struct {
	Trail string `json:"trail,omitempty"` // its path, relative to the project
	Step  string `json:"step,omitempty"`  // its number, see event.StepStarted
	Kind  string `json:"kind"`            // such as step, verify, plan or judge
}

// Tool describes a tool to the model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // a JSON Schema whose root is of type object
}

// Block is a part of the user message: a text, or a picture.
type Block struct {
	Text  string `json:"text,omitempty"`
	Image []byte `json:"image,omitempty"` // PNG
}

// End says how an answer ended.
type End string

// Ends of answers.
const (
	Called  End = "calls"   // with calls
	Said    End = "text"    // without a call
	CutOff  End = "cut off" // at a limit of tokens; its calls may be incomplete and are not given
	Refused End = "refused" // the model or its provider refused to answer
)

// Answer is what a model answered.
type Answer struct {
	End   End    `json:"end"`
	Text  string `json:"text,omitempty"` // beside the calls, or why it refused
	Calls []Call `json:"calls,omitempty"`
}

// Call is a call of a tool. A call whose arguments are not a JSON object, or are too large, has a Problem and no Args.
type Call struct {
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args,omitempty"` // an object
	Problem string          `json:"problem,omitempty"`
}

// Usage counts the tokens of an exchange. The four do not overlap.
type Usage struct {
	Uncached   int  `json:"uncached"`
	CacheRead  int  `json:"cacheRead"`
	CacheWrite int  `json:"cacheWrite"`
	Output     int  `json:"output"`
	Estimated  bool `json:"estimated,omitempty"` // the provider did not say; four bytes are counted as a token

	Attempts int `json:"-"` // how often the request was sent; 0 for a replayed answer
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Uncached: u.Uncached + v.Uncached, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Estimated: u.Estimated || v.Estimated, Attempts: u.Attempts + v.Attempts,
	}
}

// isPossible reports whether an exchange can have had these tokens. Budgets rely on what a provider says.
func (u Usage) isPossible() bool {
	const most = 100_000_000 // of each kind
	return !slices.ContainsFunc([]int{u.Uncached, u.CacheRead, u.CacheWrite, u.Output}, func(n int) bool { return n < 0 || n > most })
}

// Input returns the tokens that were sent, cached ones included.
func (u Usage) Input() int { return u.Uncached + u.CacheRead + u.CacheWrite }
