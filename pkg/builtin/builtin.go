// Package builtin has the tools of trailblaze itself, as a source of tools. They do not depend on sessions, servers and
// devices; their changes of memory are in their results. They have no state and may be called from any goroutine.
package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Source returns the built-in tools with their Caller.
func Source() discover.Source {
	known := tools()
	src := discover.Source{Source: tool.Source{Kind: tool.FromBuiltin, Name: "trailblaze"}}
	byName := caller{}
	for _, t := range known {
		schema := closedSchema(t.properties, t.required)
		meta := map[string]any{"trailblaze/toolset": "memory"}
		if slices.Contains([]string{tool.AssertWithModel, tool.RunTrail}, t.name) {
			meta = map[string]any{"trailblaze/isForLlm": false} // people write them into trails
		}
		src.Tools = append(src.Tools, tool.Advertised{Name: t.name, Description: t.description, InputSchema: schema, Meta: meta})
		byName[t.name] = callable{t.run, &discover.Tool{Name: t.name, InputSchema: schema}}
	}
	src.Caller = byName
	return src
}

// builtin is the definition of a tool. run receives the arguments as decoded from JSON, with numbers as json.Number.
type builtin struct {
	name, description string
	properties        string // of the input schema, JSON
	required          []string
	run               func(ctx context.Context, call tool.Call, args map[string]any) (tool.Result, error)
}

func tools() []builtin {
	const message = `, "message": {"type": "string", "description": "What is checked, in words; it begins the ` +
		`report of a failure"}`
	return []builtin{
		{
			"assertEquals",
			"Checks that two values are the same JSON. Numbers are compared by value, and a text equals a number or a " +
				"truth value " +
				"that is written like it: \"3\" equals 3.",
			`"expected": {"description": "Any JSON value"}, "actual": {"description": "Any JSON value, usually a {{token}}"}` +
				message,
			[]string{"expected", "actual"},
			assertEquals,
		},
		{
			"assertNotEquals",
			"Checks that two values differ, by the rules of assertEquals.",
			`"expected": {"description": "The JSON value that it must not be"},
			"actual": {"description": "Any JSON value, usually a {{token}}"}` + message,
			[]string{"expected", "actual"},
			assertNotEquals,
		},
		{
			"assertMath",
			"Checks a calculation, exactly: 0.1 + 0.2 is 0.3. It knows + - * / %, a minus sign, parentheses and decimals. " +
				"The result is the text of the result.",
			`"expression": {"type": ["string", "number"], "description": "Such as {{price}} * {{amount}} - {{discount}}"},
			"expected": {"type": ["string", "number"], "description": "A number, or another expression"}` + message,
			[]string{"expression", "expected"},
			assertMath,
		},
		{
			tool.AssertWithModel,
			"Lets a model judge a claim about the screen, for what no check can say. It needs a model on every run.",
			`"that": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The claim, such as: the chart has two peaks"},
			"within": {"type": "string", "minLength": 1, "description": "Only what is in this element counts: a CSS selector on the web, ` +
				`an id or a whole text on phones"},
			"image": {"type": "boolean", "default": false, "description": "Show the model a picture of the screen, too"}`,
			[]string{"that"},
			assertWithModel,
		},
		{"dumpMemory", "Shows the memory of the session, without secrets, as JSON.", "", nil, dumpMemory},
		{
			tool.RememberValue,
			"Puts a value into the memory of the session; later calls write {{name}} for it.",
			`"name": {"type": "string", "description": "Letters, digits, _ . and -, not beginning with a digit, . or -"},
			"value": {"description": "Any JSON value"}`,
			[]string{"name", "value"},
			rememberValue,
		},
		{
			tool.RunTrail,
			"Runs the steps of another trail in the session, as `use:` does. It is the only call of a step in a trail file.",
			`"path": {"type": "string", "minLength": 1, "description": "The path of the trail, relative to the file or else to the project root"},
			"args": {"type": "object", "description": "The arguments that the trail declares"}`,
			[]string{"path"},
			runTrail,
		},
		{
			"wait",
			"Waits for a number of seconds. Prefer a tool that waits for what you need.",
			fmt.Sprintf(`"seconds": {"type": "number", "minimum": 0, "maximum": %[1]d, "default": 5, "description": "Fractions are fine"},
			"timeToWaitInSeconds": {"type": "number", "minimum": 0, "maximum": %[1]d, "description": "The same, as recordings name it"},
			"ms": {"type": "number", "minimum": 0, "maximum": %[1]d000, "description": "The same in milliseconds"},
			"reason": {"type": "string", "description": "Ignored"}, "reasoning": {"type": "string", "description": "Ignored"}`,
				longestWait),
			nil,
			wait,
		},
	}
}

func closedSchema(properties string, required []string) json.RawMessage {
	schema := `{"type": "object", "properties": {` + properties + `}, "additionalProperties": false`
	if len(required) > 0 {
		schema += `, "required": ["` + strings.Join(required, `", "`) + `"]`
	}
	return json.RawMessage(schema + `}`)
}

// caller runs the built-in tools. It may be called concurrently.
type caller map[string]callable

type callable struct {
	run func(context.Context, tool.Call, map[string]any) (tool.Result, error)
	is  *discover.Tool
}

