package cdp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/trailblaze/trailblaze/pkg/cdp"
)

func TestWebSocketTransport(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20) // above the default limit of WebSocket libraries
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "grid" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		if _, data, err := conn.Read(r.Context()); err != nil || string(data) != `{"id":1,"method":"A.b"}` {
			t.Errorf("received %s, %v", data, err)
		}
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"id":1,"result":{"v":"`+large+`"}}`))
		_, _, _ = conn.Read(r.Context())
	}))
	defer server.Close()
	url := "ws" + strings.TrimPrefix(server.URL, "http")
	transport, err := cdp.Dial(t.Context(), url, http.Header{"Authorization": {"grid"}})
	if err != nil {
		t.Fatal(err)
	}
	conn := cdp.NewConn(transport)
	var got struct{ V string }
	if err := conn.Browser().Call(t.Context(), "A.b", nil, &got); err != nil || got.V != large {
		t.Errorf("got %d bytes, %v", len(got.V), err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	_, err = cdp.Dial(t.Context(), url, nil)
	if err == nil || err.Error() != "connecting to "+url+": the server answered 403 Forbidden" {
		t.Errorf("got %v", err)
	}
}
