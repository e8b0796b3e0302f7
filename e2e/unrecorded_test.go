//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/models"
)

// provider starts a scripted provider, and returns it with its address.
func provider(t *testing.T, policy models.Policy) (*models.Server, string) {
	t.Helper()
	s := &models.Server{Policy: policy, Key: modelKey}
	at := httptest.NewServer(s)
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	return s, at.URL
}

// buyer carries out the tasks of the trail of buyTrail.
func buyer() models.Policy {
	act := func(name string, args map[string]any) models.Call { return models.Call{Name: name, Args: args} }
	done := func(expect string) models.Call {
		args := map[string]any{"status": "done", "why": "It is done."}
		if expect != "" {
			args["expect"] = expect
		}
		return act("step_done", args)
	}
	turn := func(calls ...models.Call) []models.Reply { return []models.Reply{{Calls: calls}} }
	return models.Rules(
		models.Rule{Task: "^step: Put the mug", Turns: turn(act("web_click", map[string]any{"ref": "@button Add Enamel mug to cart"}), done("Cart (1)"))},
		models.Rule{Task: "^step: Open the cart", Turns: turn(act("web_click", map[string]any{"ref": "@link Cart (1)"}), done("Your cart"))},
		models.Rule{Task: "^verify: The cart has the mug", Turns: turn(act("web_verifyTextVisible", map[string]any{"text": "Keep looking"}), done(""))},
	)
}

// buyTrail has one recorded step and three without a recording.
const buyTrail = `config: { title: Buy a mug }
trail:
  - step: Open the shop
    recording: { web: [ { web_navigate: { url: /index.html } } ] }
  - step: Put the mug into the cart
  - step: Open the cart
  - verify: The cart has the mug
`

// assistedProject is a project with a model at an address, and the shop at site.
func assistedProject(t *testing.T, protocol, at, site string, files map[string]string) *project {
	t.Helper()
	base := at
	if protocol != "anthropic" {
		base += "/v1"
	}
	p := newProject(t, files)
	p.write("trailblaze.yaml", fmt.Sprintf(`%sbase_url: %s
llm:
  model: test/rules
  providers: { test: { protocol: %s, baseUrl: "%s", apiKeyEnv: TEST_KEY } }
  models: { rules: { price: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 } } }
`, webConfig, site, protocol, base))
	p.env = append(p.env, "TEST_KEY="+modelKey)
	p.shareBrowser()
	return p
}

func TestModelCarriesOutStepsWithoutRecording(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"anthropic", "openai-responses", "openai-chat"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, buyer())
			p := assistedProject(t, protocol, at, shopSite(t), map[string]string{"trails/buy.trail.yaml": buyTrail})
			r := p.run("run", "--json", "--unrecorded", "llm", "--record", "trails/buy.trail.yaml")
			r.want(t, 0)
			events := r.events(t)
			ended := ofType(events, "trail.finished")[0]
			if ended["mode"] != "assisted" || ended["requests"] != float64(3) || len(ofType(events, "llm.finished")) != 3 || len(ofType(events, "task.started")) != 3 {
				t.Errorf("%v", ended)
			}
			cost, _ := ended["cost"].(float64)
			if summary := ofType(events, "run.finished")[0]; cost <= 0 || summary["cost"] != cost || summary["assisted"] != float64(1) {
				t.Errorf("%v", summary)
			}
			if n := len(server.Received()); n != 3 {
				t.Errorf("%d requests", n)
			}
			recorded := p.read(t, "trails/buy.trail.yaml")
			for _, want := range []string{"web_click", "Add Enamel mug to cart", "web_verifyTextVisible"} {
				if !strings.Contains(recorded, want) {
					t.Errorf("no %q in\n%s", want, recorded)
				}
			}
			again := p.run("run", "--json", "--unrecorded", "llm")
			again.want(t, 0)
			ended = ofType(again.events(t), "trail.finished")[0]
			if n := len(server.Received()); n != 3 || ended["mode"] != "recorded" || ended["requests"] != float64(0) {
				t.Errorf("a recorded trail: %d requests, %v", n, ended)
			}
		})
	}
}

