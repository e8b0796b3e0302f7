package studio

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// typing is text that a person types into a field.
type typing struct {
	*gesture.Typing
	field  string // in words
	ref    string // of the field; empty if the device has no references
	number string // the first call of it in the document; empty for none
	tap    string // the recorded click on the field that it replaces; empty for none

	isPassword bool
}

// keys were typed and not yet given to the device.
type keys struct{ acts []gesture.Act }

// beginKeys takes what was typed at once, and gives it to the device when the request has its turn. What is typed until
// another request begins goes with it.
func (d *desk) beginKeys(a gesture.Act) func(ctx context.Context) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys != nil {
		d.keys.acts = append(d.keys.acts, a)
		return func(context.Context) (any, error) { return nil, nil }
	}
	k := &keys{[]gesture.Act{a}}
	d.keys = k
	turn := d.line.join()
	return func(ctx context.Context) (any, error) {
		leave, err := turn(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
		return nil, d.typeKeys(ctx, k)
	}
}

// take returns what was typed. After none, the next key joins the line again.
func (d *desk) take(k *keys) []gesture.Act {
	d.mu.Lock()
	defer d.mu.Unlock()
	acts := k.acts
	if k.acts = nil; len(acts) == 0 && d.keys == k {
		d.keys = nil
	}
	return acts
}

// typeKeys gives the device what was typed. What was typed behind a key that failed is forgotten.
func (d *desk) typeKeys(ctx context.Context, k *keys) (err error) {
	for acts := d.take(k); len(acts) > 0; acts = d.take(k) {
		for _, a := range acts {
			if err == nil {
				err = d.typeKey(ctx, a)
			}
		}
		if err == nil {
			err = d.flush(ctx)
		}
	}
	return err
}

// typeKey adds a key to what is typed, or presses it.
func (d *desk) typeKey(ctx context.Context, a gesture.Act) error {
	isText := a.Kind == "text"
	d.mu.Lock()
	begun := d.typing != nil
	d.mu.Unlock()
	if begun || isText || a.Key == "Backspace" || gesture.IsText(a.Key, a.Modifiers) {
		t, err := d.typingNow(ctx)
		if err != nil {
			return err
		}
		taken := false
		d.set(func() {
			switch {
			case t == nil:
			case isText:
				t.Text(a.Text)
				taken = true
			default:
				taken = t.Key(a.Key, a.Modifiers)
			}
			if taken {
				d.stray = 0
			}
		})
		switch {
		case taken && !begun: // the app may move the focus already
			return d.flush(ctx)
		case taken:
			return nil
		}
	}
	if isText {
		return fault.New(fault.InvalidArguments, "click into a field first", "no field has the focus")
	}
	if err := d.endTyping(ctx); err != nil {
		return err
	}
	if err := d.pressKey(ctx, a); err != nil {
		return err
	}
	d.notePressed(a)
	return nil
}

// strayKeys is how many characters in a row look like a text that went past its field.
const strayKeys = 3

const strayNotice = "no text field has the focus, so each key is recorded by itself; if you meant to type a text, undo that and click into the field first"

// notePressed counts the characters in a row that no field took, and says what several mean. A space often presses a
// control.
func (d *desk) notePressed(a gesture.Act) {
	d.mu.Lock()
	say := false
	switch {
	case !gesture.IsText(a.Key, a.Modifiers):
		d.stray = 0
	case a.Key != " " && d.state.Recording && d.state.Platform == "web":
		d.stray++
		said := slices.ContainsFunc(d.state.Notices, func(n notice) bool { return n.Text == strayNotice })
		say = d.stray == strayKeys && !said
	}
	d.mu.Unlock()
	if say {
		d.notify("warning", strayNotice)
	}
}

// pressKey presses a key that is not text of a field.
func (d *desk) pressKey(ctx context.Context, a gesture.Act) error {
	c, err := gesture.KeyCall(d.device(), a.Key, a.Modifiers)
	if err != nil {
		return err
	}
	err = d.must(ctx, true, c)
	if err == nil && strings.EqualFold(a.Key, "a") && (slices.Equal(a.Modifiers, []string{"Control"}) || slices.Equal(a.Modifiers, []string{"Meta"})) {
		d.set(func() { d.selectedAll = true })
	}
	return err
}

