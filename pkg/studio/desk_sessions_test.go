package studio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/android"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// start makes a request and returns how it ends.
func (p *person) start(do, params string) <-chan error {
	p.Helper()
	run, done := p.desk.begin(do, json.RawMessage(params)), make(chan error, 1)
	go func() {
		_, err := run(p.Context())
		done <- err
	}()
	return done
}

func (p *person) write(name, text string) string {
	p.Helper()
	path := filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	return path
}

// TestDeskKeepsTheOrder types behind a click that waits.
func TestDeskKeepsTheOrder(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Name")
	x, y := p.middle("Code")
	leave, err := p.desk.join()(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key := func(name string) string { return fmt.Sprintf(`{"act":{"kind":"key","key":%q}}`, name) }
	var ends []<-chan error
	for _, params := range []string{key("a"), key("b"), fmt.Sprintf(`{"act":{"kind":"click","x":%f,"y":%f}}`, x, y), key("c")} {
		ends = append(ends, p.start("act", params))
	}
	ends = append(ends, p.start("nameStep", `{"text":"Fill in"}`))
	leave()
	for _, end := range ends {
		if err := <-end; err != nil {
			t.Error(err)
		}
	}
	if got := p.evaluate("document.getElementById('name').value + ' ' + document.getElementById('code').value"); !strings.Contains(got, "ab c") {
		t.Errorf("the page has %s", got)
	}
	if d := p.document(); len(d.Steps) != 1 || d.Steps[0].Text != "Fill in" || len(d.Steps[0].Calls) != 3 {
		t.Errorf("recorded\n%s", p.text())
	}
}

// TestDeskOpensALostSessionAgain ends the session of a desk.
func TestDeskOpensALostSessionAgain(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Press")
	p.desk.mu.Lock()
	s := p.desk.session
	p.desk.mu.Unlock()
	s.Close(t.Context())
	p.await("the loss", func(o *shown) bool { return o.state.Activity == lost })
	if _, err := p.try("act", fields{"act": fields{"kind": "click", "x": 1, "y": 1}}); err == nil {
		t.Error("a session that has ended takes clicks")
	}
	if state, _ := p.now(); state.Activity != lost {
		t.Errorf("it is %s", state.Activity)
	}
	p.do("edit", fields{"edit": fields{"op": "reword", "step": "1", "text": "Press it"}})
	if saved, _ := p.do("save", fields{"file": "trails/a.trail.yaml", "noReplay": true}).(savedView); !saved.Written {
		t.Errorf("%+v", saved)
	}
	p.do("replay", fields{"mode": "next"})
	if d := p.document(); d.Next != "1.2" {
		t.Errorf("%+v", d)
	}
}

// TestDeskStops stops an opening and a replay, during which nothing is edited.
func TestDeskStops(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	open := p.open
	p.open = func(ctx context.Context, _ Choice) (*live.RedactedSession, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	end := p.start("device", `{"name":"other"}`)
	p.await("the opening", func(o *shown) bool { return o.state.Activity == opening })
	p.do("stop", fields{})
	if err := <-end; err != nil {
		t.Error(err)
	}
	p.await("the end", func(o *shown) bool { return o.state.Activity == lost && strings.Contains(o.state.Doing, "stopped") })
	p.open = open
	p.do("device", fields{"name": "other"})
	text := p.text()
	p.do("yaml", fields{"version": p.document().Version, "text": text + "        - web_verifyTextVisible: { text: never, timeoutMs: 600000 }\n"})
	end = p.start("replay", `{"mode":"all"}`)
	p.await("the call", func(o *shown) bool { return len(o.view.Steps) > 0 && o.view.Steps[0].Calls[1].Outcome == running })
	if _, err := p.try("undo", fields{}); err == nil {
		t.Error("the trail is edited during its replay")
	}
	p.do("stop", fields{})
	if err := <-end; err != nil {
		t.Error(err)
	}
	if d := p.document(); d.Next != "1.2" || d.Steps[0].Calls[0].Outcome != passed || d.Steps[0].Calls[1].Outcome == running {
		t.Errorf("%+v", d)
	}
	p.do("undo", fields{})

	stopped := make(chan error)
	go func() {
		_, err := p.desk.make(t.Context(), trail.KindStep, trail.Call{Tool: "web_navigate", Args: fields{"url": p.base + "/#wait"}},
			trail.Call{Tool: "web_verifyTextVisible", Args: fields{"text": "absent", "timeoutMs": 600_000}})
		stopped <- err
	}()
	p.await("the call", func(o *shown) bool { return o.has("/#wait") })
	p.do("stop", fields{})
	if err := <-stopped; err == nil || !strings.Contains(p.text(), "/#wait") {
		t.Errorf("%v: what was made before the stop is not recorded\n%s", err, p.text())
	}
}

// TestDeskKeepsTheRecording restores what a studio left that ended, and what a session left that was killed. The trail that
// is open is another one.
func TestDeskKeepsTheRecording(t *testing.T) {
	t.Parallel()
	p := sitDown(t, map[string]string{"/": formPage})
	p.awaitIdle()
	p.act("click", "Press")
	kept := func() string {
		found, _ := filepath.Glob(filepath.Join(p.root, "logs", "*", live.RecordingName))
		if len(found) == 0 {
			return ""
		}
		data, _ := os.ReadFile(found[0])
		return string(data)
	}
	eventually(t, "the recording is kept", func() bool { return kept() == p.text() })
	recording, left := kept(), ""
	p.desk.opts.OnUnsaved = func(file string) { left = file }
	p.leave()
	if data, err := os.ReadFile(filepath.Join(p.root, left)); err != nil || string(data) != recording {
		t.Errorf("left in %q: %v\n%s", left, err, data)
	}

	other := p.write("trails/other.trail.yaml", "config: { title: Other }\ntrail: []\n")
	again := &person{T: t, shown: newShown(), root: p.root, base: p.base, open: p.open}
	again.sit(func(o *Options) { o.Trail = other })
	again.await("idle", func(o *shown) bool { return o.state.Activity == idle && o.state.Kept != nil })
	if state, _ := again.now(); state.Kept.Steps != 1 || state.File != "trails/other.trail.yaml" {
		t.Errorf("%+v %s", state.Kept, state.File)
	}
	again.do("restore", fields{"keep": true})
	if state, _ := again.now(); again.text() != p.text() || !again.desk.unsaved() || state.File != "" {
		t.Errorf("restored as %q\n%s", state.File, again.text())
	}
	again.leave()
	if lost := live.RecoverRecordings(filepath.Join(p.root, "logs")); len(lost) != 1 || strings.HasSuffix(lost[0], left) {
		t.Errorf("left %q besides what was restored", lost)
	}

	p.write("logs/killed/.open", "")
	killed := p.write("logs/killed/"+live.RecordingName, recording)
	p.write("logs/older/.open", "")
	older := p.write("logs/older/"+live.RecordingName, recording)
	if err := os.Chtimes(older, time.Time{}, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what nobody answered is offered again
		last := &person{T: t, shown: newShown(), root: p.root, base: p.base, open: p.open}
		last.sit()
		last.await("idle", func(o *shown) bool { return o.state.Activity == idle && o.state.Kept != nil })
		if state, _ := last.now(); state.Kept.File != "logs/killed/"+live.RecordingName || !last.has("logs/older/") {
			t.Errorf("%+v %+v", state.Kept, last.lines)
		}
		last.leave()
	}
	last := &person{T: t, shown: newShown(), root: p.root, base: p.base, open: p.open}
	last.sit()
	last.await("idle", func(o *shown) bool { return o.state.Activity == idle && o.state.Kept != nil })
	last.do("restore", fields{"keep": false})
	if state, _ := last.now(); state.Kept != nil || state.URL != p.base+"/" {
		t.Errorf("%+v", state)
	}
	last.do("undo", fields{})
	last.leave()
	if lost := live.LostRecordings(filepath.Join(p.root, "logs")); !slices.Equal(lost, []string{older}) {
		t.Errorf("lost are %q, not %s and no longer %s", lost, older, killed)
	}
}

// TestDeskKeepsTheRecordingWithoutASession ends the studio while no device is open, and when another one was opened.
func TestDeskKeepsTheRecordingWithoutASession(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"none is open": false, "another one is open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sitDown(t, map[string]string{"/": formPage})
			p.awaitIdle()
			p.act("click", "Press")
			logs, open, left := filepath.Join(p.root, "logs"), p.open, ""
			p.open = func(context.Context, Choice) (*live.RedactedSession, error) { return nil, errors.New("no such device") }
			p.desk.opts.OnUnsaved = func(file string) { left = filepath.Join(p.root, file) }
			p.do("device", fields{"name": "other"})
			if lost := live.LostRecordings(logs); len(lost) != 1 {
				t.Errorf("a studio that is killed now leaves %q", lost)
			}
			p.do("nameStep", fields{"text": "Press it"})
			if again {
				p.open = open
				p.do("device", fields{"name": "other"})
			}
			p.leave()
			if data, err := os.ReadFile(left); err != nil || string(data) != p.text() || !strings.Contains(p.text(), "Press it") {
				t.Errorf("left in %q: %v\n%s", left, err, data)
			}
			if lost := live.LostRecordings(logs); !slices.Equal(lost, []string{left}) {
				t.Errorf("the next studio finds %q, not %q", lost, left)
			}
		})
	}
}

