package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/testdata/ports"
)

// respond returns a handler that responds to every request in the same way.
func respond(status int, kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func redirect(status int, to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) })
}

// refusedURL returns a URL at which nothing listens.
func refusedURL(t *testing.T) string {
	t.Helper()
	port, err := ports.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + port + "/mcp"
}

func TestConnectErrors(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html>\n<html><head><title>Sign in to Example</title></head></html>"
	overHTTP := func(h http.Handler) func(*testing.T) string {
		return func(t *testing.T) string { t.Helper(); return listen(t, h).URL + "/mcp" }
	}
	overTLS := func(t *testing.T) string {
		t.Helper()
		s := httptest.NewUnstartedServer(goHandler(t))
		s.Config.ErrorLog = discardLog()
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	tests := []struct {
		name    string
		url     func(*testing.T) string
		kind    fault.Kind
		message string // with URL for the URL and ADDRESS for host and port
		hint    string
	}{
		{
			"nothing listens", refusedURL, fault.Server,
			`server "team": initialize: URL cannot be reached at ADDRESS: connection refused`, "is it running",
		},
		{
			"401", overHTTP(respond(401, "text/plain", "no token\nat all")), fault.PermissionDenied,
			`server "team": initialize: URL answers 401 Unauthorized: no token`, "check headers",
		},
		{
			"403", overHTTP(respond(403, "application/json",
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not for you"}}`)), fault.PermissionDenied,
			`server "team": initialize: URL answers 403 Forbidden: not for you`, "check headers",
		},
		{
			"407", overHTTP(respond(407, "text/plain", "")), fault.PermissionDenied,
			`server "team": initialize: a proxy answers 407 Proxy Authentication Required`, "HTTP_PROXY",
		},
		{
			"500", overHTTP(respond(500, "text/plain", "out of luck\ntrace")), fault.Server,
			`server "team": initialize: URL answers 500 Internal Server Error: out of luck`, "its log",
		},
		{
			"another protocol", overHTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Connection", "Upgrade")
				w.Header().Set("Upgrade", "other")
				w.WriteHeader(http.StatusSwitchingProtocols)
				_, _, _ = http.NewResponseController(w).Hijack() // the connection stays open
			})), fault.Server,
			`server "team": initialize: the connection to URL was lost: it answers 101 Switching Protocols`, "https",
		},
		{
			"503 with a page", overHTTP(respond(503, "text/html", page)), fault.Server,
			`server "team": initialize: URL answers 503 Service Unavailable: Sign in to Example`, "its log",
		},
		{
			"a status twice", overHTTP(respond(502, "text/html", "<html><title>502 Bad Gateway</title>")), fault.Server,
			`server "team": initialize: URL answers 502 Bad Gateway`, "its log",
		},
		{
			"too many requests", overHTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
			})), fault.Server,
			`server "team": initialize: URL answers 429 Too Many Requests`, "(Retry-After: 7 s)",
		},
		{
			"a session that is not there", overHTTP(respond(404, "application/json",
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)),
			fault.Server, `server "team": initialize: URL answers 404 Not Found: Session not found`, "it supports MCP",
		},
		{
			"one session for all", overHTTP(respond(400, "application/json",
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Server already initialized"}}`)),
			fault.ProtocolError, `server "team": initialize: protocol error -32600: Server already initialized`,
			"one client at a time",
		},
		{
			"a TLS alert", tlsAlertURL, fault.Server,
			`server "team": initialize: URL: the server expects HTTPS`, "https://",
		},
		{
			"the wrong path", overHTTP(http.NotFoundHandler()), fault.Server,
			`server "team": initialize: no MCP server at URL: streamable HTTP: answers 404 Not Found: 404 page not found; HTTP with SSE: 404 Not Found`,
			"/mcp",
		},
		{
			"400 to both", overHTTP(respond(400, "text/plain", "")), fault.Server,
			`server "team": initialize: no MCP server at URL: streamable HTTP: answers 400 Bad Request; HTTP with SSE: 400 Bad Request`, "/mcp",
		},
		{
			"a page behind 405", overHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
			})), fault.Server,
			`server "team": initialize: no MCP server at URL: streamable HTTP: answers 405 Method Not Allowed; HTTP with SSE: 200 OK, but not an event stream`,
			"/mcp",
		},
		{
			"a login page", overHTTP(respond(200, "text/html", page)), fault.ProtocolError,
			`server "team": initialize: URL is not an MCP server: 200 OK with a web page instead of a message, such as a login page: Sign in to Example`,
			"/mcp",
		},
		{
			"nothing", overHTTP(respond(200, "", "")), fault.ProtocolError,
			`server "team": initialize: URL is not an MCP server: its response is empty (200 OK)`, "/mcp",
		},
		{
			"JSON that is not a message", overHTTP(respond(200, "application/json", `{"status":"ok"}`)),
			fault.ProtocolError,
			`server "team": initialize: URL is not an MCP server: its response is not a JSON-RPC message`, "/mcp",
		},
		{
			"another type", overHTTP(respond(200, "text/plain", "OK")), fault.ProtocolError,
			`server "team": initialize: URL is not an MCP server: its response has the type "text/plain", and is not a JSON-RPC message: OK`, "/mcp",
		},
		{
			"a stream that ends", overHTTP(respond(200, "text/event-stream", ": hello\n\n")), fault.Server,
			`server "team": initialize: the connection to URL was lost: it was closed before the response`, "https://",
		},
		{
			"another host", overHTTP(redirect(307, "http://tools.example.com/mcp?key=sesame")), fault.Server,
			`server "team": initialize: URL redirects to http://tools.example.com/mcp, which is another host`,
			"the final URL into url",
		},
		{
			"a redirect that drops the message", overHTTP(redirect(301, "/other")), fault.Server,
			`server "team": initialize: URL redirects to BASE/other, with a status (301 Moved Permanently) that drops the message`, "the final URL into url",
		},
		{
			"redirects in a circle", overHTTP(redirect(308, "/mcp")), fault.Server,
			`server "team": initialize: URL redirects to URL, and so on, more than 5 times`, "the final URL into url",
		},
		{
			"TLS that is not trusted", overTLS, fault.Server,
			`server "team": initialize: URL cannot be reached at ADDRESS: its certificate is signed by an authority that this machine does not trust`,
			"SSL_CERT_FILE",
		},
		{
			"TLS where there is none", func(t *testing.T) string {
				t.Helper()
				return strings.Replace(overHTTP(goHandler(t))(t), "http:", "https:", 1)
			}, fault.Server,
			`server "team": initialize: URL cannot be reached at ADDRESS: it does not use TLS`, "http://",
		},
		{
			"no TLS where there is some", func(t *testing.T) string {
				t.Helper()
				return strings.Replace(overTLS(t), "https:", "http:", 1)
			}, fault.Server,
			`server "team": initialize: URL: the server expects HTTPS`, "https://",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := tt.url(t)
			cfg, logs := config(t, Spec{URL: url}, nil)
			_, err := server.Start(t.Context(), cfg)
			if err == nil {
				t.Fatal("Start succeeded")
			}
			base := strings.TrimSuffix(url, "/mcp")
			_, address, _ := strings.Cut(base, "://")
			want := strings.NewReplacer("URL", url, "ADDRESS", address, "BASE", base).Replace(tt.message)
			if fault.KindOf(err) != tt.kind || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %s\nwant %s: %s…\n%s", fault.KindOf(err), err, tt.kind, want, logs)
			}
			if hint := fault.As(err).Hint; !strings.Contains(hint, tt.hint) || hint == "" || tt.hint == "" {
				t.Errorf("hint %q, want one with %q", hint, tt.hint)
			}
			if strings.Count(err.Error(), "502 Bad Gateway") > 1 {
				t.Errorf("it repeats itself: %s", err)
			}
			if strings.Contains(err.Error(), "sesame") {
				t.Errorf("it shows a query: %s", err)
			}
			if got := fault.As(err).Details["url"]; got != url {
				t.Errorf("details: url %v", got)
			}
		})
	}
}

