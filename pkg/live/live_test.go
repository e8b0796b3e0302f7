package live_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a live session on an app.
type fixture struct {
	*testing.T
	*live.RedactedSession
	app     *app
	root    string
	options live.Options
	// replay is how replays of trails end, and replayed the contents that were replayed.
	replay   live.Replayed
	replayed []string
	contents []map[string][]byte
}

func open(t *testing.T, edit ...func(*live.Options)) *fixture {
	t.Helper()
	return openIn(t.Context(), t, edit...)
}

// openIn opens a session that ctx bounds.
func openIn(ctx context.Context, t *testing.T, edit ...func(*live.Options)) *fixture {
	t.Helper()
	root := t.TempDir()
	f := &fixture{
		T: t, root: root, app: &app{buttons: []string{"Sign in"}, opens: map[string]string{"Sign in": "Hello"}},
		replay: live.Replayed{Outcome: event.Passed},
	}
	secrets := map[string]string{"PIN": "98761234"}
	redactor := redact.New(secrets)
	driver, _ := scope.ParseDriver("playwright-native")
	o := live.Options{
		Setup: session.Setup{
			Project: &config.Project{
				Root: root, LogsDir: filepath.Join(root, "logs"), TrailsDir: filepath.Join(root, "trails"),
			},
			Version: "test", Redactor: redactor, Stream: event.NewStream(time.Now, redactor), Now: time.Now,
			Builtins: []discover.Source{builtin.Source(), builtin.ExecSource(nil)},
		},
		Scope:  scope.Scope{Driver: driver, AgentMode: scope.Host},
		Device: session.Device{Backends: []session.Backend{{Kind: f.app.kind(), Backend: f.app}}},
		Name:   "live", Lineage: []string{"web"}, Memory: map[string]string{"name": "Ada"}, Secrets: secrets,
		Agent:  true,
		Settle: live.Settle{Interval: time.Millisecond},
		Replay: func(_ context.Context, path string, contents map[string][]byte, _ map[string]string) (live.Replayed, error) {
			f.contents = append(f.contents, contents)
			f.replayed = append(f.replayed, string(contents[path]))
			return f.replay, nil
		},
	}
	for _, change := range edit {
		change(&o)
	}
	f.options = o
	var err error
	if f.RedactedSession, err = live.Open(ctx, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(context.WithoutCancel(t.Context())) })
	return f
}

func call(toolName string, args ...string) trail.Call {
	c := trail.Call{Tool: toolName, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		c.Args[args[i]] = args[i+1]
	}
	return c
}

// step makes calls in a step; it fails the test if the step is refused.
func (f *fixture) step(text string, calls ...trail.Call) live.StepReport {
	f.Helper()
	return f.request(live.StepRequest{Text: text, Kind: trail.KindStep, Calls: calls})
}

func (f *fixture) request(r live.StepRequest) live.StepReport {
	f.Helper()
	report, err := f.Step(f.Context(), r)
	if err != nil {
		f.Fatal(err)
	}
	return report
}

