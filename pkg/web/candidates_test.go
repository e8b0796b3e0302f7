package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// mustLocate locates an element.
func (u *testSession) mustLocate(at device.Place) device.Location {
	u.t.Helper()
	found, err := u.device.(device.Locator).Locate(u.t.Context(), at)
	if err != nil {
		u.t.Fatalf("%+v: %v", at, err)
	}
	return found
}

// located returns the element of a location in the browser.
func (u *testSession) located(found device.Location) element {
	u.t.Helper()
	parts := strings.Split(string(found.Node.Key), "/")
	id, err := strconv.Atoi(parts[2])
	if err != nil {
		u.t.Fatal(found.Node.Key)
	}
	u.page().mu.Lock()
	defer u.page().mu.Unlock()
	return element{u.page().framesByID[parts[0]], id}
}

// is evaluates a condition of an element, in which it is this.
func (u *testSession) is(e element, condition string) bool {
	u.t.Helper()
	h, err := u.page().resolveNode(u.t.Context(), e.frame, e.id)
	if err != nil {
		u.t.Fatal(err)
	}
	var answer struct{ Result struct{ Value bool } }
	err = e.frame.session.Call(u.t.Context(), "Runtime.callFunctionOn", map[string]any{
		"objectId": h.objectID, "functionDeclaration": "function() { return Boolean(" + condition + ") }", "returnByValue": true,
	}, &answer)
	if err != nil {
		u.t.Fatal(err)
	}
	return answer.Result.Value
}

// TestLocateIsWhereThePageHasIt compares what is located at the points of a grid with document.elementFromPoint.
func TestLocateIsWhereThePageHasIt(t *testing.T) {
	t.Parallel()
	base := serve(t, map[string]http.HandlerFunc{"/icons": htmlPage(`<button><svg width=50 height=50><rect width=50 height=50 /></svg> <b>Save</b></button>
		<a href=#><h2>Title</h2><p>text</p></a><label style="display:block;width:200px"><input type=checkbox> Remember me</label>
		<div style="height:3000px">long</div><script>scrollTo(0, 10)</script>`)})
	u := openLive(t, device.Session{})
	for _, page := range []string{"/icons", "/act-form.html", "/elements.html"} {
		u.mustCall("navigate", "url", base+page)
		hits := 0
		for x := 12; x < 400; x += tries(67, 41) {
			for y := 15; y < 500; y += tries(71, 37) {
				found, err := u.device.(device.Locator).Locate(t.Context(), device.Place{Point: screen.Point{X: x, Y: y}})
				if err != nil {
					if fault.KindOf(err) != fault.ToolFailed || !strings.Contains(err.Error(), "can be named") {
						t.Fatalf("%s %d,%d: %v", page, x, y, err)
					}
					continue
				}
				hits++
				const isThere = `(() => {
					const hit = document.elementFromPoint(%d, %d), control = hit.closest("button, a[href], input, option, select, textarea");
					return this === (control ?? hit) || this === hit.closest("label")?.control || !control && this.contains(hit);
				})()`
				if e := u.located(found); !u.is(e, fmt.Sprintf(isThere, x, y)) {
					t.Errorf("%s %d,%d: %v is not what the page has there", page, x, y, found.Node)
				}
			}
		}
		if hits < 10 {
			t.Errorf("%s: %d elements", page, hits)
		}
	}
}

const candidatesPage = `<!doctype html><meta charset=utf-8>
	<button data-testid=save-order id=save name=save>Save</button>
	<table><tr><td>Tea</td><td><button>Remove</button></td></tr><tr><td>Milk</td><td><button>Remove</button></td></tr></table>
	<div role=region aria-label=Cart><button>Remove</button> <button>Pay 12.50</button></div>
	<label>City <input name=city></label> <button>Twin</button><button>Twin</button>
	<iframe srcdoc="<button>Remove</button><button>Inner</button>"></iframe>`

