package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	own "github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// toolCall is what a test's tool is given: its arguments and a way to call back.
type toolCall struct {
	ctx    context.Context //nolint:containedctx // it ends with the call
	args   map[string]any
	meta   map[string]any // _meta.trailblaze
	server *mcp.Server    // its own
}

type answer struct {
	Type       string          `json:"type"`
	Success    bool            `json:"success"`
	Text       string          `json:"text_content"`
	Error      string          `json:"error_message"`
	Message    string          `json:"message"`
	Structured json.RawMessage `json:"structured_content"`
	Delta      map[string]any  `json:"memory_delta"`
	Deletions  []string        `json:"memory_deletions"`
}

// call posts a callback; extra keys go into its action.
func (a toolCall) call(name string, args map[string]any, extra ...map[string]any) (answer, error) {
	if args == nil {
		args = map[string]any{}
	}
	inner, err := json.Marshal(args)
	if err != nil {
		return answer{}, err
	}
	action := map[string]any{"type": "call_tool", "tool_name": name, "arguments_json": string(inner)}
	for _, more := range extra {
		maps.Copy(action, more)
	}
	body, err := json.Marshal(map[string]any{
		"version": 1, "session_id": a.meta["sessionId"], "invocation_id": a.meta["invocationId"], "action": action,
	})
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(a.ctx), http.MethodPost, fmt.Sprint(a.meta["baseUrl"], "/scripting/callback"), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	var out struct{ Result answer }
	err = json.NewDecoder(resp.Body).Decode(&out)
	return out.Result, err
}

// must is call for a test that expects success.
func (a toolCall) must(name string, args map[string]any) (string, error) {
	got, err := a.call(name, args)
	switch {
	case err != nil:
		return "", err
	case !got.Success:
		return "", fmt.Errorf("%s%s", got.Error, got.Message)
	}
	return got.Text, nil
}

// fake is a tool of a test. A string is a text, a *mcp.CallToolResult is itself.
type fake func(a toolCall) (any, error)

// offer adds a tool to a server.
func offer(s *mcp.Server, name string, do fake, tune ...func(*mcp.Tool)) {
	def := &mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}
	for _, f := range tune {
		f(def)
	}
	s.AddTool(def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a := toolCall{ctx: ctx, server: s}
		_ = json.Unmarshal(req.Params.Arguments, &a.args)
		a.meta, _ = req.Params.Meta["trailblaze"].(map[string]any)
		out, err := do(a)
		if err != nil {
			var no mcp.CallToolResult
			no.SetError(err)
			return &no, nil
		}
		if result, ok := out.(*mcp.CallToolResult); ok {
			return result, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(out)}}}, nil
	})
}

// serving launches servers, one per name, with their tools.
func serving(tools map[string]map[string]fake, tune ...func(*mcp.Tool)) session.Launcher {
	return func(ctx context.Context, l session.Launch) (server.Link, error) {
		client, end := mcp.NewInMemoryTransports()
		s := mcp.NewServer(&mcp.Implementation{Name: l.Server.Name, Version: "1"}, nil)
		for name, do := range tools[l.Server.Name] {
			offer(s, name, do, tune...)
		}
		session, err := s.Connect(context.WithoutCancel(ctx), end, nil)
		if err != nil {
			return nil, err
		}
		heard := make(chan struct{})
		close(heard)
		return &link{client, heard, make(chan struct{}), session}, nil
	}
}

// play runs one trail against the servers and returns how it went, the records and the session's folder.
func play(t *testing.T, content string, tools map[string]map[string]fake, edit ...func(*run.Options)) (event.TrailFinished, *records, string) {
	t.Helper()
	var seen records
	o := options(t, &seen, content, slices.Sorted(maps.Keys(tools))...)
	o.Builtins = []discover.Source{own.Source()}
	o.Launch = serving(tools)
	for _, f := range edit {
		f(&o)
	}
	if _, err := run.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, r := range seen.events {
		if e, ok := r.Event.(event.TrailFinished); ok {
			dirs, err := filepath.Glob(filepath.Join(o.Project.LogsDir, "a_*"))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("session folders %v, %v", dirs, err)
			}
			return e, &seen, dirs[0]
		}
	}
	t.Fatal("the trail never finished")
	return event.TrailFinished{}, nil, ""
}

