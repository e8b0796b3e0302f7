package background

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

// Info is what is known of a session without a request to it, which would wait for an earlier one.
type Info struct {
	live.Status
	Busy   bool          `json:"busy"`   // a request is being served
	Idle   time.Duration `json:"idle"`   // since the last request, or since somebody looked at the page
	Studio string        `json:"studio"` // the URL of the page; empty for none
}

// answer is the body of a response: a result or errors.
type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Errors []errorMessage  `json:"errors,omitempty"`
}

// errorMessage is a fault.Error, or a fault.Problems when Problems is set.
type errorMessage struct {
	Kind     fault.Kind       `json:"kind"`
	Message  string           `json:"message"`
	Hint     string           `json:"hint,omitempty"`
	Details  map[string]any   `json:"details,omitempty"`
	Problems []problemMessage `json:"problems,omitempty"`
}

// problemMessage is a fault.Problem with the fields that its own encoding leaves out.
type problemMessage struct {
	fault.Problem
	Kind    fault.Kind `json:"kind"`
	Snippet string     `json:"snippet"`
}

func newErrorMessages(err error) []errorMessage {
	var messages []errorMessage
	for _, part := range fault.Split(err) {
		m := errorMessage{Kind: fault.KindOf(part), Message: part.Error()}
		if e := fault.As(part); e != nil {
			m.Message, m.Hint, m.Details = e.Message, e.Hint, e.Details
		} else if problems, ok := errors.AsType[fault.Problems](part); ok {
			for _, p := range problems {
				m.Problems = append(m.Problems, problemMessage{p, p.Kind, p.Snippet})
			}
		}
		messages = append(messages, m)
	}
	return messages
}

// err returns the error that was sent.
func (a answer) err() error {
	var errs []error
	for _, m := range a.Errors {
		if len(m.Problems) == 0 {
			errs = append(errs, &fault.Error{Kind: m.Kind, Message: m.Message, Hint: m.Hint, Details: m.Details})
			continue
		}
		var problems fault.Problems
		for _, p := range m.Problems {
			p.Problem.Kind, p.Problem.Snippet = p.Kind, p.Snippet
			problems = append(problems, p.Problem)
		}
		errs = append(errs, problems)
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
