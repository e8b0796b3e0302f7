package gesture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testLimit bounds a test, on a machine that is busy with other browsers.
const testLimit = 2 * time.Minute

// act is an act, or the answer to the question of one.
type act struct {
	gesture.Act
	Slow   bool     `json:"-"`                // the calls for a key are made before the next one
	Answer string   `json:"answer,omitempty"` // the kind of the question
	Values []string `json:"values,omitempty"`
}

// person is a case: a page, and what a person does there.
type person struct {
	name, body string
	acts       []act
}

// probe is in all pages. state returns which events came where, and what the fields hold. What is typed makes other events
// than a person makes, so only what it leaves counts.
const probe = `<meta charset=utf-8><style>body > * { position: absolute }</style><script>
	const events = [];
	let wasScrolled = false;
	const watch = (root, prefix) => {
		for (const type of ["click", "dblclick", "contextmenu", "submit", "drop", "dragstart", "keydown"])
			root.addEventListener(type, (e) => {
				const at = e.composedPath()[0];
				if (at.shadowRoot || at.localName === "label") return;
				if (type === "keydown" && (e.key.length === 1 || ["Backspace", "Control", "Delete"].includes(e.key))) return;
				if (type === "keydown" && at.matches("input, textarea") && ["ArrowLeft", "ArrowRight", "Home", "End"].includes(e.key)) return;
				events.push(prefix + type + " " + (at.id || at.localName) + (type === "keydown" ? " " + e.key : ""));
				if (type === "contextmenu" || type === "submit" || type === "drop") e.preventDefault();
			}, true);
		root.addEventListener("dragover", (e) => e.preventDefault(), true);
		root.addEventListener("scroll", () => { wasScrolled = true; }, true);
	};
	watch(document, top === window ? "" : "frame ");
	const holds = (root) => [...root.querySelectorAll("*")].flatMap((el) => [
		...(el.matches("input, textarea, select") ? [[el.id, el.type === "file" ? el.files[0]?.name : el.multiple ? [...el.selectedOptions].map((o) => o.value) : el.value, !!el.checked]] : []),
		...(el.hasAttribute("contenteditable") ? [[el.id, el.innerText]] : []),
		...(el.hasAttribute("data-state") ? [[el.id, el.dataset.state]] : []),
		...(el.shadowRoot ? holds(el.shadowRoot) : []),
	]);
	const state = () => ({ events, hash: location.hash, holds: holds(document), focus: document.activeElement.id,
		frames: Array.from(frames, (f) => f.eval("state()")) });
</script>`

func click(x, y float64) act { return act{Act: gesture.Act{Kind: "click", X: x, Y: y}} }

func acts(groups ...[]act) []act { return slices.Concat(groups...) }

func one(a ...act) []act { return a }

// keys are keys, one after another, with modifiers such as in Control+a.
func keys(names ...string) (list []act) {
	for _, name := range names {
		parts := strings.Split(name, "+")
		last := len(parts) - 1
		list = append(list, act{Act: gesture.Act{Kind: "key", Key: parts[last], Modifiers: parts[:last]}})
	}
	return list
}

// typed are the keys of a text.
func typed(text string) []act { return keys(strings.Split(text, "")...) }

func slowly(list []act) []act {
	for i := range list {
		list[i].Slow = true
	}
	return list
}

func pasted(text string) []act { return one(act{Act: gesture.Act{Kind: "text", Text: text}}) }

func at(kind string, x, y float64) []act { return one(act{Act: gesture.Act{Kind: kind, X: x, Y: y}}) }

func drag(x, y, toX, toY float64) []act {
	return one(act{Act: gesture.Act{Kind: "drag", X: x, Y: y, ToX: toX, ToY: toY}})
}

// answer answers what the field a asks.
func answer(kind string, values ...string) []act {
	return one(act{Answer: kind, Values: values})
}