func passed(t *testing.T, e event.TrailFinished) {
	t.Helper()
	if e.Outcome != event.Passed {
		t.Fatalf("%s: %s", e.Outcome, e.Reason)
	}
}

// calls lists what was called, as "1.1 name".
func (r *records) calls() []string {
	var out []string
	for _, rec := range r.events {
		if e, ok := rec.Event.(event.CallStarted); ok {
			out = append(out, e.Call+" "+e.Tool)
		}
	}
	return out
}

func (r *records) logs() []event.Log {
	var out []event.Log
	for _, rec := range r.events {
		if e, ok := rec.Event.(event.Log); ok {
			out = append(out, e)
		}
	}
	return out
}

// steps writes a trail of one step with calls as YAML lines.
func steps(calls ...string) string {
	return "trail:\n  - step: s\n    recording:\n      web:\n        - " + strings.Join(calls, "\n        - ") + "\n"
}

func TestToolCallsOtherServersItsOwnServerAndABuiltin(t *testing.T) {
	t.Parallel()
	e, seen, _ := play(t, steps("ask: {}"), map[string]map[string]fake{
		"one": {
			"ask": func(a toolCall) (any, error) {
				var texts []string
				for _, name := range []string{"other", "same", "dumpMemory"} {
					text, err := a.must(name, map[string]any{})
					if err != nil {
						return nil, err
					}
					texts = append(texts, text)
				}
				return strings.Join(texts, " "), nil
			},
			"same": func(toolCall) (any, error) { return "same server", nil },
		},
		"two": {"other": func(toolCall) (any, error) { return "other server", nil }},
	})
	passed(t, e)
	if diff := cmp.Diff([]string{"1 ask", "1.1 other", "1.2 same", "1.3 dumpMemory"}, seen.calls()); diff != "" {
		t.Error(diff)
	}
}

func TestNestedCallsAreLimitedToSixteenLevels(t *testing.T) {
	t.Parallel()
	down := func(a toolCall) (any, error) {
		depth, _ := a.args["left"].(float64)
		if depth == 0 {
			return "bottom", nil
		}
		return a.must("down", map[string]any{"left": depth - 1})
	}
	e, _, _ := play(t, steps("down: {left: 16}"), map[string]map[string]fake{"one": {"down": down}})
	passed(t, e)
	e, _, _ = play(t, steps("down: {left: 17}"), map[string]map[string]fake{"one": {"down": down}})
	if e.Outcome != event.Failed || !strings.Contains(e.Reason, "16 levels deep") {
		t.Errorf("%s: %s", e.Outcome, e.Reason)
	}
}

func TestCallbackCarriesMemoryBothWays(t *testing.T) {
	t.Parallel()
	inner := func(a toolCall) (any, error) {
		memory, _ := a.meta["memory"].(map[string]any)
		return &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(memory["toolCall"], memory["gone"], memory["first"])}},
			Meta:    mcp.Meta{"trailblaze": map[string]any{"memoryDelta": map[string]any{"inner": "i"}, "memoryDeletions": []string{"first"}}},
		}, nil
	}
	ask := func(a toolCall) (any, error) {
		got, err := a.call("inner", nil, map[string]any{"memory_delta": map[string]any{"toolCall": "a"}, "memory_deletions": []string{"gone"}})
		if err != nil {
			return nil, err
		}
		if diff := cmp.Diff(answer{
			Type: "call_tool_result", Success: true, Text: "a<nil>f", Delta: map[string]any{"inner": "i"}, Deletions: []string{"first"},
		}, got); diff != "" {
			return nil, fmt.Errorf("answer (-want +got): %s", diff)
		}
		return "fine", nil
	}
	content := "config: {memory: {first: f, gone: g}}\n" +
		steps("ask: {}", `assertEquals: {expected: "a i", actual: "{{toolCall}} {{inner}}"}`, "dumpMemory: {}")
	e, seen, _ := play(t, content, map[string]map[string]fake{"one": {"ask": ask}, "two": {"inner": inner}})
	passed(t, e)
	for _, r := range seen.events {
		if e, ok := r.Event.(event.CallFinished); ok && e.Tool == "dumpMemory" && (strings.Contains(e.Text, "first") || strings.Contains(e.Text, "gone")) {
			t.Errorf("memory %s", e.Text)
		}
	}
}

