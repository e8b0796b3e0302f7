package web

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// openLive opens a live session in the shared browser.
func openLive(t *testing.T, session device.Session) *testSession {
	t.Helper()
	b := sharedBrowser.get(t)
	session.Live = true
	return openSessionIn(t, b, session)
}

// view returns what the page shows.
func (u *testSession) view(o device.ViewOptions) device.View {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	v, err := u.device.(device.Viewer).View(ctx, o)
	if err != nil {
		u.t.Fatal(err)
	}
	return v
}

// shown returns the page as text.
func (u *testSession) shown() string {
	u.t.Helper()
	v := u.view(device.ViewOptions{})
	return v.Tree.Text(screen.TextOptions{Ref: v.Ref}).String()
}

// refOf returns the reference of the first line that contains a text.
func (u *testSession) refOf(text string) string {
	u.t.Helper()
	all := u.shown()
	for line := range strings.SplitSeq(all, "\n") {
		_, after, found := strings.Cut(line, "[ref=")
		if strings.Contains(line, text) && found {
			ref, _, _ := strings.Cut(after, "]")
			return ref
		}
	}
	u.t.Fatalf("no line contains %s:\n%s", text, all)
	return ""
}

func TestLiveViewShowsFrames(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/outer": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<title>outer</title><h1>Top</h1><iframe src="/near"></iframe><iframe src="`+far+`/far"></iframe>
				<iframe src="/near" hidden></iframe><iframe sandbox srcdoc="<input type=checkbox aria-label=boxed>"></iframe>`)(w, r)
		},
		"/near":  htmlPage(`<button onclick="this.textContent = 'near clicked'">near</button>`),
		"/far":   htmlPage(`<button onclick="this.textContent = 'far clicked'">far</button><iframe src="/inner"></iframe>`),
		"/inner": htmlPage(`<button onclick="this.textContent = 'inner clicked'">inner</button>`),
	})
	far = otherSite(url)
	u.mustCall("navigate", "url", url+"/outer")
	u.waitForFrames("/outer", "/near", "/far", "/inner", "/near", "srcdoc")
	want := `- heading "Top" [ref=e1] [level=1]
- iframe
  - button "near" [ref=e2]
- iframe
  - button "far" [ref=e3]
  - iframe
    - button "inner" [ref=e4]
- iframe
  - checkbox "boxed" [ref=e5]`
	if got := u.shown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, ref := range map[string]string{"near": "e2", "far": "e3", "inner": "e4"} {
		u.mustCall("web_click", "ref", ref)
		if got := u.refOf(name + " clicked"); got != ref {
			t.Errorf("%s is %s now", ref, got)
		}
	}
	v := u.view(device.ViewOptions{Within: "e3", Screenshot: true})
	if got := v.Part.Text(screen.TextOptions{Ref: v.Ref}).String(); got != `- button "far clicked" [ref=e3]` {
		t.Errorf("within e3: %s", got)
	}
	if v.URL != url+"/outer" || v.Title != "outer" || len(v.Screenshot) == 0 {
		t.Errorf("%s %q, %d bytes of a screenshot", v.URL, v.Title, len(v.Screenshot))
	}
	v = u.view(device.ViewOptions{Within: "iframe"})
	if got := v.Part.Text(screen.TextOptions{Ref: v.Ref}).String(); got != "- iframe\n  - button \"near clicked\" [ref=e2]" {
		t.Errorf("within iframe: %s", got)
	}
}

// People type into editors without a role, and read what is in those with one.
func TestEditorsAreShown(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.show(`<div contenteditable role=textbox aria-label=Body>some</div><div contenteditable aria-label=Draft>delta</div>
		<div contenteditable></div><div contenteditable><p>First</p></div><div contenteditable=false>fixed</div>`)
	want := `- textbox "Body" [ref=e1]: "some"
- generic "Draft" [ref=e2] [editable]: "delta"
- generic [ref=e3] [editable]
- generic [ref=e4] [editable]
  - paragraph [ref=e5]: "First"
- text: "fixed"`
	if got := u.shown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := u.mustCall("web_type", "ref", "e2", "text", "one\ntwo"); got != `filled generic "Draft"` {
		t.Errorf("%q", got)
	}
	u.mustCall("web_type", "ref", "e3", "text", "three")
	u.mustCall("web_type", "ref", "e5", "text", "four")
	for _, line := range []string{`[ref=e2] [editable]: "one two"`, `[ref=e3] [editable]: "three"`, `[ref=e5]: "four"`} {
		if got := u.shown(); !strings.Contains(got, line) {
			t.Errorf("%s is not in\n%s", line, got)
		}
	}
}

// livePage has elements for every command that names one.
func livePage(far string) http.HandlerFunc {
	return htmlPage(`<title>live</title><label>Name <input id="name1234"></label><label>Pin <input type=password></label>
		<select aria-label=Size><option>S<option>M</select><button onclick="done.textContent += ' clicked'">Go (now)?</button>
		<article aria-label=Rows><button>Delete</button><button onclick="done.textContent += ' second'">Delete</button></article>
		<p id=done>done:</p><iframe src="` + far + `/inner" width=300 height=100></iframe>
		<iframe src="/inner" width=300 height=100></iframe>`)
}

func TestCallsByReferenceReplayInFreshPage(t *testing.T) {
	t.Parallel()
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/live":  func(w http.ResponseWriter, r *http.Request) { livePage(far)(w, r) },
		"/inner": htmlPage(`<button onclick="this.textContent = location.hostname">Inner</button>`),
	})
	far = otherSite(url)
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/live")
	u.waitForFrames("/live", "/inner", "/inner")
	inner := u.refsOf(`button "Inner"`)
	var recorded []tool.Call
	for _, call := range []struct {
		command, ref string
		args         []any
	}{
		{"web_type", u.refOf(`textbox "Name"`), []any{"text", "Ada"}},
		{"web_fillSecret", u.refOf(`textbox "Pin"`), []any{"value", "9876"}},
		{"web_selectOption", u.refOf(`combobox "Size"`), []any{"values", []any{"M"}}},
		{"web_hover", u.refOf("Go (now)?"), nil},
		{"web_click", u.refOf("Go (now)?"), nil},
		{"web_click", u.refsOf(`button "Delete"`)[1], nil},
		{"web_scroll", u.refOf("Rows"), nil},
		{"web_click", inner[0], nil},
		{"web_click", inner[1], nil},
		{"web_verifyElementVisible", u.refOf(`article "Rows"`), nil},
		{"web_verifyValue", u.refOf(`textbox "Name"`), []any{"type", "VALUE", "expected", "Ada"}},
		{"web_verifyListVisible", u.refOf(`article "Rows"`), []any{"items", []any{"Delete"}}},
		{"web_verifyValue", u.refOf("done:"), []any{"expected", "done: clicked second"}},
	} {
		result, err := u.call(call.command, append([]any{"ref", call.ref}, call.args...)...)
		if err != nil || !result.OK || result.Located == nil || result.Located.Again != "" {
			t.Fatalf("%s %s: %+v, %v", call.command, call.ref, result, err)
		}
		args := maps.Clone(result.Located.Args)
		for i := 0; i < len(call.args); i += 2 {
			args[call.args[i].(string)] = call.args[i+1]
		}
		recorded = append(recorded, tool.Call{Tool: call.command, Args: args})
	}
	if result, err := u.call("web_click", "ref", "Go (now)?"); err != nil || result.Located != nil {
		t.Errorf("a call without a reference: %+v, %v", result.Located, err)
	}

	fresh := openSession(t)
	fresh.mustCall("navigate", "url", url+"/live")
	fresh.waitForFrames("/live", "/inner", "/inner")
	for _, call := range recorded {
		result, err := fresh.device.Call(t.Context(), call)
		if err != nil || !result.OK || result.Located != nil {
			t.Errorf("%s %v: %+v, %v", call.Tool, call.Args, result, err)
		}
	}
	for _, host := range []string{"localhost", "127.0.0.1"} {
		fresh.mustCall("web_verifyElementVisible", "nodeSelector", map[string]any{
			"web": map[string]any{"ariaRole": "button", "ariaNameRegex": screen.ExactPattern(host)},
		})
	}
}

// refsOf returns the references of all lines that contain a text.
func (u *testSession) refsOf(text string) []string {
	u.t.Helper()
	v := u.view(device.ViewOptions{})
	var refs []string
	for _, line := range v.Tree.Text(screen.TextOptions{Ref: v.Ref}).Lines {
		if strings.Contains(line.Text, text) && line.Ref != "" {
			refs = append(refs, line.Ref)
		}
	}
	return refs
}

func TestReferenceOfElementThatIsGone(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<div id=box><button id=pay>Pay</button><button>Close</button></div>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	ref := u.refOf("Pay")
	if stale := u.mustFail("web_click", []any{"ref", "e99"}, "e99 was never shown in this session"); stale.Kind != screen.StaleRef || stale.Hint == "" {
		t.Errorf("never shown: %+v", stale)
	}

	u.mustEval("box.innerHTML = box.innerHTML; 0")
	result, err := u.call("web_click", "ref", ref)
	want := "e1 is now e3, which was rendered in its place"
	if err != nil || !result.OK || result.Located.Again != want {
		t.Errorf("rendered again: %+v %+v, %v", result, result.Located, err)
	}

	u.mustEval("pay.remove(); box.insertAdjacentHTML('afterbegin', '<a href=#>Pay</a>')")
	stale := u.mustFail("web_click", []any{"ref", ref}, `e1 was button "Pay", which is no longer on the screen; near: link "Pay" [ref=e5]`)
	if stale.Kind != screen.StaleRef {
		t.Errorf("removed: %+v", stale)
	}
	_, err = u.device.(device.Viewer).View(t.Context(), device.ViewOptions{Within: ref})
	if fault.KindOf(err) != screen.StaleRef {
		t.Errorf("a view within it: %v", err)
	}
	for within, want := range map[string]string{"#none": "no element matches #none", "css=#box": "", "<": `"<" is not a CSS selector`} {
		_, err := u.device.(device.Viewer).View(t.Context(), device.ViewOptions{Within: within})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("within %s: %v", within, err)
		}
	}
}

// TestReferenceOfAnotherPageOfTheApp clicks by a reference after the app shows another page in the same document.
func TestReferenceOfAnotherPageOfTheApp(t *testing.T) {
	t.Parallel()
	const html = `<title>terms</title><div id=v><h1>Read the terms</h1><button id=b onclick="document.title = 'accepted'">Continue</button></div>`
	const script = `document.title = "delete"; const old = b; v.innerHTML = "<h1>Delete the account?</h1><button id=b onclick='document.title = \"deleted\"'>Continue</button>";`
	plain := strings.NewReplacer("<h1>", "<p>", "</h1>", "</p>")
	url := serve(t, map[string]http.HandlerFunc{"/terms": htmlPage(html), "/plain": htmlPage(plain.Replace(html))})
	for name, change := range map[string]string{
		"rendered":                    script,
		"rendered and pushed":         script + ` history.pushState({}, "", "/delete");`,
		"by its fragment":             script + ` history.pushState({}, "", "#/delete");`,
		"the address only":            `v.innerHTML = v.innerHTML; history.pushState({}, "", "/delete");`,
		"with the same button":        script + ` old.onclick = b.onclick; b.replaceWith(old); history.pushState({}, "", "/delete");`,
		"plain: rendered":             plain.Replace(script),
		"plain: only the title":       `v.innerHTML = v.innerHTML; document.title = "delete"`,
		"plain: with the same button": plain.Replace(script) + ` old.onclick = b.onclick; b.replaceWith(old);`,
		"plain: the same page":        `v.innerHTML = v.innerHTML`,
		"the same page":               `v.innerHTML = v.innerHTML; history.pushState({}, "", "?page=2#part"); document.title = "same"`,
	} {
		u := openLive(t, device.Session{})
		page := "/terms"
		if strings.HasPrefix(name, "plain") {
			page = "/plain"
		}
		u.mustCall("navigate", "url", url+page)
		ref := u.refOf(`button "Continue"`)
		u.mustEval(change + "; 0")
		result, err := u.call("web_click", "ref", ref)
		title := u.view(device.ViewOptions{}).Title
		if strings.HasSuffix(name, "the same page") {
			if err != nil || !result.OK || title != "accepted" {
				t.Errorf("%s: %+v, %v, %s", name, result, err, title)
			}
			continue
		}
		if err != nil || result.Kind != screen.StaleRef || strings.HasSuffix(title, "ed") {
			t.Errorf("%s: %+v, %v, %s", name, result, err, title)
		}
	}
}

func TestReferenceInACallOfATrailIsAPosition(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<p id=box><button onclick="document.title = this.textContent">Pay</button></p>`),
	})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	ref := u.refOf("Pay")
	u.mustEval(`box.insertAdjacentHTML('afterbegin', '<button onclick="document.title = this.textContent">Add</button>')`)
	for fromTrail, want := range map[bool]string{true: "Add", false: "Pay"} {
		call := tool.Call{Tool: "web_click", Args: map[string]any{"ref": ref}, FromTrail: fromTrail}
		result, err := u.device.Call(t.Context(), call)
		if err != nil || !result.OK || u.view(device.ViewOptions{}).Title != want || (result.Located == nil) != fromTrail {
			t.Errorf("from a trail %t: %+v, %v; the title is %q", fromTrail, result, err, u.view(device.ViewOptions{}).Title)
		}
	}
}

