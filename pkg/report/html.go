package report

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Limits of a page, so that browsers can open that of a large run. The page says where something was left out.
const (
	maxText      = 16 << 10  // bytes of arguments, a result or a message; an error may have maxReason
	maxAllText   = 24 << 20  // bytes of all of them; beyond it each may have lessText
	lessText     = 256       // bytes
	maxLine      = 1000      // bytes of a name, a path or a step
	maxSnippet   = 8 << 10   // bytes of the snippet of a failure
	maxLog       = 300       // lines of a trail's log
	maxInner     = 500       // nested calls of one session
	maxAllInner  = 50_000    // of all sessions
	maxAllCalls  = 50_000    // other calls of all sessions; beyond it only those that failed
	maxAllSteps  = 50_000    // of all sessions; beyond it only those that did not pass, or have calls
	maxServerLog = 64 << 10  // bytes at the end of a server's log, or at the beginning of another text file
	maxPicture   = 8 << 20   // bytes of a picture
	maxLinked    = 8 << 20   // bytes of another file that can be saved from the page
	maxFiles     = 400       // files of one session
	maxAllFiles  = 100 << 20 // bytes of all files; beyond it no more are shown
)

// HTML collects a run, or sessions of earlier runs, for a page without external resources. Its memory is bounded. It
// must be a handler of one stream only.
type HTML struct {
	logsDir  string
	attempts []*attempt
	open     map[attemptKey]*attempt
	log      []logLine // outside of sessions
	run      *event.RunFinished
	started  event.RunStarted
	planned  int // number of trails of the run; 0 when it is unknown
	from     time.Time
	text     int   // bytes kept
	inner    int   // nested calls kept
	calls    int   // other calls kept
	steps    int   // steps kept
	maxCalls int   // maxAllCalls, except in tests
	maxSteps int   // maxAllSteps, except in tests
	files    int64 // bytes written to the page
}

// attemptKey identifies an attempt by its session, or by the trail when it has none.
type attemptKey struct {
	session string
	trailID
}

// attempt is one session of a trail, or the events of a trail without a session.
type attempt struct {
	event.TrailStarted
	Session       string
	Finished      *event.TrailFinished // nil when it did not end, or when another attempt followed
	Earlier       []*attempt
	Servers       []event.ServerStarted
	Steps         []*pageStep
	Log           []logLine
	MoreLog       int // number of lines that are left out
	Lost          int // number of lines of the session's log that could not be decoded
	MoreFiles     int // number of files that are left out
	MoreSteps     int // number of steps that are left out
	startedSteps  int // of the trail itself
	page          *HTML
	dir           string // the session's folder; empty without a session
	retried       bool
	traced        bool   // a trace was kept
	trace         *trace // nil before it was read
	failure, kept []event.Evidence
	files         int // number of files, including those of steps and calls
	calls         map[string]*pageCall
	inner         int
	from, to      time.Time
}

type pageStep struct {
	event.StepStarted
	Outcome   event.Outcome
	Calls     []*pageCall
	MoreCalls int // number of calls that are left out
	kept      []event.Evidence
	attempt   *attempt
	from, to  time.Time
}

type pageCall struct {
	event.CallStarted
	Done      *event.CallFinished // nil when it did not end
	Preview   string              // of the arguments, in one line
	Arguments excerpt
	Result    excerpt
	Brief     string // of the result, in one line
	Progress  []excerpt
	Calls     []*pageCall
	MoreCalls int // number of nested calls that are left out
	kept      []event.Evidence
	step      *pageStep // nil for a nested call
	attempt   *attempt
	from, to  time.Time
}

type logLine struct {
	Level, Source string
	Message       excerpt
	After         string // time since the beginning
}

// IsPage reports whether a file was written by HTML, so that it may be overwritten.
func IsPage(text []byte) bool {
	return bytes.Contains(text[:min(len(text), 64<<10)], []byte(`<meta name="generator" content="trailblaze">`))
}

// NewHTML returns an empty page of a run whose sessions have their folders in logsDir.
func NewHTML(logsDir string) *HTML {
	return &HTML{logsDir: logsDir, open: map[attemptKey]*attempt{}, maxCalls: maxAllCalls, maxSteps: maxAllSteps}
}

// Handle implements event.Handler.
func (h *HTML) Handle(r event.Record) { h.In(h.logsDir).Handle(r) }

