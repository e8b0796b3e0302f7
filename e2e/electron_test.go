//go:build unix

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/web"
)

// The app is Chromium behind a program that refuses what Electron refuses: testdata/electron.

const notesPage = `<!doctype html><title>Notes</title><h1>Notes</h1><input aria-label=Note>
<button onclick="document.querySelector('ul').innerHTML += '<li>' + document.querySelector('input').value">Add</button>
<button onclick="window.open('about.html')">About</button><ul></ul>`

const notesTrail = `config: { target: notes, devices: { web: playwright-electron } }
trail:
  - step: Write a note
    recording:
      web:
        - web_type: { text: Buy milk, nodeSelector: { web: { ariaRole: textbox, ariaNameRegex: Note } } }
        - web_click: { ref: 'button "Add"' }
  - verify: It is in the list
    recording: { web: [ { web_verifyTextVisible: { text: Buy milk } } ] }
  - step: Open the other window
    recording: { web: [ { web_click: { ref: 'button "About"' } }, { web_waitForTab: { title: About } } ] }
  - verify: It is there
    recording: { web: [ { web_verifyTextVisible: { text: A program for notes } } ] }
`

// electronProject is a project with an app, and with more keys for it.
func electronProject(t *testing.T, keys ...string) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: notes\n", "app/index.html": notesPage,
		"app/about.html":      "<!doctype html><title>About</title><p>A program for notes",
		"trails/a.trail.yaml": notesTrail,
	})
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(p.dir, "notes"), "../testdata/electron").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.write("trailblaze-config/targets/notes.yaml", "id: notes\nplatforms: { web: }\nelectron:\n  "+strings.Join(append([]string{
		"command: ./notes", "headless: true", "args: " + p.appArgs(),
	}, keys...), "\n  ")+"\n")
	return p
}

// appArgs are the arguments of the app, as YAML and separated by spaces.
func (p *project) appArgs() string {
	return fmt.Sprintf("[--app=file://%s/app/index.html, --user-data-dir=%s/data, --no-first-run, --no-sandbox]", p.dir, p.dir)
}

func TestElectronAppInTrails(t *testing.T) {
	t.Parallel()
	p := electronProject(t)
	p.run("check").want(t, 0, "0 problems")
	p.run("doctor").wantOutput(t, 0, "electron app notes", filepath.Join(p.dir, "notes"))
	if r := p.run("doctor", "--platform", "android"); strings.Contains(r.stdout, "electron app") {
		t.Errorf("doctor --platform android checks the app:\n%s", r.stdout)
	}
	p.run("toolbox", "list", "--driver", "playwright-electron").want(t, 0, "web_click")
	p.run("run").want(t, 0, "1 passed")
	spawntest.NoSurvivors(t, p.marker)
	p.write("trails/a.trail.yaml", strings.Replace(notesTrail, "Buy milk } }", "Buy eggs, timeoutMs: 300 } }", 1))
	p.run("run").want(t, 1, "Buy eggs", "1 failed")
	spawntest.NoSurvivors(t, p.marker)
}

func TestStudioOpensTheElectronAppOfATrail(t *testing.T) {
	t.Parallel()
	p := electronProject(t)
	s := p.studio(t, "--no-open", "trails/a.trail.yaml")
	var made struct{ OK bool }
	ask(t, s.connect(), `{"id":1,"do":"assert","call":{"tool":"web_verifyTextVisible","args":{"text":"Notes"}}}`, &made)
	if !made.OK {
		t.Errorf("the studio does not show the app; stderr:\n%s", &s.stderr)
	}
}

func TestDriverOfElectronHasOneName(t *testing.T) {
	t.Parallel()
	if drivers := web.Kind().Drivers; !slices.Contains(drivers, scope.ElectronDriver) {
		t.Errorf("the web has the drivers %q, without %s", drivers, scope.ElectronDriver)
	}
}

