package studio

import (
	"context"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// typing is text that a person types into a field.
type typing struct {
	*gesture.Typing
	field  string // in words
	number string // the first call of it in the document; empty for none
	tap    string // the recorded click on the field that it replaces; empty for none
}

// beginKeys takes what was typed at once, and gives it to the device when the request has its turn. What is typed
// meanwhile goes with it.
func (d *desk) beginKeys(a gesture.Act) func(ctx context.Context) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = append(d.keys, a)
	if d.keysJoin {
		return func(context.Context) (any, error) { return nil, nil }
	}
	d.keysJoin = true
	turn := d.line.join()
	return func(ctx context.Context) (any, error) {
		leave, err := turn(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
		return nil, d.typeKeys(ctx)
	}
}

// takeKeys returns what was typed. After none, the next key joins the line again.
func (d *desk) takeKeys() []gesture.Act {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := d.keys
	d.keys, d.keysJoin = nil, len(keys) > 0
	return keys
}

// typeKeys gives the device what was typed.
func (d *desk) typeKeys(ctx context.Context) error {
	for keys := d.takeKeys(); len(keys) > 0; keys = d.takeKeys() {
		for _, a := range keys {
			if err := d.typeKey(ctx, a); err != nil {
				d.dropKeys()
				return err
			}
		}
		if err := d.flush(ctx); err != nil {
			d.dropKeys()
			return err
		}
	}
	return nil
}

// dropKeys forgets what was typed behind a key that failed.
func (d *desk) dropKeys() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys, d.keysJoin = nil, false
}

// typeKey adds a key to what is typed, or presses it.
func (d *desk) typeKey(ctx context.Context, a gesture.Act) error {
	if a.Kind == "text" || a.Key == "Backspace" || gesture.IsText(a.Key, a.Modifiers) {
		t, err := d.typingNow(ctx)
		if err != nil {
			return err
		}
		taken := true
		d.set(func() {
			if a.Kind == "text" {
				t.Text(a.Text)
			} else {
				taken = t.Key(a.Key, a.Modifiers)
			}
		})
		if taken {
			return nil
		}
	}
	if err := d.endTyping(ctx); err != nil {
		return err
	}
	c, err := gesture.KeyCall(d.device(), a.Key, a.Modifiers)
	if err != nil {
		return err
	}
	m, err := d.make(ctx, trail.KindStep, true, c)
	if err == nil && !m.OK {
		err = fault.New(fault.ToolFailed, m.Hint, "%s", m.Text)
	}
	return err
}

// typingNow returns what is typed into the field with the focus.
func (d *desk) typingNow(ctx context.Context) (*typing, error) {
	d.mu.Lock()
	t, tap := d.typing, d.fieldTap
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
	field := focused(l.Root)
	if field == nil && d.device().Platform == "web" {
		return nil, fault.New(fault.InvalidArguments, "click into a field first", "no field has the focus")
	}
	t = &typing{tap: tap}
	var at gesture.Target
	if field != nil {
		t.field = strings.TrimSpace(field.Role + " " + field.Name)
		if field.Ref != "" {
			at = target(s.Locate(ctx, live.Place{Ref: field.Ref, Best: true}))
		}
		at.Element = *field
	}
	initial := at.Element.Content
	d.mu.Lock()
	if d.selectedAll {
		initial = ""
	}
	d.mu.Unlock()
	t.Typing = gesture.Begin(d.device(), at, initial)
	d.set(func() { d.typing = t })
	if field != nil && field.Kind == "password" {
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
	m, err := d.make(ctx, trail.KindStep, false, calls...)
	if err == nil && !m.OK {
		err = fault.New(fault.ToolFailed, m.Hint, "%s", m.Text)
	}
	if err != nil {
		d.set(func() { d.typing = nil })
		return err
	}
	t.Made()
	return d.writeTyping(t)
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
	if number == "" && d.device().Platform == "web" {
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
		if err = d.doc.Replace(number, c, t.number != ""); err == nil {
			t.number, d.cursor = number, number
		}
	})
	return err
}

// finishTyping puts what is left of what was typed into the document.
func (d *desk) finishTyping() error {
	d.mu.Lock()
	t := d.typing
	d.typing = nil
	d.mu.Unlock()
	if t == nil {
		return nil
	}
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
	err := d.finishTyping()
	d.set(func() {})
	return err
}

// shown is what the page shows of it.
func (t *typing) shown() string { return t.Typed() }
