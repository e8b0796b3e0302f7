package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Fold adds an event. It returns the case that the event belongs to, nil for an event of the whole run.
func (r *Run) Fold(record event.Record) *Case {
	return r.fold(record, func() string { return filepath.Join(r.logsDir, record.Session) })
}

// HandlerFor returns a handler that adds events of sessions whose folders are in another logsDir.
func (r *Run) HandlerFor(logsDir string) event.Handler {
	return event.HandlerFunc(func(record event.Record) {
		r.fold(record, func() string { return filepath.Join(logsDir, record.Session) })
	})
}

// fold adds an event of a session whose folder dir returns.
func (r *Run) fold(record event.Record, dir func() string) *Case {
	r.Last = record.Time
	if r.Began.IsZero() || record.Time.Before(r.Began) {
		r.Began = record.Time
	}
	switch e := record.Event.(type) {
	case event.RunStarted:
		if r.Runs++; r.Runs == 1 {
			r.Started = e
		}
		if !r.forget {
			r.Running = nil // cases of another run, which did not end
		}
		r.Current, r.Ended = e, false
		r.Planned += e.Trails
		return nil
	case event.RunFinished:
		r.Ended = true
		r.Finished.NotRun = append(r.Finished.NotRun, e.NotRun...)
		r.Finished.ExitCode, r.Finished.DurationMs = fault.Worst(r.Finished.ExitCode, e.ExitCode), e.DurationMs
		return nil
	}
	c := r.caseOf(record, dir)
	if c != nil {
		c.To = record.Time
		r.add(c, record)
		if !r.forget {
			r.addDetail(c, record)
		}
	} else if e, ok := record.Event.(event.Log); ok && !r.forget {
		r.Log = append(r.Log, r.logLine(e, record.Time.Sub(r.Began)))
	}
	return c
}

// caseOf returns the case of an event, nil for an event of the whole run. A trail whose file cannot be read ends
// without a start.
func (r *Run) caseOf(record event.Record, dir func() string) *Case {
	key := caseKey{record.Session, trailID{file: record.Trail}}
	started, starts := record.Event.(event.TrailStarted)
	finished, ends := record.Event.(event.TrailFinished)
	switch {
	case record.Session != "":
	case starts:
		key.trailID = startedID(started)
	case ends:
		key.trailID = finishedID(finished)
	default:
		return r.caseWithoutSession(record.Trail)
	}
	c := r.open[key]
	switch {
	case c != nil && !starts:
	case r.forget && !starts && !ends:
		return nil
	default:
		c = &Case{Session: record.Session, From: record.Time, key: key}
		if c.File = record.Trail; record.Session != "" {
			c.Dir = dir()
		}
		r.open[key] = c
		if !r.forget {
			c.callsByID = map[string]*Call{}
			r.Cases = append(r.Cases, c)
		}
	}
	if starts {
		r.replaceRunning(startedID(started), c)
		r.Running = append(r.Running, c)
	}
	return c
}

// caseWithoutSession returns the latest running case without a session at a trail, nil when there is none.
func (r *Run) caseWithoutSession(file string) *Case {
	for _, c := range slices.Backward(r.Running) {
		if file != "" && c.Session == "" && c.File == file {
			return c
		}
	}
	return nil
}

// replaceRunning removes the attempts at a replay from the running ones. Those before c are its earlier attempts.
func (r *Run) replaceRunning(id trailID, c *Case) {
	r.Running = slices.DeleteFunc(r.Running, func(other *Case) bool {
		switch {
		case other.id() != id:
			return false
		case r.forget:
			delete(r.open, other.key)
		case other != c:
			c.Earlier = append(other.Earlier, other)
			other.Retried, other.Earlier = true, nil
		}
		return true
	})
}

// add adds an event to its case.
func (r *Run) add(c *Case, record event.Record) {
	at := record.Time
	switch e := record.Event.(type) {
	case event.TrailStarted:
		c.TrailStarted, c.Since = e, at
	case event.ServerStarted:
		c.Servers, c.Since = append(c.Servers, e), at
	case event.StepStarted:
		r.stepStarted(c, e, at)
	case event.StepFinished:
		r.stepFinished(c, e, at)
	case event.CallStarted:
		r.callStarted(c, e, at)
	case event.CallProgress:
		r.callProgress(c, e)
	case event.CallFinished:
		r.callFinished(c, e, at)
	case event.TaskStarted:
		r.taskStarted(c, e)
	case event.LLMFinished:
		r.llmFinished(c, e)
	case event.TaskFinished:
		r.taskFinished(c, e)
	case event.HealProposed:
		r.healProposed(c, e)
	case event.TrailFinished:
		r.trailFinished(c, e)
	}
}

