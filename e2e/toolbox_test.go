//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// TestListingWarnsOfSilentServer has a server that continues to start after the warning.
func TestListingWarnsOfSilentServer(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"start:wait"`) + "    startupTimeout: 20s\n"})
	told := &hook{text: "has sent nothing for 5s", do: func() { p.write("go", "") }}
	var out bytes.Buffer
	r := result{cmd.Main(p.system(p.dir, &out, told, "toolbox", "list")), "", ""}
	r.stdout, r.stderr = out.String(), told.all.String()
	r.wantOutput(t, 0, `server "fake" has sent nothing`, "startupTimeout", "awaitLog")
	spawntest.NoSurvivors(t, p.marker)
}

func TestJSONErrorOfListingHasWarnings(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"one server fails":  fakeConfig(`"noisy,list:exit3"`),
		"two servers fail":  fakeConfig(`"noisy,list:exit3"`) + fakeEntry("other", "prefix,list:exit0"),
		"the names collide": fakeConfig(`"noisy"`) + fakeEntry("other", "ok"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": config})
			r := p.run("toolbox", "list", "--json")
			r.want(t, 2)
			var v struct {
				Error struct{ Details struct{ Warnings []string } }
			}
			if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || r.stderr != "" {
				t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
			}
			if w := v.Error.Details.Warnings; len(w) != 1 || !strings.Contains(w[0], "carries the protocol") {
				t.Errorf("warnings %q in\n%s", w, r.stdout)
			}
			human := p.run("toolbox", "list")
			if n := strings.Count(human.stderr, "carries the protocol"); n != 1 || human.stdout != "" {
				t.Errorf("people are warned %d times; stdout %q", n, human.stdout)
			}
		})
	}
}

func TestListingSaysThatNoToolIsExcluded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ entry, want string }{
		"nothing is":       {"", "\nNo tool is excluded.\n"},
		"an entry does so": {"    exclude: [sleep]\n", "\nNo tool is excluded, except by exclude: in the entries of servers.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig("ok") + tc.entry})
			p.run("toolbox", "list", "--why").want(t, 0, tc.want)
			if r := p.run("toolbox", "list"); strings.Contains(r.stdout, "No tool is excluded") {
				t.Errorf("without --why:\n%s", r.stdout)
			}
		})
	}
}
