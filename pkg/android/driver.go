package android

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// driver is a phone during one session. It implements mobile.Driver.
type driver struct {
	*phone
	app      *apk // of the user's option; nil without one
	replaced bool // by another APK of that app, which the session has installed
	env      []string
	locked   bool // by the session

	recording *recording // nil without one
	release   func(ctx context.Context) error
	focused   int // characters in the field with the focus when the screen was read last
	// clipboard is the text of the clipboard that the session has set; nil if it has set none.
	clipboard *string
}

// Info implements mobile.Driver.
func (d *driver) Info() mobile.Info { return d.info }

// Read implements mobile.Driver.
func (d *driver) Read(ctx context.Context) (mobile.Screen, error) {
	if d.server == nil {
		return d.readDump(ctx, d.sourceOptions())
	}
	result, err := d.source(ctx, d.sourceOptions())
	return appium.ScreenOf(result), err
}

// ReadCells implements mobile.CellReader.
func (d *driver) ReadCells(ctx context.Context) (mobile.Screen, error) {
	if d.server == nil {
		return d.Read(ctx)
	}
	reader := appium.CellReader{Source: d.source, Call: d.server.read, Strategy: "strategy", Selector: "selector"}
	result, err := reader.Read(ctx, d.sourceOptions())
	return appium.ScreenOf(result), err
}

func (d *driver) sourceOptions() source.Options {
	o := appium.SourceOptions(d.info)
	o.InputMethods = d.inputMethods
	return o
}

// source returns the screen that the server reads.
func (d *driver) source(ctx context.Context, o source.Options) (source.Result, error) {
	var text string
	err := d.server.read(ctx, "reading the screen", func(ctx context.Context, s *webdriver.Session) (err error) {
		text, err = s.Source(ctx)
		return err
	})
	if err != nil {
		return source.Result{}, err
	}
	return source.UIAutomator2([]byte(text), o)
}

// Screenshot implements mobile.Driver. The picture is that of the server, which has the screen that it reads: screencap
// takes the first one, which is black on a phone that is folded. What the server cannot show, screencap may.
func (d *driver) Screenshot(ctx context.Context) (data []byte, err error) {
	if d.server != nil && !d.server.unresponsive {
		limited, cancel := context.WithTimeout(ctx, d.limits.picture)
		err = d.server.read(limited, "taking a picture", func(ctx context.Context, s *webdriver.Session) error {
			data, err = s.Screenshot(ctx)
			return err
		})
		cancel()
		if err == nil || ctx.Err() != nil || fault.KindOf(err) == fault.Crashed {
			return data, err
		}
	}
	return d.screencap(ctx)
}

// screencap takes a picture without the server.
func (d *driver) screencap(ctx context.Context) ([]byte, error) {
	data, err := d.Exec(ctx, "screencap -p")
	if err != nil {
		return nil, d.wrap(err)
	}
	start := bytes.Index(data, []byte("\x89PNG\r\n\x1a\n"))
	if start < 0 {
		return nil, fault.New(fault.ToolFailed, "", "screencap on %s wrote no PNG: %s", d.Serial(), outputText(string(data[:min(len(data), 500)])))
	}
	return data[start:], nil // some phones write a warning before it
}

// Touch implements mobile.Driver.
func (d *driver) Touch(ctx context.Context, fingers ...mobile.Finger) error {
	if d.server == nil {
		return d.inputTouch(ctx, fingers)
	}
	return d.server.act(ctx, "touching the screen", func(ctx context.Context, s *webdriver.Session) error {
		return s.Actions(ctx, appium.Fingers(fingers)...)
	})
}