func TestTasksAreReplayedFromTranscripts(t *testing.T) {
	t.Parallel()
	server, at := provider(t, buyer())
	p := assistedProject(t, "openai-chat", at, shopSite(t), map[string]string{"trails/buy.trail.yaml": buyTrail})
	p.run("run", "--unrecorded", "llm").want(t, 0, "1 passed (1 assisted)", "model: 3 requests")
	transcripts := filepath.Join(p.session(t), "llm")
	p.env = append(p.env, "TEST_KEY=", "HTTPS_PROXY=http://127.0.0.1:1")
	r := p.run("run", "--json", "--unrecorded", "llm", "--llm-replay", transcripts)
	r.want(t, 0)
	ended := ofType(r.events(t), "trail.finished")[0]
	if n := len(server.Received()); n != 3 || ended["mode"] != "assisted" || ended["requests"] != float64(3) || ended["cost"] != float64(0) {
		t.Errorf("%d requests, %v", n, ended)
	}
	if err := os.Remove(filepath.Join(transcripts, "003.json")); err != nil {
		t.Fatal(err)
	}
	r = p.run("run", "--unrecorded", "llm", "--llm-replay", transcripts)
	r.want(t, 2, "has no further answer for verify 4 of trails/buy.trail.yaml")
}

func TestModelIsNotAskedWithoutNeed(t *testing.T) {
	t.Parallel()
	server, at := provider(t, buyer())
	p := assistedProject(t, "anthropic", at, shopSite(t), map[string]string{
		"trails/buy.trail.yaml":      buyTrail,
		"trails/recorded.trail.yaml": "trail:\n  - step: Open the shop\n    recording: { web: [ { web_navigate: { url: /index.html } } ] }\n",
		"trails/head.trail.yaml":     "trailhead: { step: Be there }\ntrail:\n  - step: Put the mug\n",
		"trails/end.trail.yaml":      "config: { teardown: [ { step: Leave } ] }\ntrail:\n  - step: Put the mug\n",
	})
	p.env = append(p.env, "ANTHROPIC_API_KEY="+modelKey, "OPENAI_API_KEY="+modelKey)
	p.run("run", "trails/buy.trail.yaml").want(t, 1, "step 2", "has no recording for this device")
	p.run("run", "trails/buy.trail.yaml", "--unrecorded", "skip").want(t, 0, "3 of 4 steps skipped")
	p.run("run", "trails/recorded.trail.yaml", "--unrecorded", "llm").want(t, 0, "model: 0 requests")
	p.run("run", "trails/head.trail.yaml", "--unrecorded", "llm").want(t, 1, "Be there")
	p.run("run", "trails/end.trail.yaml", "--unrecorded", "llm").want(t, 1, "Leave")
	p.run("run", "--unrecorded", "llm", "--dry-run").want(t, 1)
	p.run("run", "--unrecorded", "llm", "--list").want(t, 0)
	for _, misuse := range []struct {
		args []string
		want string
	}{
		{[]string{"--llm", "test/rules"}, "--llm has no effect without --unrecorded llm"},
		{[]string{"--ignore-recordings"}, "--ignore-recordings has no effect without --unrecorded llm"},
		{[]string{"--unrecorded", "llm", "--ignore-recordings", "--record", "new.trail.yaml"}, "--ignore-recordings compares models"},
		{[]string{"--unrecorded", "llm", "--llm", "tset/rules"}, `unknown provider "tset"`},
		{[]string{"--unrecorded", "llm", "--llm", "rules"}, "is not PROVIDER/MODEL"},
		{[]string{"--unrecorded", "llm", "--llm", "test/other", "--budget", "costPerRun=1"}, "the price of test/other is not known"},
		{[]string{"--unrecorded", "llm", "--llm", "google/gemini"}, "GEMINI_API_KEY is not set"},
		{[]string{"--unrecorded", "llm", "--budget", "requestPerStep=1"}, "unknown key"},
		{[]string{"--unrecorded", "llm", "--budget", "requestsPerStep=0"}, "at least 1"},
		{[]string{"--unrecorded", "llm", "--llm-replay", "nowhere"}, "is not a folder with transcripts"},
	} {
		p.run(append([]string{"run", "trails/buy.trail.yaml"}, misuse.args...)...).wantErr(t, 3, misuse.want)
	}
	p.write("trailblaze.yaml", webConfig)
	p.run("run", "trails/recorded.trail.yaml", "--unrecorded", "llm").wantErr(t, 3, "no model is configured")
	if received := server.Received(); len(received) > 0 {
		t.Errorf("%d requests: %.300s", len(received), received[0].Body)
	}
}

