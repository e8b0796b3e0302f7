//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/models"
	"github.com/trailblaze/trailblaze/testdata/seeded"
)

// TestSeededChangesAreWhatTheyClaim lets Playwright use the shop with each change: with a fault, what the change names is
// the first fact that is wrong for a user; with a rename all facts are as they were.
func TestSeededChangesAreWhatTheyClaim(t *testing.T) {
	t.Parallel()
	changes := slices.Concat(seeded.Faults, seeded.Renames, seeded.ByID)
	site := seeded.NewSite(filepath.Join(shop, "pages"), changes)
	at := serveSite(t, site)
	want := map[string]string{}
	args := []string{"seeded.mjs", spawntest.Chromium(t), at}
	for i, c := range changes {
		if err := c.Check(site.Pages); err != nil {
			t.Error(err)
		}
		if testing.Short() && i%4 != 0 {
			continue
		}
		want[c.Name] = c.Fact
		args = append(args, c.Trail+":"+c.Name)
	}
	node := exec.CommandContext(t.Context(), "node", args...)
	node.Dir = "../testdata/web/playwright"
	out, err := node.Output()
	if err != nil {
		t.Fatal(err, string(out))
	}
	judged := 0
	for line := range strings.Lines(string(out)) {
		var verdict struct {
			Name, Wrong string
			Left        []string
		}
		if err := json.Unmarshal([]byte(line), &verdict); err != nil {
			t.Fatal(err, line)
		}
		judged++
		if verdict.Wrong != want[verdict.Name] || verdict.Wrong == "" && len(verdict.Left) > 0 {
			t.Errorf("want %q to be wrong: %s", want[verdict.Name], line)
		}
	}
	if judged != len(want) || len(seeded.Faults) < 22 || len(seeded.Renames) < 20 {
		t.Errorf("%d of %d changes were judged", judged, len(want))
	}
}

// seededProject is a project with the trail of each change, whose model is the healer. Before the shop is changed, the
// trails have passed, which keeps what was on their screens; this is left out for faults that nobody can be asked about.
func seededProject(t *testing.T, changes []seeded.Change) (*project, *models.Server) {
	t.Helper()
	site := seeded.NewSite(filepath.Join(shop, "pages"), changes)
	server, at := provider(t, seeded.Healer(changes))
	files, passing := map[string]string{}, []string{"run", "--workers", "2", "--heal", "write"}
	for _, c := range changes {
		text, err := c.TrailOf("../testdata/seeded/trails")
		if err != nil {
			t.Fatal(err)
		}
		files[trailOf(c)] = text
		if len(c.Calls) > 0 {
			passing = append(passing, trailOf(c))
		}
	}
	p := assistedProject(t, "openai-chat", at, serveSite(t, site), files)
	site.Sound.Store(true)
	runWithin(t, p, "1m", passing...).want(t, 0, fmt.Sprintf("%d passed", len(passing)-5))
	site.Sound.Store(false)
	return p, server
}

// runWithin runs the program with a limit for each action and each check.
func runWithin(t *testing.T, p *project, limit string, args ...string) result {
	t.Helper()
	config := p.read(t, "trailblaze.yaml")
	defer p.write("trailblaze.yaml", config)
	p.write("trailblaze.yaml", config+fmt.Sprintf("device: { actionTimeout: %[1]s, assertionTimeout: %[1]s }\n", limit))
	return p.run(args...)
}

// runChanged heals all trails, with a limit for each call: what is missing is missing for good.
func runChanged(t *testing.T, p *project, limit string) []map[string]any {
	t.Helper()
	r := runWithin(t, p, limit, "run", "--heal", "write", "--json", "--workers", "2")
	r.want(t, 1)
	return r.events(t)
}

// half returns every second change: a short run tries those that another one leaves out.
func half(changes []seeded.Change) (some []seeded.Change) {
	for i, c := range changes {
		if testing.Short() == (i%2 == 0) {
			some = append(some, c)
		}
	}
	return some
}

