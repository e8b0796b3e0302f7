package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// rule returns a rule of assertWaypoint for a selector. more are further keys and values.
func rule(selector map[string]any, more ...any) map[string]any {
	r := m{"selector": selector}
	for i := 0; i < len(more); i += 2 {
		r[more[i].(string)] = more[i+1]
	}
	return r
}

func css(selector string, more ...any) any { return rule(webBlock("cssSelector", selector), more...) }

func TestAssertWaypoint(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	u.show(`<h1>Checkout</h1><ul><li>Tea<li>Cup<li hidden>Pot</ul><div role=row><b>Sum</b></div><iframe srcdoc="<li>Inner<button>Pay</button>"></iframe>`)
	u.mustCall("web_verifyElementVisible", "ref", "button \"Pay\"")
	heading := rule(webBlock("ariaRole", "heading", "ariaNameRegex", "Check.*"))
	for name, c := range map[string]struct {
		args []any
		want string
	}{
		"all hold":              {[]any{"id", "checkout", "required", []any{heading, css("li", "minCount", 4)}, "forbidden", []any{css(".error")}}, `the screen is "checkout", by 3 rules`},
		"one rule":              {[]any{"required", []any{heading}}, "the screen is the expected one, by 1 rule"},
		"fewer than maxCount":   {[]any{"forbidden", []any{css("li", "maxCount", 5)}}, "by 1 rule"},
		"in a frame":            {[]any{"required", []any{rule(webBlock("ariaRole", "button", "ariaNameRegex", "Pay"))}}, "by 1 rule"},
		"the last of several":   {[]any{"required", []any{css("li"), rule(webBlock("cssSelector", "li", "nthIndex", 3))}}, "by 2 rules"},
		"relation":              {[]any{"required", []any{rule(m{"web": m{"cssSelector": "b"}, "childOf": webBlock("ariaRole", "row")})}}, "by 1 rule"},
		"with one that may not": {[]any{"required", []any{css("i", "minCount", 0), heading}}, "by 2 rules"},
	} {
		if got := u.mustCall("assertWaypoint", c.args...); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		args []any
		want string
	}{
		"too few": {[]any{"required", []any{heading, css("li", "minCount", 5)}}, "the screen is not the expected one: required li: found 4, expected at least 5"},
		"several": {
			[]any{"id", "cart", "required", []any{css("h2", "description", "title")}, "forbidden", []any{css("h1"), css("li", "maxCount", 4)}},
			`the screen is not "cart": required "title": found 0, expected at least 1; forbidden h1: found 1, expected none; forbidden li: found 4, expected fewer than 4`,
		},
		"in a frame":   {[]any{"forbidden", []any{css("button")}}, "forbidden button: found 1"},
		"index":        {[]any{"required", []any{rule(webBlock("cssSelector", "li", "nthIndex", 4))}}, "found 0, expected at least 1"},
		"one at index": {[]any{"forbidden", []any{rule(webBlock("cssSelector", "li", "nthIndex", 1))}}, "found 1, expected none"},
	} {
		t.Log(name)
		u.mustFail("assertWaypoint", append(c.args, "timeoutMs", 50), c.want)
	}
	for want, args := range map[string][]any{
		"no rule says what the screen has":           {"id", "shop"},
		"every screen fulfils them":                  {"required", []any{css("li", "minCount", 0)}},
		`"a:hoverr" is not a CSS selector`:           {"forbidden", []any{css("a:hoverr")}},
		`required[1].selector.web.ariaRole: "buton"`: {"required", []any{css("li"), rule(webBlock("ariaRole", "buton"))}},
		"no argument says which element":             {"forbidden", []any{rule(m{"androidAccessibility": m{"textRegex": "x"}})}},
	} {
		if failed := u.mustFail("assertWaypoint", args, want); failed.Kind != fault.InvalidArguments {
			t.Errorf("%v: %+v", args, failed)
		}
	}
}

