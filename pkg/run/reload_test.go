package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
)

func says(text string) fake { return func(toolCall) (any, error) { return text, nil } }

// grow adds the tool fresh to the server and takes old away.
func grow(a toolCall) (any, error) {
	offer(a.server, "fresh", says("fresh"))
	a.server.RemoveTools("old")
	return "grown", nil
}

// texts are what the calls of a run answered, by their number.
func (r *records) texts() map[string]string {
	out := map[string]string{}
	for _, rec := range r.events {
		if e, ok := rec.Event.(event.CallFinished); ok {
			out[e.Call] = e.Text + e.Error
		}
	}
	return out
}

const grown = `{"added":["fresh"],"removed":["old"],"total":12}` // grow, ask or hand, fresh, six built-in tools and reloadTools

func TestReloadToolsByCallback(t *testing.T) {
	t.Parallel()
	tools := map[string]map[string]fake{"one": {
		"old": says("old"), "grow": grow,
		"ask": func(a toolCall) (any, error) {
			if _, err := grow(a); err != nil {
				return nil, err
			}
			if early, err := a.call("fresh", nil); err != nil || early.Success || !strings.Contains(early.Error, "unknown tool") {
				return nil, fmt.Errorf("fresh before the reload: %+v, %v", early, err)
			}
			got, err := a.call("reloadTools", nil)
			if err != nil || got.Text != grown || string(got.Structured) != grown {
				return nil, fmt.Errorf("reload: %+v, %v", got, err)
			}
			if late, err := a.call("old", nil); err != nil || late.Success || !strings.Contains(late.Error, `"old" of server one was removed by reloadTools`) {
				return nil, fmt.Errorf("old after the reload: %+v, %v", late, err)
			}
			return a.must("fresh", nil)
		},
	}}
	e, seen, _ := play(t, steps("ask: {}"), tools)
	passed(t, e)
	if diff := cmp.Diff(map[string]string{"1": "fresh", "1.1": grown, "1.2": "fresh"}, seen.texts()); diff != "" {
		t.Error(diff)
	}
	e, seen, _ = play(t, steps("ask: {}", "fresh: {}"), tools)
	if e.Outcome != event.Failed || !strings.Contains(e.Reason, `"fresh"`) || len(seen.calls()) != 0 {
		t.Errorf("a trail that does not reload itself names tools that are known; %s: %s, %v", e.Outcome, e.Reason, seen.calls())
	}
}

func TestDelegatesAfterAReloadAreValidatedAtTheirTurn(t *testing.T) {
	t.Parallel()
	hand := func(to ...string) fake {
		return func(a toolCall) (any, error) {
			_, err := grow(a)
			var list []map[string]any
			for _, name := range to {
				list = append(list, map[string]any{"tool": name, "args": map[string]any{"n": 1}})
			}
			list[0]["args"] = map[string]any{}
			return &mcp.CallToolResult{StructuredContent: map[string]any{"_trailblaze_delegates": list}}, err
		}
	}
	e, seen, dir := play(t, steps("hand: {}"), map[string]map[string]fake{"one": {"old": says("old"), "grow": grow, "hand": hand("reloadTools", "fresh")}})
	passed(t, e)
	if diff := cmp.Diff(map[string]string{"1": "fresh", "1.1": grown, "1.2": "fresh"}, seen.texts()); diff != "" {
		t.Error(diff)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "recording.trail.yaml"))
	if text := string(raw); err != nil || !strings.Contains(text, "- reloadTools: {}\n") || !strings.Contains(text, "- fresh:") {
		t.Errorf("recording:\n%s", text)
	}
	e, seen, _ = play(t, steps("hand: {}"), map[string]map[string]fake{"one": {"old": says("old"), "hand": hand("old", "fresh", "reloadTools")}})
	if e.Outcome != event.Failed || !strings.Contains(e.Reason, `delegate 2 of 3: unknown tool "fresh"`) || len(seen.calls()) != 1 {
		t.Errorf("%s: %s, %v", e.Outcome, e.Reason, seen.calls())
	}
	e, _, _ = play(t, steps("hand: {}"), map[string]map[string]fake{"one": {"old": says("old"), "hand": hand("reloadTools", "nobody")}})
	if e.Outcome != event.Failed || !strings.Contains(e.Reason, `delegate 2 of 2, tool "nobody": unknown tool "nobody"`) {
		t.Errorf("%s: %s", e.Outcome, e.Reason)
	}
}

