//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const othersToken = "0f2c9b7e64d8a1530f2c9b7e64d8a153"

const othersConfig = webConfig + "callbacks: { token: CALLBACK_TOKEN }\n"

// othersProject is a project whose sessions other processes may drive.
func othersProject(t *testing.T, more string) *project {
	t.Helper()
	p := newProject(t, map[string]string{"trailblaze.yaml": othersConfig + more})
	p.env = append(p.env, "CALLBACK_TOKEN="+othersToken)
	return p
}

// callbackAddress is the content of the file that says where a session answers other processes.
type callbackAddress struct{ BaseURL, SessionID string }

func readAddress(t *testing.T, p *project, file string) callbackAddress {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("%s has the mode %s", file, info.Mode())
	}
	var a callbackAddress
	if err := json.Unmarshal([]byte(p.read(t, file)), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// body is a request of a process that the session did not start.
func (a callbackAddress) body(tool string, args map[string]any) string {
	text, _ := json.Marshal(args)
	out, _ := json.Marshal(map[string]any{"version": 1, "session_id": a.SessionID, "action": map[string]any{
		"type": "call_tool", "tool_name": tool, "arguments_json": string(text),
	}})
	return string(out)
}

// call makes a call, and returns the response.
func (a callbackAddress) call(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.BaseURL+"/scripting/callback", strings.NewReader(a.body(tool, args)))
	if err != nil {
		t.Error(err)
		return ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+othersToken)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return string(answer)
}

// sent sends a request as it is, and returns the status and the body of the response; 0 if nobody listens.
func (a callbackAddress) sent(t *testing.T, request string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.BaseURL, "http://"))
	if err != nil {
		return 0, ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, request) // fails if the server responds before the end
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer)
}

// otherProgram is a program that trailblaze did not start, after that of the docs, which signs in.
const otherProgram = `
console.log(await client.tools.web_evaluate({ script: "1" }).catch((e) => e.message));
console.log(await client.tools.exec({ command: "true" }).catch((e) => e.message));
console.log((await client.callTool("isVisible", { text: "Add tea" })).text);
`

// documentedProgram is the program of the docs.
func documentedProgram(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/tools-that-call-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("../sdks/typescript/src/index.js")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```mjs\n")
	program, _, _ = strings.Cut(program, "```")
	return strings.Replace(program, "@trailblaze/scripting", sdk, 1)
}

// otherProgramPython does the rest in Python.
const otherProgramPython = `
import json, sys
from trailblaze import TrailblazeClient

client = TrailblazeClient.from_meta({"trailblaze": json.load(open(sys.argv[1]))})
client.tools.web_click(ref='button "Add tea"')
print(client.call_tool("isVisible", {"text": "Total 3.50"}).text)
`

