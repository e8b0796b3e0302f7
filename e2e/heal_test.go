//go:build unix

package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/models"
)

// planTrail buys a plan on a page of planPage. It calls the button by an old name.
const planTrail = `# A comment that stays.
config: { title: Buy a plan }
trail:
  - step: Open the shop
    recording: { web: [ { web_navigate: { url: / } } ] }

  - step: Take the better plan
    recording:
      web: # recorded by hand
        - web_verifyElementVisible: { ref: 'heading "Plans"', timeoutMs: 300 }
        - web_click: { ref: 'button "Upgrade"', timeoutMs: 300 } # the big one
        - web_verifyTextVisible: { text: "You have the better plan", timeoutMs: 300 }

  - verify: The plan has its price
    recording:
      web:
        - web_verifyValue: { ref: 'status', expected: "12.50 €", timeoutMs: 300 }
`

const better = `document.querySelector('[role=status]').textContent='12.50 €'; out.textContent='You have the better plan'`

// planPage is a page with a button that is called by name, and more elements.
func planPage(name, more string) string {
	return fmt.Sprintf(`<title>Plans</title><h1>Plans</h1>%s<button onclick="%s">%s</button><p role=status></p><p id=out></p>`, more, better, name)
}

// nthPage serves pages: the first one to the first session, and so on; the last one to all from then on.
func nthPage(t *testing.T, pages ...string) string {
	t.Helper()
	var served atomic.Int32
	return serveSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		page := pages[min(int(served.Add(1)), len(pages))-1]
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if page == "" {
			w.WriteHeader(http.StatusInternalServerError)
			page = planPage("Try again", "")
		}
		_, _ = w.Write([]byte(page))
	}))
}

// clicker is a model that clicks elements, one after another, and says that the better plan has appeared.
func clicker(elements ...string) models.Policy {
	var turns []models.Reply
	for i, e := range elements {
		turn := []models.Call{{Name: "web_click", Args: map[string]any{"ref": "@" + e}}}
		if i == len(elements)-1 {
			turn = append(turn, models.Call{Name: "step_done", Args: map[string]any{"status": "done", "why": "It is there.", "expect": "better plan"}})
		}
		turns = append(turns, models.Reply{Calls: turn})
	}
	return models.Rules(models.Rule{Task: "^step: Take the better plan", Turns: turns})
}

// healed is the recorded click on a button with another name.
func healed(name string) string {
	return strings.Replace(planTrail, `{ ref: 'button "Upgrade"', timeoutMs: 300 }`,
		`{ nodeSelector: { web: { ariaNameRegex: `+name+`, ariaRole: button } }, timeoutMs: 300 }`, 1)
}

// healProject is a project with planTrail, a page, and a model.
func healProject(t *testing.T, site string, policy models.Policy) (*project, *models.Server) {
	t.Helper()
	server, at := provider(t, policy)
	return assistedProject(t, "anthropic", at, site, map[string]string{"trails/plan.trail.yaml": planTrail}), server
}

// renamedProject is a project with planTrail, which has passed. Since then the button is called "Get the better plan".
func renamedProject(t *testing.T) (*project, *models.Server) {
	t.Helper()
	p, server := healProject(t, nthPage(t, planPage("Upgrade", ""), planPage("Get the better plan", "")), clicker("button Get the better plan"))
	p.run("run", "--heal", "propose").want(t, 0)
	return p, server
}

func TestHealIsWritten(t *testing.T) {
	t.Parallel()
	p, server := renamedProject(t)
	r := p.run("run", "--heal", "write", "--json")
	r.want(t, 0)
	ended, proposed, summary := ofType(r.events(t), "trail.finished"), ofType(r.events(t), "heal.proposed"), ofType(r.events(t), "run.finished")[0]
	if len(ended) != 1 || ended[0]["mode"] != "healed" || ended[0]["outcome"] != "passed" || ended[0]["requests"] != 1.0 || ended[0]["healed"] != 1.0 {
		t.Errorf("%v", ended)
	}
	if summary["healed"] != 1.0 || summary["passed"] != 1.0 || summary["mode"] != "healed" {
		t.Errorf("%v", summary)
	}
	if len(proposed) != 1 || proposed[0]["class"] != "renamed" || proposed[0]["proof"] != "passed" || proposed[0]["guard"] != "" || proposed[0]["step"] != "2" || proposed[0]["call"] != 2.0 {
		t.Errorf("%v", proposed)
	}
	if got := p.read(t, "trails/plan.trail.yaml"); got != healed("Get the better plan") {
		t.Errorf("%s", got)
	}
	for _, name := range []string{"heal.json", "heal.patch", "llm/001.json"} {
		if _, err := os.Stat(p.path(filepath.Join("logs", "latest", name))); err != nil {
			t.Error(err)
		}
	}
	p.run("run", "--heal", "write").want(t, 0, "1 passed", "model: 0 requests")
	if n := len(server.Received()); n != 1 {
		t.Errorf("%d requests: a trail that passes makes none", n)
	}
}

