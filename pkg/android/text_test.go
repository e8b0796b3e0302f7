package android

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// opened starts a phone with a session. An empty version of the server stands for none.
func opened(t *testing.T, o phones.AndroidOptions) (*phones.Android, device.Device) {
	t.Helper()
	d := newDesk(t)
	if o.Server == "" {
		d.values["uiautomator2"] = ""
	}
	p := d.phone(o)
	s := d.backend().Open(d.session())
	t.Cleanup(func() {
		if err := s.Close(within(t)); err != nil {
			t.Error(err)
		}
	})
	return p, s
}

// does calls a command, which has to succeed, and returns its text.
func does(t *testing.T, s device.Device, name string, args map[string]any) string {
	t.Helper()
	result := call(t, s, name, args)
	if !result.OK {
		t.Fatalf("%s %v: %s", name, args, result.Text)
	}
	return result.Text
}

// A keyboard is hidden by the key that hides it and leaves nothing else, with and without the UiAutomator2 server.
func TestKeyboardIsHidden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options app.Options
		silent  bool
		keys    []string
		fails   string
	}{
		"as on most phones":            {keys: []string{app.KeyEscape}},
		"a hardware keyboard":          {options: app.Options{HardwareKeyboard: true}},
		"ESCAPE is ignored":            {options: app.Options{IgnoreEscape: true}, keys: []string{app.KeyEscape, app.KeyBack}},
		"BACK does not reach it first": {options: app.Options{BackBeforeKeyboard: true}, keys: []string{app.KeyEscape}},
		"its state is not known":       {silent: true, keys: []string{app.KeyEscape}},
		"nor that of a hardware one":   {silent: true, options: app.Options{HardwareKeyboard: true}},
		"neither hides it": {
			options: app.Options{BackBeforeKeyboard: true, IgnoreEscape: true}, keys: []string{app.KeyEscape, app.KeyBack},
			fails: "the key BACK, which hides the keyboard, has left com.example.shop/.MainActivity; com.example.launcher/.Launcher is in front",
		},
	} {
		for _, server := range []string{serverVersion, ""} {
			t.Run(name+server, func(t *testing.T) {
				t.Parallel()
				p, s := opened(t, phones.AndroidOptions{Server: server, App: c.options, SilentKeyboard: c.silent})
				p.App.Show(app.SignIn)
				does(t, s, "tap", map[string]any{"id": "email"})
				result := call(t, s, "inputText", map[string]any{"text": app.Email})
				if c.fails != "" {
					if result.OK || result.Text != c.fails {
						t.Errorf("%v %s", result.OK, result.Text)
					}
					return
				}
				if c.silent && server == "" { // no key is pressed, because none of them may leave the screen
					if !result.OK || !strings.HasSuffix(result.Text, "; the keyboard stays on the screen") || len(p.App.Keys()) > 0 {
						t.Errorf("%s, keys %q", result.Text, p.App.Keys())
					}
					return
				}
				if text, _ := p.App.FocusedText(); !result.OK || p.App.KeyboardShown() || text != app.Email {
					t.Errorf("%q is in the field; %s", text, result.Text)
				}
				if diff := cmp.Diff(c.keys, p.App.Keys()); diff != "" {
					t.Errorf("keys (-want +got):\n%s", diff)
				}
				does(t, s, "tap", map[string]any{"id": "password"})
				does(t, s, "hideKeyboard", nil)
				again := p.App.Keys()[len(c.keys):]
				if p.App.Screen() != app.SignIn || len(c.keys) > 0 && !slices.Equal(again, c.keys[len(c.keys)-1:]) {
					t.Errorf("the second time: keys %q, screen %s", again, p.App.Screen())
				}
			})
		}
	}
}

// An app may go on by itself after a text, such as a code, while the key is pressed that hides the keyboard.
func TestKeyboardOfAnAppThatGoesOn(t *testing.T) {
	t.Parallel()
	for _, server := range []string{serverVersion, ""} {
		p, s := opened(t, phones.AndroidOptions{Server: server, App: app.Options{MovesOn: true}})
		p.App.Show(app.SignIn)
		does(t, s, "tap", map[string]any{"id": "email"})
		does(t, s, "inputText", map[string]any{"text": "123456"})
		if keys := p.App.Keys(); len(keys) != 1 || !p.App.MovedOn() {
			t.Errorf("keys: %q", keys)
		}
	}
}

