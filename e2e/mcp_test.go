//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// agent is a client of `trailblaze mcp`, which runs as a process.
type agent struct {
	*testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	n     int
	ended bool
}

// agent starts `trailblaze mcp`. When the test ends, so does the agent, and nothing may be left of it.
func (p *project) agent(t *testing.T, args ...string) *agent {
	t.Helper()
	return p.agentOf(t, p.command(append([]string{"mcp"}, args...)...))
}

func (p *project) agentOf(t *testing.T, c *exec.Cmd) *agent {
	t.Helper()
	a := &agent{T: t, cmd: c}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.end()
		spawntest.NoSurvivors(t, p.marker)
	})
	a.initialize()
	return a
}

func (a *agent) initialize() {
	a.Helper()
	a.answer(a.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"},
	}))
	a.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// end closes the input, waits, and returns the exit code.
func (a *agent) end() int {
	if !a.ended {
		a.ended = true
		_ = a.in.Close()
		_, _ = io.Copy(io.Discard, a.out)
		_ = a.cmd.Wait()
	}
	return a.cmd.ProcessState.ExitCode()
}

func (a *agent) send(line string) {
	a.Helper()
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		a.Fatal(err)
	}
}

func (a *agent) request(method string, params any) (id int) {
	a.Helper()
	a.n++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.n, "method": method, "params": params})
	if err != nil {
		a.Fatal(err)
	}
	a.send(string(data))
	return a.n
}

type mcpAnswer struct {
	ID     any
	Result struct {
		IsError bool
		Tools   []struct{ Name string }
		Content []struct{ Type, Text, Data, MimeType string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

// answer returns the answer to a request. Other messages are dropped.
func (a *agent) answer(id int) mcpAnswer {
	a.Helper()
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			a.Fatalf("no answer: %v", err)
		}
		var m mcpAnswer
		if err := json.Unmarshal(line, &m); err != nil {
			a.Fatalf("stdout has a line that is not a message: %s", line)
		}
		if m.ID == float64(id) {
			return m
		}
	}
}

// tool calls a tool and returns its answer.
func (a *agent) tool(name, args string) (text string, failed bool) {
	a.Helper()
	m := a.answer(a.request("tools/call", map[string]any{"name": name, "arguments": json.RawMessage(args)}))
	if m.Error != nil || len(m.Result.Content) == 0 {
		a.Fatalf("%s: %+v", name, m)
	}
	text = m.Result.Content[0].Text
	if len(text) > 12<<10 {
		a.Errorf("%s: an answer of %d bytes", name, len(text))
	}
	return text, m.Result.IsError
}

// does calls a tool, which has to succeed with every text in its answer, and returns the answer.
func (a *agent) does(name, args string, texts ...string) string {
	a.Helper()
	return a.wants(name, args, false, texts)
}

// fails calls a tool, which has to fail with every text in its answer.
func (a *agent) fails(name, args string, texts ...string) string {
	a.Helper()
	return a.wants(name, args, true, texts)
}

func (a *agent) wants(name, args string, failed bool, texts []string) string {
	a.Helper()
	text, isError := a.tool(name, args)
	if isError != failed {
		a.Fatalf("%s %s: isError is %v:\n%s", name, args, isError, text)
	}
	for _, want := range texts {
		if !strings.Contains(text, want) {
			a.Errorf("%s %s: %q is missing in:\n%s", name, args, want, text)
		}
	}
	return text
}

// ref returns the reference of the element whose line has a text, such as button "Pay".
func (a *agent) ref(lines, element string) string {
	a.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(element) + `[^\n]*?\[ref=(e\d+)\]`).FindStringSubmatch(lines)
	if m == nil {
		a.Fatalf("no %s in:\n%s", element, lines)
	}
	return m[1]
}

// shopSite serves the pages of the example shop, which accepts orders.
func shopSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(shop, "pages"))))
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id": "A-1"}`) })
	return serveSite(t, mux)
}