// limits returns which calls of a tool are not accepted.
func (f *fixture) limits(tool string) string {
	f.Helper()
	b, err := f.Toolbox(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return b.Limits[tool]
}

// recording returns the steps of the recording in short: each call is the tool and its arguments' values.
func (f *fixture) recording() string {
	f.Helper()
	yaml, err := f.Edit(f.Context(), live.Edit{})
	if err != nil {
		f.Fatal(err)
	}
	return inShort(f.T, yaml)
}

func inShort(t *testing.T, yaml string) string {
	t.Helper()
	if yaml == "" {
		return ""
	}
	file, problems := trail.Parse("x", []byte(yaml))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var out []string
	for _, s := range file.Steps {
		line := s.Kind + " " + s.Text + ":"
		calls, _ := s.Lookup([]string{"web"})
		for _, c := range calls {
			line += " " + c.Tool
			for _, name := range []string{"text", "ref", "name", "value"} {
				if v, ok := c.Args[name].(string); ok {
					line += "(" + v + ")"
				}
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestRecordsOnlyCallsThatSucceed(t *testing.T) {
	t.Parallel()
	f := open(t)
	if r := f.step("Open the app", call("launchApp")); !r.OK() || r.Step != 1 || len(r.Recorded) != 1 {
		t.Errorf("report %+v", r)
	}
	r := f.step("Sign in", call("tap", "text", "Sign in"), call("tap", "text", "Nothing"), call("tap", "text", "Hello"))
	if r.OK() || len(r.Recorded) != 1 || !r.Calls[1].Made || r.Calls[2].Made {
		t.Errorf("report %+v", r)
	}
	f.step("Sign in", call("tap", "text", "Hello"))
	f.request(live.StepRequest{Text: "Look", Kind: trail.KindStep, Unrecorded: true, Calls: []trail.Call{call("tap", "text", "Hello")}})
	f.request(live.StepRequest{Text: "Greeted", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", "Hello")}})
	want := "step Open the app: launchApp\nstep Sign in: tap(Sign in) tap(Hello)\nverify Greeted: assertVisible(Hello)"
	if diff := cmp.Diff(want, f.recording()); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
}

func TestReferencesAreRecordedAsSelectors(t *testing.T) {
	t.Parallel()
	f := open(t)
	shot, err := f.Snapshot(t.Context(), live.SnapshotOptions{})
	if err != nil || !strings.Contains(shot.Text, `button "Sign in" [ref=e1]`) {
		t.Fatal(shot.Text, err)
	}
	f.app.set("Delete everything", "Sign in")
	r := f.step("Sign in", call("tap", "ref", "e1"))
	if !slices.Equal(f.app.tapped, []string{"Sign in"}) {
		t.Errorf("tapped %q", f.app.tapped)
	}
	if !strings.Contains(r.Changes, `+ - button "Hello" [ref=e3]`) || strings.Contains(r.Changes, "Sign in") {
		t.Errorf("changes:\n%s", r.Changes)
	}
	f.app.set("Other")
	if r := f.step("Sign in", call("tap", "ref", "e1")); r.OK() || r.Calls[0].Kind != "stale_ref" {
		t.Errorf("report %+v", r)
	}
	if diff := cmp.Diff("step Sign in: tap(Sign in)", f.recording()); diff != "" {
		t.Errorf("recording (-want +got):\n%s", diff)
	}
}

func TestReferencesAreNotUsedAgainInTheNextSession(t *testing.T) {
	t.Parallel()
	first := open(t)
	if _, err := first.Snapshot(t.Context(), live.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	second := open(t, func(o *live.Options) { o.Before = first.RedactedSession })
	second.app.set("Delete everything")
	shot, err := second.Snapshot(t.Context(), live.SnapshotOptions{})
	if err != nil || !strings.Contains(shot.Text, `button "Delete everything" [ref=e2]`) {
		t.Errorf("%s, %v", shot.Text, err)
	}
	if r := second.step("Sign in", call("tap", "ref", "e1")); r.OK() || len(second.app.tapped) > 0 {
		t.Errorf("report %+v", r)
	}
}

func TestRefusesStepsBeforeAnyCallIsMade(t *testing.T) {
	t.Parallel()
	tap := call("tap", "text", "Sign in")
	for name, c := range map[string]struct {
		request live.StepRequest
		want    string
	}{
		"without text":           {live.StepRequest{Kind: "step", Calls: []trail.Call{tap}}, "has no text"},
		"without calls":          {live.StepRequest{Text: "x", Kind: "step"}, "has no calls"},
		"unknown kind":           {live.StepRequest{Text: "x", Kind: "check", Calls: []trail.Call{tap}}, `unknown kind of step "check"`},
		"unknown tool":           {live.StepRequest{Text: "x", Kind: "step", Calls: []trail.Call{tap, call("tapp")}}, "call 2 of 2"},
		"wrong argument":         {live.StepRequest{Text: "x", Kind: "step", Calls: []trail.Call{tap, call("tap", "txt", "a")}}, "txt"},
		"not allowed":            {live.StepRequest{Text: "x", Kind: "step", Calls: []trail.Call{tap, call("web_evaluate")}}, "not allowed for agents"},
		"verify without a check": {live.StepRequest{Text: "x", Kind: "verify", Calls: []trail.Call{tap, call("isVisible", "text", "a")}}, "can fail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			_, err := f.Step(t.Context(), c.request)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(f.app.tapped) > 0 || f.recording() != "" {
				t.Errorf("tapped %q, recorded %q", f.app.tapped, f.recording())
			}
		})
	}
	f := open(t)
	route := func(abort any) trail.Call {
		return trail.Call{Tool: "web_route", Args: map[string]any{"url": "**/ads", "abort": abort}}
	}
	for _, abort := range []any{nil, false, "true", "{{yes}}"} {
		_, err := f.Step(t.Context(), live.StepRequest{Text: "Route", Kind: "step", Calls: []trail.Call{route(abort)}})
		if fault.KindOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), "only with abort: true") {
			t.Errorf("%v: %v", abort, err)
		}
	}
	if r := f.step("Abort", route(true)); !r.OK() || f.limits("web_evaluate") != "not allowed" || f.limits("exec") != "not allowed" {
		t.Errorf("a route that aborts: %+v", r)
	}
	f = open(t, func(o *live.Options) { o.Allow = []string{"web_evaluate"} })
	if r := f.step("Run", call("web_evaluate")); !r.OK() {
		t.Errorf("an allowed tool: %+v", r)
	}
	f = open(t, func(o *live.Options) { o.Agent = false })
	if r := f.step("Run", call("web_evaluate")); !r.OK() {
		t.Errorf("a call of a person: %+v", r)
	}
	_, err := f.Step(t.Context(), live.StepRequest{Text: "Run", Kind: "step", Calls: []trail.Call{call("web_evaluate")}, Agent: true})
	if fault.KindOf(err) != fault.PermissionDenied {
		t.Errorf("a call of an agent in a session of a person: %v", err)
	}
}

func TestEditsTheRecording(t *testing.T) {
	t.Parallel()
	const all = "step A: launchApp tap(Sign in)\nstep B: tap(Hello)\nstep C: tap(Hello)"
	for name, c := range map[string]struct {
		edit live.Edit
		want string // the recording, or the error
	}{
		"drop a step":        {live.Edit{Drop: "2"}, "step A: launchApp tap(Sign in)\nstep C: tap(Hello)"},
		"drop a call":        {live.Edit{Drop: "1.1"}, "step A: tap(Sign in)\nstep B: tap(Hello)\nstep C: tap(Hello)"},
		"drop the only call": {live.Edit{Drop: "2.1"}, "step A: launchApp tap(Sign in)\nstep C: tap(Hello)"},
		"reword":             {live.Edit{Reword: &live.Reword{Step: 3, Text: "D"}}, strings.ReplaceAll(all, "step C", "step D")},
		"move to the front":  {live.Edit{Move: &live.Move{Step: 3, To: 1}}, "step C: tap(Hello)\nstep A: launchApp tap(Sign in)\nstep B: tap(Hello)"},
		"move to the end":    {live.Edit{Move: &live.Move{Step: 1, To: 3}}, "step B: tap(Hello)\nstep C: tap(Hello)\nstep A: launchApp tap(Sign in)"},
		"no such step":       {live.Edit{Drop: "4"}, "the recording has no step 4; it has 3 steps"},
		"no such call":       {live.Edit{Drop: "2.2"}, "step 2 has no call 2.2; it has 1 call"},
		"not a number":       {live.Edit{Drop: "x"}, "the recording has no step x; it has 3 steps"},
		"replace": {
			live.Edit{Replace: &live.Replace{Call: "1.2", With: map[string]any{"text": "Sign up"}}},
			strings.ReplaceAll(all, "Sign in", "Sign up"),
		},
		"replace, then drop": {
			live.Edit{Replace: &live.Replace{Call: "1.2", With: map[string]any{"text": "Sign up"}}, Drop: "1.1"},
			"step A: tap(Sign up)\nstep B: tap(Hello)\nstep C: tap(Hello)",
		},
		"replace in no call":       {live.Edit{Replace: &live.Replace{Call: "2", With: map[string]any{"text": "x"}}}, "step 2 has no call 2; it has 1 call"},
		"replace with nothing":     {live.Edit{Replace: &live.Replace{Call: "2.1"}}, "nothing is given to put into call 2.1"},
		"replace with a reference": {live.Edit{Replace: &live.Replace{Call: "2.1", With: map[string]any{"ref": "e7"}}}, "a replay does not know the reference e7"},
		"an empty text":            {live.Edit{Reword: &live.Reword{Step: 1}}, "the new text of step 1 is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.step("A", call("launchApp"), call("tap", "text", "Sign in"))
			f.step("B", call("tap", "text", "Hello"))
			f.step("C", call("tap", "text", "Hello"))
			got, err := f.Edit(t.Context(), c.edit)
			if err != nil {
				got = err.Error()
			} else {
				got = inShort(t, got)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithholdsScreenshotsThatShowSecrets(t *testing.T) {
	t.Parallel()
	f := open(t)
	shot, err := f.Snapshot(t.Context(), live.SnapshotOptions{Screenshot: true})
	if err != nil || string(shot.Screenshot) != "png" || shot.Withheld != "" {
		t.Errorf("%+v, %v", shot, err)
	}
	f.app.set("PIN 98761234")
	shot, err = f.Snapshot(t.Context(), live.SnapshotOptions{Screenshot: true})
	if err != nil || shot.Screenshot != nil || shot.Withheld == "" || strings.Contains(shot.Text, "98761234") {
		t.Errorf("%+v, %v", shot, err)
	}
}

func TestWarnsOfASecretTextInTheRecording(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, token := range []string{"{{PIN}}", "${PIN}"} {
		if r := f.step("Enter the PIN", call("web_fillSecret", "value", token)); len(r.Warnings) > 0 {
			t.Errorf("%s: warnings %q", token, r.Warnings)
		}
	}
	r := f.step("Enter another", call("web_fillSecret", "value", "5678"))
	want := []string{"web_fillSecret: the recording has the value as it was written; " +
		"to keep it out, start the session with --secret NAME and write {{NAME}}"}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestSnapshotOfAnElementHasWholeTexts(t *testing.T) {
	t.Parallel()
	f := open(t)
	long := strings.Repeat("very ", 60) + "long"
	f.app.set(long)
	for within, whole := range map[string]bool{"": false, "e1": true} {
		shot, err := f.Snapshot(t.Context(), live.SnapshotOptions{Within: within})
		if err != nil || strings.Contains(shot.Text, long) != whole {
			t.Errorf("within %q: %+v, %v", within, shot, err)
		}
	}
}

func TestWithholdsScreenshotsWhenASecretAppearsMeanwhile(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.loading = []string{"Loading", "PIN 98761234"}
	shot, err := f.Snapshot(t.Context(), live.SnapshotOptions{Screenshot: true})
	if err != nil || shot.Screenshot != nil || shot.Withheld == "" || !strings.Contains(shot.Text, "Loading") {
		t.Errorf("%+v, %v", shot, err)
	}
}

func TestCallThatLedToABlockedPageFails(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"))
	f.app.blocked = []string{"https://other.example/98761234"}
	r := f.step("Sign in", call("launchApp"), call("tap", "text", "Sign in"), call("assertVisible", "text", "Hello"))
	c := r.Calls[1]
	if r.OK() || !r.Calls[0].OK || c.OK || c.Text != "it led to https://other.example/{{PIN}}, which was blocked, because its origin is not allowed" ||
		c.Kind != fault.ToolFailed || c.Hint == "" || len(r.Recorded) != 1 {
		t.Errorf("%+v", r)
	}
	if got, want := f.recording(), "step Open: launchApp\nstep Sign in: launchApp"; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
}

func TestWaitsUntilTheScreenStaysTheSame(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.loading = []string{"Loading", "Loading more", "Done"}
	r := f.step("Open", call("launchApp"))
	if !strings.Contains(r.Changes, "Done") || strings.Contains(r.Changes, "Loading") {
		t.Errorf("changes:\n%s", r.Changes)
	}
}

func TestWaitsForAScreenThatRespondsLate(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.loading = []string{"Save"}
	f.step("Open", call("launchApp"))
	f.app.loading = []string{"Saving", "Saving", "Saving", "Saved"}
	if r := f.step("Save", call("tap", "text", "Save")); !strings.Contains(r.Changes, `+ - button "Saved"`) {
		t.Errorf("changes:\n%s", r.Changes)
	}
}

func TestDecodesCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value map[string]any
		want  string
	}{
		"two tools":     {map[string]any{"a": map[string]any{}, "b": map[string]any{}}, "two tools"},
		"no tool":       {map[string]any{"saveAs": "x"}, "names no tool"},
		"text for args": {map[string]any{"tap": "OK"}, "not an object"},
		"a bad name":    {map[string]any{"tap": nil, "saveAs": "a b"}, "not a valid name"},
		"a bad timeout": {map[string]any{"tap": nil, "timeout": "5"}, "not a duration"},
	} {
		if _, err := live.DecodeCall(c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := live.DecodeCall(map[string]any{"name": "tap", "arguments": map[string]any{"text": "OK"}}); err != nil || got.Tool != "tap" {
		t.Errorf("the form of MCP: %+v, %v", got, err)
	}
	got, err := live.DecodeCall(map[string]any{"tap": map[string]any{"text": "OK"}, "saveAs": "x", "timeout": "5s"})
	want := trail.Call{Tool: "tap", Args: map[string]any{"text": "OK"}, SaveAs: "x", Timeout: 5 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestRecordingOutlivesSession(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Sign in", call("tap", "text", "Sign in"))
	f.Close(t.Context())
	if text, err := f.Edit(t.Context(), live.Edit{}); err != nil || !strings.Contains(text, "tap:") {
		t.Errorf("%v, recording:\n%s", err, text)
	}
	if saved, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"}); err != nil || !saved.Written {
		t.Errorf("%+v, %v", saved, err)
	}
	if _, err := f.Snapshot(t.Context(), live.SnapshotOptions{}); err == nil {
		t.Error("a session that was closed shows its screen")
	}
}