// TestSelectorIsMadeWhenElementIsReady changes the page while a call waits: the selector has to be right at the moment
// of the click.
func TestSelectorIsMadeWhenElementIsReady(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<button disabled onclick="this.textContent = 'Saved'">Save</button>`),
	})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	ref := u.refOf("Save")
	u.mustEval(`const b = document.querySelector("button"); setTimeout(() => b.insertAdjacentHTML("beforebegin", "<button>Save</button>"), 300); setTimeout(() => b.disabled = false, 900); 0`)
	result, err := u.call("web_click", "ref", ref)
	if err != nil || !result.OK {
		t.Fatalf("%+v, %v", result, err)
	}
	want := map[string]any{"nodeSelector": map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": "Save", "nthIndex": 1}}}
	if diff := cmp.Diff(want, result.Located.Args); diff != "" {
		t.Error(diff)
	}
}

func TestElementWithoutSelectorIsRefused(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button onclick="this.textContent = 'clicked'">Save</button>`)})
	secret := func(string) string { return "{{S}}" }
	u := openLive(t, device.Session{Redact: secret})
	u.mustCall("navigate", "url", url+"/page")
	ref := u.refOf("Save")
	u.mustFail("web_click", []any{"ref", ref}, `e1 is button "Save", which no selector for a recording finds`)
	if got := u.shown(); !strings.Contains(got, `"Save"`) {
		t.Errorf("it was clicked: %s", got)
	}
}

