package runtime

import (
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestCheckPackages(t *testing.T) {
	t.Parallel()
	const sdk = "node_modules/@modelcontextprotocol/sdk/package.json"
	zod := map[string]string{"tools/package.json": `{"dependencies":{"zod":"3"},"devDependencies":{"eslint":"9"}}`}
	with := func(files map[string]string, more ...string) map[string]string {
		all := maps.Clone(files)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	for _, c := range []struct {
		name    string
		runtime string
		node    string
		files   map[string]string
		want    string // the message; "" for none
		hint    string
	}{
		{"no package.json", "bun", "", nil, "", ""},
		{"nothing installed", "bun", "", zod, "the packages eslint, zod are not installed, which <dir>/tools/package.json lists", `run "npm install" in <dir>/tools`},
		{"only development packages listed, nothing installed", "node", "", map[string]string{"tools/package.json": `{"devDependencies":{"@acme/sdk":"1"}}`}, "the package @acme/sdk is not installed, which <dir>/tools/package.json lists", `run "npm install" in <dir>/tools`},
		{"installed", "bun", "", with(zod, "tools/node_modules/zod/package.json", "{}"), "", ""},
		{"installed above", "bun", "", with(zod, "node_modules/zod/package.json", "{}"), "", ""},
		{"another one installed", "bun", "", with(zod, "tools/node_modules/acme/package.json", "{}"), "the package zod is not installed, which <dir>/tools/package.json lists", `run "npm install" in <dir>/tools`},
		{"a lock file of bun", "bun", "", with(zod, "tools/bun.lock", ""), "the packages eslint, zod are not installed, which <dir>/tools/package.json lists", `run "bun install" in <dir>/tools`},
		{"yarn without folders", "bun", "", with(zod, ".pnp.cjs", ""), "", ""},
		{"the SDK needs a newer node", "node", "v16.20.2", map[string]string{sdk: `{"version":"1.20.0","engines":{"node":">=18"}}`}, "node v16.20.2 is too old for @modelcontextprotocol/sdk 1.20.0, which needs node >=18", "install a newer node (https://nodejs.org), or bun (https://bun.sh)"},
		{"the SDK on bun", "bun", "v16.20.2", map[string]string{sdk: `{"version":"1.20.0","engines":{"node":">=18"}}`}, "", ""},
		{"the SDK has a node that is new enough", "node", "v18.0.0", map[string]string{sdk: `{"version":"1.20.0","engines":{"node":">=18"}}`}, "", ""},
		{"tsx needs a newer node", "node+tsx", "v16.0.0", map[string]string{"node_modules/tsx/package.json": `{"version":"4.0.0","engines":{"node":">=18.0.0"}}`}, "node v16.0.0 is too old for tsx 4.0.0, which needs node >=18.0.0", "install a newer node (https://nodejs.org), or bun (https://bun.sh)"},
		{"tsx that is not used", "node", "v18.0.0", map[string]string{"node_modules/tsx/package.json": `{"engines":{"node":">=20.0.0"}}`}, "", ""},
		{"a script without packages", "node", "v12.22.12", nil, "node v12.22.12 is too old for scripts, which need node 18", "install a newer node (https://nodejs.org), or bun (https://bun.sh)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.files {
				write(t, filepath.Join(dir, name), text)
			}
			path, _ := fake(t, "node", c.node)
			f := NewFinder(Options{VersionTimeout: limit, PATH: path})
			err := f.CheckPackages(t.Context(), filepath.Join(dir, "tools", "a.ts"), Command{Runtime: c.runtime})
			message, hint := "", ""
			if e := fault.As(err); e != nil {
				message, hint = strings.ReplaceAll(e.Message, dir, "<dir>"), strings.ReplaceAll(e.Hint, dir, "<dir>")
			}
			if message != c.want || hint != c.hint {
				t.Errorf("got  %v\nhint %s\nwant %s\nhint %s", err, hint, c.want, c.hint)
			}
		})
	}
}

