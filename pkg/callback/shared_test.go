package callback

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestOneDoorForSeveralSessions has sessions whose calls all run in one process, hundreds of them at once.
func TestOneDoorForSeveralSessions(t *testing.T) {
	t.Parallel()
	const sessions, each = 4, 100
	s, c := open(t), client(t)
	type call struct{ id, session string }
	var calls []call
	var all sync.WaitGroup // every callback runs before the first is answered
	all.Add(sessions * each)
	for n := range sessions * each {
		owner := fmt.Sprintf("trail_%d", n%sessions)
		id, end := s.Begin(t.Context(), Invocation{Session: owner, Dispatch: func(_ context.Context, r Request) Answer {
			all.Done()
			all.Wait()
			return Answer{OK: true, Text: fmt.Sprintf("%s %s %v", owner, r.Tool, r.Args["n"])}
		}})
		defer end()
		calls = append(calls, call{id, owner})
	}
	var asked sync.WaitGroup
	for n, call := range calls {
		asked.Go(func() {
			named := call.session
			if n%2 == 1 {
				named = session // the door's own, as a client has it that knows only its environment
			}
			got, err := ask(t.Context(), c, s, bodyOf(call.id, named, "greet", fmt.Sprintf(`{"n":%d}`, n)))
			if want := fmt.Sprintf("%s greet %d", call.session, n); err != nil || got.Result.Text != want {
				t.Errorf("%s got %q (%v), want %q", call.session, got.text, err, want)
			}
		})
	}
	asked.Wait()
}

func TestAnInvocationIsOfOneSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	ours, endOurs := s.Begin(t.Context(), Invocation{Session: "trail_1", Dispatch: echo})
	theirs, endTheirs := s.Begin(t.Context(), Invocation{Session: "trail_2", Dispatch: echo})
	defer endTheirs()
	ask := func(id, session string) said {
		return mustAsk(t, s, bodyOf(id, session, "greet", `{"n":1}`))
	}
	if got := ask(theirs, "trail_1"); got.Result.Message != "the invocation belongs to another session" {
		t.Errorf("the id of another session: %s", got.text)
	}
	if got := ask(ours, "trail_1"); got.Result.Text != "greet 1" {
		t.Errorf("its own: %s", got.text)
	}
	endOurs()
	if got := ask(ours, "trail_1"); got.Result.Message != unknown {
		t.Errorf("after its end: %s", got.text)
	}
	if got := ask(theirs, "trail_2"); got.Result.Text != "greet 1" {
		t.Errorf("the other one after that: %s", got.text)
	}
}

func TestWithoutAnIdSeveralSessionsAreToldWhatToDo(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, end := s.Begin(t.Context(), Invocation{Session: "trail_1", Dispatch: echo})
	_, other := s.Begin(t.Context(), Invocation{Session: "trail_2", Dispatch: echo})
	defer end()
	k := good(s, strings.Replace(bodyOf("ID", "trail_1", "greet", `{"n":1}`), `"invocation_id":"ID",`, "", 1))
	k.headers = append(k.headers, "Authorization: Bearer "+s.token)
	if got := send(t, s, k); !strings.Contains(got.Result.Message, "invocation_id from _meta.trailblaze") {
		t.Errorf("two in flight: %s", got.text)
	}
	other()
	if got := send(t, s, k); got.Result.Text != "greet 1" {
		t.Errorf("one in flight: %s", got.text)
	}
}