// TestKeysAloneAskNobody runs trails with the keys of all known providers in the environment, and with a model in the
// project file. A proxy that all requests would go through gets none.
func TestKeysAloneAskNobody(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	proxy := serveSite(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	p := newProject(t, map[string]string{
		"trailblaze.yaml":            webConfig,
		"trails/passes.trail.yaml":   "trail:\n  - step: Compare\n    recording: { web: [ { assertEquals: { actual: 1, expected: 1 } } ] }\n",
		"trails/fails.trail.yaml":    "trail:\n  - step: Compare\n    recording: { web: [ { assertEquals: { actual: 1, expected: 2 } } ] }\n",
		"trails/unmade.trail.yaml":   "trail:\n  - step: Put the mug into the cart\n",
		"trails/optional.trail.yaml": "trail:\n  - step: Close the banner\n    recordable: false\n",
	})
	for _, name := range []string{"ANTHROPIC", "OPENAI", "GEMINI", "GOOGLE", "OPENROUTER"} {
		p.env = append(p.env, name+"_API_KEY="+modelKey)
	}
	by, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) result {
		var out, errs bytes.Buffer
		sys := p.system(p.dir, &out, &errs, args...)
		sys.Proxy = http.ProxyURL(by)
		return result{cmd.Main(sys), out.String(), errs.String()}
	}
	for _, config := range []string{webConfig, webConfig + "llm: { model: anthropic/claude-sonnet }\n"} {
		p.write("trailblaze.yaml", config)
		run("run", "trails/passes.trail.yaml").want(t, 0, "1 passed")
		run("run", "--retries", "1").want(t, 1, "1 passed")
		run("run", "--unrecorded", "skip", "--json").want(t, 1)
		run("check").want(t, 0)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests", n)
	}
}

func TestTaskThatFails(t *testing.T) {
	t.Parallel()
	site := shopSite(t)
	for name, tt := range map[string]struct {
		policy models.Policy
		fault  models.Fault
		flags  []string
		code   int
		want   []string
	}{
		"given up":       {policy: models.Script(models.GiveUp("The shop sells no mug.")), code: 1, want: []string{"The shop sells no mug.", "1 failed"}},
		"over budget":    {policy: buyer(), flags: []string{"--budget", "requestsPerTrail=1"}, code: 1, want: []string{"budget"}},
		"refused":        {policy: models.Script(models.Reply{Refused: true, Text: "No."}), code: 1, want: []string{"refused"}},
		"a rejected key": {policy: buyer(), fault: models.BadKey, code: 2, want: []string{"1 error"}},
		"no quota":       {policy: buyer(), fault: models.Quota, code: 2, want: []string{"quota"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, tt.policy)
			if tt.fault != "" {
				server.Fault = models.Always(tt.fault)
			}
			p := assistedProject(t, "openai-responses", at, site, map[string]string{"trails/buy.trail.yaml": buyTrail})
			p.run(append([]string{"run", "--unrecorded", "llm", "--record", "new.trail.yaml", "--retries", "2"}, tt.flags...)...).want(t, tt.code, tt.want...)
			if n := len(server.Received()); n > 2 {
				t.Errorf("%d requests: a task is not repeated with the trail", n)
			}
			if _, err := os.Stat(p.path("new.trail.yaml")); err == nil {
				t.Error("a recording of a trail that failed was written")
			}
		})
	}
}

func TestRequestsAndTranscriptsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2 <sword&fish>/ä"
	encoded := []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret)}
	server, at := provider(t, models.Rules(models.Rule{Task: "^step: Type", Turns: []models.Reply{{Calls: []models.Call{
		{Name: "web_type", Args: map[string]any{"ref": "@textbox Password", "text": "{{PASSWORD}}"}},
		{Name: "web_click", Args: map[string]any{"ref": "@button Show"}},
		{Name: "step_done", Args: map[string]any{"status": "done", "why": "typed", "expect": "shown"}},
	}}}}))
	site := pageSite(t, `<title>Login</title><label>Password <input id=p></label><button onclick="out.textContent='shown '+p.value+' '+btoa(unescape(encodeURIComponent(p.value)))+' '+encodeURIComponent(p.value)">Show</button><p id=out></p>`)
	p := assistedProject(t, "anthropic", at, site, map[string]string{"trails/login.trail.yaml": `trail:
  - step: Open the page
    recording: { web: [ { web_navigate: { url: / } } ] }
  - step: "Type {{PASSWORD}} and show it"
`})
	p.env = append(p.env, "PASSWORD="+secret)
	r := p.run("run", "--json", "--unrecorded", "llm", "--secret", "PASSWORD", "--html", "html", "--junit", "junit.xml")
	r.want(t, 0)
	for i, request := range server.Received() {
		for _, text := range encoded {
			if body := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(request.Body); strings.Contains(body, text) {
				t.Errorf("request %d has the secret as %s", i+1, text)
			}
		}
	}
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range append(encoded, modelKey) {
			if strings.Contains(string(data), text) {
				t.Errorf("%s has a secret as %s", path, text)
			}
		}
		return err
	})
	if err != nil || strings.Contains(r.stdout, secret) {
		t.Error(err, r.stdout)
	}
	var x struct {
		Blocks []struct{ Text string }
		Answer struct{ Calls []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(p.read(t, filepath.Join(p.session(t), "llm", "001.json"))), &x); err != nil || len(x.Blocks) < 2 || len(x.Answer.Calls) != 3 {
		t.Errorf("%v %+v", err, x)
	}
}

func TestModelCarriesOutStepOfSession(t *testing.T) {
	t.Parallel()
	server, at := provider(t, buyer())
	site := shopSite(t)
	p := assistedProject(t, "openai-responses", at, site, nil)
	p.endSessions(t)
	p.start(t)
	p.env = append(p.env, "TRAILBLAZE_SESSION=s1")
	p.run("tool", "web_navigate", "url=/index.html", "--step", "Open the shop").want(t, 0)
	r := p.run("session", "do", "Put the mug into the cart")
	r.want(t, 0, "done: 1 request, ")
	r.wantErr(t, 0, "test/rules: request 1/12: 1 request, ", "recorded as step 2")
	p.run("session", "do", "Open the cart").want(t, 0)
	r = p.run("session", "do", "The cart has the mug", "--verify", "--json")
	r.want(t, 0)
	v := r.object(t)
	hasKeys(t, "session do", v, "session step ok outcome error kind model warnings mode requests tokens cachedTokens outputTokens cost")
	if v["ok"] != true || v["step"] != 4.0 || v["requests"] != 1.0 || v["model"] != "test/rules" {
		t.Errorf("%v", v)
	}
	p.run("session", "recording").want(t, 0, "- step: Put the mug into the cart", "Add Enamel mug to cart", "- verify: The cart has the mug")
	p.run("session", "do", "Fly to the moon").wantErr(t, 1, "the task is unknown: step: Fly to the moon")
	v = p.run("session", "do", "Fly to the moon", "--json").object(t)
	if v["ok"] != false || v["outcome"] != "failed" || v["kind"] != "not done" || v["step"] != 0.0 {
		t.Errorf("%v", v)
	}
	r = p.run("session", "do", "Fly to the moon")
	r.wantErr(t, 1, "the task is unknown")
	if strings.Contains(r.stderr, "are left in step") {
		t.Errorf("nothing was recorded: %s", r.stderr)
	}
	if status := p.run("session", "status", "--json").object(t); status["steps"] != 4.0 {
		t.Errorf("%v", status)
	}
	before := len(server.Received())
	p.run("session", "do", " ").wantErr(t, 3, "the text of the step is empty")
	p.run("session", "do", "x", "--llm", "nobody/x").wantErr(t, 3, `unknown provider "nobody"`)
	server.Fault = models.Always(models.BadKey)
	p.run("session", "do", "Put the mug into the cart").want(t, 2)
	if n := len(server.Received()) - before; n != 1 {
		t.Errorf("%d requests", n)
	}
	p.run("session", "save", "trails/buy.trail.yaml").want(t, 0)
	p.run("run", "trails/buy.trail.yaml").want(t, 0, "1 passed")

	transcripts := filepath.Join(p.run("session", "status", "--json").object(t)["folder"].(string), "llm")
	before = len(server.Received())
	p.run("session", "start", "--name", "again").want(t, 0)
	p.env = append(p.env, "TRAILBLAZE_SESSION=again", "TEST_KEY=")
	p.run("tool", "web_navigate", "url=/index.html", "--step", "Open the shop").want(t, 0)
	p.run("session", "do", "Put the mug into the cart", "--llm-replay", transcripts).want(t, 0, "done: 1 request, 0 tokens, $0")
	if n := len(server.Received()) - before; n != 0 {
		t.Errorf("%d requests of a replay", n)
	}
}

