package mobile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// defaultErased is how many characters eraseText erases when it is not said how many.
const defaultErased = 50

// maxErased bounds how many characters eraseText erases.
const maxErased = 10_000

// textCommands are the commands for the field that has the focus, and for keys.
func textCommands() []command {
	const hide = `"hideKeyboardAfter": {"type": "boolean", "default": true, "description": "Hide the on-screen keyboard"}`
	erase := fmt.Sprintf(`"charactersToErase": {"type": "integer", "minimum": 0, "maximum": %d, "default": %d}`,
		maxErased, defaultErased)
	return []command{
		newCommand("inputText", "Enters text at the end of the field that has the focus, and hides the keyboard.",
			`"text": {"type": "string"}, `+hide+", "+timeoutProperty, inputText, "text"),
		newCommand("inputTextRandom",
			"Enters a text with random digits at the end of the field that has the focus, and keeps it in memory.",
			`"variable": {"type": "string", "minLength": 1, "description": "Its name in memory"},
			"prefix": {"type": "string", "default": "TBZ-"},
			"digitCount": {"type": "integer", "minimum": 1, "maximum": 100, "default": 6}, `+hide+", "+timeoutProperty,
			inputTextRandom, "variable"),
		newCommand("eraseText", "Erases characters at the end of the field that has the focus.", erase, eraseText),
		newCommand("clearText", "Erases all that the field that has the focus holds.", "", clearText),
		newCommand("hideKeyboard", "Hides the on-screen keyboard if one is shown.", "", hideKeyboard),
		newCommand("pressKey", "Presses a key.",
			device.Enum("keyCode", "The key", keyNames()...), pressKey, "keyCode"),
		newCommand("pressBack", "Goes back, as the back button of Android; on iOS it swipes from the left edge.", "", pressHandler(Back)),
		newCommand("pressHome", "Goes to the home screen.", "", pressHandler(Home)),
	}
}

func keyNames() []string {
	return []string{string(Enter), string(Back), string(Home), string(Backspace), string(Tab), string(Escape)}
}

func inputText(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return d.enter(ctx, a.Text("text"), a)
}

func inputTextRandom(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	text := "TBZ-"
	if a.Has("prefix") {
		text = a.Text("prefix")
	}
	for range int(a.Number("digitCount", 6)) {
		digit, err := rand.Int(rand.Reader, big.NewInt(10))
		if err != nil {
			return tool.Result{}, fmt.Errorf("make a random digit: %w", err)
		}
		text += digit.String()
	}
	result, err := d.enter(ctx, text, a)
	if err == nil && result.OK {
		result.MemoryDelta = map[string]any{a.Text("variable"): text}
	}
	return result, err
}

// enter enters text at the end of the field that has the focus, and hides the keyboard unless the call says otherwise.
func (d *phone) enter(ctx context.Context, text string, a device.Arguments) (tool.Result, error) {
	f, err := d.awaitFocus(ctx, waitLimit(ctx, a, d.limits.Action))
	if err != nil {
		return tool.Result{}, err
	}
	note, err := d.enterInto(ctx, f, text)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Flag("hideKeyboardAfter", true) {
		err = d.hideKeyboard(ctx)
		if errors.Is(err, ErrKeyboardStays) {
			d.notes = append(d.notes, err.Error())
			err, note = nil, note+"; "+err.Error()
		}
	}
	return success("entered %d characters into %s%s", utf8.RuneCountInString(text), f, note), err
}

// field is the field that has the focus. Its node is nil if the device does not report it.
type field struct {
	node *screen.Node
	// mayBeHint says that the device does not tell the hint of an empty field from what a field holds.
	mayBeHint bool
}

func (f field) String() string {
	if f.node == nil {
		return "the field that has the focus"
	}
	return f.node.String()
}

// content returns what the field holds. The hint of an empty field is not content.
func (f field) content() string {
	if f.node == nil {
		return ""
	}
	text := f.node.Value
	if text == nil {
		text = f.node.Text
	}
	if text == nil || *text == "" || f.node.ShowingHint || f.node.Hint != nil && *text == *f.node.Hint {
		return ""
	}
	if f.mayBeHint && f.node.Password && strings.Trim(*text, string([]rune(*text)[:1])) != "" {
		return "" // no points
	}
	return *text
}

