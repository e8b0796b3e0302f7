package mobile

import (
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestInputText(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	refused := fault.New(fault.ToolFailed, "", "refused")
	for name, tt := range map[string]struct {
		fake *fake
		args args
		want string
		log  []string
	}{
		"into an empty field": {
			&fake{nodes: fieldAnd(), keyboard: keyboardArea()},
			args{"text": "Ada"},
			`entered 3 characters into textbox "Name"`,
			[]string{`set "Ada"`, "hide keyboard"},
		},
		"at the end": {
			&fake{nodes: fieldAnd(), content: "Ada"},
			args{"text": " Lovelace"},
			`entered 9 characters into textbox "Name"`,
			[]string{`set "Ada Lovelace"`, "hide keyboard"},
		},
		"the hint is no content": {
			&fake{nodes: fieldAnd(), content: "Name"},
			args{"text": "Ada"},
			`entered 3 characters into textbox "Name"`,
			[]string{`set "Ada"`, "hide keyboard"},
		},
		"what may be the hint": {
			&fake{nodes: fieldAnd(), content: "E-mail", dumped: true},
			args{"text": "Ada"},
			`entered 3 characters into textbox "Name"`,
			[]string{`type "Ada"`, "hide keyboard"},
		},
		"the keyboard stays": {
			&fake{nodes: fieldAnd(), keyboard: keyboardArea()},
			args{"text": "Ada", "hideKeyboardAfter": false},
			`entered 3 characters into textbox "Name"`,
			[]string{`set "Ada"`},
		},
		"a field that ignores it is typed into": {
			&fake{nodes: fieldAnd(), content: "A", ignores: true},
			args{"text": "da"},
			`entered 2 characters into textbox "Name"`,
			[]string{`set "Ada"`, `type "da"`, "hide keyboard"},
		},
		"a device that refuses it types": {
			&fake{nodes: fieldAnd(), fail: map[string]error{"SetText": refused}},
			args{"text": "Ada"},
			`entered 3 characters into textbox "Name"`,
			[]string{`set "Ada"`, `type "Ada"`, "hide keyboard"},
		},
		"nothing": {&fake{nodes: fieldAnd()}, args{"text": ""}, `entered 0 characters into textbox "Name"`, []string{"hide keyboard"}},
		"a field that is not known": {
			&fake{nodes: always(), keyboard: keyboardArea()},
			args{"text": "Ada"},
			"entered 3 characters into the field that has the focus",
			[]string{`type "Ada"`, "hide keyboard"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onPhone(t, tt.fake, device.Session{}, func(p *phoneTest) { p.does("inputText", tt.args, tt.want, tt.log...) })
		})
	}
}

func TestInputTextFailures(t *testing.T) {
	t.Parallel()
	text := map[string]any{"text": "Ada Lovelace"}
	onPhone(t, &fake{nodes: fieldAnd(), atMost: 5}, device.Session{}, func(p *phoneTest) {
		p.fails("inputText", text, `textbox "Name" shows "Ada L" after "Ada Lovelace" was entered`)
	})
	onPhone(t, &fake{nodes: fieldAnd(), content: "12345", atMost: 5, ignores: true}, device.Session{}, func(p *phoneTest) {
		p.fails("inputText", map[string]any{"text": "6"}, `textbox "Name" shows "12345" after "123456" was entered`)
	})
	onPhone(t, &fake{nodes: always(node("Button", "Save", rect(0, 0, 100, 100)))}, device.Session{}, func(p *phoneTest) {
		r := p.fails("inputText", text, "a field that has the focus was not found (within 10s; app com.example.orders)")
		if r.Hint != "tap the field first" || len(p.fake.log) > 0 {
			t.Errorf("%q; the driver did %q", r.Hint, p.fake.log)
		}
	})
	lost := &act.UnconfirmedError{Cause: fault.New(fault.CallTimeout, "", "the connection was closed")}
	f := &fake{nodes: fieldAnd(), ignores: true, fail: map[string]error{"SetText": lost}}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.fails("inputText", text, "the action was sent and may have happened, but was not confirmed: the connection was closed")
		if len(f.log) != 1 {
			t.Errorf("the driver did %q", f.log)
		}
	})
}