// tlsAlertURL returns the URL of a server that responds with a TLS alert.
func tlsAlertURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1024))
			_, _ = c.Write([]byte{0x15, 3, 1, 0, 2, 2, 22})
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/mcp"
}

func TestURLWithoutAPath(t *testing.T) {
	t.Parallel()
	at := func(path string) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("POST "+path, goHandler(t))
		return mux
	}
	for name, tc := range map[string]struct {
		handler http.Handler
		path    string // of the url
		want    string // of the error; empty if it connects
		logs    bool
	}{
		"at /mcp":     {at("/mcp"), "", "", true},
		"at the root": {at("/{$}"), "", "", false},
		"at neither":  {at("/other"), "", "no MCP server at URL: streamable HTTP: answers 404 Not Found", false},
		"a url with a path": {
			at("/mcp"), "/tools",
			"no MCP server at URL/tools: streamable HTTP: answers 404 Not Found", false,
		},
		"another error at /mcp": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(map[string]int{"/mcp": 401}[r.URL.Path] + map[string]int{"/": 404}[r.URL.Path])
		}), "", "URL/mcp answers 401 Unauthorized", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faultyServer{Handler: tc.handler}
			url := listen(t, f).URL
			cfg, logs := config(t, Spec{URL: url + tc.path}, nil)
			srv, err := server.Start(t.Context(), cfg)
			if err == nil {
				r := &testServer{srv, logs}
				defer r.stop(t)()
				if got := r.call(t, "echo", map[string]any{"text": "one"}); got.Text != "one" {
					t.Errorf("echo: %+v", got)
				}
			}
			if want := strings.ReplaceAll(tc.want, "URL", url); (err == nil) != (want == "") || err != nil &&
				!strings.Contains(err.Error(), want) {
				t.Errorf("Start: %v, want %q", err, want)
			}
			note := `info: server "team" answers 404 Not Found at ` + url + "; using " + url + "/mcp"
			if got := strings.Contains(logs.String(), note); got != tc.logs {
				t.Errorf("log:\n%s", logs)
			}
			if n := f.count("POST initialize"); n > 2 {
				t.Errorf("%d requests: %s", n, f.seen())
			}
		})
	}
}