// awaitFocus waits for a field that has the focus, or for a keyboard.
func (d *phone) awaitFocus(ctx context.Context, limit time.Duration) (field, error) {
	s := &focusSearch{phone: d}
	a := &act.Action[field]{
		Screen: s, Selector: act.Selector{Text: "a field that has the focus"}, Want: "ready",
		Limits: d.limits.readyWithin(limit),
	}
	o, err := a.Do(ctx)
	if known := fault.As(err); known != nil && isNotFound(err) {
		known.Hint = "tap the field first"
	}
	if err == nil && o.Element.node == nil {
		d.notes = append(d.notes, "the device does not report the field that has the focus, so what it shows was not checked")
	}
	return o.Element, err
}

// focusSearch looks for the field that has the focus. It implements act.Screen.
type focusSearch struct {
	phone  *phone
	missed bool // the device was asked for the field, and said nothing of the screen that was read before
}

// Observe implements act.Screen.
func (s *focusSearch) Observe(ctx context.Context, _ time.Duration) (act.Observation[field], error) {
	driver := s.phone.driver
	now, err := s.phone.readSettled(ctx)
	if err == nil {
		now, err = driver.withFocus(ctx, now)
	}
	if err == nil && now.Keyboard != nil && focusedNode(now.Tree) == nil && driver.asksForFocus() && !s.missed {
		s.missed, err = true, act.ErrChanged // the keyboard moves fields
	}
	if err != nil {
		return act.Observation[field]{}, err
	}
	_, mayBeHint := now.Tree.Unavailable[string(screen.AndroidAccessibility)+".hintTextRegex"]
	f := field{node: focusedNode(now.Tree), mayBeHint: mayBeHint}
	return act.Observation[field]{Element: f, Found: f.String(), Ready: f.node != nil || now.Keyboard != nil}, nil
}

// WaitForChange implements act.Screen.
func (*focusSearch) WaitForChange(ctx context.Context, limit time.Duration) {
	_ = act.Pause(ctx, limit)
}

// Similar implements act.Screen.
func (*focusSearch) Similar(context.Context) []string { return nil }

// Location implements act.Screen.
func (s *focusSearch) Location(ctx context.Context) string {
	words, _ := s.phone.location(ctx)
	return words
}

// focusedNode returns the field that has the focus; nil without one.
func focusedNode(t *screen.Tree) *screen.Node {
	i := slices.IndexFunc(t.Nodes(), func(n *screen.Node) bool { return n.Focused && isField(n) })
	if i < 0 {
		return nil
	}
	return t.Nodes()[i]
}

func isField(n *screen.Node) bool { return n.Editable || screen.IsTextInput(n.RoleName()) }

// enterInto enters text at the end of a field: at once if the field then shows it, else as its keyboard does. It
// returns a note for people, such as that the app has changed the text.
func (d *phone) enterInto(ctx context.Context, f field, text string) (note string, err error) {
	switch content := f.content(); {
	case text == "":
		return "", nil
	case f.node == nil:
		return "", d.driver.Type(ctx, text)
	case content != "" && (f.node.Password || f.mayBeHint): // it cannot be set, because it is not known
		e := d.newEntry(f, content+text)
		if !f.node.Password && content != text {
			e.instead = text
		}
		return e.finish(ctx)
	default:
		return d.replace(ctx, f, content+text)
	}
}

// replace makes a field hold text. What it does not take as a whole is typed, or erased, as its keyboard does.
func (d *phone) replace(ctx context.Context, f field, text string) (note string, err error) {
	e := d.newEntry(f, text)
	set := d.driver.SetText
	if d.options.Platform == IOS && e.shown == "" { // where it is typed, after the field was cleared
		set = d.driver.Type
	}
	setErr := set(ctx, text)
	_, unconfirmed := errors.AsType[*act.UnconfirmedError](setErr)
	if unconfirmed || ctx.Err() != nil || fault.KindOf(setErr) == fault.InvalidArguments {
		return "", setErr
	}
	if setErr == nil {
		if err := e.await(ctx, e.settled); err != nil {
			return "", err
		}
	}
	return e.finish(ctx)
}

// entry is a text that a field is to hold.
type entry struct {
	field
	phone   *phone
	text    string
	instead string // what it holds instead of text if what it showed was a hint; empty for nothing
	// boxes are the empty fields after it. Each takes a part of the text if the focus moves there, as the fields for the
	// digits of a code do.
	boxes []screen.Key

	shown string // by the field, or by it and its boxes
	used  int    // boxes of which shown has the content
	moved bool   // the focus is in the next box, which is empty
}

