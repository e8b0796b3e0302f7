package studio

import (
	"fmt"
	"strings"
	"testing"
)

// doublePage keeps which clicks arrive. A click on a button gives it another name, or covers it.
const doublePage = `<button>Same</button> <button onclick="this.textContent='After'">Before</button>
<button onclick="veil.hidden=false">Open</button>
<div id=veil hidden style="position:fixed;inset:0"><button style="width:100%;height:100%">Close</button></div>
<script>window.seen = []; for (const kind of ['click', 'dblclick']) addEventListener(kind, e => seen.push(kind + e.detail))</script>`

// TestDeskDoubleClicksOnce double-clicks as the page sends it, which is a click and then a double click: the app gets two
// clicks, and the trail one call for the element as it was before.
func TestDeskDoubleClicksOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first, second, seen, recorded string
	}{
		{"Same", "Same", "click1 click2 dblclick2", `web_click double click button "Same"`},
		{"Before", "After", "click1 click2 dblclick2", `web_click double click button "Before"`},
		{"Open", "Close", "click1 click1", `web_click click button "Open", web_click click button "Close"`},
	} {
		t.Run(test.first, func(t *testing.T) {
			t.Parallel()
			p := sitDown(t, map[string]string{"/": doublePage})
			p.awaitIdle()
			for _, recording := range []bool{true, false} {
				p.evaluate("veil.hidden = true; seen.length = 0; document.querySelectorAll('button')[1].textContent = 'Before'")
				p.do("record", fields{"on": recording})
				p.act("click", test.first)
				p.act("doubleClick", test.second)
				if got := p.evaluate("seen.join(' ')"); got != test.seen {
					t.Errorf("recording %v: the app got %s", recording, got)
				}
			}
			var recorded []string
			for line := range strings.SplitSeq(p.calls(), "\n") {
				if _, call, _ := strings.Cut(line, " "); strings.Contains(call, "click") {
					recorded = append(recorded, call)
				}
			}
			if got := strings.Join(recorded, ", "); got != test.recorded {
				t.Errorf("recorded %q in\n%s", got, p.text())
			}
		})
	}
}

// TestDeskDoubleClicksWithADialog answers a dialog of the second click: the trail has that before the double click.
func TestDeskDoubleClicksWithADialog(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": `<button ondblclick="this.textContent = confirm('Sure?') ? 'Done' : 'No'">Ask</button>`})
	p.awaitIdle()
	p.act("click", "Ask")
	p.do("select", fields{"number": "1.2"})
	x, y := p.middle("Ask")
	end := p.start("act", fmt.Sprintf(`{"act":{"kind":"doubleClick","x":%f,"y":%f}}`, x, y))
	p.await("the dialog", func(o *shown) bool { return o.state.Ask != nil })
	p.do("answer", fields{"ask": p.askID(), "ok": true})
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	p.do("assert", fields{"call": fields{"tool": "web_verifyTextVisible", "args": fields{"text": "Done"}}})
	p.do("replay", fields{"mode": "all"})
	for _, s := range p.document().Steps {
		if s.Outcome != passed {
			t.Errorf("%s: %s %+v\n%s", s.Text, s.Outcome, s.Calls, p.calls())
		}
	}
	if got := strings.Count(p.calls(), "\n"); got != 3 {
		t.Errorf("recorded\n%s", p.calls())
	}
}