// TestDeskShowsProblems opens a text that does not parse, and one with a tool that does not exist.
func TestDeskShowsProblems(t *testing.T) {
	t.Parallel()
	p := &person{T: t, shown: newShown(), root: t.TempDir(), base: "data:text/html,hello"}
	p.useBrowsers()
	path := p.write("trails/bad.trail.yaml", "trail: 3\n")
	p.sit(func(o *Options) { o.Trail = path })
	p.await("idle", func(o *shown) bool { return o.state.Activity == idle })
	if d := p.document(); len(d.Problems) != 1 || d.Problems[0].Line != 1 || d.Text != "trail: 3\n" {
		t.Errorf("%+v", d)
	}
	if _, err := p.try("edit", fields{"edit": fields{"op": "insertStep", "text": "A", "kind": "step"}}); err == nil {
		t.Error("it is edited")
	}
	text := "trail:\n  - step: A\n    recording:\n      web:\n        - nosuchtool: {}\n"
	p.do("yaml", fields{"text": text, "version": p.document().Version})
	p.await("the problem", func(o *shown) bool {
		return o.view.Text == text && len(o.view.Problems) > 0 && o.view.Problems[0].Line == 5 && strings.Contains(o.view.Problems[0].Message, "nosuchtool")
	})
	for _, bad := range []string{`{"number":"7"}`, `{"number":"x"}`, `{"number":3}`, `[]`} {
		if err := <-p.start("select", bad); err == nil {
			t.Errorf("%s is selected", bad)
		}
	}
	for _, bad := range []string{`{"mode":"to","to":"9"}`, `{"mode":"to"}`, `{"mode":"?"}`} {
		if err := <-p.start("replay", bad); err == nil {
			t.Errorf("%s is replayed", bad)
		}
	}
}

