//go:build unix

package web

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// buildElectron returns the path of testdata/electron, which plays an Electron app.
func buildElectron(t *testing.T) string {
	t.Helper()
	path, err := electron()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var electron = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "electron-")
	if err != nil {
		return "", err
	}
	electronDir = dir
	path := filepath.Join(dir, "electron")
	out, err := exec.Command("go", "build", "-o", path, "../../testdata/electron").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// appAt returns an app that shows a page: Chromium, started by hand as Electron starts it.
func appAt(t *testing.T, command, page string) device.App {
	t.Helper()
	return device.App{
		Command: command, Headless: true, Timeout: testLimit,
		Args: []string{"--app=" + page, "--user-data-dir=" + t.TempDir(), "--no-first-run", "--no-sandbox"},
	}
}

// openTestApp opens a session of an app.
func openTestApp(t *testing.T, app device.App, values map[string]string) *testSession {
	t.Helper()
	return openSessionIn(t, newTestBackend(t, values), device.Session{Driver: electronDriver, App: app})
}

const appPage = `<title>Notes</title><h1>Notes</h1><input aria-label=Note><button id=add onclick="
	document.querySelector('ul').innerHTML += '<li>' + document.querySelector('input').value">Add</button><ul></ul>
	<button id=about onclick="window.open('/about')">About</button><iframe src="/frame"></iframe>`

func appServer(t *testing.T) string {
	t.Helper()
	other := serve(t, map[string]http.HandlerFunc{"/other": htmlPage("<p>From elsewhere</p>")})
	return serve(t, map[string]http.HandlerFunc{
		"/notes": htmlPage(appPage + `<iframe src="` + strings.Replace(other, "127.0.0.1", "localhost", 1) + `/other"></iframe>`),
		"/frame": htmlPage("<p>In a frame</p>"), "/about": htmlPage("<title>About</title><h1>About Notes</h1>"),
	})
}

func TestAppIsDriven(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"Chromium": spawntest.App(t), "as strict as Electron": buildElectron(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openTestApp(t, appAt(t, command, appServer(t)+"/notes"), nil)
			u.mustCall("web_verifyTextVisible", "text", "In a frame")
			u.mustCall("web_verifyTextVisible", "text", "From elsewhere")
			u.mustCall("web_type", "nodeSelector", map[string]any{"web": map[string]any{"ariaRole": "textbox", "ariaNameRegex": "Note"}}, "text", "Milk")
			u.mustCall("web_click", "ref", "css=#add")
			u.mustCall("web_verifyTextVisible", "text", "Milk")
			if width, _ := u.device.Size(); width == 0 || u.mustEval("innerWidth") != strconv.Itoa(width) {
				t.Errorf("the window has %d pixels, and the page %s", width, u.mustEval("innerWidth"))
			}
			u.mustCall("web_click", "ref", "css=#about")
			u.mustCall("web_waitForTab", "title", "About")
			u.mustCall("web_verifyTextVisible", "text", "About Notes")
			u.mustCall("web_closeTab")
			u.mustCall("web_verifyTextVisible", "text", "Milk")
			u.mustCall("launchApp")
			u.mustCall("web_getStorageState")
			u.mustFail("clearAppData", nil, "the data of an Electron app cannot be cleared")
		})
	}
}

