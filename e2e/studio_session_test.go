//go:build unix

package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestSessionWithAStudio is about a session in which commands and people at a page write one recording.
func TestSessionWithAStudio(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	p.endSessions(t)
	port := freePort(t)
	p.run("session", "start", "--port", port).wantErr(t, 3, "--port is about the page of a studio", "add --studio")
	started := p.run("session", "start", "--studio", "--no-open", "--port", port)
	started.want(t, 0)
	p.run("session", "start", "--studio", "--port", port).wantErr(t, 2, "serve the page", "leave --port out to use a free one")
	name, url, _ := strings.Cut(strings.TrimSpace(started.stdout), "\n")
	if name != "s1" || !strings.HasPrefix(url, "http://127.0.0.1:"+port+"/") {
		t.Fatalf("stdout %q", started.stdout)
	}
	p.env = append(p.env, "TRAILBLAZE_SESSION=s1")
	status := func(steps, calls int, unsaved bool) {
		t.Helper()
		v := p.run("session", "status", "--json").object(t)
		want := fmt.Sprint(float64(steps), float64(calls), unsaved, url)
		if got := fmt.Sprint(v["steps"], v["calls"], v["unsaved"], v["studio"]); got != want {
			t.Errorf("steps, calls, unsaved, studio: %s, want %s", got, want)
		}
	}
	status(0, 0, false)
	p.run("tool", "web_navigate", "url="+pageSite(t, taskShop(t)), "--step", "Sign in").wantErr(t, 0, "recorded as part of step 1")
	s := &studio{T: t, project: p, url: url}
	s.person("together")
	status(1, 4, true)

	ref := strings.SplitN(p.run("snapshot", "--find", "Add tea").stdout, "[ref=", 2)
	if len(ref) != 2 {
		t.Fatal("the person did not sign in")
	}
	p.run("tool", "web_click", "ref="+strings.SplitN(ref[1], "]", 2)[0], "--step", "Buy tea").wantErr(t, 0, "recorded as part of step 2")
	p.run("tool", "web_verifyTextVisible", "text=Total 3.50", "--verify", "It costs 3.50").want(t, 0)
	p.run("session", "recording").want(t, 0, "url: \"http://127.0.0.1:", "text: ada@example.com", "ariaNameRegex: Add tea", "verify: It costs 3.50")
	p.run("session", "recording", "--drop", "1").wantErr(t, 3, "the recording of this session is edited in the studio")
	p.run("session", "save", "trails/together.trail.yaml", "--title", "Buy tea").want(t, 0, "the replay passed", "saved trails/together.trail.yaml")
	status(3, 6, false)
	if state := s.state(); !strings.Contains(state, `"file":"trails/together.trail.yaml"`) || !strings.Contains(state, `"unsaved":false`) {
		t.Errorf("the page is told %s", state)
	}
	p.run("session", "replay", "trails/together.trail.yaml").wantErr(t, 3, "a session with a studio replays what its page shows")

	p.run("session", "end").want(t, 0)
	if answer, err := http.Get(url); err == nil {
		t.Error("the studio did not end with the session")
		_ = answer.Body.Close()
	}
	p.run("run", "trails/together.trail.yaml").want(t, 0, "1 passed")
}