func TestFailedReloadKeepsTheTools(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(a toolCall)
		call   string
		kind   fault.Kind
		want   []string
	}{
		"names that collide": {
			func(a toolCall) { offer(a.server, "other", says("mine")); offer(a.server, "wait", says("mine")) },
			"reloadTools: {}", fault.Registration,
			[]string{`"other" is defined by server one and server two`, `"wait" is defined`, "; the tools stay as they were"},
		},
		"a server that does not list": {
			func(a toolCall) {
				a.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
					return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
						if method == "tools/list" {
							return nil, errors.New("the folder is locked")
						}
						return next(ctx, method, req)
					}
				})
			},
			"reloadTools: {}", fault.ProtocolError,
			[]string{`server "one": tools/list`, "the folder is locked", "; the tools stay as they were"},
		},
		"a server that hangs": {
			func(a toolCall) {
				a.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
					return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
						if method == "tools/list" {
							<-ctx.Done()
						}
						return next(ctx, method, req)
					}
				})
			},
			"reloadTools: {}\n          timeout: 300ms", fault.CallTimeout,
			[]string{"timeout: not all servers were listed within 300ms", "`timeout:`"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := map[string]map[string]fake{
				"one": {"old": says("old"), "break": func(a toolCall) (any, error) {
					_, err := grow(a)
					tc.change(a)
					return "broken", err
				}},
				"two": {"other": says("theirs"), "ask": func(a toolCall) (any, error) {
					if reload, err := a.call("reloadTools", nil); err != nil || reload.Success {
						return nil, fmt.Errorf("reload: %+v, %v", reload, err)
					}
					if fresh, err := a.call("fresh", nil); err != nil || fresh.Success {
						return nil, fmt.Errorf("fresh: %+v, %v", fresh, err)
					}
					return a.must("other", nil)
				}},
			}
			calls := []string{"break: {}", "ask: {}", tc.call}
			if name == "a server that hangs" {
				calls = []string{"break: {}", tc.call}
			}
			e, seen, _ := play(t, steps(calls...), tools)
			texts := seen.texts()
			if e.Outcome != event.Failed || len(texts) < len(calls) {
				t.Fatalf("%s: %s, %v", e.Outcome, e.Reason, texts)
			}
			for _, want := range tc.want {
				if !strings.Contains(e.Reason, want) {
					t.Errorf("no %q in %s", want, e.Reason)
				}
			}
			for _, rec := range seen.events {
				if done, ok := rec.Event.(event.CallFinished); ok && done.Tool == "reloadTools" && done.Kind != tc.kind {
					t.Errorf("%s: kind %q", done.Call, done.Kind)
				}
			}
		})
	}
}

func TestReloadDuringOtherCalls(t *testing.T) {
	t.Parallel()
	e, _, _ := play(t, steps("storm: {}", "reloadTools: {}", "added7: {}"), map[string]map[string]fake{
		"one": {"same": says("same"), "storm": func(a toolCall) (any, error) {
			var wg sync.WaitGroup
			failures := make([]error, 24)
			for i := range failures {
				wg.Go(func() {
					name := []string{"reloadTools", "same", "other"}[i%3]
					if name == "reloadTools" {
						offer(a.server, fmt.Sprintf("added%d", i/3), says("added"))
					}
					_, failures[i] = a.must(name, nil)
				})
			}
			wg.Wait()
			return "over", errors.Join(failures...)
		}},
		"two": {"other": says("other")},
	})
	passed(t, e)
}

func TestReloadWarnsOnlyOfWhatIsNew(t *testing.T) {
	t.Parallel()
	odd := func(t *mcp.Tool) { t.Meta = mcp.Meta{"trailblaze/timeoutMs": "soon"} }
	tools := map[string]map[string]fake{"one": {"more": func(a toolCall) (any, error) {
		offer(a.server, "fresh", says("fresh"), odd)
		return "", nil
	}}}
	_, seen, _ := play(t, steps("more: {}", "reloadTools: {}"), tools, func(o *run.Options) { o.Launch = serving(tools, odd) })
	var warned []string
	for _, l := range seen.logs() {
		if l.Level == "warn" {
			warned = append(warned, l.Message)
		}
	}
	if len(warned) != 2 || !strings.Contains(warned[0], `tool "more"`) || !strings.Contains(warned[1], `tool "fresh"`) {
		t.Errorf("warnings %q", warned)
	}
}

// TestToolsThatChangeDuringStartAreListedAgain: one server gets a tool after it was listed, and the other one starts
// behind that.
func TestToolsThatChangeDuringStartAreListedAgain(t *testing.T) {
	t.Parallel()
	told := make(chan struct{})
	slow := serving(map[string]map[string]fake{"two": {"other": says("other")}})
	var add, tell sync.Once
	early := func(ctx context.Context) (server.Link, error) {
		client, end := mcp.NewInMemoryTransports()
		s := mcp.NewServer(&mcp.Implementation{Name: "one", Version: "1"}, nil)
		offer(s, "old", says("old"))
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				result, err := next(ctx, method, req)
				if method == "tools/list" {
					add.Do(func() { offer(s, "late", says("late")) })
				}
				return result, err
			}
		})
		s.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				result, err := next(ctx, method, req)
				if method == "notifications/tools/list_changed" {
					tell.Do(func() {
						_ = req.GetSession().(*mcp.ServerSession).Ping(ctx, nil) // the response comes after all earlier messages were handled
						close(told)
					})
				}
				return result, err
			}
		})
		session, err := s.Connect(context.WithoutCancel(ctx), end, nil)
		heard := make(chan struct{})
		close(heard)
		return &link{client, heard, make(chan struct{}), session}, err
	}
	e, _, _ := play(t, steps("late: {}", "other: {}"), map[string]map[string]fake{"one": nil, "two": nil}, func(o *run.Options) {
		o.Launch = func(ctx context.Context, l session.Launch) (server.Link, error) {
			if l.Server.Name == "one" {
				return early(ctx)
			}
			select {
			case <-told:
				return slow(ctx, l)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	passed(t, e)
}