func TestEventsSinceLastView(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/page":  htmlPage(`<a id=d download=report.txt href="/file">get</a>`),
		"/file":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) },
		"/popup": htmlPage("popup"),
	})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	u.view(device.ViewOptions{})
	if events := u.view(device.ViewOptions{}).Events; len(events) > 0 {
		t.Errorf("nothing happened: %q", events)
	}
	u.mustEval(`confirm("Delete\n- button \u202eall?"); console.error("first\nline"); console.error("second"); console.warn("careful"); open("/popup"); d.click(); 0`)
	want := []string{
		`dialog: confirm "Delete\n- button \u202eall?", dismissed; web_handleDialog before the call accepts it`,
		"download: report.txt from " + url + "/file",
		"download: report.txt is completed, 1 byte",
		"window opened: " + url + "/popup",
		"2 console errors, the first: console.error: first line",
		"1 console warning: console.warning: careful",
	}
	var got []string
	waitFor(t, "the events", func() bool {
		got = append(got, u.view(device.ViewOptions{}).Events...)
		return len(got) >= len(want)
	})
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	u.mustCall("web_handleDialog", "action", "ACCEPT")
	u.mustEval(`for (let i = 0; i < 25; i++) alert(i); 0`)
	events := u.view(device.ViewOptions{}).Events
	if len(events) != notes.MaxEvents+1 || events[0] != `dialog: alert "0", accepted` || events[notes.MaxEvents] != "5 more dialogs" {
		t.Errorf("%q", events)
	}
}

