package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// callbackTransport is an http.RoundTripper that passes requests to the callback handler, without a socket. Their
// remote address is a loopback address.
type callbackTransport struct{ engine *Engine }

func (t callbackTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancel(r.Context())
	in := r.Clone(context.WithValue(ctx, http.LocalAddrContextKey, localAddr(r.URL.Host)))
	in.RemoteAddr = "127.0.0.1:0"
	in.RequestURI = r.URL.RequestURI()
	in.URL.Scheme, in.URL.Host = "", ""
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := newCallbackResponse()
	t.engine.goroutines.Go(func() {
		defer end()
		defer in.Body.Close()
		defer func() { out.close(recover()) }()
		t.engine.spec.Callback.ServeHTTP(out, in)
	})
	select {
	case <-out.headersSent:
	case <-r.Context().Done():
		end()
		_ = out.reader.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	if out.err != nil {
		return nil, out.err
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", out.status, http.StatusText(out.status)), StatusCode: out.status, Header: out.sentHeader,
		Proto: in.Proto, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r, Body: &callbackBody{out.reader, out.reader, end},
	}, nil
}

func localAddr(host string) net.Addr {
	if addr, err := netip.ParseAddrPort(host); err == nil {
		return net.TCPAddrFromAddrPort(addr)
	}
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
}

// callbackBody is the body of a response. Closing it cancels the handler's request.
type callbackBody struct {
	io.Reader
	pipe   *io.PipeReader
	cancel context.CancelFunc
}

func (b *callbackBody) Close() error {
	b.cancel()
	return b.pipe.CloseWithError(context.Canceled)
}

// callbackResponse is the http.ResponseWriter of the handler.
type callbackResponse struct {
	header      http.Header
	once        sync.Once
	headersSent chan struct{} // closed when status and headers, or err, are set
	status      int
	sentHeader  http.Header
	err         error
	writer      *io.PipeWriter
	reader      *io.PipeReader
}

func newCallbackResponse() *callbackResponse {
	w := &callbackResponse{header: http.Header{}, headersSent: make(chan struct{})}
	w.reader, w.writer = io.Pipe()
	return w
}

func (w *callbackResponse) Header() http.Header { return w.header }

func (w *callbackResponse) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	w.once.Do(func() {
		w.status, w.sentHeader = status, maps.Clone(w.header)
		close(w.headersSent)
	})
}

func (w *callbackResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.writer.Write(p)
}

func (w *callbackResponse) Flush() { w.WriteHeader(http.StatusOK) }

// close ends the response. panicked is what recover returned: if it is not nil, the request fails as if the connection
// was lost.
func (w *callbackResponse) close(panicked any) {
	if panicked == nil {
		w.WriteHeader(http.StatusOK)
		_ = w.writer.Close()
		return
	}
	errClosed := errors.New("other side closed")
	w.once.Do(func() {
		w.err = &hostError{Code: "UND_ERR_SOCKET", Message: errClosed.Error()}
		close(w.headersSent)
	})
	_ = w.writer.CloseWithError(errClosed)
}