func TestRefusedCallbackExplainsWhy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"unknown tool":   {"ohter", nil, `unknown tool "ohter" (did you mean "other"? `},
		"missing":        {"rememberValue", map[string]any{"name": "x"}, `missing argument "value"`},
		"unknown":        {"wait", map[string]any{"seconds": 0, "minutes": 1}, `unknown argument "minutes"`},
		"wrong type":     {"wait", map[string]any{"seconds": "long"}, `seconds must be a number, not text`},
		"it failed":      {"no", nil, "no means no"},
		"handed on":      {"other", map[string]any{"_trailblazeContext": 1}, ""},
		"tokens are not": {"echo", map[string]any{"text": "{{nobody}}"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _, _ := play(t, steps("ask: {}"), map[string]map[string]fake{"one": {
				"ask": func(a toolCall) (any, error) {
					got, err := a.call(tt.tool, tt.args)
					if err == nil && (got.Success != (tt.want == "") || !strings.Contains(got.Error, tt.want)) {
						err = fmt.Errorf("answer %+v", got)
					}
					return "asked", err
				},
				"other": func(toolCall) (any, error) { return "other", nil },
				"no":    func(toolCall) (any, error) { return nil, fmt.Errorf("no means no") },
				"echo": func(a toolCall) (any, error) {
					if a.args["text"] != "{{nobody}}" {
						return nil, fmt.Errorf("got %v", a.args)
					}
					return "", nil
				},
			}})
			passed(t, e)
		})
	}
}

func TestOuterCallTimesOutDuringItsCallback(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	e, _, _ := play(t, steps("ask: {}\n          timeout: 3s"), map[string]map[string]fake{
		"one": {"ask": func(a toolCall) (any, error) { return a.must("slow", nil) }},
		"two": {"slow": func(a toolCall) (any, error) { <-a.ctx.Done(); close(cancelled); return "", nil }},
	})
	for _, part := range []string{"the timeout of the recorded call", `waiting for its callback to tool "slow"`} {
		if e.Outcome != event.Failed || !strings.Contains(e.Reason, part) {
			t.Errorf("%s: %s", e.Outcome, e.Reason)
		}
	}
	select {
	case <-cancelled:
	case <-time.After(10 * time.Second):
		t.Error("what it had asked for went on")
	}
}

func TestCallbackTimesOut(t *testing.T) {
	t.Parallel()
	e, _, _ := play(t, steps("ask: {}"), map[string]map[string]fake{
		"one": {"ask": func(a toolCall) (any, error) {
			got, err := a.call("slow", nil)
			if err == nil && (got.Success || !strings.Contains(got.Error, "`callbackTimeout` of entry \"one\"")) {
				err = fmt.Errorf("answer %+v", got)
			}
			return "went on", err
		}},
		"two": {"slow": func(a toolCall) (any, error) { <-a.ctx.Done(); return "", nil }},
	}, func(o *run.Options) {
		for i := range o.Project.Servers {
			o.Project.Servers[i].CallbackTimeout = 200 * time.Millisecond
		}
	})
	passed(t, e)
}

func TestFatalErrorInACallbackEndsTheTrail(t *testing.T) {
	t.Parallel()
	fatal := func(toolCall) (any, error) {
		return &mcp.CallToolResult{
			IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "the farm burns"}}, Meta: mcp.Meta{"trailblaze": map[string]any{"variant": "FatalError"}},
		}, nil
	}
	e, _, _ := play(t, steps("ask: {}", "ask: {}"), map[string]map[string]fake{"one": {
		"fatal": fatal,
		"ask": func(a toolCall) (any, error) {
			_, _ = a.call("fatal", nil)
			return nil, fmt.Errorf("something else")
		},
	}})
	if e.Outcome != event.Error || e.Reason != "the farm burns" {
		t.Errorf("%s: %s", e.Outcome, e.Reason)
	}
}

func TestCallbackAfterItsCallReturnedIsRefused(t *testing.T) {
	t.Parallel()
	var old toolCall
	e, seen, _ := play(t, steps("ask: {}", "late: {}"), map[string]map[string]fake{"one": {
		"ask": func(a toolCall) (any, error) { old = a; return "", nil },
		"late": func(toolCall) (any, error) {
			got, err := old.call("ask", nil)
			if err == nil && (got.Type != "error" || !strings.Contains(got.Message, "may have completed")) {
				err = fmt.Errorf("answer %+v", got)
			}
			return "", err
		},
	}})
	passed(t, e)
	if got := len(seen.calls()); got != 2 {
		t.Errorf("%d calls", got)
	}
	logs := slices.DeleteFunc(seen.logs(), func(l event.Log) bool { return l.Source != "callback" })
	if len(logs) != 1 || logs[0].Level != "warn" || !strings.Contains(logs[0].Message, "rejected a callback request: unknown invocation id") ||
		!strings.HasSuffix(logs[0].Message, `tool "ask" of server one has to await its callback to tool "ask"`) {
		t.Errorf("logs %v", logs)
	}
}

