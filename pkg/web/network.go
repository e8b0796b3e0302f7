package web

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

const (
	// maxExchanges is how many requests of a session are remembered: the last ones.
	maxExchanges = 1000
	// maxBody bounds a body in a result, in bytes.
	maxBody = 64 << 10
)

// network has the requests of a session and how they are answered. It may be used from any goroutine.
type network struct {
	device       *webDevice
	filesChecked atomic.Bool // requests for files are paused

	ctx     context.Context //nolint:containedctx // ends with the session
	cancel  context.CancelFunc
	delayed sync.WaitGroup // answers that wait for their delay

	mu        sync.Mutex
	closed    bool
	routes    []*route
	unused    []tool.Incident // the routes that were removed before a request used them
	answered  map[string]bool // ids of requests that a route answers with a status of 500 and more
	exchanges []*exchange     // in the order of their requests
	events    int             // how many events were counted
	window    int             // the count when the last action began
	acted     int             // the count when it ended; 0 while it runs
	opened    bool            // it was a command that opens a page
	earlier   []*exchange     // that had ended when it began, the last maxExchanges
}

// exchange is a request and its response. The numbers are counts of events; 0 for an event that did not come yet.
type exchange struct {
	id      string // the browser's; redirects have the same
	loader  string // of the document that sent it; its own id if it is for a document
	session *cdp.Session
	url     string
	method  string
	kind    string // of resource, as the browser calls it: Document, XHR, Fetch, Image …
	headers map[string]any
	body    string // empty for one that is too large for an event, or has files
	hasBody bool
	status  int
	answer  map[string]any // headers of the response
	failure string         // the browser's code

	started, finished float64 // seconds of the browser's clock

	requested, responded, ended     int
	requestReturned, answerReturned bool // by a command that waited for it
}

func newNetwork(d *webDevice) *network {
	n := &network{device: d}
	n.ctx, n.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // a session belongs to no call
	return n
}

// close ends what waits for its delay.
func (n *network) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.cancel()
	n.delayed.Wait()
}

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
			urlProperty+", "+methodProperty+", "+limit, webWaitForRequest, "url"),
		newCommand("web_waitForResponse",
			"Waits for a response, which may have come since the last action; returns url, method, status, headers and body.",
			urlProperty+", "+methodProperty+", "+statusProperty+", "+limit,
			webWaitForResponse, "url"),
	}
	list = append(list, requestCommands()...)
	for i := range list {
		list[i].withoutPage = true
	}
	return list
}

// networkBuffers are the parameters of Network.enable. They bound the bodies that the browser keeps, in bytes.
func networkBuffers() map[string]any {
	return map[string]any{"maxTotalBufferSize": 32 << 20, "maxResourceBufferSize": 8 << 20, "maxPostDataSize": maxBody}
}

// startWindow says that an action begins: calls that wait for a request or a response do not return what came before
// it.
func (n *network) startWindow() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.window, n.acted = n.events, 0
	n.exchanges = slices.DeleteFunc(n.exchanges, func(x *exchange) bool {
		if x.ended > 0 {
			n.earlier = append(n.earlier, x)
		}
		return x.ended > 0
	})
	n.earlier = n.earlier[max(0, len(n.earlier)-maxExchanges):]
}

// onEvent notes requests and responses. It returns a copy of an exchange whose response has just come, with a status of
// 500 and more and not from a route.
func (n *network) onEvent(s *cdp.Session, e cdp.Event) (failed *exchange) {
	var p struct {
		RequestID, LoaderID, ErrorText, Type string
		Timestamp                            float64
		Request                              struct {
			URL, Method, PostData string
			HasPostData           bool
			Headers               map[string]any
		}
		Response, RedirectResponse *struct {
			Status  int
			Headers map[string]any
		}
	}
	switch e.Method {
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed":
	default:
		return nil
	}
	if e.Decode(&p) != nil || strings.HasPrefix(p.Request.URL, "data:") {
		return nil
	}
	n.mu.Lock()
	n.events++
	var x *exchange
	for _, known := range slices.Backward(n.exchanges) {
		if known.id == p.RequestID {
			x = known
			break
		}
	}
	switch {
	case e.Method == "Network.requestWillBeSent":
		if x != nil && p.RedirectResponse != nil {
			x.status, x.answer, x.responded, x.ended = p.RedirectResponse.Status, p.RedirectResponse.Headers, n.events, n.events
			x.finished = p.Timestamp
		}
		n.add(&exchange{
			id: p.RequestID, loader: p.LoaderID, session: s, url: p.Request.URL, method: p.Request.Method, kind: p.Type, headers: p.Request.Headers,
			body: p.Request.PostData, hasBody: p.Request.HasPostData, started: p.Timestamp, requested: n.events,
		})
	case x == nil:
	case p.Response != nil:
		x.session, x.status, x.answer, x.responded = s, p.Response.Status, p.Response.Headers, n.events
		x.finished = p.Timestamp
		if x.status >= http.StatusInternalServerError && !n.answered[x.id] {
			failed = new(*x)
		}
		delete(n.answered, x.id)
	default:
		x.ended, x.finished = n.events, p.Timestamp
		if x.status != http.StatusNoContent { // for which the browser reports that it was aborted
			x.failure = p.ErrorText
		}
		delete(n.answered, x.id)
	}
	n.mu.Unlock()
	n.device.changes.notify()
	return failed
}

