package engine

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"
)

func TestEmptyPaths(t *testing.T) {
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
		t.Errorf("the script's directory has %q (%v)", made, err)
	}
}

func TestTooLongPathMakesNoFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := run(t, bundledImports(`
		import fs from "node:fs";
		for (const path of ["long/".repeat(2000), "new/" + "n".repeat(300)])
			try { fs.mkdirSync(path, { recursive: true }) } catch (e) { console.log(e.code, fs.readdirSync(".").join()) }`),
		func(s *Spec) { s.Dir = dir })
	if want := "ENAMETOOLONG \nENAMETOOLONG new\n"; got != want { // as in Node.js
		t.Errorf("stdout %q, want %q", got, want)
	}
}

func TestHomeIsTakenFromEnvironment(t *testing.T) {
	t.Parallel()
	code := bundledImports(`import os from "node:os"; console.log(os.homedir())`)
	got := run(t, code, func(s *Spec) { s.Env = []string{"HOME=/home/of-it", "USERPROFILE=/home/of-it"} })
	if want := "/home/of-it\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, code), u.HomeDir+"\n"; got != want {
		t.Errorf("without an environment: stdout %q, want %q (HOME is %q)", got, want, os.Getenv("HOME"))
	}
}

func TestShellFromPasswordFile(t *testing.T) {
	t.Parallel()
	passwd := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(passwd, []byte("root:x:0:0:root:/root:/bin/sh\n# 7\nshort:x:7\nits:x:7:7:Its User:/home/of-it:/bin/its\nnone:x:8:8::/:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]string{0: "/bin/sh", 7: "/bin/its", 8: "", 9: ""} {
		if got := shell(uid, passwd); got != want {
			t.Errorf("user %d has the shell %q, want %q", uid, got, want)
		}
	}
	if got := shell(0, passwd+"-of-another-system"); got != "" {
		t.Errorf("without the file the shell is %q", got)
	}
}