// TestHealIsReviewedWithoutKeptScreens has a button that was renamed, or that is gone while another one does the same:
// where no screen of a trail that passed was kept, nothing tells one from the other.
func TestHealIsReviewedWithoutKeptScreens(t *testing.T) {
	t.Parallel()
	p, _ := healProject(t, pageSite(t, planPage("Get the better plan", "")), clicker("button Get the better plan"))
	r := p.run("run", "--heal", "write", "--json")
	r.want(t, 1)
	ended, proposed := ofType(r.events(t), "trail.finished")[0], ofType(r.events(t), "heal.proposed")[0]
	if proposed["class"] != "renamed" || proposed["proof"] != "passed" || proposed["guard"] != "" {
		t.Errorf("%v", proposed)
	}
	if hint := fmt.Sprint(ended["hint"]); ended["outcome"] != "failed" || !strings.Contains(hint, "review the patch, and apply it") {
		t.Errorf("%v", ended)
	}
	if got := p.read(t, "trails/plan.trail.yaml"); got != planTrail {
		t.Errorf("it was written:\n%s", got)
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "logs/latest/heal.patch")
	apply.Dir = p.dir
	if out, err := apply.CombinedOutput(); err != nil || p.read(t, "trails/plan.trail.yaml") != healed("Get the better plan") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestHealIsProposedAsPatch(t *testing.T) {
	t.Parallel()
	p, _ := healProject(t, pageSite(t, planPage("Get the better plan", "")), clicker("button Get the better plan"))
	p.write("trails/b plan ü.trail.yaml", strings.ReplaceAll(planTrail, "\n", "\r\n"))
	p.write("trails/plan.trail.yaml", strings.TrimSuffix(planTrail, "\n")) // without a line end
	r := p.run("run", "--heal", "propose", "--junit", "junit.xml", "--html", "html")
	r.want(t, 1, `button "Upgrade" was not found`, "healing proposes: step 2", "renamed", "heal.patch", "2 failed")
	for name, wants := range map[string][]string{
		"junit.xml":       {`type="healed"`, `<property name="heal" value="renamed`},
		"html/index.html": {"Get the better plan", `<span class="added">`, "renamed"},
	} {
		text := p.read(t, name)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s", want, name)
			}
		}
	}
	patches, err := filepath.Glob(p.path("logs/*plan_*/heal.patch"))
	if err != nil || len(patches) != 2 {
		t.Fatal(patches, err)
	}
	if strings.Contains(p.read(t, "trails/plan.trail.yaml"), "Get the") {
		t.Error("it was written")
	}
	for _, patch := range patches {
		c := exec.CommandContext(t.Context(), "git", "apply", "-v", patch)
		c.Dir = p.dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, p.read(t, patch))
		}
	}
	if got := p.read(t, "trails/plan.trail.yaml"); got != strings.TrimSuffix(healed("Get the better plan"), "\n") {
		t.Errorf("%s", got)
	}
	p.run("run").want(t, 0, "2 passed")
}

