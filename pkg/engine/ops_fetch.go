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

	"github.com/trailblaze/trailblaze/pkg/httpclient"
)

// chunkSize is the largest number of bytes of a body that are passed to JavaScript at once.
const chunkSize = 64 << 10

// fetchOps returns the operations for HTTP requests. fetch.open creates an exchange, fetch.send sends its request,
// fetch.read reads the body of its response, and fetch.close ends it.
func fetchOps() (syncOps, asyncOps opTable) {
	ops := opTable{"fetch.open": openExchange, "fetch.close": closeExchange}
	return ops, opTable{
		"fetch.send": sendRequest, "fetch.write": writeRequest, "fetch.read": readResponse, "fetch.readAll": readResponseWhole,
	}
}

// exchange is a request and its response.
type exchange struct {
	heap         *heap
	size         int // bytes that are reserved for the body of the request
	cancel       context.CancelFunc
	ctx          context.Context //nolint:containedctx // the exchange outlives the operation that opens it
	upload       *io.PipeWriter  // for fetch.write
	uploadReader *io.PipeReader
	mu           sync.Mutex
	body         io.ReadCloser // of the response; nil before it is received
	closed       bool
}

func (x *exchange) Close() error {
	x.cancel()
	x.mu.Lock()
	body := x.body
	x.closed = true
	x.heap.releaseShared(x.size)
	x.size = 0
	x.mu.Unlock()
	_ = x.uploadReader.CloseWithError(context.Canceled)
	if body != nil {
		_ = body.Close()
	}
	return nil
}

// setResponseBody stores the body of the response, or closes it if the exchange is closed.
func (x *exchange) setResponseBody(body io.ReadCloser) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.body = body
	if x.closed {
		_ = body.Close()
	}
}

// reserve counts memory until the exchange is closed.
func (x *exchange) reserve(size int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.heap.reserveShared(size)
		x.size += size
	}
}

// openExchange implements fetch.open(): it returns the number of an exchange.
func openExchange(c *call) (any, error) {
	x := &exchange{heap: &c.vm.heap}
	x.ctx, x.cancel = context.WithCancel(c.ctx)
	x.uploadReader, x.upload = io.Pipe()
	return float64(c.handles.add(x)), nil
}

// closeExchange implements fetch.close(number). The exchange may be closed already.
func closeExchange(c *call) (any, error) {
	if x, ok := lookupHandle[*exchange](&c.handles, intArg(c.args, 0)); ok {
		c.handles.remove(int(intArg(c.args, 0)))
		return nil, x.Close()
	}
	return nil, nil
}

func (e *Engine) exchange(args []any) (*exchange, error) {
	x, ok := lookupHandle[*exchange](&e.handles, intArg(args, 0))
	if !ok {
		return nil, context.Canceled
	}
	return x, nil
}

// sendRequest implements fetch.send(number, method, URL, headers, body, raw, proxied, trust). headers is a list of
// alternating names and values. body is bytes, true if it is sent with fetch.write, or nil. With raw, a compressed
// response is not decompressed. If the server of the URL is a proxy, proxied is the URL that it is asked for. trust has
// the arguments of withTrust, or is nil. It returns [status, status text, headers].
func sendRequest(c *call) (any, error) {
	x, err := c.exchange(c.args)
	if err != nil {
		return nil, err
	}
	target, err := requestURL(arg[string](c.args, 2))
	if err != nil {
		return nil, err
	}
	r := (&http.Request{Method: arg[string](c.args, 1), URL: target, Host: target.Host, Header: http.Header{}, ProtoMajor: 1, ProtoMinor: 1}).
		WithContext(x.ctx)
	setHeaders(r, arg[[]any](c.args, 3))
	switch body := c.args[4].(type) {
	case []byte:
		x.reserve(len(body)) // net/http may hold it longer than the operation takes
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	case bool:
		r.Body, r.ContentLength = x.uploadReader, declaredLength(arg[[]any](c.args, 3))
	}
	if proxied := arg[string](c.args, 6); proxied != "" {
		target.Opaque = proxied
	}
	response, err := c.transport(r, arg[[]any](c.args, 7)).RoundTrip(r)
	if err != nil {
		return nil, networkError(err, target)
	}
	body := response.Body
	if !arg[bool](c.args, 5) && r.Method != http.MethodHead {
		body = decompressBody(response)
	}
	x.setResponseBody(body)
	_, text, _ := strings.Cut(response.Status, " ")
	return []any{float64(response.StatusCode), decodeLatin1(text), flatHeaders(response.Header)}, nil
}

