package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// TestRecordedClickFollowsItsRow records clicks on elements of lists, puts another row in front, and replays them: each
// acts on the same row, or fails.
func TestRecordedClickFollowsItsRow(t *testing.T) {
	t.Parallel()
	const click = `onclick="document.title = this.dataset.row"`
	made := 0
	random := func() string {
		made++
		return "9nata" + string(rune('a'+made)) + "kuf"
	}
	row := map[string]func(name, number string) string{
		"table": func(name, _ string) string {
			return `<tr><td>` + name + `</td><td>Paid</td><td><button data-row="` + name + `" ` + click + `>Delete</button></td></tr>`
		},
		"list": func(name, _ string) string {
			return `<li>` + name + ` <button data-row="` + name + `" ` + click + `>Delete</button></li>`
		},
		"icons": func(name, _ string) string {
			return `<li>` + name + ` <button data-row="` + name + `" ` + click + `></button></li>`
		},
		"classes": func(name, _ string) string {
			return `<div class="line"><span>` + name + `</span> <span>Paid</span> <div><button data-row="` + name + `" ` + click + `>Delete</button></div></div>`
		},
		"elements": func(name, _ string) string {
			return `<div class="sc-bdnzMm kghHuY"><b>` + name + `</b><p><button class="sc-bdnzMm kghHuY" data-row="` + name + `" ` + click + `></button></p></div>`
		},
		"texts": func(name, _ string) string {
			return `<div>` + name + ` <button data-row="` + name + `" ` + click + `>Delete</button></div>`
		},
		"spans in a table": func(name, _ string) string {
			return `<tr><td>` + name + `</td><td><i class="icon-trash" data-row="` + name + `" ` + click + `>x</i></td></tr>`
		},
		"spans": func(name, _ string) string {
			return `<div><b>` + name + `</b> <span data-row="` + name + `" ` + click + `>Delete</span></div>`
		},
		"joined texts": func(name, _ string) string {
			return `<li><div><div>` + name + `</div><div>user</div></div><div><button data-row="` + name + `" ` + click + `></button></div></li>`
		},
		"items": func(name, _ string) string {
			return `<li data-row="` + name + `" ` + click + `>` + name + `</li>`
		},
		"items with texts": func(name, _ string) string {
			return `<li data-row="` + name + `" ` + click + `><div>` + name + `</div><div>user</div></li>`
		},
		"clickable elements": func(name, _ string) string {
			return `<div data-row="` + name + `" ` + click + `><p>` + name + `</p><p>user</p></div>`
		},
		"hosts": func(name, _ string) string {
			return `<div><template shadowrootmode=open><p><slot></slot> <button data-row="` + name + `" ` + click + `>Remove</button></p></template>` + name + `</div>`
		},
		"two icons": func(name, _ string) string {
			return `<div><b>` + name + `</b> <button class=flat data-row="another icon" ` + click + `><i class="mdi mdi-pencil"></i></button>
				<button class=flat data-row="` + name + `" ` + click + `><i class="mdi mdi-delete"></i></button></div>`
		},
		"icons in spans": func(name, _ string) string {
			return `<div><b>` + name + `</b> <button class=flat data-row="another icon" ` + click + `><span class="p-button-icon pi pi-pencil"></span></button>
				<button class=flat data-row="` + name + `" ` + click + `><span class="p-button-icon pi pi-trash"></span></button></div>`
		},
		"icons of a font in spans": func(name, _ string) string {
			return `<div><b>` + name + `</b> <button class=flat data-row="another icon" ` + click + `><span class="pi pi-pencil"></span></button>
				<button class=flat data-row="` + name + `" ` + click + `><span class="pi pi-trash"></span></button></div>`
		},
		"icons of Angular": func(name, _ string) string {
			return `<div><b>` + name + `</b> <button class=flat data-row="another icon" ` + click + `><mat-icon class=mat-icon fonticon=edit></mat-icon></button>
				<button class=flat data-row="` + name + `" ` + click + `><mat-icon class=mat-icon fonticon=delete></mat-icon></button></div>`
		},
		"icons of a sprite": func(name, _ string) string {
			return `<li>` + name + `<button data-row="another icon" ` + click + `><svg><use href="#pen"></use></svg></button>
				<button data-row="` + name + `" ` + click + `><svg><use href="#trash"></use></svg></button></li>`
		},
		"two drawings": func(name, _ string) string {
			return `<div><b>` + name + `</b> <button class=flat data-row="another icon" ` + click + `><svg width=9 height=9><path d="M1 1l9 9"/></svg></button>
				<button class=flat data-row="` + name + `" ` + click + `><svg width=9 height=9><path d="M9 1L1 9z"/></svg></button></div>`
		},
		"below others": func(name, _ string) string {
			return `<div><b>` + name + `</b> <button data-row="` + name + `" ` + click + `>Delete</button></div>`
		},
		"random ids": func(name, _ string) string {
			return `<li>` + name + ` <input type=checkbox id="mantine-` + random() + `" data-row="` + name + `" ` + click + `></li>`
		},
		"ids of a framework": func(name, number string) string {
			return `<div>` + name + ` <input type=radio name="radio-:r` + number + `:" value=yes data-row="` + name + `" ` + click + `></div>`
		},
		"counting ids": func(name, number string) string {
			return `<li>` + name + ` <input type=checkbox id="switch-r` + map[string]string{"0": "e", "1": "f", "2": "g"}[number] + `" data-row="` + name + `" ` + click + `></li>`
		},
		"named articles": func(name, _ string) string {
			return `<article aria-label="` + name + `"><button data-row="` + name + `" ` + click + `>Delete</button></article>`
		},
		"drag handles": func(name, _ string) string {
			return `<div role=button tabindex=0>` + name + ` <button data-row="` + name + `" ` + click + `>Move</button></div>`
		},
		"icons with a class for all": func(name, _ string) string {
			return `<div>` + name + ` <button class=flat data-row="another icon" ` + click + `><i class="edit icon"></i></button>
				<button class=flat data-row="` + name + `" ` + click + `><i class="trash icon"></i></button></div>`
		},
		"alerts": func(name, _ string) string {
			return `<div role=alert>` + name + ` joined <button data-row="` + name + `" ` + click + `>Close</button></div>`
		},
		"icons of a state": func(name, number string) string {
			star := map[bool]string{true: "star-empty", false: "star-full"}[name == "Ann" && number == "0"]
			return `<div>` + name + ` <button class=flat data-row="` + name + `" ` + click + `><i class=` + star + `></i></button></div>`
		},
		"ids": func(name, number string) string {
			return `<p><button id="remove-` + number + `" data-row="` + name + `" ` + click + `>Remove ` + name + ` (5 orders)</button></p>`
		},
		"options": func(name, number string) string {
			return `<p><button id="option-` + number + `-of-list" data-row="` + name + `" ` + click + `>` + name + `</button></p>`
		},
	}
	around := map[string][2]string{"table": {"<table>", "</table>"}, "spans in a table": {"<table>", "</table>"}}
	around["below others"] = [2]string{"<div><button>Delete all</button>", "</div>"}
	for _, kind := range []string{"list", "random ids", "counting ids", "icons", "joined texts", "items", "items with texts", "icons of a sprite"} {
		around[kind] = [2]string{"<ul>", "</ul>"}
	}
	list := func(kind string, names ...string) string {
		html := around[kind][0]
		for i, name := range names {
			html += row[kind](name, string(rune('0'+i)))
		}
		return html + around[kind][1]
	}
	u, replay := openLive(t, device.Session{}), openSession(t)
	for kind := range row {
		url := serve(t, map[string]http.HandlerFunc{
			"/before": htmlPage(list(kind, "Ann", "Bob")), "/after": htmlPage(list(kind, "Zoe", "Ann", "Bob")),
		})
		u.mustCall("navigate", "url", url+"/before")
		clicked := slices.Concat(u.refsOf("- button"), u.refsOf("[clickable]"), u.refsOf("- checkbox"), u.refsOf("- radio"))
		result, err := u.call("web_click", "ref", clicked[len(clicked)-1])
		if err != nil || !result.OK || result.Located == nil {
			t.Fatalf("%s: %+v, %v", kind, result, err)
		}
		if selector := fmt.Sprint(result.Located.Args); strings.Contains(selector, "sc-bdnzMm") || strings.Contains(selector, "kghHuY") {
			t.Errorf("%s: %s has a generated class", kind, selector)
		}
		if wrong := strings.Join(result.Located.Warnings, " "); strings.Contains(wrong, "number") || strings.Contains(wrong, "position") {
			t.Errorf("%s: %v is a position: %s", kind, result.Located.Args, wrong)
		}
		for _, page := range []string{"/before", "/after"} {
			replay.mustCall("navigate", "url", url+page)
			again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
			if title := replay.mustEval("document.title"); err != nil || !again.OK || title != "Bob" {
				t.Errorf("%s%s: %+v, %v; clicked %q with %v", kind, page, again, err, title, result.Located.Args)
			}
		}
	}
}

