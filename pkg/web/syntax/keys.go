package syntax

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Key is a key of an American keyboard.
type Key struct {
	name, code string
	keyCode    int    // the Windows virtual key code, which scripts see as keyCode
	text       string // the text that it types; may be empty
	location   int
}

func (k Key) event(kind string, modifiers int) map[string]any {
	return map[string]any{
		"type":                  kind,
		"key":                   k.name,
		"code":                  k.code,
		"windowsVirtualKeyCode": k.keyCode,
		"modifiers":             modifiers,
		"location":              k.location,
	}
}

// Down returns the parameters of the event that presses the key, with the bits of the modifiers that are held down.
func (k Key) Down(modifiers int) map[string]any { return k.down(modifiers, runtime.GOOS) }

func (k Key) down(modifiers int, goos string) map[string]any {
	if k.text == "" || modifiers&^shift != 0 {
		event := k.event("rawKeyDown", modifiers)
		if does := editingCommand(k.code, modifiers); goos == "darwin" && does != "" {
			event["commands"] = []string{does}
		}
		return event
	}
	event := k.event("keyDown", modifiers)
	event["text"], event["unmodifiedText"] = k.text, k.text
	return event
}

// Up returns the parameters of the event that releases the key.
func (k Key) Up(modifiers int) map[string]any { return k.event("keyUp", modifiers) }

// The bits of modifiers in the protocol.
const (
	alt = 1 << iota
	control
	meta
	shift
)

// Modifier is the bit of a modifier key, 0 for other keys.
func (k Key) Modifier() int {
	switch k.name {
	case "Alt":
		return alt
	case "Control":
		return control
	case "Meta":
		return meta
	case "Shift":
		return shift
	}
	return 0
}

// specialKeys are the keys that type no text, or whose name is not their text.
func specialKeys() []Key {
	keys := []Key{
		{"Enter", "Enter", 13, "\r", 0},
		{"Tab", "Tab", 9, "", 0},
		{"Escape", "Escape", 27, "", 0},
		{"Backspace", "Backspace", 8, "", 0},
		{"Delete", "Delete", 46, "", 0},
		{"Insert", "Insert", 45, "", 0},
		{"Home", "Home", 36, "", 0},
		{"End", "End", 35, "", 0},
		{"PageUp", "PageUp", 33, "", 0},
		{"PageDown", "PageDown", 34, "", 0},
		{"ArrowLeft", "ArrowLeft", 37, "", 0},
		{"ArrowUp", "ArrowUp", 38, "", 0},
		{"ArrowRight", "ArrowRight", 39, "", 0},
		{"ArrowDown", "ArrowDown", 40, "", 0},
		{"Shift", "ShiftLeft", 16, "", 1},
		{"Control", "ControlLeft", 17, "", 1},
		{"Alt", "AltLeft", 18, "", 1},
		{"Meta", "MetaLeft", 91, "", 1},
		{"CapsLock", "CapsLock", 20, "", 0},
		{"ContextMenu", "ContextMenu", 93, "", 0},
		{" ", "Space", 32, " ", 0},
	}
	for i, name := range strings.Fields("F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12") {
		keys = append(keys, Key{name, name, 112 + i, "", 0})
	}
	return keys
}

// otherKeys are those that only their code names.
func otherKeys() []Key {
	keys := []Key{
		{"Shift", "ShiftRight", 16, "", 2},
		{"Control", "ControlRight", 17, "", 2},
		{"Alt", "AltRight", 18, "", 2},
		{"Meta", "MetaRight", 92, "", 2},
		{"Enter", "NumpadEnter", 13, "\r", 3},
		{"*", "NumpadMultiply", 106, "*", 3},
		{"+", "NumpadAdd", 107, "+", 3},
		{"-", "NumpadSubtract", 109, "-", 3},
		{".", "NumpadDecimal", 110, ".", 3},
		{"/", "NumpadDivide", 111, "/", 3},
	}
	for i := range 10 {
		digit := strconv.Itoa(i)
		keys = append(keys, Key{digit, "Numpad" + digit, 96 + i, digit, 3})
	}
	for _, r := range plainKeys {
		k, _ := KeyOf(r)
		keys = append(keys, k)
	}
	return keys
}

// The characters of keys, without Shift and with Shift.
const (
	plainKeys   = "`1234567890-=[]\\;',./"
	shiftedKeys = "~!@#$%^&*()_+{}|:\"<>?"
)

