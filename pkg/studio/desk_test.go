package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/web"
)

// shown is what pages were shown.
type shown struct {
	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	state    state
	view     documentView
	lines    []logLine
	pushed   []string // all that was pushed, as JSON
	pictures int
}

// now returns what is shown now.
func (o *shown) now() (state, documentView) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state, o.view
}

// has reports whether the log has a text. The caller holds mu.
func (o *shown) has(text string) bool {
	return slices.ContainsFunc(o.lines, func(l logLine) bool { return strings.Contains(l.Text, text) })
}

func newShown() *shown { return &shown{changed: make(chan struct{})} }

func (o *shown) push(on string, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch body := body.(type) {
	case state:
		o.state = body
	case documentView:
		o.view = body
	case logMessage:
		o.lines = append(o.lines, body.Lines...)
	}
	o.pushed = append(o.pushed, on+" "+string(data))
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *shown) picture(pictureMessage, []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pictures++
	close(o.changed)
	o.changed = make(chan struct{})
}

// person works with a desk as pages do.
type person struct {
	*testing.T
	*shown
	desk *desk
	root string
	base string // of the pages
	stop context.CancelFunc
	open func(ctx context.Context, c Choice) (*live.RedactedSession, error)
}

// sitDown starts a desk for pages of a web app, by their paths.
func sitDown(t *testing.T, pages map[string]string, edit ...func(*Options)) *person {
	t.Helper()
	mux := http.NewServeMux()
	for path, body := range pages {
		mux.HandleFunc("GET "+path+"{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html><meta charset=utf-8><title>App</title>"+body)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	p := &person{T: t, shown: newShown(), root: t.TempDir(), base: server.URL}
	p.useBrowsers()
	return p.sit(edit...)
}

// sit starts a desk.
func (p *person) sit(edit ...func(*Options)) *person {
	p.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	p.stop = stop
	o := Options{
		Project: &config.Project{Root: p.root, LogsDir: filepath.Join(p.root, "logs"), TrailsDir: filepath.Join(p.root, "trails")},
		Now:     time.Now, Devices: func(context.Context) []DeviceOption { return []DeviceOption{} },
		Open: func(ctx context.Context, c Choice) (Opened, error) {
			s, err := p.open(ctx, c)
			return Opened{Session: s, App: App{BaseURL: p.base + "/"}}, err
		},
	}
	for _, change := range edit {
		change(&o)
	}
	p.desk = newDesk(ctx, o, p.shown)
	p.desk.watched(1)
	if err := p.desk.start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(p.leave)
	return p
}

// leave ends the desk.
func (p *person) leave() {
	p.stop()
	p.desk.close()
}

// useBrowsers lets the desk open sessions in browsers.
func (p *person) useBrowsers() {
	p.useDevice(web.Kind(), device.Host{
		Values: map[string]string{"browser": spawntest.Chromium(p.T), "viewport": "800x600"}, Env: os.Environ(), Programs: p.programs(),
	})
}

func (p *person) programs() device.Programs {
	supervisor := spawn.NewSupervisor(spawn.Options{})
	p.Cleanup(func() {
		if err := supervisor.Close(); err != nil {
			p.Error(err)
		}
	})
	return local.Programs(supervisor)
}

// useDevice lets the desk open sessions on a kind of device.
func (p *person) useDevice(kind device.Kind, host device.Host) {
	backend, err := kind.New(host)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := backend.Close(context.WithoutCancel(p.Context())); err != nil {
			p.Error(err)
		}
	})
	driver, _ := scope.ParseDriver(kind.Drivers[0])
	var open func(ctx context.Context, c Choice) (*live.RedactedSession, error)
	open = func(ctx context.Context, c Choice) (*live.RedactedSession, error) {
		redactor := redact.New(c.Secrets)
		return live.Open(ctx, live.Options{
			Setup: session.Setup{
				Project: &config.Project{
					Root: p.root, LogsDir: filepath.Join(p.root, "logs"), TrailsDir: filepath.Join(p.root, "trails"), BaseURL: p.base,
				},
				Version: "test", Redactor: redactor, Stream: event.NewStream(time.Now, redactor), Now: time.Now,
				Builtins: []discover.Source{builtin.Source()},
			},
			Scope:  scope.Scope{Driver: driver, AgentMode: scope.Host},
			Device: session.Device{Backends: []session.Backend{{Kind: kind, Backend: backend}}}, Name: "studio",
			Lineage: []string{kind.Name}, Settle: live.Settle{Interval: time.Millisecond}, Memory: c.Memory, Secrets: c.Secrets, Ask: c.Ask,
			Replay: func(ctx context.Context, path string, contents map[string][]byte, _ map[string]string) (live.Replayed, error) {
				c.Ask = nil
				fresh, err := open(ctx, c)
				if err != nil {
					return live.Replayed{}, err
				}
				defer fresh.Close(context.WithoutCancel(ctx))
				rel, _ := filepath.Rel(p.root, path)
				report, err := fresh.RunTrail(ctx, live.TrailRequest{File: rel, Keep: true, Content: contents[path]})
				return report.Replayed, err
			},
		})
	}
	p.open = open
}

