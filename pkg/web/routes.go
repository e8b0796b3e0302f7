package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// maxRouteBody bounds the body of an answer, in bytes.
const maxRouteBody = 32 << 20

// route says how requests are answered. It is not changed, except that network.mu guards used.
type route struct {
	pattern networkPattern
	abort   bool
	answers bool // with status, headers and body; otherwise the request is sent to the server
	status  int
	headers map[string]string // names in lower case
	body    []byte
	delay   time.Duration
	call    string // the id of the call that added it
	used    bool   // by a request, or it was reported that none has
}

// unusedIncident says that no request has used the route.
func (r *route) unusedIncident() tool.Incident {
	return tool.Incident{
		Kind: tool.UnusedRoute, Call: r.call, Text: strings.TrimSpace(r.pattern.method+" "+r.pattern.url.Text) + " matched no request",
		Hint: "correct the url of web_route, or remove the call",
	}
}

func webRoute(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	r, err := p.device.readRoute(args)
	if err != nil {
		return tool.Result{}, err
	}
	n := p.device.network
	r.call = p.device.incidents.During()
	n.mu.Lock()
	n.routes = slices.Insert(n.routes, 0, r)
	n.mu.Unlock()
	if err := p.context.pauseAllRequests(ctx); err != nil {
		return tool.Result{}, err
	}
	return success("requests%s are %s", patternWords(args, "method", "url"), r), nil
}

// String says what happens to requests.
func (r *route) String() string {
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
	return what
}

// readRoute reads the arguments of web_route.
func (d *webDevice) readRoute(a syntax.Arguments) (*route, error) {
	r := &route{
		abort: a.Flag("abort", false), delay: time.Duration(a.Number("delayMs", 0)) * time.Millisecond,
		answers: a.Has("status") || a.Has("headers") || a.Has("body") || a.Has("bodyFile"), headers: map[string]string{},
	}
	var err error
	if r.pattern, err = d.readNetworkPattern(a); err != nil {
		return nil, err
	}
	r.pattern.status, r.status = 0, int(a.Number("status", http.StatusOK))
	switch {
	case r.abort && r.answers:
		return nil, fault.New(fault.InvalidArguments, "remove abort, or status, headers, body and bodyFile",
			"a request that is aborted has no answer")
	case a.Has("body") && a.Has("bodyFile"):
		return nil, fault.New(fault.InvalidArguments, "remove one of them", "body and bodyFile cannot be used together")
	case !r.abort && !r.answers && r.delay == 0:
		return nil, fault.New(fault.InvalidArguments, "add status, headers, body, bodyFile, delayMs or abort",
			"web_route does not say what to do with the requests")
	}
	headers, _ := a["headers"].(map[string]any)
	for name, value := range headers {
		if strings.ContainsAny(name+fmt.Sprint(value), "\r\n") || name == "" {
			return nil, fault.New(fault.InvalidArguments, "", "headers: %q is not a header", name)
		}
		r.headers[strings.ToLower(name)] = fmt.Sprint(value)
	}
	kind, err := d.readRouteBody(a, r)
	if err != nil {
		return nil, err
	}
	if r.headers["content-type"] == "" && len(r.body) > 0 {
		r.headers["content-type"] = kind
	}
	return r, nil
}

// readRouteBody sets the body of a route, and returns its media type.
func (d *webDevice) readRouteBody(a syntax.Arguments, r *route) (kind string, err error) {
	text, isText := a["body"].(string)
	switch {
	case a.Has("bodyFile"):
		path, err := d.findFile("bodyFile", a.Text("bodyFile"))
		if err != nil {
			return "", err
		}
		r.body, err = files.Read(path, maxRouteBody)
		return cmp.Or(mime.TypeByExtension(filepath.Ext(path)), http.DetectContentType(r.body)), err
	case !isText && a.Has("body"):
		r.body = notes.Marshal(a["body"])
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

// findFile returns the path of a file beside the trail or in the project, for an argument of a command.
func (d *webDevice) findFile(argument, name string) (string, error) {
	var tried []string
	for _, folder := range d.foldersOf(name) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if !d.files.AllowsPath(path) {
			return "", fault.New(fault.ToolFailed, allowFileHint,
				"%s: %s may not be read: it is not below %s", argument, path, d.files)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		tried = append(tried, path)
	}
	if len(tried) == 0 {
		return "", errNoFolder(argument, name)
	}
	return "", &fault.Error{
		Kind: fault.ToolFailed, Hint: "write a path relative to the trail's folder or the project's",
		Message: fmt.Sprintf("%s: the file %s does not exist", argument, strings.Join(slices.Compact(tried), " or ")),
	}
}

// answer answers a request.
func (r *route) answer(request pausedRequest) {
	switch {
	case r.abort:
		request.fail("Failed")
	case r.answers:
		request.fulfill(r.status, r.headersFor(request), r.body)
	default:
		request.proceed()
	}
}

// headersFor returns the headers of the answer, with those that a request of another origin needs.
func (r *route) headersFor(request pausedRequest) map[string]string {
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
func preflightHeaders(request pausedRequest) map[string]string {
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

func webUnroute(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	n, url := p.device.network, syntax.Arguments(args).Text("url")
	n.mu.Lock()
	before := len(n.routes)
	var urls []string
	for _, r := range n.routes {
		urls = append(urls, r.pattern.url.Text)
	}
	n.routes = slices.DeleteFunc(n.routes, func(r *route) bool {
		removed := url == "" || r.pattern.url.Text == url
		if removed && !r.used && len(n.unused) < notes.MaxIncidents {
			n.unused = append(n.unused, r.unusedIncident())
		}
		return removed
	})
	removed := before - len(n.routes)
	n.mu.Unlock()
	if removed == 0 && url != "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "write the url as in web_route",
			"no route has the url %q; %s", url, seen("route", urls))
	}
	if err := p.context.pauseAllRequests(ctx); err != nil {
		return tool.Result{}, err
	}
	return success("removed %s", text.Count(removed, "route")), nil
}
