package web

import (
	"net/http"
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
		"ids": func(name, number string) string {
			return `<p><button id="remove-` + number + `" data-row="` + name + `" ` + click + `>Remove ` + name + ` (5 orders)</button></p>`
		},
		"options": func(name, number string) string {
			return `<p><button id="option-` + number + `-of-list" data-row="` + name + `" ` + click + `>` + name + `</button></p>`
		},
	}
	around := map[string][2]string{"table": {"<table>", "</table>"}, "list": {"<ul>", "</ul>"}, "icons": {"<ul>", "</ul>"}}
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
		clicked := u.refsOf("- button")
		result, err := u.call("web_click", "ref", clicked[1])
		if err != nil || !result.OK || result.Located == nil {
			t.Fatalf("%s: %+v, %v", kind, result, err)
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
