//go:build unix

package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSummaryNamesOnlyReportsThatWereWritten replaces the JUnit file by a folder while a trail runs.
func TestSummaryNamesOnlyReportsThatWereWritten(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig(`"call:wait"`), "trails/a.trail.yaml": webTrail("bad: {}"),
	})
	created := make(chan error, 1)
	go func() {
		await(func() bool { _, err := os.Stat(filepath.Join(p.dir, "reached-call")); return err == nil })
		file := filepath.Join(p.dir, "out.xml")
		created <- errors.Join(os.Mkdir(file, 0o755), os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600))
	}()
	r := p.run("run", "--junit", "out.xml", "--html", "page")
	if err := <-created; err != nil {
		t.Fatal(err)
	}
	r.want(t, 2, "HTML: page/index.html\n1 passed")
	if strings.Contains(r.stdout, "JUnit:") || !strings.Contains(r.stderr, "write the JUnit report: ") {
		t.Errorf("stdout\n%s\nstderr\n%s", r.stdout, r.stderr)
	}
}
