//go:build unix

package e2e_test

import (
	"os"
	"testing"
)

// TestScriptsOfAWorkspaceRunOnEachRuntime calls a tool in TypeScript, which calls commands of the device.
func TestScriptsOfAWorkspaceRunOnEachRuntime(t *testing.T) {
	t.Parallel()
	p := newBakery(t, map[string]string{"trails/search/fill.trail.yaml": `config: {target: bakery}
trail:
  - step: fill the basket
    recording:
      web:
        - bakery_open: {}
        - bakery_fillBasket: {count: 2}
        - web_verifyTextVisible: {text: lemon plum}
`})
	p.env = append(p.env, "PATH="+bin(t, "node", bunPath)+":"+os.Getenv("PATH"))
	for _, runtime := range []string{"embedded", "node", "bun"} {
		r := p.run("run", "trails/search/fill.trail.yaml", "--runtime", runtime, "--json")
		r.want(t, 0)
		want := []string{"1 bakery_open", "1.1 web_navigate", "2 bakery_fillBasket", "2.1 web_click", "2.2 web_click", "3 web_verifyTextVisible"}
		same(t, runtime, want, r.called(t))
	}
}
