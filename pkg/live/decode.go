package live

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// DecodeCall returns the call that a value of the form of a trail's calls describes: {"TOOL": {…}, "saveAs": …,
// "timeout": …, "optional": …}. It also accepts {"name": "TOOL", "arguments": {…}}, as MCP has it.
func DecodeCall(value map[string]any) (trail.Call, error) {
	const form = `write a call like {"tap": {"text": "OK"}}, with at most saveAs, timeout and optional beside the tool`
	call := trail.Call{Args: map[string]any{}}
	if name, ok := value["name"].(string); ok && value["arguments"] != nil { // the form of MCP
		value = maps.Clone(value)
		value[name] = value["arguments"]
		delete(value, "name")
		delete(value, "arguments")
	}
	for _, key := range slices.Sorted(maps.Keys(value)) {
		if isOption, err := decodeOption(&call, key, value[key]); isOption {
			if err != nil {
				return call, err
			}
			continue
		}
		if call.Tool != "" {
			return call, fault.New(fault.InvalidArguments, form, "the call names two tools: %s and %s", call.Tool, key)
		}
		args, isObject := value[key].(map[string]any)
		if !isObject && value[key] != nil {
			return call, fault.New(fault.InvalidArguments, form, "the arguments of %s are not an object", key)
		}
		call.Tool = key
		if args != nil {
			call.Args = args
		}
	}
	if strings.TrimSpace(call.Tool) == "" {
		return call, fault.New(fault.InvalidArguments, form, "the call names no tool")
	}
	return call, nil
}

// decodeOption sets the option of a call that a key names. It is false for the name of a tool.
func decodeOption(call *trail.Call, key string, value any) (isOption bool, err error) {
	text, isText := value.(string)
	switch key {
	case "saveAs":
		if call.SaveAs = text; !isText || !trail.IsValueName(text) {
			err = fault.New(fault.InvalidArguments, "use letters, digits, _, . and -", "saveAs is not a valid name")
		}
	case "timeout":
		if call.Timeout, err = time.ParseDuration(text); err != nil || call.Timeout <= 0 {
			err = fault.New(fault.InvalidArguments, "write it like 10s", "timeout: %v is not a duration", value)
		}
	case "optional":
		var isBool bool
		if call.Optional, isBool = value.(bool); !isBool {
			err = fault.New(fault.InvalidArguments, "write true or false", "optional: %v is neither true nor false", value)
		}
	default:
		return false, nil
	}
	return true, err
}