// typingNow returns what is typed into the field with the focus; nil if keys are not text there.
func (d *desk) typingNow(ctx context.Context) (*typing, error) {
	d.mu.Lock()
	t, click, selectedAll := d.typing, d.clicked, d.selectedAll
	d.mu.Unlock()
	if t != nil {
		return t, nil
	}
	s, err := d.current()
	if err != nil {
		return nil, err
	}
	l, err := s.Look(ctx, false)
	if err != nil {
		return nil, err
	}
	isWeb := d.device().Platform == "web"
	field := focused(l.Root)
	if isWeb && (field == nil || !gesture.IsTextField(*field)) {
		return nil, nil
	}
	t = &typing{}
	var at gesture.Target
	if field != nil {
		t.field, t.ref, t.isPassword = strings.TrimSpace(field.Role+" "+field.Name), field.Ref, field.Kind == "password"
		if field.Ref != "" {
			at = target(s.Locate(ctx, live.Place{Ref: field.Ref, Best: true}))
		}
		at.Element = *field
		if isWeb && click.isField && click.ref == field.Ref {
			t.tap = click.number
		}
	}
	initial := at.Element.Content
	if selectedAll {
		initial = ""
	}
	t.Typing = gesture.Begin(d.device(), at, initial)
	d.set(func() { d.typing = t })
	if t.isPassword {
		d.notify("warning", "what you type is in the trail as text; to keep it secret, make it a variable that is a secret")
	}
	return t, nil
}

// focused returns the element that has the focus, nil if none has.
func focused(e *live.Element) *live.Element {
	if e == nil {
		return nil
	}
	for _, child := range e.Children {
		if found := focused(child); found != nil {
			return found
		}
	}
	if e.Focused {
		return e
	}
	return nil
}

// flush brings the device to what was typed so far, and the document too.
func (d *desk) flush(ctx context.Context) error {
	d.mu.Lock()
	t := d.typing
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	calls, pending := t.Pending()
	if !pending {
		return nil
	}
	if err := d.must(ctx, false, calls...); err != nil {
		d.set(func() { d.typing = nil })
		return err
	}
	t.Made()
	if err := d.writeTyping(t); err != nil {
		return err
	}
	return d.followFocus(ctx, t)
}

// followFocus ends what is typed if the app has moved the focus to another element, where the next key goes.
func (d *desk) followFocus(ctx context.Context, t *typing) error {
	s, err := d.current()
	if err != nil || t.ref == "" || d.device().Platform != "web" {
		return err
	}
	l, err := s.Look(ctx, false)
	if err != nil {
		return nil //nolint:nilerr // the next key says it
	}
	if field := focused(l.Root); field != nil && field.Ref == t.ref {
		return nil
	}
	return d.finishTyping()
}

// writeTyping puts what was typed into the document, if that is one call: it takes the place of the one that it was.
func (d *desk) writeTyping(t *typing) error {
	if calls := t.Recorded(); len(calls) == 1 {
		return d.writeFirst(t, calls[0])
	}
	return nil
}

func (d *desk) writeFirst(t *typing, c trail.Call) (err error) {
	number := t.number
	if number == "" {
		number = t.tap
	}
	if number == "" {
		t.number, err = d.write(trail.KindStep, []trail.Call{c})
		return err
	}
	d.set(func() {
		if !d.state.Recording {
			return
		}
		c.Args = d.cleanArgs(c.Args)
		if err = d.doc.Replace(number, c, t.number != ""); err == nil {
			t.number, d.cursor = number, number
			d.setMark(number, mark{outcome: passed})
		}
	})
	return err
}

// finishTyping puts what is left of what was typed into the document.
func (d *desk) finishTyping() error {
	d.mu.Lock()
	t := d.typing
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	d.set(func() { d.typing = nil })
	calls := t.Recorded()
	switch {
	case len(calls) < 2:
		return nil
	case t.number == "":
		_, err := d.write(trail.KindStep, calls)
		return err
	}
	if err := d.writeFirst(t, calls[0]); err != nil {
		return err
	}
	_, err := d.write(trail.KindStep, calls[1:])
	return err
}

// endTyping ends what is typed: another call begins.
func (d *desk) endTyping(ctx context.Context) error {
	if err := d.flush(ctx); err != nil {
		return err
	}
	return d.finishTyping()
}

// shown is what the page shows of it.
func (t *typing) shown() string {
	if t.isPassword {
		return strings.Repeat("•", utf8.RuneCountInString(t.Typed()))
	}
	return t.Typed()
}
