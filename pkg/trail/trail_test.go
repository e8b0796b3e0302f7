package trail_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestParseReadsEveryKey(t *testing.T) {
	t.Parallel()
	file := parse(t, "shop.trail.yaml", []byte(strings.Join([]string{
		"config:",
		"  id: myapp/checkout",
		"  devices: { android: ANDROID_ONDEVICE_ACCESSIBILITY }",
		"  memory: { n: 1, f: 2.5, s: '1', l: [true, null] }",
		"  args: { retries: { type: integer, default: 3 }, name: { description: who } }",
		"  skip: { ios: not built yet }",
		"trailhead:",
		"  step: Launch",
		"  recording: { android: { launch: {}, saveAs: app } }",
		"trail:",
		"  - verify: Total",
		"    maxRetries: 2",
		"    recording:",
		"      android:",
		"        - check: { text: '{{n}}' }",
		"          timeout: 1m",
		"      web: []",
		"  - step: Ask",
		"    recordable: false",
	}, "\n")))
	launch := trail.Call{Tool: "launch", Args: map[string]any{}, SaveAs: "app", Line: 9, Column: 27}
	check := trail.Call{Tool: "check", Args: map[string]any{"text": "{{n}}"}, Timeout: time.Minute, Line: 15, Column: 11}
	want := &trail.File{
		Name: "shop.trail.yaml",
		Config: trail.Config{
			ID:      "myapp/checkout",
			Devices: []trail.DeviceDriver{{Classifier: "android", Driver: "android-ondevice-accessibility"}},
			Memory:  map[string]any{"n": int64(1), "f": 2.5, "s": "1", "l": []any{true, nil}},
			Args: map[string]trail.Arg{
				"retries": {Type: "integer", Default: int64(3), HasDefault: true}, "name": {Type: "string", Description: "who"},
			},
			Skip: trail.Skip{{Classifier: "ios", Reason: "not built yet"}},
		},
		Trailhead: &trail.Step{
			Kind: trail.KindTrailhead, Text: "Launch", Recordable: true, Line: 8, Column: 3,
			Recording: trail.Recording{{Classifier: "android", Calls: []trail.Call{launch}}},
		},
		Steps: []trail.Step{
			{
				Kind: trail.KindVerify, Text: "Total", Recordable: true, MaxRetries: 2, Line: 11, Column: 5,
				Recording: trail.Recording{{Classifier: "android", Calls: []trail.Call{check}}, {Classifier: "web"}},
			},
			{Kind: trail.KindStep, Text: "Ask", Line: 18, Column: 5},
		},
	}
	if diff := cmp.Diff(want, file, sameFile[0], cmpopts.IgnoreFields(trail.Call{}, "Positions")); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if line, column := file.Steps[0].Recording[0].Calls[0].ArgPosition([]string{"text", "0"}); line != 15 || column != 20 {
		t.Errorf("the argument is at %d:%d", line, column)
	}
	if line, column := file.Steps[0].Recording[0].Calls[0].ArgPosition([]string{"other"}); line != 15 || column != 11 {
		t.Errorf("a missing argument is at %d:%d", line, column)
	}
}

func TestLineageIsMostSpecificFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		classifiers []string
		want        []string
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{"android"}, []string{"android"}},
		{[]string{"android", "phone"}, []string{"android-phone", "android"}},
		{[]string{"android-phone"}, []string{"android-phone", "android"}},
		{[]string{"android", "android-phone"}, []string{"android-phone", "android"}},
		{[]string{"ios", "ipad", "landscape"}, []string{"ios-ipad-landscape", "ios-ipad", "ios"}},
		{[]string{" Android ", "Phone"}, []string{"android-phone", "android"}},
	} {
		t.Run(strings.Join(tt.classifiers, ","), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, trail.Lineage(tt.classifiers)); diff != "" {
				t.Errorf("lineage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookupReturnsMostSpecificRecording(t *testing.T) {
	t.Parallel()
	calls := func(tool string) []trail.Call { return []trail.Call{{Tool: tool}} }
	mapped := trail.Step{Recordable: true, Recording: trail.Recording{
		{Classifier: "android", Calls: calls("broad")},
		{Classifier: "android-phone", Calls: calls("narrow")},
		{Classifier: "web"},
	}}
	never := trail.Step{Recording: mapped.Recording}
	listed := trail.Step{Recordable: true, Recording: trail.Recording{{Calls: calls("any")}}}
	for _, tt := range []struct {
		name        string
		step        trail.Step
		classifiers []string
		want        []trail.Call
		found       bool
	}{
		{"exact", mapped, []string{"android", "phone"}, calls("narrow"), true},
		{"broader", mapped, []string{"android", "tablet"}, calls("broad"), true},
		{"no-op", mapped, []string{"web"}, nil, true},
		{"not recorded", mapped, []string{"ios"}, nil, false},
		{"nothing known of the device", mapped, nil, nil, false},
		{"not recordable", never, []string{"android"}, nil, false},
		{"list shape", listed, []string{"ios", "ipad"}, calls("any"), true},
		{"list shape, nothing known", listed, nil, calls("any"), true},
		{"without recording", trail.Step{Recordable: true}, []string{"web"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, found := tt.step.Lookup(trail.Lineage(tt.classifiers))
			if diff := cmp.Diff(tt.want, got); diff != "" || found != tt.found {
				t.Errorf("found %v, want %v; calls (-want +got):\n%s", found, tt.found, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"android", "android-phone", "web"}, mapped.Classifiers()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if got := listed.Classifiers(); got != nil {
		t.Errorf("the list shape names classifiers: %v", got)
	}
}

func TestTitleFallsBackToFileName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		config trail.Config
		want   string
	}{
		{trail.Config{Title: "Buy", ID: "shop/buy"}, "Buy"},
		{trail.Config{ID: "shop/buy"}, "shop/buy"},
		{trail.Config{}, "buy.trail.yaml"},
	} {
		file := trail.File{Name: "trails/buy.trail.yaml", Config: tt.config}
		if got := file.Title(); got != tt.want {
			t.Errorf("title %q, want %q", got, tt.want)
		}
	}
}

func TestSkipAndDriverFollowLineage(t *testing.T) {
	t.Parallel()
	pins := []trail.DeviceDriver{{"android", "android-ondevice-accessibility"}, {"android-phone", "revyl-android"}}
	some := trail.File{Config: trail.Config{
		Devices: pins, Skip: trail.Skip{{"ios", "not yet"}, {"android-tablet", "no landscape"}},
	}}
	all := trail.File{Config: trail.Config{Driver: "ios-axe", Skip: trail.Skip{{"", "broken"}}}}
	one := trail.File{Config: trail.Config{Devices: pins[:1]}}
	for _, tt := range []struct {
		name        string
		file        trail.File
		classifiers string
		skip, pin   string
	}{
		{"broad", some, "android", "", "android-ondevice-accessibility"},
		{"narrow", some, "android-phone", "", "revyl-android"},
		{"narrow skip", some, "android-tablet", "no landscape", "android-ondevice-accessibility"},
		{"inherited skip", some, "ios-ipad", "not yet", ""},
		{"other platform", some, "web", "", ""},
		{"several pins, nothing known", some, "", "", ""},
		{"everything", all, "web", "broken", "ios-axe"},
		{"everything, nothing known", all, "", "broken", "ios-axe"},
		{"only pin, nothing known", one, "", "", "android-ondevice-accessibility"},
		{"only pin, other platform", one, "web", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lineage := trail.Lineage([]string{tt.classifiers})
			reason, skipped := tt.file.SkipReason(lineage)
			if reason != tt.skip || skipped != (tt.skip != "") {
				t.Errorf("skip %q %v, want %q", reason, skipped, tt.skip)
			}
			if pin := tt.file.Driver(lineage); pin != tt.pin {
				t.Errorf("pin %q, want %q", pin, tt.pin)
			}
		})
	}
}

func TestWarningsNameMissingRecordings(t *testing.T) {
	t.Parallel()
	const step = "    recording: { %s }\n"
	for _, tt := range []struct {
		name string
		src  string
		want []string
	}{
		{"complete", "trail:\n  - step: A\n" +
			fmt.Sprintf(step, "android: [], web: []") + "  - step: B\n" + fmt.Sprintf(step, "web: [], android: []"), nil},
		{
			"gaps", "trail:\n  - step: A\n" + fmt.Sprintf(step, "android: [], ios: []") + "  - step: B\n" + fmt.Sprintf(step,
				"web: []"),
			[]string{
				"f.yaml:2:5: no recording for web; other steps have one",
				"f.yaml:4:5: no recording for android, ios; other steps have one",
			},
		},
		{
			"broader covers", "trail:\n  - step: A\n" + fmt.Sprintf(step, "android-phone: []") + "  - step: B\n" +
				fmt.Sprintf(step, "android: []"),
			[]string{"f.yaml:2:5: no recording for android; other steps have one"},
		},
		{
			"unrecorded", "trail:\n  - step: A\n" + fmt.Sprintf(step, "web: []") + "  - step: B\n",
			[]string{"f.yaml:4:5: no recording for web; other steps have one"},
		},
		{"nothing recorded at all", "trail:\n  - step: A\n  - step: B\n", nil},
		{"agent only", "trail:\n  - step: A\n" + fmt.Sprintf(step, "web: []") + "  - step: B\n    recordable: false\n", nil},
		{"skipped devices", "config: { skip: { ios: later } }\ntrail:\n  - step: A\n" + fmt.Sprintf(step, "web: []") +
			"  - step: B\n" + fmt.Sprintf(step, "web: [], ios-ipad: []"), nil},
		{
			"misspelt platform", "trail:\n  - step: A\n" + fmt.Sprintf(step, "andriod: []"),
			[]string{`f.yaml:2:5: the classifier "andriod" does not start with a known platform`},
		},
		{
			"list shape", "- prompts:\n    - step: A\n      recording: { tools: [] }\n    - step: B\n",
			[]string{"f.yaml:4:7: no recording; other steps have one"},
		},
		{
			"late trailhead", "- tools: []\n- trailhead: { step: A, recording: { tools: [] } }\n",
			[]string{"f.yaml:2:3: the trailhead is below steps, but runs before them"},
		},
		{
			"empty verify", "trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [], android: []"),
			[]string{"f.yaml:2:5: this verify checks nothing: its recording is empty"},
		},
		{
			"verify with actions", "trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [{ web_click: { ref: Delete all } }]"),
			[]string{"f.yaml:2:5: this verify checks nothing: it has only actions, such as web_click"},
		},
		{
			"verify with a query", "trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [{ web_click: { ref: A } }, { isVisible: { text: Paid } }]"),
			[]string{"f.yaml:2:5: nothing in this verify can fail: isVisible passes whatever it returns"},
		},
		{
			"verify with an optional check", "trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [{ web_click: { ref: A } }, { assertVisible: { text: A }, optional: true }]"),
			[]string{"f.yaml:2:5: nothing in this verify can fail: assertVisible is optional"},
		},
		{
			"number with zeros at its end", "config: { memory: { price: 12.50, sum: 12.5, text: \"12.50\", size: 3.0 } }\ntrail:\n  - step: A\n" + fmt.Sprintf(step, "web: [{ web_click: { ref: A } }]"),
			[]string{"f.yaml:1:28: 12.50 is a number, so {{price}} is 12.5", "f.yaml:1:67: 3.0 is a number, so {{size}} is 3"},
		},
		{
			"verify that remembers", "trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [{ rememberValue: { name: a, value: b } }]"),
			[]string{"f.yaml:2:5: nothing in this verify can fail: rememberValue passes whatever it returns"},
		},
		{
			"verify with a query and a check",
			"trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [{ isVisible: { text: Paid } }, { assertEquals: { expected: a, actual: b } }]"),
			nil,
		},
		{"verify on one device", "trail:\n  - verify: A\n" + fmt.Sprintf(step, "web: [{ shopState: {} }], android: []"), nil},
		{"tag twice", "config: { tags: [a, a] }\ntrail: []\n", []string{`f.yaml:1:21: the tag "a" is listed twice`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range parse(t, "f.yaml", []byte(tt.src)).Warnings() {
				got = append(got, w.Error())
				if w.Hint == "" || w.Snippet == "" {
					t.Errorf("no hint or snippet: %+v", w)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("trail:\n")
	for i := range 3000 {
		fmt.Fprintf(&src, "  - step: s\n    recording: { c%d: [] }\n", i)
	}
	for _, w := range parse(t, "f.yaml", []byte(src.String())).Warnings() {
		if len(w.Message) > 1000 {
			t.Fatalf("a warning of %d bytes", len(w.Message))
		}
	}
}

func TestFormatRejectsWhatParseRejects(t *testing.T) {
	t.Parallel()
	step := func(classifier string, c trail.Call) trail.Step {
		return trail.Step{
			Kind: trail.KindStep, Text: "s", Recordable: true,
			Recording: trail.Recording{{Classifier: classifier, Calls: []trail.Call{c}}},
		}
	}
	tap := trail.Call{Tool: "tap", Args: map[string]any{}}
	for name, file := range map[string]trail.File{
		"classifier in the list shape": {List: true, Steps: []trail.Step{step("android", tap)}},
		"no classifier in the mapping": {Steps: []trail.Step{step("", tap)}},
		"bare calls in the mapping":    {Steps: []trail.Step{{Kind: trail.KindTools, Recordable: true}}},
		"bare calls for a classifier": {List: true, Steps: []trail.Step{{
			Kind:      trail.KindTools,
			Recording: step("web", tap).Recording,
		}}},
		"a tool called timeout": {Steps: []trail.Step{step("web",
			trail.Call{Tool: "timeout", Args: map[string]any{}})}},
		"reserved argument": {Steps: []trail.Step{step("web",
			trail.Call{Tool: "t", Args: map[string]any{"_trailblazeContext": 1}})}},
		"a value YAML cannot hold": {Steps: []trail.Step{step("web",
			trail.Call{Tool: "t", Args: map[string]any{"x": make(chan int)}})}},
		"a reason for all and one for a": {Config: trail.Config{Skip: trail.Skip{{"", "all"}, {"web", "web"}}}},
		"a step without text":            {Steps: []trail.Step{{Kind: trail.KindStep, Recordable: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := trail.Format(&file); err == nil {
				t.Errorf("no error, wrote:\n%s", out)
			}
		})
	}
}

//nolint:paralleltest // it measures the heap
func TestParsedFilesHoldNoSourceText(t *testing.T) {
	comment := strings.Repeat("# "+strings.Repeat("x", 100)+"\n", 100)
	src := []byte("config: { id: a }\n" + comment + "trail:\n  - step: s\n" +
		"    recording: { web: [{ tap: { text: hello } }] }\n")
	const count = 500
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	kept := make([]*trail.File, count)
	before := heap()
	for i := range kept {
		kept[i] = parse(t, "f.yaml", src)
	}
	perFile := (int64(heap()) - int64(before)) / count
	if perFile > int64(len(src))/2 {
		t.Errorf("a file of %d bytes with one step keeps %d bytes alive", len(src), perFile)
	}
	runtime.KeepAlive(kept)
}
