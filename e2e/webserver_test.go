//go:build unix

package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/ports"
)

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := ports.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// webServer returns the entry of a server on a port, whose command has a child of its own.
func webServer(port, more string) string {
	const script = `require('http').createServer((q, r) => { console.log('served'); r.end(process.env.WHO) }).listen(process.env.PORT)`
	return fmt.Sprintf("webServer:\n  command: node -e \"%s\" & wait\n  url: http://127.0.0.1:%s\n  env: { PORT: %[2]s, WHO: me }\n%[3]s", script, port, more)
}

func TestWebServerRunsDuringTheRun(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject + webServer(port, ""), "trails/a.trail.yaml": webTrail("echo: {}")})
	p.run("run").wantOutput(t, 0, "note: webServer: starting: node -e", "1 passed")
	if log, err := os.ReadFile(filepath.Join(p.dir, "logs", "web-server.log")); err != nil || !strings.Contains(string(log), "served") {
		t.Errorf("the log is %q, %v", log, err)
	}
	spawntest.NoSurvivors(t, p.marker)
	p.run("run", "--dry-run").want(t, 0)
	if r := p.run("run", "--list"); strings.Contains(r.stdout+r.stderr, "starting") {
		t.Errorf("a list started a server:\n%s", r.stderr)
	}
}

// TestStudioStartsTheWebServer replays in a fresh session, which uses the server that the first one started.
func TestStudioStartsTheWebServer(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	base := "baseUrl: http://127.0.0.1:" + port + "\n"
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig + base + webServer(port, "")})
	s := p.studio(t, "--no-open")
	socket := s.connect()
	for _, request := range []string{
		`{"id":1,"do":"assert","call":{"tool":"web_verifyTextVisible","args":{"text":"me"}}}`, `{"id":2,"do":"replay","mode":"all"}`,
	} {
		var made struct {
			OK   bool
			Text string
		}
		if _, document := ask(t, socket, request, &made); strings.Contains(request, "assert") && !made.OK {
			t.Errorf("%s %v; stderr:\n%s", made.Text, document, &s.stderr)
		}
	}
	if code, _ := s.end(syscall.SIGINT); code != 130 || strings.Count(s.stderr.String(), "starting webServer: node -e") != 1 {
		t.Errorf("exit code %d, stderr:\n%s", code, &s.stderr)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// TestStudioUsesTheWebServerThatIsRunning does so without reuseExisting, since a person may have started it, and says when
// one cannot start.
func TestStudioUsesTheWebServerThatIsRunning(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "mine") }))
	defer site.Close()
	at, _ := url.Parse(site.URL)
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig + "baseUrl: " + site.URL + "\n" + webServer(at.Port(), "")})
	s := p.studio(t, "--no-open")
	ask(t, s.connect(), `{"id":1,"do":"assert","call":{"tool":"web_verifyTextVisible","args":{"text":"mine"}}}`, nil)
	s.end(syscall.SIGINT)

	p.write("trailblaze.yaml", webConfig+"webServer: { command: echo broken >&2; exit 3, url: \"http://127.0.0.1:"+freePort(t)+"\" }\n")
	s = p.studio(t, "--no-open")
	socket := s.connect()
	for said := ""; !strings.Contains(said, "webServer: the command exited before"); {
		_, data, err := socket.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said = string(data)
	}
}

