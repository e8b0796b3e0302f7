package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// RunDefaults are the defaults of flags of run, zero where the file does not set them.
type RunDefaults struct {
	Workers, Retries, MaxFailures int
	Timeout                       time.Duration
	FailOnFlaky                   bool
	Trace                         string // TraceOn, TraceOnFailure or TraceOff
	JUnit, HTML                   string // absolute paths of reports
}

// Values of trace: which trails keep what their device showed during its calls.
const (
	TraceOn        = "on"
	TraceOnFailure = "retain-on-failure"
	TraceOff       = "off"
)

// TraceModes returns the values of trace.
func TraceModes() []string { return []string{TraceOn, TraceOnFailure, TraceOff} }

// runDefaults reads the defaults of run.
func (l *loader) runDefaults(n yamldoc.Node) {
	r := &l.project.Run
	n.Fields(map[string]func(yamldoc.Node){
		"workers":     func(n yamldoc.Node) { r.Workers = atLeast(n, 1) },
		"retries":     func(n yamldoc.Node) { r.Retries = atLeast(n, 0) },
		"maxFailures": func(n yamldoc.Node) { r.MaxFailures = atLeast(n, 1) },
		"timeout":     func(n yamldoc.Node) { r.Timeout = n.Duration() },
		"failOnFlaky": func(n yamldoc.Node) { r.FailOnFlaky = n.Bool() },
		"trace": func(n yamldoc.Node) {
			if r.Trace = text(n); r.Trace != "" && !slices.Contains(TraceModes(), r.Trace) {
				n.Errorf("write "+strings.Join(TraceModes(), ", or "), "unknown value %q", r.Trace)
			}
		},
		"reporters": func(n yamldoc.Node) {
			n.Fields(map[string]func(yamldoc.Node){
				"junit": func(n yamldoc.Node) { r.JUnit = l.path(text(n)) },
				"html":  func(n yamldoc.Node) { r.HTML = l.path(text(n)) },
			})
		},
	})
}

// atLeast reads a whole number that is not less than least.
func atLeast(n yamldoc.Node, least int) int {
	number := n.Int()
	if number < least && n.Scalar() == strconv.Itoa(number) {
		n.Errorf("remove the key for the default", "%d is less than %d", number, least)
	}
	return number
}
