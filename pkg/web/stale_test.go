package web

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// staleTries returns how often each change of a page is tried, less often in a short run of the tests, and how many
// calls must reach their element.
func staleTries() (attempts, right int) {
	if testing.Short() {
		return 8, 1
	}
	return 100, 25
}

// staleRows is the number of elements of the page for stale references.
const staleRows = 8

// stalePage has buttons that count their clicks by name, some of which have the same name, and functions that change
// it. A click is counted for the element's own id, which a new rendering of the same row keeps.
const stalePage = `<title>stale</title><div id="list"></div><script>
	let clicks;
	const names = ["Archive A", "Delete", "Archive B", "Delete", "Pay", "Details", "Details", "Close"];
	const row = (id) => '<p><button onclick="clicks[' + id + '] = (clicks[' + id + '] ?? 0) + 1">' + names[id % 100] + '</button></p>';
	const list = document.getElementById("list");
	let order;
	const render = () => list.innerHTML = order.map(row).join("");
	const at = (i) => list.children[i];
	const change = {
		insert: (i) => at(i).insertAdjacentHTML("beforebegin", row(100 + i)),
		remove: (i) => at(i).remove(),
		reorder: (i) => list.append(at(i)),
		render: () => render(),
		renderWithout: (i) => { order.splice(i, 1); render(); },
		renderReversed: () => { order.reverse(); render(); },
	};
	const reset = () => { clicks = {}; order = names.map((_, i) => i); render(); };
	reset();
	</script>`

func TestReferencesNeverReachAnotherElement(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/list":   htmlPage(stalePage),
		"/other":  htmlPage(strings.Replace(stalePage, "title>stale", "title>other", 1)),
		"/framed": htmlPage(`<iframe src="/list" width=600 height=600></iframe>`),
	})
	for _, tt := range []struct {
		name, page string
		change     func(i int) string // a script
		gone       func(row, i int) bool
	}{
		{"insert", "/list", func(i int) string { return fmt.Sprintf("change.insert(%d)", i) }, never},
		{"remove", "/list", func(i int) string { return fmt.Sprintf("change.remove(%d)", i) }, same},
		{"reorder", "/list", func(i int) string { return fmt.Sprintf("change.reorder(%d)", i) }, never},
		{"render", "/list", func(int) string { return "change.render()" }, never},
		{"render without", "/list", func(i int) string { return fmt.Sprintf("change.renderWithout(%d)", i) }, same},
		{"render reversed", "/list", func(int) string { return "change.renderReversed()" }, never},
		{"navigate", "/list", func(i int) string { return fmt.Sprintf("location.href = '/other?%d'", i) }, always},
		{"frame reload", "/framed", func(int) string { return "frames[0].location.reload()" }, always},
		{"frame render", "/framed", func(i int) string {
			return fmt.Sprintf("frames[0].eval('change.renderWithout(%d)')", i)
		}, same},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := openLive(t, device.Session{})
			u.device.(*webDevice).limits.action = 2 * failTime
			s := &staleTest{testSession: u, address: url + tt.page, change: tt.change, gone: tt.gone}
			s.random = rand.New(rand.NewPCG(9, uint64(len(tt.name))))
			outcomes := map[string]int{}
			attempts, right := staleTries()
			for i := range attempts {
				outcomes[s.try(i)]++
			}
			t.Log(outcomes)
			if !tt.gone(0, 1) && outcomes["right"] < right {
				t.Errorf("only %d calls reached their element", outcomes["right"])
			}
		})
	}
}

func never(int, int) bool { return false }

func always(int, int) bool { return true }

func same(row, i int) bool { return row == i }

// staleTest changes a page before and during calls.
type staleTest struct {
	*testSession
	address string
	change  func(i int) string    // the script that changes the page
	gone    func(row, i int) bool // whether the change removes a row
	random  *rand.Rand
}

// open opens the page as it is at first, and returns the references of its buttons.
func (s *staleTest) open() []string {
	s.t.Helper()
	switch {
	case s.mustCall("web_currentUrl") != s.address || strings.Contains(s.change(0), "location"):
		s.mustCall("navigate", "url", s.address)
		if s.inFrame() {
			s.waitForFrames("/framed", "/list")
		}
	case s.inFrame():
		s.mustEval("frames[0].eval('reset()'); 0")
	default:
		s.mustEval("reset(); 0")
	}
	v := s.view(device.ViewOptions{})
	var refs []string
	for _, n := range v.Tree.Nodes() {
		if n.RoleName() == "button" {
			refs = append(refs, v.Ref(n))
		}
	}
	if len(refs) != staleRows {
		s.t.Fatalf("%d buttons", len(refs))
	}
	return refs
}

func (s *staleTest) inFrame() bool { return strings.HasSuffix(s.address, "/framed") }

