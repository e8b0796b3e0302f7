//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const shop = "../testdata/projects/shop"

// The example runs where it lies, because its packages are installed there; only what it leaves goes elsewhere.
func TestTheExamplePassesOnEveryRuntime(t *testing.T) {
	t.Parallel()
	for _, needed := range []string{"node_modules", "bin/ledger"} {
		if _, err := os.Stat(filepath.Join(shop, needed)); err != nil {
			t.Fatalf("%v: run make deps", err)
		}
	}
	for name, tc := range map[string]struct {
		programs []string
		runtime  string
	}{
		"bun, node absent":          {[]string{bunPath}, "bun"},
		"node and tsx, bun absent":  {[]string{"node"}, "node+tsx"},
		"both, so bun":              {[]string{"node", bunPath}, "bun"},
		"node is forced, both here": {[]string{"node", bunPath}, "node+tsx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, nil)
			p.dir, _ = filepath.Abs(shop)
			p.env = append(p.env, "PATH="+bin(t, tc.programs...))
			args := []string{"run", "--json"}
			if name == "node is forced, both here" {
				args = append(args, "--runtime", "node")
			}
			r := p.run(args...)
			r.want(t, 0)
			done := ofType(r.events(t), "run.finished")
			if len(done) != 1 || done[0]["passed"] != 9.0 || done[0]["skipped"] != 2.0 {
				t.Errorf("run.finished: %v", done)
			}
			args[0] = "doctor"
			if got := doctorChecks(t, p.run(args...))["server ./tools/http.ts"]; got.Status != "ok" || got.Detail[:len(tc.runtime)] != tc.runtime {
				t.Errorf("http.ts runs on %+v, want %s", got, tc.runtime)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestTheExampleOnOtherDevices(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"ios":           {"trails/shop", "--platform", "ios"},
		"android-phone": {"trails/shop", "--classifier", "android-phone"},
		"web":           {"trails/shop", "--platform", "web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, nil)
			p.dir, _ = filepath.Abs(shop)
			p.env = append(p.env, "PATH="+bin(t, bunPath))
			p.run(append([]string{"run"}, args...)...).want(t, 0)
			p.run("check").want(t, 0, "0 problems, 0 warnings")
		})
	}
}
