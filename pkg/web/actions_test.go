package web

import (
	"net/http"
	"strings"
	"testing"
)

// written is a script that returns the content of a field of act-form.html and the events that it received.
const written = `(id) => { const e = document.getElementById(id); return (e.value ?? e.innerHTML) + " | " + log.splice(0).filter((l) => l.includes(" " + id)).map((l) => l.replace(" " + id, "")).join(", ") }`

func TestTypeReplacesOrAppends(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil)
	for name, tt := range map[string]struct {
		field, text string
		keys        bool
		says        string
		want        string
	}{
		"text":            {"name", "after", false, "filled input#name", "after | input"},
		"nothing":         {"name", "", false, "filled input#name", " | keydown Delete, input"},
		"e-mail":          {"email", "b@c", false, "filled", "b@c | input"},
		"a number":        {"age", "33", false, "filled", "33 | input"},
		"a password":      {"password", "pw", false, "filled input#password", "pw | input"},
		"a date":          {"born", "2020-02-03", false, "filled", "2020-02-03 | input, change"},
		"a colour":        {"colour", "#FF0000", false, "filled", "#ff0000 | input, change"},
		"a range":         {"volume", "7", false, "filled", "7 | input, change"},
		"lines":           {"notes", "a\r\nb", false, "filled textarea#notes", "a\nb | input, input, input"},
		"rich text":       {"rich", "new", false, `filled div#rich "Rich"`, "new | input"},
		"emoji":           {"name", "schön 🎉", false, "filled", "schön 🎉 | input"},
		"too long":        {"short", "abcdef", false, `filled input#short, which now shows "abc"`, "abc | input"},
		"formatted":       {"card", "12345678", false, `which now shows "1234 5678"`, "1234 5678 | input"},
		"passed on":       {"passes", "x", false, `which now shows ""`, " | input"},
		"focus is stolen": {"steals", "x", false, "filled input#steals", ""},
		"keys": {
			"name", "!aB", true, "typed into input#name",
			"before!aB | keydown !, keypress !, input, keydown a, keypress a, input, keydown B, keypress B, input",
		},
		"keys, inserted": {"name", "é", true, "typed into", "beforeé | input"},
		"keys, e-mail":   {"email", "c", true, "typed into", "a@bc | keydown c, keypress c, input"},
		"keys, a number": {"age", "2", true, "typed into", "12 | keydown 2, keypress 2, input"},
		"keys, lines": {
			"notes", "\n2", true, "typed into",
			"one\n2 | keydown Enter, keypress Enter, input, keydown 2, keypress 2, input",
		},
		"keys, rich text":   {"rich", "s", true, "typed into", "some <b>rich</b> texts | keydown s, keypress s, input"},
		"keys, a formatted": {"card", "12345", true, `which now shows "1234 5"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/act-form.html")
			says := u.mustCall("web_type", "ref", "css=#"+tt.field, "text", tt.text, "clearFirst", !tt.keys)
			got := u.mustEval("(" + written + `)("` + tt.field + `")`)
			if !strings.Contains(says, tt.says) || tt.want != "" && got != tt.want {
				t.Errorf("says %q, want %q; the field: %q, want %q", says, tt.says, got, tt.want)
			}
			if got := u.mustEval("thief.value"); got != "" {
				t.Errorf("another field got %q", got)
			}
		})
	}
}

func TestTypeFailsWithReason(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	for _, tt := range []struct{ field, text, says string }{
		{"readonly", "x", "#readonly is not ready for text: it is read-only"},
		{"agree", "x", "it does not take text: input#agree"},
		{"list", "x", "it does not take text: ul#list"},
		{"born", "soon", `"soon" is not valid for a date field, whose values have the form 2027-12-31`},
		{"age", "old", `"old" is not valid for a number field`},
		{"gone", "x", "it is not visible: display: none"},
		{"refuses", "x", "input#refuses did not accept the text: nothing in it changed"},
		{"nowhere", "x", "#nowhere was not found"},
	} {
		u.mustFail("web_type", []any{"ref", "css=#" + tt.field, "text", tt.text}, tt.says)
	}
	if got := u.mustEval("age.value + readonly.value"); got != "1fixed" {
		t.Errorf("they hold %q", got)
	}
}

func TestFillSecretIsNotReported(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	for _, field := range []string{"password", "name", "card"} {
		if got := u.mustCall("web_fillSecret", "ref", "css=#"+field, "value", "hunter2secret"); strings.Contains(got,
			"hunter2") {
			t.Errorf("%s: %q", field, got)
		}
	}
	if got := u.mustEval("password.value === 'hunter2secret'"); got != "true" {
		t.Error("the field does not have it")
	}
	args := []any{"ref", "css=#age", "value", "hunter2secret"}
	if result := u.mustFail("web_fillSecret", args,
		"the value is not valid for a number field"); strings.Contains(result.Text, "hunter2") {
		t.Errorf("%q", result.Text)
	}
}

func TestInputTextTypesIntoFocusedField(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	u.mustFail("inputText", []any{"text", "x"}, "no field has the focus, but body")
	u.mustCall("tap", "id", "name")
	u.mustCall("inputText", "text", "!")
	u.mustCall("fill", "selector", "#notes", "value", "two")
	u.mustCall("inputText", "text", "\nthree")
	u.mustCall("web_pressKey", "key", "Tab")
	u.mustCall("web_pressKey", "key", "x")
	u.mustCall("web_pressKey", "key", "Control+a")
	u.mustCall("web_pressKey", "key", "y")
	want := "before!,two\nthree,y"
	if got := u.mustEval(`[document.getElementById("name").value, notes.value, rich.textContent].join()`); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The focus comes with a frame, in most rounds after the key if that does not wait for it.
func TestKeysGoToFieldWithAutofocus(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{"/framed": htmlPage(`<iframe src="/act-form.html"></iframe>`)})
	for path, inside := range map[string]string{"/act-form.html": "document", "/framed": "document.querySelector('iframe').contentDocument"} {
		u := openSession(t)
		for range 5 {
			u.mustCall("web_navigate", "url", at+path)
			u.mustEval(inside + `.body.prepend(Object.assign(document.createElement("input"), { autofocus: true })); 0`)
			u.mustCall("web_pressKey", "key", "x")
			if got := u.mustEval(inside + `.querySelector("input").value`); got != "x" {
				t.Errorf("%s: %q", path, got)
			}
		}
	}
}

// Wikis put the caret of a focused editor at its beginning.
func TestTypeAppendsToFieldWhoseCaretIsElsewhere(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	before := u.mustEval("notes.focus(), notes.setSelectionRange(0, 0), notes.value")
	u.mustCall("web_type", "ref", "css=#notes", "text", "!", "clearFirst", false)
	if got := u.mustEval("notes.value"); got != before+"!" {
		t.Errorf("web_type left %q, want %q at the end of %q", got, "!", before)
	}
	u.mustEval("notes.setSelectionRange(0, 0)")
	u.mustCall("inputText", "text", "At the caret ")
	if got := u.mustEval("notes.value"); !strings.HasPrefix(got, "At the caret ") {
		t.Errorf("inputText left %q", got)
	}
}

func TestPressKeySendsKeysOfPlaywright(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", "data:text/html,<input id=i>")
	u.mustEval(
		`window.got = []; i.focus(); for (const type of ["keydown", "keyup"]) addEventListener(type, (e) => got.push(
		[type, e.key, e.code, e.keyCode, e.ctrlKey && "ctrl", e.shiftKey && "shift", e.altKey && "alt"].filter(Boolean).join(" ")))`,
	)
	for key, want := range map[string]string{
		"Enter":           "keydown Enter Enter 13,keyup Enter Enter 13",
		"ArrowDown":       "keydown ArrowDown ArrowDown 40,keyup ArrowDown ArrowDown 40",
		"escape":          "keydown Escape Escape 27,keyup Escape Escape 27",
		"Space":           "keydown   Space 32,keyup   Space 32",
		"F5":              "keydown F5 F5 116,keyup F5 F5 116",
		"a":               "keydown a KeyA 65,keyup a KeyA 65",
		"KeyB":            "keydown b KeyB 66,keyup b KeyB 66",
		"?":               "keydown ? Slash 191,keyup ? Slash 191",
		"Control+Shift+a": "keydown Control ControlLeft 17 ctrl,keydown Shift ShiftLeft 16 ctrl shift,keydown A KeyA 65 ctrl shift,keyup A KeyA 65 ctrl shift,keyup Shift ShiftLeft 16 ctrl,keyup Control ControlLeft 17",
		"Alt++":           "keydown Alt AltLeft 18 alt,keydown + Equal 187 alt,keyup + Equal 187 alt,keyup Alt AltLeft 18",
		"Shift":           "keydown Shift ShiftLeft 16 shift,keyup Shift ShiftLeft 16",
	} {
		u.mustCall("web_pressKey", "key", key)
		if got := u.mustEval("got.splice(0).join()"); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if result := u.mustFail("web_pressKey", []any{"key", "Entr"},
		`unknown key "Entr"`); !strings.Contains(result.Hint, `"Enter"`) {
		t.Errorf("hint %q", result.Hint)
	}
	u.mustFail("web_pressKey", []any{"key", "a+b"}, `"a" is not a modifier key`)
	u.mustFail("web_pressKey", nil, "none of key and text are given")
	u.mustFail("web_pressKey", []any{"key", "a", "text", "b"}, "both of key and text are given")
}

func TestSelectOptionByValueOrLabel(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	for _, tt := range []struct {
		ref    string
		values any
		says   string
	}{
		{"Size", []any{"Medium"}, `select#size is now "Medium"`},
		{"Size", "s", `select#size is now "Small"`},
		{`combobox "Size"`, []any{"m"}, `select#size is now "Medium"`},
		{"css=label:has(#toppings)", []any{"Ham", "Olives"}, `select#toppings is now "Ham, Olives"`},
		{"css=#late", []any{"Second"}, `select#late is now "Second"`},
		{"Size", []any{"Large"}, `its option "Large" is disabled`},
		{"Size", []any{"Huge"}, `it has no option "Huge", only "Small", "Medium", "Large"`},
		{"Size", []any{"s", "m"}, "it takes one value"},
		{"Name", []any{"s"}, "input#name: it is not a <select>; click it, then click the option"},
		{"css=body", []any{"s"}, "it is not a <select> but body"},
		{"css=select", []any{"s"}, "select matches 3 elements, but must match one: select#size"},
	} {
		args := []any{"ref", tt.ref, "values", tt.values}
		if !strings.Contains(tt.says, " is now ") {
			u.mustFail("web_selectOption", args, tt.says)
		} else if got := u.mustCall("web_selectOption", args...); got != tt.says {
			t.Errorf("%s %v: %q, want %q", tt.ref, tt.values, got, tt.says)
		}
	}
	u.mustEval(`document.querySelector("#late").onchange = (event) => { event.target.selectedIndex = 0 }, 0`)
	if got := u.mustCall("web_selectOption", "ref", "css=#late", "values", "Second"); !strings.Contains(got, "(the page did not keep what was chosen)") {
		t.Errorf("%q says nothing of the page that has undone it", got)
	}
	want := strings.TrimSuffix(strings.Repeat("input size,change size,",
		3)+"input toppings,change toppings,input late,change late,input late,change late", ",")
	if got := u.mustEval("log.join()"); got != want {
		t.Errorf("events: %s, want %s", got, want)
	}
}

