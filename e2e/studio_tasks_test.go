//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// In these tests Playwright is the person at the page of a studio, which finds everything by its role and name.

// taskShop is a shop in one page.
const taskShop = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<main><form><label>Email <input name="email" type="email"></label> <label>Password <input name="password" type="password"></label>
<button>Sign in</button></form></main>
<script>
const main = document.querySelector("main");
let total = 0;
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  const { email, password } = event.target.elements;
  if (email.value !== "ada@example.com" || password.value !== "apples") return;
  main.innerHTML = '<button data-price="3.5">Add tea</button> <button data-price="12">Add mug</button><p role="status">Total 0.00</p>';
  main.onclick = (event) => {
    total += Number(event.target.dataset.price || 0);
    main.querySelector("p").textContent = "Total " + total.toFixed(2);
  };
};
</script></html>`

// person does a task at the page, and returns what it found. It fails the test if the page complained.
func (s *studio) person(task string, args ...string) (found json.RawMessage) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 5*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", append([]string{"studio-tasks.mjs", task, spawntest.Chromium(s.T), s.url}, args...)...)
	node.Dir, node.WaitDelay = filepath.Join("..", "testdata", "web", "playwright"), 30*time.Second
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	var answer struct {
		Found      json.RawMessage
		Complaints []string
	}
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil {
		s.Fatalf("%v: %s%s\nstudio: %s", err, out, &stderr, &s.stderr)
	}
	if len(answer.Complaints) > 0 {
		s.Errorf("the page complained: %q", answer.Complaints)
	}
	return answer.Found
}

func TestNewcomerRecordsOnTheWeb(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	s := p.studio(t, "--no-open")
	s.person("shop", pageSite(t, taskShop))
	p.run("run", "trails/newcomer.trail.yaml").want(t, 0)
	if text := p.read(t, "trails/newcomer.trail.yaml"); strings.Count(text, "web_type") != 2 || strings.Count(text, "web_click") != 3 {
		t.Errorf("the trail:\n%s", text)
	}
}
