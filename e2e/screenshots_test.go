//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A picture is written on request, compares equal in the next run, and a change of the page is shown in the report.
func TestScreenshotsAreComparedWithThoseBesideTheTrail(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\n",
		"page.html":       "<h1>Cart</h1><p id=total>12.50</p>",
		"trails/cart.trail.yaml": webTrail(
			"web_navigate: { url: page.html }", "verifyScreenshot: { name: total, ref: css=#total, timeoutMs: 12000 }"),
	})
	p.run("run").want(t, 1, "the picture cart.screens/total-web-"+runtime.GOOS+".png does not exist", "--update-screenshots missing")
	p.run("run", "--update-screenshots", "missing").want(t, 0)
	baseline := filepath.Join(p.dir, "trails/cart.screens/total-web-"+runtime.GOOS+".png")
	if _, err := os.Stat(baseline); err != nil {
		t.Fatal(err)
	}
	p.run("run").want(t, 0)
	p.write("page.html", "<h1>Cart</h1><p id=total>21.50</p>")
	r := p.run("run", "--html", "report", "--json")
	r.want(t, 1, "the screen is not as in cart.screens/total-web-"+runtime.GOOS+".png")
	var titles []string
	for _, e := range ofType(r.events(t), "evidence") {
		title, _ := e["title"].(string)
		titles = append(titles, title)
	}
	if got := strings.Join(titles, " "); !strings.Contains(got, "expected actual difference") {
		t.Errorf("the run keeps %s", got)
	}
	p.run("run", "--update-screenshots", "changed").want(t, 0)
	p.run("run").want(t, 0)
	p.run("run", "--update-screenshots", "all").wantErr(t, 3, `--update-screenshots: unknown value "all"`)
}