// requestURL parses a URL. It accepts URLs that are valid by the URL Standard and invalid for net/url. A path that
// net/url would write in another way is Opaque.
func requestURL(href string) (*url.URL, error) {
	u, err := url.Parse(href)
	if err == nil && (u.RawPath == "" || u.EscapedPath() == u.RawPath) {
		return u, nil
	}
	scheme, rest, _ := strings.Cut(href, "://")
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		return nil, err
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	exact := &url.URL{Scheme: scheme, Host: rest[:end], Opaque: path, RawQuery: query}
	if u != nil {
		exact.Path = u.Path
	}
	return exact, nil
}

// setHeaders sets the headers of a request, encoded as Latin-1.
func setHeaders(r *http.Request, flat []any) {
	for i := 0; i+1 < len(flat); i += 2 {
		name, value := arg[string](flat, i), string(encodeLatin1(arg[string](flat, i+1)))
		switch strings.ToLower(name) {
		case "host":
			r.Host = value
		case "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade":
			// net/http sets them.
		default:
			r.Header.Add(name, value)
		}
	}
	if r.Header["User-Agent"] == nil {
		r.Header.Set("User-Agent", "") // otherwise net/http sends its own
	}
}

// declaredLength returns the Content-Length among headers; -1 when there is none.
func declaredLength(flat []any) int64 {
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
			flat = append(flat, name, decodeLatin1(value))
		}
	}
	return flat
}

// writeRequest implements fetch.write(number, bytes): it returns when the bytes were sent. Without bytes it ends the
// body.
func writeRequest(c *call) (any, error) {
	x, err := c.exchange(c.args)
	if err != nil {
		return nil, err
	}
	data := arg[[]byte](c.args, 1)
	if data == nil {
		return nil, x.upload.Close()
	}
	_, err = x.upload.Write(data)
	return nil, err
}

// readResponse implements fetch.read(number): it returns the next bytes of the body, nil at the end.
func readResponse(c *call) (any, error) {
	x, err := c.exchange(c.args)
	if err != nil {
		return nil, err
	}
	c.reserve(chunkSize)
	data, err := readChunk(x.body)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, bodyError(err)
	}
	return data, nil
}

// readChunk reads at least one byte, or returns an error.
func readChunk(r io.Reader) ([]byte, error) {
	data := make([]byte, chunkSize)
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

// readResponseWhole implements fetch.readAll(number).
func readResponseWhole(c *call) (any, error) {
	x, err := c.exchange(c.args)
	if err != nil {
		return nil, err
	}
	chunks, err := c.readChunks(x.body, chunkSize)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLargeError("the body of the response", maxValueBytes)
	case err != nil:
		return nil, bodyError(err)
	}
	return byteChunks(chunks), nil
}

// decompressBody returns the body of a response, decompressed according to its Content-Encoding. It leaves the headers
// unchanged.
func decompressBody(r *http.Response) io.ReadCloser {
	switch strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip":
		return &decompressingBody{body: r.Body, open: func(b *bufio.Reader) (io.Reader, error) { return gzip.NewReader(b) }}
	case "deflate":
		return &decompressingBody{body: r.Body, open: newDeflateReader}
	}
	return r.Body
}

// decompressingBody decompresses a body. It creates the decompressor at the first Read, because that reads the header
// of the compressed data.
type decompressingBody struct {
	body         io.ReadCloser
	open         func(*bufio.Reader) (io.Reader, error)
	decompressed io.Reader
}

func (i *decompressingBody) Read(p []byte) (n int, err error) {
	if i.decompressed == nil {
		b := bufio.NewReader(i.body)
		if _, err := b.Peek(1); err != nil {
			return 0, err // io.EOF for an empty body
		}
		if i.decompressed, err = i.open(b); err != nil {
			return 0, err
		}
	}
	return i.decompressed.Read(p)
}

func (i *decompressingBody) Close() error { return i.body.Close() }

