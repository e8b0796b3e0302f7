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
        - bakery_cakes: {}
          saveAs: cakes
        - assertEquals: {expected: Lemon cake and Plum cake, actual: "{{cakes}}"}
`, "trails/config/trailmaps/bakery/tools/bakery_cakes.ts": `import { trailblaze } from "@trailblaze/scripting";
export const bakery_cakes = trailblaze.tool(async (_, ctx) => {
  const found = await ctx.tools.findMatches({ selector: { web: { ariaRole: "button", ariaNameRegex: ".* cake" } } });
  return found.filter(({ bounds }) => bounds.right > bounds.left).map(({ text }) => text).join(" and ");
});
`})
	p.env = append(p.env, "PATH="+bin(t, "node", bunPath)+":"+os.Getenv("PATH"))
	for _, runtime := range []string{"embedded", "node", "bun"} {
		r := p.run("run", "trails/search/fill.trail.yaml", "--runtime", runtime, "--json")
		r.want(t, 0)
		want := []string{
			"1 bakery_open", "1.1 web_navigate", "2 bakery_fillBasket", "2.1 web_click", "2.2 web_click", "3 web_verifyTextVisible",
			"4 bakery_cakes", "4.1 findMatches", "5 assertEquals",
		}
		same(t, runtime, want, r.called(t))
	}
}

// A trailmap that two targets use has one server for each.
func TestBrokenScriptIsOneProblem(t *testing.T) {
	t.Parallel()
	p := newBakery(t, map[string]string{"trails/config/trailmaps/bakery/tools/bakery_bad.ts": `import { trailblaze } from "@trailblaze/scripting";
import "./missing";
export const bakery_bad = trailblaze.tool(async () => "");
`})
	r := p.run("check")
	r.wantErr(t, 3, "bakery_bad.ts:2:", "missing")
	r.want(t, 3, "1 problem,")
}
