package ios

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
	"github.com/trailblaze/trailblaze/testdata/ports"
)

func TestTrailOnASimulatedIPhone(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("launchApp", map[string]any{"appId": app.ShopID, "launchMode": "FORCE_RESTART"})
	u.call("tapOnElementWithText", map[string]any{"text": "Email"})
	u.call("inputText", map[string]any{"text": app.Email})
	u.call("tapOnElementWithText", map[string]any{"text": "Password"})
	u.call("inputText", map[string]any{"text": app.Password})
	u.call("tapOnElementWithText", map[string]any{"text": "Sign in"})
	u.call("assertVisibleWithText", map[string]any{"text": "Order 1149"})
	if !p.App.SignedIn() || p.App.WrongTouches() != 0 {
		t.Errorf("signed in: %t, touches: %+v", p.App.SignedIn(), p.App.Touches())
	}
}

func TestDriverOfAnIPhone(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(mobile.Info{Product: "iPhone, iOS 17.4", Width: 390, Height: 844}, d.Info()); diff != "" {
		t.Error(diff)
	}
	must(d.Launch(ctx, mobile.Launch{App: app.ShopID, Stop: true, Arguments: map[string]any{"mode": "test", "-n": 3.0}}))
	if got := p.App.Launches(); len(got) != 1 || !slices.Equal(got[0].Arguments, []string{"-n", "3", "-mode", "test"}) {
		t.Errorf("launches: %+v", got)
	}
	front, err := d.Foreground(ctx)
	must(err)
	if front != app.ShopID {
		t.Errorf("%s is in front", front)
	}
	if bar := d.(mobile.StatusBarReader).StatusBar(ctx); bar != 47 {
		t.Errorf("the status bar has %d points", bar)
	}
	picture, err := d.Screenshot(ctx)
	must(err)
	if config, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || config.Width != 1170 {
		t.Errorf("screenshot: %v %v", config, err)
	}

	p.App.Show(app.Order)
	must(d.Touch(ctx, mobile.Finger{Path: []screen.Point{{X: 100, Y: 320}}}))
	s, err := d.Read(ctx)
	must(err)
	if s.Keyboard == nil || s.Keyboard.Bottom != 844 {
		t.Errorf("keyboard: %v", s.Keyboard)
	}
	must(d.Type(ctx, "Grüße 👍🏽"))
	must(d.Press(ctx, mobile.Enter))
	must(d.SetText(ctx, "neu"))
	must(d.Press(ctx, mobile.Backspace))
	if text, err := p.App.FocusedText(); err != nil || text != "ne" {
		t.Errorf("text: %q %v", text, err)
	}
	must(d.HideKeyboard(ctx))
	if p.App.KeyboardShown() {
		t.Error("the keyboard is still shown")
	}
	must(d.HideKeyboard(ctx)) // does nothing
	must(d.Press(ctx, mobile.Back))
	if p.App.Screen() != app.Orders {
		t.Errorf("after BACK: %s", p.App.Screen())
	}
	must(d.OpenURL(ctx, "shop://settings", ""))
	if p.App.Screen() != app.Settings {
		t.Errorf("after opening a URL: %s", p.App.Screen())
	}
	must(d.SetClipboard(ctx, app.Characters))
	if text, err := d.Clipboard(ctx); err != nil || text != app.Characters {
		t.Errorf("clipboard: %q %v", text, err)
	}
	must(d.Launch(ctx, mobile.Launch{App: app.ShopID, Permissions: map[string]string{"camera": "unset"}}))
	must(d.Press(ctx, mobile.Home))
	must(d.Stop(ctx, app.ShopID))
	if p.App.Running(app.ShopID) {
		t.Error("the app runs")
	}
}

func TestDialogOfTheSystemIsOnTheScreen(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Orders)
	p.App.Prompt()
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tapOnElementBySelector", map[string]any{"nodeSelector": map[string]any{"iosMaestro": map[string]any{"accessibilityTextRegex": "Allow"}}})
	if !p.App.Permissions(app.ShopID)[app.Notifications] {
		t.Errorf("permissions: %v", p.App.Permissions(app.ShopID))
	}
}