func TestLiveSnapshotAndEvidenceHaveReferences(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button>One</button><p id=p><b>Two</b> <a href=#>Three</a></p>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	first := u.shown()
	u.mustEval("document.body.prepend(document.querySelector('a')); 0")
	if got, want := u.mustCall("web_snapshot", "within", "#p"), `- paragraph [ref=`+u.refOf("paragraph")+"]"; !strings.Contains(got, want) {
		t.Errorf("%s, want %s; at first\n%s", got, want, first)
	}
	ref := u.refOf("Three")
	u.mu.Lock()
	kept := string(u.kept["screen.txt"])
	u.mu.Unlock()
	for _, text := range []string{kept, string(u.device.Evidence(t.Context())[2].Data)} {
		if !strings.Contains(text, `link "Three" [ref=`+ref+"]") {
			t.Errorf("%s is not in\n%s", ref, text)
		}
	}
	if !strings.Contains(first, `link "Three" [ref=`+ref+"]") {
		t.Errorf("%s is not in\n%s", ref, first)
	}
}

func TestViewOfSessionThatIsNotLive(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", serve(t, nil)+"/act-names.html")
	v := u.view(device.ViewOptions{Within: "#main"})
	whole := v.Tree.Text(screen.TextOptions{Ref: v.Ref}).String()
	part := v.Part.Text(screen.TextOptions{Ref: v.Ref}).String()
	if !strings.Contains(whole, `- button "Save" [ref=e`) || !strings.Contains(part, `- button "Save" [ref=e`) || v.Title != "Names" {
		t.Errorf("%s\n%s", whole, part)
	}
}