// add appends an exchange. The caller holds n.mu.
func (n *network) add(x *exchange) {
	if len(n.exchanges) == maxExchanges {
		n.exchanges = slices.Delete(n.exchanges, 0, 1)
	}
	n.exchanges = append(n.exchanges, x)
}

// networkPattern says which requests a command means.
type networkPattern struct {
	url    syntax.URLPattern
	method string // empty for any
	status int    // 0 for any
}

func (d *webDevice) readNetworkPattern(a syntax.Arguments) (networkPattern, error) {
	url, err := syntax.ParseURLPattern(a.Text("url"), d.session.BaseURL)
	return networkPattern{url, strings.ToUpper(a.Text("method")), int(a.Number("status", 0))}, err
}

func (p networkPattern) matches(url, method string) bool {
	return (p.method == "" || p.method == method) && p.url.Match(url)
}

// wait waits for an exchange since the last action that matches and for which take returns true, and returns a copy of
// it. Both are called with n.mu held.
func (n *network) wait(
	ctx context.Context, a syntax.Arguments, what string, matches func(*exchange) bool, take func(*exchange) bool,
) (found exchange, err error) {
	limit := waitLimit(ctx, a, n.device.limits.navigation)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = n.device.changes.waitUntil(waiting, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		i := slices.IndexFunc(n.exchanges, func(x *exchange) bool { return matches(x) && take(x) })
		if i >= 0 {
			found = *n.exchanges[i]
		}
		return i >= 0
	})
	if err == nil || ctx.Err() != nil {
		return found, err
	}
	hint := "only requests since the last action are considered, and those that are still to come"
	n.mu.Lock()
	for _, x := range n.earlier {
		if matches(x) && n.mayName(ctx, x) {
			hint = fmt.Sprintf("%s came before the last action: move this call up, behind the call that leads to it", x)
		}
	}
	n.mu.Unlock()
	return found, fault.New(fault.ToolFailed, hint,
		"timed out after %s waiting for a %s%s; %s", limit, what, patternWords(a, "method", "status", "url"), n.recent(ctx))
}

// mayName reports whether a call may learn the URL of an exchange: a script in the sandbox only if it may use its origin.
func (n *network) mayName(ctx context.Context, x *exchange) bool {
	return n.device.origins.CheckSandbox(ctx, x.url) == nil
}

// checkUse returns an error, which names only the origin, if a call may not use an exchange.
func (n *network) checkUse(ctx context.Context, x *exchange) error {
	if n.mayName(ctx, x) {
		return nil
	}
	return n.device.origins.CheckSandbox(ctx, syntax.OriginOf(x.url))
}

// recent lists in words the requests since the window began that a call may name.
func (n *network) recent(ctx context.Context) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var words []string
	for _, x := range n.exchanges {
		if max(x.requested, x.responded, x.ended) > n.window && n.mayName(ctx, x) {
			words = append(words, x.String())
		}
	}
	return seen("request", words)
}

// status returns the status of the document that a navigation opened; 0 if it is not known.
func (n *network) status(loader string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, x := range slices.Backward(n.exchanges) {
		if x.id == loader {
			return x.status
		}
	}
	return 0
}

// endAction says that the action has ended that startWindow began. opened says that it opened a page, whose requests
// are not those of an action.
func (n *network) endAction(opened bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acted, n.opened = n.events, opened
}

// isData reports whether a request is one whose response scripts or frames show, not an image or a style.
func (x *exchange) isData() bool { return x.kind == "XHR" || x.kind == "Fetch" || x.kind == "Document" }

