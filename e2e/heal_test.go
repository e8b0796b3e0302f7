//go:build unix

package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/models"
)

// brokenTrail buys a plan on the page of planSite. The name of the button is old.
const brokenTrail = `# A comment that stays.
config: { title: Buy a plan }
trail:
  - step: Open the shop
    recording: { web: [ { web_navigate: { url: / } } ] }

  - step: Take the better plan
    recording:
      web: # recorded by hand
        - web_verifyElementVisible: { ref: 'heading "Plans"' }
        - web_click: { ref: 'button "Upgrade"', timeoutMs: 300 } # the big one
        - web_verifyTextVisible: { text: "You have the better plan" }

  - verify: The plan has its price
    recording:
      web:
        - web_verifyValue: { ref: 'status', expected: "12.50 €" }
`

// planSite serves a page with a button that is called by name. after is what it does, as JavaScript.
func planSite(t *testing.T, name, after, more string) string {
	t.Helper()
	return pageSite(t, fmt.Sprintf(`<title>Plans</title><h1>Plans</h1>%s<button id=u onclick="%s">%s</button><p role=status></p><p id=out></p>`, more, after, name))
}

const better = `document.querySelector('[role=status]').textContent='12.50 €'; out.textContent='You have the better plan'`


// gitApplies reports whether git applies a patch in a folder.
func gitApplies(t *testing.T, dir, patch string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", "apply", "--check", "-v", patch)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v\n%s", err, out)
	}
}

// clicker is a model that clicks elements, one after another, and says that a text has appeared.
func clicker(expect string, elements ...string) models.Policy {
	var calls []models.Call
	for _, e := range elements {
		calls = append(calls, models.Call{Name: "web_click", Args: map[string]any{"ref": "@" + e}})
	}
	calls = append(calls, models.Call{Name: "step_done", Args: map[string]any{"status": "done", "why": "It is there.", "expect": expect}})
	var turns []models.Reply
	for i, c := range calls {
		if i < len(calls)-2 {
			turns = append(turns, models.Reply{Calls: []models.Call{c}})
		}
	}
	turns = append(turns, models.Reply{Calls: calls[max(0, len(calls)-2):]})
	return models.Rules(models.Rule{Task: "^step: Take the better plan", Turns: turns})
}

func TestHealIsWritten(t *testing.T) {
	t.Parallel()
	server, at := provider(t, clicker("better plan", "button Get the better plan"))
	p := assistedProject(t, "anthropic", at, planSite(t, "Get the better plan", better, ""), map[string]string{"trails/plan.trail.yaml": brokenTrail})
	r := p.run("run", "--heal", "write", "--json")
	r.want(t, 0)
	ended, proposed := ofType(r.events(t), "trail.finished"), ofType(r.events(t), "heal.proposed")
	if len(ended) != 1 || ended[0]["mode"] != "healed" || ended[0]["requests"] != 1.0 || ended[0]["healed"] != 1.0 {
		t.Errorf("%v", ended)
	}
	if len(proposed) != 1 || proposed[0]["class"] != "renamed" || proposed[0]["proof"] != "passed" || proposed[0]["guard"] != "" || proposed[0]["step"] != "2" || proposed[0]["call"] != 2.0 {
		t.Errorf("%v", proposed)
	}
	want := strings.Replace(brokenTrail, `{ ref: 'button "Upgrade"', timeoutMs: 300 }`, `{ nodeSelector: { web: { ariaNameRegex: Get the better plan, ariaRole: button } }, timeoutMs: 300 }`, 1)
	if got := p.read(t, "trails/plan.trail.yaml"); got != want {
		t.Errorf("%s", got)
	}
	p.run("run", "--heal", "write").want(t, 0, "1 passed", "model: 0 requests")
	if n := len(server.Received()); n != 1 {
		t.Errorf("%d requests", n)
	}
	_ = filepath.Join
	_ = http.StatusOK
	_ = sync.Mutex{}
}
