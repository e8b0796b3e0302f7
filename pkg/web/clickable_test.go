package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// TestLiveViewShowsWhatCanBeClickedWithoutRole clicks elements without a role by their references, and replays that.
func TestLiveViewShowsWhatCanBeClickedWithoutRole(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<style>.c { cursor: pointer }</style>
		<div><span class=c onclick="document.title = 'common'">common</span><span class=c onclick="document.title = 'inject'">inject</span></div>
		<div onclick="document.title = 'None'">None</div><div tabindex=0>Focusable</div><p>Plain <b>text</b></p>
		<svg width=100 height=50><g class=c onclick="document.title = 'port'"><rect width=100 height=50 /></g></svg>
		<a href=#x><span>Link</span></a><label class=c><input type=checkbox>Box</label><ul><li class=c>Item</li></ul>
		<div><div><div class=c onclick="document.title = 'Czech'"><p>Czech</p><img src=x></div></div></div>
		<div><div><div class=c onclick="document.title = 'German'"><span>German</span><svg width=9 height=9></svg></div></div></div>`)})
	u, replay := openLive(t, device.Session{}), openSession(t)
	u.mustCall("navigate", "url", url+"/page")
	shown := u.shown()
	for _, line := range []string{
		`- generic "common" [ref=e1] [clickable]`, `- generic "inject" [ref=e2] [clickable]`, `- generic "None" [ref=e3] [clickable]`,
		`- generic "Focusable" [ref=e4] [clickable]`, `generic [ref=e6] [clickable]`, `- listitem [ref=e9] [clickable]: "Item"`,
		`- generic "German" [ref=e12] [clickable]`,
	} {
		if !strings.Contains(shown, line) {
			t.Errorf("%s is missing in:\n%s", line, shown)
		}
	}
	if n := strings.Count(shown, "[clickable]"); n != 8 {
		t.Errorf("%d are clickable:\n%s", n, shown)
	}
	for ref, want := range map[string]string{"e1": "common", "e2": "inject", "e3": "None", "e6": "port", "e12": "German"} {
		result, err := u.call("web_click", "ref", ref)
		if title := u.mustEval("document.title"); err != nil || !result.OK || title != want {
			t.Fatalf("%s: %+v, %v; clicked %q", want, result, err, title)
		}
		replay.mustCall("navigate", "url", url+"/page")
		again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
		if title := replay.mustEval("document.title"); err != nil || !again.OK || title != want {
			t.Errorf("%v: %+v, %v; clicked %q", result.Located.Args, again, err, title)
		}
	}
	result, err := u.call("web_click", "ref", "e12")
	want := map[string]any{"nodeSelector": webBlock("ariaRole", "generic", "ariaNameRegex", "German")}
	if diff := cmp.Diff(want, result.Located.Args); err != nil || diff != "" {
		t.Errorf("%v: recorded (-want +got):\n%s", err, diff)
	}
	if strings.Contains(replay.mustCall("web_snapshot"), "clickable") {
		t.Error("the snapshot of a trail shows what has no role")
	}
}

// TestLiveViewShowsWhatCanBeDragged drags the card of Bob and the handle of its row by their references, and replays that
// with other cards in front.
func TestLiveViewShowsWhatCanBeDragged(t *testing.T) {
	t.Parallel()
	const script = `<p id=target style="height: 40px">Here</p><script>
		document.ondragstart = (e) => { document.title = "dragged " + e.target.textContent };
		for (const handle of document.querySelectorAll("i")) handle.onpointerdown = () => { document.title = "moved " + handle.dataset.row };
		</script>`
	list := func(names ...string) (html string) {
		for _, name := range names {
			html += `<div draggable=true><b>` + name + `</b></div>`
		}
		for _, name := range names {
			html += `<div><i data-row=` + name + ` style="cursor: grab; display: inline-block; width: 9px; height: 9px"></i> <b>` + name + `</b> row</div>`
		}
		return html + script
	}
	url := serve(t, map[string]http.HandlerFunc{"/before": htmlPage(list("Ann", "Bob")), "/after": htmlPage(list("Zoe", "Ann", "Bob"))})
	u, replay := openLive(t, device.Session{}), openSession(t)
	u.mustCall("navigate", "url", url+"/before")
	refs := u.refsOf("[clickable]")
	if len(refs) != 4 {
		t.Fatalf("%d can be dragged:\n%s", len(refs), u.shown())
	}
	for ref, want := range map[string]string{refs[1]: "dragged Bob", refs[3]: "moved Bob"} {
		result, err := u.call("web_dragTo", "from", map[string]any{"ref": ref}, "to", map[string]any{"ref": "css=#target"})
		if title := u.mustEval("document.title"); err != nil || !result.OK || title != want || result.Located == nil {
			t.Fatalf("%s: %+v, %v; title %q", want, result, err, title)
		}
		replay.mustCall("navigate", "url", url+"/after")
		again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_dragTo", Args: result.Located.Args})
		if title := replay.mustEval("document.title"); err != nil || !again.OK || title != want {
			t.Errorf("%v: %+v, %v; title %q", result.Located.Args, again, err, title)
		}
	}
}

// TestLiveViewShowsAControlOnce: what can be clicked only around a control, such as the host of a button, is not shown.
func TestLiveViewShowsAControlOnce(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<style>.c { cursor: pointer }</style>
		<x-a class=c><template shadowrootmode=open><button><slot></slot></button></template>Save</x-a>
		<div class=c><input type=checkbox aria-label=On></div><div class=c onclick="1"><button>Handled</button></div>
		<div class=c><button>Edit</button> now</div><div draggable=true><button>Card</button></div>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	const want = `- button "Save" [ref=e1]
- checkbox "On" [ref=e2]
- generic [ref=e3] [clickable]
  - button "Handled" [ref=e4]
- generic [ref=e5] [clickable]
  - button "Edit" [ref=e6]
  - text: "now"
- generic [ref=e7] [clickable]
  - button "Card" [ref=e8]`
	if got := u.shown(); !strings.Contains(got, want) {
		t.Error(got)
	}
}

func TestLiveViewTellsButtonsWithoutNameApart(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button data-cy=save></button><button class="btn btn-print"></button>
		<button><svg width=9 height=9><use href="icons.svg#trash"></use></svg></button><a href="/cart"><i></i>&nbsp;</a>
		<button class="] forged"></button><button></button>
		<button class="btn elevated"><i class="mdi-pencil mdi v-icon v-icon--size-default"></i></button>
		<button class=btn><i class="fa fa-bell fa-lg"></i></button><button class=btn><svg data-testid=DeleteIcon class=css-1q></svg></button>
		<button class=btn><svg class="icon icon-tabler icon-tabler-star"></svg></button>
		<button id=menu>&#xf0c9;</button><a href=#x>&#xf02b; Label</a><p>&#xf067;</p>
		<button class=p-button><span class="p-button-icon pi pi-pencil"></span></button>
		<button class=mdc-button><span class=mdc-ripple></span><mat-icon aria-hidden=true class="mat-icon mat-icon-no-color">more_vert</mat-icon></button>
		<button class=mdc-button><mat-icon aria-hidden=true class="mat-icon mat-icon-no-color" data-mat-icon-name=share><svg></svg></mat-icon></button>
		<button class=btn><span class="badge badge-dot"></span></button><button class=btn><span class="spinner-border spinner-border-sm"></span></button>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	shown := u.shown()
	for _, line := range []string{
		"- button [ref=e1] [data-cy=save]", "- button [ref=e2] [class=btn-print]", "[icon=trash]", "[href=cart]", "[class=forged]",
		"[icon=mdi-pencil]", "[icon=fa-bell]", "[icon=DeleteIcon]", "[icon=icon-tabler-star]",
		"[icon=pi-pencil]", "[icon=more_vert]", "[icon=share]",
		"- button [ref=e11] [id=menu]\n", "- link \"Label\" [ref=e12]",
	} {
		if !strings.Contains(shown, line) {
			t.Errorf("%s is missing in:\n%s", line, shown)
		}
	}
	if strings.Contains(shown, "badge") || strings.Contains(shown, "spinner") {
		t.Errorf("neither of these is an icon:\n%s", shown)
	}
}

// TestLiveViewShowsClosedShadowTrees acts on what is in a closed shadow tree by its reference, and replays that.
func TestLiveViewShowsClosedShadowTrees(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<div id=host>slotted</div><button onclick="document.title = 'outside'">Save</button>
		<script>
			const root = host.attachShadow({ mode: "closed" });
			root.innerHTML = "<p>In the dark</p><slot></slot><button>Save</button><button>Only here</button><input aria-label=Name>";
			for (const button of root.querySelectorAll("button")) button.onclick = () => { document.title = button.textContent };
		</script>`)})
	u, replay := openLive(t, device.Session{}), openSession(t)
	u.mustCall("navigate", "url", url+"/page")
	const want = `- paragraph [ref=e1]: "In the dark"
- text: "slotted"
- button "Save" [ref=e2]
- button "Only here" [ref=e3]
- textbox "Name" [ref=e4]
- button "Save" [ref=e5]`
	if got := u.shown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for ref, want := range map[string]string{"e2": "Save", "e3": "Only here", "e5": "outside"} {
		result, err := u.call("web_click", "ref", ref)
		if title := u.mustEval("document.title"); err != nil || !result.OK || title != want {
			t.Fatalf("%s: %+v, %v; clicked %q", ref, result, err, title)
		}
		replay.mustCall("navigate", "url", url+"/page")
		again, err := replay.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
		if title := replay.mustEval("document.title"); err != nil || !again.OK || title != want {
			t.Errorf("%v: %+v, %v; clicked %q", result.Located.Args, again, err, title)
		}
	}
	u.mustCall("web_type", "ref", "e4", "text", "Ada")
	if shown := u.shown(); !strings.Contains(shown, `textbox "Name" [ref=e4]: "Ada"`) {
		t.Errorf("typed:\n%s", shown)
	}
	if shown := replay.mustCall("web_snapshot"); strings.Contains(shown, "dark") {
		t.Errorf("the snapshot of a trail differs from Playwright's:\n%s", shown)
	}
}
