package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// requestCommands are the commands for requests since the session began, whatever was done since then.
func requestCommands() []command {
	return []command{
		newCommand("web_requestDetails",
			"Returns the last request that matches, when it has ended: url, method, status, request, response and durationMs.",
			urlProperty+", "+methodProperty+", "+statusProperty+", "+syntax.TimeoutProperty+`, "default": 30000}`,
			webRequestDetails, "url"),
		newCommand("web_assertNetworkEvent",
			"Fails unless as many requests match as minCount says, of those since the session began and those that come within timeoutMs.",
			urlProperty+", "+methodProperty+", "+statusProperty+
				`, "contains": {"type": "string", "minLength": 1, "description": "A part of what was sent, with case"},
				"minCount": {"type": "integer", "minimum": 1, "default": 1}, `+syntax.TimeoutProperty+`, "default": 5000}`,
			webAssertNetworkEvent, "url").checkedBy(checkNetworkEvent),
	}
}

// checkNetworkEvent checks the arguments of web_assertNetworkEvent.
func checkNetworkEvent(args syntax.Arguments) error {
	if args.Has("contains") && syntax.IsBlank(args.Text("contains")) {
		return fault.New(fault.InvalidArguments, "", "contains is empty, and every request has that")
	}
	return nil
}

// requests returns copies of the requests of the session for which matches returns true, in the order in which they were
// sent: of those that ended before the last action and of the others, the last maxExchanges each.
func (n *network) requests(matches func(*exchange) bool) []exchange {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []exchange
	for _, x := range slices.Concat(n.earlier, n.exchanges) {
		if matches(x) {
			list = append(list, *x)
		}
	}
	slices.SortFunc(list, func(a, b exchange) int { return cmp.Compare(a.requested, b.requested) })
	return list
}

// waitForRequests waits until requests that match are enough, and returns them. A nil error means that they are.
func (n *network) waitForRequests(
	ctx context.Context, limit time.Duration, matches func(*exchange) bool, enough func([]exchange) bool,
) (list []exchange, err error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = n.device.changes.waitUntil(waiting, func() bool {
		list = n.requests(matches)
		return enough(list)
	})
	return list, err
}

// exchangeDetails is what web_requestDetails returns.
type exchangeDetails struct {
	URL        string       `json:"url"`
	Method     string       `json:"method"`
	Status     int          `json:"status,omitempty"`
	Failure    string       `json:"failure,omitempty"` // the browser's code
	DurationMS int          `json:"durationMs"`
	Request    httpMessage  `json:"request"`
	Response   *httpMessage `json:"response,omitempty"` // nil if none came
}

// isOver reports whether nothing more is to come of an exchange but what a stream sends.
func (x *exchange) isOver() bool { return x.ended > 0 || x.responded > 0 && x.isStream() }

func webRequestDetails(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	pattern, err := p.device.readNetworkPattern(args)
	if err != nil {
		return tool.Result{}, err
	}
	n, limit := p.device.network, waitLimit(ctx, args, p.limits().navigation)
	list, err := n.waitForRequests(ctx, limit, pattern.covers, func(list []exchange) bool {
		return len(list) > 0 && list[len(list)-1].isOver()
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return tool.Result{}, err
	case len(list) == 0:
		return tool.Result{}, n.missing(ctx, pattern, args, limit)
	}
	x := &list[len(list)-1]
	if refused := n.checkUse(ctx, x); refused != nil {
		return tool.Result{}, refused
	}
	if err != nil {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s has not ended within %s", x, limit)
	}
	details := exchangeDetails{
		URL: x.url, Method: x.method, Status: x.status, Failure: x.failure, Request: x.request(p.device.redact),
		DurationMS: int(math.Round(1000 * (x.finished - x.started))),
	}
	if x.hasBody && x.body == "" {
		x.readSentBody(ctx, &details.Request, p.device.redact)
	}
	if x.responded > 0 {
		details.Response = new(x.response(ctx, p.device.redact))
	}
	return jsonResult(details), nil
}

// readSentBody asks the browser for a body that was not in the event of the request.
func (x *exchange) readSentBody(ctx context.Context, to *httpMessage, redact func(string) string) {
	var sent struct{ PostData string }
	err := x.session.CallLimited(ctx, 2*(8<<20), "Network.getRequestPostData", map[string]any{"requestId": x.id}, &sent)
	if err != nil {
		to.NoBody = "the browser does not have it: " + err.Error()
		return
	}
	to.Body, to.BodyBytes = boundedBody(sent.PostData, redact)
}

func webAssertNetworkEvent(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	pattern, err := p.device.readNetworkPattern(a)
	if err = errors.Join(err, checkNetworkEvent(a)); err != nil {
		return tool.Result{}, err
	}
	n, limit, least := p.device.network, p.assertionLimit(ctx, a), int(a.Number("minCount", 1))
	contains := a.Text("contains")
	matches := func(x *exchange) bool {
		return pattern.covers(x) && strings.Contains(x.body, contains) && n.mayName(ctx, x)
	}
	list, err := n.waitForRequests(ctx, limit, matches, func(list []exchange) bool { return len(list) >= least })
	switch {
	case err != nil && ctx.Err() != nil:
		return tool.Result{}, err
	case err != nil && len(list) == 0:
		return tool.Result{}, n.missing(ctx, pattern, a, limit)
	}
	var words []string
	for i := range list {
		words = append(words, list[i].String())
	}
	if err != nil {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s%s, not at least %d, within %s; %s", text.Count(len(list), "request"),
			patternWords(a, "method", "status", "url", "contains"), least, limit, seen("request", words))
	}
	return success("%s", seen("request", words)), nil
}

// covers reports whether an exchange is one that the pattern means.
func (p networkPattern) covers(x *exchange) bool {
	return p.matches(x.url, x.method) && (p.status == 0 || p.status == x.status)
}

// missing is the error of a command for requests that match, when none does. It lists those with the URL, or all, of
// those that the call may name.
func (n *network) missing(ctx context.Context, pattern networkPattern, a syntax.Arguments, limit time.Duration) error {
	list := n.requests(func(x *exchange) bool { return pattern.url.Match(x.url) && n.mayName(ctx, x) })
	if len(list) == 0 {
		list = n.requests(func(x *exchange) bool { return n.mayName(ctx, x) })
	}
	var words []string
	for i := range list {
		words = append(words, list[i].String())
	}
	hint := ""
	if i := slices.IndexFunc(list, func(x exchange) bool { return x.hasBody && x.body == "" }); i >= 0 && a.Has("contains") {
		hint = fmt.Sprintf("%s %s has a body that is too large to be searched, or files", list[i].method, list[i].url)
	}
	return fault.New(fault.ToolFailed, hint, "no request%s was made within %s; %s",
		patternWords(a, "method", "status", "url", "contains"), limit, seen("request", words))
}
