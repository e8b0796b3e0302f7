package engine

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// chunk is how much of a body goes to JavaScript at once.
const chunk = 64 << 10

// fetchOps make requests. One is sent, which opens an exchange; its answer's body is read in parts; closing it is the end of both.
func fetchOps() (map[string]op, map[string]job) {
	ops := map[string]op{"fetch.open": openExchange, "fetch.close": closeExchange}
	return ops, map[string]job{
		"fetch.send": sendRequest, "fetch.write": writeRequest, "fetch.read": readResponse, "fetch.readAll": readResponseWhole,
	}
}

// exchange is a request and its answer.
type exchange struct {
	end    context.CancelFunc
	ctx    context.Context //nolint:containedctx // it ends with what JavaScript does later
	upload *io.PipeWriter  // the body of the request, when it comes in parts
	sent   *io.PipeReader
	mu     sync.Mutex
	body   io.ReadCloser // of the answer, once there is one
	closed bool
}

func (x *exchange) Close() error {
	x.end()
	x.mu.Lock()
	body := x.body
	x.closed = true
	x.mu.Unlock()
	_ = x.sent.CloseWithError(context.Canceled)
	if body != nil {
		_ = body.Close()
	}
	return nil
}

// answered keeps the body of the answer, unless the exchange is over.
func (x *exchange) answered(body io.ReadCloser) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.body = body
	if x.closed {
		_ = body.Close()
	}
}

// openExchange gives the number of an exchange.
func openExchange(e *Engine, _ []any) (any, error) {
	x := &exchange{}
	x.ctx, x.end = context.WithCancel(e.ctx)
	x.sent, x.upload = io.Pipe()
	return float64(e.handles.add(x)), nil
}

// closeExchange is (number), which may be closed already.
func closeExchange(e *Engine, args []any) (any, error) {
	if x, ok := handle[*exchange](&e.handles, intArg(args, 0)); ok {
		e.handles.remove(int(intArg(args, 0)))
		return nil, x.Close()
	}
	return nil, nil
}

func (e *Engine) exchange(args []any) (*exchange, error) {
	x, ok := handle[*exchange](&e.handles, intArg(args, 0))
	if !ok {
		return nil, context.Canceled
	}
	return x, nil
}

// sendRequest is (number, method, URL, headers, body, whether to leave a compressed answer as it is). Headers are names and values by
// turns; the body is bytes, true if it comes in parts, or nil. The answer is status, status text, and headers in the same way.
func sendRequest(_ context.Context, e *Engine, args []any) (any, error) {
	x, err := e.exchange(args)
	if err != nil {
		return nil, err
	}
	target, err := requestURL(arg[string](args, 2))
	if err != nil {
		return nil, err
	}
	r := (&http.Request{Method: arg[string](args, 1), URL: target, Host: target.Host, Header: http.Header{}, ProtoMajor: 1, ProtoMinor: 1}).
		WithContext(x.ctx)
	setHeaders(r, arg[[]any](args, 3))
	switch body := args[4].(type) {
	case []byte:
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	case bool:
		r.Body, r.ContentLength = x.sent, promised(arg[[]any](args, 3))
	}
	response, err := e.transport(target).RoundTrip(r)
	if err != nil {
		return nil, networkError(err, target)
	}
	body := response.Body
	if !arg[bool](args, 5) && r.Method != http.MethodHead {
		body = decompressed(response)
	}
	x.answered(body)
	_, text, _ := strings.Cut(response.Status, " ")
	return []any{float64(response.StatusCode), decodeLatin1([]byte(text)), flatHeaders(response.Header)}, nil
}

// requestURL takes every URL that the web takes, also those that Go does not take for valid.
func requestURL(href string) (*url.URL, error) {
	u, err := url.Parse(href)
	if err == nil {
		return u, nil
	}
	scheme, rest, _ := strings.Cut(href, "://")
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		return nil, err
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	return &url.URL{Scheme: scheme, Host: rest[:end], Opaque: path, RawQuery: query}, nil
}

// setHeaders gives a request its headers, which go over the wire as Latin-1.
func setHeaders(r *http.Request, flat []any) {
	for i := 0; i+1 < len(flat); i += 2 {
		name, value := arg[string](flat, i), string(encodeLatin1(arg[string](flat, i+1)))
		switch strings.ToLower(name) {
		case "host":
			r.Host = value
		case "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade":
			// They are Go's to decide.
		default:
			r.Header.Add(name, value)
		}
	}
	if r.Header["User-Agent"] == nil {
		r.Header.Set("User-Agent", "") // none, where Go has one of its own
	}
}