func TestSlowServerTimesOut(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	defer close(stop)
	s := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	cfg, logs := config(t, Spec{URL: s.URL}, func(c *server.Config) { c.StartupTimeout = 300 * time.Millisecond })
	var link server.Link
	launch := cfg.Launch
	cfg.Launch = func(ctx context.Context) (l server.Link, err error) { link, err = launch(ctx); return link, err }
	_, err := server.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "no handshake within 300ms") ||
		!strings.Contains(err.Error(), "the server's url is "+s.URL) {
		t.Errorf("Start: %v", err)
	}
	select {
	case <-link.FirstMessage():
		t.Errorf("a message was received: %s", logs)
	default:
	}
}

func TestStreamWithoutAnEndpointTimesOut(t *testing.T) {
	t.Parallel()
	s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	limits := defaultTiming()
	limits.endpoint = 100 * time.Millisecond
	cfg, _ := config(t, Spec{URL: s.URL, timing: &limits}, nil)
	_, err := server.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "HTTP with SSE: its stream sends nothing for 100ms") {
		t.Errorf("Start: %v", err)
	}
}

func TestEndpointOnAnotherHostIsRefused(t *testing.T) {
	t.Parallel()
	s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\nretry: 1000\n\nevent: endpoint\ndata: http://tools.example.com/messages?session=1\n\n")
	}))
	cfg, _ := config(t, Spec{URL: s.URL}, nil)
	_, err := server.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(),
		"HTTP with SSE: its endpoint is on another host, http://tools.example.com/messages") {
		t.Errorf("Start: %v", err)
	}
}

