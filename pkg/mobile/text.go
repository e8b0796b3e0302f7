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
	if f.node == nil && count == maxErased && d.driver.asksForFocus() { // WebDriverAgent types only what is needed
		if err := d.driver.SetText(ctx, ""); fault.KindOf(err) != fault.ToolFailed {
			return success("cleared %s", f), err
		}
	}
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
