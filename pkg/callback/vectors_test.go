package callback

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectors are the examples that the client libraries are tested with as well.
type vectors struct {
	Env  map[string]string
	Meta struct {
		Trailblaze struct{ SessionID, InvocationID string }
	}
	Calls []struct {
		Name    string
		Call    struct{ Tool string }
		Request struct {
			Path    string
			Headers map[string]string
			Body    json.RawMessage
		}
		Answer struct {
			OK              bool
			Text, Error     string
			Structured      json.RawMessage
			MemoryDelta     map[string]any
			MemoryDeletions []string
		}
		Response response
	}
	Refusals []struct {
		Name     string
		Body     json.RawMessage
		Response response
	}
}

type response struct {
	Status int
	Body   any
}

func TestProtocolExamples(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../testdata/protocol/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Calls) == 0 || len(v.Refusals) == 0 {
		t.Fatal("there are no examples")
	}
	for _, c := range v.Calls {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			a := c.Answer
			p := startVectorServer(t, v, func(_ context.Context, r Request) Response {
				compareRequest(t, c.Request.Body, r)
				return Response{
					OK: a.OK, Text: a.Text, Error: a.Error, Structured: a.Structured, ChangeSize: func() int { return 100 },
					Changes: func() (map[string]any, []string) { return a.MemoryDelta, a.MemoryDeletions },
				}
			})
			p.compare(t, c.Request.Path, c.Request.Body, c.Request.Headers, c.Response)
		})
	}
	for _, c := range v.Refusals {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := startVectorServer(t, v, func(context.Context, Request) Response {
				t.Error("a tool was called")
				return Response{}
			})
			p.compare(t, callbackPath, c.Body, nil, c.Response)
		})
	}
}

// compareRequest checks that a request's action reached the dispatcher.
func compareRequest(t *testing.T, sent json.RawMessage, got Request) {
	t.Helper()
	var body struct {
		Action struct {
			Tool      string            `json:"tool_name"`
			Args      string            `json:"arguments_json"`
			Delta     map[string]string `json:"memory_delta"`
			Deletions []string          `json:"memory_deletions"`
		}
	}
	if err := json.Unmarshal(sent, &body); err != nil {
		t.Fatal(err)
	}
	in := json.NewDecoder(strings.NewReader(body.Action.Args))
	in.UseNumber()
	want := Request{Tool: body.Action.Tool, MemoryDelta: body.Action.Delta, MemoryDeletions: body.Action.Deletions}
	if err := in.Decode(&want.Args); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// vectorServer replaces the ids and the token of the examples by those of a running server.
type vectorServer struct {
	*Server
	replace *strings.Replacer
}

func startVectorServer(t *testing.T, v vectors, dispatch func(context.Context, Request) Response) vectorServer {
	t.Helper()
	s := startServer(t)
	return vectorServer{s, strings.NewReplacer(
		`"`+v.Meta.Trailblaze.InvocationID+`"`, `"`+register(t, s, dispatch)+`"`,
		`"`+v.Meta.Trailblaze.SessionID+`"`, `"`+session+`"`,
		v.Env["TRAILBLAZE_SESSION_TOKEN"], s.Token(),
	)}
}

func (p vectorServer) compare(t *testing.T, path string, body []byte, headers map[string]string, want response) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL()+path, strings.NewReader(p.replace.Replace(string(body))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, p.replace.Replace(value))
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := response{Status: resp.StatusCode}
	if err := json.NewDecoder(resp.Body).Decode(&got.Body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}