// TestCandidates checks that each candidate finds its element and no other, how many elements it matches, what it is
// said to select by, and that a recording gets the first.
func TestCandidates(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(candidatesPage)}) + "/page"
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url)
	want := map[string][]string{ // of the first element with the name: what its candidates select by
		"Save":      {"test id", "role and name", "id", "attribute", "position"},
		"Remove":    {"role and name in a row or part of the page", "role, name and place among others", "position"},
		"Pay 12.50": {"role and name", "role and name in a row or part of the page", "position"},
		"City":      {"role and name", "attribute", "position"},
		"Twin":      {"role, name and place among others", "position"},
		"Inner":     {"role and name", "position"},
	}
	v := u.view(device.ViewOptions{Peek: true})
	counts := playwrightCounts(t, url, want)
	for name, by := range want {
		ref := v.Ref(named(v, name))
		found := u.mustLocate(device.Place{Ref: ref})
		if found.Ref != ref || found.Node.Name() != name || found.Node.Bounds == nil {
			t.Errorf("%s: %+v", name, found)
		}
		var ways []string
		for _, c := range found.Candidates {
			if ways = append(ways, c.By); slices.Contains(ways[:len(ways)-1], c.By) {
				ways = ways[:len(ways)-1]
			}
			if problem := u.isFoundBy(u.located(found), c.Selector); problem != "" {
				t.Errorf("%s: %v does not find it: %s", name, c.Selector, problem)
			}
			switch onlyName := strings.HasPrefix(c.By, "role") && !strings.Contains(c.By, "row"); {
			case onlyName && c.Matches != counts[name]:
				t.Errorf("%s: %v matches %d elements, Playwright says %d", name, c.Selector, c.Matches, counts[name])
			case !onlyName && c.Matches != 1 && c.By != "position": // the whole path may be the same in other frames
				t.Errorf("%s: %v matches %d elements", name, c.Selector, c.Matches)
			case c.Matches > 1 && len(c.Notes) == 0, strings.HasPrefix(c.By, "role") && name == "Pay 12.50" && len(c.Notes) == 0:
				t.Errorf("%s: %v has no note", name, c.Selector)
			}
		}
		if diff := cmp.Diff(by, ways); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		result, err := u.call("web_verifyElementVisible", "ref", ref)
		if err != nil || !result.OK {
			t.Fatal(result.Text, err)
		}
		result, err = u.call("web_click", "ref", ref)
		if err != nil || !result.OK {
			t.Fatal(result.Text, err)
		}
		best := u.mustLocate(device.Place{Ref: found.Ref, Best: true}).Candidates
		if diff := cmp.Diff(found.Candidates[0].Selector, best[0].Selector); diff != "" || len(best) != 1 {
			t.Errorf("%s: the best of %d:\n%s", found.Node, len(best), diff)
		}
		if diff := cmp.Diff(found.Candidates[0].Selector, result.Located.Args["nodeSelector"]); diff != "" {
			t.Errorf("%s: a recording has another selector: %s", name, diff)
		}
	}
}

// playwrightCounts returns how many elements Playwright finds by the role and the name of each element.
func playwrightCounts(t *testing.T, url string, names map[string][]string) map[string]int {
	t.Helper()
	var list [][2]string
	for name := range names {
		role := "button"
		if name == "City" {
			role = "textbox"
		}
		list = append(list, [2]string{role, name})
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	out := runPlaywright(t.Context(), t, "count.mjs", url, string(data))
	var counts []int
	if json.Unmarshal(out, &counts) != nil || len(counts) != len(list) {
		t.Fatalf("node count.mjs: %s", out)
	}
	byName := map[string]int{}
	for i, item := range list {
		byName[item[1]] = counts[i]
	}
	return byName
}

// TestLocateInFrames points at the buttons of frames, in the same process and in others.
func TestLocateInFrames(t *testing.T) {
	t.Parallel()
	base := geometryServer(t)
	u := openSessionIn(t, newTestBackend(t, map[string]string{"deviceScaleFactor": "2"}), device.Session{Live: true})
	for _, place := range []string{
		"frame a", "frame-transform a", "frames-other a", "frames-other b", "frame-other b", "scrolled b", "shadow a", "zoom b", "svg a", "transform a",
		"zoomed a", "zoomed-page a", "zoomed-twice a", "other a", "other-zoomed a", "other-zoomed-twice a",
	} {
		name, which, _ := strings.Cut(place, " ")
		u.mustCall("navigate", "url", base+"/"+name)
		u.mustCall("web_verifyElementVisible", "ref", which)
		n := named(u.view(device.ViewOptions{Peek: true}), which)
		found := u.mustLocate(device.Place{Point: n.Bounds.Centre()})
		if found.Node.Key != n.Key || *found.Node.Bounds != *n.Bounds || len(found.Candidates) == 0 {
			t.Errorf("%s: it is at %v, and %v is located there", place, n.Bounds, found.Node)
		}
	}
	for _, p := range []screen.Point{{X: -1, Y: 5}, {X: 5, Y: 100000}} {
		_, err := u.device.(device.Locator).Locate(t.Context(), device.Place{Point: p})
		if fault.KindOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), "is outside of the page") {
			t.Error(p, err)
		}
	}
	if _, err := u.device.(device.Locator).Locate(t.Context(), device.Place{Ref: "e999"}); fault.KindOf(err) != screen.StaleRef {
		t.Error(err)
	}
}