// addDetail adds an event that changes nothing in a case but its files and its log.
func (r *Run) addDetail(c *Case, record event.Record) {
	switch e := record.Event.(type) {
	case event.Evidence:
		c.addFile(e)
	case event.DeviceNoted:
		r.addLog(c, event.Log{Level: "info", Source: e.Kind, Message: e.Text}, record.Time, true)
	case event.Log:
		r.addLog(c, e, record.Time, false)
	}
}

func (r *Run) stepStarted(c *Case, e event.StepStarted, at time.Time) {
	if r.forget {
		c.Steps = nil
	} else {
		r.steps++
	}
	c.Steps, c.Call, c.Since = append(c.Steps, &Step{StepStarted: e, From: at}), nil, at
	if e.Within == "" {
		c.Reached++
	}
}

// stepFinished adds the outcome of a step. In a full Run, one that passed and shows nothing is left out.
func (r *Run) stepFinished(c *Case, e event.StepFinished, at time.Time) {
	for i, s := range slices.Backward(c.Steps) {
		if s.Number() != e.Number() {
			continue
		}
		s.Outcome, s.To = e.Outcome, at
		if r.steps > r.maxSteps && e.Outcome == event.Passed && len(s.Calls)+len(s.Files) == 0 {
			c.Steps = slices.Delete(c.Steps, i, i+1)
			c.MoreSteps++
			r.steps--
		}
		return
	}
}

func (r *Run) callStarted(c *Case, e event.CallStarted, at time.Time) {
	call := &Call{CallStarted: e, From: at}
	call.Args = nil // may be large
	if depth(e.Call) == 0 {
		c.Call, c.Since = call, at
	}
	if r.forget || !r.addCall(c, call) {
		return
	}
	call.Preview, call.Arguments = preview(e.Args), r.excerpt(argumentText(e.Args), maxText)
}

// addCall adds a call to its step, or to the call that it is nested in. It reports whether there was room.
func (r *Run) addCall(c *Case, call *Call) bool {
	outer := c.callsByID[call.Call[:max(0, strings.LastIndexByte(call.Call, '.'))]]
	if depth(call.Call) > 0 {
		switch {
		case outer == nil: // it was left out
			return false
		case c.inner == maxInner || r.inner == maxAllInner:
			outer.MoreCalls++
			return false
		}
		c.inner++
		r.inner++
	}
	c.callsByID[call.Call] = call
	if outer != nil {
		outer.Calls = append(outer.Calls, call)
		return true
	}
	if c.Step() == nil {
		c.Steps = append(c.Steps, &Step{From: call.From})
	}
	call.step = c.Step()
	call.step.Calls = append(call.step.Calls, call)
	r.calls++
	return true
}

func (r *Run) callProgress(c *Case, e event.CallProgress) {
	switch call := c.callsByID[e.Call]; {
	case r.forget && c.Call != nil:
		c.Call.Progress = []Excerpt{{Text: Clean(truncate(e.Message, maxText))}}
	case call != nil && len(call.Progress) < maxLog:
		call.Progress = append(call.Progress, r.excerpt(e.Message, maxText))
	}
}

func (r *Run) callFinished(c *Case, e event.CallFinished, at time.Time) {
	text, limit := e.Text, maxText
	if !e.OK {
		text, limit = e.Error, maxReason
	}
	e.Text, e.Error = "", "" // may be large
	c.addNotes(e)
	if depth(e.Call) == 0 {
		c.Call, c.Since = nil, at
		if !e.OK && !e.Optional {
			c.Failed = &e
		}
	}
	call := c.callsByID[e.Call]
	if call == nil {
		return
	}
	call.Brief, call.Result, call.To, call.Done = shortLine(text), r.excerpt(indentJSON(text), limit), at, &e
	if call.step != nil && r.calls > r.maxCalls && call.isUnimportant() {
		r.leaveOut(c, call)
	}
}

