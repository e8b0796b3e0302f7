package mobile

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

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
	return e.shows(e.shown, e.text) || e.instead != "" && e.shows(e.shown, e.instead)
}

// shows is sameText for the platform: the keyboard of iOS writes quotes, dashes and dots as printed text has them.
func (e *entry) shows(shown, text string) bool {
	return sameText(e.field, shown, text) ||
		e.phone.options.Platform == IOS && sameText(e.field, asTyped(shown), asTyped(text))
}

// asTyped returns a text with the characters from which the Smart Punctuation of iOS makes others.
func asTyped(text string) string {
	return strings.NewReplacer("‘", "'", "’", "'", "‚", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "—", "--", "–", "-", "…", "...").Replace(text)
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

// looks is how often the field is read at least before it counts as not showing the text: on a slow phone, one read may
// take longer than the limit.
const looks = 5

// await waits until something holds of what the field shows, but not for long.
func (e *entry) await(ctx context.Context, holds func() bool) error {
	looked := 0
	settled := func() (bool, error) {
		looked++
		err := e.read(ctx)
		return err == nil && holds(), err
	}
	ok, err := act.Await(ctx, e.phone.limits.Entered, e.phone.limits.Stable, settled)
	for !ok && err == nil && looked < looks {
		ok, err = settled()
	}
	return err
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

// look sets what the field shows. If the field has left the screen, that cannot be read; shown is then the text that was
// entered.
func (e *entry) look(t *screen.Tree) {
	focused := focusedNode(t)
	current := field{node: t.ByKey(e.node.Key), mayBeHint: e.mayBeHint}
	if e.node.Key == "" {
		current.node = focused
	} else if current.node == nil {
		current.node = inItsPlace(t, e.node)
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
	if e.shows(all, e.text) || e.isPart(all) {
		e.shown, e.used = all, used
		e.moved = all != "" && used < len(e.boxes) && focused != nil && focused.Key == e.boxes[used]
	}
}

// inItsPlace returns the field with the class, id and bounds of another one, nil for none: a key is made from texts around
// the field, too, which may change with what is typed into it. An empty one may be that of the next screen.
func inItsPlace(t *screen.Tree, n *screen.Node) *screen.Node {
	i := slices.IndexFunc(t.Nodes(), func(other *screen.Node) bool {
		return isField(other) && samePlace(other, n) && (field{node: other}).content() != ""
	})
	if i < 0 {
		return nil
	}
	return t.Nodes()[i]
}

func samePlace(a, b *screen.Node) bool {
	return a.Bounds != nil && reflect.DeepEqual(a.Bounds, b.Bounds) && reflect.DeepEqual(a.Class, b.Class) && reflect.DeepEqual(a.ID, b.ID)
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
