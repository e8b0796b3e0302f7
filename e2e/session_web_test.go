//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// pageProject is a project with one page and no servers, and a session that shows the page.
func pageProject(t *testing.T) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\n",
		"index.html": `<title>Page</title><main><h1>Hello</h1><button onclick="this.nextSibling.textContent='pressed'">Press</button><p></p>
<label>Name <input></label></main><p role=status></p><script>console.log("ready")
const toast = () => { const status = document.querySelector("[role=status]"); console.warn("exporting"); status.append("42 rows");
	setTimeout(() => status.replaceChildren(), 150) }</script><a href="javascript:toast()">Export</a>`,
	})
	p.endSessions(t)
	p.start(t, "--secret", "PASSWORD=swordfish")
	p.env = append(p.env, "TRAILBLAZE_SESSION=s1")
	p.run("tool", "web_navigate", "url="+filepath.Join(p.dir, "index.html"), "--step", "Open").want(t, 0, `the page is now "file://`)
	return p
}

func TestScreenOfSession(t *testing.T) {
	t.Parallel()
	p := pageProject(t)
	r := p.run("snapshot", "--json")
	hasKeys(t, "snapshot", r.object(t), "url title snapshot more events messages")
	ref := regexp.MustCompile(`button "Press" \[ref=(e\d+)\]`).FindStringSubmatch(p.run("snapshot").stdout)[1]
	r = p.run("tool", "web_click", "ref="+ref, "--step", "Press", "--json")
	r.want(t, 0, `"pressed"`)
	p.run("snapshot", "--within", ref).want(t, 0, "button")
	if out := p.run("snapshot", "--find", "HELLO").stdout; !strings.Contains(out, "Hello") || strings.Contains(out, "Press") {
		t.Errorf("found:\n%s", out)
	}
	p.run("snapshot", "--max-bytes", "40").want(t, 0, "more elements; narrow with --find TEXT")
	p.run("snapshot", "--within", "e999").wantErr(t, 2, "e999 was never shown in this session")

	p.run("snapshot", "--screenshot", "shot.png").wantErr(t, 0, "wrote shot.png")
	if png := p.read(t, "shot.png"); !strings.HasPrefix(png, "\x89PNG") {
		t.Errorf("%.10q is not a PNG", png)
	}
	p.run("tool", "web_type", `nodeSelector={"web":{"ariaRole":"textbox"}}`, "text={{PASSWORD}}", "--step", "Sign in").want(t, 0)
	secret := p.run("snapshot", "--screenshot", "secret.png")
	secret.wantErr(t, 1, "no screenshot was written: ")
	if _, err := os.Stat(p.path("secret.png")); err == nil || strings.Contains(secret.stdout, "swordfish") {
		t.Errorf("the secret is shown: %v\n%s", err, secret.stdout)
	}
	toast := p.run("tool", "web_click", `ref=link "Export"`)
	toast.want(t, 0, `message: shown for 0.`, `since the last call: status "42 rows"`)
	toast.wantErr(t, 0, "to check a message that vanishes")
	p.run("snapshot", "--console").want(t, 0, "log: ready\n--- since the last action:\nwarning: exporting\n")
	r = p.run("snapshot", "--requests", "--json")
	r.want(t, 0, `index.html 200 document`)
	requests, _ := r.object(t)["requests"].(map[string]any)
	hasKeys(t, "requests", requests, "earlier sinceLastAction more")
	p.run("snapshot", "--requests", "--console").wantErr(t, 3, "cannot be used together")
	p.run("snapshot", "--session", "", "--console").wantErr(t, 3, "can be used only in a session")
	p.run("session", "save", "trails/page.trail.yaml").want(t, 0, "saved trails/page.trail.yaml")
	if saved := p.read(t, "trails/page.trail.yaml"); strings.Contains(saved, "swordfish") || !strings.Contains(saved, "{{PASSWORD}}") || strings.Contains(saved, "ref:") {
		t.Errorf("saved:\n%s", saved)
	}
	p.run("run", "--secret", "PASSWORD=swordfish").want(t, 0, "1 passed")
}

