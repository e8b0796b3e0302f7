//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTrailDrivesTheStudio replays a trail at the page of a studio, and then the trail that was saved there.
func TestTrailDrivesTheStudio(t *testing.T) {
	t.Parallel()
	const dir = "../testdata/projects/studio"
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const file = "trails/newcomer.trail.yaml"
	p := newProject(t, map[string]string{"trailblaze.yaml": read("trailblaze.yaml"), file: read(file)})
	shop, s := pageSite(t, read("shop.html")), newStudio(t, nil)
	p.env = append(p.env, "STUDIO="+s.url)
	p.run("run", "--secret", "STUDIO", "--memory", "SHOP="+shop).want(t, 0, "1 passed")
	s.end(syscall.SIGINT)

	saved := s.project.read(t, file)
	for _, want := range []string{
		"- step: Open the shop\n", "- step: Sign in\n", "- step: Buy tea and a mug\n", "text: ada@example.com\n",
		"text: apples\n", "ariaNameRegex: Add mug\n", "expected: Total 15.50\n",
	} {
		if strings.Count(saved, want) != 1 {
			t.Errorf("%q is not in the trail:\n%s", want, saved)
		}
	}
	s.project.run("run", file).want(t, 0, "1 passed")
}