// promised is the length of a body that comes in parts, -1 when its headers do not tell.
func promised(flat []any) int64 {
	for i := 0; i+1 < len(flat); i += 2 {
		if strings.EqualFold(arg[string](flat, i), "content-length") {
			if n, err := strconv.ParseInt(arg[string](flat, i+1), 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
}

func flatHeaders(h http.Header) []any {
	flat := []any{}
	for _, name := range sortedNames(h) {
		for _, value := range h[name] {
			flat = append(flat, name, decodeLatin1([]byte(value)))
		}
	}
	return flat
}

// writeRequest is (number, bytes): it waits until they are on their way. No bytes are the end.
func writeRequest(_ context.Context, e *Engine, args []any) (any, error) {
	x, err := e.exchange(args)
	if err != nil {
		return nil, err
	}
	data := arg[[]byte](args, 1)
	if data == nil {
		return nil, x.upload.Close()
	}
	_, err = x.upload.Write(data)
	return nil, err
}

// readResponse is (number): some bytes, or nil at the end.
func readResponse(_ context.Context, e *Engine, args []any) (any, error) {
	x, err := e.exchange(args)
	if err != nil {
		return nil, err
	}
	data, err := readSome(x.body)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, bodyError(err)
	}
	return data, nil
}

// readSome waits for at least one byte, or an error.
func readSome(r io.Reader) ([]byte, error) {
	data := make([]byte, chunk)
	for {
		n, err := r.Read(data)
		if n > 0 {
			return data[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readResponseWhole is (number, whether text is wanted).
func readResponseWhole(ctx context.Context, e *Engine, args []any) (any, error) {
	x, err := e.exchange(args)
	if err != nil {
		return nil, err
	}
	data, err := readWhole(ctx, x.body, chunk)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooMuch("the bytes of this answer", maxBytes)
	case err != nil:
		return nil, bodyError(err)
	case arg[bool](args, 1):
		return decodeUTF8(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))), nil
	}
	return data, nil
}

// decompressed reads a body as its headers say; what they say stays.
func decompressed(r *http.Response) io.ReadCloser {
	switch strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip":
		return &inflated{body: r.Body, open: func(b *bufio.Reader) (io.Reader, error) { return gzip.NewReader(b) }}
	case "deflate":
		return &inflated{body: r.Body, open: openDeflate}
	}
	return r.Body
}

// inflated begins to read when it is read, since a beginning has to be there first.
type inflated struct {
	body io.ReadCloser
	open func(*bufio.Reader) (io.Reader, error)
	from io.Reader
}

func (i *inflated) Read(p []byte) (n int, err error) {
	if i.from == nil {
		b := bufio.NewReader(i.body)
		if _, err := b.Peek(1); err != nil {
			return 0, err // also of a body that is empty
		}
		if i.from, err = i.open(b); err != nil {
			return 0, err
		}
	}
	return i.from.Read(p)
}

func (i *inflated) Close() error { return i.body.Close() }

// openDeflate takes what is meant by the name and what some servers send.
func openDeflate(b *bufio.Reader) (io.Reader, error) {
	const method, mask = 8, 0x0F
	if head, err := b.Peek(1); err == nil && head[0]&mask == method {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// transport says how a URL is reached: the session's callback door without a socket, everything else over the network.
func (e *Engine) transport(u *url.URL) http.RoundTripper {
	if e.isDoor(u) {
		return callbackDoor{e}
	}
	if e.spec.Sandbox {
		return noNetwork{}
	}
	return e.handles.network(e.spec.Env)
}

// isDoor tells whether a URL has the origin of the session's callbacks, by any of the names that the door answers to.
func (e *Engine) isDoor(u *url.URL) bool {
	if e.spec.Callback == nil {
		return false
	}
	own, err := url.Parse(e.spec.CallbackURL)
	if err != nil || u.Scheme != own.Scheme || u.Port() != own.Port() {
		return false
	}
	return slices.Contains([]string{own.Hostname(), "127.0.0.1", "localhost", "::1"}, strings.ToLower(u.Hostname()))
}

type noNetwork struct{}

func (noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &hostError{Code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", Message: "there is no network in on-device mode, so nothing can be asked of " + r.URL.Host +
		"; mark the tool requiresHost: true, or give its server a runtime: bun"}
}

// newTransport makes what an engine reaches the network with, by the environment that it has: proxies as in bun, certificates as in node.
func newTransport(env []string) *http.Transport {
	get := func(names ...string) string { return lookup(env, names...) }
	proxy := (&httpproxy.Config{
		HTTPProxy: get("HTTP_PROXY", "http_proxy"), HTTPSProxy: get("HTTPS_PROXY", "https_proxy"), NoProxy: get("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	const connect, idle = 30 * time.Second, 4 * time.Second // node's: 10 s for each address, and 4 s
	return &http.Transport{
		Proxy:               func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:         (&net.Dialer{Timeout: connect}).DialContext,
		TLSClientConfig:     tlsConfig(get("NODE_EXTRA_CA_CERTS"), get("NODE_TLS_REJECT_UNAUTHORIZED") == "0"),
		TLSHandshakeTimeout: connect,
		IdleConnTimeout:     idle,
		DisableCompression:  true, // JavaScript sees what the server sent
	}
}

// lookup finds a variable by any of its names; the last definition counts.
func lookup(env []string, names ...string) string {
	for _, name := range names {
		for _, entry := range slices.Backward(env) {
			if key, value, _ := strings.Cut(entry, "="); key == name && value != "" {
				return value
			}
		}
	}
	return ""
}

func tlsConfig(authorities string, trusting bool) *tls.Config {
	c := &tls.Config{InsecureSkipVerify: trusting} // who sets the variable wants that, as in node
	if authorities == "" {
		return c
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if pem, err := os.ReadFile(authorities); err == nil {
		pool.AppendCertsFromPEM(pem)
	}
	c.RootCAs = pool
	return c
}