// In returns a handler for sessions whose folders are in another logsDir.
func (h *HTML) In(logsDir string) event.Handler {
	return event.HandlerFunc(func(r event.Record) {
		dir := ""
		if r.Session != "" {
			dir = filepath.Join(logsDir, r.Session)
		}
		h.handle(r, dir)
	})
}

// handle adds a record of a session whose folder is dir.
func (h *HTML) handle(r event.Record, dir string) {
	if h.from.IsZero() || r.Time.Before(h.from) {
		h.from = r.Time
	}
	switch e := r.Event.(type) {
	case event.RunStarted:
		h.planned += e.Trails
		h.started = e
	case event.RunFinished:
		h.run = &e
	default:
		a := h.attempt(r, dir)
		if a != nil {
			h.add(a, r)
		} else if l, ok := e.(event.Log); ok {
			h.log = append(h.log, h.logLine(l, r.Time.Sub(h.from)))
		}
	}
}

// attempt returns the attempt of a record, nil for a record of the whole run. A trail whose file cannot be read ends
// without a start.
func (h *HTML) attempt(r event.Record, dir string) *attempt {
	key := attemptKey{r.Session, trailID{file: r.Trail}}
	begins := false
	switch e := r.Event.(type) {
	case event.TrailStarted:
		begins = true
		if r.Session == "" {
			key.trailID = startedID(e)
		}
	case event.TrailFinished:
		if r.Session == "" {
			key.trailID = trailIDOf(e)
			defer delete(h.open, key)
		}
	default:
		if r.Session == "" {
			return h.attemptWithoutSession(r.Trail)
		}
	}
	if a := h.open[key]; a != nil && !begins {
		return a
	}
	a := &attempt{page: h, Session: r.Session, dir: dir, from: r.Time, calls: map[string]*pageCall{}}
	a.File = r.Trail
	h.open[key] = a
	h.attempts = append(h.attempts, a)
	return a
}

// attemptWithoutSession returns the latest attempt without a session at a trail, nil when there is none.
func (h *HTML) attemptWithoutSession(file string) *attempt {
	for _, a := range slices.Backward(h.attempts) {
		if file != "" && a.Session == "" && a.File == file && a.Finished == nil {
			return a
		}
	}
	return nil
}

func (h *HTML) add(a *attempt, r event.Record) {
	a.to = r.Time
	switch e := r.Event.(type) {
	case event.TrailStarted:
		a.TrailStarted = e
	case event.ServerStarted:
		e.Server = lineText(e.Server)
		a.Servers = append(a.Servers, e)
	case event.StepStarted:
		e.Kind = lineText(e.Kind)
		a.Steps = append(a.Steps, &pageStep{StepStarted: e, attempt: a, from: r.Time})
		h.steps++
		if e.Within == "" {
			a.startedSteps++
		}
	case event.StepFinished:
		h.stepFinished(a, e, r.Time)
	case event.CallStarted:
		h.callStarted(a, e, r.Time)
	case event.CallProgress:
		if c := a.calls[e.Call]; c != nil && len(c.Progress) < maxLog {
			c.Progress = append(c.Progress, h.excerpt(e.Message, maxText))
		}
	case event.CallFinished:
		h.callFinished(a, e, r.Time)
	case event.Evidence:
		a.keep(e)
	case event.TrailFinished:
		h.trailFinished(a, e)
	case event.DeviceNoted:
		a.addLog(h, event.Log{Level: "info", Source: e.Kind, Message: e.Text}, r.Time)
	case event.Log:
		a.addLog(h, e, r.Time)
	}
}

// stepFinished adds the outcome of a step. On a full page, one that passed and shows nothing is left out.
func (h *HTML) stepFinished(a *attempt, e event.StepFinished, at time.Time) {
	for i, s := range slices.Backward(a.Steps) {
		if s.Number() != e.Number() {
			continue
		}
		s.Outcome, s.to = e.Outcome, at
		if h.steps > h.maxSteps && e.Outcome == event.Passed && len(s.Calls)+len(s.kept) == 0 {
			a.Steps = slices.Delete(a.Steps, i, i+1)
			a.MoreSteps++
			h.steps--
		}
		return
	}
}

// top returns the number of the step of the trail itself that the step is, or belongs to.
func (s *pageStep) top() string {
	number, _, _ := strings.Cut(s.Number(), ".")
	return number
}

// addLog adds a line to the log of the attempt.
func (a *attempt) addLog(h *HTML, e event.Log, at time.Time) {
	if len(a.Log) == maxLog {
		a.MoreLog++
		return
	}
	a.Log = append(a.Log, h.logLine(e, at.Sub(a.from)))
}

