package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// messagesPage shows messages in several ways, each for a time that it measures itself, in window.times.
const messagesPage = `<title>messages</title><p>Some text</p><div id=polite aria-live=polite></div><p id=state role=status></p>
<p id=hidden role=alert style="display: none">Disk full</p><ul id=list></ul><div id=host></div><h2 id=moved></h2>
<script>
	window.times = {};
	const slower = location.hash ? 3 : 1;
	const wait = (ms) => new Promise((done) => setTimeout(done, slower * ms));
	const timed = async (text, ms, show, hide) => {
		const began = performance.now();
		show();
		await wait(ms);
		hide();
		times[text] = performance.now() - began;
	};
	const text = (el, text, ms) => timed(text, ms, () => el.append(text), () => el.replaceChildren());
	const element = (html, ms, at = document.body) => {
		const el = document.createElement("div");
		el.innerHTML = html;
		const child = el.firstElementChild;
		return timed(child.textContent, ms, () => at.append(child), () => child.remove());
	};
	const root = host.attachShadow({ mode: "open" });
	const all = () => Promise.all([
		text(polite, "Saved", 400),
		(async () => { await text(state, "Export started", 300); await text(state, "Export finished: 42 rows", 600); })(),
		timed("Disk full", 500, () => hidden.style.display = "block", () => hidden.style.display = "none"),
		element("<div style='position: fixed'><b>Copied</b> to the clipboard<button>Undo</button></div>", 700),
		element("<div role=alert>In the shadow</div>", 500, root),
		element("<div style='display: none'>Never shown</div>", 500),
		element("<div>Shown before</div>", 500).then(() => moved.append("Shown before")),
		element("<li>An item</li>", 500, list),
		element("<div><button>1</button><button>2</button><button>3</button></div>", 500),
		(async () => { for (let i = 0; i < 8; i++) await element("<div>Rendered again</div>", 60); document.body.append("Rendered again"); })(),
	]).then(() => document.title = "done");
</script>`

func TestLiveViewTellsMessagesThatAreGone(t *testing.T) {
	t.Parallel()
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/page": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(messagesPage+`<iframe src="`+far+`/frame"></iframe>`)(w, r)
		},
		"/frame": htmlPage(`<p id=state role=status></p><script>onmessage = () => {
			state.append("From the frame"); setTimeout(() => { state.replaceChildren(); parent.postMessage("done", "*") }, 300) }</script>`),
		"/leave": htmlPage(`<p role=status id=state></p><script>const leave = () => {
			state.append("Signed out"); setTimeout(() => location = "/next", 300) }</script>`),
		"/next": htmlPage(`<title>next</title>`),
	})
	far = otherSite(url)
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	if m := u.view(device.ViewOptions{}).Messages; len(m) > 0 {
		t.Errorf("the page that was opened: %+v", m)
	}
	u.mustEval("void all()")
	u.mustCall("web_verifyTitle", "pattern", "done")
	gone := u.messages("Saved", "Export started", "Export finished: 42 rows", "Disk full", "Copied to the clipboardUndo", "In the shadow")
	for _, m := range gone {
		real := u.mustEval(fmt.Sprintf("times[%q]", m.Text))
		var ms float64
		if _, err := fmt.Sscan(real, &ms); err != nil {
			t.Errorf("%q was not shown: %s", m.Text, real)
		}
		if ratio := m.For.Seconds() * 1000 / ms; ratio < 0.2 || ratio > 2 {
			t.Errorf("%q was shown for %s ms, not %s", m.Text, real, m.For)
		}
	}
	roles := map[string]string{"Saved": "text", "Disk full": "alert", "Export started": "status", "In the shadow": "alert"}
	for _, m := range gone {
		if want := roles[m.Text]; want != "" && m.Role != want {
			t.Errorf("%q has the role %s", m.Text, m.Role)
		}
	}
	u.mustEval(`void frames[0].postMessage("go", "*")`)
	u.messages("From the frame")
	u.mustCall("navigate", "url", url+"/leave")
	u.mustEval("leave()")
	u.mustCall("web_verifyTitle", "pattern", "next")
	u.messages("Signed out")
}

