package android

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// noted is what a session notes of its device.
type noted struct {
	mu    sync.Mutex
	lines []string
}

func (n *noted) add(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, kind+": "+text)
}

const exception = "the app com.example.shop crashed: java.lang.NullPointerException: Attempt to invoke virtual method " +
	"'int java.lang.String.length()' on a null object reference at com.example.shop.Orders.open(Orders.kt:12)"

// A call that fails after the app crashed says so first. A crash before the app was started again is not the reason.
// Old phones have a clock without parts of a second.
func TestCrashIsTheReason(t *testing.T) {
	t.Parallel()
	for name, level := range map[string]int{"Android 14": 34, "Android 8": 26} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(phones.AndroidOptions{Level: level, App: app.Options{NoPrompt: true}})
			p.App.Crash() // before the session: nothing is known of it
			b := d.backend()
			session, n := d.session(), &noted{}
			session.AppID, session.Noted = app.ShopID, n.add
			s := b.Open(session)
			defer s.Close(within(t))
			start := map[string]any{"appId": app.ShopID, "launchMode": "FORCE_RESTART"}
			call(t, s, "launchApp", start)
			p.App.Show(app.Settings)
			p.Log(app.ShopID, "Shop", "opens the settings")
			p.Log("com.example.launcher", "Launcher", "is not of the app")
			if r := fails(t, s, "tap", "Nowhere"); strings.Contains(r.Text, "crash") {
				t.Errorf("before the crash: %s", r.Text)
			}
			call(t, s, "tap", map[string]any{"text": "Crash"})
			if r := fails(t, s, "assertVisible", "Settings"); !strings.HasPrefix(r.Text, exception+"\n") || !strings.Contains(r.Text, "Settings") {
				t.Errorf("after the crash: %s", r.Text)
			}
			if want := []string{"crash: " + exception}; !slices.Equal(n.lines, want) {
				t.Errorf("noted %q", n.lines)
			}
			wantEvidence(t, s, map[string][]string{
				"device.txt": {exception}, "device.log": {"Shop    : opens the settings", "FATAL EXCEPTION: main", "am_proc_start", "Orders.kt:12"},
			}, "is not of the app", "SystemServer")
			call(t, s, "launchApp", start)
			r := fails(t, s, "tap", "Nowhere")
			const again = "\nearlier in the session " + exception + "; it was started again"
			if strings.HasSuffix(r.Text, again) == strings.HasPrefix(r.Text, exception) || level == 34 && !strings.HasSuffix(r.Text, again) {
				t.Errorf("after another start: %s", r.Text) // a clock of whole seconds does not tell the order
			}
			p.App.Show(app.Settings)
			call(t, s, "tap", map[string]any{"text": "Freeze"})
			if r := fails(t, s, "assertVisible", "Nowhere"); !strings.HasPrefix(r.Text, "the app com.example.shop did not respond (ANR): Input dispatching timed out") {
				t.Errorf("after it hung: %s", r.Text)
			}
			if len(n.lines) != 2 || !strings.HasPrefix(n.lines[1], "anr: the app com.example.shop did not respond") {
				t.Errorf("noted %q", n.lines)
			}
		})
	}
}

// fails makes a call that fails at once.
func fails(t *testing.T, s device.Device, command, text string) tool.Result {
	t.Helper()
	args := map[string]any{"text": text, "timeoutMs": 1}
	r, err := s.Call(within(t), tool.Call{Tool: command, Args: args})
	if err != nil || r.OK {
		t.Fatalf("%s %v: %v %s", command, args, err, r.Text)
	}
	return r
}

// wantEvidence checks that artifacts have texts, and that none has one of others.
func wantEvidence(t *testing.T, s device.Device, want map[string][]string, others ...string) {
	t.Helper()
	found := map[string]string{}
	for _, a := range s.Evidence(within(t)) {
		found[a.Name] = string(a.Data)
	}
	for name, texts := range want {
		for _, text := range texts {
			if !strings.Contains(found[name], text) {
				t.Errorf("%s has no %q:\n%s", name, text, found[name])
			}
		}
		for _, text := range others {
			if strings.Contains(found[name], text) {
				t.Errorf("%s has %q:\n%s", name, text, found[name])
			}
		}
	}
}

// A trail that passes reads nothing of the log.
func TestLogIsNotReadWithoutFailure(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{App: app.Options{NoPrompt: true}})
	b := d.backend()
	s := b.Open(d.session())
	call(t, s, "launchApp", map[string]any{"appId": app.ShopID})
	call(t, s, "assertVisible", map[string]any{"text": "Sign in"})
	if err := s.Close(within(t)); err != nil {
		t.Error(err)
	}
	for _, c := range p.Commands() {
		if strings.Contains(c, "logcat") || strings.Contains(c, "date") {
			t.Errorf("the phone was asked: %s", c)
		}
	}
}

// A phone may have no log. Calls then fail as they do, and the evidence says why the log is missing.
func TestPhoneWithoutLog(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{NoLog: true, App: app.Options{NoPrompt: true}})
	b := d.backend()
	s := b.Open(d.session())
	defer s.Close(within(t))
	call(t, s, "launchApp", map[string]any{"appId": app.ShopID})
	p.App.Crash()
	if r := fails(t, s, "tap", "Nowhere"); strings.Contains(r.Text, "crash") || !strings.HasPrefix(r.Text, `text "Nowhere" was not found`) {
		t.Error(r.Text)
	}
	wantEvidence(t, s, map[string][]string{"device.txt": {"No log of the app: logcat on " + p.Addr() + ": Unable to open log device"}})
}