func TestScrollPageOrElement(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	for _, tt := range []struct {
		args []any
		says string
	}{
		{nil, "scrolled the page down by 500 pixels, to 500 of "},
		{[]any{"direction", "uP", "amount", 200}, "scrolled the page up by 200 pixels, to 300 of "},
		{[]any{"direction", "UP", "amount", 2000}, "scrolled the page up by 300 pixels, to 0 of "},
		{[]any{"direction", "UP"}, "nothing moved: the page is at 0 of "},
		{
			[]any{"direction", "RIGHT", "ref", "css=#box"},
			"scrolled div#box \"Inner\" right by 500 pixels, to 500 of 700",
		},
		{
			[]any{"direction", "LEFT", "amount", 100, "ref", "css=#box > div"},
			"scrolled div#box \"Inner\" left by 100 pixels, to 400 of 700",
		},
	} {
		if got := u.mustCall("web_scroll", tt.args...); !strings.HasPrefix(got, tt.says) {
			t.Errorf("%v: %q, want %q", tt.args, got, tt.says)
		}
	}
	u.mustFail("web_scroll", []any{"direction", "sideways"},
		`direction: "sideways" is not one of DOWN, UP, LEFT, RIGHT`)
	u.mustFail("web_scroll", []any{"ref", "css=#nothing"}, "#nothing was not found")

	u.mustCall("web_navigate", "url",
		`data:text/html,<body style="margin:0;overflow:hidden"><main style="height:100vh;overflow:auto"><p style="height:3000px">`)
	if got := u.mustCall("web_scroll"); !strings.HasPrefix(got, "scrolled main down by 500 pixels") {
		t.Errorf("a page that scrolls inside: %q", got)
	}

	u.mustCall("web_navigate", "url",
		`data:text/html,<body style="margin:0"><main style="height:100vh;overflow:auto"><p style="height:calc(100vh + 300px);margin:0"></p></main><p style="height:3000px">`)
	for _, want := range []string{"scrolled main down by 300 pixels", "scrolled the page down by 500 pixels"} {
		if got := u.mustCall("web_scroll"); !strings.HasPrefix(got, want) {
			t.Errorf("a box at its end: %q, want %q", got, want)
		}
	}
	if got := u.mustCall("web_scroll", "ref", "css=main"); !strings.HasPrefix(got, "nothing moved: main is at 300 of 300") {
		t.Errorf("a box that is named: %q", got)
	}
}