func TestViewEndsWithItsContext(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", "about:blank")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.device.(device.Viewer).View(ctx, device.ViewOptions{}); fault.KindOf(err) != fault.CallTimeout {
		t.Errorf("got %v", err)
	}
	if v := u.view(device.ViewOptions{}); v.URL != "about:blank" || len(v.Tree.Nodes()) != 1 {
		t.Errorf("%s, %d nodes", v.URL, len(v.Tree.Nodes()))
	}
}

func TestLiveCallsBesideFrameThatKeepsNavigating(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<iframe src="/busy?0"></iframe><button onclick="this.textContent = 'clicked'">Save</button>`),
		"/busy": htmlPage(`<button>Busy</button><script>setTimeout(() => location.href = "/busy?" + Math.random(), 1)</script>`),
	})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	for range tries(2, 5) {
		ref := u.refOf("Save")
		u.mustCall("web_click", "ref", ref)
		if got := u.refOf("clicked"); got != ref {
			t.Errorf("%s is %s now", ref, got)
		}
		u.mustEval("document.querySelector('button').textContent = 'Save'; 0")
	}
}

func TestViewWhilePageIsReplaced(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", "data:text/html,<button>old")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			u.mustCall("clearAppData")
		}
	}()
	for {
		u.view(device.ViewOptions{Screenshot: true})
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestClicksLabelsOfHiddenInputs(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<style>
		.none input { opacity: 0; width: 0; height: 0 } .gone input { display: none } .far input { position: absolute; left: -9999px }
		.tiny input { position: absolute; width: 1px; height: 1px; clip: rect(0 0 0 0); margin: -1px }</style>
		<label class=none><input type=radio name=size>Small</label><label class=none><input type=radio name=size>Large</label>
		<label class=far><input type=checkbox>Gift</label><label class=tiny><input type=checkbox>Express</label>
		<label class=none><input type=checkbox><a href="#terms">All the terms</a></label>
		<span class=none><input type=checkbox id=news></span><label for=news>News</label>
		<span class=gone><input type=radio name=pay id=card></span><label for=card>Card</label>
		<label class=gone><input type=radio name=pay value=bill><b>Bill</b></label>
		<fieldset><legend>More</legend><label class=none><input type=checkbox disabled>Never</label></fieldset>`)})
	u, fresh := openLive(t, device.Session{}), openSession(t)
	u.mustCall("navigate", "url", url+"/page")
	fresh.mustCall("navigate", "url", url+"/page")
	chosen := `[...document.querySelectorAll(":checked")].map((e) => (e.labels[0]).textContent).join()`
	for _, label := range []string{"Large", "Gift", "Express", "terms", "News", "Card", "Bill"} {
		result, err := u.call("web_click", "ref", u.refOf(label))
		if err != nil || !result.OK {
			t.Fatalf("%s: %+v, %v\n%s", label, result, err, u.shown())
		}
		again, err := fresh.device.Call(t.Context(), tool.Call{Tool: "web_click", Args: result.Located.Args})
		if err != nil || !again.OK {
			t.Errorf("%s: the replay of %v: %+v, %v", label, result.Located.Args, again, err)
		}
	}
	want := "Large,Gift,Express,All the terms,News,Bill"
	if live, replayed := u.mustEval(chosen), fresh.mustEval(chosen); live != want || replayed != want {
		t.Errorf("chosen live: %s, replayed: %s", live, replayed)
	}
	if got := u.mustCall("web_currentUrl"); got != url+"/page" {
		t.Errorf("the page is %s", got)
	}
	u.mustFail("web_click", []any{"ref", u.refOf("Never")}, "it is disabled")
	fields := `- radio "Small" [ref=e1]
- radio "Large" [ref=e2] [checked]
- checkbox "Gift" [ref=e3] [checked]
- checkbox "Express" [ref=e4] [checked]
- checkbox "All the terms" [ref=e5] [checked]
- link "All the terms" [ref=e6]
- checkbox "News" [ref=e7] [checked]
- radio "Card" [ref=e8]
- radio "Bill" [ref=e9] [checked]
- group "More"
  - checkbox "Never" [ref=e10] [disabled]`
	if got := u.shown(); got != fields {
		t.Errorf("got\n%s\nwant\n%s", got, fields)
	}
}

