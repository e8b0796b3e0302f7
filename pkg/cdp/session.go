package cdp

import (
	"context"
	"encoding/json"
)

// Session is a target that the connection is attached to.
type Session struct{}

// Event is something that happened.
type Event struct {
	Method string
	Params json.RawMessage
}

// Decode reads the parameters into v; fields that v does not have are ignored.
func (e Event) Decode(v any) error { return json.Unmarshal(e.Params, v) }

// Call calls a method.
func (s *Session) Call(ctx context.Context, method string, params, result any) error { panic("stub") }

// Listen calls f for each event of the session.
func (s *Session) Listen(f func(Event)) (stop func()) { panic("stub") }