func (c *Case) addNotes(e event.CallFinished) {
	for _, text := range e.Notes {
		c.addNote(e.Tool, text)
	}
}

func (c *Case) addNote(about, text string) {
	if len(c.Notes) == maxNotes {
		c.MoreNotes++
		return
	}
	c.Notes = append(c.Notes, Note{Step: c.Step(), About: about, Text: text})
}

// isUnimportant reports whether neither the call nor one within it made its step fail.
func (c *Call) isUnimportant() bool {
	return c.Done != nil && (c.Done.OK || c.Done.Optional) &&
		!slices.ContainsFunc(c.Calls, func(inner *Call) bool { return !inner.isUnimportant() })
}

// leaveOut removes a call of a step, the calls within it and their files.
func (r *Run) leaveOut(c *Case, call *Call) {
	for i, other := range slices.Backward(call.step.Calls) {
		if other == call {
			call.step.Calls = slices.Delete(call.step.Calls, i, i+1)
			break
		}
	}
	call.step.MoreCalls++
	r.calls--
	eachCall([]*Call{call}, func(removed *Call) {
		c.MoreFiles += len(removed.Files)
		delete(c.callsByID, removed.Call)
	})
}

// addFile adds a file to its call, its step or the case. Files of a failure are kept apart.
func (c *Case) addFile(e event.Evidence) {
	if e.File == traceIndex {
		c.HasTrace = true
		return
	}
	if c.files == maxFiles {
		c.MoreFiles++
		return
	}
	c.files++
	to := &c.Files
	if strings.HasPrefix(e.File, "failure/") {
		to = &c.FailureFiles
	} else if call := c.callsByID[e.Call]; call != nil {
		to = &call.Files
	} else if s := c.Step(); s != nil && s.topNumber() == strconv.Itoa(e.Step) {
		to = &s.Files
	}
	*to = append(*to, e)
}

// addLog adds a message to the log of the case.
func (r *Run) addLog(c *Case, e event.Log, at time.Time, incident bool) {
	if len(c.Log) == maxLog {
		c.MoreLog++
		return
	}
	line := r.logLine(e, at.Sub(c.From))
	line.Incident = incident
	c.Log = append(c.Log, line)
}

func (r *Run) logLine(e event.Log, after time.Duration) LogLine {
	message := e.Message
	if e.Hint != "" {
		message += "\nhint: " + e.Hint
	}
	return LogLine{Level: e.Level, Source: lineText(e.Source), Message: r.excerpt(message, maxText), After: after}
}

// trailFinished adds the result of a trail.
func (r *Run) trailFinished(c *Case, e event.TrailFinished) {
	r.replaceRunning(finishedID(e), c)
	r.Finished.Count(e.Outcome, e.Flaky, e.ModelUse)
	r.Finished.CountRepeat(e)
	e.Reason = truncate(e.Reason, maxReason)
	c.Finished = &e
	c.Case, c.File, c.Title, c.Device = e.Case, e.File, cmp.Or(e.Title, c.Title), cmp.Or(e.Device, c.Device)
	if r.forget || c.Session == "" {
		delete(r.open, c.key)
	}
	if r.forget {
		return
	}
	e.Hint, e.Snippet = truncate(e.Hint, maxReason), truncate(e.Snippet, maxSnippet)
	c.keepEarlier(max(e.Attempts-1, 0))
}

// keepEarlier keeps the last n earlier attempts. Those before them are of a run that was killed, and another case.
func (c *Case) keepEarlier(n int) {
	if n >= len(c.Earlier) {
		return
	}
	others := c.Earlier[:len(c.Earlier)-n]
	c.Earlier = c.Earlier[len(others):]
	last := others[len(others)-1]
	last.Retried, last.Earlier = false, others[:len(others)-1]
}

// excerpt returns at most limit bytes of s, fewer when the Run is full.
func (r *Run) excerpt(s string, limit int) Excerpt {
	if r.text > maxAllText && limit < maxReason {
		limit = lessText
	}
	if len(s) <= limit {
		r.text += len(s)
		return Excerpt{Text: Clean(s)}
	}
	r.text += limit
	return Excerpt{
		Text: Clean(truncate(s, limit)),
		Note: fmt.Sprintf("The first %s of the %s in the session's events.ndjson.", bytesText(int64(limit)), bytesText(int64(len(s)))),
	}
}
