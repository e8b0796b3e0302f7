package web

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// person answers dialogs in a test.
type person struct {
	asked   chan device.Question // not buffered
	answers chan *device.Answer  // nil for none
}

func newPerson() *person {
	return &person{make(chan device.Question), make(chan *device.Answer)}
}

func (p *person) ask(ctx context.Context, q device.Question) (device.Answer, bool) {
	select {
	case p.asked <- q:
	case <-ctx.Done():
		return device.Answer{}, false
	}
	select {
	case a := <-p.answers:
		if a == nil {
			return device.Answer{}, false
		}
		return *a, true
	case <-ctx.Done():
		p.asked <- device.Question{Kind: "withdrawn"}
		return device.Answer{}, true
	}
}

// openAsking opens a live session in which a person answers dialogs.
func openAsking(t *testing.T) (*testSession, *person) {
	t.Helper()
	who := newPerson()
	u := openLive(t, device.Session{Ask: who.ask})
	u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{"/dialogs": htmlPage(`
		<button onclick="said.textContent = 'alerted ' + alert('Hello')">Alert</button>
		<button onclick="said.textContent = confirm('Sure?')">Confirm</button>
		<button onclick="said.textContent = prompt('Name?', 'Ada')">Prompt</button>
		<button onclick="setTimeout(() => said.textContent = confirm('Later?'), 100)">Later</button>
		<button onclick="window.addEventListener('beforeunload', e => e.preventDefault()); said.textContent = 'guarded'">Guard</button>
		<a href="/dialogs?left">Leave</a><output id=said>nothing</output>`)})+"/dialogs")
	return u, who
}

// later runs a script that does not belong to a call.
func (u *testSession) later(script string) {
	u.device.(*webDevice).openContext().currentPage().target.Send("Runtime.evaluate", map[string]any{"expression": script})
}

func TestDialogsWaitForPerson(t *testing.T) {
	t.Parallel()
	u, who := openAsking(t)
	d := u.device.(*webDevice)
	for _, test := range []struct {
		click  string
		asked  device.Question
		answer *device.Answer
		says   string
	}{
		{"Alert", device.Question{Kind: "alert", Text: "Hello"}, &device.Answer{Accept: true}, "alerted undefined"},
		{"Confirm", device.Question{Kind: "confirm", Text: "Sure?"}, &device.Answer{Accept: true}, "true"},
		{"Confirm", device.Question{Kind: "confirm", Text: "Sure?"}, &device.Answer{}, "false"},
		{"Prompt", device.Question{Kind: "prompt", Text: "Name?", Value: "Ada"}, &device.Answer{Accept: true, Text: "Eve"}, "Eve"},
		{"Prompt", device.Question{Kind: "prompt", Text: "Name?", Value: "Ada"}, nil, ""},
	} {
		// The limit of the call passes while the person thinks.
		d.limits.call, d.limits.action = 2*time.Second, time.Second
		clicked := make(chan string, 1)
		go func() { clicked <- u.mustCall("web_click", "ref", u.refOf(test.click)) }()
		if diff := cmp.Diff(test.asked, <-who.asked); diff != "" {
			t.Error(diff)
		}
		if _, err := d.View(t.Context(), device.ViewOptions{Peek: true}); err == nil || !strings.Contains(err.Error(), "dialog") {
			t.Errorf("a look at a page with a dialog: %v", err)
		}
		select {
		case text := <-clicked:
			t.Errorf("%s does not wait for the answer: %s", test.click, text)
		case <-time.After(2500 * time.Millisecond):
		}
		who.answers <- test.answer
		if text := <-clicked; !strings.Contains(text, "clicked") {
			t.Error(text)
		}
		d.limits = longLimits()
		if says := u.mustEval("said.textContent"); says != test.says {
			t.Errorf("%s: the page got %q, not %q", test.click, says, test.says)
		}
	}
	if text := d.notes.String(); !strings.Contains(text, "- prompt \"Name?\", accepted\n- prompt \"Name?\", dismissed; web_handleDialog") {
		t.Errorf("notes: %s", text)
	}
	if unanswered := d.dialogs.takeUnanswered(); len(unanswered) != 1 {
		t.Errorf("unanswered: %+v", unanswered)
	}
	u.mustCall("web_handleDialog", "action", "ACCEPT", "text", "Bob")
	u.mustCall("web_click", "ref", u.refOf("Prompt"))
	if says := u.mustEval("said.textContent"); says != "Bob" {
		t.Errorf("web_handleDialog was called, and the page got %q", says)
	}
}