// TestLocateTextInASlot points at the text of a button in a shadow root, which is outside of that.
func TestLocateTextInASlot(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<body style="margin: 2000px 0 0 50px"><x-a>Save</x-a> <x-a>Send</x-a> <x-b>Sign</x-b>
		<script>document.querySelector("x-b").attachShadow({ mode: "open" }).innerHTML = "<p><x-a><slot></slot></x-a></p>";
		document.querySelector("x-b").shadowRoot.querySelector("x-a").attachShadow({ mode: "open" }).innerHTML = "<button><slot></slot></button>";
		for (const el of document.querySelectorAll("x-a")) el.attachShadow({ mode: "open" }).innerHTML =
			"<button><span><slot></slot></span></button>"; scrollTo(0, 5000)</script>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	for _, name := range []string{"Save", "Send", "Sign"} {
		at := named(u.view(device.ViewOptions{Peek: true}), name).Bounds.Centre()
		found := u.mustLocate(device.Place{Point: at})
		if found.Node.RoleName() != "button" || found.Node.Name() != name || found.Candidates[0].By != "role and name" {
			t.Errorf("%s: %v, %+v", name, found.Node, found.Candidates)
		}
	}
}

// TestLocateNamesTextsByTheirText points at texts of elements that are not controls.
func TestLocateNamesTextsByTheirText(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<main><div>Alpha</div><div>Beta</div></main><p>Gamma</p><p>Delta</p>
		<ul><li>One<li>Two</ul><div>Five <span>Six</span></div>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	for _, text := range []string{"Alpha", "Beta", "Gamma", "Delta", "One", "Two", "Six"} {
		at := u.mustEval(`(() => { const r = document.createRange(); r.selectNodeContents(
			[...document.querySelectorAll("main > div, p, li, span")].find((e) => e.textContent.trim() === "` + text + `"));
			const b = r.getBoundingClientRect(); return Math.round(b.x + b.width / 2) + " " + Math.round(b.y + b.height / 2) })()`)
		var p screen.Point
		if _, err := fmt.Sscan(at, &p.X, &p.Y); err != nil {
			t.Fatal(at, err)
		}
		if best := u.mustLocate(device.Place{Point: p, Best: true}).Candidates[0]; best.By != "a text in it" || best.Matches > 1 {
			t.Errorf("%s: %+v", text, best)
		}
	}
}

// TestLocateLeavesNothing locates while a call waits for its own element: neither the page nor the call notices.
func TestLocateLeavesNothing(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button id=one disabled>One</button><button id=two>Two</button><input>
		<script>window.seen = []; for (const key of Object.keys(window)) if (/^on(?!device|page|load)/.test(key)) addEventListener(key.slice(2), (e) => seen.push(e.type), true);
		new MutationObserver(() => seen.push("change")).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })</script>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	v := u.view(device.ViewOptions{})
	one, two := v.Ref(named(v, "One")), v.Ref(named(v, "Two"))
	const state = `JSON.stringify([seen, document.activeElement.outerHTML,
		document.documentElement.outerHTML, Object.keys(window).length])`
	events := func() string {
		var answer struct{ Result struct{ Value string } }
		if err := u.page().target.Call(t.Context(), "Runtime.evaluate", map[string]any{"expression": state}, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Result.Value
	}
	before := events()
	ended := make(chan tool.Result, 1)
	go func() {
		result, err := u.call("web_click", "ref", one)
		if err != nil {
			t.Error(err)
		}
		ended <- result
	}()
	waitFor(t, "the call to look at its element", func() bool {
		var marked bool
		return u.page().main().evaluate(t.Context(), "trailblaze.isMarkedConnected(0)", &marked) == nil && marked
	})
	for range 3 {
		if found := u.mustLocate(device.Place{Ref: two}); len(found.Candidates) < 2 || found.Node.Name() != "Two" {
			t.Errorf("%+v", found)
		}
	}
	if after := events(); after != before {
		t.Errorf("the page has noticed: %s\nbefore: %s", after, before)
	}
	var left bool
	if err := u.page().main().evaluate(t.Context(), "[1, 2, 3].some(trailblaze.isMarkedConnected)", &left); err != nil || left {
		t.Error("a mark is left", err)
	}
	var enabled bool
	if err := u.page().main().evaluate(t.Context(), "!(document.querySelector('#one').disabled = false)", &enabled); err != nil {
		t.Fatal(err)
	}
	result := <-ended
	want := map[string]any{"nodeSelector": webBlock("ariaRole", "button", "ariaNameRegex", "One")}
	if diff := cmp.Diff(want, result.Located.Args); !result.OK || diff != "" {
		t.Error(result.Text, diff)
	}
}
