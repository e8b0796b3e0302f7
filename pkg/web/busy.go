package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// activity counts what a page has done. popups are those of all pages of its context.
type activity struct{ navigations, popups int }

func (p *page) activitySoFar() activity {
	p.context.mu.Lock()
	popups := p.context.opened
	p.context.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return activity{p.activity.navigations, popups}
}

const (
	// manyNavigations and manyPopups during one call explain why it timed out.
	manyNavigations = 5
	manyPopups      = 5
)

// waitingError wraps an error with what the command was waiting for.
type waitingError struct {
	what  string // such as: the promise that the script returned
	cause error
}

func (e *waitingError) Error() string { return "waiting for " + e.what + ": " + e.cause.Error() }

func (e *waitingError) Unwrap() error { return e.cause }

// timeoutResult returns the result of a call that reached its limit, or to which the page did not respond. The text
// says what the page was doing. Scripts that do not end are stopped, so that evidence can be collected.
func (p *page) timeoutResult(call tool.Call, limit time.Duration, before activity, err error) tool.Result {
	p.slow.Store(true)
	reason := p.busyReason(before)
	if reason == "" {
		reason = "it was " + waitingFor(err)
	}
	text := fmt.Sprintf("%s timed out after %s", call.Tool, limit)
	if known := fault.As(err); errors.Is(err, act.ErrNoResponse) {
		text = known.Message
	}
	text += ": " + reason
	hint := "a timeout: of the recorded call allows more time"
	if unconfirmed, ok := errors.AsType[*act.UnconfirmedError](err); ok {
		text += "; " + strings.TrimPrefix(unconfirmed.Target+": ", ": ") + "the action was sent and may have happened"
		hint = unconfirmed.Hint()
	}
	return tool.Result{Kind: fault.CallTimeout, Text: text, Hint: hint}
}

// waitingFor returns in words what the command that failed with err was waiting for.
func waitingFor(err error) string {
	if waiting, ok := errors.AsType[*waitingError](err); ok {
		return "waiting for " + waiting.what
	}
	if method, _, ok := strings.Cut(err.Error(), ": "+context.DeadlineExceeded.Error()); ok && method != "" {
		return "waiting for the browser's response to " + method[strings.LastIndex(method, " ")+1:]
	}
	return "still running"
}

// busyReason returns why the page does not respond, "" when it responds. It takes at most a few times limits.probe.
func (p *page) busyReason(before activity) string {
	p.mu.Lock()
	opening := p.leavesFor(0)
	p.mu.Unlock()
	if opening != "" && p.activitySoFar().navigations-before.navigations < manyNavigations {
		// Until it ends, the page does not evaluate anything.
		return shorten(opening) + ", which it opens, has not responded"
	}
	responds := p.responds()
	stopped := responds || p.stopScripts()
	now := p.activitySoFar()
	switch {
	case now.popups-before.popups >= manyPopups:
		return fmt.Sprintf("%d popups were opened", now.popups-before.popups)
	case now.navigations-before.navigations >= manyNavigations:
		return fmt.Sprintf("the page keeps navigating (%d times)", now.navigations-before.navigations)
	case responds:
		return ""
	case stopped:
		return "scripts of the page are busy"
	}
	return pageIsBusy
}

const pageIsBusy = "the page is busy, with scripts or with the layout of many elements"

// responds reports whether the page evaluates an expression soon.
func (p *page) responds() bool {
	ctx, cancel := context.WithTimeout(p.ctx, p.limits().probe)
	defer cancel()
	_, err := evaluateInMain[int](ctx, p, "1")
	return err == nil || ctx.Err() == nil // an error before the limit, such as errGone, is a response, too
}

// stopScripts ends the script that is running. When others follow at once, it disables scripts until the next call. It
// reports whether the page responds then.
func (p *page) stopScripts() bool {
	p.target.Send("Runtime.terminateExecution", nil)
	if p.responds() {
		return true
	}
	p.scriptsDisabled.Store(true)
	p.target.Send("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	p.target.Send("Runtime.terminateExecution", nil)
	return p.responds()
}

// stopBeforeLeaving ends a script of a page that has not responded lately. Until the script ends, the browser cannot show
// another document, and once that is under way, it does not end scripts any more.
func (p *page) stopBeforeLeaving() {
	if _, leaves := p.leavesTo(); p.slow.Load() && !leaves && !p.responds() {
		p.target.Send("Runtime.terminateExecution", nil)
	}
}

// enableScripts undoes what stopScripts did.
func (p *page) enableScripts() {
	if p.scriptsDisabled.Swap(false) {
		p.target.Send("Emulation.setScriptExecutionDisabled", map[string]any{"value": false})
	}
}
