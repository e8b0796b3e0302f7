package tool

// Incident is something that went wrong on a device without failing a call. A trail fails for it where failOn says so.
type Incident struct {
	Kind string // one of IncidentKinds
	Text string
	Hint string // may be empty
	Call string // the id of the device's call during or after which it happened; empty before the first
	Page string // URL of the document whose request it is, if it is one; else empty
}

// The kinds of incident.
const (
	PageError       = "pageError"
	ConsoleError    = "consoleError"
	HTTP5xx         = "http5xx"
	UnusedRoute     = "unusedRoute"
	UnhandledDialog = "unhandledDialog"
)

// IncidentKinds returns the values of failOn.
func IncidentKinds() []string {
	return []string{PageError, ConsoleError, HTTP5xx, UnusedRoute, UnhandledDialog}
}
