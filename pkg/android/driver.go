package android

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image/png"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// driver is a phone during one session. It implements mobile.Driver.
type driver struct {
	*phone
	app     *apk // of the user's option; nil without one
	release func(ctx context.Context) error
	focused int // characters in the field with the focus when the screen was read last
	noted   bool
}

// Info implements mobile.Driver.
func (d *driver) Info() mobile.Info { return d.info }

// Read implements mobile.Driver.
func (d *driver) Read(ctx context.Context) (mobile.Screen, error) {
	o := source.Options{Width: d.info.Width, Height: d.info.Height}
	if d.server == nil {
		return d.readDump(ctx, o)
	}
	var text string
	err := d.server.read(ctx, "reading the screen", func(ctx context.Context, s *webdriver.Session) (err error) {
		text, err = s.Source(ctx)
		return err
	})
	if err != nil {
		return mobile.Screen{}, err
	}
	result, err := source.UIAutomator2([]byte(text), o)
	return mobile.Screen{Tree: result.Tree, Keyboard: result.Keyboard}, err
}

// Screenshot implements mobile.Driver.
func (d *driver) Screenshot(ctx context.Context) ([]byte, error) {
	data, err := d.Exec(ctx, "screencap -p")
	if err != nil {
		return nil, d.wrap(err)
	}
	if start := bytes.Index(data, []byte("\x89PNG\r\n\x1a\n")); start >= 0 {
		data = data[start:] // some phones write a warning before it
	} else {
		return nil, fault.New(fault.ToolFailed, "", "screencap on %s wrote no PNG: %s", d.Serial(), said(string(data[:min(len(data), 500)])))
	}
	if !d.noted && isBlack(data) {
		d.noted = true
		d.log("info", "the screenshot is black: the app forbids screenshots of this screen (FLAG_SECURE), or the screen is off", "")
	}
	return data, nil
}

// maxBlack is the size in bytes of the largest screenshot that may be black: one of a single colour is small.
const maxBlack = 64 << 10

// isBlack reports whether a PNG has one colour, which is black.
func isBlack(data []byte) bool {
	if len(data) > maxBlack {
		return false
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	const step = 4 // pixels
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += step {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += step {
			if r, g, b, _ := img.At(x, y).RGBA(); r|g|b != 0 {
				return false
			}
		}
	}
	return true
}

// Touch implements mobile.Driver.
func (d *driver) Touch(ctx context.Context, fingers ...mobile.Finger) error {
	if d.server == nil {
		return d.inputTouch(ctx, fingers)
	}
	sent := make([]webdriver.Finger, len(fingers))
	for i, f := range fingers {
		sent[i] = webdriver.Finger{Hold: f.Hold, Move: f.Move}
		for _, p := range f.Path {
			sent[i].Path = append(sent[i].Path, webdriver.Point{X: p.X, Y: p.Y})
		}
	}
	return d.server.act(ctx, "touching the screen", func(ctx context.Context, s *webdriver.Session) error {
		return s.Actions(ctx, sent...)
	})
}

// SetText implements mobile.Driver.
func (d *driver) SetText(ctx context.Context, text string) error {
	if d.server == nil {
		return d.inputReplace(ctx, text)
	}
	var element map[string]string
	err := d.server.read(ctx, "finding the field with the focus", func(ctx context.Context, s *webdriver.Session) error {
		return s.Get(ctx, "/element/active", &element)
	})
	if webdriver.HasCode(err, webdriver.NoSuchElement) {
		return fault.New(fault.ToolFailed, "tap the field first", "no field has the focus")
	}
	if err != nil {
		return err
	}
	id := element[elementKey]
	return d.server.act(ctx, "entering text", func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, "/element/"+id+"/value", map[string]any{"text": text, "replace": true}, nil)
	})
}

// elementKey is the key of an element's id in W3C WebDriver.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"

// Type implements mobile.Driver.
func (d *driver) Type(ctx context.Context, text string) error { return d.inputText(ctx, text) }

// keyCode returns Android's number of a key.
func keyCode(key mobile.Key) (int, bool) {
	code, ok := map[mobile.Key]int{
		mobile.Back: 4, mobile.Enter: 66, mobile.Home: 3, mobile.Backspace: 67, mobile.Tab: 61, mobile.Escape: 111,
	}[key]
	return code, ok
}

