package app

import (
	"slices"
	"strings"
	"unicode"
)

// field is a text field.
type field struct {
	text  string
	fresh bool // nothing was typed since it got the focus
	enter func()
	// max is how many characters it holds, maxTextLength of Android; 0 for any. What is more is dropped without a word.
	max int
	// byKeys says that its app undoes whatever does not come from a keyboard one character after another, as input masks
	// do that look at the last key.
	byKeys bool
	format func(text string) string // what the app makes of it after each key; nil for nothing
	full   func()                   // called when it holds max characters; nil for nothing
}

// set replaces the text, as accessibility services do.
func (f *field) set(text string) {
	if f.byKeys && text != "" {
		return
	}
	f.put(text)
}

// put replaces the text by as much of another one as the field holds.
func (f *field) put(text string) {
	if f.format != nil {
		text = f.format(text)
	}
	if runes := []rune(text); f.max > 0 && len(runes) > f.max {
		text = string(runes[:f.max])
	}
	before := f.text
	f.text = text
	if f.full != nil && text != before && len([]rune(text)) == f.max {
		f.full()
	}
}

// Code is what signs in instead of a password.
const Code = "4711"

// The fields of the code: one for each digit. Those of the profile.
const (
	codeField    = "digit_"
	phoneField   = "phone"
	nameField    = "name"
	pinField     = "pin"
	firstPIN     = "12" // what the field of the PIN holds at first
	pinLength    = 6
	namePattern  = "Ada Lovelace"
	phonePattern = "(000) 000-0000"
)

func (d *Device) addFields() {
	for i := range Code {
		f := &field{max: 1}
		f.full = func() { d.digitEntered(i) }
		d.ui.fields[digitID(i)] = f
	}
	d.ui.fields[phoneField] = &field{byKeys: true, max: len(phonePattern), format: phoneNumber, text: d.data.phone}
	d.ui.fields[nameField] = &field{text: d.data.name}
	d.ui.fields[pinField] = &field{text: d.data.pin, max: pinLength}
}

func digitID(i int) string { return codeField + string(rune('1'+i)) }

// digitEntered moves the focus to the next digit, or signs in after the last one.
func (d *Device) digitEntered(i int) {
	if i+1 < len(Code) {
		d.moveFocus(digitID(i + 1))
		return
	}
	var entered strings.Builder
	for i := range Code {
		entered.WriteString(d.ui.fields[digitID(i)].text)
	}
	if entered.String() == Code {
		d.data.signedIn, d.ui.error = true, ""
		d.showOrders()
		return
	}
	d.ui.error = "Wrong code"
	for i := range Code {
		d.ui.fields[digitID(i)].text = ""
	}
	d.focus(digitID(0))
}

// moveFocus gives another field the focus, at once or after some reads of the screen.
func (d *Device) moveFocus(id string) {
	if d.options.LateFocus == 0 {
		d.focus(id)
		return
	}
	d.ui.next, d.ui.nextIn = id, d.options.LateFocus
}

// passFocus gives the next field the focus when it is time.
func (d *Device) passFocus() {
	if d.ui.nextIn == 0 {
		return
	}
	if d.ui.nextIn--; d.ui.nextIn == 0 {
		d.focus(d.ui.next)
	}
}

// phoneNumber writes digits as in (555) 010-0100.
func phoneNumber(text string) string {
	digits := []rune(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text))
	var out strings.Builder
	for _, r := range phonePattern {
		if len(digits) == 0 {
			break
		}
		if r == '0' {
			r, digits = digits[0], digits[1:]
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Profile returns what the profile holds: the phone number, the name and the PIN.
func (d *Device) Profile() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []string{d.data.phone, d.data.name, d.data.pin}
}

func (d *Device) saveProfile() {
	d.data.phone, d.data.name, d.data.pin = d.ui.fields[phoneField].text, d.ui.fields[nameField].text, d.ui.fields[pinField].text
	d.blur()
}

// codeScreen has a field for each digit of the code.
func (d *Device) codeScreen() *Element {
	page := d.page("Enter the code").add(text("sent", "We sent you a code", d.box(24, 120, -24, 32)))
	for i := range Code {
		page.add(d.field(Field, digitID(i), "", d.box(24+i*72, 180, 56, 56)))
	}
	if d.ui.error != "" {
		page.add(text("error", d.ui.error, d.box(24, 260, -24, 32)))
	}
	return page
}

// profileScreen has fields that are hard to fill in: one that takes nothing but keys, one with a placeholder beside its
// hint, and one for a secret that holds something.
func (d *Device) profileScreen() *Element {
	name := d.field(Field, nameField, "Name", d.box(24, 200, -24, 56))
	name.Placeholder = namePattern
	pin := d.field(Field, pinField, "PIN", d.box(24, 280, -24, 56))
	pin.Password = true
	return d.page("Profile").add(
		d.field(Field, phoneField, "Phone", d.box(24, 120, -24, 56)), name, pin,
		button("save_profile", "Save profile", d.box(24, 360, -24, 56), d.saveProfile),
		text("saved", "Saved: "+strings.Join(notEmptyTexts(d.data.phone, d.data.name), ", "), d.box(24, 430, -24, 32)),
	)
}

func notEmptyTexts(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}