// TestTraceOfSession checks that a session keeps the film of its calls as a run does, without secrets, and that the
// project can turn that off.
func TestTraceOfSession(t *testing.T) {
	t.Parallel()
	p := pageProject(t)
	p.run("tool", "web_click", `ref=button "Press"`, "--step", "Press").want(t, 0)
	p.run("tool", "web_verifyTextVisible", "text=never", "timeoutMs=10").want(t, 1)
	p.run("tool", "web_type", `nodeSelector={"web":{"ariaRole":"textbox"}}`, "text={{PASSWORD}}", "--step", "Sign in").want(t, 0)
	p.run("session", "end").want(t, 0)
	trace, files := p.trace("session-s1")
	if len(trace.Calls) != 4 || pictures(files) < 1 {
		t.Fatalf("files %q, trace %+v", files, trace)
	}
	// A call that passed does not wait for a browser that is too busy to draw.
	const notDrawn = "the browser had not drawn the page"
	log := p.read(t, filepath.Join("logs", filepath.Base(p.sessionFolder(t)), "events.ndjson"))
	for i, c := range trace.Calls {
		if !strings.Contains(log, `"type":"call.started"`) || !strings.Contains(log, `"call":"`+c.Call+`"`) {
			t.Errorf("call %q is not in the log", c.Call)
		}
		switch failed, secret := i == 2, i == 3; {
		case failed && c.Tree == "":
			t.Errorf("the call that failed has no elements: %+v", c)
		case secret && (c.After != "" || c.NoPicture != "a secret was given to this page"):
			t.Errorf("the page was given a secret: %+v", c)
		case failed && c.After == "", !secret && c.After == "" && c.NoPicture != notDrawn:
			t.Errorf("no picture: %+v", c)
		}
	}
	if !strings.Contains(log, `"file":"trace/trace.json"`) || strings.Contains(log+fmt.Sprint(trace), "swordfish") {
		t.Errorf("log:\n%s\ntrace: %+v", log, trace)
	}

	p.write("trailblaze.yaml", "target: app\nplatform: web\nrun: { trace: \"off\" }\n")
	_ = os.RemoveAll(p.path("logs"))
	p.start(t)
	p.run("tool", "web_navigate", "url="+filepath.Join(p.dir, "index.html")).want(t, 0)
	p.run("session", "end").want(t, 0)
	if _, files := p.trace("session-s1"); files != nil {
		t.Errorf("run.trace is off: %q", files)
	}
	p.start(t) // for the end of the test
}

// sessionFolder returns the folder of the only session in the logs.
func (p *project) sessionFolder(t *testing.T) string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(p.dir, "logs", "session-s1_*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("%q %v", folders, err)
	}
	return folders[0]
}

// browsers returns the processes of the browser of a project, main processes first.
func (p *project) browsers() []int {
	var main, others []int
	for _, survivor := range spawntest.Survivors(p.marker) {
		var pid int
		if n, _ := fmt.Sscan(survivor, &pid); n != 1 || !strings.Contains(survivor, "--user-data-dir") {
			continue
		}
		if strings.Contains(survivor, "--type=") {
			others = append(others, pid)
		} else {
			main = append(main, pid)
		}
	}
	return append(main, others...)
}

func TestSessionOfKilledBrowser(t *testing.T) {
	t.Parallel()
	p := pageProject(t)
	pids := p.browsers()
	if len(pids) == 0 {
		t.Fatalf("no browser in %q", spawntest.Survivors(p.marker))
	}
	_ = syscall.Kill(pids[0], syscall.SIGKILL)
	await(func() bool { return p.run("snapshot").code == 2 && p.run("session", "status").code == 2 })
	p.run("tool", "web_reload").wantErr(t, 2, "session s1 ended at ", "the browser", "recording.trail.yaml")
	spawntest.NoSurvivors(t, p.marker)
}

func TestBrowserOfKilledSession(t *testing.T) {
	t.Parallel()
	p := pageProject(t)
	_ = syscall.Kill(p.record(t, "s1").PID, syscall.SIGKILL)
	await(func() bool { return !p.locked(t, "s1") })
	p.run("session", "list").want(t, 0, "killed or crashed")
	spawntest.NoSurvivors(t, p.marker)
}