// persons are what people do. Elements lie at the left, 100 pixels wide and 20 high, if nothing else is said.
func persons() []person {
	const box = `style="left:0;width:100px;height:20px;padding:0;margin:0;box-sizing:border-box;`
	field := func(html string) string { return strings.Replace(html, "<_ ", "<input "+box+`top:0" `, 1) }
	return []person{
		{"button", `<button id=a ` + box + `top:0">Save</button><button id=b ` + box + `top:40px">Cancel</button>`, one(click(10, 10), click(90, 50))},
		{"buttons of one name", strings.Repeat(`<li style="position:static"><button id=b>Remove</button>`, 3) + `<button id=c style="left:0;top:20px;width:60px;height:20px">Remove</button>`, one(click(10, 30))},
		{"icon in a button", `<button id=a aria-label=Close ` + box + `top:0"><svg width=16 height=16><circle r=8 /></svg></button>`, one(click(50, 10))},
		{"link", `<a id=a href="#there" ` + box + `top:0">There</a>`, one(click(5, 8))},
		{"check box", `<input type=checkbox id=a aria-label=Yes style="left:0;top:0;width:20px;height:20px;margin:0">`, one(click(10, 10))},
		{"check box twice", `<input type=checkbox id=a aria-label=Yes style="left:0;top:0;width:20px;height:20px;margin:0">`, one(click(10, 10), click(5, 5))},
		{"checked box of a label", `<label id=l style="left:0;top:0"><input type=checkbox id=a checked> I agree to it</label>`, one(click(70, 10))},
		{"switch", `<button role=switch aria-checked=false id=a data-state=off onclick="this.ariaChecked = this.dataset.state = this.ariaChecked !== 'true'" ` + box + `top:0">Dark</button>`, one(click(50, 10), click(50, 10), click(50, 10))},
		{"radio", `<input type=radio name=r id=a checked aria-label=A ` + box + `top:0"><input type=radio name=r id=b aria-label=B ` + box + `top:40px">`, one(click(50, 50), click(50, 50))},
		{"text", field(`<_ id=a aria-label=Name>`), acts(one(click(50, 10)), typed("Anna B"))},
		{"text and Enter", `<form style="left:0;top:0"><input id=a aria-label=Name></form>`, acts(one(click(50, 10)), typed("x+y"), keys("Enter"))},
		{"text and Backspace", field(`<_ id=a aria-label=Name>`), acts(one(click(50, 10)), slowly(acts(typed("Anne"), keys("Backspace", "a"))))},
		{"text and cursor", field(`<_ id=a aria-label=Name>`), acts(one(click(50, 10)), slowly(acts(typed("helo"), keys("ArrowLeft"), typed("l"), keys("Home"), typed("X "), keys("Delete", "End"), typed("!"), keys("ArrowLeft", "ArrowLeft", "Backspace"))))},
		{"text and Tab", field(`<_ id=a aria-label=Name>`) + `<input id=b aria-label=City ` + box + `top:40px">`, acts(one(click(50, 10)), slowly(acts(typed("Ann"), keys("Tab"), typed("Rome"))))},
		{"text in boxes that move the focus on", strings.Repeat(`<input aria-label=Digit maxlength=1 style="position:static" oninput="this.nextElementSibling.focus()">`, 3) + `<button id=b data-state="" onkeydown="this.dataset.state += event.key" style="position:static">OK</button>`, acts(one(click(20, 20)), slowly(typed("12")), typed("3x"))},
		{"text with accents", field(`<_ id=a aria-label=Name>`), acts(one(click(50, 10)), typed("Zo"), pasted("ë 日本"), typed("!"))},
		{"field with content", field(`<_ id=a aria-label=Name value="Anna">`), acts(one(click(90, 10)), slowly(acts(typed(" B"))))},
		{"field with content, erased", field(`<_ id=a aria-label=Name value="Anna">`), acts(one(click(90, 10)), keys("Backspace", "Backspace"), typed("i"))},
		{"field with content, replaced", field(`<_ id=a aria-label=Name value="Anna">`), acts(one(click(90, 10)), slowly(acts(keys("Control+a"), typed("Bob"))))},
		{"field with content, selected by Tab", field(`<_ id=a aria-label=Name>`) + `<input id=b aria-label=City value="Rome" ` + box + `top:40px">`, acts(one(click(50, 10)), slowly(acts(typed("Ann"), keys("Tab"), typed("Ulm"))))},
		{"field with content, selected by the page", field(`<_ id=a aria-label=Count type=number value=12 onclick="this.select()">`), acts(one(click(90, 10)), slowly(typed("34")))},
		{"area with content, selected by the page", `<textarea id=a aria-label=Notes onclick="this.select()" style="left:0;top:0;width:200px;height:100px">one two</textarea>`, acts(one(click(50, 10)), slowly(typed("x")))},
		{"editable, selected by the page", `<div contenteditable id=a aria-label=Text role=textbox onclick="getSelection().selectAllChildren(this)" style="left:0;top:0;width:200px;height:100px">one two</div>`, acts(one(click(100, 50)), slowly(typed("xy")))},
		{"field of a shadow root, selected by the page", `<x-a style="left:0;top:0"></x-a><script>const root = document.querySelector("x-a").attachShadow({ mode: "open" }); root.innerHTML = "<input id=b aria-label=Name value=Ann onclick='this.select()'>"; watch(root, "shadow ")</script>`, acts(one(click(30, 10)), slowly(typed("Bob")))},
		{"field with content, emptied", field(`<_ id=a aria-label=Name value="Anna">`), acts(one(click(90, 10)), keys("Control+a", "Backspace"))},
		{"password with content", field(`<_ id=a aria-label=Code type=password value="abc">`), acts(one(click(90, 10)), typed("de"))},
		{"number", field(`<_ id=a aria-label=Count type=number>`), acts(one(click(20, 10)), slowly(acts(typed("-1.5"))))},
		{"search", field(`<_ id=a aria-label=Find type=search>`), acts(one(click(50, 10)), typed("shoes"), keys("Enter"))},
		{"area with line breaks", `<textarea id=a aria-label=Notes style="left:0;top:0;width:200px;height:100px"></textarea>`, acts(one(click(50, 10)), typed("one"), keys("Enter"), typed("two"), keys("Enter"), typed("three"))},
		{"area with content", `<textarea id=a aria-label=Notes style="left:0;top:0;width:200px;height:100px">one  two` + "\n" + `three</textarea>`, acts(one(click(150, 80)), slowly(acts(typed(" four"), keys("Backspace"))))},
		{"area with pasted lines", `<textarea id=a aria-label=Notes style="left:0;top:0;width:200px;height:100px"></textarea>`, acts(one(click(50, 10)), pasted("one\n two"))},
		{"editable", `<div contenteditable id=a aria-label=Text role=textbox style="left:0;top:0;width:200px;height:100px">one</div>`, acts(one(click(100, 50)), typed(" two"))},
		{"keys without a field", `<button id=a ` + box + `top:0">Save</button>`, acts(one(click(50, 10)), keys("Shift+Tab", "Escape", "ArrowDown", "Enter"))},
		{"select", `<select id=a aria-label=Size ` + box + `top:0"><option value=s>Small<option value=m>Medium<option value=l>Large</select>`, acts(one(click(50, 10)), answer("select", "l"))},
		{"select without a value", `<select id=a aria-label=Size ` + box + `top:0"><option value="">Choose<option value=m selected>Medium</select>`, acts(one(click(50, 10)), answer("select", ""))},
		{"select several", `<select multiple id=a aria-label=Size style="left:0;top:0;width:100px;height:100px"><option value=s>Small<option value=m>Medium<option value=l>Large</select>`, acts(one(click(50, 90)), answer("select", "s", "l"))},
		{"date", field(`<_ id=a aria-label=Day type=date>`), acts(one(click(50, 10)), answer("date", "2026-11-26"))},
		{"color", field(`<_ id=a aria-label=Paint type=color>`), acts(one(click(50, 10)), answer("date", "#00ff00"))},
		{"slider", `<input type=range min=0 max=100 id=a aria-label=Volume style="left:0;top:0;width:200px;height:20px;margin:0">`, one(click(150, 10))},
		{"slider dragged", `<input type=range min=0 max=100 value=0 id=a aria-label=Volume style="left:0;top:0;width:200px;height:20px;margin:0">`, drag(8, 10, 100, 10)},
		{"cell of a row that can be clicked", `<table style="left:0;top:0"><tr tabindex=0><td id=a>Ann<td id=b>Peru<td id=c>four<tr tabindex=0><td id=d><b id=e>Bob</b><td id=f>Mali<td id=g>five</table>`, one(click(8, 10), click(8, 36))},
		{"item of a list that can be clicked", `<ul tabindex=0 style="left:0;top:0;margin:0;width:200px"><li id=a style="height:20px">Ann<li id=b style="height:20px">Bob<li id=c style="height:20px">Cid</ul>`, one(click(100, 50))},
		{"texts without a role", `<main style="left:0;top:0;width:300px"><div id=a style="height:20px">Ann</div><div id=b style="height:20px">Bob <span id=c>30</span></div><div id=d style="height:60px">Cid</div></main>`, one(click(150, 10), click(35, 30), click(150, 90))},
		{"texts without a role in an item", `<ul style="left:0;top:0;margin:0;width:200px"><li id=a><div id=b style="height:20px">Tea</div><div id=c style="height:20px">Buy</div><div id=d style="height:20px">Drop</div></ul>`, one(click(100, 50))},
		{"text in a cell", `<table style="left:0;top:0"><tr><td id=a style="width:50px"><span id=b>Ann Bob Cid</span></table>`, one(click(20, 10))},
		{"place without anything", `<main id=a style="left:0;top:0;width:300px;height:300px"><button id=b style="margin:140px 120px">Save</button></main>`, one(click(20, 20), click(600, 400))},
		{"text without a role in a frame", `<iframe srcdoc='` + strings.ReplaceAll(probe, "'", "&#39;") + `<div id=a style="left:0;top:0;width:100px;height:20px">Ann</div><div id=b style="left:0;top:40px;width:100px;height:20px">Bob</div>' style="left:50px;top:50px;border:0"></iframe>`, one(click(70, 100))},
		{"click with modifiers", `<button id=a data-state=none onclick="this.dataset.state = [event.shiftKey, event.ctrlKey]" ` + box + `top:0">Row</button>`, one(act{Act: gesture.Act{Kind: "click", X: 50, Y: 10, Modifiers: []string{"Control", "Shift"}}})},
		{"middle click", `<button id=a data-state=none onauxclick="this.dataset.state = event.button" ` + box + `top:0">Row</button>`, at("middleClick", 50, 10)},
		{"keys of characters without a field", `<button id=a data-state="" onkeydown="this.dataset.state += event.key" ` + box + `top:0">Save</button>`, acts(one(click(50, 10)), typed("jG? +"))},
		{"double click", `<button id=a ` + box + `top:0">Row</button>`, at("doubleClick", 50, 10)},
		{"right click", `<button id=a ` + box + `top:0">Row</button>`, at("rightClick", 50, 10)},
		{"drag and drop", `<li draggable=true id=a ` + box + `top:0">Card</li><div id=b role=region aria-label=Done style="left:300px;top:100px;width:200px;height:200px">Done</div>`, drag(50, 10, 400, 200)},
		{"drag with the mouse", `<button id=a data-state=none onmousedown="this.x = true" ` + box + `top:0">Card</button><div id=b role=region aria-label=Done data-state=empty onmouseup="this.dataset.state = 'full at ' + event.offsetX" style="left:300px;top:100px;width:200px;height:200px"></div>`, drag(50, 10, 320, 200)},
		{"canvas", `<canvas id=a role=img aria-label=Map width=200 height=200 data-state=none onclick="this.dataset.state = event.offsetX + ' ' + event.offsetY" style="left:0;top:0"></canvas>`, one(click(150, 20))},
		{"shadow root", `<x-a style="left:0;top:0"></x-a><script>const root = document.querySelector("x-a").attachShadow({ mode: "open" }); root.innerHTML = "<button id=a>Save</button><br><input id=b aria-label=Name>"; watch(root, "shadow ")</script>`, acts(one(click(10, 10), click(30, 30)), typed("Ann"))},
		{"frame", `<iframe srcdoc='` + strings.ReplaceAll(probe, "'", "&#39;") + `<button id=a style="left:0;top:0;width:100px;height:20px">Save</button><input id=b aria-label=Name style="left:0;top:40px;width:100px;height:20px">' style="left:50px;top:50px;border:0"></iframe>`, acts(one(click(70, 60), click(70, 100)), typed("Ann"))},
	}
}

