package phones

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// input sends touches, text and keys.
func input(c *call) int {
	args := c.args[1:]
	if len(args) > 0 && (args[0] == "touchscreen" || args[0] == "keyboard") {
		args = args[1:]
	}
	if len(args) == 0 {
		c.errorf("Error: Invalid arguments\n")
		return 255
	}
	if c.phone.options.RefuseInput {
		c.errorf("\nException occurred while executing '%s':\njava.lang.SecurityException: Injecting input events requires the "+
			"caller (or the source of the instrumentation, if any) to have the INJECT_EVENTS permission.\n", args[0])
		return 255
	}
	switch args[0] {
	case "tap", "swipe", "draganddrop":
		numbers, ok := readNumbers(args[1:])
		if !ok || len(numbers) < 2 || args[0] != "tap" && len(numbers) < 4 {
			c.errorf("Error: Invalid arguments for command: %s\n", args[0])
			return 255
		}
		c.phone.App.Touch(inputFinger(args[0], numbers))
		return 0
	case "text":
		text := strings.ReplaceAll(strings.Join(args[1:], " "), "%s", " ")
		if c.phone.Setting("secure", "default_input_method") == unicodeIME {
			text = decodeUTF7(text)
		}
		_ = c.phone.App.Type(text) // without focus it is lost
		return 0
	case "keyevent":
		for _, key := range args[1:] {
			if key != "--longpress" {
				c.phone.press(key)
			}
		}
		return 0
	}
	c.unknown()
	c.errorf("Error: Unknown command: %s\n", args[0])
	return 255
}

func readNumbers(args []string) ([]int, bool) {
	var numbers []int
	for _, a := range args {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, int(n))
	}
	return numbers, true
}

// inputFinger returns the touch of `input tap` or `input swipe`. A swipe that stays where it is, is a long press. Others
// lift the finger while it moves, as sendSwipe of Android's InputShellCommand.java does.
func inputFinger(command string, n []int) app.Finger {
	start := screen.Point{X: n[0], Y: n[1]}
	if command == "tap" {
		return app.Finger{Path: []screen.Point{start}}
	}
	duration := 300 * time.Millisecond
	if len(n) > 4 {
		duration = time.Duration(n[4]) * time.Millisecond
	}
	finger := app.Finger{Path: []screen.Point{start, {X: n[2], Y: n[3]}}, Last: duration}
	if start == finger.Path[1] {
		return app.Finger{Path: finger.Path[:1], Hold: duration}
	}
	return finger
}

// press presses a key by its number or its name.
func (p *Android) press(key string) {
	key = strings.TrimPrefix(key, "KEYCODE_")
	switch key {
	case "224", "WAKEUP":
		p.App.SetAsleep(false)
		return
	case "26", "POWER":
		if p.App.Asleep() {
			p.App.SetAsleep(false)
			return
		}
		fallthrough
	case "223", "SLEEP":
		p.App.SetAsleep(true)
		p.App.SetLocked(true)
		return
	}
	known := map[string]string{
		"3": app.KeyHome, "HOME": app.KeyHome, "4": app.KeyBack, "BACK": app.KeyBack, "61": app.KeyTab, "TAB": app.KeyTab,
		"66": app.KeyEnter, "ENTER": app.KeyEnter, "67": app.KeyBackspace, "DEL": app.KeyBackspace,
		"111": app.KeyEscape, "ESCAPE": app.KeyEscape,
		"279": app.KeyPaste, "PASTE": app.KeyPaste,
	}
	if name, ok := known[key]; ok {
		p.App.Press(name)
		return
	}
	if n, err := strconv.Atoi(key); err == nil {
		if c := keyCharacter(n); c != "" {
			_ = p.App.Type(c) // without focus it is lost
			return
		}
	}
	p.App.Press(key)
}

// keyCharacter returns what a key code types.
func keyCharacter(code int) string {
	switch {
	case code >= 7 && code <= 16:
		return string(rune('0' + code - 7))
	case code >= 29 && code <= 54:
		return string(rune('a' + code - 29))
	case code == 62:
		return " "
	}
	return ""
}

// decodeUTF7 decodes the UTF-7 of IMAP, with which Appium sends text to its input method. What is not encoded stays.
func decodeUTF7(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "&")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		encoded, after, _ := strings.Cut(rest, "-")
		s = after
		if encoded == "" {
			b.WriteString("&")
			continue
		}
		data, _ := base64.RawStdEncoding.DecodeString(strings.ReplaceAll(encoded, ",", "/"))
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(data[2*i:])
		}
		b.WriteString(string(utf16.Decode(units)))
	}
}
