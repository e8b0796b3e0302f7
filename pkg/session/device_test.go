package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// phone is a device, and its backend, that locates the element of a call.
type phone struct {
	session device.Session
	located *tool.Located
	called  tool.Call // the last call
}

func (p *phone) Open(s device.Session) device.Device {
	p.session = s
	return p
}

func (*phone) Classifiers(context.Context) ([]string, error) { return nil, nil }
func (*phone) Check(context.Context) (string, error)         { return "", nil }
func (*phone) Close(context.Context) error                   { return nil }
func (*phone) Prepare()                                      {}
func (*phone) Size() (width, height int)                     { return 0, 0 }
func (*phone) Evidence(context.Context) []device.Artifact    { return nil }

func (p *phone) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	p.called = call
	return tool.Result{OK: true, Located: p.located}, nil
}

// viewer is a phone that can show its screen, unless that fails with err.
type viewer struct {
	*phone
	err error
}

func (v viewer) Open(s device.Session) device.Device {
	v.session = s
	return v
}

func (v viewer) View(_ context.Context, o device.ViewOptions) (device.View, error) {
	return device.View{Title: "within " + o.Within, Tree: screen.NewTree(nil, 0, 0)}, v.err
}

// withDevice returns options of a session with a device.
func withDevice(t *testing.T, b device.Backend) session.Options {
	t.Helper()
	o := options(t, &fakes{})
	commands := func() []tool.Advertised {
		schema := `"ref": {"type": "string"}, "nodeSelector": {"type": "object"}, "text": {"type": "string"}`
		return []tool.Advertised{device.Command("click", "", schema)}
	}
	o.Device.Backends = []session.Backend{{Kind: device.Kind{Name: "web", Drivers: []string{o.Scope.Driver.Key}, Commands: commands}, Backend: b}}
	return o
}

func TestRecordsElementOfReference(t *testing.T) {
	t.Parallel()
	p := &phone{}
	o := withDevice(t, p)
	o.Live, o.RestrictOrigins, o.AllowedOrigins = true, true, []string{"https://shop.example"}
	s := open(t, o)
	if !p.session.Live || !p.session.RestrictOrigins || len(p.session.AllowedOrigins) != 1 || p.session.Redact("98761234") != "{{PIN}}" {
		t.Errorf("the device was opened with %+v", p.session)
	}
	selector := map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": `\QHello {{name}}\E`, "nthIndex": 2}}
	p.located = &tool.Located{Args: map[string]any{"nodeSelector": selector}, Again: "again", Warnings: []string{"a warning"}}
	s.Memory().Set("city", "Bern")
	call := trail.Call{Tool: "click", Args: map[string]any{"ref": "e12", "text": "{{city}}"}}
	done := s.Call(t.Context(), call)
	if !done.OK() || done.Located != p.located {
		t.Fatalf("%+v", done)
	}
	escaped := map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": `\QHello \{{name}}\E`, "nthIndex": 2}}
	want := []trail.Call{{Tool: "click", Args: map[string]any{"nodeSelector": escaped, "text": "{{city}}"}}}
	if diff := cmp.Diff(want, done.Recorded); diff != "" {
		t.Errorf("-want +recorded:\n%s", diff)
	}
	if call.Args["ref"] != "e12" {
		t.Errorf("the call was changed: %v", call)
	}
	if args, err := trail.Interpolate(done.Recorded[0].Args, s.Memory()); err != nil || cmp.Diff(selector, args["nodeSelector"]) != "" {
		t.Errorf("a replay selects %v, %v", args, err)
	}

	p.located = nil
	if done = s.Call(t.Context(), trail.Call{Tool: "click", Args: map[string]any{"ref": "Save"}}); done.Recorded[0].Args["ref"] != "Save" {
		t.Errorf("a reference that no view has shown was recorded as %v", done.Recorded)
	}
}

// TestTokensLeaveNoPartOfASelectorEmpty: what is empty in a selector does not count, as in older recordings.
func TestTokensLeaveNoPartOfASelectorEmpty(t *testing.T) {
	t.Parallel()
	s := open(t, withDevice(t, &phone{}))
	s.Memory().Set("none", "")
	button := func(name string) map[string]any { return map[string]any{"ariaRole": "button", "ariaNameRegex": name} }
	within := func(name string) map[string]any {
		return map[string]any{"containsDescendants": []any{map[string]any{"web": button(name)}}}
	}
	for want, selector := range map[string]map[string]any{
		"click: nodeSelector.web.ariaNameRegex is empty":                       {"web": button("{{none}}")},
		"click: nodeSelector.containsDescendants.0.web.ariaNameRegex is empty": within("{{none}}{{none}}"),
	} {
		done := s.Call(t.Context(), trail.Call{Tool: "click", Args: map[string]any{"nodeSelector": selector}})
		if done.OK() || !strings.Contains(done.Reason, want) {
			t.Errorf("%v %q, want %q", done.Outcome, done.Reason, want)
		}
	}
	for _, name := range []string{"", "Save{{none}}"} {
		args := map[string]any{"nodeSelector": map[string]any{"web": button(name)}, "text": "{{none}}"}
		if done := s.Call(t.Context(), trail.Call{Tool: "click", Args: args}); !done.OK() {
			t.Errorf("%q: %s", name, done.Reason)
		}
	}
}