// TestDeskOnAPhone signs in on a simulated phone, and replays that.
func TestDeskOnAPhone(t *testing.T) {
	t.Parallel()
	const version = "10.6.6"
	ctx, folder := context.WithoutCancel(t.Context()), t.TempDir()
	adb, err := adbserver.Start(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(adb.Close)
	phone, err := phones.StartAndroid(ctx, phones.AndroidOptions{App: app.Options{NoPrompt: true}, Server: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(phone.Close)
	if err := adb.Connect(ctx, phone.Addr()); err != nil {
		t.Fatal(err)
	}
	for name, data := range phones.ServerAPKs(version) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &person{T: t, shown: newShown(), root: t.TempDir()}
	p.useDevice(android.Kind(), device.Host{
		Values: map[string]string{"uiautomator2": folder}, Env: adb.Env(), Programs: p.programs(), Dir: folder, StateDir: folder,
	})
	p.sit()
	p.await("idle", func(o *shown) bool { return o.state.Activity == idle })
	phone.App.Show(app.SignIn)
	p.act("click", "Email")
	p.typed("adx")
	p.keys("Backspace")
	p.typed("a@example.com")
	p.do("act", fields{"act": fields{"kind": "drag", "x": 200, "y": 800, "toX": 200, "toY": 600}})
	if text, err := phone.App.FocusedText(); err != nil || text != "ada@example.com" {
		t.Errorf("%q %v", text, err)
	}
	for _, tool := range []string{"tapOnElementBySelector", "inputText", "swipeWithRelativeCoordinates"} {
		if strings.Count(p.text(), tool+":") != 1 {
			t.Errorf("recorded without one %s\n%s", tool, p.calls())
		}
	}
	phone.App.Show(app.SignIn)
	p.do("replay", fields{"mode": "all"})
	if d := p.document(); len(d.Steps) != 1 || d.Steps[0].Outcome != passed {
		t.Errorf("%+v", d.Steps)
	}
}

// BenchmarkDesk measures the desk's own part of a change in a trail of 1,000 steps: the change, and what is pushed.
func BenchmarkDesk(b *testing.B) {
	text := strings.Builder{}
	text.WriteString("trail:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "  - step: Step %d\n    recording:\n      web:\n        - web_click: { nodeSelector: { web: { ariaRole: button, ariaNameRegex: Button %d } } }\n", i, i)
	}
	for name, change := range map[string]func(d *desk){
		"state":    func(d *desk) { d.state.Doing += "." },
		"mark":     func(d *desk) { d.setMark("500.1", mark{passed, fmt.Sprint(d.marked)}) },
		"document": func(d *desk) { d.selected = fmt.Sprint(d.marked); d.marked++ },
	} {
		b.Run(name, func(b *testing.B) {
			d := newDesk(b.Context(), benchOptions(b), newServer(serverOptions{}))
			if problems := d.doc.SetText([]byte(text.String()), false); len(problems) > 0 {
				b.Fatal(problems)
			}
			d.doc.SetLineage([]string{"web"})
			d.out.(*server).pages = []*page{{server: d.out.(*server), latest: map[string][]byte{}, wake: make(chan struct{}, 1), cancel: func() {}}}
			for b.Loop() {
				d.set(func() { change(d) })
			}
		})
	}
}

func benchOptions(tb testing.TB) Options {
	tb.Helper()
	return Options{Project: &config.Project{Root: tb.TempDir()}, Now: time.Now}
}