func TestCheckImports(t *testing.T) {
	t.Parallel()
	const script = "import fs from 'fs'; import 'node:os'; import 'left-pad/sub'; import './y.js'; await import('lazy')"
	listed, other := `{"dependencies":{"left-pad":"1"}}`, `{"name":"shop"}`
	const installed = "tools/node_modules/left-pad/index.js"
	for name, c := range map[string]struct {
		files                   map[string]string
		missing, unlisted, hint string
	}{
		"no package.json": {
			nil, "a.mjs imports the package left-pad, which is not installed and which no package.json lists", "",
			`run "npm install left-pad" in <dir>/tools`,
		},
		"not listed": {
			map[string]string{"package.json": other},
			"tools/a.mjs imports the package left-pad, which is not installed and which no package.json lists",
			"", `run "npm install left-pad" in <dir>`,
		},
		"by a file that it imports": {
			map[string]string{"tools/y.js": "import '@acme/x/y'", installed: "", "package.json": listed},
			"tools/y.js imports the package @acme/x, which is not installed and which no package.json lists", "", `run "npm install @acme/x" in <dir>`,
		},
		"a lock file": {map[string]string{"package.json": other, "bun.lock": ""}, "tools/a.mjs imports the package left-pad, which is not installed and " +
			"which no package.json lists", "", `run "bun add left-pad" in <dir>`},
		"listed":                     {map[string]string{"package.json": listed}, "tools/a.mjs imports the package left-pad, which is not installed", "", `run "npm install" in <dir>`},
		"installed":                  {map[string]string{"package.json": listed, installed: ""}, "", "", ""},
		"installed, no package.json": {map[string]string{installed: ""}, "", "", ""},
		"installed by chance": {
			map[string]string{"package.json": other, installed: ""},
			"", "tools/a.mjs imports the package left-pad, which no package.json lists",
			`run "npm install left-pad" in <dir>`,
		},
		"a name for own files": {map[string]string{"tools/tsconfig.json": `{"compilerOptions":{"paths":{"left-pad/sub":["./y.js"]}}}`}, "", "", ""},
		"yarn without folders": {map[string]string{".pnp.cjs": ""}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "tools", "a.mjs"), script)
			write(t, filepath.Join(dir, "tools", "y.js"), "")
			for name, text := range c.files {
				write(t, filepath.Join(dir, name), text)
			}
			missing, unlisted := CheckImports(t.Context(), filepath.Join(dir, "tools", "a.mjs"))
			got := [3]string{}
			for i, err := range []error{missing, unlisted} {
				if e := fault.As(err); e != nil {
					got[i], got[2] = strings.ReplaceAll(e.Message, dir, "<dir>"), strings.ReplaceAll(e.Hint, dir, "<dir>")
				}
			}
			if want := [3]string{c.missing, c.unlisted, c.hint}; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestOlderThan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, needs string
		want           bool
	}{
		{"v16.20.2", ">=18", true},
		{"v18.0.0", ">=18", false},
		{"v18.17.9", ">=18.18.0", true},
		{"v18.19.0", "^18.18.0 || ^20.9.0 || >=21.1.0", false},
		{"v18.17.0", "^18.18.0 || ^20.9.0 || >=21.1.0", true},
		{"v18.0.0", "20.x", true},
		{"v18.0.0", "*", false},
		{"v18.0.0", "<17 || >=20", false},
		{"v18.0.0", "", false},
		{"unknown", ">=18", false},
	} {
		if got := olderThan(c.version, c.needs); got != c.want {
			t.Errorf("olderThan(%q, %q) = %v", c.version, c.needs, got)
		}
	}
}

// TestPipesAreNotRead has a pipe without a writer, which would block a reader.
func TestPipesAreNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"tsx", "package.json", "script.ts"} {
		if err := exec.Command("mkfifo", filepath.Join(dir, name)).Run(); err != nil {
			t.Fatal(err)
		}
	}
	if got := globalLoader(dir); got != "" {
		t.Errorf("loader %q", got)
	}
	if _, ok := readPackage(dir); ok {
		t.Error("there is a package")
	}
	if err := CheckScript(filepath.Join(dir, "script.ts")); fault.KindOf(err) != fault.Server {
		t.Errorf("error %v", err)
	}
}