func (d *phone) newEntry(f field, text string) *entry {
	return &entry{field: f, phone: d, text: text, boxes: emptyAfter(d.driver.last.Load(), f.node), shown: f.content()}
}

// emptyAfter returns the empty fields that directly follow a field.
func emptyAfter(t *screen.Tree, n *screen.Node) (keys []screen.Key) {
	found := false
	for _, other := range t.Nodes() {
		switch {
		case other.Key == n.Key:
			found = true
		case found && isField(other) && (field{node: other}).content() != "":
			return keys
		case found && isField(other):
			keys = append(keys, other.Key)
		}
	}
	return keys
}

// finish types or erases what the field still lacks or has too much, until it shows the text. When the focus moves on
// from box to box, it types one character at a time: apps may move it after the next key has come.
func (e *entry) finish(ctx context.Context) (note string, err error) {
	for first := true; !e.done(); first = false {
		before := e.shown
		if !first && !e.moved {
			return "", notEntered(e.field, e.shown, e.text)
		}
		if err := e.step(ctx); err != nil {
			return "", err
		}
		if err := e.await(ctx, e.settled); err != nil {
			return "", err
		}
		if e.shown == before {
			return "", notEntered(e.field, e.shown, e.text)
		}
	}
	if e.used > 0 {
		return fmt.Sprintf(", in %d fields", 1+e.used), nil
	}
	return noteOf(e.field, e.shown, e.text), nil
}

// step types or erases the next characters.
func (e *entry) step(ctx context.Context) error {
	shown, text := []rune(e.shown), []rune(e.text)
	switch {
	case e.isPart(e.shown) && e.moved:
		return e.phone.driver.Type(ctx, string(text[len(shown)]))
	case e.isPart(e.shown):
		return e.phone.driver.Type(ctx, string(text[len(shown):]))
	case e.shown == e.content() && strings.HasPrefix(e.shown, e.text):
		return e.phone.backspace(ctx, len(shown)-len(text))
	}
	return notEntered(e.field, e.shown, e.text)
}

// done reports whether the field shows the text.
func (e *entry) done() bool {
	return sameText(e.field, e.shown, e.text) || e.instead != "" && sameText(e.field, e.shown, e.instead)
}

// isPart reports whether shown is the beginning of the text, and not all of it.
func (e *entry) isPart(shown string) bool {
	if e.node.Password {
		return utf8.RuneCountInString(shown) < utf8.RuneCountInString(e.text)
	}
	return shown != e.text && strings.HasPrefix(e.text, shown)
}

// settled reports whether the field shows the text, or the focus has moved on to an empty box.
func (e *entry) settled() bool { return e.done() || e.moved }

// await waits until something holds of what the field shows, but not for long.
func (e *entry) await(ctx context.Context, holds func() bool) error {
	for end := time.Now().Add(e.phone.limits.Entered); ; {
		if err := e.read(ctx); err != nil {
			return err
		}
		if holds() || time.Now().After(end) {
			return nil
		}
		if err := act.Pause(ctx, e.phone.limits.Stable); err != nil {
			return err
		}
	}
}

// read looks at the screen. Where the tree does not have the focus, the device is asked for it only if it may be in a box.
func (e *entry) read(ctx context.Context) error {
	now, err := e.phone.driver.Read(ctx)
	if err != nil {
		return err
	}
	if e.look(now.Tree); e.done() || len(e.boxes) == 0 {
		return nil
	}
	if now, err = e.phone.driver.withFocus(ctx, now); err == nil {
		e.look(now.Tree)
	}
	return err
}

// look sets what the field shows. One that is no longer on the screen counts as showing the text.
func (e *entry) look(t *screen.Tree) {
	focused := focusedNode(t)
	current := field{node: t.ByKey(e.node.Key), mayBeHint: e.mayBeHint}
	if e.node.Key == "" {
		current.node = focused
	}
	e.used, e.moved = 0, false
	if current.node == nil {
		e.shown = e.text
		return
	}
	e.shown = current.content()
	if e.done() {
		return
	}
	all, used := e.shown, 0
	for ; used < len(e.boxes); used++ {
		content := field{node: t.ByKey(e.boxes[used])}.content()
		if content == "" {
			break
		}
		all += content
	}
	if sameText(e.field, all, e.text) || e.isPart(all) {
		e.shown, e.used = all, used
		e.moved = all != "" && used < len(e.boxes) && focused != nil && focused.Key == e.boxes[used]
	}
}