// runs runs a program with the token, and returns what it wrote.
func (p *project) runs(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = p.dir, append(append(append([]string{}, p.env...), "TRAILBLAZE_SESSION_TOKEN="+othersToken), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

// TestOtherProcessDrivesSession is about programs with the SDKs that trailblaze did not start.
func TestOtherProcessDrivesSession(t *testing.T) {
	t.Parallel()
	p := othersProject(t, "allow: [exec]\nsecrets: [PASSWORD]\n")
	p.env = append(p.env, "PASSWORD=apples")
	p.endSessions(t)
	started := p.run("session", "start")
	started.wantErr(t, 0, "other processes make calls in it with the token of callbacks, see logs/session-s1_")
	status := p.run("session", "status", "s1", "--json").object(t)
	file, _ := status["callbacks"].(string)
	if folder, _ := status["folder"].(string); file == "" || filepath.Dir(file) != folder {
		t.Fatalf("callbacks %q, folder %q", file, folder)
	}
	p.run("session", "list", "--json").want(t, 0, file)
	p.run("session", "status", "s1").want(t, 0, file)
	a := readAddress(t, p, file)

	site := pageSite(t, taskShop(t))
	if got := a.call(t, "web_navigate", map[string]any{"url": site}); !strings.Contains(got, "agents may not open") {
		t.Errorf("a page of another origin: %s", got)
	}
	p.write(".env", "KEY=abc\n")
	if got := a.call(t, "web_navigate", map[string]any{"url": ".env"}); !strings.Contains(got, "it is not a page") {
		t.Errorf("a file that is not a page: %s", got)
	}
	p.env = append(p.env, "TRAILBLAZE_SESSION=s1")
	p.run("tool", "web_navigate", "url="+site, "--step", "Sign in").want(t, 0)
	p.write("editor/sign-in.mjs", documentedProgram(t)+otherProgram)
	p.write("editor/buy.py", otherProgramPython)
	out := p.runs(t, nil, "node", "editor/sign-in.mjs", file)
	for _, want := range []string{"web_evaluate", "not allowed for agents", "processes that the session did not start, run no programs", "true"} {
		if !strings.Contains(out, want) {
			t.Errorf("the program wrote %q, want %q", out, want)
		}
	}
	p.run("tool", "web_verifyTextVisible", "text=Add tea", "--verify", "Ada is signed in").want(t, 0)
	python, err := filepath.Abs("../sdks/python/src")
	if err != nil {
		t.Fatal(err)
	}
	if out := p.runs(t, []string{"PYTHONPATH=" + python}, "python3", "editor/buy.py", file); out != "true\n" {
		t.Errorf("the program in Python wrote %q", out)
	}
	p.run("session", "save", "trails/a.trail.yaml").wantErr(t, 3, "step 3 has no text; it calls web_click")
	p.run("session", "recording", "--reword", "3=Buy tea").want(t, 0,
		"step: Sign in", "web_navigate", "text: ada@example.com", `text: "{{PASSWORD}}"`, "verify: Ada is signed in", "step: Buy tea")
	p.run("session", "save", "trails/a.trail.yaml").want(t, 0, "the replay passed")

	p.run("session", "end").want(t, 0)
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there after the end of the session")
	}
	if status, body := a.sent(t, ""); status != 0 || body != "" {
		t.Errorf("the ended session answers: %d %s", status, body)
	}
	p.wantNowhere(t, othersToken)
}

// wantNowhere fails the test if a file of the project or of its cache has a text.
func (p *project) wantNowhere(t *testing.T, text string) {
	t.Helper()
	for _, dir := range []string{p.dir, filepath.Dir(p.sessionsDir())} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(p.read(t, path), text) {
				t.Errorf("%s has it", path)
			}
			return nil
		})
	}
}

func TestSessionNeedsTheTokenOfCallbacks(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     othersConfig,
		"trails/a.trail.yaml": webTrail(`web_navigate: { url: "` + pageSite(t, "<p>Tea") + `" }`),
	})
	p.endSessions(t)
	p.run("session", "start").wantErr(t, 3, "CALLBACK_TOKEN, the token of `callbacks` in trailblaze.yaml, is not set", "openssl rand -hex 32")
	p.env = append(p.env, "CALLBACK_TOKEN="+othersToken[1:])
	p.run("session", "start").wantErr(t, 3, "CALLBACK_TOKEN", "32 to 1000 characters")
	p.run("session", "list").want(t, 0, "no sessions")
	p.run("run").want(t, 0, "1 passed") // which answers no other process
	if found, _ := filepath.Glob(filepath.Join(p.dir, "logs/*/callbacks.json")); found != nil {
		t.Errorf("a run leaves %q", found)
	}
	p.env = append(p.env, "CALLBACK_TOKEN=")
	p.write("trailblaze.yaml", othersConfig+"secrets: [CALLBACK_TOKEN]\n")
	file, _ := p.start(t, "--secret", "CALLBACK_TOKEN="+othersToken)["callbacks"].(string)
	args := map[string]any{"name": "copy", "value": "{{CALLBACK_TOKEN}}"}
	if got := readAddress(t, p, file).call(t, "rememberValue", args); !strings.Contains(got, `"success":false`) {
		t.Errorf("it answers %s", got)
	}
	if v := p.run("session", "status", "--json").object(t); len(v["secrets"].([]any)) > 0 {
		t.Errorf("the token is a value of the session: %v", v)
	}
	p.run("session", "end").want(t, 0)
	p.wantNowhere(t, othersToken)

	q := othersProject(t, "mcpServers:\n  - { name: broken, command: \"false\" }\n")
	q.endSessions(t)
	if r := q.run("session", "start"); r.code == 0 {
		t.Error("a session with a broken server starts")
	}
	for _, left := range []string{"callbacks.json", "events.ndjson"} {
		if found, _ := filepath.Glob(filepath.Join(q.dir, "logs/*", left)); found != nil {
			t.Errorf("a failed start leaves %q", found)
		}
	}
}