func TestNothingBehindADialogIsTouched(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Orders)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tap", map[string]any{"text": "Delete order 1149"})
	touches := len(p.App.Touches())
	settings := map[string]any{"id": "settings", "timeoutMs": 0}
	r, err := u.device.Call(u.Context(), tool.Call{Tool: "tap", Args: settings})
	if err != nil || r.OK || !strings.Contains(r.Text, "alertdialog covers it") || len(p.App.Touches()) > touches {
		t.Errorf("%v %v %s; touches: %+v", err, r.OK, r.Text, p.App.Touches()[touches:])
	}
	u.call("tap", map[string]any{"text": "Cancel"})
	u.call("tap", settings)
	if p.App.Screen() != app.Settings {
		t.Errorf("the phone shows %s", p.App.Screen())
	}
}

// result makes a call and returns its result.
func (u user) result(name string, args map[string]any) tool.Result {
	u.Helper()
	r, err := u.device.Call(u.Context(), tool.Call{Tool: name, Args: args})
	if err != nil {
		u.Fatalf("%s %v: %v", name, args, err)
	}
	return r
}

// The field is the one of /element/active, because what the source calls focused is not about the keyboard.
func TestTextIsReadBack(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{App: app.Options{KeyboardStays: true}})
	p.App.Show(app.Order)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tap", map[string]any{"id": "note"})
	for _, tt := range []struct {
		call   string
		args   map[string]any
		want   string
		typing int // requests that type, clear or press something
	}{
		{"clearText", nil, `textbox "Note" is empty`, 0},
		{"inputText", map[string]any{"text": "Ring"}, `entered 4 characters into textbox "Note"; the keyboard stays on the screen`, 1},
		{"inputText", map[string]any{"text": " twice", "hideKeyboardAfter": false}, `entered 6 characters into textbox "Note"`, 2},
		{"eraseText", map[string]any{"charactersToErase": 6}, `erased 6 characters in textbox "Note"`, 2},
		{"clearText", nil, `erased 4 characters in textbox "Note"`, 1},
		{"clearText", nil, `textbox "Note" is empty`, 0},
	} {
		before := requests(p, "/value") + requests(p, "/clear") + requests(p, "/keys")
		r := u.result(tt.call, tt.args)
		typing := requests(p, "/value") + requests(p, "/clear") + requests(p, "/keys") - before
		if !r.OK || r.Text != tt.want || typing != tt.typing {
			t.Errorf("%s %v: %q with %d requests\nwant %q with %d", tt.call, tt.args, r.Text, typing, tt.want, tt.typing)
		}
	}
	if r := u.result("hideKeyboard", nil); r.OK || r.Text != "the keyboard stays on the screen" {
		t.Errorf("hideKeyboard: %v %s", r.OK, r.Text)
	}
	if n := requests(p, "/wda/keyboard/dismiss"); n > 0 {
		t.Errorf("WebDriverAgent was asked %d times to hide the keyboard", n)
	}
}

// A field that is not among the elements, such as one whose bounds differ there, is used and said to be unchecked.
func TestTextOfAnUnknownFieldIsNotRead(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Order)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tap", map[string]any{"id": "note"})
	intercept(p, "/rect", func(w http.ResponseWriter) { fmt.Fprint(w, `{"value": {"x": 0, "y": 0, "width": 9, "height": 9}}`) })
	const note = "the device does not report the field that has the focus, so what it shows was not checked"
	for _, tt := range []struct {
		call, want, holds string
		args              map[string]any
	}{
		{"inputText", "entered 4 characters into the field that has the focus", "Ring", map[string]any{"text": "Ring", "hideKeyboardAfter": false}},
		{"clearText", "cleared the field that has the focus", "", nil},
	} {
		r := u.result(tt.call, tt.args)
		text, err := p.App.FocusedText()
		if !r.OK || r.Text != tt.want || !slices.Equal(r.Notes, []string{note}) || text != tt.holds || err != nil {
			t.Errorf("%s: %v %q, notes %q; the field holds %q %v", tt.call, r.OK, r.Text, r.Notes, text, err)
		}
	}
	if requests(p, "/value") != 1 || requests(p, "/clear") != 1 {
		t.Errorf("requests: %q", p.Requests())
	}
}

func TestTextThatIsNotEnteredFails(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{App: app.Options{LoseFirstKey: true}})
	p.App.Show(app.Order)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tap", map[string]any{"id": "note"})
	want := `textbox "Note" shows "ing" after "Ring" was entered`
	if r := u.result("inputText", map[string]any{"text": "Ring"}); r.OK || r.Text != want {
		t.Errorf("%v %q, want %q", r.OK, r.Text, want)
	}
}

