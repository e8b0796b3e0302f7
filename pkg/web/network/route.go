package network

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// maxRouteBody bounds the body of an answer, in bytes.
const maxRouteBody = 32 << 20

// Route says how requests are answered. It is not changed, except that Traffic.mu guards used.
type Route struct {
	pattern Pattern
	abort   bool
	answers bool // with status, headers and body; otherwise the request is sent to the server
	status  int
	headers map[string]string // names in lower case
	body    []byte
	delay   time.Duration
	call    string // the id of the call that added it
	used    bool   // by a request, or it was reported that none has
}

// String says what happens to which requests.
func (r *Route) String() string {
	what := "sent to the server"
	switch {
	case r.abort:
		what = "aborted"
	case r.answers:
		what = fmt.Sprintf("answered with status %d and %s", r.status, text.Count(len(r.body), "byte"))
	}
	if r.delay > 0 {
		what += fmt.Sprintf(" after %s", r.delay)
	}
	return fmt.Sprintf("requests%s are %s", r.pattern.words, what)
}

// unusedIncident says that no request has used the route.
func (r *Route) unusedIncident() tool.Incident {
	return tool.Incident{
		Kind: tool.UnusedRoute, Call: r.call, Text: strings.TrimSpace(r.pattern.method+" "+r.pattern.url.Text) + " matched no request",
		Hint: "correct the url of web_route, or remove the call",
	}
}

// ReadRoute reads the arguments of web_route. A url that is relative is resolved against base. findFile returns the
// path of the file that an argument names. The error is of kind InvalidArguments, or is that of reading the file.
func ReadRoute(args syntax.Arguments, base string, findFile func(argument, name string) (string, error)) (*Route, error) {
	r := &Route{
		abort: args.Flag("abort", false), delay: time.Duration(args.Number("delayMs", 0)) * time.Millisecond,
		answers: args.Has("status") || args.Has("headers") || args.Has("body") || args.Has("bodyFile"), headers: map[string]string{},
	}
	var err error
	if r.pattern, err = ReadPattern(args, base); err != nil {
		return nil, err
	}
	r.pattern.words = args.InWords("method", "url")
	r.status = int(args.Number("status", http.StatusOK))
	switch {
	case r.abort && r.answers:
		return nil, fault.New(fault.InvalidArguments, "remove abort, or status, headers, body and bodyFile",
			"a request that is aborted has no answer")
	case args.Has("body") && args.Has("bodyFile"):
		return nil, fault.New(fault.InvalidArguments, "remove one of them", "body and bodyFile cannot be used together")
	case !r.abort && !r.answers && r.delay == 0:
		return nil, fault.New(fault.InvalidArguments, "add status, headers, body, bodyFile, delayMs or abort",
			"web_route does not say what to do with the requests")
	}
	headers, _ := args["headers"].(map[string]any)
	for name, value := range headers {
		if strings.ContainsAny(name+fmt.Sprint(value), "\r\n") || name == "" {
			return nil, fault.New(fault.InvalidArguments, "", "headers: %q is not a header", name)
		}
		r.headers[strings.ToLower(name)] = fmt.Sprint(value)
	}
	kind, err := r.readBody(args, findFile)
	if err != nil {
		return nil, err
	}
	if r.headers["content-type"] == "" && len(r.body) > 0 {
		r.headers["content-type"] = kind
	}
	return r, nil
}

// readBody reads the body of the answers, and returns its media type.
func (r *Route) readBody(args syntax.Arguments, findFile func(argument, name string) (string, error)) (kind string, err error) {
	text, isText := args["body"].(string)
	switch {
	case args.Has("bodyFile"):
		path, err := findFile("bodyFile", args.Text("bodyFile"))
		if err != nil {
			return "", err
		}
		r.body, err = files.Read(path, maxRouteBody)
		return cmp.Or(mime.TypeByExtension(filepath.Ext(path)), http.DetectContentType(r.body)), err
	case !isText && args.Has("body"):
		r.body = notes.Marshal(args["body"])
		return "application/json", nil
	}
	r.body = []byte(text)
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Valid(r.body) {
			return "application/json", nil
		}
	}
	return http.DetectContentType(r.body), nil
}

// AddRoute makes a route answer requests from now on, before the others. call is the id of the call that adds it.
// Requests of sessions that exist already are paused only after they were told [Traffic.PausedPatterns].
func (t *Traffic) AddRoute(r *Route, call string) {
	r.call = call
	t.mu.Lock()
	defer t.mu.Unlock()
	t.routes = slices.Insert(t.routes, 0, r)
}