func TestCallsOfServersAtURLSayThatTheyAre(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry config.Server
		want  bool
	}{
		"a url":     {config.Server{Name: "x", URL: "http://127.0.0.1:9/mcp"}, true},
		"a command": {config.Server{Name: "x", Command: "x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &phone{}
			o := withDevice(t, p)
			o.Launch = (&fakes{tools: map[string]map[string]mcp.ToolHandler{
				"x": {"delegate": answer(`{"_trailblaze_delegates": [{"tool": "click", "args": {"ref": "Save"}}]}`)},
			}}).launch
			o.Project.Servers = []config.Server{tt.entry}
			s := open(t, o)
			if done := s.Call(t.Context(), trail.Call{Tool: "delegate"}); !done.OK() || p.called.FromURL != tt.want {
				t.Errorf("%v %s, from a URL: %v", done.Outcome, done.Reason, p.called.FromURL)
			}
			if done := s.Call(t.Context(), trail.Call{Tool: "click"}); !done.OK() || p.called.FromURL {
				t.Errorf("a call of the trail: %v %s, from a URL: %v", done.Outcome, done.Reason, p.called.FromURL)
			}
			if done := s.CallForOther(t.Context(), trail.Call{Tool: "delegate"}); !done.OK() || !p.called.FromURL {
				t.Errorf("a call of another process: %v %s, from a URL: %v", done.Outcome, done.Reason, p.called.FromURL)
			}
		})
	}
}

func TestCallsOfSandboxSayThatTheyAre(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry     config.Server
		agentMode scope.AgentMode
		sandboxes bool
		want      bool
	}{
		"the sandbox":       {config.Server{Script: "x.ts"}, scope.OnDevice, true, true},
		"another runtime":   {config.Server{Script: "x.ts"}, scope.OnDevice, false, false},
		"a command":         {config.Server{Command: "x"}, scope.OnDevice, true, false},
		"tools on the host": {config.Server{Script: "x.ts"}, scope.Host, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &phone{}
			o := withDevice(t, p)
			o.Launch = (&fakes{tools: map[string]map[string]mcp.ToolHandler{
				"x": {"delegate": answer(`{"_trailblaze_delegates": [{"tool": "click", "args": {"ref": "Save"}}]}`)},
			}}).launch
			tt.entry.Name = "x"
			o.Project.Servers = []config.Server{tt.entry}
			o.Scope.AgentMode = tt.agentMode
			o.Sandboxes = func(config.Server) bool { return tt.sandboxes }
			s := open(t, o)
			if done := s.Call(t.Context(), trail.Call{Tool: "delegate"}); !done.OK() || p.called.FromSandbox != tt.want {
				t.Errorf("%v %s, from the sandbox: %v", done.Outcome, done.Reason, p.called.FromSandbox)
			}
			if done := s.Call(t.Context(), trail.Call{Tool: "click"}); !done.OK() || p.called.FromSandbox {
				t.Errorf("a call of the trail: %v %s, from the sandbox: %v", done.Outcome, done.Reason, p.called.FromSandbox)
			}
		})
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options session.Options
		want    string
	}{
		"shown":        {withDevice(t, viewer{phone: &phone{}}), "within e1"},
		"not a viewer": {withDevice(t, &phone{}), "a device of driver playwright-native cannot show its screen as a list of elements"},
		"no device":    {options(t, &fakes{}), "the session has no device: trailblaze does not drive playwright-native"},
	} {
		s := open(t, tt.options)
		v, err := s.View(t.Context(), device.ViewOptions{Within: "e1"})
		got := v.Title
		if err != nil {
			got = err.Error()
			if len(fault.Hints(err)) != 1 {
				t.Errorf("%s: hints %q", name, fault.Hints(err))
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		s.Close(t.Context())
		if _, err := s.View(t.Context(), device.ViewOptions{}); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: a closed session: %v", name, err)
		}
	}
}

func TestViewOfLostDeviceEndsTheSession(t *testing.T) {
	t.Parallel()
	for kind, ends := range map[fault.Kind]bool{fault.Crashed: true, fault.ToolFailed: false} {
		cause := fault.New(kind, "", "the view failed")
		s := open(t, withDevice(t, viewer{&phone{}, cause}))
		if _, err := s.View(t.Context(), device.ViewOptions{}); !errors.Is(err, cause) {
			t.Errorf("%s: %v", kind, err)
		}
		if ended := s.Err() != nil; ended != ends {
			t.Errorf("%s: the session ended: %t, want %t", kind, ended, ends)
		}
	}
}