// await waits until what is shown fits.
func (p *person) await(what string, fits func(*shown) bool) {
	p.Helper()
	limit := time.After(waitLimit)
	for {
		p.mu.Lock()
		ok, changed := fits(p.shown), p.changed
		p.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.Fatalf("timed out waiting for: %s\nstate %+v\n%s\n%+v", what, p.state, p.view.Text, p.lines)
		}
	}
}

// awaitIdle waits until nothing runs and the first page is there.
func (p *person) awaitIdle() {
	p.Helper()
	p.await("idle", func(o *shown) bool { return o.state.Activity == idle && o.state.URL != "" })
}

// try makes a request.
func (p *person) try(do string, params any) (any, error) {
	p.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		p.Fatal(err)
	}
	return p.desk.begin(do, data)(p.Context())
}

// do makes a request that succeeds.
func (p *person) do(do string, params any) any {
	p.Helper()
	result, err := p.try(do, params)
	if m, isMade := result.(made); err != nil || isMade && !m.OK {
		p.Fatalf("%s %v: %v %+v", do, params, err, result)
	}
	return result
}

type fields = map[string]any

// act acts in the middle of the element with a name.
func (p *person) act(kind, name string) {
	p.Helper()
	x, y := p.middle(name)
	p.do("act", fields{"act": fields{"kind": kind, "x": x, "y": y}})
}

func (p *person) middle(name string) (x, y float64) {
	p.Helper()
	looked, err := p.try("look", fields{})
	l, _ := looked.(live.Look)
	if err != nil {
		p.Fatal(err)
	}
	var found *live.Element
	var search func(e *live.Element)
	search = func(e *live.Element) {
		if e.Name == name && e.Bounds != nil && found == nil {
			found = e
		}
		for _, child := range e.Children {
			search(child)
		}
	}
	search(l.Root)
	if found == nil {
		p.Fatalf("%s is not there", name)
	}
	b := found.Bounds
	return float64(b.Left+b.Right) / 2, float64(b.Top+b.Bottom) / 2
}

func (p *person) keys(names ...string) {
	p.Helper()
	for _, name := range names {
		parts := strings.Split(name, "+")
		last := len(parts) - 1
		p.do("act", fields{"act": fields{"kind": "key", "key": parts[last], "modifiers": parts[:last]}})
	}
}

func (p *person) typed(text string) {
	p.Helper()
	p.keys(strings.Split(text, "")...)
}

// calls returns the calls of the document, in words.
func (p *person) calls() string {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	var out []string
	for _, r := range p.desk.rows() {
		out = append(out, r.number+" "+r.text)
	}
	return strings.Join(out, "\n")
}

func (p *person) text() string {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	return string(p.desk.doc.Text())
}

// askID returns the id of what is asked.
func (p *person) askID() int {
	s, _ := p.now()
	return s.Ask.ID
}

// document returns the document as it is shown.
func (p *person) document() documentView {
	_, d := p.now()
	return d
}

func (p *person) evaluate(script string) string {
	p.Helper()
	p.do("record", fields{"on": false})
	m, _ := p.do("call", fields{"call": fields{"tool": "web_evaluate", "args": fields{"script": script}}}).(made)
	p.do("record", fields{"on": true})
	return m.Text
}

