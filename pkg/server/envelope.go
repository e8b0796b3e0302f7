package server

import (
	"maps"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// device is a device in both envelopes.
type device struct {
	Platform string `json:"platform"`
	Width    int    `json:"widthPixels"`
	Height   int    `json:"heightPixels"`
	Driver   string `json:"driverType"`
}

// argumentEnvelope is arguments._trailblazeContext. Its platform is upper case.
type argumentEnvelope struct {
	Memory map[string]any `json:"memory"`
	Device device         `json:"device"`
}

// metaEnvelope is _meta.trailblaze. Its platform is lower case.
type metaEnvelope struct {
	BaseURL      string         `json:"baseUrl,omitempty"`
	SessionID    string         `json:"sessionId"`
	InvocationID string         `json:"invocationId"`
	Device       device         `json:"device"`
	Memory       map[string]any `json:"memory"`
	Target       *tool.Target   `json:"target,omitempty"`
}

// envelope makes the request for a call. The caller has seen that the reserved argument is free; a closed tool does not get it.
func envelope(call tool.Call, progressToken string, closed bool) request {
	memory := call.Context.Memory
	if memory == nil {
		memory = map[string]any{}
	}
	in := call.Context.Device
	upper := device{Platform: strings.ToUpper(in.Platform), Width: in.Width, Height: in.Height, Driver: in.Driver}
	lower := upper
	lower.Platform = strings.ToLower(in.Platform)

	args := make(map[string]any, len(call.Args)+1)
	maps.Copy(args, call.Args)
	if !closed {
		args[tool.ReservedArg] = argumentEnvelope{Memory: memory, Device: upper}
	}
	return request{
		Name: call.Tool, Arguments: args,
		Meta: map[string]any{
			"progressToken": progressToken,
			"trailblaze": metaEnvelope{
				BaseURL: call.Context.BaseURL, SessionID: call.Context.SessionID, InvocationID: call.InvocationID,
				Device: lower, Memory: memory, Target: withAppIDs(call.Context.Target),
			},
			"trailblazeInvocationId": call.InvocationID,
		},
	}
}

// withAppIDs makes sure that appIds is a list, even an empty one.
func withAppIDs(t *tool.Target) *tool.Target {
	if t == nil || t.AppIDs != nil {
		return t
	}
	out := *t
	out.AppIDs = []string{}
	return &out
}