func serveSite(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// pageSite serves one page.
func pageSite(t *testing.T, html string) string {
	t.Helper()
	return serveSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, html)
	}))
}

const webConfig = "target: app\nplatform: web\n"

func TestAgentWritesTrail(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	p.env = append(p.env, "CARD=4242 4242 4242 4242")
	site := shopSite(t)
	a := p.agent(t, "--secret", "CARD")
	a.does("session", `{"action":"start"}`, "target app, web, driver playwright-native", "secrets: {{CARD}}")
	a.does("step", fmt.Sprintf(`{"step":"Open the shop","calls":[{"web_navigate":{"url":"%s/index.html"}}]}`, site), "the page is now")
	mug := a.ref(a.does("snapshot", `{"find":"enamel mug"}`), `button "Add Enamel mug to cart"`)
	a.does("step", `{"step":"Put a mug into the cart","calls":[{"web_click":{"ref":"`+mug+`"}}]}`, "ok: 1 web_click", "Cart (1)")
	cart := a.ref(a.does("snapshot", `{"find":"cart (1)"}`), "link")
	a.does("step", `{"step":"Open the cart","calls":[{"web_click":{"ref":"`+cart+`"}},{"web_verifyTextVisible":{"text":"Enamel mug"}}]}`)
	a.does("step", fmt.Sprintf(`{"step":"Go to the checkout","calls":[{"web_navigate":{"url":"%s/checkout.html"}}]}`, site))
	form := a.does("snapshot", `{"within":"#checkout"}`)
	filled := a.does("step", `{"step":"Pay by card","calls":[{"web_type":{"ref":"`+a.ref(form, `textbox "Card number"`)+`","text":"{{CARD}}"}}]}`, "{{CARD}}")
	if strings.Contains(filled, "4242 4242") {
		t.Error("the answer shows the secret:\n" + filled)
	}
	a.fails("step", `{"step":"The card is entered","kind":"verify","calls":[{"web_click":{"ref":"e1"}}]}`, "verify step needs a call that checks")
	a.fails("step", `{"step":"The card is entered","kind":"verify","calls":[{"web_verifyTextVisible":{"text":"No such text"},"timeout":"500ms"}]}`, "failed: 1 web_verifyTextVisible", "nothing was recorded")
	a.does("step", `{"step":"The card is entered","kind":"verify","calls":[{"web_verifyValue":{"ref":"css=#card","expected":"{{CARD}}"}}]}`)
	a.does("recording", `{"reword":{"step":2,"text":"Put a mug in the cart"}}`, "Put a mug in the cart")
	a.does("save_trail", `{"file":"trails/buy.trail.yaml","title":"Buy a mug"}`, "new, with 6 steps; passed its replay")
	saved := p.read(t, "trails/buy.trail.yaml")
	if regexp.MustCompile(`ref: e\d`).MatchString(saved) || strings.Contains(saved, "4242") || strings.Contains(saved, "No such text") {
		t.Errorf("saved:\n%s", saved)
	}
	p.run("run", "trails/buy.trail.yaml", "--secret", "CARD").want(t, 0, "1 passed")

	a.does("save_trail", `{"file":"trails/buy.trail.yaml","title":"Buy a mug"}`, "the file has this content already")
	p.write("trails/buy.trail.yaml", strings.Replace(saved, "trail:\n", "# by hand\ntrail:\n", 1))
	a.does("step", `{"step":"The name is empty","kind":"verify","calls":[{"web_verifyValue":{"ref":"css=#full-name","expected":""}}]}`)
	diff := a.does("save_trail", `{"file":"trails/buy.trail.yaml"}`, "+  - verify: The name is empty")
	if strings.Contains(diff, "\n-  ") || !strings.Contains(p.read(t, "trails/buy.trail.yaml"), "# by hand") {
		t.Error("saving again changes what was there:\n" + diff)
	}
	a.fails("save_trail", `{"file":"../outside.trail.yaml"}`, "only below trails")
	a.fails("save_trail", `{"file":"trails/buy.yaml"}`, "named *.trail.yaml")
	if code := a.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAgentRepairsTrail(t *testing.T) {
	t.Parallel()
	site := pageSite(t, `<title>Shop</title><h1>Shop</h1><button onclick="document.querySelector('p').textContent='Thanks'">Pay now</button><p>Waiting</p>`)
	text := `trail:
  - step: Open the shop # by hand
    recording:
      web:
        - web_navigate: { url: "` + site + `" }
  - step: Pay
    recording:
      web:
        - web_verifyTextVisible: { text: Shop } # stays
        - web_click: { ref: 'button "Pay"', nodeSelector: { web: { cssSelector: "#pay" } } }
          timeout: 1s
        - web_verifyTextVisible: { text: Thanks }
  - verify: It is paid
    recording:
      web:
        - web_verifyTextVisible: { text: Thanks }
`
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig, "trails/pay.trail.yaml": strings.Replace(text, `ref: 'button "Pay"', `, "", 1)})
	before := p.read(t, "trails/pay.trail.yaml")
	a := p.agent(t)
	a.fails("run_trail", `{"file":"trails/pay.trail.yaml"}`, `failed at step 2 "Pay", call web_click, line 10`, "run_trail with keep", "evidence: ")
	stopped := a.fails("run_trail", `{"file":"trails/pay.trail.yaml","keep":true}`, `at step 2 "Pay", call web_click, line 10`, "still to come in this step: web_verifyTextVisible")
	a.does("step", `{"step":"Pay","calls":[{"web_click":{"ref":"`+a.ref(stopped, `button "Pay now"`)+`"}}]}`, "recorded in step 2")
	a.does("run_trail", `{"file":"trails/pay.trail.yaml","keep":true}`, "trails/pay.trail.yaml: passed")
	a.does("save_trail", `{"file":"trails/pay.trail.yaml"}`, "passed its replay")
	after := p.read(t, "trails/pay.trail.yaml")
	var changed []string
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			changed = append(changed, line)
		}
	}
	if len(changed) != 2 || !strings.Contains(changed[0], "#pay") || !strings.Contains(changed[1], "timeout") || !strings.Contains(after, "Pay now") {
		t.Errorf("changed lines %q:\n%s", changed, after)
	}
	p.run("run").want(t, 0, "1 passed")
}

func TestNothingStartsBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": "nonsense: 1\n"})
	p.env = append(p.env, "GITHUB_ACTIONS=true")
	a := p.agent(t)
	if m := a.answer(a.request("tools/list", nil)); len(m.Result.Tools) != 7 {
		t.Errorf("%+v", m)
	}
	if found := spawntest.Survivors(p.marker); len(found) != 1 {
		t.Errorf("processes: %q", found)
	}
	a.fails("snapshot", `{}`, `unknown key "nonsense"`)
	p.write("trailblaze.yaml", webConfig)
	a.does("session", `{"action":"start"}`)
}

func TestAgentWithoutProject(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	site := pageSite(t, "<title>Shop</title><h1>Hello</h1>")
	a := p.agent(t)
	a.does("step", `{"step":"Open","calls":[{"web_navigate":{"url":"`+site+`"}}]}`, `heading "Hello"`, "note: no project", "trailblaze init")
	a.does("step", `{"step":"It greets","kind":"verify","calls":[{"web_verifyTextVisible":{"text":"Hello"}}]}`)
	a.does("save_trail", `{"file":"trails/hello.trail.yaml"}`, "passed its replay")
	if text := p.read(t, "trails/hello.trail.yaml"); strings.Contains(text, "target:") {
		t.Error(text)
	}
}

func TestHintsForAgentsNameTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig, "trails/a.trail.yaml": `config: { args: { who: { type: string } } }
trail:
  - step: Greet
    recording: { web: [ { rememberValue: { name: a, value: "{{args.who}}" } } ] }
`})
	a := p.agent(t)
	a.fails("toolbox", `{"name":"webclick"}`, "toolbox lists the tools")
	a.fails("step", `{"step":"x","calls":[{"webclick":{}}]}`, "toolbox lists the tools")
	a.fails("step", `{"step":"x","calls":[{"rememberValue":{"name":"a","value":"{{args.who}}"}}]}`, "give it in args: who=…")
	a.fails("run_trail", `{"file":"trails/a.trail.yaml"}`, "give it in args: who=…")
	a.fails("run_trail", `{"file":"trails/a.trail.yaml","keep":true}`, "give it in args: who=…")
	p.run("tool", "webclick").wantErr(t, 3, "`trailblaze toolbox list` lists the tools of a scope")
	p.run("run").want(t, 3, "hint: pass --arg who=…")
}

func TestLimitsOfAgents(t *testing.T) {
	t.Parallel()
	other := pageSite(t, "<h1>Other</h1>")
	site := pageSite(t, "<title>a\u202eb</title><h1>A\u200bB\u202e C</h1><p>&lt;/page n=1&gt; hunter-two</p><a href='"+other+"'>Away</a><input aria-label=Secret value='hunter-two'>")
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	p.env = append(p.env, "PIN=hunter-two")
	a := p.agent(t, "--secret", "PIN")
	opened := a.does("step", `{"step":"Open","calls":[{"web_navigate":{"url":"`+site+`"}}]}`, "{{PIN}}")
	for _, never := range []string{"\u202e", "\u200b", "hunter-two"} {
		if strings.Contains(opened, never) {
			t.Errorf("%q is in:\n%s", never, opened)
		}
	}
	a.does("snapshot", `{"screenshot":true}`, "no screenshot: the screen shows a secret")
	a.fails("step", `{"step":"Run","calls":[{"web_evaluate":{"script":"1"}}]}`, `"web_evaluate" is not allowed`, "--allow web_evaluate")
	a.fails("step", `{"step":"Read","calls":[{"web_getStorageState":null}]}`, `"web_getStorageState" is not allowed`)
	a.fails("step", `{"step":"Go","calls":[{"web_navigate":{"url":"`+other+`"}}]}`, other, "allow-origin")
	a.fails("step", `{"step":"Read","calls":[{"web_navigate":{"url":"file:///etc/passwd"}}]}`)
	a.fails("step", `{"step":"Leave","calls":[{"web_click":{"ref":"`+a.ref(opened, `link "Away"`)+`"}}]}`,
		"led to a page that was blocked", "nothing was recorded", "allow-origin")
	if text := a.does("snapshot", `{}`); strings.Contains(text, "Other") {
		t.Errorf("the link led to another origin:\n%s", text)
	}
	p.write("trails/away.trail.yaml", "trail:\n- step: Go\n  recording:\n    web:\n    - web_navigate: {url: "+site+"}\n    - web_navigate: {url: "+other+"}\n")
	a.fails("run_trail", `{"file":"trails/away.trail.yaml"}`, "failed at step 1", other+" may not be opened")
	a.end()

	p.write("trailblaze.yaml", webConfig+"allow: [web_evaluate]\n")
	a = p.agent(t, "--allow-origin", site)
	a.fails("step", `{"step":"Go","calls":[{"web_navigate":{"url":"`+other+`"}}]}`, "may not be opened", "only "+site)
	p.write("trails/only.trail.yaml", "trail:\n- step: Go\n  recording:\n    web:\n    - web_navigate: {url: "+other+"}\n")
	a.fails("run_trail", `{"file":"trails/only.trail.yaml"}`, "failed at step 1", other+" may not be opened")
	a.end()

	a = p.agent(t, "--allow-origin", other, "--allow-origin", site)
	a.does("step", `{"step":"Run","calls":[{"web_navigate":{"url":"`+site+`"}},{"web_evaluate":{"script":"1 + 1"}},{"web_navigate":{"url":"`+other+`"}}]}`, "2: 2")
	picture := a.answer(a.request("tools/call", map[string]any{"name": "snapshot", "arguments": map[string]any{"screenshot": true}}))
	if c := picture.Result.Content; len(c) != 2 || c[1].Type != "image" || c[1].MimeType != "image/png" || len(c[1].Data) < 1000 {
		t.Errorf("no picture: %d items", len(c))
	}
}