// TestActsAreThoseOfPlaywright does what people do with Playwright's mouse and keyboard, with the calls that the same acts
// become, and with the calls that they record in a new page. All leave the page in the same state.
func TestActsAreThoseOfPlaywright(t *testing.T) { //nolint:tparallel // the subtests share a page
	t.Parallel()
	list := persons()
	base := servePages(t, list)
	want := playwrightStates(t, base, list)
	s := openSession(t)
	for i, p := range list {
		t.Run(p.name, func(t *testing.T) {
			d := &desk{T: t, session: s, device: webDevice()}
			d.make(trail.Call{Tool: "web_navigate", Args: map[string]any{"url": fmt.Sprintf("%s/%d", base, i)}})
			for _, a := range p.acts {
				d.act(a)
			}
			d.endTyping()
			if diff := cmp.Diff(want[i], d.state()); diff != "" {
				t.Errorf("the calls leave the page otherwise (-Playwright +calls):\n%s\n%v", diff, d.made)
			}
			d.make(trail.Call{Tool: "web_navigate", Args: map[string]any{"url": fmt.Sprintf("%s/%d", base, i)}})
			d.make(d.recorded...)
			if diff := cmp.Diff(want[i], d.state()); diff != "" {
				t.Errorf("the recording leaves the page otherwise (-Playwright +recording):\n%s\n%v", diff, d.recorded)
			}
		})
	}
}

