package server

import (
	"maps"
	"strings"

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

// argumentContext is arguments._trailblazeContext. Its platform is upper case.
type argumentContext struct {
	Memory map[string]any `json:"memory"`
	Device device         `json:"device"`
}

// metaContext is _meta.trailblaze. Its platform is lower case.
type metaContext struct {
	BaseURL      string         `json:"baseUrl,omitempty"`
	SessionID    string         `json:"sessionId"`
	InvocationID string         `json:"invocationId"`
	Device       device         `json:"device"`
	Memory       map[string]any `json:"memory"`
	Target       *tool.Target   `json:"target,omitempty"`
}

// callParams returns the parameters of a tools/call. call.Args does not have the reserved argument; a strict tool is not sent it.
func callParams(call tool.Call, progressToken string, strict bool) requestParams {
	memory := call.Context.Memory
	if memory == nil {
		memory = map[string]any{}
	}
	in := call.Context.Device
	upper := device{
		Platform: strings.ToUpper(in.Platform), Width: in.Width, Height: in.Height, Driver: in.Driver, ID: in.ID, Name: in.Name,
	}
	lower := upper
	lower.Platform = strings.ToLower(in.Platform)

	args := make(map[string]any, len(call.Args)+1)
	maps.Copy(args, call.Args)
	if !strict {
		args[tool.ReservedArg] = argumentContext{Memory: memory, Device: upper}
	}
	return requestParams{
		Name: call.Tool, Arguments: args,
		Meta: map[string]any{
			"progressToken": progressToken,
			"trailblaze": metaContext{
				BaseURL: call.Context.BaseURL, SessionID: call.Context.SessionID, InvocationID: call.InvocationID,
				Device: lower, Memory: memory, Target: withAppIDs(call.Context.Target),
			},
			"trailblazeInvocationId": call.InvocationID,
		},
	}
}

// withAppIDs returns t with a list of app ids that is not nil, because appIds is always a list.
func withAppIDs(t *tool.Target) *tool.Target {
	if t == nil || t.AppIDs != nil {
		return t
	}
	out := *t
	out.AppIDs = []string{}
	return &out
}