func TestAppHasSizeOfUserAndMayRefusePermissions(t *testing.T) {
	t.Parallel()
	app := appAt(t, buildElectron(t), appServer(t)+"/notes")
	u := openTestApp(t, app, map[string]string{"permissions": "geolocation", "viewport": "500x400"})
	if got := u.mustEval("innerWidth + 'x' + innerHeight"); got != "500x400" {
		t.Errorf("the window has %s pixels", got)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if logs := strings.Join(u.logs, "\n"); !strings.Contains(logs, "warn: permissions were not granted: an Electron app does not allow that") {
		t.Errorf("logs: %s", logs)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestAppAtURLIsKept(t *testing.T) {
	t.Parallel()
	app := appAt(t, buildElectron(t), appServer(t)+"/notes")
	app.Port = freePort(t)
	owner := openTestApp(t, app, nil)
	owner.mustCall("web_type", "ref", "css=input", "text", "Eggs")
	for range 2 {
		guest := openTestApp(t, device.App{URL: "http://127.0.0.1:" + strconv.Itoa(app.Port)}, nil)
		guest.mustCall("web_verifyTextVisible", "text", "In a frame")
		guest.mustCall("web_verifyTextVisible", "text", "From elsewhere")
		guest.mustCall("web_verifyValue", "ref", "css=input", "expected", "Eggs")
		if err := guest.device.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	owner.mustCall("web_click", "ref", "css=#add")
	owner.mustCall("web_verifyTextVisible", "text", "Eggs")
	taken := openTestApp(t, app, nil)
	if _, err := taken.call("web_currentUrl"); fault.KindOf(err) != fault.Device || !strings.Contains(err.Error(), "another program uses it") {
		t.Errorf("a port that is taken: %v", err)
	}
}

func TestClientsOfAnAppHaveScriptsOfTheirOwn(t *testing.T) {
	t.Parallel()
	app := appAt(t, buildElectron(t), appServer(t)+"/notes")
	app.Port = freePort(t)
	owner := openTestApp(t, app, nil)
	guest := openTestApp(t, device.App{URL: "http://127.0.0.1:" + strconv.Itoa(app.Port)}, nil)
	eachFrame := func(u *testSession, script string, want any) {
		t.Helper()
		u.mustCall("web_verifyTextVisible", "text", "From elsewhere")
		for _, f := range u.page().frames() {
			var got any
			if err := f.evaluate(t.Context(), script, &got); err != nil || got != want {
				t.Errorf("%s: %s is %v, not %v; %v", f.url, script, got, want, err)
			}
		}
	}
	eachFrame(owner, "globalThis.owned = true", true)
	eachFrame(guest, "globalThis.owned === undefined && delete globalThis.trailblaze", true)
	guest.mustCall("web_verifyTextVisible", "text", "From elsewhere")
}

func TestPlaywrightSeesTheSameApp(t *testing.T) {
	t.Parallel()
	app := appAt(t, spawntest.App(t), appServer(t)+"/notes")
	app.Port = freePort(t)
	u := openTestApp(t, app, nil)
	u.mustCall("web_verifyTextVisible", "text", "From elsewhere")
	u.mustCall("web_click", "ref", "css=#about")
	u.mustCall("web_waitForTab", "title", "About")
	var snapshots map[string]string
	if err := json.Unmarshal(runPlaywright(t.Context(), t, "app.mjs", "http://127.0.0.1:"+strconv.Itoa(app.Port)), &snapshots); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"About", "Notes"} {
		u.mustCall("web_switchTab", "title", title)
		u.mustCall("web_verifyAriaSnapshot", "snapshot", snapshots[title])
	}
}

func TestAppThatCannotBeDriven(t *testing.T) {
	t.Parallel()
	shell := func(script string) device.App {
		return device.App{Command: "sh", Args: []string{"-c", script}, Timeout: testLimit}
	}
	silent := shell("echo no window >&2; sleep 1000")
	silent.Timeout = 2 * time.Second
	silentAtPort := silent
	silentAtPort.Port = freePort(t)
	windowless := appAt(t, buildElectron(t), "about:blank")
	windowless.Args[0], windowless.Timeout = "--no-startup-window", 2*time.Second
	for name, tc := range map[string]struct {
		app  device.App
		want []string
	}{
		"none":         {device.App{}, []string{"the target names none"}},
		"not found":    {device.App{Command: "no-such-app"}, []string{`the command "no-such-app" of the Electron app was not found`}},
		"silent":       {silent, []string{"the app sh did not say on stderr within 2s where its DevTools listen", "no window"}},
		"silent, port": {silentAtPort, []string{"the app sh did not say on stderr within 2s where its DevTools listen", "no window"}},
		"ends":         {shell("echo broken >&2; exit 3"), []string{"the app sh ended during its start: it exited with code 3", "broken"}},
		"nothing at the URL": {
			device.App{URL: "http://127.0.0.1:" + strconv.Itoa(freePort(t))}, []string{"cannot connect to an Electron app at"},
		},
		"without a window": {windowless, []string{"did not open a window within 2s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openTestApp(t, tc.app, nil)
			_, err := u.call("web_currentUrl")
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %v, which does not contain %q", err, part)
				}
			}
		})
	}
}

// heldApp is an app that waits for a file before it starts, and makes one before that.
func heldApp(app device.App, started, goOn string) device.App {
	script := `echo >"$1"; until [ -e "$2" ]; do sleep 0.01; done; shift 2; exec "$@"`
	app.Args = append([]string{"-c", script, "sh", started, goOn, app.Command}, app.Args...)
	app.Command = "sh"
	return app
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestSessionsAtOnePortDoNotShareAnApp(t *testing.T) {
	t.Parallel()
	dir, port, server := t.TempDir(), freePort(t), appServer(t)
	goOn := filepath.Join(dir, "go")
	errs := make(chan error, 2)
	for _, name := range []string{"a", "b"} {
		app := heldApp(appAt(t, buildElectron(t), server+"/notes"), filepath.Join(dir, name), goOn)
		app.Port = port
		u := openTestApp(t, app, nil)
		go func() {
			_, err := u.call("web_currentUrl")
			errs <- err
		}()
	}
	waitFor(t, "both apps", func() bool { return exists(filepath.Join(dir, "a")) && exists(filepath.Join(dir, "b")) })
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one, other := <-errs, <-errs
	if (one == nil) == (other == nil) {
		t.Errorf("not one of two sessions drives an app: %v, %v", one, other)
	}
}

// showIn makes the window of an app that is blank show a page, as the app does.
func showIn(t *testing.T, port int, address string) {
	t.Helper()
	response, err := http.Get("http://127.0.0.1:" + strconv.Itoa(port) + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	type target struct{ Type, URL, WebSocketDebuggerURL string }
	var targets []target
	if err := json.NewDecoder(response.Body).Decode(&targets); err != nil {
		t.Fatal(err)
	}
	window := slices.IndexFunc(targets, func(a target) bool { return a.Type == "page" })
	if window < 0 {
		t.Fatalf("none is a window: %v", targets)
	}
	transport, err := cdp.Dial(t.Context(), targets[window].WebSocketDebuggerURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn := cdp.NewConn(transport)
	defer conn.Close()
	if err := conn.Browser().Call(t.Context(), "Page.navigate", map[string]any{"url": address}, nil); err != nil {
		t.Error(err)
	}
}

func TestSessionWaitsForFirstDocumentOfApp(t *testing.T) {
	t.Parallel()
	server := appServer(t)
	silent := serve(t, map[string]http.HandlerFunc{"/notes": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	app := appAt(t, spawntest.App(t), silent+"/notes")
	app.Args, app.Port = append(app.Args, "--window-size=600,500"), freePort(t)
	u := openSessionIn(t, newTestBackend(t, nil), device.Session{Driver: electronDriver, App: app, RestrictOrigins: true})
	before, _ := u.device.Size()
	u.device.Prepare()
	waitFor(t, "the window", func() bool {
		width, _ := u.device.Size()
		return width != before
	})
	impatient := openTestApp(t, device.App{URL: "http://127.0.0.1:" + strconv.Itoa(app.Port), Timeout: 2 * time.Second}, nil)
	if got := impatient.mustCall("web_currentUrl"); strings.Contains(got, "/notes") {
		t.Errorf("a window that stays blank shows %s", got)
	}
	if err := impatient.device.Close(t.Context()); err != nil {
		t.Error(err)
	}
	showIn(t, app.Port, server+"/notes")
	if got := u.mustCall("web_currentUrl"); !strings.Contains(got, server+"/notes") {
		t.Errorf("the first call is for the page %s", got)
	}
	u.mustCall("web_navigate", "url", server+"/about")
	u.mustFail("web_navigate", []any{"url", "http://notes.example"}, "its origin is not allowed, only "+server)
}

func TestAgentReadsOnlyFilesOfProjectAndApp(t *testing.T) {
	t.Parallel()
	own, project, other := t.TempDir(), t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		own + "/index.html": "<h1>Notes</h1>", own + "/about.html": "<p>About Notes", other + "/secret.html": "<p>A secret",
		project + "/page.html": "<h1>Page</h1><iframe src='file://" + other + "/secret.html'></iframe><iframe src='file://" + own + "/about.html'></iframe>",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app := appAt(t, buildElectron(t), "file://"+own+"/index.html")
	for _, isAgent := range []bool{true, false} {
		app.Args[1] = "--user-data-dir=" + t.TempDir()
		u := openSessionIn(t, newTestBackend(t, nil), device.Session{Driver: electronDriver, App: app, RestrictOrigins: isAgent, Root: project})
		u.mustCall("web_verifyTextVisible", "text", "Notes")
		u.mustCall("web_navigate", "url", "file://"+project+"/page.html")
		u.mustCall("web_verifyTextVisible", "text", "About Notes")
		if !isAgent {
			u.mustCall("web_verifyTextVisible", "text", "A secret")
			continue
		}
		u.mustFail("web_verifyTextVisible", []any{"text", "A secret"})
		u.mustCall("web_navigate", "url", "file://"+own+"/index.html")
	}
}

func TestVariablesOfElectronAreForItsDriver(t *testing.T) {
	t.Parallel()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	b, err := Kind().New(device.Host{Env: append(os.Environ(), "TRAILBLAZE_ELECTRON_HEADLESS=yes"), Programs: local.Programs(supervisor)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(b.Close(t.Context()), supervisor.Close()) }()
	u := openSessionIn(t, b, device.Session{Driver: electronDriver, App: device.App{Command: "sh"}})
	if _, err := u.call("web_currentUrl"); fault.KindOf(err) != fault.Misuse || !strings.Contains(err.Error(), "TRAILBLAZE_ELECTRON_HEADLESS") {
		t.Errorf("the error is %v", err)
	}
}

func TestAppThatExitsWhileItIsDialled(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled := filepath.Join(t.TempDir(), "dialled")
	script := `echo "DevTools listening on ws://$1/x" >&2; until [ -e "$2" ]; do sleep 0.01; done; exit 3`
	u := openTestApp(t, device.App{Command: "sh", Args: []string{"-c", script, "sh", l.Addr().String(), dialled}, Timeout: testLimit}, nil)
	go func() {
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			_ = os.WriteFile(dialled, nil, 0o600)
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	if _, err := u.call("web_currentUrl"); fault.KindOf(err) != fault.Crashed || !strings.Contains(err.Error(), "exited with code 3") {
		t.Errorf("the error is %v", err)
	}
}

func TestAppThatEndsBreaksTheSession(t *testing.T) {
	t.Parallel()
	u := openTestApp(t, appAt(t, buildElectron(t), appServer(t)+"/notes"), nil)
	u.mustCall("web_currentUrl")
	pid := u.page().browser.LostError().Details["pid"].(int)
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-u.broken; fault.KindOf(err) != fault.Crashed {
		t.Errorf("the session was told %v", err)
	}
}
