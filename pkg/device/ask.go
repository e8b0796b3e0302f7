package device

// Question is what a device asks the person who uses it, and what a picture of its screen does not show: a dialog of a
// page.
type Question struct {
	Kind  string // alert, confirm, prompt or beforeunload
	Text  string
	Value string // that a prompt suggests
}

// Answer is a person's answer to a [Question].
type Answer struct {
	Accept bool
	Text   string // for a prompt
}