// faultyServer is a server on the Go SDK with faults in front of it.
type faultyServer struct {
	http.Handler
	mu       sync.Mutex
	requests []string // "METHOD rpc-method", in order
	headers  []http.Header
	fault    func(w http.ResponseWriter, r *http.Request, method string) bool // whether it dealt with the request
}

func (f *faultyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var msg struct{ Method string }
	_ = json.Unmarshal(body, &msg)
	f.mu.Lock()
	f.requests = append(f.requests, strings.TrimSpace(r.Method+" "+msg.Method))
	f.headers = append(f.headers, r.Header.Clone())
	broken := f.fault
	f.mu.Unlock()
	if broken == nil || !broken(w, r, msg.Method) {
		f.Handler.ServeHTTP(w, r)
	}
}

// breaks makes the next requests of a method fail.
func (f *faultyServer) breaks(method string, times int, how http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := times
	f.fault = func(w http.ResponseWriter, r *http.Request, m string) bool {
		f.mu.Lock()
		hit := m == method && left > 0
		if hit {
			left--
		}
		f.mu.Unlock()
		if hit {
			how(w, r)
		}
		return hit
	}
}

func (f *faultyServer) count(request string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.requests {
		if r == request {
			n++
		}
	}
	return n
}

func (f *faultyServer) seen() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.requests, ", ")
}

func goHandler(t *testing.T) http.Handler {
	t.Helper()
	return mcp.NewStreamableHTTPHandler(always(goTools(t)), nil)
}

func dropConnection(w http.ResponseWriter, _ *http.Request) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// dropStream begins a response and closes the connection.
func dropStream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, ": working\n\n")
	_ = http.NewResponseController(w).Flush()
	dropConnection(w, r)
}

func status(status int, body string) http.HandlerFunc {
	return respond(status, "text/plain", body).ServeHTTP
}

func TestFailedCallIsReportedAndTheNextOneWorks(t *testing.T) {
	t.Parallel()
	const maybeExecuted = "; the call may have executed"
	tests := []struct {
		name        string
		how         http.HandlerFunc
		times       int
		want        string // of the failure; empty when the call is sent again and works
		kind        fault.Kind
		connections int // in all, after the next call
	}{
		{
			"dropped before a response", dropConnection, 1,
			"the connection to URL was lost: it was closed before the response" + maybeExecuted, fault.Server, 2,
		},
		{
			"dropped within a response", dropStream, 1,
			"the connection to URL was lost: it was closed before the response" + maybeExecuted, fault.Server, 2,
		},
		{"the session is unknown", status(404, "session not found"), 1, "", "", 2},
		{"the session is unknown, 400", status(400, "Bad Request: No valid session ID provided"), 1, "", "", 2},
		{
			"the session is unknown, 400 with other words", status(400, "Bad Request: Server not initialized"), 1, "", "",
			2,
		},
		{
			"the session is unknown twice", status(404, "session not found"), 2,
			"the server does not know the session any more: it answers 404 Not Found", fault.Server, 3,
		},
		{
			"500", status(500, "out of luck"), 1, "URL answers 500 Internal Server Error: out of luck" + maybeExecuted,
			fault.Server, 1,
		},
		{"503", status(503, ""), 1, "URL answers 503 Service Unavailable" + maybeExecuted, fault.Server, 1},
		{
			"a page", respond(200, "text/html", "<title>Sorry</title>").ServeHTTP, 1,
			"URL is not an MCP server: 200 OK with a web page", fault.ProtocolError, 1,
		},
		{
			"a JSON-RPC error with a status",
			respond(500, "application/json",
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"oh no"}}`).ServeHTTP,
			1, "protocol error -32603: oh no", fault.ProtocolError, 1,
		},
		{
			"a method that is not found, with 404",
			respond(404, "application/json",
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no such method"}}`).ServeHTTP,
			1, "protocol error -32601: no such method", fault.ProtocolError, 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &faultyServer{Handler: goHandler(t)}
			s := listen(t, f)
			r := connect(t, Spec{URL: s.URL}, nil)
			f.breaks("tools/call", tt.times, tt.how)
			got := r.call(t, "echo", map[string]any{"text": "one"})
			want := strings.ReplaceAll(`server "team", tool "echo": `+tt.want, "URL", s.URL)
			if tt.want == "" && got.Text != "one" || tt.want != "" &&
				(got.OK || got.Kind != tt.kind || !strings.HasPrefix(got.Text, want)) {
				t.Errorf("call: %+v\nwant %s: %s", got, tt.kind, want)
			}
			if again := r.call(t, "echo", map[string]any{"text": "two"}); again.Text != "two" {
				t.Errorf("the next call: %+v", again)
			}
			if n := f.count("POST initialize"); n != tt.connections {
				t.Errorf("connected %d times, want %d: %s", n, tt.connections, f.seen())
			}
			if tt.want == "" && !strings.Contains(r.String(),
				"warn: server \"team\" reconnected: it did not receive the call of tool \"echo\": the server does not know the session any more") {
				t.Errorf("log: %s", r)
			}
		})
	}
}

