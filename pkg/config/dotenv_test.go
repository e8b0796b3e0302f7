package config_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/config"
)

func TestDotenvHasValuesThatTheEnvironmentLacks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "trailblaze.yaml"), []byte("secrets: [PLAIN, SET, DOUBLE, SINGLE, EMPTY, MISSING, EXPORTED, LATER, COLOUR]\ntarget: shop\n"+
		"device: { web: { browser: \"${PLAIN}\" } }\n"))
	write(t, filepath.Join(root, ".env"), []byte("\ufeff# a comment\r\n\r\nPLAIN = a b # c\r\nSET=from the file\nDOUBLE=\"a # \\\"b\\\"\\n\" # c\n"+
		"SINGLE='a\\n \"#'\nexport EXPORTED=x#y\nEMPTY=\nLATER=   # set me\nCOLOUR=#fff\n"))
	p, problems := config.Load(root, func(name string) (string, bool) { return "from the environment", name == "SET" })
	want := map[string]string{
		"PLAIN": "a b", "SET": "from the environment", "DOUBLE": "a # \"b\"\n", "SINGLE": `a\n "#`, "EXPORTED": "x#y", "COLOUR": "#fff",
	}
	if diff := cmp.Diff(want, maps.Clone(p.SecretValues)); diff != "" || len(problems) > 0 {
		t.Errorf("%v (-want +got)\n%s", problems, diff)
	}
	if got := strings.Join(p.MissingSecrets(), " "); got != "EMPTY MISSING LATER" || p.Device[0].Value != "a b" {
		t.Errorf("missing %s, browser %s", got, p.Device[0].Value)
	}
}

func TestProblemsOfDotenvShowNoValues(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "trailblaze.yaml"), []byte("target: shop\n"))
	write(t, filepath.Join(root, ".env"), []byte("hunter2\nA=\"hunter2\n1B=hunter2\nC='hunter2' hunter2\nD=\"hunter2\\q\"\nE=\"\n"))
	_, problems := config.Load(root, nil)
	if len(problems) != 6 || strings.Contains(problems.Error(), "hunter2") || problems[1].Line != 2 {
		t.Errorf("%v", problems)
	}
}
