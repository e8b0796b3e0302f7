package livetool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// shop is a kind of device: an app with a button "Pay", after which it shows "Paid".
type shop struct{ opened int }

func (b *shop) kind() device.Kind {
	element := `"text": {"type": "string"}, "ref": {"type": "string"}`
	return device.Kind{
		Name: "shop", Drivers: []string{"playwright-native"}, Checks: device.CoreChecks(), StartCommands: device.CoreStartCommands(),
		Commands: func() []tool.Advertised {
			return []tool.Advertised{
				device.Command("launchApp", "Opens the app.", ""), device.Command("tap", "Taps a button.", element),
				device.Command("assertVisible", "Fails unless a text is shown.", element),
			}
		},
	}
}

func (*shop) Classifiers(context.Context) ([]string, error) { return nil, nil }
func (*shop) Check(context.Context) (string, error)         { return "", nil }
func (*shop) Close(context.Context) error                   { return nil }

func (b *shop) Open(s device.Session) device.Device {
	b.opened++
	return &till{shown: []string{"Pay"}, refs: s.References}
}

// till is the app in one session.
type till struct {
	shown []string
	refs  *screen.References
}

func (*till) Close(context.Context) error                { return nil }
func (*till) Prepare()                                   {}
func (*till) Size() (width, height int)                  { return 100, 100 }
func (*till) Evidence(context.Context) []device.Artifact { return nil }

func (d *till) View(context.Context, device.ViewOptions) (device.View, error) {
	tree := d.tree()
	d.refs.See(tree)
	return device.View{Title: "Shop", Tree: tree, Part: tree, Ref: d.refs.Ref}, nil
}

func (d *till) tree() *screen.Tree {
	root := &screen.Node{Role: "document", Key: "root"}
	for _, name := range d.shown {
		root.Children = append(root.Children, &screen.Node{Role: "button", Label: &name, Key: screen.Key(name), States: screen.States{Clickable: true}})
	}
	return screen.NewTree(root, 100, 100)
}

func (d *till) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	result := tool.Result{OK: true}
	text, _ := c.Args["text"].(string)
	if ref, ok := c.Args["ref"].(string); ok {
		found, err := d.refs.Lookup(ref, d.tree(), screen.ToAct)
		if err != nil {
			return tool.Result{Kind: fault.As(err).Kind, Text: err.Error()}, nil
		}
		text = *found.Node.Label
		result.Located = &tool.Located{Args: map[string]any{"text": text}}
	}
	if c.Tool != "launchApp" && !strings.Contains(strings.Join(d.shown, "\n"), text) {
		return tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf("%q is not shown", text)}, nil
	}
	if c.Tool == "tap" {
		d.shown = []string{"Paid"}
	}
	return result, nil
}

// ends remembers how the last trail ended.
type ends struct{ event.TrailFinished }

func (e *ends) Handle(r event.Record) {
	if finished, ok := r.Event.(event.TrailFinished); ok {
		e.TrailFinished = finished
	}
}

// opener opens sessions of a project with the app, and replays in sessions of their own.
func opener(root string, app *shop) func(context.Context, Start) (Opened, error) {
	driver, _ := scope.ParseDriver("playwright-native")
	redactor := redact.New(nil)
	backends := session.Device{Backends: []session.Backend{{Kind: app.kind(), Backend: app}}, Classifiers: []string{"web"}}
	setup := session.Setup{
		Project: &config.Project{
			Root: root, LogsDir: filepath.Join(root, "logs"), TrailsDir: filepath.Join(root, "trails"), Target: "app", Platform: "web",
		},
		Version: "test", Redactor: redactor, Stream: event.NewStream(time.Now, redactor), Now: time.Now,
		Builtins: []discover.Source{builtin.Source()},
	}
	replay := func(ctx context.Context, path string, contents map[string][]byte, args map[string]string) (live.Replayed, error) {
		var end ends
		o := run.Options{
			Setup: setup, Devices: []session.Device{backends}, Contents: contents, WithoutHistory: true,
		}
		o.Cwd, o.Paths, o.Args = root, []string{path}, args
		o.Stream = event.NewStream(time.Now, redactor, &end)
		o.OpenLog = func(path string, onError func(error)) run.SessionLog { return report.NewSessionLog(path, onError) }
		_, err := run.Run(ctx, o)
		return live.Replayed{Outcome: end.Outcome, Reason: end.Reason}, err
	}
	return func(ctx context.Context, _ Start) (Opened, error) {
		s, err := live.Open(ctx, live.Options{
			Setup: setup, Scope: scope.Scope{Target: scope.Target{ID: "app"}, Driver: driver, AgentMode: scope.Host}, Device: backends,
			Name: "test", Lineage: []string{"web"}, Agent: true, Replay: replay, Settle: live.Settle{Interval: time.Millisecond},
		})
		return Opened{Session: s}, err
	}
}

