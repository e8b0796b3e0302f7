package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// device is the device as both contexts show it.
type device struct {
	Platform string `json:"platform"`
	Width    int    `json:"widthPixels"`
	Height   int    `json:"heightPixels"`
	Driver   string `json:"driverType"`
	ID       string `json:"deviceId,omitempty"`
	Name     string `json:"deviceName,omitempty"`
}

// contextEncoder encodes the parts of the session's context that calls have in common, and keeps them until they
// change.
type contextEncoder struct {
	sampling bool // the server may ask a model; not changed after the first call

	mu      sync.Mutex
	context tool.Context // what the fields below were made of
	memory  json.RawMessage
	upper   json.RawMessage // the device, its platform in upper case, as in arguments._trailblazeContext
	lower   json.RawMessage // the device, its platform in lower case, as in _meta.trailblaze
	target  json.RawMessage // nil without one
}

// encodedContext is a tool.Context as JSON.
type encodedContext struct{ memory, upper, lower, target json.RawMessage }

// encode returns c as JSON.
func (e *contextEncoder) encode(c tool.Context) (encodedContext, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.memory == nil || !sameMap(e.context.Memory, c.Memory) {
		memory := json.RawMessage("{}")
		if c.Memory != nil {
			var err error
			if memory, err = json.Marshal(c.Memory); err != nil {
				return encodedContext{}, err
			}
		}
		e.memory, e.context.Memory = memory, c.Memory
	}
	if e.upper == nil || e.context.Device != c.Device {
		d := device{
			Platform: strings.ToUpper(c.Device.Platform), Width: c.Device.Width, Height: c.Device.Height,
			Driver: c.Device.Driver, ID: c.Device.ID, Name: c.Device.Name,
		}
		e.upper = encode(d)
		d.Platform = strings.ToLower(d.Platform)
		e.lower, e.context.Device = encode(d), c.Device
	}
	if !sameTarget(e.context.Target, c.Target) {
		e.target, e.context.Target = nil, nil
		if c.Target != nil {
			target := *c.Target
			target.AppIDs = append([]string{}, target.AppIDs...) // a list also if there are none
			e.target, e.context.Target = encode(target), &target
		}
	}
	return encodedContext{e.memory, e.upper, e.lower, e.target}, nil
}

// sameMap reports whether two variables hold the same map. Callers do not change a map that they have passed.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func sameTarget(a, b *tool.Target) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && a.DisplayName == b.DisplayName && a.AppID == b.AppID && a.BaseURL == b.BaseURL &&
		slices.Equal(a.AppIDs, b.AppIDs)
}

// encode returns the JSON of a value that consists of strings and whole numbers, which always have one.
func encode(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}

// callParams returns the parameters of a tools/call. call.Args does not have the reserved argument, and a strict tool
// is not sent it. extraMeta are members of _meta to add, without braces; it may be empty.
func (e *contextEncoder) callParams(
	call tool.Call, progressToken string, strict bool, extraMeta []byte,
) (json.RawMessage, error) {
	c, err := e.encode(call.Context)
	if err != nil {
		return nil, err
	}
	args := []byte("{}")
	if len(call.Args) > 0 {
		if args, err = json.Marshal(call.Args); err != nil {
			return nil, err
		}
	}
	out := make([]byte, 0, len(args)+2*len(c.memory)+len(c.upper)+len(c.lower)+len(c.target)+len(extraMeta)+512)
	out = append(out, `{"name":`...)
	out = appendString(out, call.Tool)
	out = append(out, `,"arguments":`...)
	if strict {
		out = append(out, args...)
	} else {
		out = append(out, args[:len(args)-1]...)
		if len(args) > len("{}") {
			out = append(out, ',')
		}
		out = append(out, `"`+tool.ReservedArg+`":{"memory":`...)
		out = append(out, c.memory...)
		out = append(out, `,"device":`...)
		out = append(out, c.upper...)
		out = append(out, "}}"...)
	}
	out = append(out, `,"_meta":{"progressToken":`...)
	out = appendString(out, progressToken)
	out = append(out, `,"trailblaze":{`...)
	if call.Context.BaseURL != "" {
		out = append(out, `"baseUrl":`...)
		out = appendString(out, call.Context.BaseURL)
		out = append(out, ',')
	}
	if e.sampling {
		out = append(out, `"capabilities":{"sampling":true},`...)
	}
	out = append(out, `"sessionId":`...)
	out = appendString(out, call.Context.SessionID)
	out = append(out, `,"invocationId":`...)
	out = appendString(out, call.InvocationID)
	out = append(out, `,"device":`...)
	out = append(out, c.lower...)
	out = append(out, `,"memory":`...)
	out = append(out, c.memory...)
	if c.target != nil {
		out = append(out, `,"target":`...)
		out = append(out, c.target...)
	}
	out = append(out, `},"trailblazeInvocationId":`...)
	out = appendString(out, call.InvocationID)
	if len(extraMeta) > 0 {
		out = append(append(out, ','), extraMeta...)
	}
	return append(out, "}}"...), nil
}

// appendString appends s as a JSON string.
func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(out, encode(s)...)
		}
	}
	out = append(out, '"')
	out = append(out, s...)
	return append(out, '"')
}
