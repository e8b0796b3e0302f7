package webdriver_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

const (
	user = "someone@example"
	key  = "k/ey+with=signs"
)

// client returns a client of a server with user and key.
func client(t *testing.T, o webdriver.Options, handler http.HandlerFunc) *webdriver.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return connect(t, server.URL, o)
}

func connect(t *testing.T, url string, o webdriver.Options) *webdriver.Client {
	t.Helper()
	c, err := webdriver.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func session(t *testing.T, o webdriver.Options, handler http.HandlerFunc) *webdriver.Session {
	t.Helper()
	c := client(t, o, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/session" {
			fmt.Fprint(w, `{"value":{"sessionId":"s1","capabilities":{"platformName":"Android"}}}`)
			return
		}
		handler(w, r)
	})
	s, err := c.NewSession(t.Context(), webdriver.Capabilities{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSessionSendsWhatTheProtocolSays(t *testing.T) {
	t.Parallel()
	png := append([]byte("\x89PNG\r\n\x1a\n"), 1, 2, 3)
	encoded := base64.StdEncoding.EncodeToString(png)
	answers := map[string]string{
		"POST /wd/hub/session":                  `{"value":{"sessionId":"s/1","capabilities":{"platformName":"iOS"}}}`,
		"GET /wd/hub/session/s%2F1/screenshot":  `{"value":"` + encoded[:4] + `\r\n` + encoded[4:] + `"}`,
		"GET /wd/hub/session/s%2F1/window/rect": `{"value":{"x":0,"y":0,"width":390,"height":843.7}}`,
		"GET /wd/hub/session/s%2F1/source":      `{"value":"<a/>"}`,
	}
	type sent struct{ Call, Body string }
	var got []sent
	var auth string
	c := client(t, webdriver.Options{}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		call := r.Method + " " + r.URL.EscapedPath()
		got = append(got, sent{call, string(body)})
		auth = r.Header.Get("Authorization")
		if answer, ok := answers[call]; ok {
			fmt.Fprint(w, answer)
			return
		}
		fmt.Fprint(w, `{"value":null}`)
	})
	c = connect(t, strings.Replace(c.URL(), "://", "://bob:secret@", 1)+"/wd/hub/", webdriver.Options{})
	ctx := t.Context()
	s, err := c.NewSession(ctx, webdriver.Capabilities{AlwaysMatch: map[string]any{"platformName": "iOS"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.ID() != "s/1" || s.Capabilities()["platformName"] != "iOS" {
		t.Errorf("session is %q %v", s.ID(), s.Capabilities())
	}
	if picture, err := s.Screenshot(ctx); err != nil || string(picture) != string(png) {
		t.Errorf("screenshot: %q, %v", picture, err)
	}
	if w, h, err := s.Size(ctx); err != nil || w != 390 || h != 844 {
		t.Errorf("size: %d x %d, %v", w, h, err)
	}
	if text, err := s.Source(ctx); err != nil || text != "<a/>" {
		t.Errorf("source: %q, %v", text, err)
	}
	fingers := []webdriver.Finger{
		{Path: []webdriver.Point{{1, 2}}, Hold: 500 * time.Millisecond},
		{Path: []webdriver.Point{{0, 0}, {0, 30}, {0, 40}}, Move: 400 * time.Millisecond, Rest: 150 * time.Millisecond},
	}
	var result any
	for _, err := range []error{
		s.Actions(ctx, fingers...), s.Settings(ctx, map[string]any{"a": 1}), s.Execute(ctx, "mobile: x", map[string]any{"b": 2}, &result),
		s.Post(ctx, "/back", nil, nil), s.Delete(ctx),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	const base = "/wd/hub/session/s%2F1"
	want := []sent{
		{"POST /wd/hub/session", `{"capabilities":{"alwaysMatch":{"platformName":"iOS"},"firstMatch":[{}]}}`},
		{"GET " + base + "/screenshot", ""},
		{"GET " + base + "/window/rect", ""},
		{"GET " + base + "/source", ""},
		{"POST " + base + "/actions", `{"actions":[{"actions":[` +
			`{"duration":0,"origin":"viewport","type":"pointerMove","x":1,"y":2},{"button":0,"type":"pointerDown"},` +
			`{"duration":500,"type":"pause"},{"button":0,"type":"pointerUp"}],` +
			`"id":"finger1","parameters":{"pointerType":"touch"},"type":"pointer"},{"actions":[` +
			`{"duration":0,"origin":"viewport","type":"pointerMove","x":0,"y":0},{"button":0,"type":"pointerDown"},` +
			`{"duration":300,"origin":"viewport","type":"pointerMove","x":0,"y":30},` +
			`{"duration":100,"origin":"viewport","type":"pointerMove","x":0,"y":40},` +
			`{"duration":150,"type":"pause"},{"button":0,"type":"pointerUp"}],` +
			`"id":"finger2","parameters":{"pointerType":"touch"},"type":"pointer"}]}`},
		{"POST " + base + "/appium/settings", `{"settings":{"a":1}}`},
		{"POST " + base + "/execute/sync", `{"args":[{"b":2}],"script":"mobile: x"}`},
		{"POST " + base + "/back", "{}"},
		{"DELETE " + base, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("bob:secret")); auth != want {
		t.Errorf("Authorization is %q, want %q", auth, want)
	}
}

func TestErrorsSayWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	const call = "POST /x"
	tests := []struct {
		name          string
		status        int
		body          string
		want          webdriver.Error
		text          string
		maybeExecuted bool
	}{
		{
			"W3C", 404, `{"value":{"error":"invalid session id","message":"it is gone","stacktrace":"at x"}}`,
			webdriver.Error{Status: 404, Code: webdriver.InvalidSessionID, Message: "it is gone"},
			call + ": invalid session id: it is gone", false,
		},
		{
			"W3C timeout", 500, `{"value":{"error":"timeout","message":"10 s"}}`,
			webdriver.Error{Status: 500, Code: "timeout", Message: "10 s"},
			call + ": timeout: 10 s", true,
		},
		{
			"before W3C", 200, `{"status":13,"value":{"message":"broken"},"sessionId":null}`,
			webdriver.Error{Status: 200, Code: "unknown error", Message: "broken"},
			call + ": unknown error: broken", false,
		},
		{
			"page of a gateway", 502, "<html><head><title>502 Bad\nGateway</title></head><body>…",
			webdriver.Error{Status: 502, Message: "502 Bad Gateway"},
			call + ": HTTP 502: 502 Bad Gateway", true,
		},
		{
			"text", 401, "\n\nSauce Labs: wrong access key &amp; user\nmore",
			webdriver.Error{Status: 401, Message: "Sauce Labs: wrong access key & user"},
			call + ": HTTP 401: Sauce Labs: wrong access key & user", false,
		},
		{
			"credentials that are repeated", 401,
			`{"value":{"error":"unauthorized","message":"` + user + ` / ` + key + ` c29tZW9uZUBleGFtcGxlOmsvZXkrd2l0aD1zaWducw== k%2Fey%2Bwith%3Dsigns"}}`,
			webdriver.Error{Status: 401, Code: "unauthorized", Message: "*** / *** *** ***"},
			call + ": unauthorized: *** / *** *** ***", false,
		},
		{"nothing", 500, "", webdriver.Error{Status: 500, Message: "an empty response"}, call + ": HTTP 500: an empty response", true},
		{
			"another program", 200, "<p>Welcome</p>",
			webdriver.Error{Status: 200, Message: "HTTP 200, but not a WebDriver response: Welcome"},
			call + ": HTTP 200, but not a WebDriver response: Welcome", true,
		},
	}
	for _, tt := range tests {
		c := client(t, webdriver.Options{User: user, Key: key}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
		})
		err := c.Call(t.Context(), http.MethodPost, "/x", nil, nil)
		got := webdriver.As(err)
		if got == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		if got.Status != tt.want.Status || got.Code != tt.want.Code || got.Message != tt.want.Message || got.Error() != tt.text {
			t.Errorf("%s: %+v\n%s\nwant %+v\n%s", tt.name, got, got, tt.want, tt.text)
		}
		if got.MaybeExecuted() != tt.maybeExecuted {
			t.Errorf("%s: MaybeExecuted() = %t", tt.name, got.MaybeExecuted())
		}
	}
}

func TestRequestThatWasSentMaybeExecuted(t *testing.T) {
	t.Parallel()
	var received atomic.Int32
	handlers := map[string]http.HandlerFunc{
		"/closed": func(w http.ResponseWriter, _ *http.Request) { hijack(t, w).Close() },
		"/cut": func(w http.ResponseWriter, _ *http.Request) {
			conn := hijack(t, w)
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"value\"")
			conn.Close()
		},
		"/large": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"value":%q}`, strings.Repeat("x", 2<<20))
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received.Add(1)
		handlers[r.URL.Path](w, r)
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{
		"/closed": "POST /closed: " + server.URL + " closed the connection without a complete response",
		"/cut":    "POST /cut: " + server.URL + " closed the connection without a complete response",
		"/large":  "POST /large: HTTP 200, and the response is larger than 1 MiB",
	} {
		received.Store(0)
		c := connect(t, strings.Replace(server.URL, "://", "://"+user+":"+"secret4@", 1), webdriver.Options{})
		err := c.Call(t.Context(), http.MethodPost, path, nil, nil)
		e := webdriver.As(err)
		if e == nil || e.Error() != want || !e.MaybeExecuted() {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
		if n := received.Load(); n != 1 {
			t.Errorf("%s was sent %d times", path, n)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the run was interrupted"))
	c := connect(t, server.URL, webdriver.Options{})
	err := webdriver.As(c.Call(ctx, http.MethodPost, "/closed", nil, nil))
	if err == nil || err.MaybeExecuted() || !strings.HasSuffix(err.Error(), ": the run was interrupted") {
		t.Errorf("a cancelled call: %v", err)
	}
}

func TestCallEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		received := 0
		served := make(chan struct{})
		dial := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { // reads the request, and does not respond
				defer close(served)
				request, err := http.ReadRequest(bufio.NewReader(theirs))
				if err == nil && request.Method == http.MethodPost {
					received++
				}
				_, _ = io.Copy(io.Discard, theirs)
			}()
			return ours, nil
		}
		c := connect(t, "http://phone", webdriver.Options{Limit: time.Second, Dial: dial})
		err := webdriver.As(c.Call(t.Context(), http.MethodPost, "/x", nil, nil))
		if err == nil || err.Error() != "POST /x: no response from http://phone within 1s" || !err.MaybeExecuted() {
			t.Errorf("got %v", err)
		}
		<-served
		if received != 1 {
			t.Errorf("received %d requests, want 1", received)
		}
	})
}

func hijack(t *testing.T, w http.ResponseWriter) net.Conn {
	t.Helper()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		t.Fatal("the connection cannot be taken over")
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestRequestThatWasNotSentHasNotExecuted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	c := connect(t, server.URL, webdriver.Options{})
	err := webdriver.As(c.Call(t.Context(), http.MethodPost, "/x", nil, nil))
	if err == nil || err.MaybeExecuted() || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

// A server that closes each connection after the response without saying so makes a client fail that uses it again.
func TestConnectionThatTheServerClosedFailsNoAction(t *testing.T) {
	t.Parallel()
	var received atomic.Int32
	c := client(t, webdriver.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			received.Add(1)
		}
		conn := hijack(t, w)
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"value\":null}")
		conn.Close()
	})
	const actions = 50
	for range actions {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if err := c.Call(t.Context(), method, "/x", nil, nil); err != nil {
				t.Error(err)
			}
		}
	}
	if n := received.Load(); n != actions {
		t.Errorf("%d actions were received, want %d", n, actions)
	}
}

func TestReadsShareAConnection(t *testing.T) {
	t.Parallel()
	addresses := map[string]int{}
	c := client(t, webdriver.Options{}, func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr]++
		fmt.Fprint(w, `{"value":null}`)
	})
	for range 3 {
		if err := c.Call(t.Context(), http.MethodGet, "/x", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(addresses) != 1 {
		t.Errorf("connections: %v, want one", addresses)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	c := client(t, webdriver.Options{User: user, Key: key}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/x" {
			followed.Store(true)
		}
		http.Redirect(w, r, "http://a:b@hub.example/wd", http.StatusTemporaryRedirect)
	})
	err := c.Call(t.Context(), http.MethodPost, "/x", nil, nil)
	if want := "POST /x: HTTP 307: the server redirects to http://hub.example/wd; use that URL"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

func TestSourcesAndScreenshotsMayBeLarge(t *testing.T) {
	t.Parallel()
	s := session(t, webdriver.Options{MaxBody: 4 << 20}, func(w http.ResponseWriter, r *http.Request) {
		size := 3 << 20
		if strings.HasSuffix(r.URL.Path, "/screenshot") {
			size = 5 << 20
		}
		fmt.Fprintf(w, `{"value":%q}`, strings.Repeat("x", size))
	})
	if text, err := s.Source(t.Context()); err != nil || len(text) != 3<<20 {
		t.Errorf("source has %d bytes, error %v", len(text), err)
	}
	if err := s.Get(t.Context(), "/source?format=json", nil); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"/se/log", "/log", "/appium/stop_recording_screen"} {
		if err := s.Post(t.Context(), path, nil, nil); err != nil {
			t.Error(err)
		}
	}
	_, err := s.Screenshot(t.Context())
	if want := "GET /screenshot: HTTP 200, and the response is larger than 4 MiB"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := s.Get(t.Context(), "/title", nil); err == nil {
		t.Error("a title of 3 MiB was accepted")
	}
}

func TestUnexpectedValuesAreErrors(t *testing.T) {
	t.Parallel()
	s := session(t, webdriver.Options{}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, map[string]string{
			"/session/s1/screenshot": `{"value":"bm90IGEgUE5H"}`, "/session/s1/source": `{"value":{"a":1}}`,
		}[r.URL.Path])
	})
	if _, err := s.Screenshot(t.Context()); err == nil || err.Error() != "GET /screenshot: the response is not a PNG in base64" {
		t.Errorf("screenshot: %v", err)
	}
	if _, err := s.Source(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "GET /source: the response is not as expected: json: ") {
		t.Errorf("source: %v", err)
	}
}

func TestSizeOfTheUiAutomator2Server(t *testing.T) {
	t.Parallel()
	s := session(t, webdriver.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/session/s1/window/current/size" {
			fmt.Fprint(w, `{"value":{"width":1080,"height":2400}}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"value":{"error":"unknown command","message":"no such route"}}`)
	})
	if w, h, err := s.Size(t.Context()); err != nil || w != 1080 || h != 2400 {
		t.Errorf("%d x %d, %v", w, h, err)
	}
}

func TestSessionIsOfTheServer(t *testing.T) {
	t.Parallel()
	var answer string
	c := client(t, webdriver.Options{}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
	answer = `{"sessionId":"old","status":0,"value":{"platformName":"iOS"}}`
	s, err := c.NewSession(t.Context(), webdriver.Capabilities{})
	if err != nil || s.ID() != "old" {
		t.Errorf("before W3C: %v, %v", s, err)
	}
	answer = `{"value":{}}`
	if _, err := c.NewSession(t.Context(), webdriver.Capabilities{}); err == nil || err.Error() != "POST /session: the response has no session id" {
		t.Errorf("got %v", err)
	}
	answer = `{"value":{"ready":true,"message":"ready","os":{"version":"17.2"},"device":"ipad"}}`
	status, err := c.Status(t.Context())
	if err != nil || !status.Ready || status.OS.Version != "17.2" || status.Device != "ipad" {
		t.Errorf("status: %+v, %v", status, err)
	}
}

func TestDeleteOfAnEndedSessionIsNoError(t *testing.T) {
	t.Parallel()
	s := session(t, webdriver.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"value":{"error":"invalid session id","message":"gone"}}`)
	})
	if err := s.Delete(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestURLsAreCheckedWithoutShowingTheirUser(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"ftp://bob:secret@host":  `"ftp://host" is not an http:// or https:// URL`,
		"bob:secret@host":        `"…@host" is not an http:// or https:// URL`,
		"http://bob:se cret@h:x": `"…@h:x" is not an http:// or https:// URL`,
	} {
		if _, err := webdriver.New(url, webdriver.Options{}); err == nil || err.Error() != want {
			t.Errorf("New(%q): %v, want %s", url, err, want)
		}
	}
}

