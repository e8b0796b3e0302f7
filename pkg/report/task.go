package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Task is what a model did for a step.
type Task struct {
	event.TaskStarted
	Turns     []event.LLMFinished // the first ones
	MoreTurns int                 // number of turns that are left out
	Use       event.ModelUse      // of all requests that have ended
	Warnings  []string
	Ended     bool
}

// maxTurns bounds the turns of a step, as budgets do that are not set too high.
const maxTurns = 100

func (r *Run) taskStarted(c *Case, e event.TaskStarted) {
	if s := c.stepNumbered(e.Step); s != nil {
		s.Task = &Task{TaskStarted: e}
	}
}

func (r *Run) llmFinished(c *Case, e event.LLMFinished) {
	if c.Use == nil {
		c.Use = &event.ModelUse{Mode: event.Recorded}
	}
	c.Use.AddRequest(e)
	s := c.stepNumbered(e.Task)
	if s == nil || s.Task == nil {
		return
	}
	s.Task.Use.AddRequest(e)
	switch {
	case r.forget:
	case len(s.Task.Turns) == maxTurns:
		s.Task.MoreTurns++
	default:
		s.Task.Turns = append(s.Task.Turns, e)
	}
}

// taskFinished adds the warnings of a task to the step, and to the notes of the case.
func (r *Run) taskFinished(c *Case, e event.TaskFinished) {
	s := c.stepNumbered(e.Step)
	if s == nil || s.Task == nil {
		return
	}
	s.Task.Ended = true
	for _, text := range e.Warnings {
		s.Task.Warnings = append(s.Task.Warnings, Clean(truncate(text, maxText)))
		c.addNote(s.Task.Model, text)
	}
}

// requestText says at which request a task is, such as request 2/12, and what those of its trail have used.
func requestText(s *Step, use *event.ModelUse, dot string) string {
	if s.Task == nil || s.Task.Ended {
		return ""
	}
	request := "request " + strconv.Itoa(s.Task.Use.Requests+1)
	if s.Task.MaxRequests > 0 {
		request += "/" + strconv.Itoa(s.Task.MaxRequests)
	}
	if use == nil {
		return request
	}
	return joinNonEmpty(dot, request, tokensText(use), costText(use))
}

// tokensText says how many tokens the requests had, and which part of them came from a cache: 8.2k tokens, 61 % cached.
func tokensText(u *event.ModelUse) string {
	text := countText(u.Tokens) + " tokens"
	if u.Estimated {
		text = "~" + text
	}
	if u.CachedTokens > 0 && u.Tokens > 0 {
		text += fmt.Sprintf(", %d %% cached", 100*u.CachedTokens/u.Tokens)
	}
	return text
}

// countText shortens a large number: 950, 8.2k, 120k or 1.3M.
func countText(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// costText returns the cost of requests: $0.012, or "cost unknown" without a price.
func costText(u *event.ModelUse) string {
	if u.Cost == nil {
		return "cost unknown"
	}
	return dollars(*u.Cost)
}

// dollars formats a cost: with cents, and of less than a dollar with three digits that matter.
func dollars(cost float64) string {
	switch {
	case cost == 0:
		return "$0"
	case cost >= 1:
		return fmt.Sprintf("$%.2f", cost)
	}
	digits := 2 - int(math.Floor(math.Log10(cost)))
	text := strconv.FormatFloat(cost, 'f', min(digits, 6), 64)
	for len(text) > len("0.00") && text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	return "$" + text
}

// UsageSummary sums up the requests of a trail or a run: 10 requests, 18k tokens, 65 % cached, $0.12.
func UsageSummary(u *event.ModelUse) string {
	requests := fmt.Sprintf("%d %s", u.Requests, plural(u.Requests, "request"))
	if u.Requests == 0 {
		return requests
	}
	return joinNonEmpty(", ", requests, tokensText(u), costText(u))
}
