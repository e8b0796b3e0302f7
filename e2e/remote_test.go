//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// elsewhere is a server that trailblaze does not start.
type elsewhere struct {
	url, port string
	stop      func()
}

// runElsewhere starts http1.ts, and returns when it listens. It is stopped at the end of the test.
func runElsewhere(t *testing.T) elsewhere {
	t.Helper()
	bun, err := filepath.Abs(bunPath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bun); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := exec.CommandContext(ctx, bun, "run", "--no-install", "http1.ts")
	c.Dir = filepath.Join("..", "testdata", "servers")
	c.Env = append(os.Environ(), "PORT="+freePort(t)) // nothing else listens there when it is stopped
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := func() {
		cancel()
		_ = c.Wait()
	}
	t.Cleanup(stop)
	defer time.AfterFunc(20*time.Second, cancel).Stop() // ends the reading below
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if port, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			return elsewhere{"http://127.0.0.1:" + port + "/mcp", port, stop}
		}
	}
	t.Fatalf("http1.ts does not listen")
	return elsewhere{}
}

// token has what encodings change, within what a header takes everywhere.
const token = `s3cr"et/+&x=1`

// team is a project with a server behind a URL.
func team(t *testing.T, url string, calls ...string) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - name: team\n    url: " + url +
			"\n    headers: { Authorization: \"Bearer ${TEAM_TOKEN}\" }\n    callTimeout: 20s\n",
		"trails/a.trail.yaml": webTrail(calls...), "trails/b.trail.yaml": webTrail("echo: { text: fine }"),
	})
	p.env = append(p.env, "TEAM_TOKEN="+token)
	return p
}

