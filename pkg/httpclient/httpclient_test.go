package httpclient

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// switching returns the URL of a server that switches protocols whatever it is asked, and then sends nothing.
func switching(t *testing.T) string {
	t.Helper()
	var connections []net.Conn
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		connections = append(connections, conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	}))
	t.Cleanup(func() {
		server.Close()
		for _, conn := range connections {
			_ = conn.Close()
		}
	})
	return server.URL
}

func get(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(r)
}

func TestAnswerThatSwitchesProtocolsIsAnError(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: NoUpgrade(&http.Transport{})}
	defer client.CloseIdleConnections()
	response, err := get(t.Context(), client, switching(t))
	if err == nil {
		_ = response.Body.Close()
		t.Fatal(response.Status)
	}
	if !strings.Contains(err.Error(), "101 Switching Protocols") {
		t.Error(err)
	}
}

func TestOtherAnswersPass(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	client := &http.Client{Transport: NoUpgrade(&http.Transport{})}
	defer client.CloseIdleConnections()
	response, err := get(t.Context(), client, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); string(text) != "hello" || err != nil {
		t.Error(string(text), err)
	}
}