// TestMessagesAreThoseThatPlaywrightSees asks Playwright which texts come on the same page and go again.
func TestMessagesAreThoseThatPlaywrightSees(t *testing.T) {
	t.Parallel()
	texts := []string{"Saved", "Export finished: 42 rows", "Disk full", "In the shadow", "Never shown"}
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(messagesPage)}) + "/page#slower"
	out := runPlaywright(t.Context(), t, "messages.mjs", append([]string{url}, texts...)...)
	var seen map[string]bool
	if json.Unmarshal(out, &seen) != nil {
		t.Fatalf("node messages.mjs: %s", out)
	}
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url)
	u.mustEval("void all()")
	var want []string
	for _, text := range texts {
		if seen[text] {
			want = append(want, text)
		}
	}
	if len(want) < 4 || seen["Never shown"] {
		t.Fatalf("Playwright sees %s", out)
	}
	u.messages(append(want, "Export started", "Copied to the clipboardUndo")...)
}

// messages waits until a page has shown some texts that are gone, in any order, and returns what it showed.
func (u *testSession) messages(want ...string) (gone []device.Message) {
	u.t.Helper()
	has := func(text string) bool {
		return slices.ContainsFunc(gone, func(m device.Message) bool { return m.Text == text })
	}
	waitFor(u.t, strings.Join(want, ", "), func() bool {
		gone = append(gone, u.view(device.ViewOptions{}).Messages...)
		return !slices.ContainsFunc(want, func(text string) bool { return !has(text) })
	})
	for _, m := range gone {
		if !slices.Contains(want, m.Text) {
			u.t.Errorf("%s %q for %s is not a message", m.Role, m.Text, m.For)
		}
		if time.Since(m.Began) < m.For {
			u.t.Errorf("%q began at %s", m.Text, m.Began)
		}
	}
	return gone
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<p id=state role=status></p><div id=rows></div><script>
		const frame = () => new Promise((done) => setTimeout(done, 60));
		const run = async () => {
			for (let i = 0; i < 40; i++) { state.textContent = "\u202e" + i + "x".repeat(250); await frame(); }
			state.textContent = "y".repeat(2000);
			for (let i = 0; i < 5; i++) {
				rows.replaceChildren(...[...Array(100)].map((_, n) => { const el = document.createElement("p"); el.append(i + " row " + n); return el; }));
				await frame();
			}
			document.title = "done";
		};</script>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	u.mustEval("void run()")
	u.mustCall("web_verifyTitle", "pattern", "done")
	gone := u.view(device.ViewOptions{}).Messages
	if len(gone) != notes.MaxMessages {
		t.Errorf("%d messages", len(gone))
	}
	for _, m := range gone {
		if n := len([]rune(m.Text)); n != maxMessageLength || !strings.HasSuffix(m.Text, "…") || strings.Contains(m.Text, "\u202e") {
			t.Errorf("%d characters: %q", n, m.Text)
		}
	}
	if replayed := openSession(t); replayed.device.(*webDevice).script() != replayed.device.(*webDevice).backend.script {
		t.Error("a session of a trail watches messages")
	}
}

func TestLiveViewSaysHowToAcceptDialogs(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button onclick="confirm('Delete it?')">Delete</button><button onclick="alert('Hi')">Greet</button>`)})
	u.mustCall("navigate", "url", url+"/page")
	for _, c := range []struct{ policy, button, want string }{
		{"", "Delete", `dialog: confirm "Delete it?", dismissed; web_handleDialog before the call accepts it`},
		{"", "Greet", `dialog: alert "Hi", dismissed`},
		{"DISMISS", "Delete", `dialog: confirm "Delete it?", dismissed`},
		{"ACCEPT", "Delete", `dialog: confirm "Delete it?", accepted`},
	} {
		if c.policy != "" {
			u.mustCall("web_handleDialog", "action", c.policy)
		}
		u.mustCall("web_click", "ref", c.button)
		if events := u.view(device.ViewOptions{}).Events; !slices.Contains(events, c.want) {
			t.Errorf("%q: %q", c.policy, events)
		}
	}
}