func TestServerFailsIfItCannotReconnect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		then func(f *faultyServer, s *httptest.Server)
		want string
		kind fault.Kind
	}{
		{"it is gone", func(_ *faultyServer, s *httptest.Server) {
			s.CloseClientConnections()
			s.Close()
			if err := ports.AwaitRefused(t.Context(), s.Listener.Addr().String()); err != nil {
				t.Error(err)
			}
		}, "initialize: URL cannot be reached at", fault.Server},
		{"it wants another token", func(f *faultyServer, _ *httptest.Server) {
			f.mu.Lock()
			f.fault = func(w http.ResponseWriter, r *http.Request,
				_ string,
			) bool {
				status(401, "expired")(w, r)
				return true
			}
			f.mu.Unlock()
		}, "initialize: URL answers 401 Unauthorized: expired", fault.PermissionDenied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &faultyServer{Handler: goHandler(t)}
			s := listen(t, f)
			r := connect(t, Spec{URL: s.URL}, nil)
			r.call(t, "echo", map[string]any{"text": "one"})
			tt.then(f, s)
			lost, err := r.Call(t.Context(), tool.Call{Tool: "echo", Args: map[string]any{"text": "two"}})
			if err == nil && strings.Contains(lost.Text, " was lost: ") { // it was closed during the write
				_, err = r.Call(t.Context(), tool.Call{Tool: "echo", Args: map[string]any{"text": "three"}})
			}
			want := strings.ReplaceAll(`server "team": `+tt.want, "URL", s.URL)
			if err == nil || fault.KindOf(err) != tt.kind || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("call: %v, want %s: %s", err, tt.kind, want)
			}
			select {
			case <-r.Failed():
			default:
				t.Error("the server has not failed")
			}
			if n := f.count("POST initialize"); n > 2 {
				t.Errorf("tried %d times", n)
			}
		})
	}
}

