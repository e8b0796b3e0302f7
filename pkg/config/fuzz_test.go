package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/config"
)

// FuzzConfig loads any three files as a project: it never panics, every problem has a file and a message, and
// the servers of a project without problems have names of their own and something to start.
func FuzzConfig(f *testing.F) {
	seed := func(archive *txtar.Archive) {
		files := map[string][]byte{}
		for _, file := range archive.Files {
			if kind := kindOf(file.Name); kind != "" {
				files[kind] = file.Data
			}
		}
		f.Add(files["project"], files["target"], files["toolset"])
	}
	seed(txtar.Parse([]byte(everything)))
	for _, spelling := range spellings {
		f.Add([]byte(spelling), []byte("id: shop"), []byte("id: core"))
	}
	cases, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		seed(archive)
	}
	f.Fuzz(func(t *testing.T, project, target, toolset []byte) {
		root := t.TempDir()
		write(t, filepath.Join(root, "trailblaze.yaml"), project)
		write(t, filepath.Join(root, "trailblaze-config", "targets", "shop.yaml"), target)
		write(t, filepath.Join(root, "trailblaze-config", "toolsets", "core.yaml"), toolset)
		p, problems := config.Load(root, environment)
		for _, problem := range problems {
			if _, err := os.Stat(problem.File); err != nil || problem.Message == "" {
				t.Errorf("problem without file or message: %+v", problem)
			}
		}
		if len(problems) > 0 {
			return
		}
		for _, target := range append(p.Targets, config.Target{}) {
			names := map[string]bool{}
			for _, s := range p.ServersFor(target.ID) {
				if s.Name == "" || names[s.Name] || (s.Script == "") == (s.Command == "") {
					t.Errorf("server without a name of its own, or neither script nor command: %+v", s)
				}
				names[s.Name] = true
			}
		}
	})
}
