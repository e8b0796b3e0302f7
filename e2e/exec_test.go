//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExecRunsAProgram(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": webTrail(`exec: { command: printf, args: ["%s|", "a b", "$HOME", "{{pin}}"] }
          saveAs: printed`, `assertEquals: { expected: "a b|$HOME|4711-88|", actual: "{{printed}}" }`,
			`exec: { command: ./show, args: [] }
          saveAs: shown`, "assertEquals: { expected: from the root, actual: \"{{shown}}\" }"),
		"show": "#!/bin/sh\ncat trailblaze-note\n", "trailblaze-note": "from the root\n\n",
	})
	if err := os.Chmod(filepath.Join(p.dir, "show"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	p.run("check", "--secret", "pin=4711-88").want(t, 0)
	r := p.run("run", "--json", "--secret", "pin=4711-88")
	r.want(t, 0, `"text":"a b|$HOME|{{pin}}|"`)
	if strings.Contains(r.stdout+r.stderr, "4711-88") {
		t.Error("the secret is shown")
	}
}

func TestExecFails(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: { text: a }")})
	for call, want := range map[string]string{
		`exec: { command: sh, args: ["-c", "echo out; echo wrong >&2; exit 3"] }`:                              "exec: sh exited with code 3",
		`exec: { command: sh, args: ["-c", "echo the reason >&2; exit 1"] }`:                                   "\n      the reason\n",
		`exec: { command: no-such-program }`:                                                                   "no-such-program",
		"exec: { command: sleep, args: [\"600\"] }\n          timeout: 200ms":                                  "exec: sleep did not end within 200ms",
		"exec: { command: echo a }":                                                                            "echo a",
		`exec: { command: echo, args: [1] }`:                                                                   "args",
		"exec: { comand: echo }":                                                                               `did you mean "command"`,
		`exec: { command: sh, args: ["-c", "sleep 601 & echo started; wait"] }` + "\n          timeout: 300ms": "did not end within 300ms",
	} {
		p.write("trails/a.trail.yaml", webTrail(call))
		r := p.run("run")
		r.want(t, 1)
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%s:\n%s\nlacks %q", call, r.stdout, want)
		}
	}
	for _, cmdline := range processes(t) {
		if cmdline == "sleep 601" || cmdline == "sleep 600" {
			t.Errorf("%s still runs", cmdline)
		}
	}
}

// processes returns the command lines of all processes; none where they cannot be read.
func processes(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")))
	}
	return all
}

func TestAgentsRunProgramsOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	const call = `{"step":"x","calls":[{"exec":{"command":"echo","args":["ran"]}}]}`
	a := p.agent(t)
	a.fails("step", call, `tool "exec" is not allowed for agents in this project`)
	a.end()
	p.write("trailblaze.yaml", webConfig+"allow: [exec]\n")
	p.agent(t).does("step", call, "ran")
}