func TestHoverNeedsOneElement(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	u.mustCall("web_hover", "ref", "Hover me")
	if got := u.mustEval("log.join()"); got != "hovered" {
		t.Errorf("events: %s", got)
	}
	u.mustFail("web_hover", []any{
		"ref",
		"Twin",
	}, `"Twin" matches 2 elements, but must match one: button "Twin", button "Twin"`)
	u.mustCall("web_hover", "nodeSelector", map[string]any{"web": map[string]any{
		"ariaRole":      "button",
		"ariaNameRegex": "Twin", "nthIndex": 1,
	}})
}

// Lists that draw only some of their rows, maps and canvases handle the wheel themselves.
func TestScrollTurnsTheWheelWhereAScriptHandlesIt(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{"/list": htmlPage(`<div style="height: 3000px"></div>
		<div id=list style="height: 100px; overflow: hidden"></div><script>
		let first = 0;
		const draw = () => list.innerHTML = [0, 1, 2, 3, 4].map((i) => "<div>Row " + (first + i) + "</div>").join("");
		list.onwheel = (event) => { event.preventDefault(); first += event.deltaY / 20; draw(); };
		draw();
	</script>`)})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/list")
	if got := u.mustCall("web_scroll", "ref", "Row 2", "amount", 200); got != `turned the wheel down by 200 pixels over div "Row 2"` {
		t.Errorf("%q", got)
	}
	u.mustCall("web_verifyTextVisible", "text", "Row 14")
	if got := u.mustCall("web_scroll", "direction", "UP"); !strings.HasPrefix(got, "scrolled the page up by 500 pixels") {
		t.Errorf("%q", got)
	}
}

