package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/config"
)

// loadElectron loads a project with a target that has an Electron app.
func loadElectron(t *testing.T, electron string) (app config.Electron, root, problems string) {
	t.Helper()
	root = t.TempDir()
	write(t, filepath.Join(root, "trailblaze-config", "targets", "notes.yaml"), []byte("id: notes\nelectron:\n  "+electron+"\n"))
	project, found := config.Load(root, func(name string) (string, bool) { return "from " + name, name == "NOTES_TOKEN" })
	return project.ElectronFor("notes"), root, found.Error()
}

func TestElectronApp(t *testing.T) {
	t.Parallel()
	app, root, problems := loadElectron(t, strings.ReplaceAll(`command: ./bin/notes
args: [., --n, 3, "${NOTES_TOKEN}"]
env: { NOTES_TOKEN: "${NOTES_TOKEN}" }
cdp_port: 9333
cdpUrl: null
cdpTimeoutSeconds: 5
headless: true`, "\n", "\n  "))
	want := config.Electron{
		Command: filepath.Join(root, "bin", "notes"), Args: []string{".", "--n", "3", "from NOTES_TOKEN"},
		Env: map[string]string{"NOTES_TOKEN": "from NOTES_TOKEN"}, Port: 9333, Timeout: 5 * time.Second, Headless: true,
	}
	if diff := cmp.Diff(want, app); diff != "" || problems != "" {
		t.Errorf("(-want +got)\n%s\nproblems: %s", diff, problems)
	}
	if app, _, _ := loadElectron(t, "command: electron"); app.Command != "electron" || app.Port != 0 {
		t.Errorf("a name on PATH is %+v", app)
	}
}

func TestProblemsOfElectronApp(t *testing.T) {
	t.Parallel()
	for electron, want := range map[string]string{
		"headless: true":                          "the app is neither started nor connected to",
		"{ command: a, cdpPort: 70000 }":          "70000 is not a port",
		"{ cdpUrl: 'localhost:9222' }":            `"localhost:9222" is not the URL of a debugging port`,
		"{ command: a, cdpTimeoutSeconds: -1 }":   "cdpTimeoutSeconds is negative",
		"{ command: a, comand: b }":               `"comand"`,
		"{ command: a, args: ['${NOT_SET}'] }":    "the environment variable NOT_SET is not set",
		"{ command: a, cdpTimeoutSeconds: soon }": "a whole number",
	} {
		if _, _, problems := loadElectron(t, electron); !strings.Contains(problems, want) {
			t.Errorf("%s: the problems %q do not have %q", electron, problems, want)
		}
	}
}
