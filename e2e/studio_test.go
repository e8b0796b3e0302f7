//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// studio is `trailblaze studio` in a process of its own.
type studio struct {
	*testing.T
	project *project
	cmd     *exec.Cmd
	url     string
	out     *bufio.Reader
	stderr  bytes.Buffer
	ended   bool
}

// studio starts the studio. When the test ends, so does it, and nothing may be left of it.
func (p *project) studio(t *testing.T, args ...string) *studio {
	t.Helper()
	s := &studio{T: t, project: p, cmd: p.command(append([]string{"studio"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end(syscall.SIGINT)
		spawntest.NoSurvivors(t, p.marker)
	})
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	if s.url = strings.TrimSpace(line); err != nil {
		s.end(syscall.SIGINT)
		t.Fatalf("no URL: %v; stderr:\n%s", err, &s.stderr)
	}
	return s
}

// end sends a signal and returns the exit code, and what followed the URL on stdout.
func (s *studio) end(signal syscall.Signal) (code int, rest string) {
	if !s.ended {
		s.ended = true
		_ = s.cmd.Process.Signal(signal)
		all, _ := io.ReadAll(s.out)
		rest = string(all)
		_ = s.cmd.Wait()
	}
	return s.cmd.ProcessState.ExitCode(), rest
}

// open opens the page as a browser does, and returns where it is.
func (s *studio) open() (c *http.Client, page string) {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	c = &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := c.Get(s.url)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("trailblaze studio")) {
		s.Errorf("%s: %s", answer.Status, body)
	}
	return c, answer.Request.URL.String()
}

func TestStudioServesItsPageUntilASignal(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
			s := p.studio(t, "--no-open")
			at, err := url.Parse(s.url)
			if err != nil || at.Hostname() != "127.0.0.1" || len(at.Query().Get("token")) < 64 {
				t.Fatalf("URL %s, %v", s.url, err)
			}
			c, page := s.open()
			if strings.Contains(page, "token") {
				t.Errorf("the page is at %s", page)
			}
			for _, name := range []string{"app.js", "app.css"} {
				answer, err := c.Get(page + name)
				if err != nil {
					t.Fatal(err)
				}
				if answer.Body.Close(); answer.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", name, answer.Status)
				}
			}
			if got, rest := s.end(signal); got != code || rest != "" {
				t.Errorf("exit code %d, want %d; stdout has %q behind the URL", got, code, rest)
			}
			if conn, err := net.Dial("tcp", at.Host); err == nil {
				t.Error("the port is still open")
				_ = conn.Close()
			}
		})
	}
}

// TestStudioIsAboutItsArgument looks at what the page is told: the trail to change, or the session to look back at.
func TestStudioIsAboutItsArgument(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": webConfig,
		"trails/a.trail.yaml": "- config:\n    platform: web\n- prompts:\n    - step: Read the word\n      recording:\n        tools:\n" +
			"          - web_navigate: { url: \"about:blank\" }\n",
	})
	p.run("run").want(t, 0, "1 passed")
	folders, err := filepath.Glob(filepath.Join(p.dir, "logs", "a_*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("sessions %q, %v", folders, err)
	}
	session := filepath.Base(folders[0])
	for arg, want := range map[string]string{
		"trails/a.trail.yaml": `"file":"trails/a.trail.yaml"`, session: session, "latest": session,
		filepath.Join("logs", session): session,
	} {
		s := p.studio(t, arg, "--no-open")
		if state := s.state(); !strings.Contains(state, want) {
			t.Errorf("%s: %s is missing in %s", arg, want, state)
		}
		s.end(syscall.SIGINT)
	}
}

// state returns the first state that a page gets.
func (s *studio) state() string {
	s.Helper()
	c, page := s.open()
	at, err := url.Parse(page)
	if err != nil {
		s.Fatal(err)
	}
	cookies := c.Jar.Cookies(at)
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://"+at.Host+at.Path+"socket", &websocket.DialOptions{
		HTTPHeader: http.Header{"Origin": {"http://" + at.Host}, "Cookie": {cookies[0].String()}},
	})
	if err != nil {
		s.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			s.Fatal(err)
		}
		if bytes.HasPrefix(data, []byte(`{"on":"state"`)) {
			return string(data)
		}
	}
}

