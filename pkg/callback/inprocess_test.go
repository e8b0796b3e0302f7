package callback

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestInProcessRequestsFollowTheSameRules(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	withToken := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.Token()) }
	for name, tc := range map[string]struct {
		body   string
		change func(r *http.Request)
		status int
		says   string
	}{
		"a call":                  {body(id, "greet", 5), nil, 200, `"text_content":"greet 5"`},
		"the only pending call":   {withoutID(), withToken, 200, `"text_content":"greet 5"`},
		"without id and token":    {withoutID(), nil, 200, "Authorization: Bearer"},
		"an unknown invocation":   {body("nobody", "greet", 5), nil, 200, "unknown invocation id"},
		"with the token":          {body(id, "greet", 5), withToken, 200, "greet 5"},
		"with another token":      {body(id, "greet", 5), func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401, "TRAILBLAZE_SESSION_TOKEN"},
		"from a page":             {body(id, "greet", 5), func(r *http.Request) { r.Header.Set("Origin", "http://a.example") }, 403, "web pages"},
		"to another host":         {body(id, "greet", 5), func(r *http.Request) { r.Host = "a.example" }, 403, "the Host header is not this server"},
		"other than POST":         {"", func(r *http.Request) { r.Method = http.MethodGet }, 405, "POST"},
		"to another path":         {body(id, "greet", 5), func(r *http.Request) { r.URL.Path = "/else" }, 404, "unknown path"},
		"larger than 1 MiB":       {body(id, strings.Repeat("x", maxBody), 5), nil, 413, "1 MiB"},
		"not JSON":                {"{", nil, 400, "the body is not"},
		"of another content type": {body(id, "greet", 5), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.CallbackURL(), strings.NewReader(tc.body))
			r.Header.Set("Content-Type", "application/json")
			if tc.change != nil {
				tc.change(r)
			}
			w := httptest.NewRecorder()
			s.InProcess().ServeHTTP(w, r)
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, tc.status, tc.says)
			}
		})
	}
}

func TestInProcessCallEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	started := make(chan struct{})
	id := register(t, s, func(ctx context.Context, _ Request) Response {
		close(started)
		<-ctx.Done()
		return Response{Error: context.Cause(ctx).Error()}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, s.CallbackURL(), strings.NewReader(body(id, "wait", 1)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.InProcess().ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "the client closed its connection") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