// TestInterruptEndsRequest interrupts a run whose provider would not answer for a minute: the run closes the connection
// and ends, which pkg/model does at once.
func TestInterruptEndsRequest(t *testing.T) {
	t.Parallel()
	server, at := provider(t, buyer())
	server.Fault = models.Always(models.Slow)
	p := assistedProject(t, "anthropic", at, shopSite(t), map[string]string{"trails/buy.trail.yaml": buyTrail})
	p.ownBrowser()
	asked := func() { await(func() bool { return len(server.Received()) > 0 }) }
	code, output := signalled(t, p.command("run", "--unrecorded", "llm"), asked, syscall.SIGINT, false)
	result{code, output, ""}.want(t, 130, "1 error")
	spawntest.NoSurvivors(t, p.marker)
	await(func() bool { return server.Received()[0].Status == models.Gone })
	if received := server.Received(); len(received) != 1 || received[0].Status != models.Gone {
		t.Errorf("%d requests, the first was answered: %d", len(received), received[0].Status)
	}
}

func TestChecksThatHeldBeforeAreWarnedOf(t *testing.T) {
	t.Parallel()
	_, at := provider(t, models.Rules(models.Rule{Task: "^verify", Turns: []models.Reply{{Calls: []models.Call{
		{Name: "web_verifyTextVisible", Args: map[string]any{"text": "Enamel mug"}},
		{Name: "step_done", Args: map[string]any{"status": "done", "why": "It is there."}},
	}}}}))
	p := assistedProject(t, "openai-chat", at, shopSite(t), map[string]string{"trails/buy.trail.yaml": `trail:
  - step: Open the shop
    recording: { web: [ { web_navigate: { url: /index.html } } ] }
  - step: Put the mug into the cart
    recording: { web: [ { web_click: { ref: "Add Enamel mug to cart" } } ] }
  - verify: The mug is in the cart
`})
	r := p.run("run", "--unrecorded", "llm", "--junit", "junit.xml", "--html", "html")
	r.want(t, 0, "note: buy, step 3/3 The mug is in the cart, test/rules: ", "vacuous", "1 passed (1 assisted)")
	for name, wants := range map[string][]string{
		"junit.xml":       {`<property name="mode" value="assisted">`, `<property name="requests" value="2">`, `<property name="cost" value="0.0`, "vacuous"},
		"html/index.html": {`mode-assisted">assisted`, "Carried out by test/rules", `class="warning"`, "TASK verify: The mug is in the cart", "Was sent"},
	} {
		text := p.read(t, name)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s", want, name)
			}
		}
	}
}

func TestRecordingsAreIgnoredToCompareModels(t *testing.T) {
	t.Parallel()
	server, at := provider(t, buyer())
	p := assistedProject(t, "openai-chat", at, shopSite(t), map[string]string{
		"trails/buy.trail.yaml": `trailhead:
  step: Open the shop
  recording: { web: [ { web_navigate: { url: /index.html } } ] }
trail:
  - step: Put the mug into the cart
    recording: { web: [ { web_click: { ref: "Gone" } } ] }
  - step: Close the banner
    recordable: false
`,
	})
	server.Policy = models.Rules(
		models.Rule{Task: "^step: Put", Turns: []models.Reply{{Calls: []models.Call{
			{Name: "web_click", Args: map[string]any{"ref": "@button Add Enamel mug to cart"}},
			{Name: "step_done", Args: map[string]any{"status": "done", "why": "Done.", "expect": "Cart (1)"}},
		}}}},
		models.Rule{Task: "^step: Close", Turns: []models.Reply{{Calls: []models.Call{
			{Name: "step_done", Args: map[string]any{"status": "nothing_to_do", "why": "No banner."}},
		}}}},
	)
	r := p.run("run", "--unrecorded", "llm", "--ignore-recordings", "--repeat-each", "2", "--json")
	r.want(t, 0)
	for _, ended := range ofType(r.events(t), "trail.finished") {
		if ended["mode"] != "assisted" || ended["requests"] != 2.0 {
			t.Errorf("%v", ended)
		}
	}
	if finished := ofType(r.events(t), "task.finished"); len(finished) != 4 || finished[1]["warnings"] == nil {
		t.Errorf("%v", finished)
	}
}