func TestFocusIsFoundBySelectors(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.SignIn)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	focused := map[string]any{"nodeSelector": map[string]any{"iosMaestro": map[string]any{"focused": true}}, "timeoutMs": 0}
	if r := u.result("assertVisible", focused); r.OK {
		t.Errorf("found before a field was tapped: %s", r.Text)
	}
	u.call("tap", map[string]any{"id": "password"})
	if r := u.result("assertVisible", focused); !r.OK || r.Text != `textbox "Password" is visible` {
		t.Errorf("%v %s", r.OK, r.Text)
	}
	active := requests(p, "/element/active")
	u.call("assertVisible", map[string]any{"id": "password"})
	if n := requests(p, "/element/active"); n != active {
		t.Error("the focus was asked for without need")
	}
}

func TestClipboardOfAnIPhone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		options     phones.IPhoneOptions
		bundle      string // with which WebDriverAgent was signed
		activations int    // of apps, for one text that is set and read
	}{
		{"a phone", phones.IPhoneOptions{}, "", 4},
		{"a phone with a bundle id of one's own", phones.IPhoneOptions{Runner: "com.yourname.wda.xctrunner"}, "com.yourname.wda", 4},
		{"a simulator on another machine", phones.IPhoneOptions{Simulator: true}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startPhoneWith(t, tt.options)
			p.App.Show(app.Order)
			d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "wdaBundleId": tt.bundle}, "PATH="))
			if err := d.SetClipboard(t.Context(), app.Characters); err != nil || p.App.Clipboard() != app.Characters {
				t.Errorf("set: %v; the clipboard has %q", err, p.App.Clipboard())
			}
			if text, err := d.Clipboard(t.Context()); err != nil || text != app.Characters {
				t.Errorf("read: %q %v", text, err)
			}
			if p.App.Screen() != app.Order || p.App.Foreground() != app.ShopID {
				t.Errorf("%s is in front, with %s", p.App.Foreground(), p.App.Screen())
			}
			if n := requests(p, "/wda/apps/activate"); n != tt.activations {
				t.Errorf("%d apps were activated, want %d", n, tt.activations)
			}
		})
	}
}

