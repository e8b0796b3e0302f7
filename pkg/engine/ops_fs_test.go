package engine

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"
)

func TestNoPathIsTheScriptsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := run(t, bundledImports(`
		import fs from "node:fs";
		import path from "node:path";
		const made = fs.mkdtempSync("");
		console.log(made.length, fs.statSync(made).isDirectory(), fs.realpathSync("") === fs.realpathSync(process.cwd()));
		console.log((await fs.promises.mkdtemp("")).length);
		for (const f of [() => fs.readFileSync(""), () => fs.statSync(""), () => fs.mkdirSync("")]) try { f() } catch (e) { console.log(e.code) }`),
		func(s *Spec) { s.Dir = dir })
	if want := "6 true true\n6\nENOENT\nENOENT\nENOENT\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if made, err := filepath.Glob(filepath.Join(dir, "??????")); err != nil || len(made) != 2 {
		t.Errorf("the script's folder has %q (%v)", made, err)
	}
}

func TestTheUsersFactsAreThoseOfTheEnginesEnvironment(t *testing.T) {
	t.Parallel()
	code := bundledImports(`import os from "node:os"; console.log(os.homedir(), os.userInfo().shell)`)
	got := run(t, code, func(s *Spec) { s.Env = []string{"HOME=/home/of-it", "USERPROFILE=/home/of-it", "SHELL=/bin/its"} })
	if want := "/home/of-it /bin/its\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, code), u.HomeDir+" null\n"; got != want {
		t.Errorf("without an environment: stdout %q, want %q (HOME is %q)", got, want, os.Getenv("HOME"))
	}
}
