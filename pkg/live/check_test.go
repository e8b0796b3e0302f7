package live_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// withServer adds a tool of a server to a session.
func withServer(o *live.Options) {
	o.Builtins = append(o.Builtins, discover.Source{
		Source: tool.Source{Kind: tool.FromServer, Name: "shop"},
		Tools:  []tool.Advertised{device.Command("buy", "Buys.", `"count": {"type": "integer"}`)},
	})
	o.OtherTools = func() (trail.Tools, error) {
		return trail.Tools{
			FromServer: func(string) bool { return false },
			CheckCall: func(platform scope.Platform, call trail.Call) []fault.Problem {
				if call.Tool != "launchApp" {
					return nil
				}
				return []fault.Problem{{Line: call.Line, Column: call.Column, Message: "not on " + string(platform)}}
			},
		}, nil
	}
	o.Project.Targets = []config.Target{{ID: "shop"}}
}

func TestChecksAText(t *testing.T) {
	t.Parallel()
	f := open(t, withServer)
	f.write("trails/part.yaml", givenPart)
	recorded := func(classifier, calls string) string {
		return "  - step: x\n    recording: { " + classifier + ": [ " + calls + " ] }\n"
	}
	for name, c := range map[string]struct {
		config, steps string
		problems      []string // how each begins, after the position
		warnings      int
	}{
		"nothing":                     {"", recorded("web", "{ launchApp: {} }, { buy: { count: 2 } }"), nil, 0},
		"an unknown tool":             {"", recorded("web", "{ tapp: {} }"), []string{`3:27: unknown tool "tapp"`}, 0},
		"one that a server may add":   {"", recorded("web", "{ reloadTools: {} }, { tapp: {} }"), nil, 0},
		"wrong arguments":             {"", recorded("web", "{ tap: { txt: a } }"), []string{`3:34: tap: unknown argument "txt"`}, 0},
		"of the tool of a server":     {"", recorded("web", "{ buy: { count: two } }"), []string{"3:"}, 0},
		"unknown on another platform": {"", recorded("ios", "{ tapp: { txt: a } }"), nil, 0},
		"known on another platform":   {"", recorded("ios", "{ launchApp: {} }"), []string{"3:27: not on IOS"}, 0},
		"an undefined value":          {"", recorded("web", "{ tap: { text: \"{{nobody}}\" } }"), []string{"3:"}, 0},
		"values of the session":       {"", recorded("web", "{ tap: { text: \"{{name}} {{PIN}}\" } }"), nil, 0},
		"a missing argument":          {"", "  - use: part.yaml\n", []string{"2:"}, 0},
		"what is not YAML":            {"", "  - step: [\n", []string{"2:11: "}, 0},
		"another target":              {"config: { target: shob }\n", recorded("web", "{ launchApp: {} }"), []string{`1:19: unknown target "shob"`}, 0},
		"a verify without a check":    {"", "  - verify: x\n    recording: { web: [ { tap: { text: a } } ] }\n", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := f.Check(t.Context(), trailFile, []byte(c.config+"trail:\n"+c.steps))
			if err != nil || len(got.Problems) != len(c.problems) || len(got.Warnings) != c.warnings {
				t.Fatalf("%+v, %v", got, err)
			}
			for i, p := range got.Problems {
				if want := trailFile + ":" + c.problems[i]; !strings.HasPrefix(p.Error(), want) || p.Snippet == "" {
					t.Errorf("%q, want %q; snippet %q", p.Error(), want, p.Snippet)
				}
			}
		})
	}
	if got, err := f.Check(t.Context(), trailFile, nil); err != nil || len(got.Problems) == 0 {
		t.Errorf("an empty text: %+v, %v", got, err)
	}
	if _, err := f.Check(t.Context(), "../a.trail.yaml", []byte("trail: []")); err == nil {
		t.Error("a file outside of the project was checked")
	}
}

// TestCheckAndVariablesDoNotWait asks while a call is being made.
func TestCheckAndVariablesDoNotWait(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.waits = make(chan struct{})
	events, stop := f.Subscribe(t.Context(), 10)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { f.step("Open", call("launchApp")) })
	for e := range events {
		if e.Type() == "call.started" {
			break
		}
	}
	if _, err := f.Check(t.Context(), trailFile, []byte(givenTrail)); err != nil {
		t.Error(err)
	}
	if _, err := f.Variables(t.Context()); err != nil {
		t.Error(err)
	}
	close(f.app.waits)
	wg.Wait()
}

func TestVariablesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	f := open(t)
	saved := call("isVisible", "text", "Sign in")
	saved.SaveAs = "shown"
	remember := func(name string, value any) trail.Call {
		return trail.Call{Tool: "rememberValue", Args: map[string]any{"name": name, "value": value}}
	}
	f.step("Save", saved, remember("PIN", "1"), remember("copy", "pin {{PIN}}"))
	got, err := f.Variables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []live.Variable{{Name: "PIN", Secret: true}, {Name: "copy", Value: "pin {{PIN}}"}, {Name: "name", Value: "Ada"}, {Name: "shown", Value: "true"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSortedFunc(got, func(a, b live.Variable) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
}
