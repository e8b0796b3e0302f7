package gesture

import "github.com/trailblaze/trailblaze/pkg/trail"

// Typing is text that a person types into a field, as one call that grows. It is not for concurrent use.
type Typing struct {
	device  Device
	field   Target
	initial string
	text    string // what the field is to hold
	made    string // what the calls that succeeded brought it to
	pending string // what the calls of Pending bring it to
}

// Begin begins typing into a field, which has the focus. initial is what it holds; empty after all of it was selected.
func Begin(d Device, field Target, initial string) *Typing {
	return &Typing{device: d, field: field, initial: initial, text: initial, made: initial}
}

// Key adds a key, and reports whether it is text of the field or Backspace. Other keys end the typing.
func (t *Typing) Key(key string, modifiers []string) (taken bool) { return false }

// Text adds text at the end.
func (t *Typing) Text(text string) { t.text += text }

// Pending returns the calls that bring the device to what was typed so far; ok is false when it is there already.
func (t *Typing) Pending() (calls []trail.Call, ok bool) { return nil, false }

// Made says that the calls that Pending returned last have succeeded.
func (t *Typing) Made() { t.made = t.pending }

// Recorded returns the calls for the trail, which do at once what was typed.
func (t *Typing) Recorded() []trail.Call { return nil }