func TestCallbackThatNobodyAwaitsIsReported(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	var asked sync.WaitGroup
	e, seen, _ := play(t, steps("ask: {}"), map[string]map[string]fake{
		"one": {"ask": func(a toolCall) (any, error) {
			asked.Go(func() { _, _ = a.call("slow", nil) })
			<-begun
			return "", nil
		}},
		"two": {"slow": func(a toolCall) (any, error) { close(begun); <-a.ctx.Done(); return "", nil }},
	})
	asked.Wait()
	passed(t, e)
	logs := slices.DeleteFunc(seen.logs(), func(l event.Log) bool { return l.Source != "callback" })
	const want = `tool "ask" of server one returned before its callback to tool "slow" had ended, which was cancelled`
	if len(logs) != 1 || logs[0].Level != "warn" || logs[0].Message != want {
		t.Errorf("logs %v", logs)
	}
}

func TestConcurrentCallbacksGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	tools := map[string]map[string]fake{
		"one": {"fan": func(a toolCall) (any, error) {
			var wg sync.WaitGroup
			errs := make(chan error, 200)
			for i := range 200 {
				wg.Go(func() {
					text, err := a.must("relay", map[string]any{"n": i})
					if err == nil && text != fmt.Sprint("echo ", i) {
						err = fmt.Errorf("%d got %q", i, text)
					}
					if err != nil {
						errs <- err
					}
				})
			}
			wg.Wait()
			close(errs)
			return "", <-errs
		}},
		"two": {
			"relay": func(a toolCall) (any, error) { return a.must("echo", a.args) },
			"echo":  func(a toolCall) (any, error) { return fmt.Sprint("echo ", a.args["n"]), nil },
		},
	}
	e, _, _ := play(t, steps("fan: {}"), tools, func(o *run.Options) {
		o.Launch = serving(tools, func(def *mcp.Tool) { def.Meta = mcp.Meta{"trailblaze/isRecordable": def.Name != "echo"} })
	})
	passed(t, e)
}

func TestNoCallbackServerWithoutServers(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("ours"))
	var base string
	o.Builtins = builtins("ours", func(c tool.Call) tool.Result { base = c.Context.BaseURL; return tool.Result{OK: true} })
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 1 || base != "" {
		t.Errorf("%v, %+v, base URL %q", err, summary, base)
	}
}

func delegating(calls ...any) fake {
	return func(toolCall) (any, error) {
		text, err := json.Marshal(map[string]any{"_trailblaze_delegates": calls})
		return string(text), err
	}
}

func to(name string, args map[string]any) map[string]any {
	return map[string]any{"tool": name, "args": args}
}

func readRecording(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "recording.trail.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := trail.Parse("recording.trail.yaml", data); len(problems) > 0 {
		t.Fatal(problems)
	}
	return string(data)
}

func TestDelegatesRunInOrderAndAreRecordedInstead(t *testing.T) {
	t.Parallel()
	echo := func(a toolCall) (any, error) { return fmt.Sprint(a.args["text"]), nil }
	content := "config: {memory: {who: Ann}}\n" + steps("outer: {}\n          saveAs: last", `assertEquals: {expected: "{{last}}", actual: three}`)
	e, seen, dir := play(t, content, map[string]map[string]fake{"one": {
		"outer": delegating(to("echo", map[string]any{"text": "one {{who}}"}), to("inner", nil), to("echo", map[string]any{"text": "three"})),
		"inner": delegating(to("echo", map[string]any{"text": `two \{{ literal`})),
		"echo":  echo,
	}})
	passed(t, e)
	if diff := cmp.Diff([]string{"1 outer", "1.1 echo", "1.2 inner", "1.2.1 echo", "1.3 echo", "2 assertEquals"}, seen.calls()); diff != "" {
		t.Error(diff)
	}
	var texts []string
	for _, r := range seen.events {
		if e, ok := r.Event.(event.CallFinished); ok && e.Tool == "echo" {
			texts = append(texts, e.Text)
		}
	}
	if diff := cmp.Diff([]string{"one Ann", "two {{ literal", "three"}, texts); diff != "" {
		t.Error(diff)
	}
	want := `config:
  memory:
    who: Ann
trail:
  - step: s
    recording:
      web:
        - echo:
            text: "one {{who}}"
        - echo:
            text: 'two \{{ literal'
        - echo:
            text: three
          saveAs: last
        - assertEquals:
            actual: three
            expected: "{{last}}"
`
	if diff := cmp.Diff(want, readRecording(t, dir)); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
}

