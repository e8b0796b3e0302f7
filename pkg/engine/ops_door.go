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

// callbackDoor answers requests with a handler of ours, in place of a socket. The handler sees a request from this machine.
type callbackDoor struct{ e *Engine }

func (d callbackDoor) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancel(r.Context())
	in := r.Clone(context.WithValue(ctx, http.LocalAddrContextKey, localAddr(r.URL.Host)))
	in.RemoteAddr = "127.0.0.1:0"
	in.RequestURI = r.URL.RequestURI()
	in.URL.Scheme, in.URL.Host = "", ""
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := newDoorAnswer()
	d.e.work.Go(func() {
		defer end()
		defer in.Body.Close()
		defer func() { out.finish(recover()) }()
		d.e.spec.Callback.ServeHTTP(out, in)
	})
	select {
	case <-out.begun:
	case <-r.Context().Done():
		end()
		_ = out.sent.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	if out.failed != nil {
		return nil, out.failed
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", out.status, http.StatusText(out.status)), StatusCode: out.status, Header: out.frozen,
		Proto: in.Proto, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r, Body: &doorBody{out.sent, out.sent, end},
	}, nil
}

func localAddr(host string) net.Addr {
	if addr, err := netip.ParseAddrPort(host); err == nil {
		return net.TCPAddrFromAddrPort(addr)
	}
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
}

// doorBody ends the handler's request when nobody reads on.
type doorBody struct {
	io.Reader
	sent *io.PipeReader
	end  context.CancelFunc
}

func (b *doorBody) Close() error {
	b.end()
	return b.sent.CloseWithError(context.Canceled)
}

// doorAnswer is what a handler writes to.
type doorAnswer struct {
	header http.Header
	once   sync.Once
	begun  chan struct{} // closed once status and headers stand, or that there are none
	status int
	frozen http.Header
	failed error
	body   *io.PipeWriter
	sent   *io.PipeReader
}

func newDoorAnswer() *doorAnswer {
	a := &doorAnswer{header: http.Header{}, begun: make(chan struct{})}
	a.sent, a.body = io.Pipe()
	return a
}

func (a *doorAnswer) Header() http.Header { return a.header }

func (a *doorAnswer) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	a.once.Do(func() {
		a.status, a.frozen = status, maps.Clone(a.header)
		close(a.begun)
	})
}

func (a *doorAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *doorAnswer) Flush() { a.WriteHeader(http.StatusOK) }

// finish ends the answer; a handler that panicked has broken the connection.
func (a *doorAnswer) finish(panicked any) {
	if panicked == nil {
		a.WriteHeader(http.StatusOK)
		_ = a.body.Close()
		return
	}
	broken := errors.New("other side closed")
	a.once.Do(func() {
		a.failed = &hostError{Code: "UND_ERR_SOCKET", Message: broken.Error()}
		close(a.begun)
	})
	_ = a.body.CloseWithError(broken)
}
