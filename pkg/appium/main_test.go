package appium_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The credentials that the tests use. No error and no line of a log may contain them.
const (
	testUser = "someone-4711"
	testKey  = "k3y-of-the-cloud"
)

// reply is the response to a call.
type reply struct {
	status int    // 0 for 200
	body   string // 0 for {"value": null}
	cut    bool   // close the connection in place of a response
	exit   bool   // accept no connection any more before that
}

func value(json string) reply { return reply{body: `{"value": ` + json + `}`} }

// failure is an error as servers send it.
func failure(status int, code, message string) reply {
	data, _ := json.Marshal(map[string]any{"value": map[string]string{"error": code, "message": message, "stacktrace": ""}})
	return reply{status: status, body: string(data)}
}

// server responds as Appium does. A call is METHOD and path below the session, or the name of an extension command.
type server struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	base    string // before /session
	replies map[string]reply
	calls   []string // with their arguments
	logged  []string
}

// startServer starts a server that knows the calls of replies, besides those for opening and closing a session.
func startServer(t *testing.T, replies map[string]reply) *server {
	t.Helper()
	s := &server{t: t, replies: map[string]reply{
		"POST /session": value(`{"sessionId": "s1", "capabilities": {"platformName": "Android", "deviceUDID": "emulator-5554",
			"deviceManufacturer": "Google", "deviceModel": "Pixel 7", "platformVersion": "14", "deviceScreenDensity": 420}}`),
		"GET /window/rect":      value(`{"x": 0, "y": 0, "width": 1080, "height": 2400}`),
		"POST /appium/settings": {}, "DELETE ": {},
	}}
	maps.Copy(s.replies, replies)
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	t.Cleanup(s.checkSecrets)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body) // some have none
	path, ok := strings.CutPrefix(r.URL.Path, s.base)
	path = strings.TrimPrefix(path, "/session/s1")
	call := r.Method + " " + path
	if script, isScript := body["script"].(string); isScript && path == "/execute/sync" {
		call = script
		list, _ := body["args"].([]any)
		body = nil
		if len(list) > 0 {
			body, _ = list[0].(map[string]any)
		}
	}
	text := call
	if len(body) > 0 && path != "/appium/settings" {
		data, _ := json.Marshal(body)
		text += " " + string(data)
	}
	s.mu.Lock()
	s.calls = append(s.calls, text)
	answer, known := s.replies[call]
	s.mu.Unlock()
	switch {
	case !ok || !known:
		answer = failure(http.StatusNotFound, "unknown command", "The requested resource could not be found")
	case answer.cut:
		if answer.exit {
			s.Listener.Close()
		}
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
		return
	}
	w.WriteHeader(cmp.Or(answer.status, http.StatusOK))
	fmt.Fprint(w, cmp.Or(answer.body, `{"value": null}`))
}

// set sets the response to a call.
func (s *server) set(call string, r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[call] = r
}

// take returns the calls since it was called before.
func (s *server) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

func (s *server) log(level, message, hint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logged = append(s.logged, level+": "+message+"; "+hint)
}

func (s *server) logs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.logged, "\n")
}

func (s *server) checkSecrets() { checkNoSecrets(s.t, s.logs()) }

func checkNoSecrets(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{testUser, testKey} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in: %s", secret, text)
		}
	}
}

// options returns the options of a session, with user and key in the URL.
func (s *server) options(platform mobile.Platform) appium.Options {
	return appium.Options{
		URL: strings.Replace(s.URL, "://", "://"+testUser+":"+testKey+"@", 1) + s.base, Platform: platform, Log: s.log,
		Limits: appium.Limits{Start: 10 * time.Second, Call: 10 * time.Second, Close: 10 * time.Second},
	}
}

// open returns the driver of a session that ends with the test.
func (s *server) open(platform mobile.Platform) mobile.Driver {
	s.t.Helper()
	d, err := appium.Open(s.t.Context(), s.options(platform))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := d.Close(context.WithoutCancel(s.t.Context())); err != nil {
			s.t.Error(err)
		}
	})
	s.take()
	return d
}
