//go:build unix

package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOutputOfParallelTrailsIsNotMixed runs real servers that write to every output, and checks to which trail each
// line belongs.
func TestOutputOfParallelTrailsIsNotMixed(t *testing.T) {
	t.Parallel()
	files := map[string]string{"trailblaze.yaml": noisyProject}
	var want []string
	for i := range 8 {
		name := fmt.Sprintf("trail%d", i)
		files["trails/"+name+".trail.yaml"] = webTrail("echo: { text: 1 of "+name+" }", "wait: { seconds: 0.05 }", "echo: { text: 2 of "+name+" }", "fail: {}")
		want = append(want, name)
	}
	p := newProject(t, files)
	r := p.run("run", "--workers", "4", "--verbose", "--junit", "junit.xml")
	r.want(t, 1)
	progress, _, _ := strings.Cut(r.stdout, "\n\n")
	block, blocks, finished := "", 0, 0
	for line := range strings.Lines(progress) {
		named := regexp.MustCompile(`trail\d`).FindString(line)
		switch {
		case strings.HasPrefix(line, " ") && (named != "" && named != block || block == ""):
			t.Fatalf("this line stands in the block of %q: %q\n%s", block, line, r.stdout)
		case strings.HasPrefix(line, " "):
		case strings.HasPrefix(line, "running "):
			block = ""
		case strings.HasSuffix(line, ":\n"):
			block = named
			blocks++
		case strings.HasPrefix(line, "✗ ") && named == block:
			finished++
		default:
			t.Fatalf("this line belongs to no trail: %q\n%s", line, r.stdout)
		}
	}
	if blocks != 8 || finished != 8 {
		t.Errorf("%d blocks and %d results\n%s", blocks, finished, r.stdout)
	}
	ofTrail := regexp.MustCompile(`^(warning: trail\d|note: trail\d|  hint: )`) // a note says what a server still does
	for line := range strings.Lines(r.stderr) {
		if !ofTrail.MatchString(line) {
			t.Errorf("a line on stderr does not say whose it is: %q", line)
		}
	}
	names, _, _, _ := p.cases(t, "junit.xml")
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("test cases (-want +got):\n%s", diff)
	}
}
