package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/budget"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestValuesAreBounded makes calls that keep values until those of all sessions together do not fit.
func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 2000)
	var remember mcp.ToolHandler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"trailblaze": map[string]any{"memoryDelta": map[string]any{"v": text}}}}, nil
	}
	for name, tt := range map[string]struct {
		call trail.Call
		want string
	}{
		"saved":  {trail.Call{Tool: "text", SaveAs: "saved"}, `the value "saved" does not fit: it takes up to `},
		"set":    {trail.Call{Tool: "remember"}, `the value "v`},
		"unsaid": {trail.Call{Tool: "text"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{"shop": {"remember": remember, "text": answer(text)}}})
			o.Budgets.Values = budget.New(3000)
			other := o
			other.Values = trail.NewValues(trail.Sources{Memory: map[string]string{"other": text}})
			held := open(t, other)
			s := open(t, o)
			if done := s.Call(t.Context(), tt.call); done.OK() != (tt.want == "") || !strings.HasPrefix(done.Reason, tt.want) {
				t.Errorf("%s %q", done.Outcome, done.Reason)
			}
			held.Close(t.Context())
			if done := s.Call(t.Context(), tt.call); !done.OK() {
				t.Errorf("after the other session: %q", done.Reason)
			}
		})
	}
}

// TestRecordingsAreBounded replaces a value again and again by a tool that delegates, so that the recording sets each.
func TestRecordingsAreBounded(t *testing.T) {
	t.Parallel()
	n := 0
	o := options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{"shop": {
		"replace": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			n++
			return &mcp.CallToolResult{
				StructuredContent: map[string]any{"_trailblaze_delegates": []any{map[string]any{"tool": "done"}}},
				Meta:              mcp.Meta{"trailblaze": map[string]any{"memoryDelta": map[string]any{"v": strings.Repeat("x", 2000+n)}}},
			}, nil
		},
		"done": answer("done"),
	}}})
	o.Budgets.Values = budget.New(20_000)
	s := open(t, o)
	st := session.Step{Index: 1, Text: "Replace", Kind: "step"}
	s.StartStep(st)
	for range 20 {
		if done := s.Call(t.Context(), trail.Call{Tool: "replace"}); !done.OK() {
			t.Fatal(done.Reason)
		}
	}
	s.FinishStep(st, event.Passed)
	recorded := s.Recording()
	if n := len(recorded.Steps[0].Calls); n < 10 || n > 20 {
		t.Errorf("%d calls are recorded", n)
	}
	const want = `step 1: the value "v" is left out, because it does not fit: recordings have 0 MiB together with the memory of sessions`
	if len(recorded.Omitted) == 0 || recorded.Omitted[0] != want {
		t.Errorf("%q is left out", recorded.Omitted)
	}
}

func TestHugeDelegatesAreNotDecoded(t *testing.T) {
	t.Parallel()
	huge := `{"_trailblaze_delegates": [` + strings.Repeat("{},", 400_000) + `{"tool": "done"}]}`
	s := open(t, options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{"shop": {"huge": answer(huge)}}}))
	const want = `tool "huge": _trailblaze_delegates in the result takes more than 128 MiB of memory`
	if done := s.Call(t.Context(), trail.Call{Tool: "huge"}); done.OK() || !strings.Contains(done.Reason, want) {
		t.Errorf("%v %q", done.Outcome, done.Reason)
	}
}