func TestWebServerThatIsRunning(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject + webServer(port, ""), "trails/a.trail.yaml": webTrail("echo: {}")})
	r := p.run("run", "--junit", "junit.xml")
	r.wantErr(t, 2, fmt.Sprintf("webServer: something is running at http://127.0.0.1:%s already", port), "reuseExisting: true")
	if junit, _ := os.ReadFile(filepath.Join(p.dir, "junit.xml")); !strings.Contains(string(junit), "something is running") {
		t.Errorf("JUnit:\n%s", junit)
	}
	p.env = append(p.env, "GITHUB_ACTIONS=true")
	p.run("run", "--json").want(t, 2, `{"error":{"kind":"server"`)
	p.run("run").wantErr(t, 2, "::error title=trailblaze run::the run did not start: webServer: something is running")
	p.write("trailblaze.yaml", "platfrm: web\n")
	p.run("run").wantErr(t, 3, "::error file=trailblaze.yaml,line=1,title=trailblaze run::the run did not start: ")
	p.env = append(p.env, "GITHUB_ACTIONS=")
	reuse := "  reuseExisting: true\n  timeout: 300ms\n"
	p.write("trailblaze.yaml", okProject+webServer(port, reuse))
	p.run("run").wantErr(t, 2, "did not respond within 300ms: it responds with 404 Not Found")
	server.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	p.run("run").wantErr(t, 0, "note: webServer: uses what is running")
}

func TestWebServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for command, tc := range map[string]struct {
		timeout string
		want    []string
	}{
		"echo broken >&2; exit 3": {"60s", []string{"webServer: the command exited before http://127.0.0.1", "exited with code 3", "broken", "web-server.log"}},
		"sleep 60":                {"200ms", []string{"did not respond within 200ms", "connection refused"}},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml":     okProject + fmt.Sprintf("webServer: [{ command: %q, url: \"http://127.0.0.1:%s\", timeout: %s }]\n", command, freePort(t), tc.timeout),
				"trails/a.trail.yaml": webTrail("echo: {}"),
			})
			p.run("run").wantErr(t, 2, tc.want...)
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestWatchKeepsWebServers(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	config := okProject + fmt.Sprintf(`webServer:
  command: |
    echo served; node -e "require('http').createServer((q, r) => r.end()).listen(%s)" & while [ ! -e stop ]; do sleep 0.02; done
    rm stop; exit 3
  url: http://127.0.0.1:%[1]s
`, port)
	p := newProject(t, map[string]string{"trailblaze.yaml": config, "trails/a.trail.yaml": webTrail("echo: {}")})
	w := p.watch()
	w.has(w.until(idle), "webServer: starting", "1 passed")
	p.write("trails/a.trail.yaml", webTrail("echo: { text: again }"))
	w.has(w.until(idle), "1 passed", "!starting")
	p.write("stop", "")
	w.until("warning: webServer: it ended during the run: exited with code 3\n  hint: its output is in ")
	p.write("trails/a.trail.yaml", webTrail("echo: { text: third }"))
	w.has(w.until(idle), "webServer: starting", "1 passed")
	if log, err := os.ReadFile(filepath.Join(p.dir, "logs", "web-server.log")); string(log) != "[stdout] served\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
	p.write("trailblaze.yaml", config+"  env: { A: b }\n")
	w.has(w.until(idle), "webServer: starting", "1 passed", "!ended")
	w.end(os.Interrupt, 0)
	spawntest.NoSurvivors(t, p.marker)
}

func TestChangeWhileWebServerStartsRunsEverything(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject + fmt.Sprintf("webServer:\n  command: while [ ! -e ready ]; do sleep 0.02; done; "+
			"exec node -e \"require('http').createServer((q, r) => r.end()).listen(%s)\"\n  url: http://127.0.0.1:%[1]s\n", port),
		"trails/a.trail.yaml": webTrail("echo: {}"), "trails/b.trail.yaml": webTrail("echo: {}"),
	})
	w := p.watch()
	w.until("webServer: starting")
	p.write("trails/a.trail.yaml", webTrail("echo: { text: changed }"))
	w.until("restarting the run")
	p.write("ready", "")
	w.has(w.until(idle), "2 passed", "!error:")
	w.end(os.Interrupt, 0)
	spawntest.NoSurvivors(t, p.marker)
}

func TestSessionNamesWebServer(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject + webServer(port, "")})
	p.endSessions(t)
	p.run("session", "start").wantErr(t, 0,
		fmt.Sprintf("nothing is running at http://127.0.0.1:%s, and a session does not start webServer; start it yourself: node -e", port))
}