func TestInvalidDelegatesFailTheCall(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		delegates fake
		reason    string
		echoes    int
	}{
		"an unknown one, before its siblings":     {delegating(to("echo", nil), to("ehco", nil)), `delegate 2 of 2: unknown tool "ehco"`, 0},
		"arguments that do not fit":               {delegating(to("echo", nil), to("wait", map[string]any{"seconds": "x"})), `delegate 2 of 2: wait: seconds must be a number`, 0},
		"a failure in the middle":                 {delegating(to("echo", nil), to("no", nil), to("echo", nil)), `delegate 2 of 3, tool "no": no means no`, 1},
		"a value that nobody knows":               {delegating(to("echo", map[string]any{"text": "{{nobody}}"})), "unknown value {{nobody}}", 0},
		"no list":                                 {func(toolCall) (any, error) { return `{"_trailblaze_delegates": {}}`, nil }, `tool "outer": _trailblaze_delegates in the result is not a list`, 0},
		"no call":                                 {delegating("echo"), "_trailblaze_delegates[0] in the result is not a call", 0},
		"a call with a key that it does not have": {delegating(map[string]any{"tool": "echo", "arguments": map[string]any{}}), "is not a call", 0},
		"a circle":                                {delegating(to("outer", nil)), `delegate 1 of 1, tool "outer": calls within calls are nested 16 levels deep`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, seen, _ := play(t, steps("outer: {}"), map[string]map[string]fake{"one": {
				"outer": tt.delegates,
				"echo":  func(toolCall) (any, error) { return "", nil },
				"no":    func(toolCall) (any, error) { return nil, fmt.Errorf("no means no") },
			}})
			if e.Outcome != event.Failed || !strings.Contains(e.Reason, tt.reason) || strings.Count(e.Reason, "1 of 1") > 1 {
				t.Errorf("%s: %s", e.Outcome, e.Reason)
			}
			echoes := 0
			for _, c := range seen.calls() {
				if strings.HasSuffix(c, " echo") {
					echoes++
				}
			}
			if echoes != tt.echoes {
				t.Errorf("calls %v", seen.calls())
			}
		})
	}
}

func TestRecordingOfDelegatesAndMemory(t *testing.T) {
	t.Parallel()
	var seen records
	content := "config: {args: {n: {type: integer}}}\n" + `trail:
  - step: remembers and delegates
    recording:
      web:
        - delegates: {}
  - step: is never recorded
    recording:
      web:
        - never: {}
  - step: does nothing
    recording: {web: []}
  - verify: asks by callback
    recording:
      web:
        - ask: {n: "{{args.n}}", token: hunter22, by: "{{who}}"}
          timeout: 5s
`
	o := options(t, &seen, content, "one")
	o.Builtins = []discover.Source{own.Source()}
	o.Launch = serving(map[string]map[string]fake{"one": {
		"delegates": func(toolCall) (any, error) {
			return &mcp.CallToolResult{
				Content: []mcp.Content{&mcp.TextContent{Text: `{"_trailblaze_delegates": [{"tool": "echo"}]}`}},
				Meta:    mcp.Meta{"trailblaze": map[string]any{"memoryDelta": map[string]any{"found": "{{x}} hunter22"}}},
			}, nil
		},
		"echo":  func(toolCall) (any, error) { return "", nil },
		"never": func(toolCall) (any, error) { return "", nil },
		"ask":   func(a toolCall) (any, error) { return a.must("echo", nil) },
	}}, func(def *mcp.Tool) {
		if def.Name == "never" {
			def.Meta = mcp.Meta{"trailblaze/isRecordable": false}
		}
	})
	o.Memory, o.Args = map[string]string{"who": "me"}, map[string]string{"n": "3"}
	o.Secrets = map[string]string{"KEY": "hunter22"}
	o.Redactor = redact.New(o.Secrets)
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 1 {
		t.Fatalf("%v, %+v, %+v", err, summary, seen.events)
	}
	dirs, _ := filepath.Glob(filepath.Join(o.Project.LogsDir, "a_*"))
	want := `config:
  memory:
    who: me
  args:
    "n":
      type: integer
      default: 3
trail:
  - step: remembers and delegates
    recording:
      web:
        - rememberValue:
            name: found
            value: '\{{x}} {{KEY}}'
        - echo: {}
  - step: is never recorded
  - step: does nothing
    recording:
      web: []
  - verify: asks by callback
    recording:
      web:
        - ask:
            by: "{{who}}"
            "n": "{{args.n}}"
            token: "{{KEY}}"
          timeout: 5s
`
	if diff := cmp.Diff(want, readRecording(t, dirs[0])); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
}

