package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/network"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Properties of input schemas that say which requests are meant.
const (
	urlProperty = `"url": {"type": "string", "minLength": 1,
		"description": "A URL, or a pattern: * for any characters but /, ** for any, {a,b} for one of several"}`
	methodProperty = `"method": {"type": "string", "minLength": 1, "description": "GET, POST …; any when absent"}`
	statusProperty = `"status": {"type": "integer", "minimum": 100, "maximum": 599}`
)

func networkCommands() []command {
	limit := syntax.TimeoutProperty + `, "default": 30000}`
	list := []command{
		newCommand("web_route", "Answers requests from now on, or delays or aborts them. The last route that matches is used.",
			urlProperty+", "+methodProperty+`, "status": {"type": "integer", "minimum": 200, "maximum": 599, "default": 200},
			"headers": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
			"body": {"description": "Text; anything else is sent as JSON"},
			"bodyFile": {"type": "string", "minLength": 1, "description": "A file beside the trail or in the project"},
			"delayMs": {"type": "integer", "minimum": 0, "maximum": 600000,
			"description": "Wait before the answer; without an answer the request is sent to the server after it"},
			"abort": {"type": "boolean", "description": "Fail the request as if the network were off"}`,
			webRoute, "url"),
		newCommand("web_unroute", "Removes the routes with a url, or all.", urlProperty, webUnroute),
		newCommand("web_waitForRequest",
			"Waits for a request, which may have been sent since the last action; returns url, method, headers and body.",
			urlProperty+", "+methodProperty+", "+limit, awaitRequest((*network.Traffic).WaitForRequest), "url"),
		newCommand("web_waitForResponse",
			"Waits for a response, which may have come since the last action; returns url, method, status, headers and body.",
			urlProperty+", "+methodProperty+", "+statusProperty+", "+limit,
			awaitRequest((*network.Traffic).WaitForResponse), "url"),
		newCommand("web_requestDetails",
			"Returns the last request that matches, when it has ended: url, method, status, request, response and durationMs.",
			urlProperty+", "+methodProperty+", "+statusProperty+", "+limit,
			awaitRequest((*network.Traffic).Details), "url"),
		newCommand("web_assertNetworkEvent",
			"Fails unless as many requests match as minCount says, of those since the session began and those that come within timeoutMs.",
			urlProperty+", "+methodProperty+", "+statusProperty+
				`, "contains": {"type": "string", "minLength": 1, "description": "A part of what was sent, with case"},
				"minCount": {"type": "integer", "minimum": 1, "default": 1}, `+syntax.TimeoutProperty+`, "default": 5000}`,
			webAssertNetworkEvent, "url").checkedBy(checkNetworkEvent),
	}
	for i := range list {
		list[i].withoutPage = true
	}
	return list
}

func webRoute(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	d := p.device
	r, err := network.ReadRoute(args, d.session.BaseURL, d.findFile)
	if err != nil {
		return tool.Result{}, err
	}
	d.network.AddRoute(r, d.incidents.During())
	if err := p.context.pauseAllRequests(ctx); err != nil {
		return tool.Result{}, err
	}
	return success("%s", r), nil
}

func webUnroute(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	removed, err := p.device.network.RemoveRoutes(syntax.Arguments(args).Text("url"))
	if err != nil {
		return tool.Result{}, err
	}
	if err := p.context.pauseAllRequests(ctx); err != nil {
		return tool.Result{}, err
	}
	return success("removed %s", text.Count(removed, "route")), nil
}

// awaitRequest runs a command that waits for a request that matches, and returns something of it.
func awaitRequest[T any](wait func(*network.Traffic, context.Context, network.Pattern, time.Duration) (T, error)) handler {
	return func(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
		pattern, err := network.ReadPattern(args, p.device.session.BaseURL)
		if err != nil {
			return tool.Result{}, err
		}
		found, err := wait(p.device.network, ctx, pattern, waitLimit(ctx, args, p.limits().navigation))
		if err != nil {
			return tool.Result{}, err
		}
		return jsonResult(found), nil
	}
}

func webAssertNetworkEvent(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	pattern, err := network.ReadPattern(a, p.device.session.BaseURL)
	if err = errors.Join(err, checkNetworkEvent(a)); err != nil {
		return tool.Result{}, err
	}
	found, err := p.device.network.WaitForCount(ctx, pattern, int(a.Number("minCount", 1)), p.assertionLimit(ctx, a))
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s", found), nil
}

// checkNetworkEvent checks the arguments of web_assertNetworkEvent.
func checkNetworkEvent(args syntax.Arguments) error {
	if args.Has("contains") && syntax.IsBlank(args.Text("contains")) {
		return fault.New(fault.InvalidArguments, "", "contains is empty, and every request has that")
	}
	return nil
}

// pauseAllRequests pauses requests of every page as the network says. The cache of pages with routes is not used.
func (c *browserContext) pauseAllRequests(ctx context.Context) error {
	patterns, routes := c.device.network.PausedPatterns()
	var calls []waitFunc
	for _, s := range c.sessions() {
		calls = append(calls, s.Send("Network.setCacheDisabled", map[string]any{"cacheDisabled": routes}))
		if len(patterns) == 0 {
			calls = append(calls, s.Send("Fetch.disable", nil))
			continue
		}
		calls = append(calls, s.Send("Fetch.enable", map[string]any{"patterns": patterns}))
	}
	for _, wait := range calls {
		if err := wait(ctx, nil); err != nil && asGone(err) != errGone { //nolint:errorlint // asGone returns it as it is
			return err
		}
	}
	return nil
}

// sessions returns the sessions of all open pages and of their frames.
func (c *browserContext) sessions() []*cdp.Session {
	var list []*cdp.Session
	for _, p := range c.openPages() {
		for _, f := range p.frames() {
			if s := f.session.to.Load(); s != nil && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// onRequest handles a paused request: one that may not be sent, one that a route answers, or one to continue. A page
// that is blocked leaves the one before it where it is.
func (p *page) onRequest(s *cdp.Session, e cdp.Event) {
	r, ok := network.ReadPaused(s, e)
	if !ok {
		return
	}
	address := r.Request.URL
	isFile := strings.HasPrefix(strings.ToLower(address), "file:")
	switch {
	case p.blank.Load():
		r.Fulfill(http.StatusOK, map[string]string{"content-type": "text/html"}, nil)
	case p.device.starting.Load(), isFile && p.device.app != nil && !p.device.origins.Restricted: // as the app does by itself
		p.device.network.Answer(r)
	case isFile && !p.device.files.Allows(address):
		p.notes.Add(notes.Request, "%s: blocked, because it is not below %s", address, p.device.files)
		r.Fail("BlockedByClient")
	case r.ResourceType == "Document" && isFile && !p.device.files.AllowsPage(address):
		p.notes.Add(notes.Request, "%s: blocked, because it is not a page", address)
		r.Fail("BlockedByClient")
	case r.ResourceType == "Document" && r.FrameID == p.main().id && !p.device.origins.Allows(address):
		p.device.origins.Block(address)
		p.notes.Add(notes.Blocked, "%s, because its origin is not allowed, only %s", address, p.device.origins)
		p.onNavigationBlocked(address)
		r.Fail("Aborted")
	default:
		p.device.network.Answer(r)
	}
}