const formPage = `<button onclick="out.textContent='clicked '+ ++n">Press</button><script>let n=0</script>
<label>Name <input id=name></label><label>Code <input type=password id=code></label>
<label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
<button onclick="out.textContent = confirm('Sure?') ? 'yes' : 'no'">Ask</button>
<button ondblclick="out.textContent='twice'">Twice</button><button onkeydown="out.textContent='key '+event.key">Keys</button>
<p id=out>nothing</p>`

// TestDeskRecordsWhatAPersonDoes records acts of many kinds, and saves them after a replay.
func TestDeskRecordsWhatAPersonDoes(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Press")
	p.act("click", "Name")
	p.typed("Adx")
	p.keys("Backspace")
	p.typed("a")
	p.keys("Tab")
	p.act("click", "Size")
	p.await("the popup", func(o *shown) bool { return o.state.Ask != nil && o.state.Ask.Kind == "select" })
	p.do("answer", fields{"ask": p.askID(), "ok": true, "values": []string{"l"}})
	p.act("click", "Twice")
	p.act("doubleClick", "Twice")
	p.do("assert", fields{"call": fields{"tool": "web_verifyTextVisible", "args": fields{"text": "twice"}}})
	if got := p.evaluate("document.getElementById('name').value + ' ' + size.value"); !strings.Contains(got, "Ada l") {
		t.Errorf("the page has %s", got)
	}
	want := []string{"web_navigate", "web_click", "web_type", "web_pressKey", "web_selectOption", "web_click", "web_verifyTextVisible"}
	var got []string
	for line := range strings.SplitSeq(p.calls(), "\n") {
		got = append(got, strings.Fields(line)[1])
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("recorded\n%s", p.calls())
	}
	if !strings.Contains(p.text(), "count: 2") {
		t.Errorf("no double click in\n%s", p.text())
	}
	saved, _ := p.do("save", fields{"file": "trails/form.trail.yaml", "title": "Form"}).(savedView)
	if !saved.Written || saved.Replayed == nil || !saved.Replayed.Passed() {
		t.Errorf("%+v %+v", saved, saved.Replayed)
	}
	if p.desk.unsaved() || p.desk.fileName() != "trails/form.trail.yaml" {
		t.Error("it counts as unsaved")
	}
	p.write("trails/form.trail.yaml", p.text()+"# by somebody else\n")
	again := fields{"file": "trails/form.trail.yaml", "noReplay": true}
	if _, err := p.try("save", again); fault.As(err) == nil || fault.As(err).Details["overwrite"] != true {
		t.Errorf("%v", err)
	}
	again["overwrite"] = "all"
	if saved, _ := p.do("save", again).(savedView); !saved.Written {
		t.Errorf("%+v", saved)
	}
}

// TestDeskAsksAboutDialogs answers dialogs as a person does; the recorded answers make the replay pass.
func TestDeskAsksAboutDialogs(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Size")
	p.await("the popup", func(o *shown) bool { return o.state.Ask != nil && o.state.Ask.Kind == "select" })
	p.act("click", "Press")
	if state, _ := p.now(); state.Ask != nil {
		t.Errorf("the popup stays: %+v", state.Ask)
	}
	for _, ok := range []bool{true, false, true} {
		x, y := p.middle("Ask")
		run := p.desk.begin("act", json.RawMessage(fmt.Sprintf(`{"act":{"kind":"click","x":%f,"y":%f}}`, x, y)))
		done := make(chan error, 1)
		go func() {
			_, err := run(t.Context())
			done <- err
		}()
		p.await("the dialog", func(o *shown) bool {
			return o.state.Ask != nil && o.state.Ask.Kind == "confirm" && o.state.Ask.Text == "Sure?"
		})
		p.do("answer", fields{"ask": p.askID(), "ok": ok})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		p.do("assert", fields{"call": fields{"tool": "web_verifyTextVisible", "args": fields{"text": map[bool]string{true: "yes", false: "no"}[ok]}}})
	}
	if _, err := p.try("answer", fields{"ask": 1, "ok": true}); err == nil {
		t.Error("an old dialog can be answered")
	}
	if got := strings.Count(p.text(), "web_handleDialog"); got != 3 {
		t.Errorf("%d answers are recorded:\n%s", got, p.text())
	}
	allPassed := func() {
		for _, s := range p.document().Steps {
			if s.Outcome != passed {
				t.Errorf("step %s %s: %q %+v", s.Number, s.Text, s.Outcome, s.Calls)
			}
		}
	}
	allPassed()
	p.do("replay", fields{"mode": "all"})
	allPassed()
}