func TestRecordingWarnsOfWhatADelegatingToolDidItself(t *testing.T) {
	t.Parallel()
	e, seen, dir := play(t, "config: {memory: {old: x}}\n"+steps("outer: {}"), map[string]map[string]fake{"one": {
		"outer": func(a toolCall) (any, error) {
			if _, err := a.call("tap", nil, map[string]any{"memory_deletions": []string{"old"}}); err != nil {
				return nil, err
			}
			return delegating(to("echo", nil))(a)
		},
		"tap":  func(toolCall) (any, error) { return "", nil },
		"echo": func(toolCall) (any, error) { return "", nil },
	}}, func(o *run.Options) { o.Record = filepath.Join(t.TempDir(), "r.trail.yaml") })
	passed(t, e)
	var warned []string
	for _, l := range seen.logs() {
		if l.Source == "recording" && l.Level == "warn" {
			warned = append(warned, l.Message)
		}
	}
	want := []string{
		`step 1: tool "outer" removed "old" from memory before it delegated; a replay does not`,
		`step 1: tool "outer" called other tools before it delegated; a replay only sets the memory that they left`,
	}
	if diff := cmp.Diff(want, warned); diff != "" {
		t.Errorf("warnings (-want +got):\n%s\n%s", diff, readRecording(t, dir))
	}
}

func TestSavedResultIsRecordedWithoutItsCall(t *testing.T) {
	t.Parallel()
	tools := map[string]map[string]fake{"one": {
		"nothing": func(toolCall) (any, error) { return `{"_trailblaze_delegates": [], "id": 7}`, nil },
		"never":   func(toolCall) (any, error) { return "{{braces}}", nil },
	}}
	e, _, dir := play(t, steps("nothing: {}\n          saveAs: first", "never: {}\n          saveAs: second"), tools, func(o *run.Options) {
		o.Launch = serving(tools, func(def *mcp.Tool) { def.Meta = mcp.Meta{"trailblaze/isRecordable": def.Name != "never"} })
	})
	passed(t, e)
	want := `        - rememberValue:
            name: first
            value:
              _trailblaze_delegates: []
              id: 7
        - rememberValue:
            name: second
            value: '\{{braces}}'
`
	if got := readRecording(t, dir); !strings.HasSuffix(got, want) {
		t.Errorf("recording\n%s", got)
	}
}

func TestStepWithUnrecordableCallsHasNoRecording(t *testing.T) {
	t.Parallel()
	tools := map[string]map[string]fake{"one": {
		"echo":  func(toolCall) (any, error) { return "", nil },
		"never": func(toolCall) (any, error) { return "", nil },
		"to":    delegating(map[string]any{"tool": "never", "reason": "ignored", "args": map[string]any{}}),
	}}
	content := "trail:\n  - step: fails half-way\n    recording: {web: [{echo: {}}, {assertEquals: {expected: 1, actual: 2}}]}\n  - step: later\n    recording: {web: []}\n"
	e, _, dir := play(t, content, tools)
	if e.Outcome != event.Failed {
		t.Fatal(e)
	}
	if got, want := readRecording(t, dir), "trail:\n  - step: fails half-way\n  - step: later\n"; got != want {
		t.Errorf("recording\n%s, want\n%s", got, want)
	}
	e, _, dir = play(t, steps("to: {}"), tools, func(o *run.Options) {
		o.Launch = serving(tools, func(def *mcp.Tool) { def.Meta = mcp.Meta{"trailblaze/isRecordable": def.Name != "never"} })
	})
	passed(t, e)
	if got, want := readRecording(t, dir), "trail:\n  - step: s\n"; got != want {
		t.Errorf("recording\n%s, want\n%s", got, want)
	}
}

func TestValuesWithSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	content := "config: {memory: {pw: hunter22, who: me}, args: {a: {type: string}}}\n" + steps(`echo: {text: "{{pw}} {{args.a}}"}`)
	tools := map[string]map[string]fake{"one": {"echo": func(toolCall) (any, error) { return "", nil }}}
	e, _, dir := play(t, content, tools, func(o *run.Options) {
		o.Args, o.Secrets = map[string]string{"a": "is hunter22"}, map[string]string{"KEY": "hunter22"}
		o.Redactor = redact.New(o.Secrets)
	})
	passed(t, e)
	want := `config:
  memory:
    who: me
  args:
    a:
      type: string
trail:
  - step: s
    recording:
      web:
        - echo:
            text: "{{pw}} {{args.a}}"
`
	if diff := cmp.Diff(want, readRecording(t, dir)); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
}

// \{{ is a literal {{, so a recording cannot have the token of a secret behind a backslash.
func TestSecretsBehindABackslashAreNotRecorded(t *testing.T) {
	t.Parallel()
	tools := map[string]map[string]fake{"one": {"echo": func(a toolCall) (any, error) { return a.args["text"], nil }}}
	content := steps(`echo: {text: 'CORP\ann.smith'}`, `echo: {text: '\{{x}} ann.smith'}`, `echo: {text: 'CORP\${KEY}'}`,
		`echo: {text: "{{domain}}ann.smith"}`+"\n          saveAs: login")
	e, seen, dir := play(t, content, tools, func(o *run.Options) {
		o.Memory, o.Secrets = map[string]string{"domain": `CORP\`}, map[string]string{"KEY": "ann.smith"}
		o.Redactor = redact.New(o.Secrets)
		o.Record = filepath.Join(t.TempDir(), "r.trail.yaml")
	})
	passed(t, e)
	want := `        - echo:
            text: '\{{x}} {{KEY}}'
        - echo:
            text: 'CORP\${KEY}'
        - echo:
            text: "{{domain}}{{KEY}}"
          saveAs: login
`
	if got := readRecording(t, dir); !strings.HasSuffix(got, "web:\n"+want) {
		t.Errorf("recording\n%s", got)
	}
	warned := slices.ContainsFunc(seen.logs(), func(l event.Log) bool {
		return l.Level == "warn" && strings.Contains(l.Message, `step 1: the call of "echo" is left out`)
	})
	if !warned {
		t.Errorf("no warning: %v", seen.logs())
	}
}

func TestArgumentsOfUsedTrailsAreRecordedWithoutSecrets(t *testing.T) {
	t.Parallel()
	content := `config: {teardown: [{use: part.trail.yaml, args: {a: hunter22}}]}
trail:
  - use: part.trail.yaml
    args: {a: is hunter22}
  - step: calls it
    recording: {web: [{runTrail: {path: part.trail.yaml, args: {a: hunter22}}}]}
`
	tools := map[string]map[string]fake{"one": {"echo": func(toolCall) (any, error) { return "", nil }}}
	record := ""
	e, _, dir := play(t, content, tools, func(o *run.Options) {
		o.Secrets = map[string]string{"KEY": "hunter22"}
		o.Redactor = redact.New(o.Secrets)
		record = filepath.Join(o.Project.Root, "record.trail.yaml")
		o.Record = record
		part := "config: {args: {a: {type: string}}}\n" + steps(`echo: {text: "{{args.a}}"}`)
		if err := os.WriteFile(filepath.Join(o.Project.Root, "part.trail.yaml"), []byte(part), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	passed(t, e)
	want := `config:
  teardown:
    - use: part.trail.yaml
      args:
        a: "{{KEY}}"
trail:
  - use: part.trail.yaml
    args:
      a: "is {{KEY}}"
  - step: calls it
    recording:
      web:
        - runTrail:
            args:
              a: "{{KEY}}"
            path: part.trail.yaml
`
	if diff := cmp.Diff(want, readRecording(t, dir)); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
	if got, err := os.ReadFile(record); err != nil || string(got) != want {
		t.Errorf("--record: %v\n%s", err, got)
	}
}
