package trail_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Every style of file is merged as its golden file shows, whatever its line ends.
func TestMergeChangesOnlyTheRecording(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			classifier := strings.TrimSpace(string(archive.Comment))
			in, recorded := archive.Files[0].Data, parse(t, "recorded.yaml", archive.Files[1].Data)
			out := merge(t, in, classifier, recorded)
			archive.Files = append(archive.Files[:2], txtar.File{Name: "out.yaml", Data: out})
			golden(t, path, string(txtar.Format(archive)))
			for style, change := range styles() {
				if got, want := merge(t, change(in), classifier, recorded), change(out); !bytes.Equal(got, want) {
					t.Errorf("with %s:\n%q\nwant:\n%q", style, got, want)
				}
			}
		})
	}
}

func styles() map[string]func([]byte) []byte {
	crlf := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }
	return map[string]func([]byte) []byte{
		"CRLF":                   crlf,
		"a byte order mark":      func(data []byte) []byte { return slices.Concat([]byte("\ufeff"), data) },
		"both":                   func(data []byte) []byte { return slices.Concat([]byte("\ufeff"), crlf(data)) },
		"no line end":            func(data []byte) []byte { return bytes.TrimSuffix(data, []byte("\n")) },
		"empty lines at the end": func(data []byte) []byte { return slices.Concat(data, []byte("\n \n")) },
	}
}

func TestMergeRejectsUnsupportedChanges(t *testing.T) {
	t.Parallel()
	const recorded = "trail:\n- step: one\n  recording: { android: [ press: {} ] }\n- verify: two\n"
	tests := []struct{ name, data, want, hint string }{
		{
			"a step less", "trail:\n- step: one\n", "f.yaml does not have the recorded steps: its number of steps is 1, " +
				"that of the recording 2",
			"record into a new file",
		},
		{
			"another text", "trail:\n- step: uno\n- verify: two\n", `line 2 has step "uno", the recording has step "one"`,
			"record into a new file",
		},
		{
			"another kind", "trail:\n- step: one\n- step: two\n", `line 3 has step "two", the recording has verify "two"`,
			"record into a new file",
		},
		{
			"another order", "trail:\n- verify: two\n- step: one\n", `line 2 has verify "two", the recording has step "one"`,
			"record into a new file",
		},
		{
			"a trailhead more", "trailhead: { step: go }\ntrail:\n- step: one\n- verify: two\n",
			"only one of them has a trailhead",
			"record into a new file",
		},
		{
			"calls in a list", "- prompts:\n  - step: one\n- tools: []\n",
			`line 3 has a list of calls, the recording has verify "two"`,
			"record into a new file",
		},
		{
			"calls that others use", "trail:\n- step: one\n  recording: { android: &a [], ios: *a }\n- verify: two\n",
			"without changing other values that use its anchors", "write the recordings out",
		},
		{
			"an explicit key", "trail:\n- step: one\n  recording:\n    ? android\n    : []\n- verify: two\n",
			"the key in line 4 cannot be edited", "write key: value",
		},
		{
			"a carriage return", "trail:\n- step: one #\r\r\n- verify: two\r\n", "a line contains a carriage return",
			"line ends",
		},
		{"not a trail", "trail: [\n", "the list that opens with [ is never closed", "close it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := trail.ReplaceCalls("f.yaml", []byte(tt.data), "android", parse(t, "recorded.yaml", []byte(recorded)))
			if err == nil {
				t.Fatalf("merged:\n%s", out)
			}
			if fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(hint(err), tt.hint) {
				t.Errorf("%s: %v\nhint: %s", fault.KindOf(err), err, hint(err))
			}
		})
	}
}

func hint(err error) string {
	if problems, ok := errors.AsType[fault.Problems](err); ok && fault.As(err) == nil {
		return problems[0].Hint
	}
	return fault.As(err).Hint
}