func TestErrorsAreJSONWithoutCredentials(t *testing.T) {
	t.Parallel()
	c := connect(t, "http://bob:"+"secret4@127.0.0.1:1/x", webdriver.Options{})
	err := c.Call(t.Context(), http.MethodGet, "/y", nil, nil)
	data, jsonErr := json.Marshal(err)
	if text := fmt.Sprintf("%+v %#v %s %s", err, err, data, c.URL()); strings.Contains(text, "secret4") || jsonErr != nil {
		t.Errorf("%s %v", text, jsonErr)
	}
}

func TestAnotherProtocolIsAnError(t *testing.T) {
	t.Parallel()
	c := client(t, webdriver.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "other")
		w.WriteHeader(http.StatusSwitchingProtocols)
		_, _, _ = http.NewResponseController(w).Hijack() // the connection stays open
	})
	err := c.Call(t.Context(), http.MethodGet, "/x", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "101 Switching Protocols") {
		t.Error(err)
	}
}

func TestDialReplacesTheConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"value":{"ready":true}}`)
	}))
	t.Cleanup(server.Close)
	refused := errors.New("refused by the phone")
	var refuse bool
	var dials atomic.Int32
	c := connect(t, "http://127.0.0.1:1", webdriver.Options{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		dials.Add(1)
		if refuse {
			return nil, refused
		}
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}})
	for n := range int32(2) {
		if status, err := c.Status(t.Context()); err != nil || !status.Ready || dials.Load() != n+1 {
			t.Errorf("got %+v, %v after %d connections", status, err, dials.Load())
		}
	}
	refuse = true
	err := c.Call(t.Context(), http.MethodPost, "/x", nil, nil)
	if !errors.Is(err, refused) || webdriver.As(err).MaybeExecuted() {
		t.Errorf("got %v", err)
	}
}