// TestDeskRepairs replays up to a call that fails, picks another element, and goes on with the next call.
func TestDeskRepairs(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Press")
	p.act("click", "Twice")
	before := p.text()
	p.do("edit", fields{"edit": fields{"op": "args", "call": "1.2", "args": fields{"nodeSelector": fields{"web": fields{"ariaRole": "button", "ariaNameRegex": "Gone"}}, "timeoutMs": 1}}})
	if _, err := p.try("replay", fields{"mode": "all"}); err != nil {
		t.Fatal(err)
	}
	if p.document().Selected != "1.2" || p.document().Next != "1.2" || p.document().Steps[0].Calls[1].Outcome != failed || p.document().Steps[0].Calls[0].Outcome != passed {
		t.Fatalf("%+v", p.document())
	}
	x, y := p.middle("Press")
	located, _ := p.do("locate", fields{"x": int(x), "y": int(y)}).(locationView)
	p.do("edit", fields{"edit": fields{"op": "pick", "call": "1.2", "selector": located.Candidates[0].Selector}})
	p.do("replay", fields{"mode": "next"})
	if p.document().Next != "1.3" || p.document().Steps[0].Calls[1].Outcome != passed {
		t.Fatalf("%+v", p.document())
	}
	p.do("replay", fields{"mode": "to", "to": "1"})
	if p.document().Next != "" || p.document().Steps[0].Outcome != passed {
		t.Fatalf("%+v", p.document())
	}
	p.do("undo", fields{})
	p.do("undo", fields{})
	if p.text() != before {
		t.Errorf("undone:\n%s", p.text())
	}
	p.do("redo", fields{})
	p.do("redo", fields{})
	if strings.Contains(p.text(), "Gone") {
		t.Errorf("redone:\n%s", p.text())
	}
}

// TestDeskLeavesTheTeardown has a teardown, which is not recorded, and not replayed by itself.
func TestDeskLeavesTheTeardown(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	text := "config:\n  teardown:\n    - step: Forget\n      recording: { web: [{ web_listTabs: {} }] }\ntrail:\n  - step: Open\n    recording: { web: [] }\n"
	if found, err := p.try("yaml", fields{"text": text, "version": p.document().Version}); err != nil || len(found.([]problem)) > 0 {
		t.Fatal(found, err)
	}
	p.do("nameStep", fields{"text": "Open it"})
	if got := p.text(); !strings.Contains(got, "step: Open it") || !strings.Contains(got, "step: Forget") {
		t.Errorf("%s", got)
	}
	p.do("navigate", fields{"url": "/"})
	if got := p.document().Next; got != "" {
		t.Errorf("behind the last call is %s", got)
	}
	p.do("replay", fields{"mode": "all"})
	if got := p.document(); got.Next != "" || got.Steps[0].Outcome != passed {
		t.Errorf("after the replay, %s is next: %+v", got.Next, got.Steps)
	}
	if _, err := p.try("replay", fields{"mode": "next"}); err == nil || !strings.Contains(err.Error(), "every call was made") {
		t.Errorf("the next call: %v", err)
	}
}