// The focus of a code's boxes may move some reads after a digit was entered, and a read may take longer than a field has to
// show its text.
func TestFocusMovesLateOnASlowPhone(t *testing.T) {
	t.Parallel()
	const late = 3 // reads
	shown, since := "", 0
	nodes := func(f *fake, _ time.Duration) []*screen.Node {
		if f.content != shown {
			shown, since = f.content, f.reads
		}
		focus := len(shown)
		if focus > 0 && f.reads < since+late {
			focus--
		}
		f.atMost = focus + 1 // each box takes one character
		digits := make([]string, 4)
		copy(digits, strings.Split(shown, ""))
		return fieldsWith(focus, digits).Nodes()[1:]
	}
	onPhone(t, &fake{nodes: nodes, slow: time.Second, atMost: 1}, device.Session{}, func(p *phoneTest) {
		p.does("inputText", map[string]any{"text": "4711"}, "entered 4 characters into textbox, in 4 fields",
			`set "4711"`, `type "7"`, `type "1"`, `type "1"`, "hide keyboard")
	})
}

func TestTextThatTheAppWritesInItsWay(t *testing.T) {
	t.Parallel()
	f := field{node: node("EditText", "", nil)}
	for _, tt := range []struct {
		platform    Platform
		shown, text string
		same        bool
	}{
		{Android, "(555) 010-0100", "5550100100", true},
		{Android, "ADA", "ada", true},
		{Android, "$12.50", "12.50", true},
		{Android, "1250", "12.50", false},
		{Android, "Ada", "Adam", false},
		{Android, "", "-", false},
		{Android, "--", "-", false},
		{IOS, "“Don’t” — she said…", `"Don't" -- she said...`, true},
		{Android, "“Don’t” — she said…", `"Don't" -- she said...`, false},
		{IOS, "“", `"`, true},
		{IOS, "—", "-", false},
	} {
		e := entry{field: f, phone: &phone{options: Options{Platform: tt.platform}}}
		if got := e.shows(tt.shown, tt.text); got != tt.same {
			t.Errorf("%s: %q for %q: %v", tt.platform, tt.shown, tt.text, got)
		}
	}
	f.node.Password = true
	if !sameText(f, "•••", "ada") || sameText(f, "••", "ada") {
		t.Error("passwords are compared by their length")
	}
	if err := notEntered(f, "••", "ada"); strings.Contains(err.Error(), "ada") {
		t.Error(err)
	}
}

func TestErase(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	onPhone(t, &fake{nodes: fieldAnd(), content: "Ada Lovelace"}, device.Session{}, func(p *phoneTest) {
		p.does("eraseText", args{"charactersToErase": 4}, `erased 4 characters in textbox "Name"`, `set "Ada Love"`)
		p.fake.ignores = true
		p.does("eraseText", args{"charactersToErase": 2}, `erased 2 characters in textbox "Name"`,
			`set "Ada Lo"`, "press BACKSPACE", "press BACKSPACE")
		p.fake.ignores = false
		p.does("eraseText", nil, `erased 6 characters in textbox "Name"`, `set ""`)
		p.does("clearText", nil, `textbox "Name" is empty`)
		p.fake.content = "Ada"
		p.does("clearText", nil, `erased 3 characters in textbox "Name"`, `set ""`)
	})
	onPhone(t, &fake{keyboard: keyboardArea()}, device.Session{}, func(p *phoneTest) {
		p.does("eraseText", args{"charactersToErase": 2}, "erased up to 2 characters in the field that has the focus",
			"press BACKSPACE", "press BACKSPACE")
	})
}

func TestRandomTextIsKept(t *testing.T) {
	t.Parallel()
	onPhone(t, &fake{nodes: fieldAnd()}, device.Session{}, func(p *phoneTest) {
		r := p.call("inputTextRandom", map[string]any{"variable": "order", "digitCount": 8})
		text, _ := r.MemoryDelta["order"].(string)
		if !r.OK || len(text) != len("TBZ-")+8 || p.fake.content != text {
			t.Errorf("%q kept, %q entered: %s", text, p.fake.content, r.Text)
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	onPhone(t, &fake{}, device.Session{}, func(p *phoneTest) {
		p.does("pressKey", map[string]any{"keyCode": "tab"}, "pressed TAB", "press TAB")
		p.does("pressBack", nil, "pressed BACK", "press BACK")
		p.does("pressHome", nil, "pressed HOME", "press HOME")
		p.does("hideKeyboard", nil, "the keyboard is hidden", "hide keyboard")
	})
	onPhone(t, &fake{platform: IOS, keyboard: keyboardArea()}, device.Session{}, func(p *phoneTest) {
		p.does("pressBack", nil, "pressed BACK", "press BACK")
		p.does("eraseText", map[string]any{"charactersToErase": 2}, "erased up to 2 characters in the field that has the focus", `type "\b\b"`)
	})
}