func servePages(t *testing.T, list []person) (base string) {
	t.Helper()
	mux := http.NewServeMux()
	for i, p := range list {
		mux.HandleFunc(fmt.Sprintf("/%d", i), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<!doctype html>" + probe + p.body))
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// playwrightStates returns the state in which each case leaves its page.
func playwrightStates(t *testing.T, base string, list []person) (states []any) {
	t.Helper()
	type page struct {
		URL  string `json:"url"`
		Acts []act  `json:"acts"`
	}
	var pages []page
	for i, p := range list {
		pages = append(pages, page{fmt.Sprintf("%s/%d", base, i), withoutAsked(p.acts)})
	}
	data, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "gestures.mjs", spawntest.Chromium(t), file)
	node.Dir = "../../../testdata/web/playwright"
	node.Cancel = func() error { return node.Process.Signal(os.Interrupt) }
	node.WaitDelay = 10 * time.Second
	var problems strings.Builder
	node.Stderr = &problems
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v %s", err, problems.String())
	}
	for line := range strings.Lines(string(out)) {
		var state any
		if err := json.Unmarshal([]byte(line), &state); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		states = append(states, state)
	}
	if len(states) != len(list) {
		t.Fatalf("Playwright did %d of %d cases", len(states), len(list))
	}
	return states
}

// withoutAsked removes clicks that open a popup, which Playwright cannot answer.
func withoutAsked(list []act) (left []act) {
	for i, a := range list {
		if i+1 == len(list) || list[i+1].Answer == "" {
			left = append(left, a)
		}
	}
	return left
}

// openSession opens a live session with a browser.
func openSession(t *testing.T) *live.RedactedSession {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	t.Cleanup(func() {
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
	})
	return openSessionOf(t, web.Kind(), device.Host{
		Values: map[string]string{"browser": spawntest.Chromium(t), "viewport": "800x600"}, Env: os.Environ(), Programs: local.Programs(supervisor),
	})
}

// openSessionOf opens a live session of a kind of device.
func openSessionOf(t *testing.T, k device.Kind, host device.Host) *live.RedactedSession {
	t.Helper()
	root := t.TempDir()
	backend, err := k.New(host)
	if err != nil {
		t.Fatal(err)
	}
	redactor := redact.New(nil)
	driver, _ := scope.ParseDriver(k.Drivers[0])
	s, err := live.Open(t.Context(), live.Options{
		Setup: session.Setup{
			Project: &config.Project{Root: root, LogsDir: filepath.Join(root, "logs"), TrailsDir: filepath.Join(root, "trails")},
			Version: "test", Redactor: redactor, Stream: event.NewStream(time.Now, redactor), Now: time.Now,
			Builtins: []discover.Source{builtin.Source()},
		},
		Scope:  scope.Scope{Driver: driver, AgentMode: scope.Host},
		Device: session.Device{Backends: []session.Backend{{Kind: k, Backend: backend}}}, Name: "gestures",
		Lineage: []string{k.Name}, Settle: live.Settle{Interval: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		s.Close(ctx)
		if err := backend.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// desk carries out acts, as the desk of the studio does.
type desk struct {
	*testing.T
	session        *live.RedactedSession
	device         gesture.Device
	typing         *gesture.Typing
	field          string // the reference of what is typed into
	ask            *gesture.Question
	made, recorded []trail.Call
}

func webDevice() gesture.Device { return gesture.Device{Platform: "web", Width: 800, Height: 600} }

func (d *desk) make(calls ...trail.Call) {
	d.Helper()
	if len(calls) == 0 {
		return
	}
	report, err := d.session.Step(d.Context(), live.StepRequest{Text: "act", Kind: trail.KindStep, Calls: calls, Unrecorded: true})
	if err != nil || !report.OK() {
		d.Fatalf("%v: %v %+v", calls, err, report.Calls)
	}
	d.made = append(d.made, calls...)
}

func (d *desk) locate(p live.Place) gesture.Target {
	d.Helper()
	found, err := d.session.Locate(d.Context(), p)
	if err != nil {
		d.Logf("nothing is at %+v: %v", p, err)
		return gesture.Target{}
	}
	return gesture.Target{Location: found}
}

func (d *desk) act(a act) {
	d.Helper()
	switch {
	case a.Answer != "":
		if d.ask == nil || d.ask.Kind != a.Answer {
			d.Fatalf("the question is %+v, not %s", d.ask, a.Answer)
		}
		calls, err := gesture.Answer(*d.ask, a.Values)
		if err != nil {
			d.Fatal(err)
		}
		d.record(calls)
	case a.Kind == "key":
		d.key(a)
	case a.Kind == "text":
		if d.typing == nil {
			field := d.focused()
			d.typing = d.begin(field, field.Element.Content)
		}
		d.typing.Text(a.Text)
	default:
		d.endTyping()
		at := d.locate(live.Place{X: int(a.X), Y: int(a.Y)})
		var to gesture.Target
		if a.Kind == "drag" {
			to = d.locate(live.Place{X: int(a.ToX), Y: int(a.ToY)})
		}
		r, err := gesture.Calls(d.device, a.Act, at, to)
		if err != nil {
			d.Fatal(err)
		}
		d.ask = r.Ask
		d.record(r.Calls)
	}
}

func (d *desk) record(calls []trail.Call) {
	d.Helper()
	d.make(calls...)
	d.recorded = append(d.recorded, calls...)
}

func (d *desk) key(a act) {
	d.Helper()
	begins := d.typing == nil
	if begins {
		if field := d.focused(); gesture.IsTextField(field.Element) {
			d.typing = d.begin(field, field.Element.Content)
		}
	}
	if d.typing != nil && d.typing.Key(a.Key, a.Modifiers) {
		if a.Slow || begins {
			d.flush()
			d.followFocus()
		}
		return
	}
	d.endTyping()
	if a.Key == "a" && slices.Equal(a.Modifiers, []string{"Control"}) { // the next key replaces what is selected
		d.typing = d.begin(d.focused(), "")
		return
	}
	c, err := gesture.KeyCall(d.device, a.Key, a.Modifiers)
	if err != nil {
		d.Fatal(err)
	}
	d.record([]trail.Call{c})
}

func (d *desk) begin(field gesture.Target, initial string) *gesture.Typing {
	d.field = field.Element.Ref
	return gesture.Begin(d.device, field, initial)
}

func (d *desk) flush() {
	d.Helper()
	if calls, ok := d.typing.Pending(); ok {
		d.make(calls...)
		d.typing.Made()
	}
}

// followFocus ends what is typed if the page has moved the focus.
func (d *desk) followFocus() {
	d.Helper()
	if field := d.focused(); field.Element.Ref != d.field {
		d.endTyping()
	}
}

func (d *desk) endTyping() {
	d.Helper()
	if d.typing != nil {
		d.flush()
		d.recorded = append(d.recorded, d.typing.Recorded()...)
		d.typing = nil
	}
}

// focused is the element that keys go to.
func (d *desk) focused() gesture.Target {
	d.Helper()
	look, err := d.session.Look(d.Context(), false)
	if err != nil {
		d.Fatal(err)
	}
	var ref string
	var search func(e *live.Element)
	search = func(e *live.Element) {
		if e.Focused {
			ref = e.Ref
		}
		for _, child := range e.Children {
			search(child)
		}
	}
	search(look.Root)
	if ref == "" {
		return gesture.Target{}
	}
	return d.locate(live.Place{Ref: ref})
}

// state is what the page says of itself.
func (d *desk) state() (state any) {
	d.Helper()
	report, err := d.session.Step(d.Context(), live.StepRequest{
		Text: "state", Kind: trail.KindStep, Unrecorded: true,
		Calls: []trail.Call{{Tool: "web_evaluate", Args: map[string]any{"script": "JSON.stringify(state())"}}},
	})
	if err != nil || !report.OK() {
		d.Fatalf("%v %+v", err, report.Calls)
	}
	text := report.Calls[0].Text
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		text = inner
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		d.Fatalf("%q: %v", text, err)
	}
	return state
}

// checkedPage has elements of many kinds, with texts that people see otherwise than they are written.
const checkedPage = `<meta charset=utf-8><h1>Your   cart</h1><button aria-label=Close>×</button><button><b>Save</b> all</button><button disabled>Send</button>
	<button style="text-transform:uppercase">shout</button><a href=#>Terms &amp; conditions</a><p>Total <b>30 €</b> in 2 parts</p>
	<ul><li>One</li><li>Two</li><li><a href=#>Three</a></li></ul><input aria-label=Name value="Anna  B"><input aria-label=Mail placeholder=Mail>
	<input type=checkbox aria-label=Yes checked><input type=checkbox aria-label=No disabled><input type=radio aria-label=Red><input type=password aria-label=Code value=abc>
	<textarea aria-label=Notes>one
two  three</textarea><select aria-label=Size><option>Small<option selected>Large  one</select><select multiple aria-label=Sizes><option selected>S<option selected>M</select>
	<div role=tablist><button role=tab aria-selected=true>First</button><button role=tab>Second</button></div><details open><summary>More</summary>Text</details>
	<div role=switch tabindex=0 aria-checked=mixed>Mixed</div><table><tr><th>Name<td>Ann<tr><td>Bob<td></table><img alt=Logo width=20 height=20>
	<div contenteditable role=textbox aria-label=Text>Hello</div><input type=range aria-label=Volume><input type=number aria-label=Count value=3><input type=date aria-label=Day value=2026-11-26>
	<progress value=0.3 aria-label=Done></progress><div role=alert>Saved 2 minutes ago</div><button>Remove</button><button>Remove</button><button aria-expanded=true>Menu</button>
	<label>City <input value=Rome></label><div role=button tabindex=0>Custom <span hidden>secret</span></div>`

// TestChecksHold makes the checks of each element of a page: all hold but the last one, which holds when the element is
// gone.
func TestChecksHold(t *testing.T) {
	t.Parallel()
	base := servePages(t, []person{{body: checkedPage}})
	d := &desk{T: t, session: openSession(t), device: webDevice()}
	d.make(trail.Call{Tool: "web_navigate", Args: map[string]any{"url": base + "/0"}})
	look, err := d.session.Look(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, ref := range refs(look.Root) {
		at := d.locate(live.Place{Ref: ref})
		list := gesture.Checks(webDevice(), at.Location, look.Root)
		if len(list) == 0 {
			t.Errorf("%+v has no checks", at.Element)
		}
		for i, c := range list {
			if c.Call.Tool == "verifyScreenshot" {
				continue
			}
			c.Call.Args["timeoutMs"] = 1
			gone := c.Call.Tool == "web_verifyElementNotVisible"
			if gone != (i == len(list)-1) && at.Element.Bounds != nil {
				t.Errorf("%+v: %+v", at.Element, list)
			}
			report, err := d.session.Step(t.Context(), live.StepRequest{
				Text: "check", Kind: trail.KindVerify, Unrecorded: true, Calls: []trail.Call{{Tool: c.Call.Tool, Args: c.Call.Args}},
			})
			if err != nil || report.OK() == gone {
				t.Errorf("%s %q: %s: %v %+v", at.Element.Role, at.Element.Name, c.Label, err, report.Calls)
			}
			count++
		}
	}
	t.Logf("%d checks", count)
}

// refs returns the references of all elements.
func refs(e *live.Element) (list []string) {
	if e.Ref != "" {
		list = append(list, e.Ref)
	}
	for _, child := range e.Children {
		list = append(list, refs(child)...)
	}
	return list
}
