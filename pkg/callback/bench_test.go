package callback

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkRoundTrip compares a callback to a trivial tool with the same request to a handler that does nothing.
func BenchmarkRoundTrip(b *testing.B) {
	s := startServer(b)
	request := body(register(b, s, echo), "greet", 1)
	c := client(b)
	post := func(b *testing.B, url string) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			resp, err := c.Post(url, "application/json", strings.NewReader(request))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	empty := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = empty.Serve(l)
	}()
	defer func() {
		_ = empty.Close()
		<-done
	}()
	b.Run("empty", func(b *testing.B) { post(b, "http://"+l.Addr().String()+callbackPath) })
	b.Run("callback", func(b *testing.B) { post(b, s.CallbackURL()) })
}
