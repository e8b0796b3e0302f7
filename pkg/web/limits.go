package web

import (
	"context"
	"fmt"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// limits bound what commands wait for (specification, section 15.1). Tests use shorter ones.
type limits struct {
	call         time.Duration // for a call that names no limit
	action       time.Duration // for an element to become ready for an action
	assertion    time.Duration // for a condition that is asserted
	navigation   time.Duration // for a page to load
	response     time.Duration // for a response that the page is about to send, and for each explanation
	first        time.Duration // for the first response of a page, however short the other limits are
	look         time.Duration // for a page to tell what is on it, when somebody looks at it
	frame        time.Duration // for an animation frame, to see whether an element moves; a page may draw none
	probe        time.Duration // for a page to show that it responds, after a call timed out, at most three times
	evidence     time.Duration // for the parts of the evidence, which are collected at the same time
	slowEvidence time.Duration // like evidence, when the last call timed out
	download     time.Duration // for downloads that are still running when the session ends
}

func defaultLimits() limits {
	return limits{
		call: 30 * time.Second, action: 10 * time.Second, assertion: 5 * time.Second, navigation: 30 * time.Second,
		response: time.Second, first: 5 * time.Second, look: 20 * time.Second, frame: time.Second,
		probe: 200 * time.Millisecond, evidence: 4 * time.Second, slowEvidence: 300 * time.Millisecond,
		download: 10 * time.Second,
	}
}

// readLimits returns the default limits with those of the user's options.
func readLimits(values map[string]string) (limits, error) {
	l := defaultLimits()
	for _, option := range []struct {
		key   string
		limit *time.Duration
	}{{"actionTimeout", &l.action}, {"assertionTimeout", &l.assertion}, {"navigationTimeout", &l.navigation}} {
		value := values[option.key]
		if value == "" {
			continue
		}
		limit, err := time.ParseDuration(value)
		if err != nil || limit <= 0 || limit > maxTimeout {
			return l, fault.New(fault.Misuse, fmt.Sprintf("write it like 10s or 1m30s, at most %s", maxTimeout),
				"%s: %q is not a time limit", option.key, value)
		}
		*option.limit = limit
		l.call = max(l.call, limit+2*l.response)
	}
	return l, nil
}

// pollInterval is the time between two observations of a page that reports no change, such as that of a property.
const pollInterval = 20 * time.Millisecond

// minPause is the shortest time between two observations of a page that changes all the time.
const minPause = pollInterval / 4

// maxTimeout is the longest limit of a command, as in [syntax.TimeoutProperty].
const maxTimeout = 10 * time.Minute

// waitLimit returns how long a command waits: timeoutMs of the call, else the default, or the limit of the recorded
// call when that is longer.
func waitLimit(ctx context.Context, args syntax.Arguments, absent time.Duration) time.Duration {
	return timeoutOf(args, max(absent, act.CallLimit(ctx)))
}

// actionLimit and assertionLimit return how long the command of a call waits.
func (p *page) actionLimit(ctx context.Context, args syntax.Arguments) time.Duration {
	return waitLimit(ctx, args, p.limits().action)
}

func (p *page) assertionLimit(ctx context.Context, args syntax.Arguments) time.Duration {
	return waitLimit(ctx, args, p.limits().assertion)
}

// limitOf returns how long a call may take: what the call names, else limits.call, or longer when the command waits for
// longer.
func (l limits) limitOf(call tool.Call) time.Duration {
	if call.Timeout > 0 {
		return call.Timeout
	}
	args := syntax.Arguments(call.Args)
	waits := max(timeoutOf(args, 0), time.Duration(min(args.Number("seconds", 0), maxWait)*float64(time.Second)))
	switch call.Tool {
	case "navigate", "web_navigate", "launchApp", "web_waitForUrl", "web_waitForDownload", "web_waitForRequest",
		"web_waitForResponse", "web_requestDetails":
		waits = max(waits, l.navigation)
	}
	if waits == 0 {
		return l.call
	}
	return max(l.call, waits+2*l.response)
}

// actLimits are the limits of an action whose element has to be ready within some time.
func (l limits) actLimits(ready time.Duration) act.Limits {
	return act.Limits{Ready: ready, First: l.first, Poll: pollInterval, Response: l.response}
}

func (p *page) limits() limits { return p.device.limits }
