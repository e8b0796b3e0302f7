package trail_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Every style of file is updated as its golden file shows, whatever its line ends.
func TestUpdateChangesOnlyTheDifference(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/update/*.txtar")
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
			classifier, mode, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), " ")
			in, recorded := archive.Files[0].Data, parse(t, "recorded.yaml", archive.Files[1].Data)
			out := updateFile(t, in, classifier, recorded, trail.Overwrite(mode))
			archive.Files = append(archive.Files[:2], txtar.File{Name: "out.yaml", Data: out})
			golden(t, path, string(txtar.Format(archive)))
			for style, change := range styles() {
				got, want := updateFile(t, change(in), classifier, recorded, trail.Overwrite(mode)), change(out)
				if !bytes.Equal(got, want) {
					t.Errorf("with %s:\n%q\nwant:\n%q", style, got, want)
				}
			}
		})
	}
}

// updateFile updates, and checks that updating again, or with what the file has, changes nothing.
func updateFile(t *testing.T, data []byte, classifier string, recorded *trail.File, overwrite trail.Overwrite) []byte {
	t.Helper()
	out, err := trail.Update("f.trail.yaml", data, []string{classifier}, recorded, overwrite)
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, data)
	}
	own := parse(t, "f.trail.yaml", out)
	for _, again := range []struct {
		recorded  *trail.File
		overwrite trail.Overwrite
	}{{recorded, overwrite}, {own, overwrite}, {own, trail.OverwriteAll}} {
		twice, err := trail.Update("f.trail.yaml", out, []string{classifier}, again.recorded, again.overwrite)
		if err != nil || !bytes.Equal(out, twice) {
			t.Errorf("updated again: %v\n%s\nwas:\n%s", err, twice, out)
		}
	}
	return out
}

func TestUpdateRejectsUnsupportedChanges(t *testing.T) {
	t.Parallel()
	const one = "trail:\n- step: one\n  recording: { android: [ press: {} ] }\n- verify: two\n"
	tests := []struct {
		name, data, recorded string
		overwrite            trail.Overwrite
		want, hint           string
	}{
		{
			"another text", "trail:\n- step: uno\n- verify: two\n", one, trail.OverwriteNothing,
			`f.yaml: line 2 has step "uno", which the recording does not have, or has in another order`,
			"overwrite (on the command line --overwrite) replaces the steps of the file",
		},
		{
			"a list of calls", "- press: {}\n", one, trail.OverwriteAll, "f.yaml: a file that is only a list of calls has nothing but calls",
			`write "- tools:" above the calls and indent them`,
		},
		{"another kind", "trail:\n- step: one\n- step: two\n", one, trail.OverwriteNothing, `line 3 has step "two"`, "overwrite"},
		{"another order", "trail:\n- verify: two\n- step: one\n", one, trail.OverwriteNothing, `line 3 has step "one"`, "overwrite"},
		{
			"a step that is recorded nowhere", "trail:\n- step: one\n- step: idle\n- verify: two\n", one, trail.OverwriteNothing,
			`line 3 has step "idle"`, "overwrite",
		},
		{
			"recordings of other devices", "trail:\n- step: two\n  recording: { ios: [ tap: {} ], android: [ tap: {} ] }\n", one, trail.OverwriteOwn,
			`f.yaml: overwriting would delete recordings of other devices: ios in step "two" of line 2`, "--overwrite=all",
		},
		{
			"a trailhead of other devices", "trailhead: { step: go, recording: { ios: [ tap: {} ], android: [ tap: {} ] } }\ntrail: []\n",
			"trailhead: { step: gone }\n", trail.OverwriteOwn,
			`overwriting would delete recordings of other devices: ios in trailhead "go" of line 1`, "--overwrite=all",
		},
		{"a step twice", "trail:\n- step: one\n- step: one\n", one, trail.OverwriteNothing, `line 3 has step "one"`, "overwrite"},
		{
			"a trailhead more", "trailhead: { step: go }\ntrail: []\n", one, trail.OverwriteNothing,
			`line 1 has trailhead "go"`, "overwrite",
		},
		{
			"another trailhead", "trailhead: { step: go }\ntrail: []\n", "trailhead: { step: gone }\n", trail.OverwriteNothing,
			`line 1 has trailhead "go"`, "overwrite",
		},
		{"calls in a list", "- prompts:\n  - step: one\n- tools: []\n", one, trail.OverwriteNothing, "line 3 has a list of calls", "overwrite"},
		{
			"calls between prompts", "- prompts:\n  - step: one\n  - verify: two\n",
			"- prompts:\n  - step: one\n- tools: []\n- prompts:\n  - verify: two\n", trail.OverwriteNothing,
			"a list of calls cannot be inserted between two prompts, below line 2", "another file",
		},
		{
			"other memory", "config: { memory: { who: Bob } }\ntrail: []\n", "config: { memory: { who: Ann } }\n" + one, trail.OverwriteAll,
			"memory: who has another value", "save into another file",
		},
		{
			"memory in the list shape", "- prompts:\n  - step: one\n", "config: { memory: { who: Ann } }\n" + one, trail.OverwriteAll,
			"needs who in memory, which cannot be added to a trail in the list shape", "write it under config",
		},
		{
			"calls that others use", "trail:\n- step: one\n  recording: { android: &a [ tap: {} ], ios: *a }\n", one, trail.OverwriteNothing,
			"without changing other values that use its anchors", "write the recordings out",
		},
		{
			"steps that are an alias", "config: { metadata: { t: &t [ { verify: two } ] } }\ntrail: *t\n", one, trail.OverwriteNothing,
			"the list in line 2 is an alias", "write the list out",
		},
		{
			"an explicit key", "trail:\n- step: one\n  recording:\n    ? android\n    : []\n", one, trail.OverwriteNothing,
			"the key in line 4 cannot be edited", "write key: value",
		},
		{"an empty trail", "config: { id: x }\ntrail:\n", one, trail.OverwriteNothing, "expected a list, found null", ""},
		{"an empty file", "# todo\n", one, trail.OverwriteNothing, "the file is empty", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			recorded := parse(t, "recorded.yaml", []byte(tt.recorded))
			out, err := trail.Update("f.yaml", []byte(tt.data), []string{"android"}, recorded, tt.overwrite)
			if err == nil {
				t.Fatalf("updated:\n%s", out)
			}
			if fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(hint(err), tt.hint) {
				t.Errorf("%s: %v\nhint: %s", fault.KindOf(err), err, hint(err))
			}
		})
	}
}

// A file with more differences than are compared is updated, too.
func TestUpdateOfManyCalls(t *testing.T) {
	t.Parallel()
	file := func(tool string) []byte {
		var b strings.Builder
		b.WriteString("trail:\n- step: one\n  recording:\n    web:\n")
		for i := range 4000 {
			fmt.Fprintf(&b, "    - %s: { n: %d }\n", tool, i)
		}
		return []byte(b.String())
	}
	out := updateFile(t, file("tap"), "web", parse(t, "recorded.yaml", file("press")), trail.OverwriteNothing)
	if !bytes.Contains(out, []byte("press:")) || bytes.Contains(out, []byte("tap:")) {
		t.Errorf("got\n%.500s", out)
	}
}

func TestSetMetadataChangesOnlyItsKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		value    any
		want     string
	}{
		{
			"a new key", "config:\n  metadata:\n    a: 1 # one\n  id: x\ntrail: []\n", "yes",
			"config:\n  metadata:\n    a: 1 # one\n    k: \"yes\"\n  id: x\ntrail: []\n",
		},
		{
			"another value", "config: { metadata: { k: 'no', a: 1 } } # c\ntrail: []\n",
			map[string]any{"b": int64(1)},
			"config: { metadata: { k: { b: 1 }, a: 1 } } # c\ntrail: []\n",
		},
		{"the same value", "config: { metadata: { k: 'no' } }\ntrail: []\n", "no", "config: { metadata: { k: 'no' } }\ntrail: []\n"},
		{
			"no metadata", "config:\n    id: x # c\ntrail: []\n", true,
			"config:\n    id: x # c\n    metadata:\n        k: true\ntrail: []\n",
		},
		{
			"an empty config", "config: {} # c\ntrail: []\n", true,
			"config: # c\n  metadata:\n    k: true\ntrail: []\n",
		},
		{
			"no config", "# head\n\n# the steps\ntrail: # c\n  - step: one\n", true,
			"# head\n\nconfig:\n  metadata:\n    k: true\n# the steps\ntrail: # c\n  - step: one\n",
		},
		{"no config in the first line", "trail: []\n", true, "config:\n  metadata:\n    k: true\ntrail: []\n"},
		{
			"no config in the list shape", "- tools: [] # c\n", true,
			"- config:\n    metadata:\n      k: true\n- tools: [] # c\n",
		},
		{
			"a config in the list shape", "- config: { id: x } # c\n- tools: []\n", true,
			"- config: { id: x, metadata: { k: true } } # c\n- tools: []\n",
		},
		{"an empty list", "[]\n", true, "- config:\n    metadata:\n      k: true\n"},
		{
			"removed", "config:\n  metadata:\n    a: 1 # one\n    # about k\n    k: 2 # two\n    b: 3\ntrail: []\n", nil,
			"config:\n  metadata:\n    a: 1 # one\n    b: 3\ntrail: []\n",
		},
		{
			"removed as the only one", "config:\n  id: x\n  metadata:\n    k: 2 # two\ntrail: []\n", nil,
			"config:\n  id: x\ntrail: []\n",
		},
		{"removed from flow", "config: { metadata: { k: 1, a: 2 } }\ntrail: []\n", nil, "config: { metadata: { a: 2 } }\ntrail: []\n"},
		{"removed from a config with nothing else", "config: { metadata: { k: 1 } } # c\ntrail: []\n", nil, "config: {} # c\ntrail: []\n"},
		{"removed but not there", "trail: []\n", nil, "trail: []\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for style, change := range styles() {
				out, err := trail.SetMetadata("f.yaml", change([]byte(tt.in)), "k", tt.value)
				if err != nil {
					t.Errorf("%s: %v", style, err)
				} else if diff := gocmp.Diff(string(change([]byte(tt.want))), string(out)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", style, diff)
				}
			}
		})
	}
	for in, want := range map[string]string{
		"config: { metadata: &m { a: 1 }, source: *m }\ntrail: []\n": "anchors",
		"trail: [\n": "never closed",
	} {
		out, err := trail.SetMetadata("f.yaml", []byte(in), "k", true)
		if err == nil || fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\n%s", in, err, out)
		}
	}
	if out, err := trail.SetMetadata("f.yaml", []byte("trail: []\n"), "k", struct{}{}); fault.KindOf(err) != fault.Trail {
		t.Errorf("%v\n%s", err, out)
	}
}

// The text ends with a line end, which the file lacked.
func TestUpdateInsertsTextAtTheEndInPlaceOfTheLastItem(t *testing.T) {
	t.Parallel()
	in := "- prompts:\n  - step: A\n    recording:\n      tools:\n      - tap: {}\n- tools:\n  - back: {}"
	recorded := parse(t, "recorded", []byte("- prompts:\n  - step: A\n  - verify: |\n      two\n      lines\n"))
	out, err := trail.Update("f", []byte(in), []string{""}, recorded, trail.OverwriteAll)
	want := "- prompts:\n  - step: A\n    recording:\n      tools:\n      - tap: {}\n  - verify: |\n      two\n      lines\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