// TestStudioOpensTheBrowser opens a page whose token is on no command line, since other users see those.
func TestStudioOpensTheBrowser(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	p.write("bin/xdg-open", "#!/bin/sh\nls -ld \"$1\" >> opened\ncat \"$1\" >> opened\nps -ww -o args= $PPID >> opened\necho \"$@\" > args\nexec sleep 3600\n")
	if err := os.Chmod(filepath.Join(p.dir, "bin", "xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("xdg-open", filepath.Join(p.dir, "bin", "open")); err != nil { // on macOS
		t.Fatal(err)
	}
	p.env = append(p.env, "DISPLAY=:99", "PATH="+filepath.Join(p.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := p.studio(t)
	token := strings.SplitN(s.url, "token=", 2)[1]
	t.Cleanup(func() { // before the check that nothing is left
		var browser int
		survivors := strings.Join(spawntest.Survivors(p.marker), "\n")
		if _, err := fmt.Sscanf(survivors, "%d sleep 3600", &browser); err != nil || strings.Contains(survivors, "\n") {
			t.Errorf("the user's browser is not all that goes on: %q", survivors)
		}
		_ = syscall.Kill(browser, syscall.SIGKILL)
	})
	await(func() bool {
		args, _ := os.ReadFile(filepath.Join(p.dir, "args"))
		return bytes.HasSuffix(args, []byte(".html\n"))
	})
	opened, file := p.read(t, "opened"), strings.TrimSpace(p.read(t, "args"))
	if !strings.HasPrefix(opened, "-rw------- ") || !strings.Contains(opened, "url="+s.url+`"`) || strings.Count(opened, token) != 1 || strings.Contains(file, token) {
		t.Errorf("opened %s:\n%s", file, opened)
	}
	seen := openInChromium(t, file)
	if at, _ := url.Parse(s.url); !strings.HasPrefix(seen.URL, "http://"+at.Host+"/") || strings.Contains(seen.URL, token) || len(seen.Complaints) > 0 {
		t.Errorf("in the browser: %+v", seen)
	}
	s.end(syscall.SIGINT)
	if _, err := os.Stat(file); err == nil {
		t.Errorf("%s is left", file)
	}
}

// openedPage is what a browser says of the page of a studio.
type openedPage struct {
	URL        string
	Complaints []string
}

// openInChromium opens a file that leads to the page of a studio.
func openInChromium(t *testing.T, file string) (seen openedPage) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "studio.mjs", spawntest.Chromium(t), file)
	node.Dir, node.WaitDelay = filepath.Join("..", "testdata", "web", "playwright"), 30*time.Second
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	if err == nil {
		err = json.Unmarshal(out, &seen)
	}
	if err != nil {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
	return seen
}

func TestStudioSaysWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig, "empty/x": ""})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for args, want := range map[string][2]string{
		"a b":                       {"studio takes one trail or session, got 2 arguments", "open another studio for each"},
		"trails/none.trail.yaml":    {"the trail trails/none.trail.yaml does not exist", "leave it out to record a new trail"},
		"none":                      {`"none" is neither a session in`, ""},
		"latest":                    {"contains no session", ""},
		"empty":                     {"empty is not the folder of a session: ", "give a trail, or the folder of a session"},
		"--port 70000":              {"--port: 70000 is not a port", "use a number up to 65535"},
		"--port " + port:            {"address already in use", "leave --port out to use a free one"},
		"--device none --no-open x": {`"x" is neither a session in`, ""},
	} {
		r := p.run(append([]string{"studio"}, strings.Fields(args)...)...)
		if r.code == 0 || r.stdout != "" || !strings.Contains(r.stderr, want[0]) || !strings.Contains(r.stderr, want[1]) {
			t.Errorf("%s: exit code %d, stdout %q, stderr:\n%s", args, r.code, r.stdout, r.stderr)
		}
	}
}

// TestInitNamesTheStudio names it only where a browser could show its page.
func TestInitNamesTheStudio(t *testing.T) {
	t.Parallel()
	const studio = "trailblaze run, or trailblaze studio to record a trail by clicking\n"
	p := newProject(t, nil)
	p.env = append(p.env, "DISPLAY=:99")
	p.run("init").want(t, 0, studio)
	if runtime.GOOS != "darwin" {
		p = newProject(t, nil)
		p.env = append(p.env, "DISPLAY=", "WAYLAND_DISPLAY=")
		if r := p.run("init"); r.code != 0 || !strings.HasSuffix(r.stdout, "\nnext: trailblaze run\n") {
			t.Errorf("exit code %d, stdout:\n%s", r.code, r.stdout)
		}
	}
}