// TestCallsWaitForAnswers opens a dialog when no call runs, and makes a check meanwhile.
func TestCallsWaitForAnswers(t *testing.T) {
	t.Parallel()
	u, who := openAsking(t)
	d := u.device.(*webDevice)
	u.later("said.textContent = confirm('Later?')")
	if q := <-who.asked; q.Text != "Later?" {
		t.Error(q)
	}
	d.limits.call, d.limits.assertion, d.limits.first, d.limits.response = time.Second, time.Second, time.Second, time.Second
	checked := make(chan string, 1)
	go func() { checked <- u.mustCall("web_verifyTextVisible", "text", "true") }()
	select {
	case text := <-checked:
		t.Errorf("the check does not wait: %s", text)
	case <-time.After(2500 * time.Millisecond):
	}
	who.answers <- &device.Answer{Accept: true}
	<-checked

	// A dialog that opens while the check waits.
	u.later("setTimeout(() => said.textContent = confirm('Again?') + '!', 300)")
	go func() { checked <- u.mustCall("web_verifyTextVisible", "text", "false!", "timeoutMs", 1000) }()
	<-who.asked
	select {
	case text := <-checked:
		t.Errorf("the check does not wait: %s", text)
	case <-time.After(3500 * time.Millisecond):
	}
	who.answers <- &device.Answer{}
	<-checked
}

func TestPersonDecidesWhetherPageIsLeft(t *testing.T) {
	t.Parallel()
	u, who := openAsking(t)
	u.mustCall("web_click", "ref", u.refOf("Guard"))
	for _, accept := range []bool{false, true} {
		clicked := make(chan string, 1)
		go func() { clicked <- u.mustCall("web_click", "ref", u.refOf("Leave")) }()
		if q := <-who.asked; q.Kind != "beforeunload" {
			t.Error(q)
		}
		who.answers <- &device.Answer{Accept: accept}
		<-clicked
		if left := strings.HasSuffix(u.view(device.ViewOptions{}).URL, "left"); left != accept {
			t.Errorf("the answer is %v, and the page is at %s", accept, u.view(device.ViewOptions{}).URL)
		}
	}
}

// TestQuestionEndsWithDialog closes the page, and the session, while a person is asked.
func TestQuestionEndsWithDialog(t *testing.T) {
	t.Parallel()
	u, who := openAsking(t)
	d := u.device.(*webDevice)
	u.later("confirm('Later?')")
	<-who.asked
	d.openContext().currentPage().target.Send("Page.handleJavaScriptDialog", map[string]any{"accept": false})
	if q := <-who.asked; q.Kind != "withdrawn" {
		t.Error(q)
	}
	u.later("confirm('Later?')")
	<-who.asked
	closed := make(chan error)
	go func() { closed <- u.device.Close(context.WithoutCancel(t.Context())) }()
	if q := <-who.asked; q.Kind != "withdrawn" {
		t.Error(q)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestChooserIsNotedForPerson(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{true, false} {
		noted := make(chan string, 10)
		session := device.Session{Noted: func(kind, text string) { noted <- kind + ": " + text }, Root: t.TempDir()}
		if asks {
			session.Ask = newPerson().ask
		}
		if err := os.WriteFile(filepath.Join(session.Root, "a.txt"), []byte("a"), 0o600); err != nil {
			t.Fatal(err)
		}
		u := openLive(t, session)
		u.mustCall("web_navigate", "url", "data:text/html,<input type=file aria-label=One><input type=file multiple aria-label=Many>")
		for _, name := range []string{"One", "Many"} {
			u.mustCall("web_click", "nodeSelector", map[string]any{"web": map[string]any{"ariaNameRegex": name}})
			u.mustCall("web_uploadFile", "files", []any{"a.txt"})
		}
		if names := u.mustEval("[...document.querySelectorAll('input')].map(i => i.files[0].name).join()"); names != "a.txt,a.txt" {
			t.Errorf("the fields have %s", names)
		}
		close(noted)
		var got []string
		for text := range noted {
			got = append(got, text)
		}
		want := []string{"chooser: the page asks for one file", "chooser: the page asks for several files"}
		if !asks {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with a person: %v: %s", asks, diff)
		}
	}
}