// TestHealIsRefused has failures that stay failures, whatever the model does.
func TestHealIsRefused(t *testing.T) {
	t.Parallel()
	edited := func(old, new string) string { return strings.Replace(planTrail, old, new, 1) }
	renamedPage := planPage("Get the better plan", "")
	rename := clicker("button Get the better plan")
	for name, tt := range map[string]struct {
		pages    []string // for the sessions in turn; renamedPage if there is none
		policy   models.Policy
		trail    string
		flags    []string
		requests int
		want     []string
	}{
		"another element while the old one is mentioned": {
			pages: []string{planPage("Get the better plan", "<p>Upgrade</p>")}, requests: 1, want: []string{"heal refused", `still shows "Upgrade"`},
		},
		"a link in place of a button": {
			pages:    []string{`<h1>Plans</h1><a href="#" onclick="` + better + `">Get the better plan</a><p role=status></p><p id=out></p>`},
			policy:   clicker("link Get the better plan"),
			requests: 1, want: []string{"heal refused", "it is a link, not a button"},
		},
		"no later check": {
			trail: planTrail[:strings.Index(planTrail, "\n  - verify")+1], requests: 1, want: []string{"no later step checks"},
		},
		"a later check of nothing": {
			trail:    edited(`web_verifyValue: { ref: 'status', expected: "12.50 €", timeoutMs: 300 }`, `web_verifyElementNotVisible: { ref: 'button "Ad"' }`),
			requests: 1, want: []string{"no later step checks"},
		},
		"an expectation": {pages: []string{planPage("Upgrade", "")}, trail: edited(`expected: "12.50 €"`, `expected: "10.00 €"`), want: []string{"12.50 €"}},
		"a text":         {pages: []string{planPage("Upgrade", "")}, trail: edited(`text: "You have`, `text: "You got`), want: []string{"You got"}},
		"a check that an element is there": {
			pages:    []string{strings.Replace(planPage("Upgrade", ""), "<h1>Plans", "<h1>Rates", 1)},
			policy:   checker("web_verifyElementVisible", "heading Rates"),
			requests: 1, want: []string{`heading "Plans" was not found`, "no other one can take its place"},
		},
		"the model gives up":                {policy: models.Script(models.GiveUp("It is gone.")), requests: 1, want: []string{"not healed, not done", "It is gone."}},
		"a flaky failure":                   {pages: []string{renamedPage, planPage("Upgrade", "")}, want: []string{"not healed, not reproduced: the trail passed in a fresh session"}},
		"another reason":                    {pages: []string{renamedPage, "<h1>Rates</h1>"}, want: []string{"not healed, not reproduced", "failed for another reason"}},
		"a page that was answered with 500": {pages: []string{""}, want: []string{"not healed, app unhealthy", "500"}},
		"no proof": {
			pages: []string{renamedPage, renamedPage, planPage("Buy", "")}, requests: 1, want: []string{"not healed, heal refused: the repaired trail does not pass"},
		},
		"a proof that fails later": {
			pages:    []string{renamedPage, renamedPage, strings.Replace(renamedPage, "12.50", "13.50", 1)},
			requests: 1, want: []string{"not healed, heal refused: the repaired trail does not pass", "13.50"},
		},
		"a trailhead": {
			trail: "trailhead:\n  step: Take it\n  recording: { web: [ { web_navigate: { url: / } }, { web_click: { ref: 'button \"Upgrade\"', timeoutMs: 300 } } ] }\ntrail:\n  - verify: It is there\n    recording: { web: [ { web_verifyTextVisible: { text: better } } ] }\n",
			want:  []string{"was not found"},
		},
		"a teardown": {
			pages: []string{planPage("Upgrade", "")},
			trail: edited("config: { title: Buy a plan }", "config: { title: Buy a plan, teardown: [ { step: Leave, recording: { web: [ { web_click: { ref: 'button \"Leave\"', timeoutMs: 300 } } ] } } ] }"),
			want:  []string{"the teardown did not pass"},
		},
		"a used trail": {
			trail: "trail:\n  - use: part.trail.yaml\n  - verify: The plan has its price\n    recording: { web: [ { web_verifyTextVisible: { text: better } } ] }\n",
			want:  []string{"part.trail.yaml", "was not found"},
		},
		"another step without a recording": {
			trail: planTrail + "  - step: Leave\n", flags: []string{"--unrecorded", "llm"}, want: []string{"was not found"},
		},
		"a step that is skipped":    {trail: planTrail + "  - step: Leave\n", flags: []string{"--unrecorded", "skip"}, want: []string{"was not found"}},
		"a budget":                  {flags: []string{"--budget", "tokensPerTrail=100"}, want: []string{"not healed, budget"}},
		"an unknown element":        {trail: edited(`ref: 'button "Upgrade"'`, `ref: "css=#plans button"`), pages: []string{planPage("Upgrade", "")}, want: []string{"was not found"}},
		"a name of unknown role":    {trail: edited(`'button "Upgrade"'`, `"Upgrade"`), requests: 1, want: []string{"does not say which role"}},
		"a trail that is flaky now": {pages: []string{renamedPage, planPage("Upgrade", "")}, flags: []string{"--retries", "1"}, want: nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages, policy, text := tt.pages, tt.policy, tt.trail
			if pages == nil {
				pages = []string{renamedPage}
			}
			if policy == nil {
				policy = rename
			}
			if text == "" {
				text = planTrail
			}
			p, server := healProject(t, nthPage(t, pages...), policy)
			p.write("trails/plan.trail.yaml", text)
			p.write("parts/part.trail.yaml", planTrail)
			p.write("trails/plan.trail.yaml", strings.Replace(text, "use: part", "use: ../parts/part", 1))
			text = p.read(t, "trails/plan.trail.yaml")
			code := 1
			if tt.want == nil {
				code = 0
			}
			p.run(append([]string{"run", "--heal", "write"}, tt.flags...)...).want(t, code, tt.want...)
			if got := p.read(t, "trails/plan.trail.yaml"); got != text || p.read(t, "parts/part.trail.yaml") != planTrail {
				t.Errorf("a file was written:\n%s", got)
			}
			if n := len(server.Received()); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
		})
	}
}