// TestDeskShowsNoSecret types the value of a secret into the page.
func TestDeskShowsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	all := redact.New(map[string]string{"PASSWORD": secret})
	p := sitDown(t, map[string]string{"/": formPage}, func(o *Options) { o.Output = all.Text })
	p.awaitIdle()
	p.do("variable", fields{"name": "PASSWORD", "value": secret, "secret": true})
	p.do("replay", fields{"mode": "all"})
	p.act("click", "Code")
	p.do("act", fields{"act": fields{"kind": "text", "text": secret}})
	p.do("select", fields{"number": ""})
	p.keys("Tab")
	p.do("nameStep", fields{"text": "Type " + secret, "next": true})
	if got := p.evaluate("document.getElementById('code').value.length"); !strings.Contains(got, fmt.Sprint(len(secret))) {
		t.Errorf("the page has %s characters", got)
	}
	if !strings.Contains(p.text(), "{{PASSWORD}}") {
		t.Errorf("recorded\n%s", p.text())
	}
	if _, err := p.try("yaml", fields{"text": p.text() + "# " + secret + "\n", "version": p.document().Version}); err == nil {
		t.Error("the text has the secret")
	}
	for _, data := range p.pushed {
		if strings.Contains(data, secret) {
			t.Errorf("pages get %s", data)
		}
	}
	p.do("replay", fields{"mode": "all"})
	if last := p.document().Steps[len(p.document().Steps)-1]; last.Outcome != passed {
		t.Errorf("%+v", last)
	}
	given := []variable{{live.Variable{Name: "PASSWORD", Secret: true}, true}}
	p.await("the secret that was given", func(s *shown) bool { return slices.Equal(s.state.Variables, given) })
	p.desk.notify("tab", "of the session that is closed")
	p.do("removeVariable", fields{"name": "PASSWORD"})
	p.await("nothing of the session before", func(s *shown) bool { return len(s.state.Variables)+len(s.state.Notices) == 0 })
}

// TestDeskHidesSecretOfEarlierCalls makes a secret of a value that was recorded before.
func TestDeskHidesSecretOfEarlierCalls(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	var isSecret atomic.Bool // as when the session was opened with it
	all := redact.New(map[string]string{"PASSWORD": secret})
	p := sitDown(t, map[string]string{"/": formPage}, func(o *Options) {
		o.Output = func(text string) string {
			if isSecret.Load() {
				return all.Text(text)
			}
			return text
		}
	})
	p.awaitIdle()
	p.act("click", "Code")
	p.do("act", fields{"act": fields{"kind": "text", "text": secret}})
	p.keys("Tab")
	p.do("nameStep", fields{"text": "Type " + secret, "next": true})
	if !strings.Contains(p.text(), secret) {
		t.Fatalf("recorded\n%s", p.text())
	}
	text := "config:\n  teardown:\n    - step: Forget\n      recording: { web: [{ web_type: { text: " + secret + ", ref: Code } }] }\n" + p.text() +
		"  - step: Again # " + secret + "\n    recording: { android: [{ inputText: { text: " + secret + " } }] }\n"
	if found, err := p.try("yaml", fields{"text": text, "version": p.document().Version}); err != nil || len(found.([]problem)) > 0 {
		t.Fatal(found, err)
	}
	if m, err := p.try("call", fields{"call": fields{"tool": "web_type", "args": fields{"text": secret, "ref": "css=#none", "timeoutMs": 1}}}); err != nil || m.(made).OK {
		t.Fatal(m, err)
	}
	p.do("nameStep", fields{"text": "Use " + secret, "next": true})
	p.do("nameStep", fields{"text": "Use " + secret, "next": true})
	isSecret.Store(true)
	p.do("variable", fields{"name": "PASSWORD", "value": secret, "secret": true})
	for _, now := range p.desk.greet() {
		if data, err := json.Marshal(now.body); err != nil || strings.Contains(string(data), secret) {
			t.Errorf("the page gets %s (%v)", data, err)
		}
	}
	if _, err := p.try("undo", fields{}); err == nil {
		t.Errorf("undo brings back\n%s", p.text())
	}
	p.do("navigate", fields{"url": "/"}) // which begins the step that has a name
	if got := p.text(); strings.Contains(got, secret) || strings.Count(got, "{{PASSWORD}}") < 6 {
		t.Errorf("the page gets\n%s", got)
	}
}