// SetText implements mobile.Driver.
func (d *driver) SetText(ctx context.Context, text string) error {
	if d.server == nil {
		return d.inputReplace(ctx, text)
	}
	if err := appium.CheckLength(text); err != nil {
		return err
	}
	text, rest := appium.CutEnter(text)
	var field string
	err := d.server.read(ctx, "finding the field with the focus", func(ctx context.Context, s *webdriver.Session) (err error) {
		field, err = s.ActiveElement(ctx)
		return err
	})
	if webdriver.HasCode(err, webdriver.NoSuchElement) {
		return appium.NoFocus()
	}
	if err != nil {
		return err
	}
	err = d.server.act(ctx, "entering text", func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, field+"/value", map[string]any{"text": text, "replace": true}, nil)
	})
	if err != nil {
		return err
	}
	return d.Type(ctx, rest)
}

// Type implements mobile.Driver.
func (d *driver) Type(ctx context.Context, text string) error { return d.inputText(ctx, text) }

// Press implements mobile.Driver.
func (d *driver) Press(ctx context.Context, key mobile.Key) error {
	code, err := appium.KeyCode(key)
	if err != nil {
		return err
	}
	if d.server == nil {
		return d.input(ctx, "keyevent", fmt.Sprint(code))
	}
	return d.server.act(ctx, "pressing "+string(key), func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, "/appium/device/press_keycode", map[string]any{"keycode": code}, nil)
	})
}

// HideKeyboard implements mobile.Driver. Both keys hide a keyboard that is shown, and leave the screen without one.
// Keyboards that ignore ESCAPE know BACK; apps that handle BACK before the keyboard does seldom know ESCAPE.
func (d *driver) HideKeyboard(ctx context.Context) error {
	shown, front, err := d.keyboard(ctx)
	keys := []mobile.Key{mobile.Escape, mobile.Back}
	if d.ignoresEscape || shown && d.isDialog(ctx, front.window) {
		keys = keys[1:]
	}
	for _, key := range keys {
		if err != nil || !shown {
			return err
		}
		if err := d.Press(ctx, key); err != nil {
			return err
		}
		shown, err = d.awaitHidden(ctx, key, front)
		d.ignoresEscape = err == nil && !shown && key == mobile.Back
	}
	if err == nil && shown {
		err = mobile.ErrKeyboardStays
	}
	return err
}

// inFront is what a key that hides the keyboard must not leave.
type inFront struct {
	activity string // empty for none
	window   string // that has the focus, such as that of a dialog of the activity; empty if it is not known
	out      string // of dumpsys, which has the tasks
}

// awaitHidden waits until the keyboard is hidden by a key, and reports whether it is still shown. It fails if the key
// has left what was in front. An app that goes on by itself leaves its keyboard, too; its activity stays below the next
// one.
func (d *driver) awaitHidden(ctx context.Context, key mobile.Key, front inFront) (bool, error) {
	const hint = "hide it in another way, such as by a tap beside the field, and use hideKeyboardAfter: false"
	hidden, err := act.Await(ctx, d.limits.hide, d.limits.poll, func() (bool, error) {
		shown, now, err := d.keyboard(ctx)
		switch {
		case err != nil:
		case now.activity != front.activity && isBelow(now.out, front.activity, now.activity):
			return true, nil
		case now.activity != front.activity:
			err = fault.New(fault.ToolFailed, hint,
				"the key %s, which hides the keyboard, has left %s; %s is in front", key, front.activity, cmp.Or(now.activity, "nothing"))
		case now.window != front.window:
			err = fault.New(fault.ToolFailed, hint,
				"the key %s, which hides the keyboard, has closed the window of the field, such as a dialog", key)
		}
		return !shown, err
	})
	return !hidden, err
}

// isDialog reports whether the window with the focus is a dialog: those of Android close at ESCAPE, while BACK goes to the
// keyboard first (AOSP core/java/android/app/Dialog.java, onKeyUp). The phone is asked once for each window.
func (d *driver) isDialog(ctx context.Context, window string) bool {
	is, known := d.dialogs[window]
	if window == "" || known {
		return is
	}
	out, err := runLine(ctx, d.Device, "dumpsys window")
	if err != nil {
		return false // what the key closes is an error all the same
	}
	if d.dialogs == nil {
		d.dialogs = map[string]bool{}
	}
	d.dialogs[window] = parseFocusIsDialog(out)
	return d.dialogs[window]
}

