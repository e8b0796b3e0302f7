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

// callbackTransport serves requests with the callback handler, without a socket. The handler sees requests from the
// loopback interface.
type callbackTransport struct{ engine *Engine }

func (d callbackTransport) RoundTrip(r *http.Request) (*http.Response, error) {
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
	d.engine.goroutines.Go(func() {
		defer end()
		defer in.Body.Close()
		defer func() { out.close(recover()) }()
		d.engine.spec.Callback.ServeHTTP(out, in)
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
	a := &callbackResponse{header: http.Header{}, headersSent: make(chan struct{})}
	a.reader, a.writer = io.Pipe()
	return a
}

func (a *callbackResponse) Header() http.Header { return a.header }

func (a *callbackResponse) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	a.once.Do(func() {
		a.status, a.sentHeader = status, maps.Clone(a.header)
		close(a.headersSent)
	})
}

func (a *callbackResponse) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.writer.Write(p)
}

func (a *callbackResponse) Flush() { a.WriteHeader(http.StatusOK) }

// close ends the response. If the handler panicked, the request fails as if the connection was lost.
func (a *callbackResponse) close(panicked any) {
	if panicked == nil {
		a.WriteHeader(http.StatusOK)
		_ = a.writer.Close()
		return
	}
	broken := errors.New("other side closed")
	a.once.Do(func() {
		a.err = &hostError{Code: "UND_ERR_SOCKET", Message: broken.Error()}
		close(a.headersSent)
	})
	_ = a.writer.CloseWithError(broken)
}