// TestDeskTypesWhereTheFocusGoes types a code into boxes that move the focus on, one key at a time and all at once.
func TestDeskTypesWhereTheFocusGoes(t *testing.T) {
	t.Parallel()
	box := func(name string) string {
		return fmt.Sprintf("<input aria-label=%s maxlength=1 oninput='this.nextElementSibling.focus()'>", name)
	}
	page := box("one") + box("two") + box("three") + "<button onkeydown='this.textContent += event.key'>Keys: </button>"
	for name, atOnce := range map[string]bool{"one key at a time": false, "all at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sitDown(t, map[string]string{"/": page})
			p.awaitIdle()
			p.act("click", "one")
			if atOnce {
				leave, err := p.desk.join()(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var ends []<-chan error
				for _, key := range []string{"1", "2", "3", "x"} {
					ends = append(ends, p.start("act", fmt.Sprintf(`{"act":{"kind":"key","key":%q}}`, key)))
				}
				leave()
				for _, end := range ends {
					if err := <-end; err != nil {
						t.Error(err)
					}
				}
			} else {
				p.typed("123x")
			}
			for _, when := range []string{"typed", "replayed"} {
				got := p.evaluate("document.body.textContent + Array.from(document.querySelectorAll('input'), (i) => i.value)")
				if !strings.Contains(got, "Keys: x1,2,3") {
					t.Errorf("%s: the page has %s:\n%s", when, got, p.calls())
				}
				p.do("replay", fields{"mode": "all"})
			}
			if got := strings.Count(p.calls(), "\n"); got != 4 {
				t.Errorf("recorded\n%s", p.calls())
			}
		})
	}
}

// TestDeskPressesKeys presses keys where they are not text.
func TestDeskPressesKeys(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Keys")
	p.keys("x")
	if got := p.evaluate("out.textContent"); !strings.Contains(got, "key x") {
		t.Errorf("the page has %s:\n%s", got, p.calls())
	}
	p.act("click", "Name")
	p.typed("old")
	p.keys("Control+a")
	p.typed("new")
	if got := p.evaluate("document.getElementById('name').value"); !strings.Contains(got, `new`) || strings.Contains(got, "old") {
		t.Errorf("the field has %s:\n%s", got, p.calls())
	}
	p.keys("Control+a")
	p.typed("ot")
	p.keys("Home")
	p.typed("n")
	p.keys("ArrowRight", "Delete", "End")
	p.typed("!")
	if got := p.evaluate("document.getElementById('name').value"); !strings.Contains(got, "no!") {
		t.Errorf("the field has %s:\n%s", got, p.calls())
	}
}

