package server

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// reserved is the argument under which a tool finds the session's context. Only we write it.
const reserved = "_trailblazeContext"

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
	SessionID    string         `json:"sessionId"`
	InvocationID string         `json:"invocationId"`
	Device       device         `json:"device"`
	Memory       map[string]any `json:"memory"`
	Target       *tool.Target   `json:"target,omitempty"`
}

// encode writes a call as a request, except for the progress token. Its errors are about the call.
func encode(call tool.Call) (request, *fault.Error) {
	if _, taken := call.Args[reserved]; taken {
		return request{}, fault.New(fault.InvalidArguments, "remove it from the recording; trailblaze writes it itself",
			"the argument %q is reserved", reserved)
	}
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
	args[reserved] = argumentEnvelope{Memory: memory, Device: upper}
	arguments, err := json.Marshal(args)
	if err != nil {
		return request{}, fault.New(fault.InvalidArguments, "", "the arguments cannot be written as JSON: %v", err)
	}
	meta, err := json.Marshal(metaEnvelope{
		SessionID: call.Context.SessionID, InvocationID: call.InvocationID,
		Device: lower, Memory: memory, Target: withAppIDs(call.Context.Target),
	})
	if err != nil {
		return request{}, fault.New(fault.InvalidArguments, "", "the session's memory cannot be written as JSON: %v", err)
	}
	return request{
		Name: call.Tool, Arguments: arguments,
		Meta: map[string]any{"trailblaze": json.RawMessage(meta), "trailblazeInvocationId": call.InvocationID},
	}, nil
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
