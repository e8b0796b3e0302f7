package live_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/budget"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const callbackToken = "0f2c9b7e64d8a1530f2c9b7e64d8a153"

// other is a process that the session did not start.
type other struct {
	*testing.T
	file, baseURL string
	client        http.Client
}

func openForOthers(t *testing.T, edit ...func(*live.Options)) (*fixture, *other) {
	t.Helper()
	f := open(t, append(edit, func(o *live.Options) { o.CallbackToken = callbackToken })...)
	status, err := f.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := &other{T: t, file: status.Callbacks, client: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	data, err := os.ReadFile(status.Callbacks)
	var at struct{ BaseURL, SessionID string }
	if err == nil {
		err = json.Unmarshal(data, &at)
	}
	if err != nil || at.SessionID != status.ID {
		t.Fatalf("%v\n%s", err, data)
	}
	o.baseURL = at.BaseURL
	return f, o
}

// call calls a tool and returns the response.
func (o *other) call(tool, args string) string {
	o.Helper()
	body, _ := json.Marshal(map[string]string{"tool_name": tool, "params_json": args})
	r, err := http.NewRequestWithContext(o.Context(), http.MethodPost, o.baseURL+"/scripting/primitives/ExecuteTool", strings.NewReader(string(body)))
	if err != nil {
		o.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+callbackToken)
	response, err := o.client.Do(r)
	if err != nil {
		o.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		o.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestCallOfOtherContinuesTheLastStep(t *testing.T) {
	t.Parallel()
	f, o := openForOthers(t)
	const done = `{"is_error":false,`
	if got := o.call("launchApp", `{}`); !strings.HasPrefix(got, done) {
		t.Error(got)
	}
	f.step("Open", call("launchApp"))
	for range 2 {
		if got := o.call("launchApp", `{}`); !strings.HasPrefix(got, done) {
			t.Error(got)
		}
	}
	if got := o.call("rememberValue", `{"name":"pin","value":"{{PIN}}"}`); !strings.HasPrefix(got, done) || strings.Contains(got, "98761234") {
		t.Error(got)
	}
	f.request(live.StepRequest{Text: "Shown", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", "Sign in")}})
	if got := o.call("launchApp", `{}`); !strings.HasPrefix(got, done) {
		t.Error(got)
	}
	if got, want := f.recording(), "step (no text yet): launchApp\nstep Open: launchApp launchApp launchApp rememberValue(pin)({{PIN}})\n"+
		"verify Shown: assertVisible(Sign in)\nstep (no text yet): launchApp"; got != want {
		t.Errorf("recorded\n%s\nwant\n%s", got, want)
	}
	if got := o.call("tap", `{"text":"Nowhere"}`); !strings.HasPrefix(got, `{"is_error":true,`) {
		t.Error(got)
	}
	f.Close(t.Context())
	if _, err := os.Stat(o.file); err == nil {
		t.Error("the session was closed, and its file is there")
	}
}

func TestNextReportHasWhatOthersDid(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(f *fixture) (shown string, events, messages []string){
		"a step": func(f *fixture) (string, []string, []string) {
			r := f.step("Wait", call("assertVisible", "text", "Hello"))
			return r.Changes, r.Events, r.Messages
		},
		"a snapshot": func(f *fixture) (string, []string, []string) {
			r, err := f.Snapshot(f.Context(), live.SnapshotOptions{})
			if err != nil {
				f.Fatal(err)
			}
			return r.Text, r.Events, r.Messages
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := openForOthers(t)
			f.step("Open", call("launchApp"))
			f.app.gone = []device.Message{{Role: "alert", Text: "Welcome", Began: time.Now(), For: time.Second}}
			o.call("tap", `{"text":"Sign in"}`)
			if got := o.call("tap", `{"text":"Nowhere"}`); !strings.HasPrefix(got, `{"is_error":true,`) {
				t.Error(got)
			}
			shown, events, messages := next(f)
			if !strings.Contains(shown, "Hello") || len(messages) != 1 || !strings.Contains(messages[0], "Welcome") ||
				!slices.Equal(events, []string{"other processes made 2 calls since the last report"}) {
				t.Errorf("%s\n%q %q", shown, events, messages)
			}
			if _, events, messages = next(f); len(events)+len(messages) > 0 {
				t.Errorf("the report after it: %q %q", events, messages)
			}
			if r, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml"}); err != nil || strings.Contains(strings.Join(r.Warnings, ""), "failed") {
				t.Errorf("a step of the caller counts as failed: %+v, %v", r, err)
			}
		})
	}
}

func TestOthersLeaveARepairAlone(t *testing.T) {
	t.Parallel()
	step := func(text, calls string) string { return "  - step: " + text + "\n    recording:\n      web:\n" + calls }
	const launch, broken = "        - launchApp: {}\n", "        - tap: {text: Nobody}\n"
	for name, c := range map[string]struct {
		rest  string
		stops []string // the texts of the steps at which the replay stops
		want  string
	}{
		"a part is the last": {"", []string{"A", "S"}, "step A: launchApp\nstep A: launchApp\nuse in.yaml:\nstep (no text yet): launchApp"},
		"a step is the last": {
			step("B", broken), []string{"A", "S", "B"}, "step A: launchApp\nstep A: launchApp\nuse in.yaml:\nstep B: launchApp launchApp",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := openForOthers(t)
			f.write("trails/in.yaml", "trail:\n"+step("S", launch+broken))
			f.write("trails/a.trail.yaml", "trail:\n"+step("A", launch)+step("A", broken)+"  - use: in.yaml\n"+c.rest)
			refused := func(want bool) {
				t.Helper()
				if got := o.call("launchApp", `{}`); strings.Contains(got, "a replay has stopped in this session") != want {
					t.Error(got)
				}
			}
			for i, text := range c.stops {
				report, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true})
				if err != nil || report.Text != text {
					t.Fatalf("%+v, %v", report, err)
				}
				refused(true)
				f.step(text, call("launchApp"))
				refused(i < len(c.stops)-1)
			}
			if diff := cmp.Diff(c.want, f.recording()); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOthersHaveABudgetOfTheirOwn(t *testing.T) {
	t.Parallel()
	_, o := openForOthers(t, func(o *live.Options) {
		o.Budgets = session.Budgets{Callbacks: budget.New(0), Others: budget.New(1 << 20)}
	})
	if got := o.call("launchApp", `{}`); !strings.HasPrefix(got, `{"is_error":false,`) {
		t.Error(got)
	}
}

func TestFileOfKilledSessionIsRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "session-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "callbacks.json")
	for _, path := range []string{file, filepath.Join(dir, ".open")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live.RecoverRecordings(root)
	if _, err := os.Stat(file); err == nil {
		t.Error("it is there")
	}
}

func TestOthersNeedTheFolderOfTheSession(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.options.Project.LogsDir = filepath.Join(f.root, "file")
	if err := os.WriteFile(f.options.Project.LogsDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.options.CallbackToken = callbackToken
	if s, err := live.Open(t.Context(), f.options); err == nil || !strings.Contains(err.Error(), "the session has no folder") {
		t.Errorf("%v, %v", s, err)
	}
}