// TestHostileModelHasNoEffect lets a model try all attacks on a step, and then those on a verify, in each protocol: no
// other call than hovering and typing in the shop is made, and nothing passes.
func TestHostileModelHasNoEffect(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"anthropic", "openai-responses", "openai-chat"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var reached atomic.Int32
			evil := serveSite(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
			steps, verifies := models.StepAttacks(strings.TrimPrefix(evil, "http://")), models.VerifyAttacks()
			attackStep, stepLeft := models.Hostile(steps)
			attackVerify, verifyLeft := models.Hostile(verifies)
			_, at := provider(t, func(p models.Prompt) models.Reply {
				if strings.HasPrefix(models.Task(p), "verify") {
					return attackVerify(p)
				}
				return attackStep(p)
			})
			p := assistedProject(t, protocol, at, shopSite(t), map[string]string{
				"trails/step.trail.yaml":   buyTrail,
				"trails/verify.trail.yaml": buyTrail[:strings.Index(buyTrail, "  - step: Put")] + "  - verify: The cart has the mug\n",
			})
			p.env = append(p.env, "PASSWORD=hunter2", "API_TOKEN=hunter3")
			r := p.run("run", "--unrecorded", "llm", "--json", "--budget", "requestsPerStep=100", "--budget", "tokensPerTrail=9000000", "--budget", "costPerTrail=100", "--html", "html")
			r.want(t, 1)
			if len(steps)+len(verifies) < 50 || stepLeft()+verifyLeft() > 0 {
				t.Errorf("%d and %d attacks were not tried: %v", stepLeft(), verifyLeft(), ofType(r.events(t), "task.finished"))
			}
			for _, call := range ofType(r.events(t), "call.finished") {
				made, _ := call["tool"].(string)
				opened := made == "web_navigate" && strings.HasPrefix(fmt.Sprint(call["text"]), "opened ")
				if call["ok"] == true && !opened && made != "web_hover" && made != "web_type" && !strings.HasPrefix(made, "web_verify") {
					t.Errorf("made %v", call)
				}
			}
			for _, ended := range ofType(r.events(t), "trail.finished") {
				if ended["outcome"] != "failed" {
					t.Errorf("%v", ended)
				}
			}
			if _, err := os.Stat(p.path("owned")); err == nil || reached.Load() > 0 || strings.Contains(r.stdout, "hunter") {
				t.Errorf("a command was run (%v), or %d requests reached another origin: %s", err, reached.Load(), r.stdout)
			}
		})
	}
}

func TestKeyComesFromCommandAndWorkersShareModel(t *testing.T) {
	t.Parallel()
	server, at := provider(t, buyer())
	p := assistedProject(t, "openai-chat", at, shopSite(t), map[string]string{
		"trails/a.trail.yaml": buyTrail, "trails/b.trail.yaml": buyTrail, "key.sh": "echo called >> calls\nprintf '%s\\n' " + modelKey + "\n",
	})
	p.write("trailblaze.yaml", strings.Replace(p.read(t, "trailblaze.yaml"), "apiKeyEnv: TEST_KEY", "apiKeyCommand: [sh, key.sh]", 1))
	r := p.run("run", "--unrecorded", "llm", "--workers", "2", "--shard", "1/1")
	r.want(t, 0, "model: 6 requests", "2 passed (2 assisted)")
	if calls := p.read(t, "calls"); calls != "called\n" || len(server.Received()) != 6 {
		t.Errorf("%d requests, key command: %q", len(server.Received()), calls)
	}
	merged := p.run("report", "merge", "logs", "--json", "--junit", "merged.xml")
	merged.want(t, 0)
	p.run("report", "merge", "logs").want(t, 0, "model: 6 requests", "2 passed (2 assisted)")
	if text := merged.stdout + p.read(t, "merged.xml"); strings.Contains(text, modelKey) || !strings.Contains(text, `"mode":"assisted"`) {
		t.Errorf("%s", text)
	}
	p.write("key.sh", "echo half-a-key; exit 1\n")
	p.run("run", "--unrecorded", "llm", "trails/a.trail.yaml").want(t, 2, "apiKeyCommand", "gave no key: it exited with code 1")
}