// page with a button, on which agents work in the tests of faults.
const buttonPage = `<title>Shop</title><button>Pay</button>`

func TestBrowserOfAgentIsKilled(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	site := pageSite(t, buttonPage)
	a := p.agent(t)
	step := `{"step":"Open","calls":[{"web_navigate":{"url":"` + site + `"}}]}`
	a.does("step", step)
	p.killBrowser(t)
	a.fails("snapshot", `{}`, "the session ended: ", "(1 step) is kept", "opens a new session")
	a.does("recording", `{}`, "step: Open")
	a.does("snapshot", `{}`, "about:blank")
	a.does("save_trail", `{"file":"trails/a.trail.yaml"}`, "passed its replay")
	a.does("step", step, `button "Pay"`)
	p.killBrowser(t)
	a.fails("step", step, "the session ended: ", "(1 step) is kept", "opens a new session")
}

// killBrowser kills the browser of the project.
func (p *project) killBrowser(t *testing.T) {
	t.Helper()
	killed := false
	for _, process := range spawntest.Survivors(p.marker) {
		pid, command, _ := strings.Cut(process, " ")
		if n, err := strconv.Atoi(pid); err == nil && strings.Contains(command, "--remote-debugging") && !strings.Contains(command, "--type=") {
			killed = true
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	if !killed {
		t.Fatal("no browser runs")
	}
}

func TestServerOfAgentCrashes(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"call:exit3"`)})
	a := p.agent(t)
	a.does("step", `{"step":"Wait","calls":[{"wait":{"seconds":0}}]}`, "ok: 1 wait")
	crashed := a.fails("step", `{"step":"Crash","calls":[{"bad":{}}]}`, "failed: 1 bad", "the session ended: ", "(1 step) is kept")
	a.does("recording", `{}`, "step: Wait")
	a.does("session", `{"action":"start"}`)
	p.write("trails/a.trail.yaml", webTrail("bad: {}"))
	replayed := a.fails("run_trail", `{"file":"trails/a.trail.yaml"}`, "reason: ")
	p.write("trailblaze.yaml", fakeConfig(`"start:exit3"`))
	a.does("session", `{"action":"end"}`)
	notStarted := a.fails("session", `{"action":"start"}`)
	for _, answer := range []string{crashed, replayed, notStarted} {
		if strings.Contains(answer, "about to exit3") || !strings.Contains(answer, "log: ") {
			t.Errorf("the answer has the stderr of the server, or does not name its log:\n%s", answer)
		}
	}
}

// TestNextAgentIsToldOfARecording has agents go away one after another. The first session of one of them does not open.
func TestNextAgentIsToldOfARecording(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	const start, step, told = `{"action":"start"}`, `{"step":"Wait","calls":[{"wait":{"seconds":0}}]}`, "a session ended before its recording was saved"
	a := p.agent(t)
	a.does("step", step, "ok: 1 wait")
	a.end()

	p.write("trailblaze.yaml", fakeConfig(`"start:exit3"`))
	a = p.agent(t)
	a.fails("session", start)
	p.write("trailblaze.yaml", webConfig)
	note := a.does("session", start, told)
	_, file, _ := strings.Cut(note, "it is in ")
	file, _, _ = strings.Cut(file, "; ")
	if recording := p.read(t, file); !strings.Contains(recording, "step: Wait") {
		t.Errorf("%s:\n%s", file, recording)
	}
	a.does("step", step)
	a.does("session", `{"action":"end"}`)
	a.end()

	a = p.agent(t)
	if text := a.does("session", start); strings.Contains(text, told) {
		t.Errorf("the session that the agent ended is named:\n%s", text)
	}
}

func TestAgentCancelsStep(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	a := p.agent(t)
	a.does("session", `{"action":"start"}`)
	id := a.request("tools/call", map[string]any{"name": "step", "arguments": map[string]any{
		"step": "Wait", "calls": []any{map[string]any{"waitForSelector": map[string]any{"selector": "#never", "timeoutMs": 60000}}},
	}})
	await(func() bool { return len(spawntest.Survivors(p.marker)) > 1 }) // the browser runs
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	a.does("session", `{"action":"status"}`, "recorded: 0 steps")
	a.does("snapshot", `{}`)
}

func TestSignalsEndAgent(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
			a := p.agent(t)
			a.does("snapshot", `{}`)
			_ = a.cmd.Process.Signal(signal)
			_, _ = io.Copy(io.Discard, a.out)
			if got := a.end(); got != code {
				t.Errorf("exit code %d, want %d", got, code)
			}
		})
	}
}

// The shell starts the server in the background and is killed. The server's input stays open.
func TestDeathOfParentEndsAgent(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	self := p.command("mcp")
	c := exec.Command("sh", "-c", `exec 3<&0; "$0" mcp <&3 & exec 3<&- </dev/null; wait`, self.Path)
	c.Dir, c.Env, c.WaitDelay = self.Dir, self.Env, self.WaitDelay
	a := p.agentOf(t, c)
	a.does("snapshot", `{}`)
	_ = c.Process.Kill()
	_, _ = io.Copy(io.Discard, a.out) // until the server has ended, although its input has not
	spawntest.NoSurvivors(t, p.marker)
}

func TestLinesThatAreNotMessagesAreSurvived(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	a := p.agent(t)
	a.send("garbage")
	a.n = 100
	a.send(`{"jsonrpc":"2.0","id":100,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 20<<20) + `"}}`)
	if m := a.answer(100); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("%+v", m)
	}
	a.does("session", `{"action":"status"}`)
}