// TestRecordedClickCountsInItsRow clicks on the second of several buttons that only their place in the row of Bob tells
// from one another. A replay clicks the same one when other rows are in front, and nothing when the row is gone.
func TestRecordedClickCountsInItsRow(t *testing.T) {
	t.Parallel()
	control := func(html, name, what string) string {
		return strings.Replace(html, ">", ` onclick="document.title = '`+what+` `+name+`'">`, 1)
	}
	two := func(html, name string) string { return control(html, name, "first") + control(html, name, "second") }
	rows := map[string]func(name string) string{
		"ligatures in a table": func(name string) string {
			icon := `<button class=icon-button><span aria-hidden=true>edit</span></button>`
			return `<tr><td>` + name + `</td><td>` + two(icon, name) + `</td></tr>`
		},
		"circles": func(name string) string {
			return `<div><b>` + name + `</b> ` + two(`<button><svg width=9 height=9><circle r=4 /></svg></button>`, name) + `</div>`
		},
		"check boxes": func(name string) string {
			return `<div><p>` + name + `</p>` + two(`<input type=checkbox>`, name) + `</div>`
		},
		"clickable icons": func(name string) string {
			icon := `<i style="cursor: pointer; display: inline-block; width: 9px; height: 9px"></i>`
			return `<div><span>` + name + `</span>` + two(icon, name) + `</div>`
		},
		"names": func(name string) string {
			return `<li>` + name + two(`<button>Edit</button>`, name) + `</li>`
		},
		"names with digits": func(name string) string {
			return `<div><b>` + name + `</b>` + two(`<button>12 comments</button>`, name) + `</div>`
		},
	}
	u, replay := openLive(t, device.Session{}), openSession(t)
	for kind, row := range rows {
		list := func(names ...string) (html string) {
			for _, name := range names {
				html += row(name)
			}
			return map[string]string{"ligatures in a table": "<table>", "names": "<ul>"}[kind] + html
		}
		url := serve(t, map[string]http.HandlerFunc{
			"/before": htmlPage(list("Ann", "Bob", "Cal")), "/after": htmlPage(list("Zoe", "Cal", "Bob", "Ann")),
			"/gone": htmlPage(list("Ann", "Cal", "Dee")),
		})
		u.mustCall("navigate", "url", url+"/before")
		clicked := slices.Concat(u.refsOf("- button"), u.refsOf("[clickable]"), u.refsOf("- checkbox"))
		result, err := u.call("web_click", "ref", clicked[3])
		if err != nil || !result.OK || result.Located == nil {
			t.Fatalf("%s: %+v, %v", kind, result, err)
		}
		if warning := strings.Join(result.Located.Warnings, " "); !strings.Contains(warning, `number 2 of several in the`) {
			t.Errorf("%s: warned %q", kind, warning)
		} else if strings.Contains(warning, `the name "12 comments" contains digits`) != (kind == "names with digits") {
			t.Errorf("%s: warned %q of the name", kind, warning)
		}
		for page, want := range map[string]string{"/before": "second Bob", "/after": "second Bob", "/gone": ""} {
			replay.mustCall("navigate", "url", url+page)
			replay.device.(*webDevice).limits.action = failTime
			again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
			if title := replay.mustEval("document.title"); err != nil || again.OK != (want != "") || title != want {
				t.Errorf("%s%s: %+v, %v; clicked %q with %v", kind, page, again, err, title, result.Located.Args)
			}
		}
	}
}

