package report

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// What a page holds is bounded, or no browser opens the page of a large run. Whatever is left out says so where it would stand.
const (
	maxText      = 16 << 10  // bytes of an argument list, a result or a message; what explains a failure gets maxReason
	maxAllText   = 24 << 20  // of all of them together; after that each gets lessText
	lessText     = 256       // bytes
	maxLine      = 1000      // bytes of a name, a path or a step
	maxSnippet   = 8 << 10   // bytes of the part of a trail that a failure is about
	maxLog       = 300       // lines of a trail's log
	maxInner     = 500       // calls that are made within calls, in one session
	maxAllInner  = 50_000    // and in all
	maxServerLog = 64 << 10  // bytes at the end of a server's log, or at the beginning of another text file
	maxPicture   = 8 << 20   // bytes of a picture
	maxLinked    = 8 << 20   // bytes of another file that can be saved from the page
	maxFiles     = 400       // kept files of one session that are shown
	maxAllFiles  = 100 << 20 // bytes of all files, after that none is shown
)

// HTML collects a run, or sessions of earlier runs, for one page that needs nothing beside it. It keeps a bounded part of what it
// is told. As a handler it belongs to one stream.
type HTML struct {
	logsDir  string
	attempts []*attempt
	open     map[attemptKey]*attempt
	log      []logLine // of no session
	run      *event.RunFinished
	planned  int // trails that the run set out to do; 0 when that is not known
	from     time.Time
	text     int   // bytes kept
	inner    int   // calls within calls kept
	files    int64 // bytes written to the page
}

// attemptKey tells what is told of one attempt from the rest: by its session, or by the trail's name and device when it has none.
type attemptKey struct {
	session string
	which
}

// attempt is one session of a trail, or what is told of a trail without a session.
type attempt struct {
	event.TrailStarted
	Session       string
	Finished      *event.TrailFinished // nil for one that did not end, or that a later attempt followed
	Earlier       []*attempt
	Servers       []event.ServerStarted
	Steps         []*pageStep
	Log           []logLine
	MoreLog       int // lines that are left out
	Lost          int // lines of the session's log that could not be read
	MoreFiles     int // kept files that are left out
	page          *HTML
	dir           string // of the session; empty without one
	retried       bool
	failure, kept []event.Evidence
	files         int // kept files, those of steps and calls among them
	calls         map[string]*pageCall
	inner         int
	from, to      time.Time
}

type pageStep struct {
	event.StepStarted
	Outcome  event.Outcome
	Calls    []*pageCall
	kept     []event.Evidence
	attempt  *attempt
	from, to time.Time
}

type pageCall struct {
	event.CallStarted
	Done      *event.CallFinished // nil for one that did not end
	Preview   string              // of the arguments, in one line
	Arguments excerpt
	Result    excerpt
	Brief     string // of the result, in one line
	Said      []excerpt
	Calls     []*pageCall
	Left      int // calls within it that are left out
	kept      []event.Evidence
	attempt   *attempt
	from, to  time.Time
}

type logLine struct {
	Level, Source string
	Message       excerpt
	After         string // how long after the beginning
}

// IsPage tells whether a file is a page that HTML wrote, and may therefore be replaced by the next one.
func IsPage(text []byte) bool {
	return bytes.Contains(text[:min(len(text), 64<<10)], []byte(`<meta name="generator" content="trailblaze">`))
}

// NewHTML returns an empty page of a run whose sessions leave their files below logsDir.
func NewHTML(logsDir string) *HTML { return &HTML{logsDir: logsDir, open: map[attemptKey]*attempt{}} }

// Handle implements event.Handler.
func (h *HTML) Handle(r event.Record) { h.In(h.logsDir).Handle(r) }

// In is h for records of sessions that have left their files below another folder.
func (h *HTML) In(logsDir string) event.Handler {
	return event.HandlerFunc(func(r event.Record) {
		dir := ""
		if r.Session != "" {
			dir = filepath.Join(logsDir, r.Session)
		}
		h.handle(r, dir)
	})
}