// pendingOfAction names the requests that the last action started and that have not ended; empty for none. The page may
// still change when they do. Those of a document that the action opened are not its own, and a document of which the
// first part has come is what a check looks at.
func (n *network) pendingOfAction() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.opened {
		return ""
	}
	return n.pending(func(x *exchange) bool {
		if x.kind == "Document" {
			return x.requested <= n.acted && x.responded == 0
		}
		return x.isData() && x.requested <= n.acted && !n.isOpened(x.loader)
	})
}

// pendingOfDocuments names the requests for data and scripts of some documents, given by their loaders, that have not
// ended; empty for none. Only documents that were opened since the last action began count. A request that is repeated
// does not count: the page polls.
func (n *network) pendingOfDocuments(loaders []string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pending(func(x *exchange) bool {
		return slices.Contains([]string{"XHR", "Fetch", "Script"}, x.kind) && slices.Contains(loaders, x.loader) &&
			n.isOpened(x.loader) && !n.isRepeated(x)
	})
}

// isOpened reports whether the document with a loader was requested since the last action began. The caller holds n.mu.
func (n *network) isOpened(loader string) bool {
	return slices.ContainsFunc(n.exchanges, func(x *exchange) bool { return x.id == loader && x.requested > n.window })
}

// isRepeated reports whether the same request has ended before. The caller holds n.mu.
func (n *network) isRepeated(x *exchange) bool {
	return slices.ContainsFunc(n.exchanges, func(other *exchange) bool {
		return other.ended > 0 && other.method == x.method && other.url == x.url && other.body == x.body
	})
}

// troubles says which requests for data since the last action have not ended, and which had a status of 500 and more;
// empty for none. Those that a call may not name are left out.
func (n *network) troubles(ctx context.Context) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var words []string
	if pending := n.pending(func(x *exchange) bool { return x.isData() && n.mayName(ctx, x) }); pending != "" {
		words = append(words, "not ended: "+pending)
	}
	for _, x := range n.exchanges {
		if x.status >= http.StatusInternalServerError && max(x.responded, x.ended) > n.window && len(words) <= maxSeen && n.mayName(ctx, x) {
			words = append(words, x.String())
		}
	}
	return strings.Join(words, "; ")
}

// pending names the requests since the last action that have not ended and for which counts returns true. The caller
// holds n.mu.
func (n *network) pending(counts func(*exchange) bool) string {
	var words []string
	for _, x := range n.exchanges {
		if x.ended == 0 && x.requested > n.window && !x.isStream() && counts(x) {
			words = append(words, x.method+" "+shorten(x.url))
		}
	}
	if len(words) > maxSeen {
		words = append(words[:maxSeen], fmt.Sprintf("%d more", len(words)-maxSeen))
	}
	return strings.Join(words, ", ")
}

// unfinished names the requests since the last action that have not ended and without which a page does not count as
// loaded; empty for none.
func (n *network) unfinished() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pending(func(x *exchange) bool {
		return !slices.Contains([]string{"XHR", "Fetch", "EventSource", "WebSocket", "Ping"}, x.kind)
	})
}

func (x *exchange) String() string {
	state := "no response yet"
	switch {
	case x.failure != "" && x.status < http.StatusBadRequest:
		state = x.failure
	case x.responded > 0:
		state = fmt.Sprint(x.status)
	}
	return fmt.Sprintf("%s %s (%s)", x.method, x.url, state)
}