func TestElectronAppOfWorkspaceOfTheJVM(t *testing.T) {
	t.Parallel()
	own := electronProject(t)
	p := newProject(t, map[string]string{
		"trails/config/trailblaze.yaml": "defaults: { target: notes }\n", "trails/a.trail.yaml": notesTrail,
		"trails/config/trailmaps/notes/trailmap.yaml": "id: notes\ntarget:\n  display_name: Notes\n  platforms: { web: { drivers: [playwright-electron] } }\n" +
			"  electron: { command: " + own.dir + "/notes, headless: true, cdpPort: " + freePort(t) + ", args: " + own.appArgs() + " }\n",
	})
	p.run("check").want(t, 0, "0 problems")
	p.run("run").want(t, 0, "1 passed")
	p.run("init", "--from", ".").wantErr(t, 0, `target "notes" uses the driver playwright-electron on web`)
	p.run("check").want(t, 0, "0 problems")
	p.run("run").want(t, 0, "1 passed")
	spawntest.NoSurvivors(t, p.marker)
}

func TestVariablesOfElectronAppWin(t *testing.T) {
	t.Parallel()
	p := electronProject(t, "cdpUrl: http://127.0.0.1:1")
	p.run("run").wantOutput(t, 2, "cannot connect to an Electron app at http://127.0.0.1:1")
	port := freePort(t)
	args := strings.NewReplacer("[", "", "]", "", ",", "").Replace(p.appArgs())
	p.write("trailblaze-config/targets/notes.yaml", "id: notes\nplatforms: { web: }\nelectron: { command: no-such-app, args: [x], cdpUrl: 'http://127.0.0.1:1' }\n")
	p.env = append(p.env, "TRAILBLAZE_ELECTRON_COMMAND=./notes", "TRAILBLAZE_ELECTRON_ARGS="+args,
		"TRAILBLAZE_ELECTRON_CDP_PORT="+port, "TRAILBLAZE_ELECTRON_HEADLESS=true")
	p.run("run").want(t, 0, "1 passed")
	spawntest.NoSurvivors(t, p.marker)

	app := exec.CommandContext(t.Context(), filepath.Join(p.dir, "notes"), append(strings.Fields(args), "--headless", "--remote-debugging-port="+port)...)
	app.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Kill(-app.Process.Pid, syscall.SIGKILL), app.Wait() }()
	waitForPort(t, port)
	p.run("run").wantOutput(t, 2, "another program uses it")
	p.env = append(p.env, fmt.Sprintf("TRAILBLAZE_ELECTRON_CDP_URL=http://127.0.0.1:%s", port))
	p.run("run").want(t, 0, "1 passed")
	p.write("trails/b.trail.yaml", "trail: [ { step: s, recording: { web: [ { web_switchTab: { title: Notes } }, { web_verifyTextVisible: { text: Buy milk } } ] } } ]\n")
	p.run("run", "trails/b.trail.yaml", "--driver", "playwright-electron").want(t, 0, "1 passed")
	if err := syscall.Kill(app.Process.Pid, 0); err != nil {
		t.Errorf("the app that ran already: %v", err)
	}
	spawntest.NoSurvivors(t, p.marker)
	p.env = append(p.env, "TRAILBLAZE_ELECTRON_HEADLESS=maybe")
	p.run("run", "trails/a.trail.yaml").wantOutput(t, 3, `TRAILBLAZE_ELECTRON_HEADLESS: "maybe" is neither true nor false`)
}

func TestElectronAppEndsWithTheRun(t *testing.T) {
	t.Parallel()
	p := electronProject(t, "env: { NOTES: here }")
	p.write("trails/a.trail.yaml", strings.Replace(notesTrail, "- web_type", "- web_wait: { seconds: 30 }\n        - web_type", 1))
	ready := func() {
		waitUntil(t, "the app", func() bool {
			_, err := os.Stat(filepath.Join(p.dir, "data", "DevToolsActivePort"))
			return err == nil
		})
	}
	code, output := signalled(t, p.command("run"), ready, syscall.SIGINT, false)
	if code != 130 {
		t.Errorf("exit code %d\n%s", code, output)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func waitForPort(t *testing.T, port string) {
	t.Helper()
	waitUntil(t, "the port", func() bool {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		return err == nil && conn.Close() == nil
	})
}

func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("timed out waiting for %s", what)
			return
		}
	}
}