// BACK hides the keyboard of a dialog, which ESCAPE would close. A dialog that BACK has closed is not passed over.
func TestKeyboardOfADialog(t *testing.T) {
	t.Parallel()
	for _, server := range []string{serverVersion, ""} {
		for _, closes := range []bool{false, true} {
			t.Run(fmt.Sprint(server, closes), func(t *testing.T) {
				t.Parallel()
				p, s := opened(t, phones.AndroidOptions{Server: server, App: app.Options{Dialogs: true, BackBeforeKeyboard: closes}})
				p.App.Show(app.Order)
				does(t, s, "tap", map[string]any{"id": "note"})
				r := call(t, s, "inputText", map[string]any{"text": "one"})
				if closes != strings.Contains(r.Text, "the key BACK, which hides the keyboard, has closed the window of the field") ||
					r.OK == closes || !closes && p.App.Screen() != app.Order || p.App.KeyboardShown() {
					t.Errorf("%v %s; the app shows %s", r.OK, r.Text, p.App.Screen())
				}
				if keys := p.App.Keys(); len(keys) != 1 || keys[0] != app.KeyBack {
					t.Errorf("keys: %q", keys)
				}
			})
		}
	}
}

// The output is shaped like that of Android 13.
func TestFocusOnADialog(t *testing.T) {
	t.Parallel()
	const windows = "WINDOW MANAGER WINDOWS (dumpsys window windows)\n  Window #7 Window{c02 u0 com.example/com.example.Main}:\n" +
		"    mDisplayId=0 rootTaskId=9 mSession=Session{a1 77:u0a10}\n    mAttrs={(0,0)(wrapxwrap) gr=CENTER sim={adjust=pan} ty=APPLICATION fmt=TRANSLUCENT}\n" +
		"  Window #8 Window{c01 u0 com.example/com.example.Main}:\n    mAttrs={(0,0)(fillxfill) sim={adjust=resize} ty=BASE_APPLICATION wanim=0x1}\n" +
		"    mParentWindow=Window{c02 u0 com.example/com.example.Main}\n"
	for focus, want := range map[string]bool{"c02": true, "c01": false, "c03": false} {
		if got := parseFocusIsDialog(windows + "  mCurrentFocus=null\n  mCurrentFocus=Window{" + focus + " u0 com.example/com.example.Main}\n"); got != want {
			t.Errorf("%s: %v", focus, got)
		}
	}
	if parseFocusIsDialog("  mCurrentFocus=null\n") || parseFocusIsDialog("") {
		t.Error("a dialog without a window")
	}
}

// What fields take only in their way is entered, or it is an error.
func TestFieldsThatAreHardToFillIn(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]string{"UiAutomator2": serverVersion, "dump": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := opened(t, phones.AndroidOptions{Server: server, App: app.Options{NoPrompt: true, LateFocus: 2}})
			enter := func(id, text string) string {
				t.Helper()
				does(t, s, "tap", map[string]any{"id": id})
				return does(t, s, "inputText", map[string]any{"text": text, "hideKeyboardAfter": false})
			}
			if server != "" { // whose focus moves too late for keys that come all at once
				p.App.Show(app.EnterCode)
				if got := enter("digit_1", "471"); got != "entered 3 characters into textbox, in 3 fields" {
					t.Error(got)
				}
				enter("digit_4", "1")
				if !p.App.SignedIn() {
					t.Error("the code was not entered")
				}
			}
			p.App.Show(app.Profile)
			if got := enter("phone", "5550100100"); !strings.HasSuffix(got, `, which shows "(555) 010-0100"`) {
				t.Error(got)
			}
			enter("pin", "34")
			does(t, s, "eraseText", map[string]any{"charactersToErase": 1})
			enter("name", "Grace")
			does(t, s, "tap", map[string]any{"id": "save_profile"})
			name := "Grace"
			if server == "" {
				name = p.App.Profile()[1] // the dump shows the placeholder as content
			}
			if diff := cmp.Diff([]string{"(555) 010-0100", name, "123"}, p.App.Profile()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			does(t, s, "tap", map[string]any{"id": "pin"})
			if r := call(t, s, "inputText", map[string]any{"text": "7890"}); r.OK || !strings.Contains(r.Text, `shows "••••••" after "•••••••" was entered`) {
				t.Error("a PIN that the field cuts:", r.Text)
			}
		})
	}
}