// TestCheckByReferenceRecordsTheText replays checks of texts on a page where the texts are others.
func TestCheckByReferenceRecordsTheText(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/right": htmlPage(`<p id=hit>Blue</p><p>Another</p><div role=status id=out>Booked Double</div><div role=alert>Paid</div>
			<ul><li>Alpha <b>one</b></li><li>Bravo</li></ul><h2 id=head>Orders</h2><iframe src="/frame"></iframe>`),
		"/wrong": htmlPage(`<p id=hit>Miss</p><p>Another</p><div role=status id=out>Failed</div><div role=alert>Refused</div>
			<ul><li>Zulu <b>two</b></li><li>Yankee</li></ul><h2 id=head>Errors</h2><iframe src="/none"></iframe>`),
		"/frame": htmlPage(`<p id=inner>In frame</p>`), "/none": htmlPage(`<p id=inner>Other</p>`),
	})
	u, replay := openLive(t, device.Session{}), openSession(t)
	replay.device.(*webDevice).limits.assertion = failTime
	u.mustCall("navigate", "url", url+"/right")
	u.waitForFrames("/right", "/frame")
	var recorded []tool.Call
	for _, text := range []string{"Blue", "Booked", "Paid", "Bravo", "Alpha", "Orders", "In frame"} {
		result, err := u.call("web_verifyElementVisible", "ref", u.refOf(text))
		if err != nil || !result.OK || result.Located == nil || len(result.Located.Warnings) > 0 {
			t.Fatalf("%s: %+v %+v, %v", text, result, result.Located, err)
		}
		recorded = append(recorded, tool.Call{Tool: "web_verifyElementVisible", Args: result.Located.Args})
	}
	if diff := cmp.Diff(map[string]any{"web": map[string]any{"ariaRole": "paragraph", "ariaNameRegex": "Blue"}}, recorded[0].Args["nodeSelector"]); diff != "" {
		t.Error(diff)
	}
	for page, want := range map[string]bool{"/right": true, "/wrong": false} {
		replay.mustCall("navigate", "url", url+page)
		for _, call := range recorded {
			if result, err := replay.device.Call(t.Context(), call); err != nil || result.OK != want {
				t.Errorf("%s: %v: %+v, %v", page, call.Args, result, err)
			}
		}
	}
}

// TestRecommendedSelectorFindsTheElement takes the selectors that warnings recommend, and changes the digits of the
// page: each finds the element that it was recommended for.
func TestRecommendedSelectorFindsTheElement(t *testing.T) {
	t.Parallel()
	buy := func(name, price string) string {
		return `<button onclick="document.title = '` + name + `'">Buy for ` + price + ` EUR</button>`
	}
	pages := map[string]func(mug, pan string) string{
		"one":  func(_, pan string) string { return buy("Pan", pan) },
		"flat": func(mug, pan string) string { return `<p>Mug</p>` + buy("Mug", mug) + `<p>Pan</p>` + buy("Pan", pan) },
		"rows": func(mug, pan string) string {
			return `<ul><li>Mug ` + buy("Mug", mug) + `<li>Pan ` + buy("Pan", pan) + `</ul>`
		},
		"cards": func(mug, pan string) string {
			return `<div><h3>Mug</h3>` + buy("Mug", mug) + `</div><div><h3>Pan</h3>` + buy("Pan", pan) + `</div>`
		},
		"same":    func(_, _ string) string { return `<p>Mug</p>` + buy("Mug", "1") + `<p>Pan</p>` + buy("Pan", "1") },
		"nothing": func(mug, pan string) string { return buy("Mug", mug) + buy("Pan", pan) },
	}
	u, replay := openLive(t, device.Session{}), openSession(t)
	for name, page := range pages {
		url := serve(t, map[string]http.HandlerFunc{"/before": htmlPage(page("5.00", "9.00")), "/after": htmlPage(page("19.00", "7.50"))})
		u.mustCall("navigate", "url", url+"/before")
		refs := u.refsOf("- button")
		result, err := u.call("web_click", "ref", refs[len(refs)-1])
		if err != nil || !result.OK || len(result.Located.Warnings) == 0 {
			t.Fatalf("%s: %+v, %+v, %v", name, result, result.Located, err)
		}
		warning := result.Located.Warnings[0]
		_, recommended, found := strings.Cut(warning, "nodeSelector ")
		recommended, _, _ = strings.Cut(recommended, " does not")
		if name == "nothing" {
			if want := "without one only its position is left"; found || !strings.HasSuffix(warning, want) {
				t.Errorf("%s: %s, want %s", name, warning, want)
			}
			continue
		}
		var selector map[string]any
		if err := json.Unmarshal([]byte(recommended), &selector); err != nil {
			t.Fatalf("%s: %s: %v", name, warning, err)
		}
		for _, path := range []string{"/before", "/after"} {
			replay.mustCall("navigate", "url", url+path)
			replay.mustCall("web_click", "nodeSelector", selector)
			if title := replay.mustEval("document.title"); title != "Pan" {
				t.Errorf("%s%s: %s clicks %q", name, path, recommended, title)
			}
		}
	}
}

// TestRecordedClickFollowsItsPart records clicks on elements in parts of a page that are known by a name or a heading,
// and replays them where another part is in front.
func TestRecordedClickFollowsItsPart(t *testing.T) {
	t.Parallel()
	inside := func(name string) string { return `<button onclick="document.title = '` + name + `'">Continue</button>` }
	kinds := map[string]func(name string) string{
		"region": func(name string) string { return `<section aria-label="` + name + `">` + inside(name) + `</section>` },
		"group": func(name string) string {
			return `<fieldset><legend>` + name + `</legend>` + inside(name) + `</fieldset>`
		},
		"dialog": func(name string) string {
			return `<div role=dialog aria-label="` + name + `">` + inside(name) + `</div>`
		},
		"form": func(name string) string {
			return `<form aria-label="` + name + `" onsubmit="return false">` + inside(name) + `</form>`
		},
		"card": func(name string) string {
			return `<div class=card><header><h3>` + name + `</h3></header><p>` + inside(name) + `</p></div>`
		},
		"plain": func(name string) string {
			return `<div><div><h3>` + name + `</h3></div><p>` + inside(name) + `</p></div>`
		},
		"attribute": func(name string) string {
			return strings.Replace(inside(name), "<button", `<button data-cy="`+name+`"`, 1)
		},
	}
	u, replay := openLive(t, device.Session{}), openSession(t)
	for kind, part := range kinds {
		url := serve(t, map[string]http.HandlerFunc{
			"/before": htmlPage(part("Keep it?") + part("Delete it?")),
			"/after":  htmlPage(part("Sell it?") + part("Keep it?") + part("Delete it?")),
		})
		u.mustCall("navigate", "url", url+"/before")
		result, err := u.call("web_click", "ref", u.refsOf("- button")[1])
		if err != nil || !result.OK || len(result.Located.Warnings) > 0 {
			t.Fatalf("%s: %+v, %+v, %v", kind, result, result.Located, err)
		}
		for _, path := range []string{"/before", "/after"} {
			replay.mustCall("navigate", "url", url+path)
			again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
			if title := replay.mustEval("document.title"); err != nil || !again.OK || title != "Delete it?" {
				t.Errorf("%s%s: %+v, %v; clicked %q with %v", kind, path, again, err, title, result.Located.Args)
			}
		}
	}
}

// TestNumberOfDataIsNotRecorded records clicks on controls without a name whose attributes have the number of a row, and
// replays them where that is the number of another one.
func TestNumberOfDataIsNotRecorded(t *testing.T) {
	t.Parallel()
	const click = ` onclick="document.title = this.dataset.row; return false"`
	kinds := map[string]struct {
		row     func(name, number string) string
		warning string // else the row is found again
	}{
		"check boxes": {func(name, number string) string {
			return `<tr><td>` + name + `</td><td><input type=checkbox name="c[]" value="` + number + `" data-row=` + name + click + `></td></tr>`
		}, ""},
		"links": {func(name, number string) string {
			return `<tr><td>` + name + `</td><td><a href="/lines/` + number + `" data-row=` + name + click + `><img alt="" width=9 height=9></a></td></tr>`
		}, ""},
		"without a row": {func(name, number string) string {
			return `<input type=checkbox name="c[]" value="` + number + `" data-row=` + name + click + `>`
		}, `checkbox is found by "4", which contains digits and may change; a test id does not`},
		"words": {func(name, _ string) string {
			return `<input type=checkbox name="c[]" value="mp3-` + name + `" data-row=` + name + click + `>`
		}, ""},
	}
	u, replay := openLive(t, device.Session{}), openSession(t)
	for kind, tt := range kinds {
		url := serve(t, map[string]http.HandlerFunc{
			"/before": htmlPage(`<table>` + tt.row("Lamp", "3") + tt.row("Chair", "4") + `</table>`),
			"/after":  htmlPage(`<table>` + tt.row("Lamp", "4") + tt.row("Chair", "3") + `</table>`),
		})
		u.mustCall("navigate", "url", url+"/before")
		role := map[bool]string{true: "- link", false: "- checkbox"}[kind == "links"]
		result, err := u.call("web_click", "ref", u.refsOf(role)[1])
		if err != nil || !result.OK {
			t.Fatalf("%s: %+v, %v", kind, result, err)
		}
		if got := strings.Join(result.Located.Warnings, " "); got != tt.warning {
			t.Errorf("%s: %v: warnings %q, want %q", kind, result.Located.Args, got, tt.warning)
		}
		if tt.warning != "" {
			continue
		}
		for _, page := range []string{"/before", "/after"} {
			replay.mustCall("navigate", "url", url+page)
			again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
			if title := replay.mustEval("document.title"); err != nil || !again.OK || title != "Chair" {
				t.Errorf("%s%s: %+v, %v; clicked %q with %v", kind, page, again, err, title, result.Located.Args)
			}
		}
	}
}

func TestRecordedRowIsKnownByATextInIt(t *testing.T) {
	t.Parallel()
	row := func(title string) string {
		return `<tr class=entry onmouseover="document.title = '` + title + `'"><td><a href="#">` + title + `</a></td>` +
			`<td><a href="#">Edit ` + title + `</a></td><td>` + strings.Repeat("Any words. ", 20) + `</td></tr>`
	}
	url := serve(t, map[string]http.HandlerFunc{
		"/before": htmlPage("<table>" + row("Harbour") + "</table>"),
		"/after":  htmlPage("<table>" + row("Ferries") + row("Harbour") + "</table>"),
	})
	u, replay := openLive(t, device.Session{}), openSession(t)
	u.mustCall("navigate", "url", url+"/before")
	result, err := u.call("web_hover", "ref", u.refsOf("- row")[0])
	if err != nil || result.Located == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	replay.mustCall("navigate", "url", url+"/after")
	again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_hover", Args: result.Located.Args})
	if title := replay.mustEval("document.title"); err != nil || !again.OK || title != "Harbour" {
		t.Errorf("%+v, %v; over %q with %v", again, err, title, result.Located.Args)
	}
}