// TestWaypointIsAwaited has a screen that comes later, and one whose elements are never there at the same time.
func TestWaypointIsAwaited(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	u.show(`<p>Loading</p>`)
	u.mustEval(`setTimeout(() => document.body.innerHTML = "<h1>Shop</h1>", 100); 1`)
	u.mustCall("assertWaypoint", "required", []any{css("h1")}, "forbidden", []any{css("p")})

	// The change happens while the rules between the first and the last one are counted.
	rules := slices.Concat([]any{css("i")}, slices.Repeat([]any{css("body")}, 100), []any{css("b")})
	for range tries(3, 20) {
		u.show(`<i>before</i>`)
		u.mustEval(`setTimeout(() => document.body.innerHTML = "<b>after</b>", 30); 1`)
		u.mustFail("assertWaypoint", []any{"required", rules, "timeoutMs", 200}, "found 0, expected at least 1")
	}
}

// TestCountsOfRulesAreThoseOfPlaywright checks for each selector that so many elements count as Playwright finds, also in
// frames of other processes and in shadow trees.
func TestCountsOfRulesAreThoseOfPlaywright(t *testing.T) {
	t.Parallel()
	elsewhere := ""
	at := serve(t, map[string]http.HandlerFunc{
		"/inner": htmlPage(`<button>Save</button><button hidden>Save</button><iframe srcdoc="<button>Save</button>"></iframe>`),
		"/page": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<h1>Shop</h1><button>Save</button><button>Save as</button><x-a></x-a>
				<script>document.querySelector("x-a").attachShadow({mode: "open"}).innerHTML = "<button>Save</button><p>in</p>"</script>
				<iframe src="`+elsewhere+`/inner"></iframe>`)(w, r)
		},
	})
	elsewhere = otherSite(at)
	selectors := [][]string{{"button", "Save"}, {"button", "Save as"}, {"heading", "Shop"}, {"link", "Shop"}, {"button"}, {"p"}, {"[hidden]"}, {".none"}}
	list, err := json.Marshal(selectors)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	if err := json.Unmarshal(runPlaywright(t.Context(), t, "count.mjs", at+"/page", string(list)), &want); err != nil {
		t.Fatal(err)
	}
	u := openSession(t)
	u.mustCall("navigate", "url", at+"/page")
	for i, s := range selectors {
		selector, n := webBlock("cssSelector", s[0]), want[i]
		if len(s) > 1 {
			selector = webBlock("ariaRole", s[0], "ariaNameRegex", s[1])
		}
		u.mustCall("assertWaypoint", "required", []any{css("h1"), rule(selector, "minCount", n)}, "forbidden", []any{rule(selector, "maxCount", n+1)})
		u.mustFail("assertWaypoint", []any{"timeoutMs", 20, "required", []any{rule(selector, "minCount", n+1)}}, fmt.Sprintf("found %d, expected at least %d", n, n+1))
		if n > 0 {
			u.mustFail("assertWaypoint", []any{"timeoutMs", 20, "forbidden", []any{rule(selector, "maxCount", n)}}, fmt.Sprintf("found %d", n))
		}
	}
}

// TestForbiddenElementsOfThePageThatAClickOpens has a page that is left for one that shows a forbidden element.
func TestForbiddenElementsOfThePageThatAClickOpens(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/form": htmlPage(`<h1>Pay</h1><form action=/next method=post><button>Pay</button></form>`),
		"/next": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(80 * time.Millisecond):
			case <-r.Context().Done():
			}
			htmlPage(`<h1>Pay</h1><p class=error>Payment failed</p>`)(w, r)
		},
	})
	u := openSession(t)
	for range tries(2, 10) {
		u.mustCall("web_navigate", "url", at+"/form")
		rules := []any{"required", []any{rule(webBlock("ariaRole", "heading", "ariaNameRegex", "Pay"))}, "forbidden", []any{css(".error", "description", "error")}, "timeoutMs", 1}
		u.mustCall("assertWaypoint", rules...)
		u.mustCall("web_click", "ref", `button "Pay"`)
		u.mustFail("assertWaypoint", rules, `forbidden "error": found 1, expected none`)
	}
}
