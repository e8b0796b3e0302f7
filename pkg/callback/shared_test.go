package callback

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestSessionsShareServer runs hundreds of calls of several sessions at once.
func TestSessionsShareServer(t *testing.T) {
	t.Parallel()
	const sessions, each = 4, 100
	s, c := startServer(t), client(t)
	type call struct{ id, session string }
	var calls []call
	var all sync.WaitGroup // no callback returns before all of them run
	all.Add(sessions * each)
	for n := range sessions * each {
		owner := fmt.Sprintf("trail_%d", n%sessions)
		id, unregister := s.Register(t.Context(), Invocation{Session: owner, Dispatch: func(_ context.Context, r Request) Response {
			all.Done()
			all.Wait()
			return Response{OK: true, Text: fmt.Sprintf("%s %s %v", owner, r.Tool, r.Args["n"])}
		}})
		defer unregister()
		calls = append(calls, call{id, owner})
	}
	var posted sync.WaitGroup
	for n, call := range calls {
		posted.Go(func() {
			sent := call.session
			if n%2 == 1 {
				sent = session // the server's own, which a shared process has in its environment
			}
			got, err := post(t.Context(), c, s, bodyOf(call.id, sent, "greet", fmt.Sprintf(`{"n":%d}`, n)))
			if want := fmt.Sprintf("%s greet %d", call.session, n); err != nil || got.Result.Text != want {
				t.Errorf("%s got %q (%v), want %q", call.session, got.text, err, want)
			}
		})
	}
	posted.Wait()
}

func TestRejectsInvocationOfOtherSession(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	ours, unregisterOurs := s.Register(t.Context(), Invocation{Session: "trail_1", Dispatch: echo})
	theirs, unregisterTheirs := s.Register(t.Context(), Invocation{Session: "trail_2", Dispatch: echo})
	defer unregisterTheirs()
	post := func(id, session string) reply {
		return mustPost(t, s, bodyOf(id, session, "greet", `{"n":1}`))
	}
	if got := post(theirs, "trail_1"); got.Result.Message != "the invocation belongs to another session" {
		t.Errorf("id of another session: %s", got.text)
	}
	if got := post(ours, "trail_1"); got.Result.Text != "greet 1" {
		t.Errorf("own id: %s", got.text)
	}
	unregisterOurs()
	if got := post(ours, "trail_1"); got.Result.Message != unknown {
		t.Errorf("unregistered id: %s", got.text)
	}
	if got := post(theirs, "trail_2"); got.Result.Text != "greet 1" {
		t.Errorf("the other id: %s", got.text)
	}
}

func TestRequiresInvocationIDWhenSeveralCallsArePending(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	_, unregister := s.Register(t.Context(), Invocation{Session: "trail_1", Dispatch: echo})
	_, other := s.Register(t.Context(), Invocation{Session: "trail_2", Dispatch: echo})
	defer unregister()
	q := validRequest(s, strings.Replace(bodyOf("ID", "trail_1", "greet", `{"n":1}`), `"invocation_id":"ID",`, "", 1))
	q.headers = append(q.headers, "Authorization: Bearer "+s.token)
	if got := sendRaw(t, s, q); !strings.Contains(got.Result.Message, "invocation_id from _meta.trailblaze") {
		t.Errorf("two pending: %s", got.text)
	}
	other()
	if got := sendRaw(t, s, q); got.Result.Text != "greet 1" {
		t.Errorf("one pending: %s", got.text)
	}
}
