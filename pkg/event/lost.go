package event

// Lost takes the place of events that were dropped because a subscriber was slow, see live.Session.Subscribe. No log has
// it.
type Lost struct {
	Count int `json:"count"` // of the events that came just before the next one
}

// Type implements Event.
func (Lost) Type() string { return "lost" }

func (e Lost) withoutSecrets(Redactor) Event { return e }