// keyboard reports whether a keyboard is known to be on the screen, and returns what is in front.
func (d *driver) keyboard(ctx context.Context) (shown bool, front inFront, err error) {
	out, err := runLine(ctx, d.Device, "dumpsys input_method; dumpsys activity activities")
	if activities := resumedActivities(out); len(activities) > 0 {
		front.activity = activities[0]
	}
	front.window, front.out = parseFocusedWindow(out), out
	if err != nil {
		return false, front, d.wrap(err)
	}
	shown, known := parseInputShown(out)
	switch {
	case known:
		return shown, front, nil
	case d.server == nil: // the dump does not have the window of the keyboard either
		return false, front, mobile.ErrKeyboardStays
	}
	seen, err := d.Read(ctx)
	return seen.Keyboard != nil, front, err
}

// Clipboard implements mobile.Driver.
func (d *driver) Clipboard(ctx context.Context) (string, error) {
	switch readable := d.api < firstPrivateClipboard; {
	case d.server == nil:
		return "", d.withoutServer("reading the clipboard")
	case !readable && d.clipboard != nil:
		return *d.clipboard, nil
	case !readable:
		return "", mobile.Unsupported(fmt.Sprintf("Android shows the clipboard of %s only to the app in front, and this session has not set it",
			d.Serial()), "paste it into a field with mobile_pasteClipboard")
	}
	var encoded string
	err := d.server.read(ctx, "reading the clipboard", func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, "/appium/device/get_clipboard", map[string]any{"contentType": "plaintext"}, &encoded)
	})
	if err != nil {
		return "", err
	}
	text, err := base64.StdEncoding.DecodeString(encoded) // which ignores line breaks
	if err != nil {
		return "", fault.Wrap(fault.ToolFailed, err, "", "reading the clipboard")
	}
	return string(text), nil
}

// firstPrivateClipboard is the first API level on which only the app in front and the keyboard can read the clipboard.
const firstPrivateClipboard = 29

// SetClipboard implements mobile.Driver.
func (d *driver) SetClipboard(ctx context.Context, text string) error {
	if d.server == nil {
		return d.withoutServer("changing the clipboard")
	}
	content := base64.StdEncoding.EncodeToString([]byte(text))
	if err := appium.CheckLength(content); err != nil {
		return err
	}
	err := d.server.act(ctx, "changing the clipboard", func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, "/appium/device/set_clipboard", map[string]any{"contentType": "plaintext", "content": content}, nil)
	})
	if err == nil {
		d.clipboard = &text
	}
	return err
}

// SetNetwork implements mobile.Driver.
func (d *driver) SetNetwork(ctx context.Context, connected bool) error {
	if overNetwork(d.Serial()) && !connected {
		return mobile.Unsupported(
			d.Serial()+" is connected through its network, which cannot be disconnected", "connect it with a cable")
	}
	if d.api < firstAirplaneMode {
		return d.switchNetworks(ctx, connected, wifi, mobileData)
	}
	out, err := d.run(ctx, "settings", "get", "global", "airplane_mode_on")
	if err != nil {
		return err
	}
	words := map[bool]string{true: "enabled", false: "disabled"}
	was := strings.TrimSpace(out) == "1"
	if err := d.changes.set(ctx, setting{airplaneMode, words[was]}, setting{airplaneMode, words[!connected]}); err != nil {
		return d.unconfirmedError(err)
	}
	return d.followAirplaneMode(ctx, connected, was == connected)
}