func webWaitForRequest(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	pattern, err := p.device.readNetworkPattern(args)
	if err != nil {
		return tool.Result{}, err
	}
	n := p.device.network
	matches := func(x *exchange) bool { return pattern.matches(x.url, x.method) }
	x, err := n.wait(ctx, args, "request", matches, func(x *exchange) bool {
		if x.requestReturned || x.requested <= n.window {
			return false
		}
		x.requestReturned = true
		return true
	})
	if err == nil {
		err = n.checkUse(ctx, &x)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return jsonResult(networkResult{URL: x.url, Method: x.method, httpMessage: x.request(p.device.redact)}), nil
}

func webWaitForResponse(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	pattern, err := p.device.readNetworkPattern(args)
	if err != nil {
		return tool.Result{}, err
	}
	n := p.device.network
	matches := func(x *exchange) bool {
		return pattern.matches(x.url, x.method) && (pattern.status == 0 || pattern.status == x.status)
	}
	x, err := n.wait(ctx, args, "response", matches, func(x *exchange) bool {
		isComplete := x.ended > n.window || x.responded > n.window && x.isStream()
		if x.answerReturned || !isComplete {
			return false
		}
		x.answerReturned = true
		return true
	})
	if err == nil {
		err = n.checkUse(ctx, &x)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return jsonResult(networkResult{URL: x.url, Method: x.method, Status: x.status, httpMessage: x.response(ctx, p.device.redact)}), nil
}

// networkResult is what the commands return of a request or a response.
type networkResult struct {
	URL    string `json:"url"`
	Method string `json:"method"`
	Status int    `json:"status,omitempty"`
	httpMessage
}

// httpMessage is the content of a request or a response.
type httpMessage struct {
	Headers    map[string]string `json:"headers"` // names in lower case
	Body       string            `json:"body"`
	BodyBase64 string            `json:"bodyBase64,omitempty"` // instead of Body if that is not text
	BodyBytes  int               `json:"bodyBytes,omitempty"`  // the size of a body that was cut
	NoBody     string            `json:"noBody,omitempty"`     // why the body is missing
}

// request returns what was sent.
func (x *exchange) request(redact func(string) string) httpMessage {
	body, more := boundedBody(x.body, redact)
	return httpMessage{Headers: shownHeaders(x.headers), Body: body, BodyBytes: more}
}

// response returns what came. It asks the browser for the body.
func (x *exchange) response(ctx context.Context, redact func(string) string) httpMessage {
	m := httpMessage{Headers: shownHeaders(x.answer)}
	x.readBody(ctx, &m, redact)
	return m
}

// isStream reports whether the response has no end.
func (x *exchange) isStream() bool {
	return strings.HasPrefix(shownHeaders(x.answer)["content-type"], "text/event-stream")
}

// readBody asks the browser for the body of the response, which it keeps until the page is left.
func (x *exchange) readBody(ctx context.Context, to *httpMessage, redact func(string) string) {
	if x.failure != "" {
		to.NoBody = "the response was not complete: " + x.failure
		return
	}
	if x.isStream() || x.status == http.StatusNoContent || x.status >= 300 && x.status < 400 {
		return
	}
	var answer struct {
		Body          string
		Base64Encoded bool
	}
	err := x.session.CallLimited(ctx, 2*(8<<20), "Network.getResponseBody", map[string]any{"requestId": x.id}, &answer)
	if err != nil {
		to.NoBody = "the browser does not have it any more: " + err.Error()
		return
	}
	body := []byte(answer.Body)
	if answer.Base64Encoded {
		if body, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
			to.NoBody = err.Error()
			return
		}
	}
	to.Body, to.BodyBytes = boundedBody(string(body), redact)
	if !utf8.ValidString(to.Body) {
		to.Body, to.BodyBase64 = "", base64.StdEncoding.EncodeToString([]byte(to.Body))
	}
}

// boundedBody returns a body, or if it is longer than maxBody its beginning without secrets, and its size.
func boundedBody(body string, redact func(string) string) (head string, size int) {
	if len(body) <= maxBody {
		return body, 0
	}
	return text.RedactedHead(body, maxBody, redact), len(body)
}

// shownHeaders returns headers with names in lower case, without the values of those that sign in.
func shownHeaders(headers map[string]any) map[string]string {
	shown := map[string]string{}
	for name, value := range headers {
		name = strings.ToLower(name)
		shown[name] = fmt.Sprint(value)
		switch name {
		case "authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key", "x-auth-token", "x-csrf-token":
			shown[name] = "[secret]"
		}
	}
	return shown
}

// pausedRequests returns the patterns for Fetch.enable of the requests that have to be checked or answered: those for
// files, those for pages when their origins are restricted, and all when there are routes.
func (n *network) pausedRequests() (patterns []map[string]any, routes bool) {
	n.mu.Lock()
	routes = len(n.routes) > 0
	n.mu.Unlock()
	switch {
	case routes:
		patterns = append(patterns, map[string]any{"urlPattern": "*"})
	case n.device.origins.Restricted:
		patterns = append(patterns, map[string]any{"urlPattern": "*", "resourceType": "Document"})
	}
	if n.filesChecked.Load() && !routes {
		patterns = append(patterns, map[string]any{"urlPattern": "file:*"})
	}
	return patterns, routes
}

// pauseRequests pauses requests of a new session that have to be checked or answered.
func (n *network) pauseRequests(s *cdp.Session) {
	if patterns, _ := n.pausedRequests(); len(patterns) > 0 {
		s.Send("Fetch.enable", map[string]any{"patterns": patterns})
	}
}

// pauseAllRequests pauses requests of every page as pausedRequests says. The cache of pages with routes is not used.
func (c *browserContext) pauseAllRequests(ctx context.Context) error {
	patterns, routes := c.device.network.pausedRequests()
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

// pausedRequest is a request that waits for an answer.
type pausedRequest struct {
	session                          *cdp.Session
	RequestID, FrameID, ResourceType string
	NetworkID                        string // the id of the exchange
	Request                          struct {
		URL, Method string
		Headers     map[string]any
	}
}

// onRequest handles a paused request: one that may not be sent, one that a route answers, or one to continue. A page
// that is blocked leaves the one before it where it is.
func (p *page) onRequest(s *cdp.Session, e cdp.Event) {
	r := pausedRequest{session: s}
	if e.Decode(&r) != nil {
		return
	}
	address := r.Request.URL
	isFile := strings.HasPrefix(strings.ToLower(address), "file:")
	switch {
	case p.blank.Load():
		r.fulfill(http.StatusOK, map[string]string{"content-type": "text/html"}, nil)
	case p.device.starting.Load(), isFile && p.device.app != nil && !p.device.origins.Restricted: // as the app does by itself
		p.device.network.answer(r)
	case isFile && !p.device.files.Allows(address):
		p.notes.Add(notes.Request, "%s: blocked, because it is not below %s", address, p.device.files)
		r.fail("BlockedByClient")
	case r.ResourceType == "Document" && isFile && !p.device.files.AllowsPage(address):
		p.notes.Add(notes.Request, "%s: blocked, because it is not a page", address)
		r.fail("BlockedByClient")
	case r.ResourceType == "Document" && r.FrameID == p.main().id && !p.device.origins.Allows(address):
		p.device.origins.Block(address)
		p.notes.Add(notes.Blocked, "%s, because its origin is not allowed, only %s", address, p.device.origins)
		p.onNavigationBlocked(address)
		r.fail("Aborted")
	default:
		p.device.network.answer(r)
	}
}

func (r pausedRequest) fail(reason string) {
	r.session.Send("Fetch.failRequest", map[string]any{"requestId": r.RequestID, "errorReason": reason})
}

func (r pausedRequest) proceed() {
	r.session.Send("Fetch.continueRequest", map[string]any{"requestId": r.RequestID})
}

func (r pausedRequest) fulfill(status int, headers map[string]string, body []byte) {
	list := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, map[string]string{"name": name, "value": headers[name]})
	}
	phrase := http.StatusText(status)
	if phrase == "" {
		phrase = "Unknown"
	}
	r.session.Send("Fetch.fulfillRequest", map[string]any{
		"requestId": r.RequestID, "responseCode": status, "responsePhrase": phrase, "responseHeaders": list,
		"body": base64.StdEncoding.EncodeToString(body),
	})
}

