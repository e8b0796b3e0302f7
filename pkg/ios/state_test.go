package ios

import (
	"context"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// fails makes a call that fails with texts in its message or its hint.
func (u user) fails(name string, args map[string]any, texts ...string) {
	u.Helper()
	r, err := u.device.Call(u.Context(), tool.Call{Tool: name, Args: args})
	if err != nil || r.OK {
		u.Errorf("%s %v: %v, %v %s", name, args, err, r.OK, r.Text)
	}
	for _, text := range texts {
		if !strings.Contains(r.Text+"\n"+r.Hint, text) {
			u.Errorf("%s %v: %q is missing in %s\n%s", name, args, text, r.Text, r.Hint)
		}
	}
}

// close ends the session.
func (u user) close() {
	u.Helper()
	if err := u.device.Close(context.WithoutCancel(u.Context())); err != nil {
		u.Error(err)
	}
}

func TestOrientation(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Orders)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("mobile_setOrientation", map[string]any{"orientation": "LANDSCAPE"})
	u.call("tap", map[string]any{"id": "settings"})
	if width, height := p.App.Size(); width != 844 || height != 390 || p.App.Screen() != app.Settings {
		t.Errorf("the screen is %d wide and %d high, and shows %s", width, height, p.App.Screen())
	}
	u.call("pressHome", nil)
	u.fails("mobile_setOrientation", map[string]any{"orientation": "LANDSCAPE"}, "the screen stays in portrait, 390 wide and 844 high", "start the app first")
	p.App.Show(app.Orders)
	u.close()
	if p.App.EndTurning(); p.App.Landscape() {
		t.Error("the phone was not turned back")
	}
}

// What a killed session has changed is put back by the next one.
func TestStateOfAKilledSession(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{AppAtPoint: true, App: app.Options{Banner: true}})
	p.App.Show(app.Orders)
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL()})
	b.options.stateDir = t.TempDir()
	killed := b.Open(device.Session{Root: t.TempDir(), Log: (&logs{}).add})
	if r, err := killed.Call(t.Context(), tool.Call{Tool: "mobile_setOrientation", Args: map[string]any{"orientation": "LANDSCAPE"}}); err != nil || !r.OK {
		t.Fatal(err, r.Text)
	}
	<-b.slot // as if it had ended
	next := newUser(t, b)
	next.call("pressHome", nil)
	p.App.Show(app.Orders)
	if p.App.EndTurning(); p.App.Landscape() {
		t.Error("the phone was not turned back")
	}
	next.call("assertVisible", map[string]any{"text": "Order 1149", "timeoutMs": 0}) // the app is read in the middle of the screen now
	next.close()
	b.slot <- struct{}{}
	if err := killed.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestDoubleTapNotificationsAndBackground(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	p.App.Show(app.Order)
	u.call("mobile_doubleTap", map[string]any{"id": "picture"})
	u.call("assertVisible", map[string]any{"text": "Picture of the parcel, zoomed"})
	u.call("mobile_background", map[string]any{"seconds": 0.1})
	if p.App.Screen() != app.Order || p.App.Foreground() != app.ShopID {
		t.Errorf("%s is in front and shows %s", p.App.Foreground(), p.App.Screen())
	}
	p.App.AddNotification(app.Notification{App: app.BrowserID, Text: "Your parcel is on its way"})
	u.call("mobile_openNotifications", nil)
	u.call("tap", map[string]any{"text": "Your parcel is on its way"})
	if p.App.Foreground() != app.BrowserID || p.App.WrongTouches() > 0 {
		t.Errorf("%s is in front, touches %+v", p.App.Foreground(), p.App.Touches())
	}
}

func TestLocationAndAppearance(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("mobile_setLocation", map[string]any{"latitude": 52.52, "longitude": 13.405})
	u.call("mobile_setAppearance", map[string]any{"style": "DARK"})
	if at, style := p.App.Location(), p.App.Style(); at != "52.520000,13.405000" || style != "dark" {
		t.Errorf("the phone is at %s and %s", at, style)
	}
	u.fails("mobile_setAppearance", map[string]any{"fontSize": "LARGE"}, "only on a simulator", "UIPreferredContentSizeCategoryName")
	u.fails("mobile_setAppearance", map[string]any{"locale": "de", "appId": app.ShopID}, "only when it starts", "AppleLanguages: (de)")
	u.close()
	if at, style := p.App.Location(), p.App.Style(); at != "" || style != "light" {
		t.Errorf("after the session, the phone is at %q and %s", at, style)
	}
}

// A phone that refuses what a session would change, or put back, is used on.
func TestLocationIsRefused(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{NoLocation: true})
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL()})
	b.options.stateDir = t.TempDir()
	u := newUser(t, b)
	u.fails("mobile_setLocation", map[string]any{"latitude": 52.52, "longitude": 13.405}, "requires an iOS 16.4+ runtime")
	u.close()
	logged := &logs{}
	opened, err := b.open(t.Context(), device.Session{Log: logged.add})
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := opened.(*driver); !ok || logged.String() != "" || d.originals.Keep(originalLocation, "") != nil {
		t.Errorf("the session after it logs %s", logged)
	}
	if err := opened.Close(t.Context()); err != nil || !strings.Contains(logged.String(), "the device is not as it was before") {
		t.Errorf("%v, logged %s", err, logged)
	}
	next := newUser(t, b)
	next.call("pressHome", nil)
	next.close()
}

func TestAppearanceOfASimulator(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}, s.path()))
	u.call("mobile_setAppearance", map[string]any{"style": "DARK", "fontSize": "LARGE"})
	if got := s.read(t, "ui-appearance") + s.read(t, "ui-content_size"); got != "dark\nextra-large\n" {
		t.Errorf("the simulator has %q", got)
	}
	u.close()
	if got := s.read(t, "ui-appearance") + s.read(t, "ui-content_size"); got != "light\nmedium\n" {
		t.Errorf("after the session, the simulator has %q", got)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Orders)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("mobile_lock", nil)
	if !p.App.Locked() {
		t.Error("the phone is not locked")
	}
	u.call("mobile_unlock", nil)
	u.call("tap", map[string]any{"id": "settings"})
	u.call("mobile_lock", nil)
	u.close()
	if p.App.Locked() {
		t.Error("after the session, the phone is locked")
	}
}