// What is above the element opens after a moment, and moves it away from the mouse.
func TestHoverFollowsElement(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{"/menu": htmlPage(`<style>
			#above { height: 0; transition: height 0.2s } #above.open { height: 60px }
			#pulse:hover { animation: pulse 0.1s infinite alternate } @keyframes pulse { to { transform: scale(1.2) } }
			#lens { position: absolute; inset: 0 }
			#agree { position: absolute; left: -9999px }
		</style><div id=above></div><button id=actions>Actions</button><p id=menu hidden>Menu text</p><button id=pulse>Pulse</button>
		<input type=checkbox id=agree><label for=agree>I agree</label><button id=picture>Picture</button><div id=lens hidden></div>
		<script>
		let timer;
		actions.onmouseenter = () => timer = setTimeout(() => menu.hidden = false, 150);
		picture.onmouseenter = () => lens.hidden = false;
		actions.onmouseleave = () => { clearTimeout(timer); menu.hidden = true; };
	</script>`)})
	u := openSession(t)
	for range 5 {
		u.mustCall("web_navigate", "url", at+"/menu")
		u.mustEval("void setTimeout(() => above.className = 'open', 10)")
		u.mustCall("web_hover", "ref", `button "Actions"`)
		u.mustCall("web_verifyTextVisible", "text", "Menu text")
		for _, name := range []string{"button \"Pulse\"", "css=#agree", "button \"Picture\""} {
			u.mustCall("web_hover", "ref", name)
		}
	}
}

func TestTypeIntoPartOfEditor(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.show(`<div contenteditable id=editor><p id=first>Hello <b>bold</b></p><p id=second>Second</p></div>`)
	u.mustCall("web_type", "ref", "css=#first", "text", "Good day")
	u.mustCall("web_type", "ref", "Second", "text", " to none", "clearFirst", false)
	if got := u.mustEval("[...editor.children].map((p) => p.textContent).join()"); got != "Good day,Second to none" {
		t.Errorf("%q", got)
	}
}