// TestAuthoringWithoutMCP opens a session, looks, makes and checks a payment, saves it as a trail and replays that.
func TestAuthoringWithoutMCP(t *testing.T) {
	t.Parallel()
	root, app := t.TempDir(), &shop{}
	c := started(t, Options{Open: opener(root, app)}, nil)
	c.wants("session", map[string]any{"action": "start"}, false, "target app, web, driver playwright-native")
	shown, _ := c.call("snapshot", nil)
	ref := regexp.MustCompile(`button "Pay" \[ref=(e\d+)\]`).FindStringSubmatch(shown)
	if ref == nil {
		t.Fatal(shown)
	}
	c.wants("toolbox", map[string]any{"search": "visible"}, false, "assertVisible{ref?, text?} Fails unless a text is shown.")
	c.wants("step", map[string]any{"step": "Open the shop", "calls": []any{map[string]any{"launchApp": nil}}}, false, "ok: 1 launchApp")
	c.wants("step", map[string]any{"step": "Pay", "calls": []any{map[string]any{"tap": map[string]any{"ref": ref[1]}}}}, false,
		"ok: 1 tap\nrecorded in step 2\n<page n=", `- button "Pay"`, `+ - button "Paid"`)
	c.wants("step", map[string]any{"step": "It is paid", "kind": "verify", "calls": []any{map[string]any{"assertVisible": map[string]any{"text": "Paid"}}}}, false)
	c.wants("step", map[string]any{"step": "It is sent", "kind": "verify", "calls": []any{map[string]any{"assertVisible": map[string]any{"text": "Sent"}}}}, true,
		"failed: 1 assertVisible (tool failed)", `1 failed: "Sent" is not shown`)
	c.wants("save_trail", map[string]any{"file": "trails/pay.trail.yaml"}, false, "trails/pay.trail.yaml: new, with 3 steps; passed its replay")
	data, err := os.ReadFile(filepath.Join(root, "trails", "pay.trail.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); !strings.Contains(text, "tap: { text: Pay }") && !strings.Contains(text, "text: Pay") || strings.Contains(text, "ref") || strings.Contains(text, "Sent") {
		t.Error(text)
	}
	c.wants("run_trail", map[string]any{"file": "trails/pay.trail.yaml"}, false, "trails/pay.trail.yaml: passed")
	if app.opened != 3 {
		t.Errorf("the app was opened %d times: want once for the session and once for each replay", app.opened)
	}
}

// TestRepairsOfAKeptReplayAreTheRecording repairs trails in sessions one after another, each in its first step.
func TestRepairsOfAKeptReplayAreTheRecording(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "trails"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		content := "trail:\n  - step: Pay " + name + "\n    recording:\n      web:\n        - launchApp: {}\n        - tap: { text: Buy }\n        - tap: { text: Gone }\n"
		if err := os.WriteFile(filepath.Join(root, "trails", name+".trail.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := started(t, Options{Open: opener(root, &shop{})}, nil)
	repair := func(name string) {
		t.Helper()
		c.wants("run_trail", map[string]any{"file": "trails/" + name + ".trail.yaml", "keep": true}, true, `"Buy" is not shown`)
		c.wants("step", map[string]any{"step": "Pay " + name, "calls": []any{map[string]any{"tap": map[string]any{"text": "Pay"}}}}, false, "ok: 1 tap")
	}
	repair("a")
	c.wants("session", map[string]any{"action": "end"}, false, "its recording (1 step) is kept")
	c.wants("recording", nil, false, "Pay a", "text: Pay\n")
	repair("b")
	c.wants("recording", nil, false, "Pay b", "text: Pay\n")
	c.wants("session", map[string]any{"action": "end"}, false, "its recording (1 step) is kept")
	c.wants("recording", nil, false, "Pay b", "text: Pay\n")
	c.wants("step", map[string]any{"step": "Open", "calls": []any{map[string]any{"launchApp": nil}}}, false)
	c.wants("recording", map[string]any{"drop": "1"}, false, "nothing is recorded now")
	c.wants("recording", nil, false, "nothing was recorded")
}

// TestRecordingThatWasNotSavedIsLeftToTheNextSession has clients go away in each way.
func TestRecordingThatWasNotSavedIsLeftToTheNextSession(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(c *agent)
		left int
	}{
		"the client goes away":  {func(*agent) {}, 1},
		"another client begins": {func(c *agent) { c.tools.Reset() }, 1},
		"the session was ended": {func(c *agent) { c.wants("session", map[string]any{"action": "end"}, false, "the session ended") }, 0},
		"the step was dropped":  {func(c *agent) { c.wants("recording", map[string]any{"drop": 1}, false, "nothing is recorded now") }, 0},
		"the recording was saved": {func(c *agent) {
			c.wants("save_trail", map[string]any{"file": "trails/a.trail.yaml"}, false, "passed its replay")
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			t.Cleanup(func() { // after the tools were closed
				if left := live.RecoverRecordings(filepath.Join(root, "logs")); len(left) != tc.left {
					t.Errorf("left %q, want %d", left, tc.left)
				}
			})
			c := started(t, Options{Open: opener(root, &shop{})}, nil)
			c.wants("step", map[string]any{"step": "Open", "calls": []any{map[string]any{"launchApp": nil}}}, false, "ok: 1 launchApp")
			tc.end(c)
		})
	}
}