// KeyOf returns the key that types a character; ok is false when there is none.
func KeyOf(r rune) (k Key, ok bool) {
	text := string(r)
	switch {
	case r == '\n' || r == '\r':
		return specialKeys()[0], true
	case r == ' ':
		return Key{" ", "Space", 32, " ", 0}, true
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		upper := unicode.ToUpper(r)
		return Key{text, "Key" + string(upper), int(upper), text, 0}, true
	case r >= '0' && r <= '9':
		return Key{text, "Digit" + text, int(r), text, 0}, true
	}
	i := strings.IndexRune(plainKeys, r)
	if i < 0 {
		i = strings.IndexRune(shiftedKeys, r)
	}
	if r >= utf8.RuneSelf || i < 0 {
		return Key{}, false
	}
	codes := strings.Fields(
		`Backquote Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0 Minus Equal BracketLeft
		BracketRight Backslash Semicolon Quote Comma Period Slash`,
	)
	numbers := []int{192, 49, 50, 51, 52, 53, 54, 55, 56, 57, 48, 189, 187, 219, 221, 220, 186, 222, 188, 190, 191}
	return Key{text, codes[i], numbers[i], text, 0}, true
}

// ParseKeys reads a key with the modifiers that are held down, as in Control+Shift+A. The case of names does not
// matter.
func ParseKeys(text string) (held []Key, k Key, err error) {
	parts := strings.Split(text, "+")
	if strings.HasSuffix(text, "++") || text == "+" { // the plus itself
		parts = append(strings.Split(strings.TrimSuffix(strings.TrimSuffix(text, "+"), "+"), "+"), "+")
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	}
	for i, part := range parts {
		k, err = KeyNamed(part)
		if err != nil {
			return nil, Key{}, err
		}
		if i == len(parts)-1 {
			break
		}
		if k.Modifier() == 0 {
			return nil, Key{}, fault.New(fault.InvalidArguments, "hold Control, Shift, Alt or Meta, as in Control+A",
				"key: %q is not a modifier key", part)
		}
		held = append(held, k)
	}
	return held, k, nil
}

// KeyNamed returns the key with a name such as Enter, ctrl, KeyA, Minus, Numpad1 or a. The error is of kind InvalidArguments.
func KeyNamed(name string) (Key, error) {
	var names []string
	switch strings.ToLower(name) {
	case "space":
		name = " "
	case "esc":
		name = "Escape"
	case "return":
		name = "Enter"
	case "ctrl":
		name = "Control"
	case "controlormeta":
		name = controlOrMeta(runtime.GOOS)
	case "cmd", "command":
		name = "Meta"
	}
	for _, k := range specialKeys() {
		if strings.EqualFold(k.name, name) || strings.EqualFold(k.code, name) {
			return k, nil
		}
		names = append(names, k.name)
	}
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && size > 0 {
		if k, ok := KeyOf(r); ok {
			return k, nil
		}
		return Key{name, "", 0, name, 0}, nil
	}
	if code, ok := strings.CutPrefix(name, "Key"); ok && len(code) == 1 {
		return KeyNamed(strings.ToLower(code))
	}
	for _, k := range otherKeys() {
		if strings.EqualFold(k.code, name) {
			return k, nil
		}
	}
	hint := fault.DidYouMean(name, names)
	return Key{}, fault.New(fault.InvalidArguments, hint, "key: unknown key %q", name)
}

// controlOrMeta is the key of shortcuts on a system.
func controlOrMeta(goos string) string {
	if goos == "darwin" {
		return "Meta"
	}
	return "Control"
}

// Press returns the parameters of the events that press and release the key while others are held down.
func (k Key) Press(held []Key) []map[string]any {
	var events []map[string]any
	modifiers := 0
	for _, h := range held {
		modifiers |= h.Modifier()
		events = append(events, h.Down(modifiers))
	}
	if modifiers&shift != 0 {
		k = k.shifted()
	}
	events = append(events, k.Down(modifiers|k.Modifier()), k.Up(modifiers))
	for _, h := range slices.Backward(held) {
		modifiers &^= h.Modifier()
		events = append(events, h.Up(modifiers))
	}
	return events
}

// shifted returns the key with the text that it types while Shift is held down.
func (k Key) shifted() Key {
	if len(k.name) != 1 || k.text == "" {
		return k
	}
	if i := strings.Index(plainKeys, k.text); i >= 0 {
		k.text = shiftedKeys[i : i+1]
	} else {
		k.text = strings.ToUpper(k.text)
	}
	k.name = k.text
	return k
}
