package trailmap_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/trailmap"
)

// FuzzLoad loads any files as a workspace: it never panics, everything that is wrong has a file and a message, and the
// names in targets exist.
func FuzzLoad(f *testing.F) {
	f.Add("targets: [x]\ntools: [{id: a, description: b, tools: [wait: {}]}]", "id: x\ntarget: {display_name: X, platforms: {web: {tools: [x_t]}}}",
		"id: s\ntools: [a]", "id: x_t\ndescription: b\ntools: [wait: {}]", "script: a.ts\nname: x_s", "id: flat\ndisplay_name: F")
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range cases {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if text := string(file.Data); strings.HasSuffix(file.Name, ".yaml") {
				f.Add(text, text, text, text, text, text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, anchorText, manifest, toolset, composed, descriptor, flat string) {
		root := unpack(t, &txtar.Archive{Files: []txtar.File{
			{Name: anchor, Data: []byte(anchorText)},
			{Name: maps + "x/trailmap.yaml", Data: []byte(manifest)},
			{Name: maps + "x/toolsets/s.yaml", Data: []byte(toolset)},
			{Name: maps + "x/tools/a.tool.yaml", Data: []byte(composed)},
			{Name: maps + "x/tools/b.yaml", Data: []byte(descriptor)},
			{Name: maps + "x/tools/a.ts", Data: []byte("export const x_a = trailblaze.tool(run);\n")},
			{Name: "trails/config/targets/flat.yaml", Data: []byte(flat)},
		}})
		p, problems := trailmap.Load(root, trailmap.Options{Dir: root}, tools)
		for _, problem := range slices.Concat(problems, p.LeftOut, p.Warnings, p.Remarks) {
			if _, err := os.Stat(problem.File); err != nil || problem.Message == "" {
				t.Errorf("problem without file or message: %+v", problem)
			}
		}
		if _, known := p.FindTarget(p.Target); !known {
			t.Errorf("the default target %q is not one of the targets", p.Target)
		}
		known := map[string]bool{}
		for _, c := range p.Composed {
			known[c.Name] = true
		}
		for _, name := range tools {
			known[name] = true
		}
		for _, target := range p.Targets {
			for _, server := range target.Servers {
				for _, function := range server.Functions {
					known[function.Name] = true
				}
			}
			for _, platform := range target.Platforms {
				for _, name := range slices.Concat(platform.Tools, platform.ExcludedTools) {
					if !known[name] {
						t.Errorf("target %q names the unknown tool %q", target.ID, name)
					}
				}
			}
		}
	})
}
