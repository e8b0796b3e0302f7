package android

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
)

// dumpFile is where uiautomator writes on phones on which it cannot write to a terminal.
const dumpFile = "/sdcard/trailblaze-window.xml"

// readDump reads the screen without the server.
func (d *driver) readDump(ctx context.Context, o source.Options) (mobile.Screen, error) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.dump)
	defer cancel()
	data, err := d.dump(ctx)
	if err != nil {
		return mobile.Screen{}, err
	}
	out, err := runLine(ctx, d.Device, "wm size; dumpsys input_method; dumpsys window InputMethod")
	if err != nil {
		return mobile.Screen{}, d.wrap(err)
	}
	if width, height, ok := parseSize(out); ok { // a phone may be folded during a session
		o.Width, o.Height = width, height
	}
	result, err := source.Dump(data, o)
	if err != nil {
		return mobile.Screen{}, err
	}
	d.focused = focusedLength(result.Tree)
	if shown, _ := parseInputShown(out); shown {
		result.Keyboard = parseInputArea(out, o.Width, o.Height)
	}
	return appium.ScreenOf(result), nil
}

// dump returns what uiautomator writes. On phones on which it can write to a file only, it does so from the second
// dump on.
func (d *driver) dump(ctx context.Context) ([]byte, error) {
	lines := []string{
		"uiautomator dump /dev/tty",
		"uiautomator dump " + dumpFile + " >/dev/null && cat " + dumpFile + "; rm -f " + dumpFile,
	}
	if d.dumpsToFile {
		lines = lines[1:]
	}
	for {
		data, err := d.Exec(ctx, lines[0])
		switch {
		case err != nil:
			return nil, d.wrap(err)
		case bytes.Contains(data, []byte("<hierarchy")):
			d.dumpsToFile = len(lines) == 1
			return data, nil
		case len(lines) == 1 || !bytes.Contains(data, []byte("dumped to")):
			return nil, d.dumpFailure(string(data))
		}
		lines = lines[1:]
	}
}

// dumpFailure returns the error for what uiautomator wrote instead of a screen.
func (p *phone) dumpFailure(out string) error {
	switch {
	case strings.Contains(out, "idle state"):
		return fault.New(fault.ToolFailed, "Appium's UiAutomator2 server reads such a screen: "+p.noServerHint,
			"uiautomator dump on %s could not read the screen within 10s, because something on it moves all the time", p.Serial())
	case strings.Contains(out, "already registered"):
		return fault.New(fault.Device, "end it, such as Maestro, an Appium session or an inspector",
			"UiAutomation of %s is used by another program; one program at a time can use it", p.Serial())
	}
	return fault.New(fault.ToolFailed, "", "uiautomator dump on %s wrote no screen: %s", p.Serial(), outputText(out))
}

// input runs `input`, which acts. Its answer may be lost.
func (d *driver) input(ctx context.Context, words ...string) error {
	out, err := d.act(ctx, append([]string{"input"}, words...)...)
	if refused(out) {
		return fault.New(fault.ToolFailed, allowDebugging, "%s does not let adb touch the screen or type: %s", d.Serial(), outputText(out))
	}
	return err
}

// inputTouch performs a touch without the server: one finger, from one point to another.
func (d *driver) inputTouch(ctx context.Context, fingers []mobile.Finger) error {
	if len(fingers) != 1 || len(fingers[0].Path) == 0 || len(fingers[0].Path) > 2 {
		return d.withoutServer("a gesture with several fingers or directions")
	}
	f := fingers[0]
	if f.Taps > 1 { // each starts a process on the phone, which takes longer than the pause of a double tap may be
		return d.withoutServer("tapping twice")
	}
	from, to := f.Path[0], f.Path[len(f.Path)-1]
	points := []string{strconv.Itoa(from.X), strconv.Itoa(from.Y), strconv.Itoa(to.X), strconv.Itoa(to.Y)}
	const longPress = 400 * time.Millisecond // longer than a tap, and shorter than Android's long press
	switch {
	case len(f.Path) == 1 && f.Hold < longPress:
		return d.input(ctx, "tap", points[0], points[1])
	case len(f.Path) == 1:
		return d.input(ctx, append(append([]string{"swipe"}, points...), milliseconds(f.Hold))...)
	case f.Hold < longPress:
		return d.input(ctx, append(append([]string{"swipe"}, points...), milliseconds(d.swipeTime(f)))...)
	}
	return d.input(ctx, append(append([]string{"draganddrop"}, points...), milliseconds(f.Move))...)
}

// swipeTime returns how long `input swipe` moves a finger. It cannot hold the finger still before it lifts it. So one
// that is to rest moves slowly, after which content goes on by a few pixels only: 18 on a phone with 480 dots per inch.
func (d *driver) swipeTime(f mobile.Finger) time.Duration {
	if f.Rest == 0 {
		return f.Move
	}
	const wholeScreen = 6 * time.Second
	from, to := f.Path[0], f.Path[1]
	length := math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y)) / float64(max(d.info.Width, d.info.Height, 1))
	return max(f.Move, time.Duration(length*float64(wholeScreen)))
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// inputText types text as a keyboard does. `input text` can only send ASCII.
func (d *driver) inputText(ctx context.Context, text string) error {
	if err := d.checkInput(text); err != nil || text == "" {
		return err
	}
	return d.input(ctx, "text", strings.ReplaceAll(text, " ", "%s"))
}

// checkInput returns why `input text` cannot type a text.
func (d *driver) checkInput(text string) error {
	hint := "this field did not take it as a whole; give it a text that consists of such characters"
	if d.server == nil {
		hint = "enter it as a whole, which needs Appium's UiAutomator2 server: " + d.noServerHint
	}
	for _, r := range text {
		if r < ' ' || r > '~' {
			return fault.New(fault.ToolFailed, hint,
				"%q cannot be typed key by key on Android, because %q is not a printable ASCII character", shorten(text, 100), r)
		}
	}
	if strings.Contains(text, "%s") {
		return fault.New(fault.ToolFailed, "", "%q cannot be typed key by key on Android, which reads %%s as a space", shorten(text, 100))
	}
	return nil
}

// inputReplace removes what the field held when the screen was read last, and types text.
func (d *driver) inputReplace(ctx context.Context, text string) error {
	if err := d.checkInput(text); err != nil {
		return err // before anything is removed
	}
	if d.focused > 0 {
		const moveToEnd, delete = "123", "67"
		keys := []string{"keyevent", moveToEnd}
		for range d.focused {
			keys = append(keys, delete)
		}
		if err := d.input(ctx, keys...); err != nil {
			return err
		}
		d.focused = 0
	}
	return d.inputText(ctx, text)
}