// RemoveRoutes removes the routes with a url as it was written, or all for an empty one, and returns how many. The
// error is of kind ToolFailed if none has the url.
func (t *Traffic) RemoveRoutes(url string) (removed int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.routes)
	var urls []string
	for _, r := range t.routes {
		urls = append(urls, r.pattern.url.Text)
	}
	t.routes = slices.DeleteFunc(t.routes, func(r *Route) bool {
		removed := url == "" || r.pattern.url.Text == url
		if removed && !r.used && len(t.unused) < notes.MaxIncidents {
			t.unused = append(t.unused, r.unusedIncident())
		}
		return removed
	})
	removed = before - len(t.routes)
	if removed == 0 && url != "" {
		return 0, fault.New(fault.ToolFailed, "write the url as in web_route",
			"no route has the url %q; %s", url, text.Seen("route", urls))
	}
	return removed, nil
}

// PauseFiles makes requests for files pause, as [Traffic.PausedPatterns] says. It reports whether they did before.
func (t *Traffic) PauseFiles() (before bool) { return t.pausesFiles.Swap(true) }

// PausedPatterns returns the patterns for Fetch.enable of the requests that have to be checked or answered: those for
// files, those for pages when their origins are restricted, and all when there are routes.
func (t *Traffic) PausedPatterns() (patterns []map[string]any, routes bool) {
	t.mu.Lock()
	routes = len(t.routes) > 0
	t.mu.Unlock()
	switch {
	case routes:
		patterns = append(patterns, map[string]any{"urlPattern": "*"})
	case t.config.Origins.Restricted:
		patterns = append(patterns, map[string]any{"urlPattern": "*", "resourceType": "Document"})
	}
	if t.pausesFiles.Load() && !routes {
		patterns = append(patterns, map[string]any{"urlPattern": "file:*"})
	}
	return patterns, routes
}

// Pause pauses requests of a new session that have to be checked or answered. It does not wait.
func (t *Traffic) Pause(s *cdp.Session) {
	if patterns, _ := t.PausedPatterns(); len(patterns) > 0 {
		s.Send("Fetch.enable", map[string]any{"patterns": patterns})
	}
}

// Answer answers a request by its route, after the delay of that, or sends it to the server. It does not wait.
func (t *Traffic) Answer(r Paused) {
	method := r.Request.Method
	asked := r.header("Access-Control-Request-Method") // of the request that a preflight request is for
	preflight := method == http.MethodOptions && asked != ""
	if preflight {
		method = asked
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.routes, func(known *Route) bool { return known.pattern.matches(r.Request.URL, method) })
	if i >= 0 {
		t.use(t.routes[i], r)
	}
	switch {
	case i < 0 || t.closed || preflight && !t.routes[i].answers:
		r.proceed()
	case preflight:
		r.Fulfill(http.StatusNoContent, preflightHeaders(r), nil)
	case t.routes[i].delay == 0:
		t.routes[i].answer(r)
	default:
		found := t.routes[i]
		t.delayed.Go(func() {
			timer := time.NewTimer(found.delay)
			defer timer.Stop()
			select {
			case <-timer.C:
				found.answer(r)
			case <-t.ctx.Done():
			}
		})
	}
}

// use notes that a route answers a request. The caller holds t.mu.
func (t *Traffic) use(found *Route, r Paused) {
	found.used = true
	if !found.answers || found.status < http.StatusInternalServerError || r.NetworkID == "" {
		return
	}
	if t.answered == nil {
		t.answered = map[string]bool{}
	}
	t.answered[r.NetworkID] = true
}

// TakeUnused returns the routes that no request has used, each once.
func (t *Traffic) TakeUnused() []tool.Incident {
	t.mu.Lock()
	defer t.mu.Unlock()
	unused := t.unused
	for _, r := range slices.Backward(t.routes) {
		if !r.used {
			unused = append(unused, r.unusedIncident())
			r.used = true
		}
	}
	t.unused = nil
	return unused
}

// answer answers a request.
func (r *Route) answer(request Paused) {
	switch {
	case r.abort:
		request.Fail("Failed")
	case r.answers:
		request.Fulfill(r.status, r.headersFor(request), r.body)
	default:
		request.proceed()
	}
}

// headersFor returns the headers of the answer, with those that a request of another origin needs.
func (r *Route) headersFor(request Paused) map[string]string {
	origin := request.header("Origin")
	if origin == "" || origin == syntax.OriginOf(request.Request.URL) || r.headers["access-control-allow-origin"] != "" {
		return r.headers
	}
	headers := maps.Clone(r.headers)
	headers["access-control-allow-origin"] = origin
	headers["access-control-allow-credentials"] = "true"
	headers["vary"] = "Origin"
	return headers
}

// preflightHeaders allow the request that a preflight request is for.
func preflightHeaders(request Paused) map[string]string {
	headers := map[string]string{
		"access-control-allow-origin":      cmp.Or(request.header("Origin"), "*"),
		"access-control-allow-methods":     request.header("Access-Control-Request-Method"),
		"access-control-allow-credentials": "true",
	}
	if names := request.header("Access-Control-Request-Headers"); names != "" {
		headers["access-control-allow-headers"] = names
	}
	return headers
}