// handle takes a record of a session whose files are in dir.
func (h *HTML) handle(r event.Record, dir string) {
	if h.from.IsZero() || r.Time.Before(h.from) {
		h.from = r.Time
	}
	switch e := r.Event.(type) {
	case event.RunStarted:
		h.planned += e.Trails
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

// attempt finds what a record belongs to; nil for the run as a whole. A trail may end without a beginning, when its file cannot be read.
func (h *HTML) attempt(r event.Record, dir string) *attempt {
	key := attemptKey{r.Session, which{file: r.Trail}}
	begins := false
	switch e := r.Event.(type) {
	case event.TrailStarted:
		begins = true
		if r.Session == "" {
			key.which = which{e.File, e.Device, e.Title}
		}
	case event.TrailFinished:
		if r.Session == "" {
			key.which = whichOf(e)
			defer delete(h.open, key)
		}
	default:
		if r.Session == "" {
			return h.without(r.Trail)
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

// without is the attempt without a session at a trail that began last; nil when there is none.
func (h *HTML) without(file string) *attempt {
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
		e.Server = line(e.Server)
		a.Servers = append(a.Servers, e)
	case event.StepStarted:
		e.Kind = line(e.Kind)
		a.Steps = append(a.Steps, &pageStep{StepStarted: e, attempt: a, from: r.Time})
	case event.StepFinished:
		if s := a.step(); s != nil {
			s.Outcome, s.to = e.Outcome, r.Time
		}
	case event.CallStarted:
		h.callStarted(a, e, r.Time)
	case event.CallProgress:
		if c := a.calls[e.Call]; c != nil && len(c.Said) < maxLog {
			c.Said = append(c.Said, h.excerpt(e.Message, maxText))
		}
	case event.CallFinished:
		h.callFinished(a, e, r.Time)
	case event.Evidence:
		a.keep(e)
	case event.TrailFinished:
		h.trailFinished(a, e)
	case event.Log:
		if len(a.Log) == maxLog {
			a.MoreLog++
			return
		}
		a.Log = append(a.Log, h.logLine(e, r.Time.Sub(a.from)))
	}
}

// step is the one that is on its way, or was last; nil when none has begun.
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
		case outer == nil: // left out itself
			return
		case a.inner == maxInner || h.inner == maxAllInner:
			outer.Left++
			return
		}
		a.inner++
		h.inner++
	}
	c := &pageCall{CallStarted: e, attempt: a, from: at, Preview: preview(e.Args), Arguments: h.excerpt(argumentText(e.Args), maxText)}
	c.Args = nil // they may be large
	a.calls[e.Call] = c
	if outer != nil {
		outer.Calls = append(outer.Calls, c)
		return
	}
	if a.step() == nil {
		a.Steps = append(a.Steps, &pageStep{attempt: a, from: at})
	}
	a.step().Calls = append(a.step().Calls, c)
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
	c.Brief, c.Result, c.to = brief(text), h.excerpt(readable(text), limit), at
	e.Text, e.Error = "", "" // they may be large
	c.Done = &e
}

// keep puts a file where it was made; what shows a failure stands with the failure.
func (a *attempt) keep(e event.Evidence) {
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
	} else if s := a.step(); s != nil && s.Index == e.Step {
		to = &s.kept
	}
	*to = append(*to, e)
}

// trailFinished closes a trail; attempts that came before its last one belong to it.
func (h *HTML) trailFinished(a *attempt, e event.TrailFinished) {
	e.Reason, e.Hint, e.Snippet = head(e.Reason, maxReason), head(e.Hint, maxReason), head(e.Snippet, maxSnippet)
	a.Finished = &e
	a.File, a.Title, a.Device = e.File, cmp.Or(e.Title, a.Title), cmp.Or(e.Device, a.Device)
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
	return logLine{Level: e.Level, Source: line(e.Source), Message: h.excerpt(message, maxText), After: millis(after.Milliseconds())}
}