// checker is a model that makes a check on an element.
func checker(check, element string) models.Policy {
	return models.Rules(models.Rule{Task: "^verify: Take the better plan", Turns: []models.Reply{{Calls: []models.Call{
		{Name: check, Args: map[string]any{"ref": "@" + element}},
		{Name: "step_done", Args: map[string]any{"status": "done", "why": "It is there."}},
	}}}})
}

func TestHealThroughMenu(t *testing.T) {
	t.Parallel()
	cover := `<div id=cookies role=dialog aria-label=Cookies style="position:fixed;inset:0;background:white"><button onclick="cookies.remove()">Accept</button></div>`
	p, _ := healProject(t, pageSite(t, planPage("Upgrade", cover)), clicker("button Accept", "button Upgrade"))
	p.run("run", "--heal", "write").want(t, 0, "1 passed (1 healed)", "rerouted")
	const click = "        - web_click: { ref: 'button \"Upgrade\"'"
	want := strings.Replace(planTrail, click, `        - web_click:
            nodeSelector:
              web:
                ariaNameRegex: Accept
                ariaRole: button
`+click, 1)
	if got := p.read(t, "trails/plan.trail.yaml"); got != want {
		t.Errorf("%s", got)
	}
}

// TestHealKnowsWhatWasBeside refuses an element that was there when the trail last passed.
func TestHealKnowsWhatWasBeside(t *testing.T) {
	t.Parallel()
	down := `<button onclick="` + better + `">Downgrade</button>`
	both, one := planPage("Upgrade", down), planPage("Downgrade", "")
	for _, flags := range [][]string{{"--trace", "on"}, {"--evidence", "always"}, {"--heal", "propose"}} {
		p, server := healProject(t, nthPage(t, both, one), clicker("button Downgrade"))
		p.run(append([]string{"run"}, flags...)...).want(t, 0)
		p.run("run", "--heal", "write").want(t, 1, "heal refused", `"Downgrade" was beside "Upgrade" when the trail last passed`)
		if n := len(server.Received()); n != 1 || p.read(t, "trails/plan.trail.yaml") != planTrail {
			t.Errorf("%d requests", n)
		}
	}
}

// TestHealKnowsWhatWasBesideWithinStep has buttons that are there only between two calls of a step, and only when the
// screen was shown for a while.
func TestHealKnowsWhatWasBesideWithinStep(t *testing.T) {
	t.Parallel()
	page := func(names ...string) string {
		choice := ""
		for _, name := range names {
			choice += fmt.Sprintf(`<button onclick="choice.remove(); %s">%s</button>`, better, name)
		}
		return `<h1>Plans</h1><button onclick="setTimeout(() => choice.hidden = false, 150)">Choose</button><p role=status></p><p id=out></p><div id=choice hidden>` + choice + `</div>`
	}
	p, _ := healProject(t, nthPage(t, page("Upgrade", "Downgrade"), page("Downgrade")), clicker("button Downgrade"))
	p.write("trails/plan.trail.yaml", strings.Replace(planTrail, `web_verifyElementVisible: { ref: 'heading "Plans"'`, `web_click: { ref: 'button "Choose"'`, 1))
	p.run("run", "--heal", "propose").want(t, 0)
	p.run("run", "--heal", "write").want(t, 1, "heal refused", `"Downgrade" was beside "Upgrade" when the trail last passed`)
}

