//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/seeded"
)

// seededSite serves the shop with each of the changes.
func seededSite(t *testing.T) (*seeded.Site, string) {
	t.Helper()
	s := seeded.NewSite(filepath.Join(shop, "pages"), seeded.Faults, seeded.Renames)
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, at.URL
}

// TestSeededChangesAreWhatTheyClaim lets Playwright use the shop with each change: with a fault, the fact that the
// change names is wrong for a user; with a rename all is as it was.
func TestSeededChangesAreWhatTheyClaim(t *testing.T) {
	t.Parallel()
	site, at := seededSite(t)
	want := map[string]string{}
	args := []string{"seeded.mjs", spawntest.Chromium(t), at}
	for _, c := range slices.Concat(seeded.Faults, seeded.Renames) {
		if err := c.Check(site.Pages); err != nil {
			t.Error(err)
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
			Name, Stuck    string
			Wrong, Missing []string
		}
		if err := json.Unmarshal([]byte(line), &verdict); err != nil {
			t.Fatal(err, line)
		}
		judged++
		switch fact := want[verdict.Name]; {
		case fact == "" && (len(verdict.Wrong)+len(verdict.Missing) > 0 || verdict.Stuck != ""):
			t.Errorf("with %s a user cannot do the same: %s", verdict.Name, line)
		case fact != "" && !slices.Contains(verdict.Wrong, fact):
			t.Errorf("with %s, %s is as it should be: %s", verdict.Name, fact, line)
		}
	}
	if judged != len(want) || len(seeded.Faults) < 22 || len(seeded.Renames) < 20 {
		t.Errorf("%d of %d changes were judged", judged, len(want))
	}
}

// seededProject is a project with the trail of each change.
func seededProject(t *testing.T, at string, changes []seeded.Change) *project {
	t.Helper()
	files := map[string]string{"trailblaze.yaml": fmt.Sprintf("%sbase_url: %s\ndevice: { actionTimeout: 3s, assertionTimeout: 2s }\n", webConfig, at)}
	for _, c := range changes {
		text, err := c.TrailOf("../testdata/seeded/trails")
		if err != nil {
			t.Fatal(err)
		}
		files["trails/"+c.Name+".trail.yaml"] = text
	}
	return newProject(t, files)
}

// seededEndings returns the event that each trail of a run ended with, by the name of its change.
func seededEndings(t *testing.T, r result) map[string]map[string]any {
	t.Helper()
	ended := map[string]map[string]any{}
	for _, e := range ofType(r.events(t), "trail.finished") {
		file, _ := e["trail"].(string)
		ended[strings.TrimSuffix(filepath.Base(file), ".trail.yaml")] = e
	}
	return ended
}

// TestSeededChangesTurnTrailsRed replays the trail of each change, which passes in the shop as it is.
func TestSeededChangesTurnTrailsRed(t *testing.T) {
	t.Parallel()
	site, at := seededSite(t)
	changes := slices.Concat(seeded.Faults, seeded.Renames)
	p := seededProject(t, at, changes)
	site.Sound.Store(true)
	p.run("run", "--workers", "4").want(t, 0, fmt.Sprintf("%d passed", len(changes)))
	site.Sound.Store(false)
	r := p.run("run", "--json", "--workers", "4")
	r.want(t, 1)
	ended := seededEndings(t, r)
	for _, c := range changes {
		if ended[c.Name]["outcome"] != "failed" {
			t.Errorf("%s: %v", c.Name, ended[c.Name])
		}
	}
}