func TestTrailUsesServerWithURL(t *testing.T) {
	t.Parallel()
	there := runElsewhere(t)
	p := team(t, there.url, "echo: { text: one }", "crawl: {}", "remember: {}", "echo: { text: \"{{code}}\" }")
	r := p.run("run", "--json")
	r.want(t, 0)
	if diff := cmp.Diff(map[string]string{"a": "passed", "b": "passed"}, outcomes(t, r)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if got := r.answered(t)["4"]; got != "4711<nil>" && got != "4711" {
		t.Errorf("the remembered code is %q", got)
	}
	p.run("toolbox", "list").want(t, 0, "echo", "crawl")
	p.run("tool", "echo", "text=by hand").want(t, 0, "by hand")
	spawntest.NoSurvivors(t, p.marker)
	if state, err := filepath.Glob(filepath.Join(p.dir, "logs", "*_*", "subprocess_stderr_*")); err != nil || len(state) != 0 {
		t.Errorf("logs of a process: %q, %v", state, err)
	}
}

func TestDoctorNamesURLAndConnectsWithDeep(t *testing.T) {
	t.Parallel()
	there := runElsewhere(t)
	p := team(t, there.url)
	if got := checked(t, p.run("doctor", "--json"))["server team"]; got != "ok: "+there.url {
		t.Errorf("doctor: %s", got)
	}
	if got := checked(t, p.run("doctor", "--deep", "--json"))["server team"]; got != "ok: "+there.url+": 9 tools" {
		t.Errorf("doctor --deep: %s", got)
	}
	there.stop()
	if got := checked(t, p.run("doctor", "--json"))["server team"]; got != "ok: "+there.url {
		t.Errorf("doctor without the server: %s", got)
	}
	if got := checked(t, p.run("doctor", "--deep", "--json"))["server team"]; !strings.Contains(got, "cannot be reached at 127.0.0.1:"+there.port+": connection refused") {
		t.Errorf("doctor --deep without the server: %s", got)
	}
}

// checked are the checks of a doctor, each as "status: detail".
func checked(t *testing.T, r result) map[string]string {
	t.Helper()
	checks, _ := r.object(t)["checks"].([]any)
	out := map[string]string{}
	for _, c := range checks {
		check, _ := c.(map[string]any)
		out[fmt.Sprint(check["name"])] = fmt.Sprint(check["status"], ": ", check["detail"])
	}
	return out
}

func TestFaultsOfServerWithURL(t *testing.T) {
	t.Parallel()
	there := runElsewhere(t)
	there.stop()
	for _, args := range [][]string{{"run", "--json"}, {"toolbox", "list"}, {"tool", "echo", "text=x"}} {
		team(t, there.url, "echo: { text: x }").run(args...).wantOutput(t, 2, `server "team": initialize: `+there.url+" cannot be reached at 127.0.0.1:"+there.port+": connection refused")
	}
}

func TestConnectionLostDuringCallIsError(t *testing.T) {
	t.Parallel()
	there := runElsewhere(t)
	p := team(t, there.url, "die: {}")
	p.write("trails/b.trail.yaml", webTrail("echo: { text: gone }"))
	r := p.run("run", "--json")
	r.want(t, 2, "the connection to "+there.url+" was lost", "the call may have executed", "cannot be reached at")
	if diff := cmp.Diff(map[string]string{"a": "error", "b": "error"}, outcomes(t, r)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestOnlyLocalServersWithURLGetCallbackServer(t *testing.T) {
	t.Parallel()
	there := runElsewhere(t)
	team(t, there.url, "relay: { tool: echo }").run("tool", "relay", "tool=echo").want(t, 0, "called back")
	p := team(t, "http://tools.example.com/mcp")
	for tool, want := range map[string]string{"relay": "1", "echo": "0"} {
		var out, errs bytes.Buffer
		sys := p.system(p.dir, &out, &errs, "tool", tool, "--json", "--args", `{"tool": "echo", "text": "x"}`)
		sys.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(there.url) }
		code := cmd.Main(sys)
		if fmt.Sprint(code) != want || strings.Contains(out.String(), "127.0.0.1") {
			t.Errorf("%s: exit code %d, want %s:\n%s%s", tool, code, want, &out, &errs)
		}
		if tool == "echo" && !strings.Contains(out.String(), "trailblazeInvocationId") {
			t.Errorf("no envelope:\n%s", &out)
		}
	}
}

// TestHeaderValuesAreRedacted has a server that responds with the headers that it received, and tools that return the
// value in every encoding.
func TestHeaderValuesAreRedacted(t *testing.T) {
	t.Parallel()
	there := runElsewhere(t)
	var calls []string
	for _, form := range encodings.Of(token) {
		calls = append(calls, fmt.Sprintf("echo: { text: %q }", form))
	}
	for name, more := range map[string][]string{"passed": nil, "failed": {"fail: {}"}, "lost": {"die: {}"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := there.url
			if name == "lost" {
				url = runElsewhere(t).url
			}
			p := team(t, url, append(slices.Clone(calls), more...)...)
			p.env = append(p.env, noBrowser)
			for _, args := range [][]string{
				{"tool", "echo", "text=" + token},
				{"tool", "echo", "text=x", "--json"},
				{"toolbox", "list", "--json"},
				{"doctor", "--deep"},
				{"run", "-v", "--html", "page", "--record", "r.trail.yaml", "trails/a.trail.yaml"},
				{"run", "--json", "--junit", "out.xml"},
			} {
				r := p.run(args...)
				noForm(t, args[0]+" stdout", r.stdout, encodings.Of(token))
				noForm(t, args[0]+" stderr", r.stderr, encodings.Of(token))
				shows := args[0] == "tool" || args[0] == "run" && name != "lost" // of an earlier run, whose server has stopped
				if shows && !strings.Contains(r.stdout+r.stderr, "{{TEAM_TOKEN}}") {
					t.Errorf("%q: the placeholder is missing:\n%s%s", args, r.stdout, r.stderr)
				}
			}
			for _, where := range []string{"logs", "out.xml", "page"} {
				noFormBelow(t, filepath.Join(p.dir, where), encodings.Of(token))
			}
		})
	}
}

func TestCrashingServerIsRestartedThreeTimes(t *testing.T) {
	t.Parallel()
	servers, err := filepath.Abs("../testdata/servers")
	if err != nil {
		t.Fatal(err)
	}
	diary := filepath.Join(t.TempDir(), "diary")
	entry := func(name, env, more string) string {
		return fmt.Sprintf("  - { name: %s, script: %s/crash3.ts, env: { %s }%s }\n", name, servers, env, more)
	}
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n" +
			entry("restless", "DIARY: "+diary, ", restart: on-crash") + entry("patient", "ROLE: patient", ""),
		"trails/a.trail.yaml": webTrail("insist: { times: 11 }", "insist: { times: 5 }", "count: { n: 99 }"),
	})
	p.env = append(p.env, "PATH="+bin(t, bunPath))
	r := p.run("run", "--json", "--timeout", "2m")
	r.want(t, 2, `server "restless"`, `crashed during tool "count": exited with code 3`)
	answered := r.answered(t)
	if got, want := strings.TrimSuffix(answered["1"], "<nil>"), "1 2 lost 4 5 lost 7 8 lost 10 11"; got != want {
		t.Errorf("calls with three crashes: %q, want %q", got, want)
	}
	text, err := os.ReadFile(diary)
	if want := "1 2 3 4 5 6 7 8 9 10 11 1 "; err != nil || string(text) != want {
		t.Errorf("the calls that reached it: %q, %v; want each once: %q", text, err, want)
	}
	for crash := 1; crash <= 3; crash++ {
		r.want(t, 2, fmt.Sprintf("crashed (%d of at most 3 times)", crash))
	}
	if strings.Contains(r.stdout, "crashed (4") {
		t.Error("it is started a fourth time")
	}
	if got := outcomes(t, r)["a"]; got != "error" {
		t.Errorf("outcome %s, want error", got)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestRunWarnsOfUnencryptedCredentials(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig("ok"), "trails/a.trail.yaml": webTrail("echo: {}"),
		"trailblaze-config/targets/app.yaml": "id: app\nplatforms:\n  web: {}\n",
		"trailblaze-config/targets/other.yaml": "id: other\nplatforms:\n  web: {}\nmcp_servers:\n  - name: team\n" +
			"    url: http://tools.example.com/mcp\n    headers: { Authorization: Bearer hush-hush-hush }\n",
	})
	const warning = "targets/other.yaml:7:16: header Authorization is sent unencrypted to another machine"
	p.run("run").wantErr(t, 0, "warning: trailblaze-config/"+warning, "hint: write https:// in url:")
	p.run("run", "--json").want(t, 0, `"level":"warn","source":"run","message":"trailblaze-config/`+warning)
	p.run("tool", "echo").wantErr(t, 0, warning)
}
