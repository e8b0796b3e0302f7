//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"
)

// TestTrailDrivesTheStudio replays a trail at the page of a studio, and then the trail that was saved there.
func TestTrailDrivesTheStudio(t *testing.T) {
	t.Parallel()
	const file = "trails/newcomer.trail.yaml"
	p := newProject(t, map[string]string{"trailblaze.yaml": readStudioProject(t, "trailblaze.yaml"), file: readStudioProject(t, file)})
	shop, s := pageSite(t, taskShop(t)), newStudio(t, nil)
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
