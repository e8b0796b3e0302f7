package gesture

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Typing is text that a person types into a field, as one call that grows. It is not for concurrent use.
//
// On the web, a call replaces what the field holds, unless that is not known exactly: a screen says it with white space
// folded, and dots for a password. There, and on phones, calls add to the end of the field, and erase from it.
type Typing struct {
	device   Device
	field    Target
	replaces bool
	clears   bool   // the content was selected, so that the first key erases it
	touched  bool   // something was typed
	initial  string // what the field held
	text     string // what it is to hold, up to the cursor
	tail     string // and behind it
	made     string // what it holds after the calls that succeeded
	pending  string // what it holds after the calls of Pending
	cleared  bool   // a call that succeeded has erased what was selected
}

// Begin begins typing into a field, which has the focus. initial is what it holds ([live.Element].Content), or empty if
// all of that is selected.
func Begin(d Device, field Target, initial string) *Typing {
	if field.Element.ContentSelected {
		initial = ""
	}
	clears := initial == "" && field.Element.Content != ""
	return &Typing{
		device: d, field: field, initial: initial, text: initial, made: initial, pending: initial,
		replaces: d.isWeb() && (clears || initial == "" && field.Element.Kind != "contenteditable" || !isInexact(field.Element)),
		clears:   clears,
	}
}

// Key adds a character, erases one for Backspace and Delete, or moves the cursor. It reports whether it took the key: other
// keys, and those with modifiers that make a shortcut of them, end the typing.
func (t *Typing) Key(key string, modifiers []string) (taken bool) {
	switch {
	case key == "Backspace" && len(modifiers) == 0:
		_, last := utf8.DecodeLastRuneInString(t.text)
		t.text = t.text[:len(t.text)-last]
	case IsText(key, modifiers):
		t.text += key
	case len(modifiers) > 0 || !t.replaces || !t.touched:
		return false
	case key == "Delete":
		_, first := utf8.DecodeRuneInString(t.tail)
		t.tail = t.tail[first:]
	default:
		return t.moveCursor(key)
	}
	t.touched = true
	return true
}

// moveCursor moves the cursor as the key does. The device gets the whole text, not the key. In a text from right to left
// keys mean something else, and the key is not taken.
func (t *Typing) moveCursor(key string) (taken bool) {
	all := t.Typed()
	if strings.ContainsFunc(all, isRightToLeft) {
		return false
	}
	at := len(t.text)
	switch key {
	case "ArrowLeft":
		_, size := utf8.DecodeLastRuneInString(t.text)
		at -= size
	case "ArrowRight":
		_, size := utf8.DecodeRuneInString(t.tail)
		at += size
	case "Home":
		at = strings.LastIndexByte(t.text, '\n') + 1
	case "End":
		line, _, _ := strings.Cut(t.tail, "\n")
		at += len(line)
	default:
		return false
	}
	t.text, t.tail = all[:at], all[at:]
	return true
}

func isRightToLeft(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// IsText reports whether a key types its name. AltGr is Control and Alt at the same time, and Option of a Mac types
// characters that have no key of their own.
func IsText(key string, modifiers []string) bool {
	r, size := utf8.DecodeRuneInString(key)
	if size == 0 || size < len(key) {
		return false
	}
	control, alt := slices.Contains(modifiers, "Control"), slices.Contains(modifiers, "Alt")
	return !slices.Contains(modifiers, "Meta") && (control == alt || alt && r >= utf8.RuneSelf)
}

// Text adds text that was pasted, or composed of several keys.
func (t *Typing) Text(text string) {
	t.text += strings.ReplaceAll(text, "\r\n", "\n")
	t.touched = true
}

// Typed returns what the field is to hold.
func (t *Typing) Typed() string { return t.text + t.tail }

// Pending returns the calls that bring the field to what was typed so far, in order; ok is false when there is nothing
// to do, or not yet: a field for numbers does not take "-".
func (t *Typing) Pending() (calls []trail.Call, ok bool) {
	clears := t.clears && t.touched && !t.cleared
	typed := t.Typed()
	if typed == t.made && !clears || !t.accepts(typed) {
		return nil, false
	}
	t.pending = typed
	return t.calls(t.made, typed, clears), true
}

// accepts reports whether the field can hold the text now.
func (t *Typing) accepts(text string) bool {
	if !t.replaces || t.field.Element.Role != "spinbutton" || text == "" {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "0123456789.-+eE") == "" && !strings.HasSuffix(text, ".")
}

// Made says that the calls that Pending returned last have succeeded.
func (t *Typing) Made() {
	t.made, t.cleared = t.pending, t.touched
}

// Recorded returns the calls for the trail, which do at once what calls have made so far; none if that is nothing.
func (t *Typing) Recorded() []trail.Call {
	clears := t.clears && t.cleared
	if t.made == t.initial && !clears {
		return nil
	}
	return t.calls(t.initial, t.made, clears)
}

// calls returns the calls that bring the field from one text to another one. clears says that something else is in it
// that has to be erased first.
func (t *Typing) calls(from, to string, clears bool) (calls []trail.Call) {
	if t.replaces {
		return []trail.Call{call("web_type", map[string]any{"nodeSelector": t.field.nodeSelector(), "text": to})}
	}
	if clears {
		calls = append(calls, call("clearText", map[string]any{}))
	}
	kept := commonStart(from, to)
	if erased := utf8.RuneCountInString(from[kept:]); erased > 0 {
		calls = append(calls, t.erase(erased)...)
	}
	if added := to[kept:]; added != "" {
		calls = append(calls, t.add(added))
	}
	return calls
}

func (t *Typing) erase(count int) []trail.Call {
	if t.device.isWeb() {
		return slices.Repeat([]trail.Call{call("web_pressKey", map[string]any{"key": "Backspace"})}, count)
	}
	return []trail.Call{call("eraseText", map[string]any{"charactersToErase": count})}
}

func (t *Typing) add(text string) trail.Call {
	if t.device.isWeb() {
		return call("web_type", map[string]any{"nodeSelector": t.field.nodeSelector(), "text": text, "clearFirst": false})
	}
	return call("inputText", map[string]any{"text": text, "hideKeyboardAfter": false})
}

// commonStart returns the length of what two texts have in common at their start, in bytes.
func commonStart(a, b string) int {
	at := 0
	for at < len(a) && at < len(b) {
		r, size := utf8.DecodeRuneInString(a[at:])
		if other, _ := utf8.DecodeRuneInString(b[at:]); other != r {
			break
		}
		at += size
	}
	return at
}
