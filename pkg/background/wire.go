package background

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Info is what is known of a session without a request to it, which would wait for an earlier one.
type Info struct {
	live.Status
	Busy    bool          `json:"busy"`    // a request is being served
	Idle    time.Duration `json:"idle"`    // since the last request
	Unsaved bool          `json:"unsaved"` // the recording has steps that are not in a file
}

// stepMessage is a live.StepRequest.
type stepMessage struct {
	Text       string        `json:"text"`
	Kind       string        `json:"kind"`
	Calls      []callMessage `json:"calls"`
	Unrecorded bool          `json:"unrecorded"`
}

// callMessage is a trail.Call.
type callMessage struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"` // decoded by trail.DecodeJSON, which keeps the digits of numbers
	SaveAs  string          `json:"saveAs,omitempty"`
	Timeout time.Duration   `json:"timeout,omitempty"`
}

func newStepMessage(r live.StepRequest) (stepMessage, error) {
	m := stepMessage{Text: r.Text, Kind: r.Kind, Unrecorded: r.Unrecorded}
	for _, call := range r.Calls {
		args, err := json.Marshal(call.Args)
		if err != nil {
			return m, err
		}
		m.Calls = append(m.Calls, callMessage{call.Tool, args, call.SaveAs, call.Timeout})
	}
	return m, nil
}

func (m stepMessage) request() (live.StepRequest, error) {
	r := live.StepRequest{Text: m.Text, Kind: m.Kind, Unrecorded: m.Unrecorded}
	for _, call := range m.Calls {
		value, err := trail.DecodeJSON(call.Args)
		args, ok := value.(map[string]any)
		if err != nil || !ok && value != nil {
			return r, fault.New(fault.InvalidArguments, "", "the arguments of %s are not an object", call.Tool)
		}
		r.Calls = append(r.Calls, trail.Call{Tool: call.Tool, Args: args, SaveAs: call.SaveAs, Timeout: call.Timeout})
	}
	return r, nil
}

// toolboxMessage is a discover.Registry.
type toolboxMessage struct {
	Tools    []toolMessage      `json:"tools"`
	Offered  []string           `json:"offered"` // names
	Skipped  []discover.Skipped `json:"skipped"`
	Toolsets []discover.Toolset `json:"toolsets"`
}

// toolMessage is a discover.Tool.
type toolMessage struct {
	Name               string          `json:"name"`
	Description        string          `json:"description"`
	Source             tool.Source     `json:"source"`
	InputSchema        json.RawMessage `json:"inputSchema,omitempty"`
	IsForLLM           bool            `json:"isForLlm"`
	IsRecordable       bool            `json:"isRecordable"`
	IsDelegating       bool            `json:"isDelegating"`
	RequiresHost       bool            `json:"requiresHost"`
	RequiresContext    bool            `json:"requiresContext"`
	SupportedDrivers   []string        `json:"supportedDrivers"`
	SupportedPlatforms []string        `json:"supportedPlatforms"`
	Toolsets           []string        `json:"toolsets"`
}

func newToolboxMessage(r *discover.Registry, redactor *redact.Redactor) toolboxMessage {
	m := toolboxMessage{Skipped: r.Skipped, Toolsets: r.Toolsets}
	for _, t := range r.Tools {
		m.Tools = append(m.Tools, toolMessage{
			t.Name, redactor.Text(t.Description), t.Source, redactor.Bytes(t.InputSchema), t.IsForLLM, t.IsRecordable,
			t.IsDelegating, t.RequiresHost, t.RequiresContext, t.SupportedDrivers, t.SupportedPlatforms, t.Toolsets,
		})
	}
	for _, t := range r.Offered {
		m.Offered = append(m.Offered, t.Name)
	}
	return m
}

// registry returns the tools without their callers.
func (m toolboxMessage) registry() *discover.Registry {
	r := &discover.Registry{Skipped: m.Skipped, Toolsets: m.Toolsets}
	byName := map[string]*discover.Tool{}
	for _, t := range m.Tools {
		byName[t.Name] = &discover.Tool{
			Name: t.Name, Description: t.Description, Source: t.Source, InputSchema: t.InputSchema, IsForLLM: t.IsForLLM,
			IsRecordable: t.IsRecordable, IsDelegating: t.IsDelegating, RequiresHost: t.RequiresHost,
			RequiresContext: t.RequiresContext, SupportedDrivers: t.SupportedDrivers,
			SupportedPlatforms: t.SupportedPlatforms, Toolsets: t.Toolsets,
		}
		r.Tools = append(r.Tools, byName[t.Name])
	}
	for _, name := range m.Offered {
		if t, ok := byName[name]; ok {
			r.Offered = append(r.Offered, t)
		}
	}
	return r
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

func newErrorMessages(err error, redactor *redact.Redactor) []errorMessage {
	var messages []errorMessage
	for _, part := range fault.Split(err) {
		m := errorMessage{Kind: fault.KindOf(part), Message: redactor.Text(part.Error())}
		if e := fault.As(part); e != nil {
			m.Message, m.Hint = redactor.Text(e.Message), redactor.Text(e.Hint)
			m.Details, _ = redactor.Value(e.Details).(map[string]any)
		} else if problems, ok := errors.AsType[fault.Problems](part); ok {
			for _, p := range problems {
				p.Message, p.Hint = redactor.Text(p.Message), redactor.Text(p.Hint)
				m.Problems = append(m.Problems, problemMessage{p, p.Kind, redactor.Text(p.Snippet)})
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