// sameText reports whether a field shows a text, perhaps with what the app adds to it, as in (555) 010-0100. A password
// field shows as many characters.
func sameText(f field, shown, text string) bool {
	if f.node.Password {
		return utf8.RuneCountInString(shown) == utf8.RuneCountInString(text)
	}
	return shown == text || bare(text) != "" && bare(shown) == bare(text) && keeps(shown, text)
}

// bare returns the letters and digits of a text in lower case.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// keeps reports whether shown has all characters of text in their order, whatever is between them.
func keeps(shown, text string) bool {
	left := []rune(text)
	for _, r := range shown {
		if len(left) > 0 && unicode.ToLower(r) == unicode.ToLower(left[0]) {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// noteOf says what a field shows in place of text; "" if it shows the text, and for a password field.
func noteOf(f field, shown, text string) string {
	if shown == text || f.node.Password {
		return ""
	}
	return fmt.Sprintf(", which shows %q", shown)
}

// notEntered is the error for a field that does not show the text that was entered.
func notEntered(f field, shown, text string) error {
	if f.node.Password {
		shown, text = strings.Repeat("•", utf8.RuneCountInString(shown)), strings.Repeat("•", utf8.RuneCountInString(text))
	}
	return fault.New(fault.ToolFailed, "the app may restrict what the field holds",
		"%s shows %q after %q was entered", f, shown, text)
}

func eraseText(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return d.erase(ctx, int(a.Number("charactersToErase", defaultErased)))
}

func clearText(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	return d.erase(ctx, maxErased)
}

// blindlyErased is how many characters clearText erases of a field whose content is not known.
const blindlyErased = 500

// erase erases characters at the end of the field that has the focus.
func (d *phone) erase(ctx context.Context, count int) (tool.Result, error) {
	f, err := d.awaitFocus(ctx, d.limits.Action)
	if err != nil {
		return tool.Result{}, err
	}
	content := []rune(f.content())
	if f.node == nil {
		count = min(count, blindlyErased)
		return success("erased up to %d characters in %s", count, f), d.backspace(ctx, count)
	}
	count = min(count, len(content))
	if count == 0 {
		return success("%s is empty", f), nil
	}
	rest := string(content[:len(content)-count])
	if f.mayBeHint {
		return success("erased %d characters in %s", count, f), d.backspace(ctx, count)
	}
	erase := d.replace
	if f.node.Password && rest != "" { // it cannot be set, because it is not known
		erase = func(ctx context.Context, f field, rest string) (string, error) {
			return d.newEntry(f, rest).finish(ctx)
		}
	}
	note, err := erase(ctx, f, rest)
	return success("erased %d characters in %s%s", count, f, note), err
}

// backspace erases characters one after another.
func (d *phone) backspace(ctx context.Context, count int) error {
	if d.options.Platform == IOS { // where it is a character, and each call takes long
		return d.driver.Type(ctx, strings.Repeat("\b", count))
	}
	for range count {
		if err := d.driver.Press(ctx, Backspace); err != nil {
			return err
		}
	}
	return nil
}

func hideKeyboard(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	return success("the keyboard is hidden"), d.hideKeyboard(ctx)
}

// hideKeyboard hides the keyboard if one is shown. The error of one that stays wraps ErrKeyboardStays.
func (d *phone) hideKeyboard(ctx context.Context) error {
	err := d.driver.HideKeyboard(ctx)
	if errors.Is(err, ErrKeyboardStays) {
		return &fault.Error{
			Kind: fault.ToolFailed, Cause: err, Message: ErrKeyboardStays.Error(),
			Hint: "tap a button that hides it, such as Done, or press ENTER; hideKeyboardAfter: false leaves it",
		}
	}
	return err
}

// tryHideKeyboard is hideKeyboard for a caller that goes on with a keyboard that stays.
func (d *phone) tryHideKeyboard(ctx context.Context) error {
	if err := d.hideKeyboard(ctx); !errors.Is(err, ErrKeyboardStays) {
		return err
	}
	return nil
}

func pressKey(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	key, err := a.Word("keyCode", keyNames()...)
	if err != nil {
		return tool.Result{}, err
	}
	return pressHandler(Key(key))(ctx, d, a)
}

// pressHandler returns the handler that presses a key.
func pressHandler(key Key) handler {
	return func(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
		return success("pressed %s", key), d.driver.Press(ctx, key)
	}
}