func TestHealOfSeveralSteps(t *testing.T) {
	t.Parallel()
	policy := models.Rules(
		models.Rule{Task: "^step: Take", Turns: []models.Reply{{Calls: []models.Call{
			{Name: "web_click", Args: map[string]any{"ref": "@button Get the better plan"}},
			{Name: "step_done", Args: map[string]any{"status": "done", "why": "x", "expect": "better plan"}},
		}}}},
		models.Rule{Task: "^verify: The sum", Turns: []models.Reply{{Calls: []models.Call{
			{Name: "web_verifyValue", Args: map[string]any{"ref": "@heading Our plans", "expected": "Our plans"}},
			{Name: "step_done", Args: map[string]any{"status": "done", "why": "x"}},
		}}}},
	)
	site := nthPage(t, planPage("Upgrade", `<h2 aria-label="OUR PLANS!">Our plans</h2>`), planPage("Get the better plan", "<h2>Our plans</h2>"))
	p, server := healProject(t, site, policy)
	p.write("trails/plan.trail.yaml", planTrail+`  - verify: The sum is there
    recording: { web: [ { web_verifyValue: { ref: 'heading "OUR PLANS!"', expected: "Our plans", timeoutMs: 300 } } ] }
`)
	p.run("run", "--heal", "propose").want(t, 0)
	p.run("run", "--heal", "write").want(t, 0, "1 passed (1 healed)", "renamed", "same")
	if got := p.read(t, "trails/plan.trail.yaml"); !strings.Contains(got, "ariaNameRegex: Get the better plan") || !strings.Contains(got, "ariaNameRegex: Our plans") {
		t.Errorf("%s", got)
	}
	if n := len(server.Received()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestHealIsNotWrittenIntoChangedFile(t *testing.T) {
	t.Parallel()
	p, server := renamedProject(t)
	click := server.Policy
	server.Policy = func(prompt models.Prompt) models.Reply {
		p.write("trails/plan.trail.yaml", planTrail+"# mine\n")
		return click(prompt)
	}
	p.run("run", "--heal", "write").want(t, 1, "it was not written: the file was changed meanwhile", "heal.patch", "1 failed")
	if got := p.read(t, "trails/plan.trail.yaml"); got != planTrail+"# mine\n" {
		t.Errorf("%s", got)
	}
}

func TestHealByConfigAndFlags(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		llm     string
		env     string
		flags   []string
		code    int
		written bool
	}{
		"off":                           {"", "", nil, 1, false},
		"the project writes":            {"heal: write", "", nil, 0, true},
		"the project writes in CI":      {"heal: write", "CI=true", nil, 1, false},
		"the flag writes in CI":         {"heal: propose", "CI=true", []string{"--heal", "write"}, 0, true},
		"the flag wins":                 {"heal: write", "", []string{"--heal", "off"}, 1, false},
		"a heal fails the run":          {"", "", []string{"--heal", "write", "--fail-on-healed"}, 1, true},
		"repetitions":                   {"", "", []string{"--heal", "write", "--repeat-each", "2"}, 0, true},
		"workers":                       {"", "", []string{"--heal", "write", "--repeat-each", "2", "--workers", "2"}, 0, true},
		"after retries, that is a heal": {"", "", []string{"--heal", "write", "--retries", "1", "--fail-on-flaky"}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := renamedProject(t)
			p.write("trailblaze.yaml", strings.Replace(p.read(t, "trailblaze.yaml"), "llm:\n", "llm:\n  "+tt.llm+"\n", 1))
			p.env = append(p.env, tt.env)
			p.run(append([]string{"run"}, tt.flags...)...).want(t, tt.code)
			if written := p.read(t, "trails/plan.trail.yaml") != planTrail; written != tt.written {
				t.Errorf("written: %t", written)
			}
			if name == "off" && len(server.Received()) > 0 {
				t.Error("a model was asked")
			}
		})
	}
	p := newProject(t, map[string]string{"trails/plan.trail.yaml": planTrail})
	p.write("trailblaze.yaml", webConfig)
	p.run("run", "--heal", "write").wantErr(t, 3, "no model is configured")
	p.run("run", "--heal", "maybe").wantErr(t, 3, "--heal propose")
	p.run("run", "--fail-on-healed").wantErr(t, 3, "--fail-on-healed has no effect without --heal write")
	p.run("run", "--llm", "test/rules").wantErr(t, 3, "--llm has no effect without")
}