func trailOf(c seeded.Change) string { return "trails/" + c.Name + ".trail.yaml" }

// endingOf returns the event with which the trail of a change has ended, and what was proposed for it.
func endingOf(t *testing.T, events []map[string]any, c seeded.Change) (ended map[string]any, proposed []map[string]any) {
	t.Helper()
	for _, e := range events {
		switch {
		case e["trail"] != trailOf(c):
		case e["type"] == "trail.finished":
			ended = e
		case e["type"] == "heal.proposed":
			proposed = append(proposed, e)
		}
	}
	return ended, proposed
}

// TestSeededFaultsAreNotHealed replays the trail of each fault. Where a model may be asked, it does what it can to make
// the trail pass.
func TestSeededFaultsAreNotHealed(t *testing.T) {
	t.Parallel()
	changes := half(seeded.Faults)
	p, server := seededProject(t, changes)
	events := runChanged(t, p, "5s")
	asked := 0
	for _, c := range changes {
		ended, proposed := endingOf(t, events, c)
		if ended["outcome"] != "failed" {
			t.Errorf("%s: %v %v", c.Name, ended, proposed)
		}
		if text, err := c.TrailOf("../testdata/seeded/trails"); err != nil || text != p.read(t, trailOf(c)) {
			t.Errorf("%s: %v, the trail was changed:\n%s", c.Name, err, p.read(t, trailOf(c)))
		}
		if ended["requests"] != 0.0 {
			asked++
		}
	}
	if 5*asked < len(changes) || len(server.Received()) == 0 {
		t.Errorf("the model was asked about %d of %d faults only", asked, len(changes))
	}
}

// TestSeededRenamesAreHealed replays the trails of renames. All are healed, each in the lines of one step, and pass then
// without a model, but those that the table keeps: at most one of ten of those whose recording has role and name.
func TestSeededRenamesAreHealed(t *testing.T) {
	t.Parallel()
	if kept := len(slices.DeleteFunc(slices.Clone(seeded.Renames), func(c seeded.Change) bool { return !c.Kept })); 10*kept > len(seeded.Renames) {
		t.Errorf("%d of %d are not to be healed", kept, len(seeded.Renames))
	}
	changes := slices.Concat(half(seeded.Renames), half(seeded.ByID))
	p, server := seededProject(t, changes)
	limit := "15s" // with the race detector
	if testing.Short() {
		limit = "6s"
	}
	events := runChanged(t, p, limit)
	var healed []string
	for _, c := range changes {
		ended, proposed := endingOf(t, events, c)
		was, err := c.TrailOf("../testdata/seeded/trails")
		if err != nil {
			t.Fatal(err)
		}
		now := p.read(t, trailOf(c))
		if is := ended["mode"] == "healed" && ended["outcome"] == "passed"; is == c.Kept || is == (was == now) {
			t.Errorf("%s: %v %v", c.Name, ended, proposed)
		} else if is {
			healed = append(healed, trailOf(c))
			wantOneStepChanged(t, was, now)
		}
	}
	n := len(server.Received())
	again := append([]string{"run", "--heal", "write", "--workers", "2"}, healed...)
	runWithin(t, p, "1m", again...).want(t, 0, fmt.Sprintf("%d passed", len(healed)), "model: 0 requests")
	if more := len(server.Received()) - n; more != 0 {
		t.Errorf("%d requests for healed trails", more)
	}
}

// wantOneStepChanged fails the test unless the lines that differ are all in one step.
func wantOneStepChanged(t *testing.T, was, now string) {
	t.Helper()
	before, after := strings.SplitAfter(was, "\n\n"), strings.SplitAfter(now, "\n\n")
	if len(before) != len(after) {
		t.Errorf("there are other steps:\n%s", now)
		return
	}
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d steps have changed:\n%s", changed, now)
	}
}