func TestLinkReconnectsToARestartedServer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"stateful", "stateless", "sse"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			path := "/mcp"
			if mode == "sse" {
				path = "/sse"
			}
			first := serve(t, "http1.ts", path, "MODE="+mode)
			r := connect(t, Spec{URL: first.url}, nil)
			r.call(t, "echo", map[string]any{"text": "one"})
			first.kill()
			second := serve(t, "http1.ts", path, "MODE="+mode, "PORT="+first.port)
			if got := r.call(t, "echo", map[string]any{"text": "two"}); got.Text != "two" {
				t.Errorf("after a restart between calls: %+v", got)
			}
			got := r.call(t, "die", nil)
			if want := `server "team", tool "die": the connection to ` + second.url + ` was lost: `; got.OK ||
				got.Kind != fault.Server || !strings.HasPrefix(got.Text, want) ||
				!strings.HasSuffix(got.Text, "; the call may have executed") {
				t.Errorf("a call that it dies of: %+v", got)
			}
			<-second.exited
			serve(t, "http1.ts", path, "MODE="+mode, "PORT="+first.port)
			if got := r.call(t, "echo", map[string]any{"text": "three"}); got.Text != "three" {
				t.Errorf("after it died in a call: %+v", got)
			}
		})
	}
}

func TestLostCallDoesNotFailOthers(t *testing.T) {
	t.Parallel()
	f := &faultyServer{Handler: goHandler(t)}
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.fault = func(w http.ResponseWriter, r *http.Request, method string) bool {
		if method != "tools/call" {
			return false
		}
		slow := false
		once.Do(func() { slow = true })
		if slow {
			close(started)
			<-release
			return false
		}
		dropConnection(w, r)
		return true
	}
	r := connect(t, Spec{URL: listen(t, f).URL}, func(c *server.Config) { c.Parallel = true })
	first := make(chan tool.Result, 1)
	go func() {
		got, err := r.Call(context.WithoutCancel(t.Context()),
			tool.Call{Tool: "echo", Args: map[string]any{"text": "slow"}})
		if err != nil {
			t.Error(err)
		}
		first <- got
	}()
	<-started
	if got := r.call(t, "echo", map[string]any{"text": "lost"}); got.OK {
		t.Errorf("the lost one: %+v", got)
	}
	close(release)
	if got := <-first; got.Text != "slow" {
		t.Errorf("the slow one: %+v", got)
	}
}

func TestHeadersAreSentWithEveryRequestAndToNoOtherHost(t *testing.T) {
	t.Parallel()
	otherHost := &faultyServer{Handler: http.NotFoundHandler()}
	there := listen(t, otherHost)
	f := &faultyServer{Handler: goHandler(t)}
	here := listen(t, f)
	r := connect(t, Spec{URL: here.URL, Headers: map[string]string{"Authorization": "Bearer sesame"}}, nil)
	waitFor(t, "the stream of notifications is open", func() bool { return f.count("GET") == 1 })
	r.call(t, "echo", map[string]any{"text": "one"})
	f.breaks("tools/call", 2, redirect(http.StatusTemporaryRedirect, there.URL).ServeHTTP)
	if got := r.call(t, "echo", nil); !strings.Contains(got.Text, "redirects to "+there.URL+", which is another host") {
		t.Errorf("redirected: %+v", got)
	}
	r.stop(t)()
	want := "POST initialize, POST notifications/initialized, POST tools/list, GET, POST tools/call, DELETE"
	for request := range strings.SplitSeq(want, ", ") {
		if f.count(request) == 0 {
			t.Errorf("no %s: %s", request, f.seen())
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, h := range f.headers {
		if h.Get("Authorization") != "Bearer sesame" {
			t.Errorf("%s: without the header", f.requests[i])
		}
		if got := h.Get("Mcp-Protocol-Version"); got != "2025-11-25" && f.requests[i] != "POST initialize" {
			t.Errorf("%s: protocol version %q", f.requests[i], got)
		}
	}
	if n := len(otherHost.requests); n != 0 {
		t.Errorf("%d requests to the other host: %s", n, otherHost.seen())
	}
}

func TestRedirectsOnTheSameHostAreFollowed(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/mcp/", goHandler(t))
	mux.Handle("/mcp", redirect(http.StatusTemporaryRedirect, "/mcp/"))
	r := connect(t, Spec{
		URL:     listen(t, mux).URL + "/mcp",
		Headers: map[string]string{"Authorization": "Bearer sesame"},
	}, nil)
	checkEcho(t, r, "2025-11-25", map[string]string{"Authorization": "Bearer sesame"})
}

func TestRequestsGoThroughAProxy(t *testing.T) {
	t.Parallel()
	f := &faultyServer{Handler: goHandler(t)}
	proxy := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "tools.example.com" {
			t.Errorf("a request for %s", r.Host)
		}
		r.Host = "localhost" // the SDK accepts only names of its own machine
		f.ServeHTTP(w, r)
	}))
	r := connect(t, Spec{
		URL:   "http://tools.example.com/mcp",
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) },
	}, nil)
	if got := r.call(t, "echo", map[string]any{"text": "through"}); got.Text != "through" {
		t.Errorf("echo: %+v", got)
	}
}

