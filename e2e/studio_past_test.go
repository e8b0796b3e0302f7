//go:build unix

package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// ask sends a request to the studio as its page does, and returns the result. It decodes the state and the document that
// were pushed last until then.
func ask(t *testing.T, socket *websocket.Conn, request string, result any) (state, document map[string]any) {
	t.Helper()
	if err := socket.Write(t.Context(), websocket.MessageText, []byte(request)); err != nil {
		t.Fatal(err)
	}
	for {
		kind, data, err := socket.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind != websocket.MessageText {
			continue
		}
		var message struct {
			On     string
			Re     int
			OK     bool
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(data, &message); err != nil {
			t.Fatal(err)
		}
		switch {
		case message.On == "state":
			state = map[string]any{}
			_ = json.Unmarshal(data, &state)
		case message.On == "document":
			document = map[string]any{}
			_ = json.Unmarshal(data, &document)
		case message.Re != 0:
			if !message.OK {
				t.Fatalf("%s: %s", request, message.Error)
			}
			if result != nil {
				if err := json.Unmarshal(message.Result, result); err != nil {
					t.Fatalf("%v: %s", err, message.Result)
				}
			}
			return state, document
		}
	}
}

// connect opens the socket of the page, until the test ends.
func (s *studio) connect() *websocket.Conn {
	s.Helper()
	c, page := s.open()
	return s.connectTo(c, page)
}

// connectTo is connect for a page that was opened.
func (s *studio) connectTo(c *http.Client, page string) *websocket.Conn {
	s.Helper()
	at, _ := url.Parse(page)
	socket, _, err := websocket.Dial(s.Context(), "ws"+strings.TrimPrefix(page, "http")+"socket", //nolint:bodyclose // there is none
		&websocket.DialOptions{HTTPClient: c, HTTPHeader: http.Header{"Origin": {"http://" + at.Host}}})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = socket.CloseNow() })
	socket.SetReadLimit(-1)
	return socket
}

// TestStudioLooksBackAtASession looks back at a run that failed, and at others that are listed, and opens the trail where
// it failed.
func TestStudioLooksBackAtASession(t *testing.T) {
	t.Parallel()
	p := tracedProject(t)
	p.env = append(p.env, "SECRET=hunter2hunter2")
	p.run("run", "passes.yaml", "--trace", "off").want(t, 0, "1 passed")
	p.run("run", "secret.yaml", "--trace", "on", "--secret", "SECRET").want(t, 1, "1 failed")
	p.run("run", "fails.yaml", "--trace", "on").want(t, 1, "1 failed")
	folder, err := filepath.EvalSymlinks(filepath.Join(p.dir, "logs", "latest"))
	if err != nil {
		t.Fatal(err)
	}
	session := filepath.Base(folder)
	if err := os.MkdirAll(filepath.Join(p.dir, "logs", "ci"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(p.dir, "logs", "ci", "copy"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	s := p.studio(t, "--no-open", session)
	c, page := s.open()
	socket := s.connectTo(c, page)

	var sessions []struct{ Session, Title, Outcome string }
	state, _ := ask(t, socket, `{"id":1,"do":"sessions"}`, &sessions)
	if len(sessions) != 4 || state["past"] != session {
		t.Errorf("sessions %+v, and to show %v", sessions, state["past"])
	}
	get := func(session, name string) (status int, kind, content string) {
		answer, err := c.Get(page + "past/" + url.PathEscape(session) + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, answer.Header.Get("Content-Type"), string(data)
	}
	for _, one := range []string{session, "ci/copy"} {
		var past struct {
			Failed  int
			File    string
			Moments []struct {
				Call, Before, After, Tree string
				Touched                   *struct{ X, Y int }
				Width                     int
			}
		}
		name, _ := json.Marshal(one)
		ask(t, socket, `{"id":2,"do":"past","session":`+string(name)+`}`, &past)
		if past.Failed != 3 || past.File != "fails.yaml" || len(past.Moments) != 4 || past.Moments[1].Touched == nil || past.Moments[1].Width != 1280 {
			t.Fatalf("%+v", past)
		}
		m := past.Moments[past.Failed]
		if status, kind, content := get(one, m.After); status != http.StatusOK || kind != "image/jpeg" || len(content) < 1000 {
			t.Errorf("%s: %d %s, %d bytes", m.After, status, kind, len(content))
		}
		if status, kind, content := get(one, m.Tree); status != http.StatusOK || kind != "text/plain; charset=utf-8" || !strings.Contains(content, "counted 1") {
			t.Errorf("%s: %d %s %s", m.Tree, status, kind, content)
		}
	}
	for _, name := range []string{"events.ndjson", "trace/trace.json", "..%2f..%2ftrailblaze.yaml"} {
		if status, _, content := get(session, name); status == http.StatusOK {
			t.Errorf("%s: %s", name, content)
		}
	}
	_, document := ask(t, socket, `{"id":3,"do":"openPast","session":"`+session+`","number":"4.1"}`, nil)
	if document["selected"] != "4.1" || !strings.Contains(document["text"].(string), "counted 9") {
		t.Errorf("the document is %v", document)
	}
}
