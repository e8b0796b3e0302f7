package web

import (
	"context"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// TestPageIsReadOnceForOneAnswer changes the page between two reads of it.
func TestPageIsReadOnceForOneAnswer(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", "data:text/html,<button>Save</button><p>text")
	p := u.page()
	read := func(ctx context.Context) (buttons int) {
		found, err := p.main().query(ctx, "button", "Save")
		if err != nil {
			t.Fatal(err)
		}
		if documents := momentOf(ctx).captured(); documents == nil {
			if _, err := p.captureAll(ctx); err != nil {
				t.Fatal(err)
			}
		}
		return len(found)
	}
	ctx := withMoment(t.Context(), newMoment())
	before := read(ctx)
	documents := momentOf(ctx).captured()
	u.mustEval("document.querySelector('button').remove()")
	if again := read(ctx); before != 1 || again != 1 || documents == nil {
		t.Errorf("%d buttons, then %d", before, again)
	}
	if later := read(withMoment(t.Context(), newMoment())); later != 0 {
		t.Errorf("a later answer is about %d buttons", later)
	}
	if now := read(t.Context()); now != 0 {
		t.Errorf("an answer without a moment is about %d buttons", now)
	}
}

// TestPageIsReadAgainAfterChanges points at the same place before and after changes of a page.
func TestPageIsReadAgainAfterChanges(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", `data:text/html,<style>body { margin: 0 } .a { display: block; width: 200px; height: 50px }</style>`+
		`<button class=a>Save</button><iframe class=a srcdoc="<body style='margin: 0'><button style='width: 99%25; height: 50px'>Inside</button>"></iframe>`+
		`<div class=a id=host></div><input class=a value=before>`)
	at := func(y int) device.Location {
		return u.mustLocate(device.Place{Point: screen.Point{X: 50, Y: y}, Best: true})
	}
	at(20)
	before := u.page().kept.Load()
	if found := at(80); found.Node.Name() != "Inside" || u.page().kept.Load() != before || before.state == nil {
		t.Errorf("%s was read again though nothing had changed (%+v)", found.Node, before)
	}
	for _, c := range []struct {
		change, want string
		y            int
	}{
		{"document.querySelector('button').textContent = 'Send'", `button "Send"`, 20},
		{"document.querySelector('iframe').contentDocument.querySelector('button').textContent = 'Within'", `button "Within"`, 80},
		{"host.attachShadow({ mode: 'open' }).innerHTML = '<button style=\"width: 99%; height: 50px\">Shadow</button>'", `button "Shadow"`, 130},
		{"host.shadowRoot.querySelector('button').textContent = 'Dark'", `button "Dark"`, 130},
		{"document.querySelector('input').value = 'after'", `textbox after`, 180},
	} {
		u.mustEval(c.change)
		if found := at(c.y); strings.TrimSpace(found.Node.String()+" "+found.Node.Content()) != c.want {
			t.Errorf("%s: %s, want %s", c.change, found.Node, c.want)
		}
	}
}

// TestLocateWhatHoveringShows points at elements that a style shows only while the pointer is over their row.
func TestLocateWhatHoveringShows(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{"display: none", "visibility: hidden"} {
		u := openLive(t, device.Session{})
		u.mustCall("web_navigate", "url", `data:text/html,<style>body { margin: 0 } li { position: relative; width: 200px; height: 50px; cursor: pointer }
			button { `+hidden+`; position: absolute; top: 0; left: 100px; width: 100px; height: 50px }
			li:hover button { display: block; visibility: visible }</style><ul><li onclick=1>Milk <button aria-label=Delete>x</button></li></ul>`)
		at := func(x int) device.Location {
			return u.mustLocate(device.Place{Point: screen.Point{X: x, Y: 20}, Best: true})
		}
		if found := at(50); found.Node.RoleName() != "listitem" {
			t.Errorf("%s: %s, want the row", hidden, found.Node)
		}
		move := map[string]any{"type": "mouseMoved", "x": 50, "y": 20}
		if err := u.page().target.Call(t.Context(), "Input.dispatchMouseEvent", move, nil); err != nil {
			t.Fatal(err)
		}
		if found := at(150); found.Node.Name() != "Delete" {
			t.Errorf("%s: %s, want the button", hidden, found.Node)
		}
	}
}

// TestRecallIsForTheFirstTry has a style show another element with the name, which nothing tells of.
func TestRecallIsForTheFirstTry(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", `data:text/html,<style>body { margin: 0 } button { width: 100px; height: 50px } .new { display: none }</style>`+
		`<button class=old disabled>Save</button><button class=new onclick="document.title = 'saved'">Save</button>`)
	u.mustLocate(device.Place{Point: screen.Point{X: 50, Y: 20}})
	u.mustEval("document.styleSheets[0].insertRule('.old { display: none }', 3); document.styleSheets[0].insertRule('.new { display: block }', 4)")
	if _, same := u.page().recall(t.Context()); !same {
		t.Fatal("the page tells of the change")
	}
	u.mustCall("web_click", "ref", `button "Save"`)
	if _, same := u.page().recall(t.Context()); same || u.page().kept.Load() != nil {
		t.Error("what has changed is still kept")
	}
	u.mustCall("web_verifyTitle", "pattern", "saved")
}