// header returns a header of the request; empty if it has none.
func (r pausedRequest) header(name string) string {
	for key, value := range r.Request.Headers {
		if strings.EqualFold(key, name) {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// answer answers a request by its route, or lets it continue.
func (n *network) answer(r pausedRequest) {
	method := r.Request.Method
	asked := r.header("Access-Control-Request-Method") // of the request that a preflight request is for
	preflight := method == http.MethodOptions && asked != ""
	if preflight {
		method = asked
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.IndexFunc(n.routes, func(known *route) bool { return known.pattern.matches(r.Request.URL, method) })
	if i >= 0 {
		n.use(n.routes[i], r)
	}
	switch {
	case i < 0 || n.closed || preflight && !n.routes[i].answers:
		r.proceed()
	case preflight:
		r.fulfill(http.StatusNoContent, preflightHeaders(r), nil)
	case n.routes[i].delay == 0:
		n.routes[i].answer(r)
	default:
		found := n.routes[i]
		n.delayed.Go(func() {
			timer := time.NewTimer(found.delay)
			defer timer.Stop()
			select {
			case <-timer.C:
				found.answer(r)
			case <-n.ctx.Done():
			}
		})
	}
}

// use notes that a route answers a request. The caller holds n.mu.
func (n *network) use(found *route, r pausedRequest) {
	found.used = true
	if !found.answers || found.status < http.StatusInternalServerError || r.NetworkID == "" {
		return
	}
	if n.answered == nil {
		n.answered = map[string]bool{}
	}
	n.answered[r.NetworkID] = true
}

// takeUnused returns the routes that no request has used, each once.
func (n *network) takeUnused() []tool.Incident {
	n.mu.Lock()
	defer n.mu.Unlock()
	unused := n.unused
	for _, r := range slices.Backward(n.routes) {
		if !r.used {
			unused = append(unused, r.unusedIncident())
			r.used = true
		}
	}
	n.unused = nil
	return unused
}
