package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestSource(t *testing.T) {
	t.Parallel()
	src := builtin.Source()
	r, err := discover.Build(discover.Scope{Driver: "playwright-native", Platform: scope.Web}, []discover.Source{src}, nil,
		discover.Selection{})
	if err != nil || len(r.Warnings) > 0 || len(r.Skipped) > 0 {
		t.Fatalf("%v %v %v", err, r.Warnings, r.Skipped)
	}
	usage := map[string]string{}
	for _, tl := range r.Tools {
		if !tl.IsRecordable || tl.Description == "" || tl.Source.String() != "builtin trailblaze" {
			t.Errorf("%+v", tl)
		}
		if tl.IsForLLM == slices.Contains([]string{tool.AssertWithModel, tool.RunTrail}, tl.Name) {
			t.Errorf("%s is offered to agents: %v", tl.Name, tl.IsForLLM)
		}
		usage[tl.Name] = tl.Usage()
	}
	want := map[string]string{
		"assertEquals":    "actual, expected, message (string) optional",
		"assertNotEquals": "actual, expected, message (string) optional",
		"assertMath":      "expected (string or number), expression (string or number), message (string) optional",
		"assertWithModel": "that (string), image (boolean) optional, within (string) optional",
		"dumpMemory":      "",
		"runTrail":        "path (string), args (object) optional",
		"rememberValue":   "name (string), value",
		"wait": "ms (number) optional, reason (string) optional, reasoning (string) optional, seconds (number) optional, " +
			"timeToWaitInSeconds (number) optional",
	}
	if diff := cmp.Diff(want, usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, tool, args, want string }{
		{"another key", "dumpMemory", `{"all": true}`, `dumpMemory: unknown argument "all"`},
		{
			"a key is missing", "assertEquals", `{"expected": 1, "actuel": 1}`,
			`assertEquals: unknown argument "actuel"; missing argument "actual"`,
		},
		{"both are missing", "rememberValue", `{}`, `rememberValue: missing argument "name"; missing argument "value"`},
		{
			"a wrong type", "assertMath",
			`{"expression": true, "expected": 1}`, `assertMath: expression must be text or a number, not true or false`,
		},
		{"text for seconds", "wait", `{"seconds": "1"}`, `wait: seconds must be a number, not text`},
		{"negative seconds", "wait", `{"seconds": -1}`, `wait: seconds must be at least 0; it is -1`},
		{"milliseconds", "wait", `{"seconds": 5000}`, `wait: seconds must be at most 3600; it is 5000`},
		{
			"no text for the message",
			"assertEquals", `{"expected": 1, "actual": 1, "message": 1}`, `assertEquals: message must be text, not a number`,
		},
		{"a name with a space", "rememberValue", `{"name": "my name", "value": 1}`, `"my name" is not a valid name`},
		{
			"a name of another field",
			"rememberValue", `{"name": "args.count", "value": 1}`, `the name "args.count" is reserved`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := call(t, tool.Call{Tool: tt.tool, Args: object(t, tt.args)})
			if got.OK || got.Kind != fault.InvalidArguments || !strings.Contains(got.Text, tt.want) {
				t.Errorf("%+v, want %q", got, tt.want)
			}
		})
	}
	if got := call(t, tool.Call{Tool: "assertEqual"}); got.Kind != fault.UnknownTool {
		t.Errorf("%+v", got)
	}
	nan := map[string]any{"seconds": math.NaN()}
	if got := call(t, tool.Call{Tool: "wait", Args: nan}); got.Kind != fault.InvalidArguments {
		t.Errorf("%+v", got)
	}
}

func TestDumpMemoryIsSorted(t *testing.T) {
	t.Parallel()
	memory := map[string]any{"b": uint64(1 << 63), "a": map[string]any{"z": "<&>", "y": []any{nil, 1.5}}}
	got := call(t, tool.Call{Tool: "dumpMemory", Context: tool.Context{Memory: memory}})
	want := `{"a":{"y":[null,1.5],"z":"<&>"},"b":9223372036854775808}`
	if !got.OK || got.Text != want || string(got.Structured) != want {
		t.Errorf("%+v, want %s", got, want)
	}
	if got := call(t, tool.Call{Tool: "dumpMemory"}); got.Text != "{}" {
		t.Errorf("nothing remembered: %+v", got)
	}
	unwritable := tool.Context{Memory: map[string]any{"f": func() {}}}
	if got := call(t, tool.Call{Tool: "dumpMemory", Context: unwritable}); got.Kind != fault.ToolFailed {
		t.Errorf("no JSON: %+v", got)
	}
}

func TestRememberValueKeepsValues(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		"text", nil, true, int64(3), json.Number("1.50"),
		[]any{"a", int64(1)},
		map[string]any{"k": "v"},
	} {
		got := call(t, tool.Call{Tool: "rememberValue", Args: map[string]any{"name": "it", "value": value}})
		want := tool.Result{OK: true, Text: "remembered it", MemoryDelta: map[string]any{"it": value}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", value, diff)
		}
	}
}

func TestRememberValueHasNamesOfTrailFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", "_", "a_b-c.d9", "A", "args2", "args", "9", "-a", ".a", "a b", "a{", "é", "",
		"a\n",
	} {
		_, problems := trail.Parse("x.trail.yaml", mustJSON(t, map[string]any{
			"config": map[string]any{"memory": map[string]any{name: "v"}}, "trail": []any{map[string]any{"step": "s"}},
		}))
		got := call(t, tool.Call{Tool: "rememberValue", Args: map[string]any{"name": name, "value": "v"}})
		if got.OK != (len(problems) == 0) {
			t.Errorf("%q: a trail file says %v, rememberValue %+v", name, problems, got)
		}
	}
}

func TestWaitTakesItsTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`{"seconds": 0}`: 0, `{"seconds": 0.02}`: 20 * time.Millisecond, `{"seconds": 1e-2}`: 10 * time.Millisecond,
		`{"seconds": 60}`: time.Minute, `{"timeToWaitInSeconds": 2.5, "reason": "x"}`: 2500 * time.Millisecond,
		`{"ms": 500}`: 500 * time.Millisecond, `{"reasoning": "x"}`: 5 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			got := call(t, tool.Call{Tool: "wait", Args: object(t, text), Timeout: time.Minute})
			if took := time.Since(start); !got.OK || took != want {
				t.Errorf("%s: %+v after %s", text, got, took)
			}
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := builtin.Source().Caller.Call(ctx, tool.Call{Tool: "wait", Args: map[string]any{"seconds": 3600}})
	if fault.KindOf(err) != fault.Cancelled || !errors.Is(err, cause) ||
		err.Error() != `tool "wait": cancelled: the user is gone` {
		t.Errorf("%v", err)
	}
}

func TestWaitChecksTimeoutFirst(t *testing.T) {
	t.Parallel()
	got := call(t, tool.Call{Tool: "wait", Args: map[string]any{"seconds": 3600}, Timeout: 2 * time.Second})
	want := "wait: 1h0m0s is longer than the timeout of the recorded call, 2s; change its `timeout:` in the trail"
	if got.OK || got.Kind != fault.CallTimeout || got.Text != want {
		t.Errorf("%+v", got)
	}
}

// The examples in the documentation pass, and they call every tool.
func TestExamplesInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "built-in-tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page), "\r\n", "\n")
	called := map[string]bool{}
	for _, block := range strings.Split(text, "\n```yaml\n")[1:] {
		src, _, _ := strings.Cut(block, "\n```\n")
		file, problems := trail.Parse("example.trail.yaml", []byte(src))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		synctest.Test(t, func(t *testing.T) { replay(t, file, called) })
	}
	for _, tl := range builtin.Source().Tools {
		called[tool.RunTrail] = true // by who replays a trail
		if !called[tl.Name] || !strings.Contains(text, "\n## "+tl.Name+"\n") {
			t.Errorf("%s has no section or no example", tl.Name)
		}
	}
}

// replay makes the built-in calls of a trail.
func replay(t *testing.T, file *trail.File, called map[string]bool) {
	t.Helper()
	values := trail.NewValues(trail.Sources{Trail: file.Config.Memory})
	for _, step := range file.Steps {
		for _, recording := range step.Recording {
			for _, c := range recording.Calls {
				called[c.Tool] = true
				args, err := trail.Interpolate(c.Args, values)
				if err != nil {
					t.Fatal(err)
				}
				agree := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{OK: true}, nil }
				got := call(t, tool.Call{Tool: c.Tool, Args: args, Context: tool.Context{Memory: values.Snapshot()}, Judge: agree})
				if !got.OK {
					t.Errorf("line %d: %+v", c.Line, got)
				}
				for name, value := range got.MemoryDelta {
					values.Set(name, value)
				}
			}
		}
	}
}

func call(t *testing.T, c tool.Call) tool.Result {
	t.Helper()
	got, err := builtin.Source().Caller.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJudgingNeedsModel(t *testing.T) {
	t.Parallel()
	src := builtin.Source()
	call := tool.Call{Tool: tool.AssertWithModel, Args: map[string]any{"that": "the chart has two peaks"}}
	r, err := src.Caller.Call(t.Context(), call)
	if err != nil || r.OK || r.Kind != fault.ToolFailed || !strings.Contains(r.Text, "needs a model") || !strings.Contains(r.Hint, "--llm") {
		t.Errorf("%+v %v", r, err)
	}
	judged := 0
	call.Judge = func(context.Context, tool.Call) (tool.Result, error) { judged++; return tool.Result{OK: true}, nil }
	if r, err = src.Caller.Call(t.Context(), call); err != nil || !r.OK || judged != 1 {
		t.Errorf("%+v %v", r, err)
	}
	for _, args := range []map[string]any{{}, {"that": ""}, {"that": strings.Repeat("x", 1001)}, {"that": "x", "within": ""}, {"that": "x", "model": "y"}} {
		call.Args = args
		if r, err = src.Caller.Call(t.Context(), call); err != nil || r.Kind != fault.InvalidArguments || judged != 1 {
			t.Errorf("%v: %+v %v", args, r, err)
		}
	}
}

// What others run gets no program of this machine; without one to run, a call that is not refused would panic.
func TestExecIsRefusedToOthers(t *testing.T) {
	t.Parallel()
	source := builtin.ExecSource(nil)
	for _, call := range []tool.Call{{FromSandbox: true}, {FromURL: true}} {
		call.Tool, call.Args = tool.Exec, map[string]any{"command": "true"}
		if result, err := source.Caller.Call(t.Context(), call); err != nil || result.OK || !strings.Contains(result.Text, "run no programs") {
			t.Errorf("%+v, %v", result, err)
		}
	}
}
