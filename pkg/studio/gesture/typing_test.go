package gesture_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
)

// TestTyping types words of keys, after each of which the calls are made. "⌫" is Backspace, "⌦" Delete, "←", "→", "⇤" and
// "⇥" move the cursor; words after "fails" are typed while calls fail.
func TestTyping(t *testing.T) {
	t.Parallel()
	const sel = `"nodeSelector":{"web":{"dataTestId":"a"}}`
	text := func(s string) string { return "web_type {" + sel + `,"text":"` + s + `"}` }
	added := func(s string) string { return `web_type {"clearFirst":false,` + sel + `,"text":"` + s + `"}` }
	input := func(s string) string { return `inputText {"hideKeyboardAfter":false,"text":"` + s + `"}` }
	const erase, backspace = `eraseText {"charactersToErase":`, `web_pressKey {"key":"Backspace"}`
	tests := map[string]struct {
		platform string
		kind     string
		content  string // of the field
		initial  string
		keys     string
		made     []string // after each word
		recorded string
	}{
		"empty field":           {"web", "text", "", "", "An n", []string{text("An"), text("Ann")}, text("Ann")},
		"Backspace":             {"web", "text", "", "", "Anne⌫ a", []string{text("Ann"), text("Anna")}, text("Anna")},
		"nothing left":          {"web", "text", "", "", "An ⌫⌫⌫", []string{text("An"), text("")}, ""},
		"content":               {"web", "text", "Ann", "Ann", "a ⌫⌫", []string{text("Anna"), text("An")}, text("An")},
		"selected":              {"web", "text", "Ann", "", "B ob", []string{text("B"), text("Bob")}, text("Bob")},
		"selected and erased":   {"web", "text", "Ann", "", "⌫ x⌫", []string{text(""), ""}, text("")},
		"number":                {"web", "number", "", "", "- 1 . 5 e", []string{"", text("-1"), "", text("-1.5"), ""}, text("-1.5")},
		"area with content":     {"web", "textarea", "one two", "one two", "_x ⌫ ⌫⌫", []string{added(" x"), backspace, backspace + "\n" + backspace}, backspace},
		"empty area":            {"web", "textarea", "", "", "one", []string{text("one")}, text("one")},
		"selected area":         {"web", "textarea", "one two", "", "x", []string{text("x")}, text("x")},
		"password with content": {"web", "password", "••••••••", "••••••••", "x y", []string{added("x"), added("y")}, added("xy")},
		"editable":              {"web", "contenteditable", "", "", "x y", []string{added("x"), added("y")}, added("xy")},
		"cursor":                {"web", "text", "", "", "helo← l ⇤A_ ⇥!", []string{text("helo"), text("hello"), text("A hello"), text("A hello!")}, text("A hello!")},
		"Delete":                {"web", "text", "", "", "abc⇤ ⌦ →x ←←←⌫", []string{text("abc"), text("bc"), text("bxc"), ""}, text("bxc")},
		"cursor in lines":       {"web", "textarea", "", "", "ab¶cd⇤ x ←←⇥y", []string{text(`ab\ncd`), text(`ab\nxcd`), text(`aby\nxcd`)}, text(`aby\nxcd`)},
		"failure":               {"web", "text", "", "", "An fails n", []string{text("An"), "", text("Ann")}, text("An")},

		"phone":          {"android", "", "", "", "An n", []string{input("An"), input("n")}, input("Ann")},
		"phone, erased":  {"ios", "", "", "", "Anne ⌫a", []string{input("Anne"), erase + "1}\n" + input("a")}, input("Anna")},
		"phone, content": {"android", "", "Ann", "Ann", "⌫⌫a", []string{erase + "2}\n" + input("a")}, erase + "2}\n" + input("a")},
		"phone, selected": {
			"android", "", "Ann", "", "B ob", []string{"clearText {}\n" + input("B"), input("ob")}, "clearText {}\n" + input("Bob"),
		},
		"phone, emptied": {"ios", "", "Ann", "", "⌫", []string{"clearText {}"}, "clearText {}"},
		"phone, accents": {"ios", "", "", "", "ë日 ⌫", []string{input("ë日"), erase + "1}"}, input("ë")},
		"phone, nothing": {"ios", "", "Ann", "Ann", "⌫n", []string{""}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			role := map[bool]string{true: "spinbutton", false: "textbox"}[tt.kind == "number"]
			field := target(tt.platform, role, "a", content(tt.content), kind(tt.kind))
			typing := gesture.Begin(gesture.Device{Platform: tt.platform}, field, tt.initial)
			fails := false
			for i, word := range strings.Fields(tt.keys) {
				if word == "fails" {
					fails = true
					continue
				}
				for key := range strings.SplitSeq(strings.ReplaceAll(word, "_", " "), "") {
					if key == "¶" {
						typing.Text("\n")
						continue
					}
					if !typing.Key(cmp.Or(namedKeys[key], key), nil) {
						t.Errorf("%s was not taken", key)
					}
				}
				calls, ok := typing.Pending()
				if got := written(t, tt.platform, calls...); got != tt.made[i] || ok != (got != "") {
					t.Errorf("%s: %s, want %s", word, got, tt.made[i])
				}
				if ok && !fails {
					typing.Made()
				}
			}
			if calls, ok := typing.Pending(); ok != fails && role == "textbox" {
				t.Errorf("then %v", calls)
			}
			if got := written(t, tt.platform, typing.Recorded()...); got != tt.recorded {
				t.Errorf("recorded %s, want %s", got, tt.recorded)
			}
		})
	}
}

