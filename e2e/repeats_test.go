//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRepetitionsAreAddedUp(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/delete.trail.yaml": "config: { args: { word: { type: string } } }\ntrail:\n  - step: s\n    recording:\n      web:\n" +
			"        - fail: { text: \"{{args.word}}\" }\n",
		"trails/list.trail.yaml": "config: { args: { word: { type: string, default: none } } }\ntrail:\n" + echo("{{args.word}}"),
		"rows.yaml":              "- word: table\n- word: hunter2hunter2\n",
	})
	p.env = append(p.env, "PIN=hunter2hunter2")
	args := []string{"run", "--args-file", "rows.yaml", "--repeat-each", "3", "--secret", "PIN"}
	r := p.run(append(args, "--html", "out")...)
	r.want(t, 1, "✗ delete [word=table]: 3 of 3 failed\n", "✗ delete [word={{PIN}}]: 3 of 3 failed\n", "✓ list [word=table]: 3 of 3 passed\n", "6 failed, 6 passed")
	page, err := os.ReadFile(filepath.Join(p.dir, "out", "index.html"))
	if want := "<td>delete [word=table]</td><td>3 of 3 failed</td>"; err != nil || !strings.Contains(string(page), want) {
		t.Errorf("the page has no %q: %v", want, err)
	}
	if strings.Contains(r.stdout+string(page), "hunter2hunter2") {
		t.Error("a secret is shown")
	}
	p.run(append(args, "-q")...).want(t, 1, "✗ delete [word=table]: 3 of 3 failed\n")
	p.run(append(args, "--json", "--max-failures", "2")...).want(t, 1,
		`"repeated":[{"file":"trails/delete.trail.yaml","title":"delete [word=table]","row":1,"of":3,"runs":2,"failed":2,"errors":0,"skipped":0,"flaky":0}]`,
		fmt.Sprintf(`{"row":1,"repeat":3,"repeats":3,"file":%q,"title":"delete [word=table] (3 of 3)"}`, "trails/delete.trail.yaml"))
	p.run(append(args, "--max-failures", "2")...).want(t, 1, "✗ delete [word=table]: 2 of 2 failed, 1 not run\n")
}

func TestRepetitionsOfShardsAreAddedUp(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject, "trails/a.trail.yaml": "trail:\n" + echo("a"),
		"trails/b.trail.yaml": "trail:\n  - step: s\n    recording: { web: [ { fail: { text: no } } ] }\n",
	})
	p.run("run", "--repeat-each", "2", "--shard", "1/2")
	p.run("run", "--repeat-each", "2", "--shard", "2/2")
	p.run("report", "merge", "logs", "--html", "out").want(t, 1, "✓ a: 2 of 2 passed", "✗ b: 2 of 2 failed", "2 failed, 2 passed")
	page, err := os.ReadFile(filepath.Join(p.dir, "out", "index.html"))
	if err != nil || !strings.Contains(string(page), "<td>b</td><td>2 of 2 failed</td>") {
		t.Errorf("the page does not add up: %v", err)
	}
}