func TestWebServerThatEndsDuringTheRun(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject + fmt.Sprintf("webServer:\n  command: node -e \"require('http').createServer((q, r) => r.end()).listen(%s)\" & "+
			"while ! grep -qs step.started logs/latest/events.ndjson; do sleep 0.02; done; exit 3\n  url: http://127.0.0.1:%[1]s\n", port),
		"trails/a.trail.yaml": webTrail("sleep: { ms: 60000 }"),
	})
	w := p.watch()
	w.until("warning: webServer: it ended during the run: exited with code 3\n")
	w.end(os.Interrupt, 130)
	spawntest.NoSurvivors(t, p.marker)
}

func TestKilledRunLeavesNoWebServer(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject + webServer(port, ""), "trails/a.trail.yaml": webTrail("sleep: { ms: 60000 }")})
	c := p.command("run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(func() bool {
		events, _ := os.ReadFile(filepath.Join(p.dir, "logs", "latest", "events.ndjson"))
		return strings.Contains(string(events), `"step.started"`)
	})
	_ = c.Process.Kill()
	_ = c.Wait()
	p.write("trails/a.trail.yaml", webTrail("echo: {}"))
	p.run("run").wantErr(t, 0, "killed a process that an earlier run left running: webServer")
	spawntest.NoSurvivors(t, p.marker)
}

// A server is started only for trails of its targets. With --watch, those that run stay.
func TestWebServersOfTargets(t *testing.T) {
	t.Parallel()
	server := func(name, targets string) string {
		port := freePort(t)
		return fmt.Sprintf("  - command: node -e \"require('http').createServer((q, r) => r.end()).listen(%s)\" %s\n    url: http://127.0.0.1:%[1]s\n%[3]s",
			port, name, targets)
	}
	trail := func(target string) string { return "config: { target: " + target + " }\n" + webTrail("echo: {}") }
	config := okProject + "webServer:\n" + server("everybody", "") + server("shops", "    targets: [shop, outlet]\n") + server("admins", "    targets: [admin]\n")
	p := newProject(t, map[string]string{
		"trailblaze.yaml": config, "trails/shop.trail.yaml": trail("shop"), "trails/admin.trail.yaml": trail("admin"), "trails/app.trail.yaml": trail("app"),
		"trailblaze-config/targets/shop.yaml": "id: shop\nplatforms: { web: }\n", "trailblaze-config/targets/admin.yaml": "id: admin\nplatforms: { web: }\n",
		"trailblaze-config/targets/app.yaml": "id: app\nplatforms: { web: }\n",
	})
	for args, want := range map[string]string{
		"trails/shop.trail.yaml": "everybody shops", "trails/admin.trail.yaml": "everybody admins", "trails/app.trail.yaml": "everybody",
		"trails --target shop": "everybody shops", "trails": "everybody shops admins",
	} {
		r := p.run(append([]string{"run"}, strings.Fields(args)...)...)
		var started []string
		for _, name := range []string{"everybody", "shops", "admins"} {
			if strings.Contains(r.stderr, name) {
				started = append(started, name)
			}
		}
		if got := strings.Join(started, " "); r.code != 0 || got != want {
			t.Errorf("%s: started %s, want %s, exit code %d\n%s", args, got, want, r.code, r.stdout+r.stderr)
		}
	}
	spawntest.NoSurvivors(t, p.marker)
	p.write("trailblaze.yaml", strings.Replace(config, "[shop, outlet]", "[shopp]", 1))
	p.run("check").wantErr(t, 0, `target "shopp" has no file`)
	w := p.watch("trails/admin.trail.yaml", "trails/app.trail.yaml")
	w.has(w.until(idle), "admins", "!shops")
	p.write("trails/app.trail.yaml", trail("app")+"\n")
	w.has(w.until(idle), "1 passed", "!starting")
	w.end(os.Interrupt, 0)
	spawntest.NoSurvivors(t, p.marker)
}
