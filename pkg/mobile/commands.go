package mobile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// handler runs a command. An error becomes a failed result, except one of kind Crashed or Cancelled, which the call
// returns as it is.
type handler func(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error)

// command is an advertised command with its handler.
type command struct {
	tool.Advertised
	run handler
}

// newCommand returns a command with its input schema; properties are as in device.Command. The command also accepts
// reason, which recordings have and which is ignored.
func newCommand(name, description, properties string, run handler, required ...string) command {
	if properties != "" {
		properties += ", "
	}
	properties += `"reason": {"type": "string", "description": "Why the call is made, for people; ignored"}`
	return command{Advertised: device.Command(name, description, properties, required...), run: run}
}

// checkedBy returns the command with a check of its arguments.
func (c command) checkedBy(check func(a device.Arguments) error) command {
	c.Check = func(args map[string]any) error { return check(args) }
	return c
}

// withName returns the command under another name, which older recordings use.
func (c command) withName(name string) command {
	c.Name = name
	return c
}

// commands returns all commands of a platform: those of every device, and those of sections 15 and 15.3 of the
// specification.
func commands(p Platform) []command {
	list := slices.Concat(tapCommands(p), textCommands(), scrollCommands(p), assertions(p), queries(p), rememberCommands(p), appCommands(p),
		deviceCommands(), controlCommands(), environmentCommands(), transferCommands(), recordingCommands(), maestroCommands(p), screenCommands(), []command{pictureCommand(p), waypointCommand(p)})
	if p == Android {
		list = append(list, androidCommands()...)
	}
	return list
}

// Parts of input schemas.
const (
	timeoutProperty = `"timeoutMs": {"type": "integer", "minimum": 0, "maximum": 600000, "description": "How long to wait"}`
	refProperty     = `"ref": {"type": "string", "description": "The element: e12 of a snapshot"}`
	textProperty    = `"text": {"type": "string", "minLength": 1,
		"description": "The whole text, label or hint of the element, in any case"}`
	idProperty        = `"id": {"type": "string", "minLength": 1, "description": "Its resource id or accessibility identifier"}`
	indexProperty     = `"index": {"type": "integer", "minimum": 0, "description": "Which of several, from 0"}`
	longPressProperty = `"longPress": {"type": "boolean", "default": false, "description": "Hold it"}`
	appProperty       = `"appId": {"type": "string", "minLength": 1, "description": "The app under test when absent"}`
)

// selectorProperties are the arguments of a recorded command for one element. selector is the form of recordings before
// May 2026.
func selectorProperties(p Platform) string {
	return refProperty + `, "nodeSelector": ` + screen.SelectorSchema(p.dialects()...) +
		`, "selector": {"type": "object", "description": "The element in the older form: textRegex, idRegex, …"}, ` +
		timeoutProperty
}

// nameProperties are the arguments that name an element in any way.
func nameProperties(p Platform) string {
	return textProperty + ", " + idProperty + ", " + indexProperty + ", " + refProperty +
		`, "nodeSelector": ` + screen.SelectorSchema(p.dialects()...)
}

// elementProperties are the arguments of a command for one element.
func elementProperties(p Platform) string { return nameProperties(p) + ", " + timeoutProperty }

// coreProperties are the arguments of a query for an element.
func coreProperties() string { return textProperty + ", " + idProperty }

// dialects returns the driver blocks that screens of the platform support.
func (p Platform) dialects() []screen.Dialect {
	if p == IOS {
		return []screen.Dialect{screen.IOSMaestro, screen.IOSAxe}
	}
	return []screen.Dialect{screen.AndroidAccessibility, screen.AndroidMaestro}
}

// success returns the result of a command that did what was requested.
func success(format string, args ...any) tool.Result {
	return tool.Result{OK: true, Text: fmt.Sprintf(format, args...)}
}

// invalid returns the error for arguments that a schema cannot reject.
func invalid(hint, format string, args ...any) error {
	return fault.New(fault.InvalidArguments, hint, format, args...)
}

// timeoutOf returns timeoutMs of a call.
func timeoutOf(a device.Arguments, absent time.Duration) time.Duration {
	if !a.Has("timeoutMs") {
		return absent
	}
	return time.Duration(a.Number("timeoutMs", 0)) * time.Millisecond
}

// waitLimit returns how long a command waits: timeoutMs of the call, else the default, or the limit of the recorded
// call when that is longer.
func waitLimit(ctx context.Context, a device.Arguments, absent time.Duration) time.Duration {
	return timeoutOf(a, max(absent, act.CallLimit(ctx)))
}