func TestProxyFailuresNameTheProxy(t *testing.T) {
	t.Parallel()
	proxy := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.Host[:3]) // 407.example.com
		w.WriteHeader(status)
	})).URL
	for _, tt := range []struct{ url, proxy, message, hint string }{
		{"http://1.example.com/", refusedURL(t), "cannot be reached through the proxy AT: connection refused", hintProxy},
		{"https://1.example.com/", refusedURL(t), "cannot be reached through the proxy AT: connection refused", hintProxy},
		{"https://403.example.com/", proxy, "cannot be reached through the proxy AT: it answers 403 Forbidden", hintProxy},
		{"http://407.example.com/", proxy, "the proxy AT answers 407 Proxy Authentication Required", hintProxy},
		{"http://502.example.com/", proxy, "http://502.example.com/ answers 502 Bad Gateway", "the server, or the proxy AT, has a problem"},
	} {
		cfg, _ := config(t, Spec{
			URL: tt.url, Proxy: func(*http.Request) (*url.URL, error) {
				return url.Parse(strings.Replace(tt.proxy, "http://", "http://me:secret@", 1))
			},
		}, nil)
		_, err := server.Start(t.Context(), cfg)
		proxied := func(text string) string { return strings.Replace(text, "the proxy AT", "the proxy "+tt.proxy, 1) }
		if e := fault.As(err); e == nil || !strings.Contains(e.Message, proxied(tt.message)) || !strings.Contains(e.Hint, proxied(tt.hint)) {
			t.Errorf("%s: %+v; want %q, %q", tt.url, e, tt.message, tt.hint)
		}
	}
}

func TestConnectionsAreReusedAndClosedByStop(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	s := httptest.NewUnstartedServer(goHandler(t))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		open[c] = state != http.StateClosed
	}
	s.Start()
	defer s.Close()
	r := connect(t, Spec{URL: s.URL}, nil)
	for range 20 {
		r.call(t, "echo", map[string]any{"text": "one"})
	}
	mu.Lock()
	if len(open) > 6 {
		t.Errorf("%d connections for 20 calls", len(open))
	}
	mu.Unlock()
	r.stop(t)()
	waitFor(t, "all connections are closed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, is := range open {
			if is {
				return false
			}
		}
		return len(open) > 0
	})
}

func TestStopReturnsIfTheServerHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	f := &faultyServer{Handler: goHandler(t)}
	limits := defaultTiming()
	limits.delete = 100 * time.Millisecond
	r := connect(t, Spec{URL: listen(t, f).URL, timing: &limits}, nil)
	f.mu.Lock()
	f.fault = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return true
	}
	f.mu.Unlock()
	r.stop(t)() // which fails the test if it takes too long
}

func TestInvalidSpec(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{
		{URL: "tools.example.com"},
		{URL: "ftp://x/"},
		{URL: "http://x", Headers: map[string]string{"A": "b\n"}},
	} {
		if _, err := Open(t.Context(), spec); fault.KindOf(err) != fault.Config {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Spec{URL: "http://x"}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}