func TestSessionRejectsInvalidRequestsOfOthers(t *testing.T) {
	t.Parallel()
	p, other := othersProject(t, "mcpServers:\n  - { name: fake, command: \"{{fake}}\" }\n"), othersProject(t, "")
	const otherToken = "ffffffffffffffffffffffffffffffff"
	other.env = append(other.env, "CALLBACK_TOKEN="+otherToken)
	var addresses []callbackAddress
	for _, p := range []*project{p, other} {
		p.endSessions(t)
		file, _ := p.start(t)["callbacks"].(string)
		addresses = append(addresses, readAddress(t, p, file))
	}
	a := addresses[0]
	host := strings.TrimPrefix(a.BaseURL, "http://")
	valid := a.body("rememberValue", map[string]any{"name": "touched", "value": "yes"})
	request := func(host, headers, body string) string {
		return fmt.Sprintf("POST /scripting/callback HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
			host, headers, len(body), body)
	}
	bearer := "Authorization: Bearer " + othersToken + "\r\n"
	large := strings.Repeat(" ", 2<<20)
	for name, tc := range map[string]struct {
		request string
		status  int
		want    string
	}{
		"no token":                 {request(host, "", valid), 401, "callbacks"},
		"a wrong token":            {request(host, "Authorization: Bearer "+othersToken[1:]+"0\r\n", valid), 401, ""},
		"another session's token":  {request(host, "Authorization: Bearer "+otherToken+"\r\n", valid), 401, ""},
		"the token as a password":  {request(host, "Authorization: Basic "+othersToken+"\r\n", valid), 401, ""},
		"another session's id":     {request(host, bearer, addresses[1].body("rememberValue", map[string]any{})), 200, "another session"},
		"a rebound name":           {request("evil.test:"+host[strings.LastIndex(host, ":")+1:], bearer, valid), 403, "Host"},
		"a page":                   {request(host, bearer+"Origin: http://evil.test\r\n", valid), 403, "web pages"},
		"a page of our own origin": {request(host, bearer+"Origin: "+a.BaseURL+"\r\n", valid), 403, "web pages"},
		"a page without an origin": {request(host, bearer+"Sec-Fetch-Site: cross-site\r\n", valid), 403, "web pages"},
		"2 MiB, chunked": {
			"POST /scripting/callback HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\n" + bearer +
				"Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(large), large), 413, "",
		},
		"changes of memory": {
			request(host, bearer, strings.Replace(valid, `"type":`, `"memory_delta":{"touched":"yes"},"type":`, 1)), 200, "call rememberValue",
		},
		"an invocation":   {request(host, bearer, strings.Replace(valid, `"version":`, `"invocation_id":"tbk_0","version":`, 1)), 200, "leave invocation_id out"},
		"an unknown tool": {request(host, bearer, a.body("rememberValu", map[string]any{})), 200, `"success":false`},
	} {
		if status, body := a.sent(t, tc.request); status != tc.status || !strings.Contains(body, tc.want) || strings.Contains(body, othersToken) {
			t.Errorf("%s: %d %q, want %d %q", name, status, body, tc.status, tc.want)
		}
	}
	if v := p.run("session", "status", "--json").object(t); len(v["memory"].([]any)) > 0 || v["steps"] != 0.0 {
		t.Errorf("an attack had an effect: %v", v)
	}

	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() {
			for j := range 10 {
				name := fmt.Sprintf("v%d_%d", i, j)
				if got := a.call(t, "rememberValue", map[string]any{"name": name, "value": "x"}); !strings.Contains(got, `"success":true`) {
					t.Errorf("%s: %s", name, got)
				}
			}
		})
	}
	both.Wait()
	v := p.run("session", "status", "--json").object(t)
	if len(v["memory"].([]any)) != 20 || v["steps"] != 1.0 || v["calls"] != 20.0 {
		t.Errorf("two processes at once: %v", v)
	}
	for _, text := range []string{othersToken, otherToken} {
		p.wantNowhere(t, text)
	}

	if err := syscall.Kill(int(v["pid"].(float64)), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(func() bool { return len(a.leftFiles(p)) == 0 })
	if left := a.leftFiles(p); len(left) > 0 {
		t.Errorf("a session that was terminated leaves %q", left)
	}
	if status, body := a.sent(t, request(host, bearer, valid)); status != 0 {
		t.Errorf("it answers: %d %s", status, body)
	}
}