var namedKeys = map[string]string{
	"⌫": "Backspace", "⌦": "Delete", "←": "ArrowLeft", "→": "ArrowRight", "⇤": "Home", "⇥": "End",
}

// TestCursorKeysThatAreNotTaken presses keys that mean something else: at the beginning, with modifiers, where calls add to
// the end, and in a text from right to left.
func TestCursorKeysThatAreNotTaken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ platform, typed, key, modifiers string }{
		{"web", "", "ArrowLeft", ""},
		{"web", "ab", "ArrowLeft", "Shift"},
		{"web", "ab", "Delete", "Control"},
		{"web", "ab", "ArrowUp", ""},
		{"web", "שלום", "ArrowLeft", ""},
		{"android", "ab", "ArrowLeft", ""},
	} {
		typing := gesture.Begin(gesture.Device{Platform: tt.platform}, gesture.Target{Location: live.Location{}}, "")
		for key := range strings.SplitSeq(tt.typed, "") {
			typing.Key(key, nil)
		}
		if typing.Key(tt.key, strings.Fields(tt.modifiers)) || typing.Typed() != tt.typed {
			t.Errorf("%+v: %q", tt, typing.Typed())
		}
	}
}

func TestKeysThatAreText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, modifiers string
		taken          bool
	}{
		{"a", "", true},
		{"A", "Shift", true},
		{"Backspace", "", true},
		{"€", "Alt", true},
		{"@", "Control Alt", true},
		{" ", "", true},
		{"a", "Control", false},
		{"a", "Meta", false},
		{"a", "Alt", false},
		{"Backspace", "Control", false},
		{"Enter", "", false},
		{"Dead", "", false},
		{"", "", false},
	} {
		typing := gesture.Begin(gesture.Device{Platform: "web"}, gesture.Target{Location: live.Location{}}, "")
		if taken := typing.Key(tt.key, strings.Fields(tt.modifiers)); taken != tt.taken {
			t.Errorf("%s with %q: %v", tt.key, tt.modifiers, taken)
		}
	}
}

func TestPastedText(t *testing.T) {
	t.Parallel()
	typing := gesture.Begin(gesture.Device{Platform: "web"}, target("web", "textbox", "a", kind("textarea")), "")
	typing.Text("one\r\ntwo")
	calls, _ := typing.Pending()
	if got := written(t, "web", calls...); !strings.HasSuffix(got, `"text":"one\ntwo"}`) {
		t.Error(got)
	}
}