// followAirplaneMode switches what airplane mode leaves as it was: Wi-Fi that the phone keeps on in it (AOSP,
// WifiSettingsStore), or all networks if they are off without it. If the mode has changed, Wi-Fi has some time to follow.
func (d *driver) followAirplaneMode(ctx context.Context, connected, changed bool) error {
	limit := time.Duration(0)
	if changed {
		limit = d.limits.network
	}
	follows, err := act.Await(ctx, limit, d.limits.poll, func() (bool, error) {
		on, err := d.isOn(ctx, wifi)
		return on == connected, err
	})
	if follows || err != nil {
		return err
	}
	if !connected {
		return d.switchNetworks(ctx, connected, wifi)
	}
	switched := slices.ContainsFunc(d.changes.original, func(s setting) bool { return s.key == wifi })
	if data, err := d.isOn(ctx, mobileData); err != nil || data && !switched {
		return err // whose phone it is has Wi-Fi off
	}
	return d.switchNetworks(ctx, connected, wifi, mobileData)
}

// switchNetworks connects Wi-Fi or mobile data, or disconnects them.
func (d *driver) switchNetworks(ctx context.Context, connected bool, networks ...string) error {
	verbs := map[bool]string{true: "enable", false: "disable"}
	for _, network := range networks {
		was, err := d.isOn(ctx, network)
		if err != nil {
			return err
		}
		if err := d.changes.set(ctx, setting{network, verbs[was]}, setting{network, verbs[connected]}); err != nil {
			return d.unconfirmedError(err)
		}
	}
	return nil
}

// isOn reports whether Wi-Fi or mobile data is on.
func (d *driver) isOn(ctx context.Context, network string) (bool, error) {
	out, err := d.run(ctx, "settings", "get", "global", map[string]string{wifi: "wifi_on", mobileData: "mobile_data"}[network])
	const on, inAirplaneMode = "1", "2" // of Wi-Fi, which has more values
	return slices.Contains([]string{on, inAirplaneMode}, strings.TrimSpace(out)), err
}

// firstAirplaneMode is the first API level with `cmd connectivity airplane-mode`.
const firstAirplaneMode = 30

// overNetwork reports whether a serial is the address of a phone on a network, not of this machine.
func overNetwork(serial string) bool {
	host, _, isAddress := strings.Cut(serial, ":")
	return strings.Contains(serial, "._adb-tls-connect.") || isAddress && host != "127.0.0.1" && host != "localhost"
}

// Shell implements mobile.Driver.
func (d *driver) Shell(ctx context.Context, argv []string) (string, error) {
	return d.act(ctx, argv...)
}

// Close implements mobile.Driver. The phone stays prepared for the next session of the run.
func (d *driver) Close(ctx context.Context) error {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.limits.close)
	defer cancel()
	d.endRecording(closing)
	d.unlockEarlier(closing)
	err := d.changes.putBackSession(closing)
	if d.replaced {
		d.app.checked = false
	}
	if released := d.release(closing); err == nil || released != nil {
		err = released
	}
	return err
}

// run runs a command on the phone.
func (d *driver) run(ctx context.Context, words ...string) (string, error) {
	out, err := run(ctx, d.Device, words...)
	return out, d.wrap(err)
}

// runAny is [run] for commands whose status does not matter.
func (d *driver) runAny(ctx context.Context, words ...string) (string, error) {
	out, _, err := runAny(ctx, d.Device, words...)
	return out, d.wrap(err)
}

// wrap returns an error of kind Crashed, which ends the session, when the phone cannot be reached any more.
func (d *driver) wrap(err error) error { return disconnectedError(d.Serial(), err) }

// focusedLength returns the length of the text in the field that has the focus.
func focusedLength(t *screen.Tree) int {
	i := slices.IndexFunc(t.Nodes(), func(n *screen.Node) bool { return n.Focused && n.Text != nil })
	if i < 0 {
		return 0
	}
	return len([]rune(*t.Nodes()[i].Text))
}

var (
	_ mobile.Driver     = (*driver)(nil)
	_ mobile.CellReader = (*driver)(nil)
	_ mobile.LockReader = (*driver)(nil)
)