// Apps that fill the clipboard are as good as mobile_setClipboard: what was pasted is read from the field.
func TestPaste(t *testing.T) {
	t.Parallel()
	for name, level := range map[string]int{"Android 14": 34, "Android 9": 28} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := opened(t, phones.AndroidOptions{Server: serverVersion, Level: level})
			p.App.Show(app.Order)
			does(t, s, "tap", map[string]any{"id": "note"})
			if r := call(t, s, "mobile_pasteClipboard", nil); r.OK || !strings.Contains(r.Text, "did not change when the clipboard was pasted: it is empty") {
				t.Errorf("an empty clipboard: %v %s", r.OK, r.Text)
			}
			p.App.SetClipboard("one ")
			does(t, s, "mobile_pasteClipboard", nil)
			does(t, s, "mobile_setClipboard", map[string]any{"text": "two "})
			if got := does(t, s, "mobile_pasteClipboard", nil); got != `pasted into textbox "Note"` {
				t.Error(got)
			}
			p.App.SetClipboard("three")
			does(t, s, "mobile_pasteClipboard", nil)
			if text, _ := p.App.FocusedText(); text != "one two three" {
				t.Errorf("the field has %q", text)
			}
			p.App.Show(app.Profile)
			does(t, s, "tap", map[string]any{"id": "phone"})
			does(t, s, "mobile_setClipboard", map[string]any{"text": "5550100100"})
			does(t, s, "mobile_pasteClipboard", nil) // which the mask refuses
			if text, _ := p.App.FocusedText(); text != "(555) 010-0100" {
				t.Errorf("the field has %q", text)
			}
			does(t, s, "tap", map[string]any{"id": "pin"})
			does(t, s, "mobile_setClipboard", map[string]any{"text": "345678"})
			if r := call(t, s, "mobile_pasteClipboard", nil); r.OK || !strings.Contains(r.Text, `shows "••••••"`) {
				t.Error("a PIN that the field cuts:", r.Text)
			}
		})
	}
}

func TestClipboardIsReadWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	defer closeAll()
	p.App.SetClipboard("of an app")
	_, err := dr.Clipboard(within(t))
	wantFault(t, err, fault.ToolFailed, "shows the clipboard of "+p.Addr()+" only to the app in front", "mobile_pasteClipboard")
	if err := dr.SetClipboard(within(t), "日本\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := dr.Clipboard(within(t)); err != nil || text != "日本\n" || p.App.Clipboard() != text {
		t.Errorf("%q %v", text, err)
	}
}

// The server presses ENTER for a text that ends with a backslash and n, and takes requests of 64 KiB.
func TestTextsThatTheServerWouldChange(t *testing.T) {
	t.Parallel()
	p, s := opened(t, phones.AndroidOptions{Server: serverVersion})
	p.App.Show(app.SignIn)
	does(t, s, "tap", map[string]any{"id": "email"})
	const text = `ä C:\new\n`
	does(t, s, "inputText", map[string]any{"text": text, "hideKeyboardAfter": false})
	if got, _ := p.App.FocusedText(); got != text || slices.Contains(p.App.Keys(), app.KeyEnter) {
		t.Errorf("%q, keys %q", got, p.App.Keys())
	}
	long := strings.Repeat("x", 64<<10)
	for _, command := range []string{"inputText", "mobile_setClipboard"} {
		r := call(t, s, command, map[string]any{"text": long})
		if r.OK || !strings.Contains(r.Text, "the UiAutomator2 server takes up to about 64512") {
			t.Errorf("%s: %v %s", command, r.OK, r.Text)
		}
	}
	does(t, s, "inputText", map[string]any{"text": long[:60<<10], "hideKeyboardAfter": false})
}

// An app may use the id of the keyboard's area, and a notification of any app looks like a toast.
func TestWindowsThatAreMistakenForOthers(t *testing.T) {
	t.Parallel()
	p, s := opened(t, phones.AndroidOptions{Server: serverVersion, App: app.Options{InputArea: true, NoPrompt: true}})
	p.App.Show(app.Settings)
	does(t, s, "tap", map[string]any{"text": "Order updates"})
	p.App.Notify("Order shipped", 5)
	if got := does(t, s, "assertVisible", map[string]any{"text": "Order shipped"}); !strings.HasSuffix(got, "is visible, as a toast or as a notification of any app") {
		t.Error(got)
	}
	p.App.Show(app.SignIn)
	does(t, s, "tap", map[string]any{"id": "email"})
	does(t, s, "tap", map[string]any{"text": "Sign in"}) // under the keyboard, which is seen as one
	if wrong := p.App.WrongTouches(); wrong > 0 || p.App.KeyboardShown() {
		t.Errorf("%d touches hit nothing", wrong)
	}
}