// Press implements mobile.Driver.
func (d *driver) Press(ctx context.Context, key mobile.Key) error {
	code, ok := keyCode(key)
	if !ok {
		return mobile.Unsupported(fmt.Sprintf("Android has no key %s", key), "")
	}
	if d.server == nil {
		return d.input(ctx, "keyevent", fmt.Sprint(code))
	}
	return d.server.act(ctx, "pressing "+string(key), func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, "/appium/device/press_keycode", map[string]any{"keycode": code}, nil)
	})
}

// HideKeyboard implements mobile.Driver. BACK hides a keyboard that is shown; without one it would leave the screen.
func (d *driver) HideKeyboard(ctx context.Context) error {
	out, err := d.run(ctx, "dumpsys", "input_method")
	if err != nil || !parseInputShown(out) {
		return err
	}
	return d.Press(ctx, mobile.Back)
}

// Clipboard implements mobile.Driver.
func (d *driver) Clipboard(ctx context.Context) (string, error) {
	if d.server == nil {
		return "", withoutServer("reading the clipboard")
	}
	var encoded string
	err := d.server.read(ctx, "reading the clipboard", func(ctx context.Context, s *webdriver.Session) error {
		return s.Post(ctx, "/appium/device/get_clipboard", map[string]any{"contentType": "plaintext"}, &encoded)
	})
	if err != nil {
		return "", err
	}
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(encoded, "\n", ""))
	if err != nil {
		return "", fault.Wrap(fault.ToolFailed, err, "", "reading the clipboard")
	}
	return string(text), nil
}

// SetClipboard implements mobile.Driver.
func (d *driver) SetClipboard(ctx context.Context, text string) error {
	if d.server == nil {
		return withoutServer("changing the clipboard")
	}
	return d.server.act(ctx, "changing the clipboard", func(ctx context.Context, s *webdriver.Session) error {
		content := base64.StdEncoding.EncodeToString([]byte(text))
		return s.Post(ctx, "/appium/device/set_clipboard", map[string]any{"contentType": "plaintext", "content": content}, nil)
	})
}

// withoutServer is the error for what needs the UiAutomator2 server.
func withoutServer(what string) error {
	return mobile.Unsupported(what+" needs Appium's UiAutomator2 server, which was not found", installServer+" installs it")
}

// SetNetwork implements mobile.Driver.
func (d *driver) SetNetwork(ctx context.Context, connected bool) error {
	if overNetwork(d.Serial()) && !connected {
		return mobile.Unsupported(
			d.Serial()+" is connected through its network, which cannot be disconnected", "connect it with a cable")
	}
	out, err := d.run(ctx, "settings", "get", "global", "airplane_mode_on")
	if err != nil {
		return err
	}
	words := map[bool]string{true: "enabled", false: "disabled"}
	before := setting{airplaneMode, words[strings.TrimSpace(out) == "1"]}
	after := setting{airplaneMode, words[!connected]}
	if d.api >= firstAirplaneMode {
		return d.wrap(d.changes.set(ctx, before, after))
	}
	for _, network := range []struct{ key, setting string }{{wifi, "wifi_on"}, {mobileData, "mobile_data"}} {
		out, err := d.run(ctx, "settings", "get", "global", network.setting)
		if err != nil {
			return err
		}
		verbs := map[bool]string{true: "enable", false: "disable"}
		was := strings.TrimSpace(out) == "1"
		if err := d.changes.set(ctx, setting{network.key, verbs[was]}, setting{network.key, verbs[connected]}); err != nil {
			return d.wrap(err)
		}
	}
	return nil
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
	return d.run(ctx, argv...)
}

// Close implements mobile.Driver. The phone stays prepared for the next session of the run.
func (d *driver) Close(ctx context.Context) error {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.limits.close)
	defer cancel()
	err := d.changes.putBack(closing, airplaneMode, wifi, mobileData)
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
func (d *driver) wrap(err error) error { return disconnected(d.Serial(), err) }

// focusedLength returns the length of the text in the field that has the focus.
func focusedLength(t *screen.Tree) int {
	i := slices.IndexFunc(t.Nodes(), func(n *screen.Node) bool { return n.Focused && n.Text != nil })
	if i < 0 {
		return 0
	}
	return len([]rune(*t.Nodes()[i].Text))
}

var _ mobile.Driver = (*driver)(nil)
