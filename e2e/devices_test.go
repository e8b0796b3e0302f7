//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// phones is a kind of device that lives in memory: a screen with texts, of which some are buttons that show others. It
// is all that a new kind needs, and is registered by one line in the system of a test.
type phones struct {
	mu     sync.Mutex
	notes  []string
	host   device.Host
	absent error // why there is no device
}

func (p *phones) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, what)
}

func (p *phones) count(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(p.notes), func(note string) bool { return note != what }))
}

func (p *phones) kind() device.Kind {
	schema := func(properties string) json.RawMessage {
		return json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {` + properties + `}}`)
	}
	text := schema(`"text": {"type": "string"}`)
	return device.Kind{
		Name: "phones", Drivers: []string{"ios-host"}, DoctorCheck: "phones",
		Commands: func() []tool.Advertised {
			return []tool.Advertised{
				{Name: "tap", Description: "Taps.", InputSchema: text},
				{Name: "isVisible", Description: "Tells.", InputSchema: text},
				{Name: "assertVisible", Description: "Asserts.", InputSchema: text},
				{Name: "typeSecret", Description: "Types.", InputSchema: schema(`"value": {"type": "string", "writeOnly": true}`)},
				{Name: "captureScreen", Description: "Captures."},
				{Name: "unplug", Description: "Breaks the device."},
			}
		},
		Options: []device.Option{
			{Key: "phoneName", Flag: "phone-name", Env: "PHONE_NAME", Usage: "`NAME` of the phone", Default: "any"},
			{Key: "loud", Flag: "loud", Usage: "with sound", Switch: true},
		},
		New: func(h device.Host) (device.Backend, error) {
			p.host = h
			if h.Values["phoneName"] == "none" {
				return nil, fault.New(fault.Misuse, "name another", "there is no phone called none")
			}
			return p, nil
		},
	}
}

func (p *phones) Open(s device.Session) device.Device {
	p.note("open")
	return &phone{phones: p, session: s, screen: map[string]bool{"Buy": true}}
}

func (p *phones) Classifiers(context.Context) ([]string, error) { return []string{"small"}, nil }

func (p *phones) Check(context.Context) (string, error) { return "phone of memory", p.absent }

func (p *phones) Close(context.Context) error { p.note("close all"); return nil }

type phone struct {
	*phones
	session device.Session
	screen  map[string]bool
}

func (p *phone) Prepare() { p.note("prepare") }

func (p *phone) Size() (width, height int) { return 390, 844 }

func (p *phone) Evidence(context.Context) []device.Artifact {
	return []device.Artifact{{Name: "screen.txt", Data: []byte("secret hunter22 on screen"), Text: true}}
}

func (p *phone) Close(context.Context) error { p.note("close"); return nil }

func (p *phone) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	p.note(call.Tool)
	text, _ := call.Args["text"].(string)
	switch call.Tool {
	case "tap":
		p.screen["Thanks"] = true
	case "isVisible":
		return tool.Result{OK: true, Text: map[bool]string{true: "true", false: "false"}[p.screen[text]]}, nil
	case "assertVisible":
		if !p.screen[text] {
			return tool.Result{Kind: fault.ToolFailed, Text: text + " is not visible"}, nil
		}
	case "captureScreen":
		path, err := p.session.Keep(device.Artifact{Name: "shot.png", Data: []byte("png")})
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{OK: true, Text: path}, nil
	case "typeSecret":
		if text, _ := call.Args["value"].(string); strings.HasPrefix(text, "wrong-horse") {
			return tool.Result{Kind: fault.ToolFailed, Text: "no"}, nil
		}
	case "unplug":
		err := fault.New(fault.Crashed, "plug it in", "the phone is gone")
		p.session.Broken(err)
		return tool.Result{}, err
	}
	return tool.Result{OK: true, Text: "done"}, nil
}

// withPhones runs a command line in a project that has only phones.
func withPhones(t *testing.T, p *phones, files map[string]string, args ...string) (result, *project) {
	t.Helper()
	project := newProject(t, files)
	return project.runWith([]device.Kind{p.kind()}, args...), project
}

func (p *project) runWith(kinds []device.Kind, args ...string) result {
	p.t.Helper()
	var out, errs strings.Builder
	sys := p.system(p.dir, &out, &errs, args...)
	sys.Devices = kinds
	code := cmd.Main(sys)
	return result{code, out.String(), errs.String()}
}

func phoneTrail(calls ...string) map[string]string {
	return map[string]string{
		"trailblaze.yaml":     "platform: ios\ntarget: shop\n",
		"trails/a.trail.yaml": "trail:\n  - step: do it\n    recording:\n      ios:\n        - " + strings.Join(calls, "\n        - ") + "\n",
	}
}

func TestDeviceCommandIsTool(t *testing.T) {
	t.Parallel()
	var p phones
	r, _ := withPhones(t, &p, phoneTrail("assertVisible: { text: Buy }", "isVisible: { text: Thanks }\n          saveAs: before", "tap: { text: Buy }",
		"isVisible: { text: Thanks }\n          saveAs: after", `assertEquals: { expected: "false true", actual: "{{before}} {{after}}" }`), "run")
	r.want(t, 0, "1 passed")
	want := []string{"open", "prepare", "assertVisible", "isVisible", "tap", "isVisible", "close", "close all"}
	if diff := cmp.Diff(want, p.notes); diff != "" {
		t.Errorf("what the device was asked for (-want +got):\n%s", diff)
	}
}

func TestUnusedDeviceIsNotPrepared(t *testing.T) {
	t.Parallel()
	var p phones
	r, _ := withPhones(t, &p, phoneTrail("wait: { seconds: 0 }"), "run")
	r.want(t, 0)
	if diff := cmp.Diff([]string{"open", "close", "close all"}, p.notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeviceCommandsInToolboxListAndTool(t *testing.T) {
	t.Parallel()
	var p phones
	r, project := withPhones(t, &p, phoneTrail("tap: {}"), "toolbox", "list", "--json")
	r.want(t, 0, `"source":{"kind":"device","name":"phones"}`)
	project.runWith([]device.Kind{p.kind()}, "tool", "isVisible", "text=Buy").want(t, 0, "true")
	project.runWith([]device.Kind{p.kind()}, "run", "--help").want(t, 0, "--phone-name NAME", "env PHONE_NAME; default any", "--loud")
}

func TestUnknownDeviceCommandListsTheOthers(t *testing.T) {
	t.Parallel()
	var p phones
	others := p.kind()
	others.Name, others.Drivers, others.Options = "others", []string{"playwright-native"}, nil
	others.Commands = func() []tool.Advertised { return []tool.Advertised{{Name: "pressBack", Description: "Goes back."}} }
	project := newProject(t, phoneTrail("pressBack: {}"))
	project.runWith([]device.Kind{p.kind(), others}, "run").
		want(t, 1, `device phones has no command "pressBack"; it has tap, isVisible, assertVisible`)
	known := p.kind()
	known.Instead = map[string]string{"pressBack": "use tap"}
	project.runWith([]device.Kind{known}, "run").want(t, 1, `device phones has no command "pressBack"`, "use tap")
	project.runWith([]device.Kind{others}, "run").want(t, 1, `"pressBack" is a device command, and this version does not support the device of ios-host`)
}

func TestFailureKeepsDeviceEvidence(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		call string
		args []string
		code int
		want []string // below the session's folder
	}{
		"by default":             {"assertVisible: { text: Gone }", nil, 1, []string{"failure/screen.txt"}},
		"not when it is off":     {"assertVisible: { text: Gone }", []string{"--evidence", "off"}, 1, nil},
		"not of a success":       {"tap: {}", nil, 0, nil},
		"of every step":          {"tap: {}", []string{"--evidence", "always"}, 0, []string{"steps/01/screen.txt"}},
		"not when never used":    {"assertEquals: { expected: 1, actual: 2 }", nil, 1, nil},
		"of a device that broke": {"unplug: {}", nil, 2, []string{"failure/screen.txt"}},
		"what a call asks for":   {"captureScreen: {}", nil, 0, []string{"screens/shot.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p phones
			r, project := withPhones(t, &p, phoneTrail(tc.call), append([]string{"run", "--json", "--secret", "PIN=hunter22"}, tc.args...)...)
			r.want(t, tc.code)
			var kept []string
			for _, e := range ofType(r.events(t), "evidence") {
				file, _ := e["file"].(string)
				kept = append(kept, file)
				text, err := os.ReadFile(filepath.Join(project.session(t), filepath.FromSlash(file)))
				if err != nil || strings.Contains(string(text), "hunter22") {
					t.Errorf("%s: %v: %s", file, err, text)
				}
			}
			if diff := cmp.Diff(tc.want, kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokenDeviceIsErrorAndNextTrailGetsNewOne(t *testing.T) {
	t.Parallel()
	var p phones
	files := phoneTrail("unplug: {}", "tap: {}")
	files["trails/b.trail.yaml"] = phoneTrail("tap: {}")["trails/a.trail.yaml"]
	r, _ := withPhones(t, &p, files, "run")
	r.want(t, 2, "the phone is gone", "1 passed", "1 error")
}

func TestDeviceOptionsFromFlagsEnvironmentAndProject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		project string
		env     []string
		args    []string
		code    int
		want    map[string]string
		says    string
	}{
		"nothing is set":  {"", nil, nil, 0, map[string]string{}, ""},
		"the project":     {"device: { ios: { phone_name: p, loud: true } }\n", nil, nil, 0, map[string]string{"phoneName": "p", "loud": "true"}, ""},
		"the environment": {"device: { ios: { phoneName: p } }\n", []string{"PHONE_NAME=e"}, nil, 0, map[string]string{"phoneName": "e"}, ""},
		"a flag": {
			"device: { ios: { phoneName: p, loud: true } }\n",
			[]string{"PHONE_NAME=e"},
			[]string{"--phone-name", "f", "--loud=false"},
			0,
			map[string]string{"phoneName": "f", "loud": "false"},
			"",
		},
		"a slip":           {"device: { ios: { phonename: p } }\n", nil, nil, 3, nil, `unknown setting "phonename" for ios devices`},
		"no truth value":   {"device: { ios: { loud: maybe } }\n", nil, nil, 3, nil, `device.ios.loud in the project file: "maybe" is neither true nor false`},
		"a refused value":  {"device: { ios: { phoneName: none } }\n", nil, nil, 3, nil, "there is no phone called none"},
		"a value of a env": {"device: { ios: { phoneName: \"${WHO}\" } }\n", []string{"WHO=w"}, nil, 0, map[string]string{"phoneName": "w"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p phones
			files := phoneTrail("tap: {}")
			files["trailblaze.yaml"] += tc.project
			project := newProject(t, files)
			project.env = append(project.env, tc.env...)
			project.runWith([]device.Kind{p.kind()}, append([]string{"run"}, tc.args...)...).wantErr(t, tc.code, tc.says)
			if diff := cmp.Diff(tc.want, p.host.Values); tc.code == 0 && diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeviceClassifiersSelectRecording(t *testing.T) {
	t.Parallel()
	var p phones
	files := phoneTrail("assertVisible: { text: Gone }")
	files["trails/a.trail.yaml"] += "      ios-small:\n        - tap: {}\n"
	r, _ := withPhones(t, &p, files, "run")
	r.want(t, 0)
}

func TestServersGetDevice(t *testing.T) {
	t.Parallel()
	var p phones
	files := phoneTrail("context: {}")
	files["trailblaze.yaml"] += "mcpServers:\n" + fakeEntry("fake", "context")
	r, _ := withPhones(t, &p, files, "run", "--json")
	env := r.contextEnv(t)
	if got := env["TRAILBLAZE_DEVICE_PLATFORM"]; got == "" {
		t.Errorf("the environment of a server says nothing of the device: %v", env)
	}
}

func TestWriteOnlyValueIsNotLogged(t *testing.T) {
	t.Parallel()
	var p phones
	r, _ := withPhones(t, &p, phoneTrail("typeSecret: { value: correct-horse }"), "run", "--json")
	r.want(t, 0, "{{hidden}}")
	if strings.Contains(r.stdout, "correct-horse") {
		t.Errorf("the value is in the events:\n%s", r.stdout)
	}
}

func TestFailureSnippetMasksWriteOnlyValue(t *testing.T) {
	t.Parallel()
	var p phones
	r, _ := withPhones(t, &p, phoneTrail("typeSecret: { value: wrong-horse }"), "run")
	r.want(t, 1, "- typeSecret: { value: {{hidden}} }")
	if strings.Contains(r.stdout+r.stderr, "wrong-horse") {
		t.Error("the value is shown")
	}
	const lines = "typeSecret:\n            value: |\n              wrong-horse\n              wrong-cart"
	r, _ = withPhones(t, &p, phoneTrail(lines), "run")
	r.want(t, 1, "value: |", "{{hidden}}")
	if strings.Contains(r.stdout+r.stderr, "wrong-") {
		t.Errorf("a line of the value is shown:\n%s", r.stdout)
	}
}

func TestReportReplacesOnlyReports(t *testing.T) {
	t.Parallel()
	var p phones
	files := phoneTrail("tap: {}")
	files["site/index.html"] = "<h1>mine</h1>"
	r, project := withPhones(t, &p, files, "run", "--html", "site")
	r.wantErr(t, 3, "already exists and is not a report")
	if got := project.read(t, "site/index.html"); got != "<h1>mine</h1>" {
		t.Errorf("the file is now %q", got)
	}
	for range 2 {
		project.runWith([]device.Kind{p.kind()}, "run", "--html", "out").want(t, 0)
	}
}

func TestDoctorChecksEveryKindOfDevice(t *testing.T) {
	t.Parallel()
	p := phones{absent: fault.New(fault.Device, "plug one in", "no phone is plugged in")}
	r, project := withPhones(t, &p, phoneTrail("tap: {}"), "doctor")
	r.want(t, 0, "warn  phones", "no phone is plugged in", "only needed to drive phones devices; plug one in")
	project.write("trailblaze.yaml", "platform: ios\ndevice: { ios: { phoneName: p } }\n")
	project.runWith([]device.Kind{p.kind()}, "doctor").want(t, 2, "FAIL  phones")
	p.absent = nil
	project.runWith([]device.Kind{p.kind()}, "doctor").want(t, 0, "phone of memory")
}

func TestDoctorChecksPlatformsThatAreNamed(t *testing.T) {
	t.Parallel()
	const warned = "warn  phones"
	for name, tc := range map[string]struct {
		config, trail string
		args, env     []string
		want, not     string
	}{
		"by nothing":         {"", "", nil, nil, "ok  phones              not ready", "plug one in"},
		"by another project": {"platform: web\n", "web: []", nil, nil, "", "phones"},
		"by the project":     {"platform: ios\n", "web: []", nil, nil, warned, ""},
		"by a target":        {"target: app\n", "web: []", nil, nil, warned, ""},
		"by a trail":         {"platform: web\n", "ios: []", nil, nil, warned, ""},
		"by the flag":        {"platform: web\n", "web: []", []string{"--platform", "IOS"}, nil, warned, ""},
		"by the environment": {"platform: web\n", "web: []", nil, []string{"TRAILBLAZE_DRIVER=ios-host"}, warned, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := newProject(t, map[string]string{
				"trailblaze.yaml":     tc.config,
				"trails/a.trail.yaml": "trail:\n  - step: One\n    recording: { " + tc.trail + " }\n",
			})
			if strings.HasPrefix(tc.config, "target: app") {
				project.write("trailblaze-config/targets/app.yaml", "id: app\nplatforms: { ios: {} }\n")
			}
			project.env = append(project.env, tc.env...)
			p := phones{absent: fault.New(fault.Device, "plug one in", "no phone is plugged in")}
			r := project.runWith([]device.Kind{p.kind()}, append([]string{"doctor"}, tc.args...)...)
			r.want(t, 0, tc.want)
			if tc.not != "" && strings.Contains(r.stdout, tc.not) {
				t.Errorf("%q is in\n%s", tc.not, r.stdout)
			}
		})
	}
	newProject(t, nil).run("doctor", "--platform", "andriod").wantErr(t, 3, `unknown platform "andriod"`, `did you mean "android"?`)
}

func TestDeviceIsClosedAtEndOfRun(t *testing.T) {
	t.Parallel()
	var p phones
	begun := time.Now()
	r, _ := withPhones(t, &p, phoneTrail("wait: { seconds: 60 }", "tap: {}"), "run", "--timeout", "300ms")
	r.want(t, 124)
	if last := p.notes[len(p.notes)-1]; last != "close all" || time.Since(begun) > 30*time.Second {
		t.Errorf("at the end: %q", p.notes)
	}
}