// Call implements tool.Caller. It checks the arguments against the tool's schema.
func (c caller) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	t, ok := c[call.Tool]
	if !ok {
		return failure(fault.UnknownTool, "unknown built-in tool %q", call.Tool), nil
	}
	var problems []string
	for _, p := range t.is.CheckArgs(call.Args, nil) {
		problems = append(problems, p.Message)
	}
	if len(problems) > 0 {
		return failure(fault.InvalidArguments, "%s: %s", call.Tool, strings.Join(problems, "; ")), nil
	}
	args, err := plain(call.Args)
	if err != nil {
		return failure(fault.InvalidArguments, "%s: %v", call.Tool, err), nil
	}
	return t.run(ctx, call, args)
}

// plain returns arguments as they are decoded from JSON, with numbers as json.Number.
func plain(args map[string]any) (map[string]any, error) {
	if isPlain(args) {
		return args, nil
	}
	data, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("write its arguments as JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read its arguments as JSON: %w", err)
	}
	return out, nil
}

// isPlain reports whether a value is equal to what decoding its JSON returns.
func isPlain(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case string:
		return utf8.ValidString(v)
	case json.Number:
		return json.Valid([]byte(v))
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !isPlain(e) })
	case map[string]any:
		for key, e := range v {
			if !utf8.ValidString(key) || !isPlain(e) {
				return false
			}
		}
		return v != nil
	}
	return false
}

func failure(kind fault.Kind, format string, args ...any) tool.Result {
	return tool.Result{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// assertWithModel lets the session ask a model.
func assertWithModel(ctx context.Context, call tool.Call, _ map[string]any) (tool.Result, error) {
	if call.Judge != nil {
		return call.Judge(ctx, call)
	}
	r := failure(fault.ToolFailed, "assertWithModel needs a model, which it has only in a trail that `trailblaze run` replays")
	r.Hint = "write it into the recording of a step, name a model with `llm: { model: … }` in trailblaze.yaml or --llm, and run the trail"
	return r, nil
}

// runTrail is called only outside of a trail: a replay runs the other trail in its place.
func runTrail(context.Context, tool.Call, map[string]any) (tool.Result, error) {
	r := failure(fault.ToolFailed, "runTrail works only as a call of a step in a trail file")
	r.Hint = "replay that trail, or write the call into the recording of a step"
	return r, nil
}

func dumpMemory(_ context.Context, call tool.Call, _ map[string]any) (tool.Result, error) {
	memory := call.Context.Memory
	if memory == nil {
		memory = map[string]any{}
	}
	data, err := encode(memory)
	if err != nil {
		return failure(fault.ToolFailed, "memory cannot be written as JSON: %v", err), nil
	}
	return tool.Result{OK: true, Text: data, Structured: json.RawMessage(data)}, nil
}

// encode returns JSON for people: sorted, on one line, without escaping < > &.
func encode(value any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// nameForm matches the names that tokens can use. Trail files have the same rule for config.memory.
var nameForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func rememberValue(_ context.Context, call tool.Call, args map[string]any) (tool.Result, error) {
	name, _ := args["name"].(string)
	switch {
	case !nameForm().MatchString(name):
		return failure(fault.InvalidArguments,
			"rememberValue: %q is not a valid name: use letters, digits, _ . and -, and start with a letter or _",
			abridge(name)), nil
	case name == "args" || strings.HasPrefix(name, "args."):
		return failure(fault.InvalidArguments,
			"rememberValue: the name %q is reserved for the declared arguments, {{args.name}}; choose another", name), nil
	}
	return tool.Result{OK: true, Text: "remembered " + name, MemoryDelta: map[string]any{name: call.Args["value"]}}, nil
}

// longestWait is in seconds. A longer wait is a mistake, such as milliseconds.
const longestWait = 3600

// defaultWait is that of recordings without a number.
const defaultWait = 5 * time.Second

// waitLength returns how long wait waits.
func waitLength(args map[string]any) (time.Duration, error) {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"seconds", time.Second}, {"timeToWaitInSeconds", time.Second}, {"ms", time.Millisecond}} {
		if number, ok := args[unit.name].(json.Number); ok {
			n, err := number.Float64()
			return time.Duration(n * float64(unit.of)), err
		}
	}
	return defaultWait, nil
}

// wait waits. It is limited only by the timeout of the recorded call, which is checked before.
func wait(ctx context.Context, call tool.Call, args map[string]any) (tool.Result, error) {
	length, err := waitLength(args)
	if err != nil {
		return failure(fault.InvalidArguments, "wait: %v", err), nil
	}
	if call.Timeout > 0 && length > call.Timeout {
		return failure(fault.CallTimeout, "wait: %s is longer than the timeout of the recorded call, %s; change its "+
			"`timeout:` in the trail",
			length, call.Timeout), nil
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return tool.Result{OK: true, Text: "waited " + length.String()}, nil
	case <-ctx.Done():
		err := fault.New(fault.Cancelled, "", "tool %q: cancelled: %v", call.Tool, context.Cause(ctx))
		err.Cause = context.Cause(ctx)
		return tool.Result{}, err
	}
}