func TestOneNoticeForADownload(t *testing.T) {
	t.Parallel()
	begun := notice{Kind: "download", Text: "a from http://127.0.0.1/a from b"}
	for text, want := range map[string]bool{
		"a is completed, 3 bytes": true, "ab is completed, 3 bytes": false, "b is completed, 3 bytes": false,
	} {
		if got := isProgress(begun, "download", text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestNoticeStaysWhenItsActionFails chooses to start an app afresh that no call of the trail starts.
func TestNoticeStaysWhenItsActionFails(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.desk.notify("data", "it was started with the data that it has")
	state, _ := p.now()
	id := state.Notices[0].ID
	if _, err := p.try("notice", fields{"notice": id, "action": "fresh"}); err == nil {
		t.Error("the app was started")
	}
	if state, _ := p.now(); len(state.Notices) != 1 {
		t.Error("the notice is gone, and nothing was done")
	}
	p.do("notice", fields{"notice": id, "action": "dismiss"})
	if state, _ := p.now(); len(state.Notices) != 0 {
		t.Errorf("%+v", state.Notices)
	}
}

// TestDeskDoesWhatTheNoticeIsAbout has two notices of a kind: the tab that is not the newest, and the second download.
func TestDeskDoesWhatTheNoticeIsAbout(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": `<a href=/first/ target=_blank>First</a> <a href=/second/ target=_blank>Second</a>
<a href="data:text/plain,1" download=one.txt>One</a> <a href="data:text/plain,2" download=two.txt>Two</a>`, "/first/": "1", "/second/": "2"})
	p.awaitIdle()
	noticed := func(link, kind string, count int) int {
		p.act("click", link)
		var all []int
		p.await("the notice of "+link, func(o *shown) bool {
			all = nil
			for _, n := range o.state.Notices {
				if n.Kind == kind && !strings.Contains(n.Text, " from ") {
					all = append(all, n.ID)
				}
			}
			return len(all) == count
		})
		return all[count-1]
	}
	noticed("One", "download", 1)
	second := noticed("Two", "download", 2)
	if m, _ := p.do("notice", fields{"notice": second, "action": "keep"}).(made); !strings.Contains(m.Text, "two.txt") {
		t.Errorf("kept %s", m.Text)
	}
	first := noticed("First", "tab", 1)
	noticed("Second", "tab", 2)
	p.do("notice", fields{"notice": first, "action": "switch"})
	if state, _ := p.now(); state.URL != p.base+"/first/" || len(state.Notices) != 2 {
		t.Errorf("it is at %s: %+v", state.URL, state.Notices)
	}
	p.do("replay", fields{"mode": "all"})
	p.await("the replay", func(o *shown) bool { return o.state.URL == p.base+"/first/" && o.view.Steps[0].Outcome == passed })
}

func TestDownloadOfANotice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"a from b.txt from http://127.0.0.1/a": "a from b.txt", "a is b, 3 bytes is completed, 1,234 bytes": "a is b, 3 bytes",
		"a.txt is canceled, 1 byte": "a.txt", "a.txt was not kept: it is larger than 8 MiB": nil,
	} {
		if got := downloadOf(notice{Text: text})["fileName"]; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestDeskSaysThatNoFieldTakesKeys says once that a text goes past its field, and not for single keys.
func TestDeskSaysThatNoFieldTakesKeys(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	said := func() (count int) {
		state, _ := p.now()
		for _, n := range state.Notices {
			count += strings.Count(n.Text, "no text field has the focus")
		}
		return count
	}
	p.act("click", "Name")
	p.typed("Ada!")
	for range 2 {
		p.act("click", "Press")
		p.typed("jk")
	}
	p.keys("Tab")
	p.typed("Ada!")
	p.keys("Shift+Tab")
	p.typed("j")
	if said() != 0 {
		t.Error("it was said of shortcuts")
	}
	p.act("click", "Keys")
	p.keys(" ", " ", " ")
	if said() != 0 {
		t.Error("it was said of spaces, which press a button")
	}
	p.do("record", fields{"on": false})
	p.typed("jkl")
	p.do("record", fields{"on": true})
	for range 2 {
		p.typed("lm")
		p.keys(" ")
		p.typed("n")
		if said() != 1 {
			t.Errorf("it was said %d times", said())
		}
		p.keys("Escape")
	}
}

// edits has a person change a trail without a device.
func edits(t *testing.T, text string) *person {
	t.Helper()
	p := &person{T: t, shown: newShown()}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.WithoutCancel(t.Context()))
	p.desk = newDesk(ctx, benchOptions(t), p.shown)
	p.desk.doc.SetLineage([]string{"web"})
	t.Cleanup(p.leave)
	if found, err := p.try("yaml", fields{"text": text, "version": p.desk.doc.Version()}); err != nil || len(found.([]problem)) > 0 {
		t.Fatal(found, err)
	}
	return p
}

// TestDeskMovesWhatIsSelected moves a call and a step twice each: the selection goes with it.
func TestDeskMovesWhatIsSelected(t *testing.T) {
	t.Parallel()
	p := edits(t, `trail:
  - step: First
    recording: { web: [{ web_goBack: {} }] }
  - step: Second
    recording: { web: [{ web_goBack: {} }, { web_goForward: {} }, { web_reload: {} }] }
  - step: Third
    recording: { web: [{ web_goBack: {} }] }
`)
	for _, move := range [][]string{{"2.3", "2.2", "2.1"}, {"3", "2", "1"}, {"1", "2", "3"}} {
		p.do("select", fields{"number": move[0]})
		for i, to := range move[1:] {
			p.do("edit", fields{"edit": fields{"op": "move", "number": move[i], "to": to}})
			if got := p.document().Selected; got != to {
				t.Errorf("moved %s to %s, and selected is %s", move[i], to, got)
			}
		}
	}
	p.do("select", fields{"number": "1"})
	p.do("edit", fields{"edit": fields{"op": "move", "number": "2", "to": "3"}})
	if got := p.document().Selected; got != "1" {
		t.Errorf("selected is %s, which was not moved", got)
	}
}
