package webdriver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/httpclient"
)

const (
	// defaultLimit bounds a call whose context does not end earlier.
	defaultLimit = time.Minute
	connectLimit = 10 * time.Second
	// idleLimit is how long a connection is kept for the next read. Node.js closes one after 5 s.
	idleLimit = 4 * time.Second
	// maxBody and maxLargeBody are the sizes in bytes of the largest response, and of the largest source, screenshot, log
	// or video.
	maxBody      = 1 << 20
	maxLargeBody = 64 << 20
)

// Options are the settings of a client.
type Options struct {
	User, Key string        // for basic authentication; those of the URL if both are empty
	Limit     time.Duration // of a call whose context does not end earlier; 0 for a minute
	// SessionLimit bounds NewSession in place of Limit, because a server may wait for a free device. 0 for Limit.
	SessionLimit time.Duration
	MaxBody      int64 // size in bytes of the largest source or screenshot; 0 for 64 MiB
	// Secrets are texts that errors do not contain, besides User and Key.
	Secrets []string
	TLS     *tls.Config // nil for the system's certificates
	// Dial connects to the server for each request; nil for TCP connections to its address, or to the user's proxy.
	// When it fails, the request was not sent.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client sends requests to one server. It may be used from any goroutine.
type Client struct {
	base      *url.URL // without user, and without a slash at the end
	user, key string
	limits    limits
	maxLarge  int64
	redactor  *strings.Replacer

	reads   *http.Client // keeps connections, without Options.Dial
	actions *http.Client // uses a connection for one request
}

type limits struct{ call, session time.Duration }

// New returns a client of the server at a URL, whose path is before that of each request, such as /wd/hub. It does not
// connect. Close it.
func New(rawURL string, o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(rawURL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is not an http:// or https:// URL", WithoutUser(rawURL))
	}
	c := &Client{
		base: base, user: o.User, key: o.Key, maxLarge: cmp.Or(o.MaxBody, maxLargeBody),
		limits: limits{cmp.Or(o.Limit, defaultLimit), cmp.Or(o.SessionLimit, o.Limit, defaultLimit)},
	}
	if c.user == "" && c.key == "" && base.User != nil {
		c.user = base.User.Username()
		c.key, _ = base.User.Password()
	}
	base.User, base.RawQuery, base.Fragment = nil, "", ""
	c.redactor = newRedactor(append([]string{c.user, c.key}, o.Secrets...), c.user, c.key)
	c.reads, c.actions = newHTTPClient(o, false), newHTTPClient(o, true)
	return c, nil
}

// newHTTPClient returns a client without HTTP/2, which repeats requests by rules of its own.
func newHTTPClient(o Options, oneRequest bool) *http.Client {
	config, dial, proxy := o.TLS, o.Dial, http.ProxyFromEnvironment // which is none for loopback addresses
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectLimit}).DialContext
	} else {
		proxy, oneRequest = nil, true
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config = config.Clone()
	config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: httpclient.NoUpgrade(&http.Transport{
			Proxy: proxy, DialContext: dial, TLSHandshakeTimeout: connectLimit,
			TLSClientConfig: config, Protocols: protocols, DisableKeepAlives: oneRequest, IdleConnTimeout: idleLimit,
			MaxIdleConnsPerHost: 2,
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// URL returns the server's URL without user and key.
func (c *Client) URL() string { return c.base.String() }

// Close closes the connections that are not in use.
func (c *Client) Close() {
	c.reads.CloseIdleConnections()
	c.actions.CloseIdleConnections()
}

// Redact returns a text without the secrets of the client.
func (c *Client) Redact(text string) string { return c.redactor.Replace(text) }

// Call sends a request and decodes the value of its response into result, which may be nil. body is encoded as JSON;
// without one a POST has an empty object. A GET only reads: it may use a connection that an earlier one has used. The
// error is an *Error.
func (c *Client) Call(ctx context.Context, method, path string, body, result any) error {
	r, err := c.call(ctx, method, path, method+" "+path, body)
	if err != nil {
		return err
	}
	return r.decode(result)
}

// response is the response to a successful request.
type response struct {
	client    *Client
	call      string
	status    int
	SessionID string          `json:"sessionId"`
	Value     json.RawMessage `json:"value"`
}

func (r *response) decode(result any) error {
	if result == nil || len(r.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.Value, result); err != nil {
		return &Error{Call: r.call, Status: r.status, Message: "the response is not as expected: " + r.client.Redact(err.Error()), Cause: err}
	}
	return nil
}

// call sends a request. name is its method and path in errors.
func (c *Client) call(parent context.Context, method, path, name string, body any) (*response, error) {
	limit := c.limits.call
	if path == sessionPath {
		limit = c.limits.session
	}
	limited, cancel := context.WithTimeoutCause(parent, limit, limitError(limit))
	defer cancel()
	ctx, connected := traceConnection(limited)
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, &Error{Call: name, Message: c.Redact(err.Error()), Cause: err}
	}
	client := c.actions
	if method == http.MethodGet {
		client = c.reads
	}
	res, err := client.Do(request)
	if err != nil {
		return nil, c.transportError(limited, name, err, connected.Load())
	}
	defer res.Body.Close()
	most := int64(maxBody)
	if isLarge(path) {
		most = c.maxLarge
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return nil, c.transportError(limited, name, fmt.Errorf("the response was cut off: %w", err), true)
	case int64(len(data)) > most:
		return nil, &Error{
			Call: name, Status: res.StatusCode, Message: fmt.Sprintf("HTTP %d, and the response is larger than %d MiB", res.StatusCode, most>>20),
			noResponse: true,
		}
	}
	return c.parse(name, res, data)
}

// traceConnection returns a context for a request, and whether the request has got a connection.
func traceConnection(ctx context.Context) (context.Context, *atomic.Bool) {
	connected := new(atomic.Bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), connected
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader
	if body == nil && method == http.MethodPost {
		body = struct{}{}
	}
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.String()+"/"+strings.TrimLeft(path, "/"), content)
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // so that net/http cannot send it again
	if body != nil {
		request.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "trailblaze")
	if c.user != "" || c.key != "" {
		request.SetBasicAuth(c.user, c.key)
	}
	return request, nil
}

// isLarge reports whether the response may be larger than maxBody.
func isLarge(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	for _, end := range []string{
		"/source", "/screenshot", "/accessibleSource", "/execute/sync", "/log", "/appium/stop_recording_screen",
	} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// limitError is the cause with which a call ends at the limit of its client.
type limitError time.Duration

func (e limitError) Error() string { return "no response within " + time.Duration(e).String() }

// Is makes the error one of a deadline.
func (e limitError) Is(target error) bool { return target == context.DeadlineExceeded }
