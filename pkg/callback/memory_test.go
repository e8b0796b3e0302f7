package callback

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/budget"
)

// startBoundedServer starts a server whose callbacks may have a number of bytes in all.
func startBoundedServer(t *testing.T, bytes int, wait time.Duration) *Server {
	t.Helper()
	limits := defaultLimits()
	limits.write, limits.body = wait, wait
	s, err := listen(session, budget.New(bytes), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeServer(t, s) })
	return s
}

// TestRequestsAreBounded sends requests while another one has most of the memory.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s := startBoundedServer(t, limit, time.Second)
	started, release := make(chan struct{}, 1), make(chan struct{})
	id := register(t, s, func(_ context.Context, r Request) Response {
		if r.Tool == "wait" {
			started <- struct{}{}
			<-release
		}
		return Response{OK: true}
	})
	large := func(tool string) string {
		return bodyOf(id, session, tool, fmt.Sprintf(`{"a":"%s"}`, strings.Repeat("x", limit*5/8)))
	}
	first := postAsync(t, s, large("wait"))
	<-started
	const problem = "the request does not fit: the callbacks that run may have 1 MiB in all; wait for their responses, or send less"
	braces := bodyOf(id, session, "echo", `{"a":[`+strings.Repeat("{},", 2000)+`{}]}`)
	for name, body := range map[string]string{"text": large("echo"), "maps": braces} {
		if r := mustPost(t, s, body); r.status != http.StatusServiceUnavailable || !strings.Contains(r.text, problem) {
			t.Errorf("%s: %d %.200s", name, r.status, r.text)
		}
	}
	if r := mustPost(t, s, body(id, "echo", 1)); r.status != http.StatusOK {
		t.Errorf("a small request: %d %s", r.status, r.text)
	}
	close(release)
	for _, r := range []reply{awaitReply(t, first), mustPost(t, s, large("echo")), mustPost(t, s, braces)} {
		if r.status != http.StatusOK {
			t.Errorf("%d %.200s", r.status, r.text)
		}
	}
}

// TestResponsesAreBounded makes calls at once whose results, or whose changes of memory, do not fit into the memory of
// all callbacks together.
func TestResponsesAreBounded(t *testing.T) {
	t.Parallel()
	const limit, calls = 1 << 20, 20
	var held, most atomic.Int32
	s := startBoundedServer(t, limit, waitLimit)
	id := register(t, s, func(_ context.Context, r Request) Response {
		if r.Tool == "large" {
			return Response{OK: true, Text: strings.Repeat("x", limit+1)}
		}
		return Response{
			OK: true, ChangeSize: func() int { return limit / 8 },
			Changes: func() (map[string]any, []string) {
				most.Store(max(most.Load(), held.Add(1)))
				return map[string]any{"v": strings.Repeat("x", limit/8)}, nil
			},
		}
	})
	if r := mustPost(t, s, body(id, "large", 1)); !strings.Contains(r.text, "the result of the call does not fit: ") {
		t.Errorf("a large result: %.200s", r.text)
	}
	handler, writing := s.InProcess(), make(chan func())
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.CallbackURL(), strings.NewReader(body(id, "change", i)))
			r.Header.Set("Content-Type", "application/json")
			w := &slowWriter{ResponseRecorder: httptest.NewRecorder(), writing: writing, written: func() { held.Add(-1) }}
			if handler.ServeHTTP(w, r); w.Code != http.StatusOK || w.Body.Len() < limit/8 {
				t.Errorf("%d %.200s", w.Code, w.Body)
			}
		})
	}
	first, second := <-writing, <-writing
	first()
	second()
	for range calls - 2 {
		(<-writing)()
	}
	wg.Wait()
	if most.Load() != 2 {
		t.Errorf("%d responses were made at once", most.Load())
	}
}

// slowWriter writes a response when the function that it sends to writing is called.
type slowWriter struct {
	*httptest.ResponseRecorder
	writing chan<- func()
	written func()
}

func (w *slowWriter) Write(p []byte) (int, error) {
	release := make(chan struct{})
	w.writing <- func() { close(release) }
	<-release
	defer w.written()
	return w.ResponseRecorder.Write(p)
}

// TestResponseWaitsForMemory gives a response no room within the limit of a response.
func TestResponseWaitsForMemory(t *testing.T) {
	t.Parallel()
	s := startBoundedServer(t, 1<<20, 10*time.Millisecond)
	id := register(t, s, func(context.Context, Request) Response {
		return Response{
			OK: true, ChangeSize: func() int { return 1 << 20 },
			Changes: func() (map[string]any, []string) { return map[string]any{"v": "x"}, nil },
		}
	})
	other := s.memory.Share()
	if !other.Resize(1 << 10) {
		t.Fatal("the memory is used")
	}
	const problem = "the changes of memory do not fit"
	if r := mustPost(t, s, body(id, "change", 1)); !strings.Contains(r.text, problem) {
		t.Errorf("without room: %.200s", r.text)
	}
	other.Release()
	if r := mustPost(t, s, body(id, "change", 1)); !strings.Contains(r.text, `"memory_delta":{"v":"x"}`) {
		t.Errorf("with room: %.200s", r.text)
	}
}