// step returns the current or last step, nil when none has started.
func (a *attempt) step() *pageStep {
	if len(a.Steps) == 0 {
		return nil
	}
	return a.Steps[len(a.Steps)-1]
}

func (h *HTML) callStarted(a *attempt, e event.CallStarted, at time.Time) {
	outer := a.calls[e.Call[:max(0, strings.LastIndexByte(e.Call, '.'))]]
	if depth(e.Call) > 0 {
		switch {
		case outer == nil: // it was left out
			return
		case a.inner == maxInner || h.inner == maxAllInner:
			outer.MoreCalls++
			return
		}
		a.inner++
		h.inner++
	}
	c := &pageCall{CallStarted: e, attempt: a, from: at, Preview: preview(e.Args), Arguments: h.excerpt(argumentText(e.Args), maxText)}
	c.Args = nil // may be large
	a.calls[e.Call] = c
	if outer != nil {
		outer.Calls = append(outer.Calls, c)
		return
	}
	if a.step() == nil {
		a.Steps = append(a.Steps, &pageStep{attempt: a, from: at})
	}
	c.step = a.step()
	c.step.Calls = append(c.step.Calls, c)
	h.calls++
}

func (h *HTML) callFinished(a *attempt, e event.CallFinished, at time.Time) {
	c := a.calls[e.Call]
	if c == nil {
		return
	}
	text, limit := e.Text, maxText
	if !e.OK {
		text, limit = e.Error, maxReason
	}
	c.Brief, c.Result, c.to = shortLine(text), h.excerpt(indentJSON(text), limit), at
	e.Text, e.Error = "", "" // may be large
	c.Done = &e
	if c.step != nil && h.calls > h.maxCalls && c.unimportant() {
		h.leaveOut(a, c)
	}
}

// unimportant reports whether neither the call nor one within it made its step fail.
func (c *pageCall) unimportant() bool {
	return c.Done != nil && (c.Done.OK || c.Done.Optional) &&
		!slices.ContainsFunc(c.Calls, func(inner *pageCall) bool { return !inner.unimportant() })
}

// leaveOut removes a call of a step, the calls within it and their files.
func (h *HTML) leaveOut(a *attempt, c *pageCall) {
	for i, other := range slices.Backward(c.step.Calls) {
		if other == c {
			c.step.Calls = slices.Delete(c.step.Calls, i, i+1)
			break
		}
	}
	c.step.MoreCalls++
	h.calls--
	a.forget(c)
}

func (a *attempt) forget(c *pageCall) {
	a.MoreFiles += len(c.kept)
	delete(a.calls, c.Call)
	for _, inner := range c.Calls {
		a.forget(inner)
	}
}

// keep adds a file to its call, its step or the session. Files of a failure are shown with the failure.
func (a *attempt) keep(e event.Evidence) {
	if e.File == traceIndex {
		a.traced = true
		return
	}
	if a.files == maxFiles {
		a.MoreFiles++
		return
	}
	a.files++
	to := &a.kept
	if strings.HasPrefix(e.File, "failure/") {
		to = &a.failure
	} else if c := a.calls[e.Call]; c != nil {
		to = &c.kept
	} else if s := a.step(); s != nil && s.top() == strconv.Itoa(e.Step) {
		to = &s.kept
	}
	*to = append(*to, e)
}

// trailFinished adds the result of a trail, and assigns it the earlier attempts.
func (h *HTML) trailFinished(a *attempt, e event.TrailFinished) {
	e.Reason, e.Hint, e.Snippet = truncate(e.Reason, maxReason), truncate(e.Hint, maxReason), truncate(e.Snippet, maxSnippet)
	a.Finished = &e
	a.Case, a.File, a.Title, a.Device = e.Case, e.File, cmp.Or(e.Title, a.Title), cmp.Or(e.Device, a.Device)
	for i := len(h.attempts) - 1; i >= 0 && len(a.Earlier) < e.Attempts-1; i-- {
		if b := h.attempts[i]; b != a && b.Finished == nil && !b.retried && b.which() == a.which() {
			b.retried = true
			a.Earlier = append(a.Earlier, b)
		}
	}
	slices.Reverse(a.Earlier)
}

func (h *HTML) logLine(e event.Log, after time.Duration) logLine {
	message := e.Message
	if e.Hint != "" {
		message += "\nhint: " + e.Hint
	}
	return logLine{Level: e.Level, Source: lineText(e.Source), Message: h.excerpt(message, maxText), After: formatMillis(after.Milliseconds())}
}