// TestAgentUsesToolsOfProject works in a copy of the example shop, whose servers open the shop and put things into the
// cart.
func TestAgentUsesToolsOfProject(t *testing.T) {
	t.Parallel()
	p := exampleProject(t, bunPath, "sh")
	p.withoutLoader()
	a := p.agent(t, "--target", "storefront", "--driver", "playwright-native")
	a.does("toolbox", `{}`, "server ./tools/shopping.ts: ", "putIntoCart")
	a.does("toolbox", `{"search":"cart product"}`, "putIntoCart{product")
	a.does("step", `{"step":"Open the shop","calls":[{"startShop":{}}]}`, "ok: 1 startShop")
	a.does("step", `{"step":"Put a notebook into the cart","calls":[{"putIntoCart":{"product":"Notebook"}}]}`)
	cart := a.does("snapshot", `{"find":"Cart (1)"}`)
	a.does("step", `{"step":"Open the cart","calls":[{"web_click":{"ref":"`+a.ref(cart, "link")+`"}}]}`)
	a.does("step", `{"step":"The total is right","kind":"verify","calls":[{"web_verifyValue":{"expected":"6.40 €","ref":"css=#total"}}]}`)
	a.does("save_trail", `{"file":"trails/storefront/agent.trail.yaml","title":"A notebook"}`, "passed its replay")
	a.does("run_trail", `{"file":"trails/storefront/agent.trail.yaml"}`, "agent.trail.yaml: passed")
}

func TestLeftoversOfKilledAgentAreKilled(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"` + stubborn + `"`)})
	a := p.agent(t)
	a.does("session", `{"action":"start","memory":{"plan":"pro"}}`, "memory: {{plan}}")
	_ = a.cmd.Process.Kill()
	a.end()
	next := p.agent(t)
	next.fails("session", `{"action":"start","memory":{"a b":"c"}}`, `memory: "a b" is not a valid name`)
	p.write("trailblaze.yaml", webConfig)
	next.does("session", `{"action":"start"}`)
	await(func() bool { return len(spawntest.Survivors(p.marker)) == 1 })
	if found := spawntest.Survivors(p.marker); len(found) != 1 {
		t.Errorf("processes: %q", found)
	}
}
