package remote

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// eventStrings returns the events of a stream as strings.
func eventStrings(r io.Reader) []string {
	var out []string
	for e, err := range readEvents(r) {
		if err != nil {
			return append(out, "error: "+err.Error())
		}
		out = append(out, fmt.Sprintf("%s|%s|%s|%s", e.name, e.id, e.data, e.retry))
	}
	return out
}

func TestReadEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"data alone", "data: {}\n\n", []string{"||{}|0s"}},
		{"all fields", "event: message\nid: 7\nretry: 50\ndata: a\n\n", []string{"message|7|a|50ms"}},
		{"several lines of data", "data: a\ndata: b\n\n", []string{"||a\nb|0s"}},
		{"CRLF", "event: x\r\ndata: a\r\n\r\n", []string{"x||a|0s"}},
		{"no space after the colon, more than one", "data:a\ndata:  b\n\n", []string{"||a\n b|0s"}},
		{"comments and unknown fields", ": hello\nfoo: bar\nbaz\ndata: a\n\n", []string{"||a|0s"}},
		{"an id without data", "id: 1\ndata:\n\n", []string{"|1||0s"}},
		{"empty lines between", "\n\ndata: a\n\n\n\ndata: b\n\n", []string{"||a|0s", "||b|0s"}},
		{"a retry that is not a number", "retry: soon\ndata: a\n\n", []string{"||a|0s"}},
		{"an event that is cut off", "data: a\n\ndata: b\n", []string{"||a|0s"}},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				if diff := cmp.Diff(tt.want, eventStrings(r)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
	broken := io.MultiReader(strings.NewReader("data: a\n\n"), iotest.ErrReader(errors.New("gone")))
	if diff := cmp.Diff([]string{"||a|0s", "error: gone"}, eventStrings(broken)); diff != "" {
		t.Errorf("a connection that breaks (-want +got):\n%s", diff)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("event: message\nid: 7\nretry: 50\ndata: a\ndata: b\n\n")
	f.Add("data\n\r\n:\n\n\x00: \n\n")
	f.Fuzz(func(t *testing.T, in string) {
		whole, bytewise := eventStrings(strings.NewReader(in)),
			eventStrings(iotest.OneByteReader(strings.NewReader(in)))
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Errorf("%q depends on how it is split into reads:\n%s", in, diff)
		}
	})
}

// endless is a reader of one byte.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestTooLargeResponseFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	huge := func(kind, begin string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, begin)
			_, _ = io.CopyN(w, endless('x'), maxMessage+100)
		}
	}
	for name, how := range map[string]http.HandlerFunc{
		"JSON":   huge("application/json", `{"jsonrpc":"2.0","id":1,"result":"`),
		"stream": huge("text/event-stream", "data: "),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faultyServer{Handler: goHandler(t)}
			r := connect(t, Spec{URL: listen(t, f).URL}, nil)
			f.breaks("tools/call", 1, how)
			want := `server "team", tool "echo": the response exceeds the limit of 64 MiB`
			if got := r.call(t, "echo", nil); got.Kind != fault.TooLarge || got.Text != want || got.Hint == "" {
				t.Errorf("%+v, want %s", got, want)
			}
			if got := r.call(t, "echo", map[string]any{"text": "two"}); got.Text != "two" ||
				f.count("POST initialize") != 1 {
				t.Errorf("the next call: %+v", got)
			}
		})
	}
}

func TestNotificationStreamIsNotReopenedAtOnce(t *testing.T) {
	t.Parallel()
	f := &faultyServer{Handler: goHandler(t)}
	f.fault = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != http.MethodGet {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		return true
	}
	limits := defaultTiming()
	limits.resume = 50 * time.Millisecond
	connect(t, Spec{URL: listen(t, f).URL, timing: &limits}, nil)
	waitFor(t, "the second request", func() bool { return f.count("GET") >= 2 })
	first := time.Now()
	waitFor(t, "the third request", func() bool { return f.count("GET") >= 3 })
	if waited := time.Since(first); waited < limits.resume {
		t.Errorf("the third request came after %s", waited)
	}
}