// leftFiles returns the files in the folder of the session that say where it answers.
func (a callbackAddress) leftFiles(p *project) []string {
	found, _ := filepath.Glob(filepath.Join(p.dir, "logs", a.SessionID, "callbacks.json"))
	return found
}

func TestOtherProcessWorksBesideAnAgent(t *testing.T) {
	t.Parallel()
	p := othersProject(t, "")
	site := pageSite(t, taskShop(t))
	a := p.agent(t, "--allow-origin", site)
	a.does("session", `{"action":"start"}`, "target app")
	text := a.does("session", `{"action":"status"}`, "other processes call tools in it, see ")
	_, file, _ := strings.Cut(text, "see ")
	file, _, _ = strings.Cut(file, "\n")
	at := readAddress(t, p, file)
	a.does("step", fmt.Sprintf(`{"step":"Open the shop","calls":[{"web_navigate":{"url":%q}}]}`, site), "the page is now")
	if got := at.call(t, "web_type", map[string]any{"ref": `textbox "Email"`, "text": "ada@example.com"}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	a.does("recording", `{}`, "step: Open the shop", "text: ada@example.com")
	a.does("session", `{"action":"end"}`, "the session ended")
	await(func() bool { return len(at.leftFiles(p)) == 0 })
	if left := at.leftFiles(p); len(left) > 0 {
		t.Errorf("the session leaves %q", left)
	}
}

func TestOtherProcessWorksBesideAPerson(t *testing.T) {
	t.Parallel()
	p := othersProject(t, "")
	p.endSessions(t)
	v := p.start(t, "--studio", "--no-open")
	file, _ := v["callbacks"].(string)
	a := readAddress(t, p, file)
	p.env = append(p.env, "TRAILBLAZE_SESSION=s1")
	p.run("tool", "web_navigate", "url="+pageSite(t, taskShop(t)), "--step", "Sign in").want(t, 0)
	if got := a.call(t, "web_type", map[string]any{"ref": `textbox "Email"`, "text": "ada@example.com"}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	p.run("session", "recording").want(t, 0, "step: Sign in", "text: ada@example.com")
	p.run("session", "status", "--json").want(t, 0, `"steps":1`, `"calls":2`)
}

func TestOtherProcessWorksBesideAPersonInAStudio(t *testing.T) {
	t.Parallel()
	p := othersProject(t, "baseUrl: "+pageSite(t, taskShop(t))+"\n")
	s := p.studio(t)
	s.state() // the page is opened, so there is a session
	recorded := func(text string) bool {
		found, _ := filepath.Glob(filepath.Join(p.dir, "logs/studio_*/recording.trail.yaml"))
		return len(found) == 1 && strings.Contains(p.read(t, found[0]), text)
	}
	await(func() bool { return recorded("web_navigate") })
	files, _ := filepath.Glob(filepath.Join(p.dir, "logs/studio_*/callbacks.json"))
	if len(files) != 1 {
		t.Fatalf("the files are %q", files)
	}
	a := readAddress(t, p, files[0])
	if got := a.call(t, "web_type", map[string]any{"ref": `textbox "Email"`, "text": "ada@example.com"}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	both := func() bool { return recorded("web_navigate") && recorded("ada@example.com") }
	await(both) // the session writes its own recording into the file until the studio writes that of the page
	if !both() {
		t.Error("the recording of the page lacks one of the calls")
	}
	if code, rest := s.end(syscall.SIGINT); code != 130 {
		t.Errorf("exit code %d\n%s", code, rest)
	}
	if left := a.leftFiles(p); len(left) > 0 {
		t.Errorf("the studio leaves %q", left)
	}
}
