package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	own "github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const aClaim = "assertWithModel: { that: it is so }"

// recordedCall is a step with one recorded call.
func recordedCall(call string) string {
	return "  - step: s\n    recording: { web: [ { " + call + " } ] }\n"
}

// judging answers claims with a kind of failure, empty for none, and counts them.
func judging(kind fault.Kind, judged *atomic.Int32) func(trails []string) (func(run.Assisted), error) {
	return func([]string) (func(run.Assisted), error) {
		return func(in run.Assisted) {
			in.Session.SetJudge(func(context.Context, tool.Call) (tool.Result, error) {
				judged.Add(1)
				in.Use.AddRequest(event.LLMFinished{Tokens: 100})
				return tool.Result{OK: kind == "", Kind: kind, Text: "said " + string(kind)}, nil
			})
		}, nil
	}
}

func TestJudgmentIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	fails := recordedCall("act: {}")
	for name, tt := range map[string]struct {
		trail   string
		kind    fault.Kind
		outcome event.Outcome
		judged  int32
	}{
		"it passes":                     {"trail:\n" + recordedCall(aClaim), "", event.Passed, 1},
		"its name has an escape":        {"trail:\n" + recordedCall(`"assertWithM\x6fdel": { that: it is so }`), "", event.Passed, 1},
		"judged false":                  {"trail:\n" + recordedCall(aClaim), fault.JudgedFalse, event.Failed, 1},
		"undecided":                     {"trail:\n" + recordedCall(aClaim), fault.Undecided, event.Failed, 1},
		"no request is answered":        {"trail:\n" + recordedCall(aClaim), fault.Provider, event.Error, 1},
		"no answer in a replay":         {"trail:\n" + recordedCall(aClaim), fault.Transcript, event.Error, 1},
		"soft":                          {"trail:\n" + recordedCall(aClaim+", soft: true"), fault.Undecided, event.Failed, 1},
		"soft, before another failure":  {"trail:\n" + recordedCall(aClaim+", soft: true") + fails, fault.Undecided, event.Failed, 1},
		"optional":                      {"trail:\n" + recordedCall(aClaim+", optional: true"), fault.Undecided, event.Passed, 1},
		"in the teardown":               {"config: { teardown: [ { step: x, recording: { web: [ { " + aClaim + " } ] } } ] }\ntrail:\n" + recordedCall("wait: { ms: 1 }"), fault.JudgedFalse, event.Failed, 1},
		"it passes before another call": {"trail:\n" + recordedCall(aClaim) + fails, "", event.Failed, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var judged atomic.Int32
			var seen records
			o := options(t, &seen, tt.trail, "s")
			o.Launch = serving(map[string]map[string]fake{"s": {"act": func(toolCall) (any, error) { return nil, errors.New("no") }}})
			o.Builtins, o.Judge, o.Retries = []discover.Source{own.Source()}, judging(tt.kind, &judged), 2
			ended := seen.ended(t, o)
			if ended.Outcome != tt.outcome || judged.Load() != tt.judged || ended.Mode != event.Assisted || ended.Requests != int(tt.judged) {
				t.Errorf("%s after %d judgments, %+v: %s", ended.Outcome, judged.Load(), ended.ModelUse, ended.Reason)
			}
		})
	}
}

// A tool must not decide what a model judges.
func TestToolsCannotAskForJudgment(t *testing.T) {
	t.Parallel()
	for name, outer := range map[string]fake{
		"by delegation": delegating(to("assertWithModel", map[string]any{"that": "it is so"})),
		"by callback": func(a toolCall) (any, error) {
			got, err := a.call("assertWithModel", map[string]any{"that": "it is so"})
			if err != nil || got.Success {
				return nil, fmt.Errorf("%+v %w", got, err)
			}
			return nil, errors.New(got.Error)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var judged atomic.Int32
			content := "trail:\n" + recordedCall("outer: {}") + recordedCall(aClaim)
			ended, _, _ := play(t, content, map[string]map[string]fake{"s": {"outer": outer}}, func(o *run.Options) { o.Judge = judging("", &judged) })
			if ended.Outcome != event.Failed || judged.Load() != 0 || !strings.Contains(ended.Reason, "needs a model, which it has only in a trail") {
				t.Errorf("%s with %d judgments: %s", ended.Outcome, judged.Load(), ended.Reason)
			}
		})
	}
}

func TestRunFindsTrailsThatAskModel(t *testing.T) {
	t.Parallel()
	asks := "trail:\n" + recordedCall(aClaim)
	var seen records
	o := options(t, &seen, asks, "s")
	o.Builtins = []discover.Source{own.Source()}
	for name, content := range map[string]string{
		"plain":    "trail:\n" + recordedCall("act: {}"),
		"use":      "trail:\n  - use: a.trail.yaml\n",
		"call":     "- runTrail: { path: a.trail.yaml }\n",
		"narrow":   "trail:\n  - step: s\n    recording: { web-small: [ { " + aClaim + " } ] }\n",
		"other":    "trail:\n  - step: s\n    recording: { web: [ { act: {} } ], ios: [ { " + aClaim + " } ] }\n",
		"teardown": "config: { teardown: [ { step: x, recording: { web: [ { " + aClaim + " } ] } } ] }\ntrail:\n" + recordedCall("act: {}"),
		"skipped":  "config: { skip: later }\n" + asks,
		"list":     "- tools: [ { " + aClaim + " } ]\n",
		"broken":   "trail: [",
	} {
		o.Paths = append(o.Paths, name+".trail.yaml")
		if err := os.WriteFile(filepath.Join(o.Cwd, name+".trail.yaml"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(o.Paths)
	needed := fault.New(fault.Misuse, "", "no model")
	var found []string
	o.Judge = func(trails []string) (func(run.Assisted), error) { found = trails; return nil, needed }
	if _, err := run.Run(t.Context(), o); !errors.Is(err, needed) || len(seen.events) > 0 {
		t.Errorf("%v, %d events", err, len(seen.events))
	}
	want := []string{"a.trail.yaml", "call.trail.yaml", "list.trail.yaml", "narrow.trail.yaml", "teardown.trail.yaml", "use.trail.yaml"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