// newDeflateReader accepts zlib data, which the coding "deflate" means, and raw deflate data, which some servers send.
func newDeflateReader(b *bufio.Reader) (io.Reader, error) {
	const method, mask = 8, 0x0F
	if head, err := b.Peek(1); err == nil && head[0]&mask == method {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// transport returns what sends a request: callbacks are served without a socket; everything else uses the network.
func (e *Engine) transport(r *http.Request, trust []any) http.RoundTripper {
	if e.isCallbackURL(r.URL) {
		return callbackTransport{e}
	}
	if e.spec.Sandbox {
		return blockedTransport{}
	}
	shared := e.handles.sharedTransport(e.spec.Env)
	// net/http adds the host for a proxy to a Path only, and reads // at the start of an Opaque as a host.
	proxy, _ := shared.Proxy(r)
	if strings.HasPrefix(r.URL.Opaque, "//") || proxy != nil && r.URL.Scheme == "http" && r.URL.Opaque != "" {
		r.URL.Opaque = "//" + r.URL.Host + r.URL.Opaque
	}
	if trust != nil {
		shared = withTrust(shared, arg[bool](trust, 0), arg[string](trust, 1))
	}
	return httpclient.NoUpgrade(shared)
}

// withTrust returns a transport for one request, which verifies the certificate of its server or not, by authorities in
// PEM instead of the default ones.
func withTrust(shared *http.Transport, verify bool, authorities string) *http.Transport {
	own := shared.Clone()
	own.DisableKeepAlives = true
	own.TLSClientConfig.InsecureSkipVerify = !verify
	if authorities != "" {
		own.TLSClientConfig.RootCAs = x509.NewCertPool()
		own.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(authorities))
	}
	return own
}

// isCallbackURL reports whether a URL has the origin of the callback server, by any of the names of the loopback
// interface.
func (e *Engine) isCallbackURL(u *url.URL) bool {
	if e.spec.Callback == nil {
		return false
	}
	own, err := url.Parse(e.spec.CallbackURL)
	if err != nil || u.Scheme != own.Scheme || u.Port() != own.Port() {
		return false
	}
	return slices.Contains([]string{own.Hostname(), "127.0.0.1", "localhost", "::1"}, strings.ToLower(u.Hostname()))
}

type blockedTransport struct{}

func (blockedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &hostError{
		Code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
		Message: "the network is not available in on-device mode, so " + r.URL.Host + " cannot be reached; " +
			"mark the tool requiresHost: true, or give its server a runtime: bun",
	}
}

// newTransport returns the HTTP transport of an engine. Proxies are configured by the environment as in bun,
// certificates as in node.
func newTransport(env []string) *http.Transport {
	getenv := func(names ...string) string { return lookupEnv(env, names...) }
	proxy := (&httpproxy.Config{
		HTTPProxy: getenv("HTTP_PROXY", "http_proxy"), HTTPSProxy: getenv("HTTPS_PROXY", "https_proxy"), NoProxy: getenv("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	proxyOf := func(r *http.Request) (*url.URL, error) {
		if r.URL.Opaque != "" && r.URL.Opaque[0] != '/' {
			return nil, nil // the server is the proxy
		}
		return proxy(r.URL)
	}
	const connect, idle = 30 * time.Second, 4 * time.Second // node has 10 s for each address, and 4 s
	return &http.Transport{
		Proxy:               proxyOf,
		DialContext:         (&net.Dialer{Timeout: connect}).DialContext,
		TLSClientConfig:     tlsConfig(getenv("NODE_EXTRA_CA_CERTS"), getenv("NODE_TLS_REJECT_UNAUTHORIZED") == "0"),
		TLSHandshakeTimeout: connect,
		IdleConnTimeout:     idle,
		DisableCompression:  true, // scripts see the headers that the server sent
	}
}

// lookupEnv returns the value of the first of several variables that is set and not empty. The last value of a name
// counts.
func lookupEnv(env []string, names ...string) string {
	for _, name := range names {
		for _, entry := range slices.Backward(env) {
			if key, value, _ := strings.Cut(entry, "="); key == name && value != "" {
				return value
			}
		}
	}
	return ""
}

func tlsConfig(extraCAFile string, skipVerify bool) *tls.Config {
	c := &tls.Config{InsecureSkipVerify: skipVerify} // if NODE_TLS_REJECT_UNAUTHORIZED is 0, as in node
	if extraCAFile == "" {
		return c
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if pem, err := os.ReadFile(extraCAFile); err == nil {
		pool.AppendCertsFromPEM(pem)
	}
	c.RootCAs = pool
	return c
}
