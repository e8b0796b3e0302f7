package network

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// WaitForRequest waits for at most limit until a request matches that was sent since the last action, and returns each
// once. The status of the pattern is ignored. The error is of kind ToolFailed if none comes, or if a script in the
// sandbox may not use it.
func (t *Traffic) WaitForRequest(ctx context.Context, p Pattern, limit time.Duration) (Message, error) {
	matches := func(x *Exchange) bool { return p.matches(x.url, x.method) }
	x, err := t.wait(ctx, p, limit, "request", matches, func(x *Exchange) bool {
		if x.requestReturned || x.requested <= t.window {
			return false
		}
		x.requestReturned = true
		return true
	})
	if err != nil {
		return Message{}, err
	}
	return Message{URL: x.url, Method: x.method, Content: x.request(t.config.Redact)}, nil
}

// WaitForResponse waits for at most limit until a response matches that is complete since the last action, and returns
// each once. It asks the browser for the body. The errors are those of [Traffic.WaitForRequest].
func (t *Traffic) WaitForResponse(ctx context.Context, p Pattern, limit time.Duration) (Message, error) {
	x, err := t.wait(ctx, p, limit, "response", p.hasResponse, func(x *Exchange) bool {
		isComplete := x.ended > t.window || x.responded > t.window && x.isStream()
		if x.answerReturned || !isComplete {
			return false
		}
		x.answerReturned = true
		return true
	})
	if err != nil {
		return Message{}, err
	}
	return Message{URL: x.url, Method: x.method, Status: x.status, Content: x.response(ctx, t.config.Redact)}, nil
}

// wait waits for an exchange since the last action that matches and for which take returns true, and returns a copy of
// it. Both are called with t.mu held.
func (t *Traffic) wait(
	ctx context.Context, p Pattern, limit time.Duration, what string, matches func(*Exchange) bool, take func(*Exchange) bool,
) (found Exchange, err error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = t.config.WaitUntil(waiting, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		i := slices.IndexFunc(t.exchanges, func(x *Exchange) bool { return matches(x) && take(x) })
		if i >= 0 {
			found = *t.exchanges[i]
		}
		return i >= 0
	})
	switch {
	case err == nil:
		return found, t.checkUse(ctx, &found)
	case ctx.Err() != nil:
		return found, err
	}
	hint := "only requests since the last action are considered, and those that are still to come"
	t.mu.Lock()
	for _, x := range t.earlier {
		if matches(x) && t.mayName(ctx, x) {
			hint = fmt.Sprintf("%s came before the last action: move this call up, behind the call that leads to it", x)
		}
	}
	t.mu.Unlock()
	return found, fault.New(fault.ToolFailed, hint,
		"timed out after %s waiting for a %s%s; %s", limit, what, p.words, t.recent(ctx))
}

// mayName reports whether a call may learn the URL of an exchange: a script in the sandbox only if it may use its
// origin.
func (t *Traffic) mayName(ctx context.Context, x *Exchange) bool {
	return t.config.Origins.CheckSandbox(ctx, x.url) == nil
}

// checkUse returns an error, which names only the origin, if a call may not use an exchange.
func (t *Traffic) checkUse(ctx context.Context, x *Exchange) error {
	if t.mayName(ctx, x) {
		return nil
	}
	return t.config.Origins.CheckSandbox(ctx, syntax.OriginOf(x.url))
}

// recent lists in words the requests since the last action that a call may name.
func (t *Traffic) recent(ctx context.Context) string {
	return text.Seen("request", inWords(t.requests(func(x *Exchange) bool {
		return max(x.requested, x.responded, x.ended) > t.window && t.mayName(ctx, x)
	})))
}

// requests returns copies of the requests of the session for which matches returns true, in the order in which they
// were sent: of those that ended before the last action and of the others, the last maxExchanges each. It calls matches
// with t.mu held.
func (t *Traffic) requests(matches func(*Exchange) bool) []Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Exchange
	for _, x := range slices.Concat(t.earlier, t.exchanges) {
		if matches(x) {
			list = append(list, *x)
		}
	}
	slices.SortFunc(list, func(a, b Exchange) int { return cmp.Compare(a.requested, b.requested) })
	return list
}

// waitForRequests waits until requests that match are enough, and returns them. A nil error means that they are.
func (t *Traffic) waitForRequests(
	ctx context.Context, limit time.Duration, matches func(*Exchange) bool, enough func([]Exchange) bool,
) (list []Exchange, err error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = t.config.WaitUntil(waiting, func() bool {
		list = t.requests(matches)
		return enough(list)
	})
	return list, err
}

// Details waits for at most limit until the last request that matches has ended, of those since the session began, and
// asks the browser for the bodies. The error is of kind ToolFailed if none does, or if a script in the sandbox may not
// use it.
func (t *Traffic) Details(ctx context.Context, p Pattern, limit time.Duration) (Details, error) {
	list, err := t.waitForRequests(ctx, limit, p.covers, func(list []Exchange) bool {
		return len(list) > 0 && list[len(list)-1].isOver()
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return Details{}, err
	case len(list) == 0:
		return Details{}, t.missing(ctx, p, limit)
	}
	x := &list[len(list)-1]
	if refused := t.checkUse(ctx, x); refused != nil {
		return Details{}, refused
	}
	if err != nil {
		return Details{}, fault.New(fault.ToolFailed, "", "%s has not ended within %s", x, limit)
	}
	return x.details(ctx, t.config.Redact), nil
}

// WaitForCount waits for at most limit until at least some requests match, of those since the session began that the
// call may name, and lists them in words. The error is of kind ToolFailed if there are fewer.
func (t *Traffic) WaitForCount(ctx context.Context, p Pattern, least int, limit time.Duration) (found string, err error) {
	matches := func(x *Exchange) bool { return p.covers(x) && t.mayName(ctx, x) }
	list, err := t.waitForRequests(ctx, limit, matches, func(list []Exchange) bool { return len(list) >= least })
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil && len(list) == 0:
		return "", t.missing(ctx, p, limit)
	}
	found = text.Seen("request", inWords(list))
	if err != nil {
		return "", fault.New(fault.ToolFailed, "", "%s%s, not at least %d, within %s; %s", text.Count(len(list), "request"),
			p.words, least, limit, found)
	}
	return found, nil
}

func inWords(list []Exchange) []string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].String()
	}
	return words
}

// missing is the error of a command for requests that match, when none does. It lists those with the URL, or all, of
// those that the call may name.
func (t *Traffic) missing(ctx context.Context, p Pattern, limit time.Duration) error {
	list := t.requests(func(x *Exchange) bool { return p.url.Match(x.url) && t.mayName(ctx, x) })
	if len(list) == 0 {
		list = t.requests(func(x *Exchange) bool { return t.mayName(ctx, x) })
	}
	hint := ""
	if i := slices.IndexFunc(list, func(x Exchange) bool { return x.hasBody && x.body == "" }); i >= 0 && p.contains != "" {
		hint = fmt.Sprintf("%s %s has a body that is too large to be searched, or files", list[i].method, list[i].url)
	}
	return fault.New(fault.ToolFailed, hint, "no request%s was made within %s; %s", p.words, limit, text.Seen("request", inWords(list)))
}