func TestReferenceWaitsUntilThePageHasLoaded(t *testing.T) {
	t.Parallel()
	var reloaded atomic.Bool
	rest := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{"/page": func(w http.ResponseWriter, r *http.Request) {
		htmlPage("<p id=box><button>Pay</button></p>"+strings.Repeat("<!-- -->", 200))(w, r)
		if reloaded.Load() {
			_, _ = io.WriteString(w, "<p>Reloaded</p>")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-rest:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, "<button>Pay</button>")
	}})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	reloaded.Store(true)
	u.mustEval("setTimeout(() => location.reload(), 0); 0")
	waitFor(t, "the new document", func() bool { return strings.Contains(u.shown(), "Reloaded") })
	ref := u.refOf("Pay")
	u.mustEval("box.remove(); 0")
	defer time.AfterFunc(100*time.Millisecond, func() { close(rest) }).Stop()
	result, err := u.call("web_click", "ref", ref)
	if err != nil || !result.OK || result.Located.Again == "" {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestReferenceNeverActsOnAnotherElement leaves a page, renders a row for another order, and uses a node for something
// else.
func TestReferenceNeverActsOnAnotherElement(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/terms":  htmlPage(`<h1>Read the terms</h1><button>Continue</button>`),
		"/delete": htmlPage(`<h1>Delete the account?</h1><button onclick="document.title = 'DONE'">Continue</button>`),
		"/rows":   htmlPage(`<ul id=u><li>Order 1 <button>Delete</button></li></ul>`),
		"/node":   htmlPage(`<button id=b>Order 1</button>`),
	})
	const done = `document.title = &quot;DONE&quot;`
	for page, test := range map[string]struct{ element, change, message string }{
		"/terms": {`button "Continue"`, "", `e2 was button "Continue", which is no longer on the screen; near: button "Continue" [ref=e4]`},
		"/rows": {
			`button "Delete"`, `u.innerHTML = '<li>Order 2 <button onclick="` + done + `">Delete</button></li>'`,
			`e1 was button "Delete", which is no longer on the screen; near: button "Delete" [ref=e2]`,
		},
		"/node": {
			`button "Order 1"`, `b.textContent = "Delete account"; b.onclick = () => { document.title = "DONE" }`,
			`e1 was button "Order 1" and is now button "Delete account"`,
		},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			u := openLive(t, device.Session{})
			u.mustCall("navigate", "url", url+page)
			ref := u.refOf(test.element)
			if test.change == "" {
				u.mustCall("navigate", "url", url+"/delete")
			} else {
				u.mustEval(test.change + "; 0")
			}
			stale := u.mustFail("web_click", []any{"ref", ref}, test.message)
			if title := u.view(device.ViewOptions{}).Title; stale.Kind != screen.StaleRef || title == "DONE" {
				t.Errorf("%+v; the title is %q", stale, title)
			}
		})
	}
}
