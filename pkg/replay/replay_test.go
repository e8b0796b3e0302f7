package replay_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// plan returns the plan for the web of main.yaml among files, by their names.
func plan(t *testing.T, files map[string]string) replay.Plan {
	t.Helper()
	root := t.TempDir()
	loader := trail.Loader{Root: root, Cwd: root}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, problems := loader.Load("main.yaml", filepath.Join(root, "main.yaml"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return replay.NewPlan(file, []string{"web"})
}

func step(text string) string {
	return "  - step: " + text + "\n    recording: { web: [ { tap: { text: " + text + " } } ] }\n"
}

func texts(steps []*replay.Step) (out []string) {
	for _, s := range steps {
		out = append(out, s.Text)
	}
	return out
}

func TestPlan(t *testing.T) {
	t.Parallel()
	clean := func(text string) string {
		return "config: { title: " + text + ", teardown: [ { step: clean " + text + " } ] }\n"
	}
	p := plan(t, map[string]string{
		"main.yaml":    clean("main") + "trail:\n" + step("a") + "  - use: outer.yaml\n  - use: skipped.yaml\n  - step: by hand\n",
		"outer.yaml":   clean("outer") + "trail:\n" + step("b") + "  - use: inner.yaml\n",
		"inner.yaml":   clean("inner") + "trail:\n" + step("c"),
		"skipped.yaml": "config: { title: later, skip: { web: not yet } }\ntrail:\n" + step("d"),
	})
	if diff := cmp.Diff([]string{"a", "outer", "later", "by hand"}, texts(p.Steps)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"clean main", "inner: teardown", "outer: teardown"}, texts(p.Teardown)); diff != "" {
		t.Error(diff)
	}
	leaves := texts(slices.Collect(p.Leaves()))
	if diff := cmp.Diff([]string{"a", "b", "c", "by hand", "clean main", "clean inner", "clean outer"}, leaves); diff != "" {
		t.Error(diff)
	}
	for number, want := range map[string]string{"1": "a", "2": "outer", "2.1": "b", "2.2.1": "c", "5": "clean main", "6.1": "clean inner"} {
		if found := p.Step(number); found == nil || found.Text != want {
			t.Errorf("step %s is %+v, want %s", number, found, want)
		}
	}
	for _, number := range []string{"", "0", "8", "1.1", "2.2.2", "x"} {
		if found := p.Step(number); found != nil {
			t.Errorf("step %q is %s", number, found.Text)
		}
	}
	inner := p.Step("2.2.1")
	if inner.Top() != p.Steps[1] || !p.Steps[3].NeedsAgent || !strings.Contains(p.Steps[2].Skip, "not yet") || len(p.Steps[2].Inner) > 0 {
		t.Errorf("%+v", p.Steps)
	}
}

func TestDroppedStepsMoveTheNextOne(t *testing.T) {
	t.Parallel()
	for index, want := range []replay.Frame{
		{Next: 0, Done: 1, Failing: true}, // before the next step
		{Next: 1},                         // that step
		{Next: 1, Done: 1, Failing: true}, // after it
	} {
		l := replay.Frame{Steps: []*replay.Step{{}, {}, {}}, Next: 1, Done: 1, Failing: true}
		l.Drop(index)
		if l.Next != want.Next || l.Done != want.Done || l.Failing != want.Failing || len(l.Steps) != 2 {
			t.Errorf("drop %d: %+v", index, l)
		}
	}
}