// try takes the reference of an element, changes the page before or during a click on it, and fails unless only that
// element was clicked, or none and the reference was stale.
func (s *staleTest) try(number int) string {
	s.t.Helper()
	refs := s.open()
	row, i := s.random.IntN(staleRows), s.random.IntN(staleRows)
	before := number%2 == 0
	script := s.change(i) + "; window.changed = true"
	if !before { // while the call is made
		script = fmt.Sprintf("setTimeout(() => { %s }, %d)", script, s.random.IntN(50))
	}
	s.mustEval("window.changed = false; " + script + "; 0")
	result, err := s.call("web_click", "ref", refs[row])
	if err != nil {
		s.t.Fatal(err)
	}
	waitFor(s.t, "the change", func() bool {
		return s.mustEval("window.changed ?? location.pathname == '/other'") == "true"
	})
	script = "JSON.stringify(clicks)"
	if s.inFrame() {
		waitFor(s.t, "the frame", func() bool { return s.mustEval("frames[0].document.readyState") == "complete" })
		script = "JSON.stringify(frames[0].eval('clicks'))"
	}
	clicks := s.mustEval(script)
	switch {
	case clicks == fmt.Sprintf(`{"%d":1}`, row) && result.OK:
		if before && s.gone(row, i) {
			s.t.Errorf("try %d: row %d was removed, and %s was clicked", number, row, clicks)
		}
		return "right"
	case clicks == "{}" && result.Kind == screen.StaleRef:
		return "stale"
	case clicks == "{}" && (!before || strings.Contains(result.Text, "does not respond")):
		// With the document that was clicked, or the page changed, or its frame was loading, for too long.
		return "lost: " + string(result.Kind)
	}
	s.t.Errorf("try %d, before the call: %v: row %d, clicked %s: %v %s", number, before, row, clicks, result.OK, result.Text)
	return "wrong"
}

// TestReferenceStaysWithItsRecord changes what is written beside a button by a script. A click acts on the record that
// was shown, or on none.
func TestReferenceStaysWithItsRecord(t *testing.T) {
	t.Parallel()
	const click = `<button onclick="document.title += ' clicked'">Delete</button>`
	item := func(format string, names ...string) (html string) {
		for _, name := range names {
			html += `<div class=item>` + fmt.Sprintf(format, name) + click + `</div>`
		}
		return html
	}
	const heading, text, amount = `<h3><span>%s</span></h3>`, `<span>%s</span> `, `<b>Mug</b> <div><i class=n>2</i> pieces</div><span>%s</span>`
	names := func(list string) string {
		return `[...document.querySelectorAll('span')].forEach((e, i) => e.textContent = '` + list + `'.split(' ')[i])`
	}
	other := func(format, name string) string { return "box.innerHTML = `" + item(format, name) + "`" }
	for name, tt := range map[string]struct {
		html, script, want string // the end of the message; "" for a click
	}{
		"rendered again for another": {item(`%s `, "Ann"), other(`%s `, "Bob"), "no longer on the screen"},
		"rendered again":             {item(`%s `, "Ann"), other(`%s `, "Ann"), ""},
		"rendered with another text": {item(`<p>Ann</p>%s `, "2"), other(`<p>Ann</p>%s `, "3"), ""},
		"rendered with an error":     {item(`%s `, "Ann"), other(`<p>Failed</p> %s `, "Ann"), ""},
		"shifted":                    {item(text, "Ann", "Bob", "Cid"), names("Bob Cid Dan"), `was beside "Ann" and is now beside "Bob"`},
		"shifted headings":           {item(heading, "Ann", "Bob"), names("Bob Cid"), `was beside "Ann" and is now beside "Bob"`},
		"shifted numbers":            {item(text, "1147", "1148"), names("1148 1149"), `was beside "1147" and is now beside "1148"`},
		"shifted, labelled":          {item(`<b>Name</b> `+text, "Ann", "Bob"), names("Bob Cid"), `was beside "Ann" and is now beside "Bob"`},
		"shifted without boxes":      {`Ann ` + click + ` <span>Bob</span> ` + click, `box.firstChild.data = "Bob"`, `was beside "Ann" and is now beside "Bob"`},
		"emptied":                    {item(text, "Ann", "Bob"), names("  "), `was beside "Ann", which is not there any more`},
		"one was shown":              {item(text, "Ann"), `box.insertAdjacentHTML('beforeend', box.innerHTML); ` + names("Bob Cid"), `is now beside "Bob"`},
		"others are gone":            {item(text, "Ann", "Bob"), `box.lastChild.remove(); ` + names("Cid"), `is now beside "Cid"`},
		"others are gone, the same":  {item(text, "Ann", "Bob"), `box.lastChild.remove()`, ""},
		"others were added":          {item(text, "Ann"), `box.insertAdjacentHTML('afterbegin', box.innerHTML); ` + names("Bob Ann"), ""},
		"moved":                      {item(text, "Ann", "Bob"), `box.append(box.firstChild)`, ""},
		"a counter of one":           {item(text, "Ann"), names("Bob"), ""},
		"counters of several": {
			item(amount, "Ann", "Bob"), `[...document.querySelectorAll('.n')].forEach((e) => e.textContent = '3')`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<title>page</title><h1>List</h1><div id=box>` + tt.html + `</div>`)})
			u := openLive(t, device.Session{})
			u.mustCall("navigate", "url", url+"/page")
			refs := u.refsOf(`button "Delete"`)
			u.mustEval(tt.script + "; 0")
			result, err := u.call("web_click", "ref", refs[0])
			title := u.mustEval("document.title")
			switch {
			case err != nil:
				t.Fatal(err)
			case tt.want == "" && (!result.OK || title != "page clicked"):
				t.Errorf("%+v; the title is %q", result, title)
			case tt.want != "" && (result.Kind != screen.StaleRef || !strings.Contains(result.Text, tt.want) || title != "page"):
				t.Errorf("%+v; the title is %q, want %s", result, title, tt.want)
			}
		})
	}
}
