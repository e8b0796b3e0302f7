package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Input events are sent to the page; the browser finds the frame. All events of an action are sent before the first
// response is awaited, so that scripts run between two of them only in response to the first.

// input sends events with one method.
func (p *page) input(ctx context.Context, method string, events ...map[string]any) error {
	calls := make([]inputEvent, len(events))
	for i, event := range events {
		calls[i] = inputEvent{method, event}
	}
	return p.sendInput(ctx, calls...)
}

// sendInput sends events. An event that closes the page has been received.
func (p *page) sendInput(ctx context.Context, events ...inputEvent) error {
	waits := make([]func(context.Context, any) error, len(events))
	for i, event := range events {
		waits[i] = p.main().session.Send(event.method, event.params)
	}
	for _, wait := range waits {
		if err := wait(ctx, nil); err != nil && !errors.Is(err, cdp.ErrDetached) {
			return err
		}
	}
	return nil
}

// moveMouse moves the mouse to a point.
func (p *page) moveMouse(ctx context.Context, x, y float64) error {
	return p.sendInput(ctx, mouseEvent("mouseMoved", x, y, "none", 0, 0, 0))
}

// insertText replaces the selection in the element with the focus, as pasting does.
func (p *page) insertText(ctx context.Context, text string) error {
	return p.input(ctx, "Input.insertText", map[string]any{"text": text})
}

// typeKeys types text with key events for each character of an American keyboard, and inserts other characters.
func (p *page) typeKeys(ctx context.Context, text string) error {
	var events []map[string]any
	flush := func() error {
		err := p.input(ctx, "Input.dispatchKeyEvent", events...)
		events = nil
		return err
	}
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if k, ok := keyOf(r); ok {
			events = append(events, k.down(0), k.up(0))
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := p.insertText(ctx, string(r)); err != nil {
			return err
		}
	}
	return flush()
}

// key is a key of an American keyboard.
type key struct {
	name, code string
	keyCode    int    // the Windows virtual key code, which scripts see as keyCode
	text       string // the text that it types; may be empty
	location   int
}

func (k key) event(kind string, modifiers int) map[string]any {
	return map[string]any{
		"type":                  kind,
		"key":                   k.name,
		"code":                  k.code,
		"windowsVirtualKeyCode": k.keyCode,
		"modifiers":             modifiers,
		"location":              k.location,
	}
}

func (k key) down(modifiers int) map[string]any {
	if k.text == "" || modifiers&^shift != 0 {
		return k.event("rawKeyDown", modifiers)
	}
	event := k.event("keyDown", modifiers)
	event["text"], event["unmodifiedText"] = k.text, k.text
	return event
}

func (k key) up(modifiers int) map[string]any { return k.event("keyUp", modifiers) }

// The bits of modifiers in the protocol.
const (
	alt = 1 << iota
	control
	meta
	shift
)

// modifier is the bit of a modifier key, 0 for other keys.
func (k key) modifier() int {
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
func specialKeys() []key {
	keys := []key{
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
		keys = append(keys, key{name, name, 112 + i, "", 0})
	}
	return keys
}

// The characters of keys, without Shift and with Shift.
const (
	plainKeys   = "`1234567890-=[]\\;',./"
	shiftedKeys = "~!@#$%^&*()_+{}|:\"<>?"
)

// keyOf returns the key that types a character; ok is false when there is none.
func keyOf(r rune) (k key, ok bool) {
	text := string(r)
	switch {
	case r == '\n' || r == '\r':
		return specialKeys()[0], true
	case r == ' ':
		return key{" ", "Space", 32, " ", 0}, true
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		upper := unicode.ToUpper(r)
		return key{text, "Key" + string(upper), int(upper), text, 0}, true
	case r >= '0' && r <= '9':
		return key{text, "Digit" + text, int(r), text, 0}, true
	}
	i := strings.IndexRune(plainKeys, r)
	if i < 0 {
		i = strings.IndexRune(shiftedKeys, r)
	}
	if r >= utf8.RuneSelf || i < 0 {
		return key{}, false
	}
	codes := strings.Fields(
		`Backquote Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0 Minus Equal BracketLeft
		BracketRight Backslash Semicolon Quote Comma Period Slash`,
	)
	numbers := []int{192, 49, 50, 51, 52, 53, 54, 55, 56, 57, 48, 189, 187, 219, 221, 220, 186, 222, 188, 190, 191}
	return key{text, codes[i], numbers[i], text, 0}, true
}

// parseKeys reads a key with the modifiers that are held down, as in Control+Shift+A. The case of names does not
// matter.
func parseKeys(text string) (held []key, k key, err error) {
	parts := strings.Split(text, "+")
	if strings.HasSuffix(text, "++") || text == "+" { // the plus itself
		parts = append(strings.Split(strings.TrimSuffix(strings.TrimSuffix(text, "+"), "+"), "+"), "+")
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	}
	for i, part := range parts {
		k, err = keyNamed(part)
		if err != nil {
			return nil, key{}, err
		}
		if i == len(parts)-1 {
			break
		}
		if k.modifier() == 0 {
			return nil, key{}, fault.New(fault.InvalidArguments, "hold Control, Shift, Alt or Meta, as in Control+A",
				"key: %q is not a modifier key", part)
		}
		held = append(held, k)
	}
	return held, k, nil
}

func keyNamed(name string) (key, error) {
	var names []string
	switch strings.ToLower(name) {
	case "space":
		name = " "
	case "esc":
		name = "Escape"
	case "return":
		name = "Enter"
	case "ctrl", "controlormeta":
		name = "Control"
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
		if k, ok := keyOf(r); ok {
			return k, nil
		}
		return key{name, "", 0, name, 0}, nil
	}
	if code, ok := strings.CutPrefix(name, "Key"); ok && len(code) == 1 {
		return keyNamed(strings.ToLower(code))
	}
	if code, ok := strings.CutPrefix(name, "Digit"); ok && len(code) == 1 {
		return keyNamed(code)
	}
	hint := fault.DidYouMean(name, names)
	return key{}, fault.New(fault.InvalidArguments, hint, "key: unknown key %q", name)
}

// pressKey presses and releases a key while others are held down.
func (p *page) pressKey(ctx context.Context, held []key, k key) error {
	var events []map[string]any
	modifiers := 0
	for _, h := range held {
		modifiers |= h.modifier()
		events = append(events, h.down(modifiers))
	}
	if modifiers&shift != 0 {
		k = shifted(k)
	}
	events = append(events, k.down(modifiers|k.modifier()), k.up(modifiers))
	for _, h := range slices.Backward(held) {
		modifiers &^= h.modifier()
		events = append(events, h.up(modifiers))
	}
	return p.input(ctx, "Input.dispatchKeyEvent", events...)
}

// shifted returns the key with the text that it types while Shift is held down.
func shifted(k key) key {
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
