package runtime

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHintForFailedScripts runs real scripts that fail in real runtimes.
func TestHintForFailedScripts(t *testing.T) {
	t.Parallel()
	bun, old, newer := []string{realBun(t), "run", "--no-install"}, []string{node20(t)}, []string{node22(t)}
	tsx := []string{"--import", "file://" + installed(t, "tsx", "dist", "loader.mjs")}
	oldTSX, newerTSX := append(old[:1:1], tsx...), append(newer[:1:1], tsx...)
	const module = `{"type":"module"}`
	const acme = `the package @acme/not-there is not installed; run "npm install @acme/not-there" in <dir>`
	const plain = `the package not-there is not installed; run "npm install not-there" in <dir>`
	cases := []struct {
		name, script, packageJSON string
		argv                      []string
		want                      string
	}{
		{"missing package, bun", "missing.ts", "", bun, `the package @acme/not-there is not installed; run "bun add @acme/not-there" in <dir>`},
		{
			"missing package, bun, listed", "missing.ts", `{"dependencies":{"@acme/not-there":"1"}}`, bun,
			`the package @acme/not-there is not installed; run "bun install" in <dir>`,
		},
		{"missing package, node, ES module", "missing.js", module, old, plain},
		{"missing package, node 22, TypeScript", "missing.ts", module, newer, acme},
		{"missing package, node, CommonJS", "missing.cjs", "", old, plain},
		{"missing package, node 22, CommonJS", "missing.cjs", "", newer, plain},
		{"missing package, tsx, CommonJS", "missing.ts", "", oldTSX, acme},
		{"missing package, tsx, ES module", "missing.ts", module, oldTSX, acme},
		{"missing package, node 22 with tsx", "missing.ts", "", newerTSX, acme},
		{"missing package, tsx, listed", "missing.js", `{"devDependencies":{"not-there":"1"}}`, oldTSX, `the package not-there is not installed; run "npm install" in <dir>`},
		{"missing file, bun", "missing_file.ts", "", bun, "./nowhere does not exist; check the import in <dir>/missing_file.ts"},
		{"missing file, tsx", "missing_file.ts", "", oldTSX, "./nowhere does not exist; check the import in <dir>/missing_file.ts"},
		{
			"missing file, node 22", "missing_file.ts", module, newer, "<dir>/nowhere does not exist; check the import in <dir>/missing_file.ts, " +
				"which needs the file's real extension unless bun or tsx runs it",
		},
		{"top-level await, tsx", "await.ts", "", oldTSX, `add "type": "module" to <dir>/package.json, or rename await.ts to .mts`},
		{"top-level await, node 22 with tsx", "await.ts", "{}", newerTSX, `add "type": "module" to <dir>/package.json, or rename await.ts to .mts`},
		{"top-level await, node", "await.cjs", "", old, `add "type": "module" to <dir>/package.json`},
		{
			"TypeScript, node 20", "missing.ts", module, old,
			`this node does not run .ts files by itself; run "npm install --save-dev tsx" in <dir>, or install bun (https://bun.sh)`,
		},
		{
			"more than types, node 22", "enum.ts", "", newer,
			`node only removes types, and this syntax needs more; run "npm install --save-dev tsx" in <dir>, or install bun (https://bun.sh)`,
		},
		{"only bun has it", "bun_only.js", "", old, bunOnly},
		{"only bun has the module", "bun_module.mjs", "", old, bunOnly},
		{"only bun has the module, tsx", "bun_module.mjs", "", oldTSX, bunOnly},
		{"syntax, bun", "syntax.ts", "", bun, "correct the syntax at <dir>/syntax.ts:1:24"},
		{"syntax, tsx", "syntax.ts", "", newerTSX, "correct the syntax at <dir>/syntax.ts:1:23"},
		{"syntax, node 22, TypeScript", "syntax.ts", "", newer, "correct the syntax of <dir>/syntax.ts, or of a file that it imports"},
		{"syntax", "syntax.js", "", old, "check the syntax; it ran on node v20.20.2, and newer code may need a newer node"},
		{
			"export", "export.mjs", "", old,
			"an import does not exist in the installed version of its package; it ran on node v20.20.2, and newer code may need a newer node",
		},
		{"missing command", "spawn.mjs", "", old, "the server tried to start no-such-command-anywhere, which is not on its PATH"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := project(t, c.script, c.packageJSON, false)
			_, stderr, err := run(t, nil, append(slices.Clip(c.argv), script)...)
			if err == nil {
				t.Fatal("the script lives")
			}
			want := strings.ReplaceAll(c.want, "<dir>", filepath.Dir(script))
			if diff := cmp.Diff(want, Hint(script, filepath.Dir(script), stderr)); diff != "" {
				t.Errorf("hint (-want +got):\n%s\nstderr:\n%s", diff, stderr)
			}
		})
	}
}

func TestHintHasTheCommandOfTheProjectsPackageManager(t *testing.T) {
	t.Parallel()
	for lock, want := range map[string]string{
		"bun.lock": "bun add zod", "bun.lockb": "bun add zod", "pnpm-lock.yaml": "pnpm add zod",
		"yarn.lock": "yarn add zod", "package-lock.json": "npm install zod",
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, "package.json"), "{}")
		write(t, filepath.Join(root, lock), "")
		script := filepath.Join(root, "tools", "deep", "x.ts")
		write(t, script, "")
		got := Hint(script, root, "Cannot find package 'zod' imported from "+script+"\n")
		if diff := cmp.Diff(`the package zod is not installed; run "`+want+`" in `+root, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lock, diff)
		}
	}
}

func TestHintForRecordedMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cases := []struct{ name, stderr, want string }{
		{"nothing known", "the database is down\n", ""},
		{"nothing said", "", ""},
		{
			"inside a package", "Error: Cannot find module 'inner'\nRequire stack:\n- " + dir + "/node_modules/outer/lib/x.js\n",
			`the package inner is not installed; run "npm install inner" in ` + dir,
		},
		{
			"a file of a package", "Cannot find module '" + dir + "/node_modules/@a/b/gone.js' imported from " + dir + "/x.mjs",
			`the package @a/b is not installed; run "npm install @a/b" in ` + dir,
		},
		{"the script of a command", "Error: Cannot find module '" + dir + "/gone.js'\n    at Module", dir + "/gone.js does not exist"},
		{"node too old for tsx", "node: bad option: --import\n", "this node is too old for tsx, which needs 20.6 or later"},
		{
			"a module of Python", "Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'trailblaze'\n",
			"install trailblaze for this Python, or set command to that of the virtual environment that has it, such as ./.venv/bin/python",
		},
		{"engine", "npm error code EBADENGINE", `a package asks for another version of node; see its "engines"`},
		{"older bun", `error: Could not resolve: "zod". Maybe you need to "bun install"?` + "\nBun v1.1.0\n", `the package zod is not installed; run "bun add zod" in ` + dir},
	}
	for _, c := range cases {
		if got := Hint("", dir, c.stderr); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzHint: what a dying script printed is anybody's text.
func FuzzHint(f *testing.F) {
	f.Add("Cannot find package '' imported from ")
	f.Add("Cannot find module '/' from '/'")
	f.Add("Cannot find module '@' from 'x'")
	dir := os.TempDir()
	f.Fuzz(func(_ *testing.T, stderr string) { Hint("", dir, stderr) })
}
