package live

import (
	"context"
	"encoding/json"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// API is a live session for those who work in it: a [RedactedSession] one of this process, or the client of one in another
// process. Requests and answers keep all that they hold when they are encoded as JSON and decoded. Requests run one
// after another, and Look and Locate beside them.
type API interface {
	// Status returns where the session stands, or stood when it ended.
	Status(ctx context.Context) (Status, error)
	Snapshot(ctx context.Context, o SnapshotOptions) (Snapshot, error)
	Step(ctx context.Context, r StepRequest) (StepReport, error)
	// Edit changes the recording and returns it as the content of a trail file, also when the session has ended.
	Edit(ctx context.Context, e Edit) (string, error)
	Save(ctx context.Context, r SaveRequest) (SaveReport, error)
	RunTrail(ctx context.Context, r TrailRequest) (TrailReport, error)
	Toolbox(ctx context.Context) (Toolbox, error)
	Look(ctx context.Context, picture bool) (Look, error)
	Locate(ctx context.Context, at Place) (Location, error)
	// Subscribe returns the events of the session from now on, as [Session.Subscribe] does. The end of ctx is a stop.
	Subscribe(ctx context.Context, buffer int) (events <-chan event.Event, stop func())
	// Err returns why the session can no longer be used; nil while it can.
	Err() error
	// Close ends the session.
	Close(ctx context.Context)
}

// Toolbox is what can be called in a session.
type Toolbox struct {
	Registry *discover.Registry `json:"registry"`
	// Limits says in a few words which calls of a tool are not accepted, by its name. It has no tool of which every call
	// is accepted.
	Limits map[string]string `json:"limits,omitempty"`
	// Primary and PrimaryChecks are described at [device.Kind]. Checks are all tools that a verify step may rely on.
	Primary       []string `json:"primary,omitempty"`
	PrimaryChecks []string `json:"primaryChecks,omitempty"`
	Checks        []string `json:"checks,omitempty"`
}

// Toolbox returns the tools of the session.
func (s *Session) Toolbox(context.Context) (Toolbox, error) {
	kind := s.kind()
	b := Toolbox{Registry: s.tools(), Limits: map[string]string{}, Primary: kind.Primary, PrimaryChecks: kind.PrimaryChecks}
	for _, t := range b.Registry.Tools {
		if limits := s.limits(t.Name); limits != "" {
			b.Limits[t.Name] = limits
		}
		if s.isCheck(t) {
			b.Checks = append(b.Checks, t.Name)
		}
	}
	return b, nil
}

// UnmarshalJSON implements json.Unmarshaler. Numbers keep their digits.
func (r *Replace) UnmarshalJSON(data []byte) error {
	type plain Replace
	with := struct {
		*plain
		With trail.JSON `json:"with"`
	}{plain: (*plain)(r)}
	err := json.Unmarshal(data, &with)
	r.With, _ = with.With.Value.(map[string]any)
	return err
}

// UnmarshalJSON implements json.Unmarshaler. Numbers in Structured keep their digits.
func (c *CallReport) UnmarshalJSON(data []byte) error {
	type plain CallReport
	with := struct {
		*plain
		Structured trail.JSON `json:"structured"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(data, &with)
	c.Structured = with.Structured.Value
	return err
}

// UnmarshalJSON implements json.Unmarshaler. Numbers in Selector keep their digits.
func (c *Candidate) UnmarshalJSON(data []byte) error {
	type plain Candidate
	with := struct {
		*plain
		Selector trail.JSON `json:"selector"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(data, &with)
	c.Selector, _ = with.Selector.Value.(map[string]any)
	return err
}