// TestHealOverShop heals one button of the shop and never a total that is wrong.
func TestHealOverShop(t *testing.T) {
	t.Parallel()
	const text = `trail:
  - step: Open the shop
    recording: { web: [ { web_navigate: { url: /index.html } } ] }
  - step: Put the mug into the cart
    recording: { web: [ { web_click: { ref: 'button "Add Enamel mug to cart"', timeoutMs: 500 } } ] }
  - step: Open the cart
    recording: { web: [ { web_click: { ref: 'link "Cart (1)"' } } ] }
  - verify: The total is right
    recording: { web: [ { web_verifyValue: { ref: css=#total, expected: TOTAL, timeoutMs: 500 } } ] }
`
	policy := models.Rules(models.Rule{Task: "^step: Put the mug", Turns: []models.Reply{{Calls: []models.Call{
		{Name: "web_click", Args: map[string]any{"ref": "@button Add Enamel mug to basket"}},
		{Name: "step_done", Args: map[string]any{"status": "done", "why": "It is in.", "expect": "Cart (1)"}},
	}}}})
	shopPages := http.FileServer(http.Dir(filepath.Join(shop, "pages")))
	var changed atomic.Bool
	site := serveSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		shopPages.ServeHTTP(answer, r)
		for _, name := range []string{"Content-Type", "Location"} {
			w.Header().Set(name, answer.Header().Get(name))
		}
		w.WriteHeader(answer.Code)
		body := answer.Body.String()
		if changed.Load() {
			body = strings.ReplaceAll(body, " to cart", " to basket")
		}
		_, _ = w.Write([]byte(body))
	}))
	for total, code := range map[string]int{"12.50 €": 0, "10.00 €": 1} {
		p, server := healProject(t, site, policy)
		changed.Store(false)
		p.write("trails/plan.trail.yaml", strings.Replace(text, "TOTAL", "12.50 €", 1))
		p.run("run", "--heal", "propose").want(t, 0)
		changed.Store(true)
		content := strings.Replace(text, "TOTAL", total, 1)
		p.write("trails/plan.trail.yaml", content)
		p.run("run", "--heal", "write").want(t, code)
		want := content
		if code == 0 {
			want = strings.Replace(content, `{ ref: 'button "Add Enamel mug to cart"', timeoutMs: 500 }`,
				`{ nodeSelector: { web: { ariaNameRegex: Add Enamel mug to basket, ariaRole: button } }, timeoutMs: 500 }`, 1)
		}
		if got := p.read(t, "trails/plan.trail.yaml"); got != want || len(server.Received()) != 1 {
			t.Errorf("%s: %s", total, got)
		}
	}
}

func TestInterruptedHealIsNotWritten(t *testing.T) {
	t.Parallel()
	p, server := healProject(t, pageSite(t, planPage("Get the better plan", "")), clicker("button Get the better plan"))
	p.ownBrowser()
	server.Fault = models.Always(models.Slow)
	asked := func() { await(func() bool { return len(server.Received()) > 0 }) }
	code, output := signalled(t, p.command("run", "--heal", "write"), asked, syscall.SIGINT, false)
	result{code, output, ""}.want(t, 130, `button "Upgrade" was not found`, "1 failed")
	if p.read(t, "trails/plan.trail.yaml") != planTrail {
		t.Error("it was written")
	}
	spawntest.NoSurvivors(t, p.marker)
}

// TestHealWithoutProvider says first why the trail failed.
func TestHealWithoutProvider(t *testing.T) {
	t.Parallel()
	p, server := healProject(t, pageSite(t, planPage("Get the better plan", "")), clicker("button Get the better plan"))
	server.Fault = models.Always(models.BadKey)
	r := p.run("run", "--heal", "write")
	r.want(t, 2, `button "Upgrade" was not found`, "not healed, provider", "1 error")
}

func TestHealIsReplayedFromTranscripts(t *testing.T) {
	t.Parallel()
	p, server := renamedProject(t)
	p.run("run", "--heal", "propose").want(t, 1, "healing proposes", "or run with --heal write")
	transcripts := filepath.Join(p.session(t), "llm")
	p.run("run", "--heal", "write", "--llm-replay", transcripts).want(t, 0, "1 healed")
	if n := len(server.Received()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
