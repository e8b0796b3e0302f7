package web

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// A page has the problems that @axe-core/playwright finds with the same axe-core, in frames of other origins, too.
func TestAccessibilityIsWhatAxeFinds(t *testing.T) {
	t.Parallel()
	other := serve(t, map[string]http.HandlerFunc{
		"/pay":  htmlPage(`<html lang=en><title>Pay</title><input id=card><iframe src=/deep title=Deep></iframe>`),
		"/deep": htmlPage(`<html lang=en><title>Deep</title><img id=deep src=x>`),
	})
	at := serve(t, map[string]http.HandlerFunc{
		"/good":   htmlPage(`<html lang=en><title>Good</title><main><h1>Good</h1><label>Name <input></label></main>`),
		"/bad":    htmlPage(`<html><img id=logo src=x><button id=close></button><p id=pale style="color: #ccc; background: #fff">Pale</p>`),
		"/frames": htmlPage(`<html lang=en><title>Frames</title><div id=host></div><iframe src=/bad title=Bad></iframe><iframe src=` + other + `/pay title=Pay></iframe><script>host.attachShadow({mode: "open"}).innerHTML = "<iframe id=inner srcdoc='<html lang=en><title>x</title><img src=y>' title=Shadow></iframe><input>"</script>`),
	})
	root, err := filepath.Abs(playwrightFolder)
	if err != nil {
		t.Fatal(err)
	}
	u := openSessionIn(t, sharedBrowser.get(t), device.Session{Root: root})
	levels := map[string]string{
		"A": "wcag2a,wcag21a,wcag22a", "AA": "wcag2a,wcag21a,wcag22a,wcag2aa,wcag21aa,wcag22aa",
	}
	paths := []string{"/good", "/bad", "/frames"}
	for level, tags := range levels {
		urls := make([]string, len(paths))
		for i, path := range paths {
			urls[i] = at + path
		}
		for i, want := range askAxe(t, tags, urls) {
			u.mustCall("web_navigate", "url", urls[i])
			p := u.page()
			run, err := p.axeRunOf(syntax.Arguments{"level": level})
			if err != nil {
				t.Fatal(err)
			}
			results, err := p.runAxe(t.Context(), run, testLimit)
			if err != nil {
				t.Fatal(err)
			}
			got := axeAnswer{Violations: []string{}, Incomplete: results.Incomplete}
			for _, v := range results.Violations {
				got.Violations = append(got.Violations, v.ID+": "+strings.Join(v.Targets, ", "))
			}
			slices.Sort(got.Violations)
			slices.Sort(want.Violations)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s at level %s (-@axe-core/playwright +web_verifyAccessibility):\n%s", paths[i], level, diff)
			}
			if bad := paths[i] != "/good"; bad == (len(got.Violations) == 0) {
				t.Errorf("%s: %v", paths[i], got)
			}
		}
	}
	u.mustCall("web_navigate", "url", at+"/good")
	if got := u.mustCall("web_verifyAccessibility"); !strings.Contains(got, "of accessibility hold") {
		t.Error(got)
	}
	u.mustCall("web_navigate", "url", at+"/bad")
	const name = "web_verifyAccessibility"
	u.mustFail(name, []any{"timeoutMs", 50}, "the page is not accessible", "button-name (critical): Buttons must have discernible text: #close", "#pale")
	u.mustFail(name, []any{"timeoutMs", 50, "include", []any{"#close", "#logo"}}, "2 rules do not hold")
	u.mustCall(name, "include", []any{"#pale"}, "level", "A")
	u.mustFail(name, []any{"timeoutMs", 50, "include", []any{"#pale"}}, "color-contrast")
	u.mustCall(name, "rules", []any{"image-alt"}, "exclude", []any{"#logo"})
	u.mustFail(name, []any{"timeoutMs", 50, "rules", []any{"image-alt"}}, "1 rule does not hold: image-alt")
	u.mustFail(name, []any{"rules", []any{"no-such-rule"}}, "no-such-rule")
	u.mustFail(name, []any{"include", []any{"#none"}}, "axe-core: ")
	u.mustFail(name, []any{"rules", []any{"image-alt"}, "level", "A"}, "rules says which rules are checked")
}

func TestAccessibilityWithoutAxe(t *testing.T) {
	t.Parallel()
	u := openSessionIn(t, sharedBrowser.get(t), device.Session{Root: t.TempDir()})
	if r := u.mustFail("web_verifyAccessibility", nil, "the project has no axe-core"); !strings.Contains(r.Hint, "npm install --save-dev axe-core") {
		t.Errorf("hint %q", r.Hint)
	}
}

// axeAnswer is what axe.mjs prints of a page.
type axeAnswer struct{ Violations, Incomplete []string }

// askAxe runs @axe-core/playwright over pages.
func askAxe(t *testing.T, tags string, urls []string) (answers []axeAnswer) {
	t.Helper()
	if _, err := os.Stat(playwrightFolder + "/node_modules/@axe-core/playwright"); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := runPlaywright(ctx, t, "axe.mjs", append([]string{tags}, urls...)...)
	for line := range strings.Lines(string(out)) {
		var a axeAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	return answers
}