// A text that is set is never reported as set unread.
func TestClipboardThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Order)
	d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	intercept(p, "/wda/apps/activate", func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"value": {"error": "unknown error", "message": "not installed"}}`)
	})
	const want = "iOS lets WebDriverAgent use the clipboard only in a simulator, or while its app " +
		"com.facebook.WebDriverAgentRunner.xctrunner is in front"
	_, readErr := d.Clipboard(t.Context())
	for _, err := range []error{d.SetClipboard(t.Context(), "x"), readErr} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
	intercept(p, "/wda/apps/activate", func(w http.ResponseWriter) { fmt.Fprint(w, `{"value": null}`) }) // without effect
	if err := d.SetClipboard(t.Context(), "x"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// The app of the source is the one in the middle of the screen, whatever is at its top.
func TestActiveAppIsInTheMiddle(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{AppAtPoint: true, App: app.Options{Banner: true}})
	p.App.Show(app.Orders)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("assertVisible", map[string]any{"text": "Order 1149"})
	p.App.Prompt()
	u.call("tap", map[string]any{"text": "Allow"})
	if !p.App.Permissions(app.ShopID)[app.Notifications] {
		t.Errorf("permissions: %v", p.App.Permissions(app.ShopID))
	}
}

// An alert that is not among the elements of the active app is named when something is not found.
func TestAlertOfAnotherAppIsNamed(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{AlertElsewhere: true})
	p.App.Show(app.Orders)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	allow := map[string]any{"text": "Allow", "timeoutMs": 0}
	const missing = `text "Allow" was not found (app com.example.shop`
	if r := u.result("tap", allow); r.OK || r.Text != missing+")" {
		t.Error(r.Text)
	}
	p.App.Prompt()
	want := missing + "; an alert is shown that cannot be read with it: \"“Corner Shop” Would Like to Send You Notifications\")"
	if r := u.result("tap", allow); r.OK || r.Text != want || !strings.HasPrefix(r.Hint, "launchApp: {permissions: …} answers it") {
		t.Errorf("%s (%s)\nwant %s", r.Text, r.Hint, want)
	}
}

// What the source is asked to leave out does not change what is read.
func TestUnusedAttributesAreLeftOut(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.Order)
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL()})
	d, _ := openDriver(t, b)
	asked := make(chan string, 1)
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		asked <- r.URL.RawQuery
		return false
	})
	s, err := d.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if query := <-asked; query != "format=json&excluded_attributes="+appium.UnusedAttributes {
		t.Errorf("asked for %s", query)
	}
	p.SetIntercept(nil)
	var data json.RawMessage
	if err := b.wda.client.Call(t.Context(), http.MethodGet, "/source?format=json", nil, &data); err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq("frame,nativeFrame,isAccessible,isNativeAccessibilityElement,isFocused", ",") {
		if !strings.Contains(string(data), `"`+name+`"`) {
			t.Errorf("the whole source has no %s", name)
		}
	}
	whole, err := source.WDAJSON(data, source.Options{Width: 390, Height: 844})
	if err != nil {
		t.Fatal(err)
	}
	text := func(tree *screen.Tree) string { return tree.Text(screen.TextOptions{Whole: true}).String() }
	if diff := cmp.Diff(text(whole.Tree), text(s.Tree)); diff != "" {
		t.Errorf("(-whole +read):\n%s", diff)
	}
}

// requests counts the requests with a path that ends with end.
func requests(p *phones.IPhone, end string) (count int) {
	for _, r := range p.Requests() {
		if strings.HasSuffix(r, end) {
			count++
		}
	}
	return count
}

func TestKeyboardIsHiddenWithoutWaiting(t *testing.T) {
	t.Parallel()
	up, sideways := []screen.Point{{X: 195, Y: 422}, {X: 195, Y: 397}}, []screen.Point{{X: 195, Y: 422}, {X: 184, Y: 422}}
	for _, tt := range []struct {
		name      string
		options   phones.IPhoneOptions
		drags     [][]screen.Point
		dismisses int
		stays     bool
	}{
		{"by a drag up", phones.IPhoneOptions{}, [][]screen.Point{up}, 0, false},
		{"by a drag to the side", phones.IPhoneOptions{App: app.Options{HidesSideways: true}}, [][]screen.Point{up, sideways}, 0, false},
		{"not at all", phones.IPhoneOptions{App: app.Options{KeyboardStays: true}}, [][]screen.Point{up, sideways}, 0, true},
		{"by the key of an iPad", phones.IPhoneOptions{Tablet: true}, nil, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startPhoneWith(t, tt.options)
			d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
			p.App.Show(app.Order)
			if err := d.Touch(t.Context(), mobile.Finger{Path: []screen.Point{{X: 100, Y: 320}}}); err != nil {
				t.Fatal(err)
			}
			err := d.HideKeyboard(t.Context())
			if stays := errors.Is(err, mobile.ErrKeyboardStays); stays != tt.stays || err != nil && !stays || p.App.KeyboardShown() != tt.stays {
				t.Errorf("%v; the keyboard is shown: %t", err, p.App.KeyboardShown())
			}
			var drags [][]screen.Point
			for _, touch := range p.App.Touches()[1:] {
				drags = append(drags, touch.Fingers[0].Path)
			}
			if diff := cmp.Diff(tt.drags, drags); diff != "" {
				t.Errorf("drags (-want +got):\n%s", diff)
			}
			if n := requests(p, "/wda/keyboard/dismiss"); n != tt.dismisses {
				t.Errorf("WebDriverAgent was asked %d times to hide the keyboard", n)
			}
			if wrong := p.App.WrongTouches(); wrong > 0 {
				t.Errorf("touches: %+v", p.App.Touches())
			}
		})
	}
}

// iOS lists the keys with a word as buttons of the keyboard, which a search for what it covers would hide.
func TestButtonOfTheKeyboardIsTapped(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	p.App.Show(app.SignIn)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tap", map[string]any{"id": "email"})
	u.call("tap", map[string]any{"text": "return"})
	if touches := p.App.Touches(); len(touches) != 2 || touches[1].Target != "Return" || !p.App.KeyboardShown() {
		t.Errorf("touches: %+v", touches)
	}
	u.call("assertVisible", map[string]any{"nodeSelector": map[string]any{"iosMaestro": map[string]any{
		"focused": true, "resourceIdRegex": "password",
	}}})
}

// A button in the middle of the screen, which a short drag would press, is left alone.
func TestDragThatHidesTheKeyboardPressesNothing(t *testing.T) {
	t.Parallel()
	p := startPhoneWith(t, phones.IPhoneOptions{App: app.Options{MiddleButton: true}})
	p.App.Show(app.SignIn)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	u.call("tap", map[string]any{"id": "email"})
	u.call("hideKeyboard", nil)
	touches := p.App.Touches()
	if target := touches[len(touches)-1].Target; target != "page" || len(touches) != 2 {
		t.Errorf("touches: %+v", touches)
	}
}

func TestWhatAnIPhoneCannotDo(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	d, l := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "app": "/shop.app"}))
	ctx := t.Context()
	_, shellErr := d.Shell(ctx, []string{"ls"})
	_, appsErr := d.Apps(ctx, false)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{shellErr, "iOS has no shell commands"},
		{appsErr, "the apps of an iPhone cannot be listed with WebDriverAgent"},
		{d.SetNetwork(ctx, false), "iOS does not let tests connect or disconnect its networks"},
		{d.Clear(ctx, app.ShopID), "what com.example.shop has stored can be removed only on a simulator"},
		{d.Grant(ctx, app.ShopID, []string{"photos"}), "the permission photos of an app can be set only on a simulator of this machine"},
		{d.Press(ctx, mobile.Escape), "iOS has no key ESCAPE"},
		{d.Type(ctx, "x"), "no field has the focus"},
		{d.SetText(ctx, "x"), "no field has the focus"},
		{
			d.Launch(ctx, mobile.Launch{App: "com.example.other"}),
			"start com.example.other: POST /wda/apps/launch: invalid argument: Cannot launch the 'com.example.other' application. Consider checking whether it is installed.",
		},
	} {
		if e := fault.As(tt.err); e == nil || e.Kind != fault.ToolFailed || e.Message != tt.want {
			t.Errorf("got %v, want %s", tt.err, tt.want)
		}
	}
	if err := d.Launch(ctx, mobile.Launch{App: app.ShopID, Permissions: map[string]string{"all": "allow"}}); err != nil {
		t.Error(err)
	}
	if err := d.Launch(ctx, mobile.Launch{App: app.ShopID, Permissions: map[string]string{"all": "deny"}}); err == nil {
		t.Error("permissions that were to be taken away were not, and the app was started")
	}
	for _, want := range []string{"warn: the app is not installed", "warn: the permissions of com.example.shop were not set"} {
		if !strings.Contains(l.String(), want) {
			t.Errorf("%q is missing in the log: %s", want, l)
		}
	}
}

// intercept answers requests with a path that ends with end.
func intercept(p *phones.IPhone, end string, answer func(w http.ResponseWriter)) {
	p.SetIntercept(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, end) {
			return false
		}
		answer(w)
		return true
	})
}

func TestDeepTreeRaisesTheDepthOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		levels   int // of the tree
		readable int // levels that the device can read
		settings []float64
		want     string
	}{
		{"that fits", 49, 200, []float64{50}, ""},
		{"a little deeper", 60, 62, []float64{50, 62}, ""},
		{"much deeper", 100, 200, []float64{50, 62, 200}, ""},
		{"that it can read in part", 100, 62, []float64{50, 62, 200, 62}, "the screen has more levels than the device can read"},
		{"that it cannot read deeper", 100, 50, []float64{50, 62, 50}, "the screen has more levels than the device can read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startPhone(t)
			var depths []float64
			p.SetIntercept(func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.HasSuffix(r.URL.Path, "/appium/settings"):
					var body struct {
						Settings struct{ SnapshotMaxDepth float64 }
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					depths = append(depths, body.Settings.SnapshotMaxDepth)
					fmt.Fprint(w, `{"value": {}}`)
				case strings.HasSuffix(r.URL.Path, "/source") && int(depths[len(depths)-1]) > tt.readable:
					w.WriteHeader(http.StatusInternalServerError)
					fmt.Fprint(w, `{"value": {"error": "unknown error", "message": "Error kAXErrorIllegalArgument getting snapshot for element"}}`)
				case strings.HasSuffix(r.URL.Path, "/source"):
					depth := min(tt.levels, int(depths[len(depths)-1]))
					fmt.Fprintf(w, `{"value": %s%s}`, strings.Repeat(`{"type": "Other", "rect": {"x": 0, "y": 0, "width": 9, "height": 9}, "children": [`, depth-1)+
						`{"type": "Button", "label": "[deep]"}`, strings.Repeat("]}", depth-1))
				default:
					return false
				}
				return true
			})
			d, l := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
			for range 2 {
				if _, err := d.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.settings, depths); diff != "" {
				t.Errorf("depths (-want +got):\n%s", diff)
			}
			if !strings.Contains(l.String(), tt.want) {
				t.Errorf("log: %s", l)
			}
		})
	}
}

func TestActionWhoseResponseIsLostIsNotRepeated(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}))
	var received atomic.Int32
	intercept(p, "/actions", func(w http.ResponseWriter) {
		received.Add(1)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	err := d.Touch(t.Context(), mobile.Finger{Path: []screen.Point{{X: 1, Y: 1}}})
	if _, ok := errors.AsType[*act.UnconfirmedError](err); !ok || received.Load() != 1 {
		t.Errorf("%v after %d requests", err, received.Load())
	}
}

func TestSessionThatEndsIsNamed(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL()})
	another := func() {
		if _, err := b.wda.client.NewSession(t.Context(), webdriver.Capabilities{}); err != nil { // of another program
			t.Fatal(err)
		}
	}
	another()
	d, l := openDriver(t, b)
	if want := "warn: a session of WebDriverAgent at " + p.URL() + " was running and is ended; "; !strings.HasPrefix(l.String(), want) {
		t.Errorf("logged %q, want %q", l, want)
	}
	another()
	_, err := d.Read(t.Context())
	e := fault.As(err)
	if e == nil || e.Kind != fault.Crashed || !strings.HasPrefix(e.Message, "the session of WebDriverAgent at "+p.URL()+" has ended: ") {
		t.Errorf("got %v", err)
	}
	p.Close()
	want := "WebDriverAgent at " + p.URL() + " cannot be reached any more: "
	for end := time.Now().Add(10 * time.Second); ; { // the system may accept a connection for a moment
		_, err := d.Read(t.Context())
		if e := fault.As(err); e != nil && e.Kind == fault.Crashed && strings.HasPrefix(e.Message, want) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
}

// asSimulator makes the phone say that it is a simulator.
func asSimulator(p *phones.IPhone) {
	intercept(p, "/wda/device/info", func(w http.ResponseWriter) { fmt.Fprint(w, `{"value": {"isSimulator": true}}`) })
}

func TestSimulatorIsControlledBySimctl(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	file := filepath.Join(t.TempDir(), "Shop.app")
	writeApp(t, file, "2")
	d, l := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "app": file, "clearKeychain": "true"}, s.path()))
	ctx := t.Context()
	if id := d.Info().ID; id != testUDID {
		t.Errorf("the id is %q", id)
	}
	launch := mobile.Launch{App: app.ShopID, Stop: true, Clear: true, Permissions: map[string]string{"photos": "allow", "location": "deny", "siri": "unset"}}
	for range 2 {
		if err := d.Launch(ctx, launch); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Grant(ctx, app.ShopID, []string{"camera"}); err != nil || !strings.Contains(l.String(), "simctl cannot set the permission camera") {
		t.Errorf("%v, log: %s", err, l)
	}
	if err := d.Grant(ctx, app.ShopID, []string{"motion"}); err == nil || !strings.Contains(err.Error(), "simctl privacy failed") ||
		!strings.Contains(err.Error(), "Operation not permitted") {
		t.Errorf("got %v", err)
	}
	user, err := d.Apps(ctx, false)
	all, allErr := d.Apps(ctx, true)
	if err != nil || allErr != nil || !slices.Equal(user, []string{app.ShopID}) || !slices.Equal(all, []string{"com.apple.Preferences", app.ShopID}) {
		t.Errorf("apps: %v %v %v", user, all, errors.Join(err, allErr))
	}
	if err := d.SetClipboard(ctx, app.Characters); err != nil || s.read(t, "clipboard") != app.Characters {
		t.Errorf("clipboard: %q %v", s.read(t, "clipboard"), err)
	}
	if text, err := d.Clipboard(ctx); err != nil || text != "from the clipboard" {
		t.Errorf("clipboard: %q %v", text, err)
	}
	const launched = "get_app_container U com.example.shop app\nuninstall U com.example.shop\ninstall U KEPT\nkeychain U reset\nprivacy U revoke location com.example.shop\n" +
		"privacy U grant photos com.example.shop\nprivacy U reset siri com.example.shop\n"
	want := strings.ReplaceAll("list devices booted -j\nget_app_container U com.example.shop app\ninstall U "+file+"\n"+launched+launched+
		"privacy U grant motion com.example.shop\nlistapps U\nlistapps U\npbcopy U\npbpaste U\n", " U", " "+testUDID)
	if diff := cmp.Diff(want, s.calls(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Which app a phone has is not known. So it is installed once in each run, in the first session.
func TestAppOfAPhoneIsInstalledOnce(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	s := newSimctl(t)
	file := filepath.Join(t.TempDir(), "Shop.app")
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "app": file, "udid": "PHONE-1"}, s.path())
	for range 2 {
		d, err := b.open(t.Context(), device.Session{Log: (&logs{}).add})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.Launch(t.Context(), mobile.Launch{App: app.ShopID}), d.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if calls, want := s.calls(t), "device install app --device PHONE-1 "+file+"\n"; calls != want {
		t.Errorf("calls: %q, want %q", calls, want)
	}
}

// The app is installed when another version of it is there, in the first session only. To remove what it has stored, the
// very app is removed and installed anew.
func TestAppOfASimulatorIsInstalledWhenItDiffers(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	writeApp(t, s.bundle(), "1")
	before, err := digest(s.bundle())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "Shop.app")
	writeApp(t, file, "2")
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "app": file}, s.path())
	var calls []string
	for range 2 {
		d, err := b.open(t.Context(), device.Session{Log: (&logs{}).add})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(
			d.Launch(t.Context(), mobile.Launch{App: app.ShopID}), d.Launch(t.Context(), mobile.Launch{App: app.ShopID}), d.Close(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, s.calls(t))
	}
	const list, asked = "list devices booted -j\n", "get_app_container " + testUDID + " com.example.shop app\n"
	want := []string{list + asked + "install " + testUDID + " " + file + "\n"}
	want = append(want, want[0]+list+asked)
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	wanted, wantedErr := digest(file)
	installed, err := digest(s.bundle())
	if err != nil || wantedErr != nil || installed != wanted || installed == before {
		t.Error("the app that is installed is not the new one", err, wantedErr)
	}

	d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}, s.path()))
	if err := d.Clear(t.Context(), app.ShopID); err != nil {
		t.Fatal(err)
	}
	if again, err := digest(s.bundle()); err != nil || again != wanted {
		t.Error("the app that was installed anew is another one", err)
	}
}

func TestSeveralSimulatorsNeedAChoice(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, "B-2", "A-1")
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL()}, s.path())
	_, err := b.open(t.Context(), device.Session{})
	if e := fault.As(err); e == nil || e.Kind != fault.Misuse || e.Message != "2 simulators are booted: A-1 (iPhone 15), B-2 (iPhone 15)" {
		t.Errorf("got %v", err)
	}
	d, _ := openDriver(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "udid": "B-2"}, s.path()))
	if id := d.Info().ID; id != "B-2" {
		t.Errorf("the id is %q", id)
	}
}

func TestWebDriverAgentIsUsedByOneProcess(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	first := newTestBackend(t, map[string]string{"wdaUrl": p.URL()})
	second := newTestBackend(t, map[string]string{"wdaUrl": strings.Replace(p.URL(), "127.0.0.1", "LOCALHOST", 1) + "/"})
	first.options.stateDir = t.TempDir()
	second.options.stateDir = first.options.stateDir
	session := device.Session{Log: (&logs{}).add}
	d, err := first.open(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	_, err = second.open(t.Context(), session)
	if e := fault.As(err); e == nil || e.Kind != fault.Device || !strings.Contains(e.Message, "is the same device as WebDriverAgent at") {
		t.Errorf("got %v", err)
	}
	if _, err := second.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := d.Read(t.Context()); err != nil {
		t.Errorf("the first session: %v", err)
	}
	if err := errors.Join(d.Close(t.Context()), first.Close(t.Context())); err != nil {
		t.Error(err)
	}
	d, err = second.open(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWebDriverAgentIsStartedAndEndedWithTheRun(t *testing.T) {
	t.Parallel()
	t.Run("by a command that runs as long", func(t *testing.T) {
		t.Parallel()
		testStart(t, "exec sleep 600")
	})
	t.Run("by a command that returns", func(t *testing.T) {
		t.Parallel()
		testStart(t, "true")
	})
}

// testStart starts WebDriverAgent with a command that notes that it runs, and then does something.
func testStart(t *testing.T, then string) {
	t.Helper()
	folder := t.TempDir()
	port, err := ports.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + port
	b := newTestBackend(t, map[string]string{
		"wdaUrl": "http://" + address, "wdaStart": `["sh", "-c", "echo building; echo $$ >\"$0\"/pid; ` + then + `", "` + folder + `"]`,
	})
	pidFile := filepath.Join(folder, "pid")
	phone := make(chan *phones.IPhone, 1)
	go func() { // the phone responds when the command runs
		for {
			if _, err := os.Stat(pidFile); err == nil || t.Context().Err() != nil {
				break
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // polls a file
		}
		p, err := phones.StartIPhone(context.WithoutCancel(t.Context()), phones.IPhoneOptions{Address: address})
		if err != nil {
			t.Error(err)
		}
		phone <- p
	}()
	detail, err := b.Check(t.Context())
	if want := "WebDriverAgent at http://" + address + ", iPhone, iOS 17.4"; err != nil || detail != want {
		t.Errorf("check: %q %v, want %s", detail, err, want)
	}
	p := <-phone
	if p == nil {
		return
	}
	defer p.Close()
	classifiers, err := b.Classifiers(t.Context())
	if err != nil || !slices.Equal(classifiers, []string{"iphone"}) {
		t.Errorf("classifiers: %v %v", classifiers, err)
	}
	process := b.wda.process
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-process.Done():
	default:
		t.Error("the command still runs")
	}
}

func TestWebDriverAgentThatDoesNotStartIsExplained(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, start, limit string
		want               []string
	}{
		{"nothing starts it", "", "", []string{"WebDriverAgent does not respond at http://127.0.0.1:1: ", "refused"}},
		{
			"command that fails", "echo to stdout; echo xcodebuild: error: no device >&2; exit 70", "",
			[]string{"the command of wdaStart failed before WebDriverAgent responded at http://127.0.0.1:1", "xcodebuild: error: no device", "to stdout", "70"},
		},
		{
			"command that takes long", "echo building >&2; exec sleep 600", "20ms",
			[]string{"WebDriverAgent did not respond at http://127.0.0.1:1 within 20ms after its start: "},
		},
		{
			"command by its path", `["/bin/sh", "-c", "echo given by its path >&2; exit 71"]`, "",
			[]string{"the command of wdaStart failed before WebDriverAgent responded at http://127.0.0.1:1", "given by its path", "71"},
		},
		{"path without a program", `["/bin/no-such-program"]`, "", []string{`WebDriverAgent: the command "/bin/no-such-program" was not found`}},
		{"unknown command", `["no-such-program"]`, "", []string{`WebDriverAgent: the command "no-such-program" was not found`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newTestBackend(t, map[string]string{"wdaUrl": "http://127.0.0.1:1", "wdaStart": tt.start, "wdaStartTimeout": tt.limit})
			_, err := b.open(t.Context(), device.Session{})
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ key, value, want string }{
		{"wdaUrl", "127.0.0.1:8100", `wdaUrl: "127.0.0.1:8100" is not an http:// or https:// URL`},
		{"wdaStart", "[1]", "wdaStart: not a list of texts"},
		{"wdaStartTimeout", "soon", `wdaStartTimeout: "soon" is not a time limit`},
		{"appiumUrl", "http//:x:" + "secret@y", `appiumUrl: "…@y" is not an http:// or https:// URL`},
		{"actionTimeout", "-1s", `actionTimeout: "-1s" is not a time limit`},
	} {
		_, err := Kind().New(device.Host{Values: map[string]string{tt.key: tt.value}})
		if e := fault.As(err); e == nil || e.Kind != fault.Misuse || e.Message != tt.want {
			t.Errorf("%s: %v, want %s", tt.key, err, tt.want)
		}
	}
}