func TestMergeRejectsCallsThatNoTrailCanHold(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]map[string]any{
		"a malformed token":   {"text": "{{a b"},
		"a reserved argument": {"_trailblazeContext": int64(1)},
		"an infinite number":  {"n": math.Inf(1)},
		"not UTF-8":           {"text": "\xff"},
		"not a YAML value":    {"x": struct{}{}},
	} {
		recorded := &trail.File{Steps: []trail.Step{{
			Kind: trail.KindStep, Text: "one", Recordable: true,
			Recording: trail.Recording{{Classifier: "android", Calls: []trail.Call{{Tool: "tap", Args: args}}}},
		}}}
		out, err := trail.ReplaceCalls("f.yaml", []byte("trail:\n- step: one\n"), "android", recorded)
		if fault.As(err) == nil || fault.KindOf(err) != fault.Trail ||
			!strings.Contains(err.Error(), "cannot be written as a trail file") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// Both files may have the other's shape, and calls from JSON are the same as calls from YAML.
func TestMergeKeepsEqualCalls(t *testing.T) {
	t.Parallel()
	args, err := trail.DecodeJSON([]byte(`{"i": 1, "f": 1.50, "e": 1e3, "big": 18446744073709551615, "list": ` +
		`[null, true, "x"], "o": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	calls := []trail.Call{{Tool: "tap", Args: args.(map[string]any), Timeout: 90 * time.Second}}
	step := trail.Step{Kind: trail.KindStep, Text: "one", Recordable: true, Recording: trail.Recording{{Calls: calls}}}
	recorded := &trail.File{List: true, Steps: []trail.Step{step}}
	const data = "trail:\n" +
		"- step: 'one' # c\n" +
		"  recording: {android: [{tap: {f: 1.5, i: 0x1, e: 1e+3, big: 18446744073709551615, 'list': [~, true, x], o: " +
		"{}}, timeout: 90s}]}"
	if out := merge(t, []byte(data), "android", recorded); string(out) != data {
		t.Errorf("changed to\n%s", out)
	}
}

// merge merges, and checks that merging again, or merging what the file has, changes nothing.
func merge(t *testing.T, data []byte, classifier string, recorded *trail.File) []byte {
	t.Helper()
	out, err := trail.ReplaceCalls("f.trail.yaml", data, classifier, recorded)
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, data)
	}
	for _, again := range []*trail.File{recorded, parse(t, "f.trail.yaml", out)} {
		if twice, err := trail.ReplaceCalls("f.trail.yaml", out, classifier, again); err != nil || !bytes.Equal(out, twice) {
			t.Errorf("merged again: %v\n%s\nwas:\n%s", err, twice, out)
		}
	}
	return out
}

// Every style of file gets a step as its golden file shows, whatever its line ends.
func TestAppendChangesNothingElse(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/append/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in, step := archive.Files[0].Data, parse(t, "step.yaml", archive.Files[1].Data).Steps[0]
			add := func(data []byte) []byte {
				out, err := trail.Append("f.yaml", data, step, trail.Config{ID: "ignored"})
				if err != nil {
					t.Fatalf("%v\nin:\n%s", err, data)
				}
				return out
			}
			out := add(in)
			archive.Files = append(archive.Files[:2], txtar.File{Name: "out.yaml", Data: out})
			golden(t, path, string(txtar.Format(archive)))
			for style, change := range styles() {
				if got, want := add(change(in)), change(out); !bytes.Equal(got, want) {
					t.Errorf("with %s:\n%q\nwant:\n%q", style, got, want)
				}
			}
		})
	}
}

func TestAppendToEmptyFile(t *testing.T) {
	t.Parallel()
	step := trail.Step{
		Kind: trail.KindStep, Text: "one", Recordable: true,
		Recording: trail.Recording{{Classifier: "web"}},
	}
	for _, data := range []string{"", "\n \n"} {
		out, err := trail.Append("f.yaml", []byte(data), step, trail.Config{Target: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		const want = "config:\n  target: shop\ntrail:\n  - step: one\n    recording:\n      web: []\n"
		if string(out) != want {
			t.Errorf("got\n%s\nwant\n%s", out, want)
		}
	}
}

func TestAppendAddsMissingMemory(t *testing.T) {
	t.Parallel()
	step := trail.Step{
		Kind: trail.KindStep, Text: "one", Recordable: true,
		Recording: trail.Recording{{Classifier: "web"}},
	}
	const added = "  - step: one\n    recording:\n      web: []\n"
	given := map[string]any{"count": "3", "who": "Ann"}
	for name, tt := range map[string]struct{ data, want string }{
		"none": {"# mine\ntrail: []\n", "# mine\ntrail:\n" + added +
			"config:\n  memory:\n    count: \"3\"\n    who: Ann\n"},
		"none, and steps": {
			"trail:\n  - step: x\n# end\n",
			"trail:\n  - step: x\n" + added + "config:\n  memory:\n    count: \"3\"\n    who: Ann\n# end\n",
		},
		"a config": {
			"config:\n  id: a # mine\ntrail: []\n",
			"config:\n  id: a # mine\n  memory:\n    count: \"3\"\n    who: Ann\ntrail:\n" + added,
		},
		"some of it": {
			"config:\n  memory:\n    count: 3 # mine\ntrail: []\n",
			"config:\n  memory:\n    count: 3 # mine\n    who: Ann\ntrail:\n" + added,
		},
		"other values": {
			"config: { memory: { x: 1 } }\ntrail: []\n",
			"config: { memory: { x: 1, count: \"3\", who: Ann } }\ntrail:\n" + added,
		},
		"an empty one": {
			"config:\n  memory: {}\ntrail: []\n",
			"config:\n  memory:\n    count: \"3\"\n    who: Ann\ntrail:\n" + added,
		},
		"all of it": {
			"config: { memory: { who: Ann, count: 3 } }\ntrail: []\n",
			"config: { memory: { who: Ann, count: 3 } }\ntrail:\n" + added,
		},
		"in a list too": {
			"- config: { memory: { who: Ann, count: 3 } }\n- prompts:\n  - step: x\n",
			"- config: { memory: { who: Ann, count: 3 } }\n- prompts:\n  - step: x\n  - step: one\n    recording:\n" +
				"      tools: []\n",
		},
	} {
		out, err := trail.Append("f.yaml", []byte(tt.data), step, trail.Config{Memory: given})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, string(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, tt := range map[string]struct{ data, want string }{
		"it contradicts": {
			"config: { memory: { who: Bob } }\ntrail: []\n",
			"f.yaml: config: memory: who has another value",
		},
		"a list has no room": {"- prompts:\n  - step: x\n", "the step needs count in memory"},
	} {
		out, err := trail.Append("f.yaml", []byte(tt.data), step, trail.Config{Memory: given})
		if err == nil || fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAppendRejectsUnsupportedChanges(t *testing.T) {
	t.Parallel()
	step := func(text string) trail.Step {
		return trail.Step{Kind: trail.KindStep, Text: text, Recordable: true, Recording: trail.Recording{{Classifier: "web"}}}
	}
	tests := []struct {
		name, data string
		step       trail.Step
		want       string
	}{
		{
			"a list that is an alias", "config: { metadata: { t: &t [ { step: one } ] } }\ntrail: *t\n",
			step("two"), "the list in line 2 is an alias",
		},
		{"a list that others use", "trail: &t []\nconfig: { metadata: { t: *t } }\n", step("two"), "anchor"},
		{"a step without text", "trail: []\n", step(""), "the text is empty"},
		{"not a trail", "trail: {}\n", step("one"), "expected a list"},
		{"only comments", "# todo\n", step("one"), "the file is empty"},
		{"a list of calls alone", "- a: {}\n", step("one"), "only a list of calls"},
	}
	for _, tt := range tests {
		out, err := trail.Append("f.yaml", []byte(tt.data), tt.step, trail.Config{})
		if err == nil || fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
		}
	}
}

func FuzzMerge(f *testing.F) {
	for _, data := range files(f, "good") {
		f.Add(data, uint64(1))
	}
	paths, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data, uint64(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		file, problems := trail.Parse("f", data)
		if len(problems) > 0 {
			return
		}
		b := &builder{rand.New(rand.NewPCG(seed, 2))}
		classifier := pick(b, "android", "ios", "web")
		recorded := trail.NewRecordedFile(file, classifier, b.records(file, classifier), nil, nil)
		out, err := trail.ReplaceCalls("f", data, classifier, recorded)
		if err != nil {
			if fault.As(err) == nil {
				t.Errorf("not a fault: %v", err)
			}
			return
		}
		want := expected(file, recorded, classifier)
		if diff := cmp.Diff(want, parse(t, "f", out), anyOrder); diff != "" {
			t.Errorf("(-want +got):\n%s\nin:\n%s\nout:\n%s", diff, data, out)
		}
		checkElsewhere(t, file, changes(file, want), data, out)
		if twice, err := trail.ReplaceCalls("f", out, classifier, recorded); err != nil || !bytes.Equal(out, twice) {
			t.Errorf("merged again: %v\n%s\nwas:\n%s", err, twice, out)
		}
	})
}

// checkElsewhere checks that the lines before the first step that changed, and those below the first one after the
// last, are the same.
func checkElsewhere(t *testing.T, file *trail.File, changed []bool, in, out []byte) {
	t.Helper()
	if bytes.ContainsAny(in, "&\r") {
		return // a value may stand elsewhere; lines may end at a carriage return
	}
	lines := strings.SplitAfter(string(in), "\n")
	var places []int
	for _, s := range steps(file) {
		line := s.Line
		for s.Kind == trail.KindTools && line > 1 && !strings.Contains(lines[line-1], "tools") {
			line-- // it is the line of the first call
		}
		places = append(places, line)
	}
	if !slices.IsSorted(places) {
		return // a trailhead below the steps
	}
	first, last := slices.Index(changed, true), len(changed)-1
	for last >= 0 && !changed[last] {
		last--
	}
	head, tail := string(in), ""
	if first >= 0 {
		head = strings.Join(lines[:places[first]-1], "")
	}
	if first >= 0 && last+1 < len(places) {
		tail = strings.Join(lines[places[last+1]:], "")
	}
	if !strings.HasPrefix(string(out), head) || !strings.HasSuffix(string(out), tail) {
		t.Errorf("changed elsewhere\nin:\n%s\nout:\n%s", in, out)
	}
}
