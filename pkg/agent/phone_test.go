package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/android"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// openPhone returns a simulated phone.
func openPhone(t *testing.T) (browser, *phones.Android) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	server, err := adbserver.Start(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	phone, err := phones.StartAndroid(ctx, phones.AndroidOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(phone.Close)
	if err := server.Connect(ctx, phone.Addr()); err != nil {
		t.Fatal(err)
	}
	supervisor, kind := spawn.NewSupervisor(spawn.Options{}), android.Kind()
	backend, err := kind.New(device.Host{
		Values: map[string]string{"assertionTimeout": "300ms"}, Env: server.Env(), Programs: local.Programs(supervisor), Dir: t.TempDir(), StateDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(backend.Close(ctx), supervisor.Close()); err != nil {
			t.Error(err)
		}
	})
	return browser{"android-ondevice-accessibility", kind, backend}, phone
}

func TestPhoneIsUsed(t *testing.T) {
	t.Parallel()
	b, phone := openPhone(t)
	phone.App.Show(app.SignIn)
	f := b.open(t)
	field := func(seen, content string) string {
		before, _, _ := strings.Cut(seen, `]: "`+content+`"`)
		return before[strings.LastIndex(before, "=")+1:]
	}
	m := scripted(
		say(through("tapOnElementWithAccessibilityText", "accessibilityText", "Sign in")), say(through("tapOnPoint", "x", 1, "y", 1)), say(use("tap", "text", "Sign in")), say(through("adbShell", "command", "id")),
		say(through("maestro", "commands", []any{})), say(use("openUrl", "url", "intent:evil")),
		func(seen string) []model.Call {
			return []model.Call{
				use("tap", "ref", field(seen, "Email")), use("inputText", "text", app.Email),
				use("tap", "ref", field(seen, "••••••••")), use("inputText", "text", "{{PIN}}"),
			}
		},
		both(tapOn(`button "Sign in"`), done("Orders")), // a prompt comes
		both(tapOn(`button "Don't allow"`), done("Orders")),
	)
	out := f.do(m, step("Sign in with {{PIN}}"), func(o *agent.Options) { o.Images = true })
	if out.Outcome != event.Passed || phone.App.Screen() != app.Orders {
		t.Fatalf("%v, on the screen %s\n%s", out.Err, phone.App.Screen(), prompt(m.requests[len(m.requests)-1]))
	}
	wantLayout(t, m.requests)
	for i, want := range []string{"coordinates", "coordinates", "text is not allowed", "not allowed here", "names elements by text", "URLs with intent:"} {
		if !strings.Contains(out.Turns[i].Result, want) {
			t.Errorf("turn %d: %s", i, out.Turns[i].Result)
		}
	}
	for _, r := range m.requests {
		if strings.Contains(prompt(r), secret) {
			t.Error("a secret was sent")
		}
	}
	m = scripted(say(use("assertVisibleWithText", "text", "Order 9999")), say(use("assertVisibleWithText", "text", "Orders"), done("")))
	if out = f.do(m, verify("Order 9999 is there")); out.Outcome != event.Failed {
		t.Error("a weakened check has passed")
	}
	if recorded := f.recording(); !strings.Contains(recorded, "{{PIN}}") || strings.Contains(recorded, secret) {
		t.Errorf("recorded\n%s", recorded)
	}
}

// tapOn is click for a phone.
func tapOn(element string) func(string) model.Call {
	return func(seen string) model.Call { return use("tap", "ref", ref(seen, element)) }
}
