package callback

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

const othersToken = "a-token-of-processes-that-nobody-started"

func startOthers(t *testing.T, limits limits, dispatch func(context.Context, Request) Response) *Server {
	t.Helper()
	s, err := listenForOthers(t.Context(), session, othersToken, nil, dispatch, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeServer(t, s) })
	return s
}

func TestOthersNeedTheToken(t *testing.T) {
	t.Parallel()
	s := startOthers(t, defaultLimits(), echo)
	bearer := header("Authorization: Bearer " + othersToken)
	execute := func(q *rawRequest) {
		q.target = executePath
		setBody(`{"tool_name":"greet","params_json":"{\"n\":5}"}`)(q)
	}
	for name, tc := range map[string]struct {
		changes []func(*rawRequest)
		status  int
		says    string
	}{
		"the token":                  {[]func(*rawRequest){bearer}, 200, `"text_content":"greet 5"`},
		"the token, the other path":  {[]func(*rawRequest){execute, bearer}, 200, `"message":"greet 5"`},
		"no token":                   {nil, 401, "the token of `callbacks` in trailblaze.yaml"},
		"no token, the other path":   {[]func(*rawRequest){execute}, 401, ""},
		"no token, with an id":       {[]func(*rawRequest){setBody(body("id", "greet", 5))}, 401, ""},
		"a wrong token":              {[]func(*rawRequest){header("Authorization: Bearer " + othersToken[1:])}, 401, ""},
		"a part of the token":        {[]func(*rawRequest){header("Authorization: Bearer " + othersToken[:8])}, 401, ""},
		"the token, with an id":      {[]func(*rawRequest){setBody(body("id", "greet", 5)), bearer}, 200, "leave invocation_id out"},
		"the token, another session": {[]func(*rawRequest){setBody(strings.Replace(withoutID(), session, "session-2", 1)), bearer}, 200, "another session"},
		"the token, another host":    {[]func(*rawRequest){bearer, func(q *rawRequest) { q.host = "rebound.example" }}, 403, "callbacks.json"},
		"the token, from a page":     {[]func(*rawRequest){bearer, header("Origin: null")}, 403, ""},
		"the token, GET":             {[]func(*rawRequest){bearer, func(q *rawRequest) { q.method = "GET" }}, 405, ""},
		"the token, 2 MiB in chunks": {[]func(*rawRequest){chunked(strings.Repeat(" ", 2*maxBody)), bearer}, 413, ""},
		"no token, 2 MiB in chunks":  {[]func(*rawRequest){chunked(strings.Repeat(" ", 2*maxBody))}, 401, ""},
		"the token, of another version": {
			[]func(*rawRequest){setBody(strings.Replace(withoutID(), `"version":1`, `"version":2`, 1)), bearer}, 200, "unsupported version 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := validRequest(s, withoutID())
			for _, change := range tc.changes {
				change(&q)
			}
			if got := sendRaw(t, s, q); got.status != tc.status || !strings.Contains(got.text, tc.says) {
				t.Errorf("%d %s, want %d with %q", got.status, got.text, tc.status, tc.says)
			}
		})
	}
}

func TestCallOfOtherHasLimitAndEndsWithServer(t *testing.T) {
	t.Parallel()
	limits := defaultLimits()
	limits.cancel = 10 * time.Millisecond
	blocking := newBlockingTool()
	s := startOthers(t, limits, blocking.call)
	q := validRequest(s, withoutID())
	header("Authorization: Bearer " + othersToken)(&q)
	if _, err := io.WriteString(dial(t, s), q.String()); err != nil {
		t.Fatal(err)
	}
	<-blocking.started
	closed := make(chan struct{})
	go func() { defer close(closed); _ = s.Close() }()
	blocking.wantCause(t, fault.Cancelled, "the session has ended")
	within(t, "the end of the server", closed)

	if got := limitError(Invocation{Limit: DefaultLimit}).Error(); got != "no response within 30s, the limit of a callback" {
		t.Errorf("the limit of a call without an entry: %s", got)
	}
}
