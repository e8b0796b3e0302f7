package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// maxBackoff is the longest wait that a provider did not ask for.
const maxBackoff = 8 * time.Second

// transport returns what connects to the provider. Without encryption it connects to private addresses only, and
// directly: a proxy would read the key.
func (c *Client) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	t := &http.Transport{
		Proxy: c.Proxy, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 256 << 10,
	}
	if c.base.Scheme == "http" {
		t.Proxy = nil
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			host, _, _ := net.SplitHostPort(address)
			if ip := net.ParseIP(host); ip == nil || !isPrivate(ip) {
				return publicHTTP(c.Provider.Name, host)
			}
			return nil
		}
	}
	return t
}

// exchange is one request and its attempts. It implements http.RoundTripper: it returns only answers, which are in
// memory, and faults.
type exchange struct {
	client   *Client
	attempts int          // that were sent
	lost     int          // attempts that were sent and had neither an answer nor the status of an error: they may cost
	failed   *fault.Error // why the last attempt is made again; nil for none
}

// RoundTrip implements http.RoundTripper.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return nil, err
	}
	limits, renewed := x.client.Limits, false
	for n := 1; ; n++ {
		resp, fail := x.attempt(req, body)
		switch {
		case fail == nil:
			return resp, nil
		case req.Context().Err() != nil:
			return nil, context.Cause(req.Context())
		case fail.status == http.StatusUnauthorized && !renewed && x.client.keys.reject(fail.key):
			renewed, n = true, n-1
			continue
		case !fail.again:
			return nil, fail.fault
		case fail.asked > limits.MaxWait:
			fail.fault.Message += fmt.Sprintf("; it asks to wait %v, and at most %v is waited", fail.asked.Round(time.Second), limits.MaxWait)
			return nil, fail.fault
		case n >= limits.Attempts:
			fail.fault.Message += "; this was the last of " + text.Count(n, "attempt")
			return nil, fail.fault
		}
		x.failed = fail.fault
		if err := x.client.wait(req.Context(), fail, n); err != nil {
			return nil, err
		}
	}
}

// wait waits between attempt n and the next one. After a 429 all requests to the provider wait.
func (c *Client) wait(ctx context.Context, fail *failure, n int) error {
	wait := fail.asked
	if wait <= 0 {
		wait = min(c.Limits.Wait<<(n-1), maxBackoff)
		wait = wait*3/4 + rand.N(wait/2+1)
	}
	if wait > c.Limits.Shown {
		c.Waiting(wait, fail.fault.Message)
	}
	if fail.status != http.StatusTooManyRequests {
		return sleep(ctx, wait)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(wait); until.After(c.pausedUntil) {
		c.pausedUntil = until
	}
	return nil
}

// pause waits until the provider is not paused.
func (c *Client) pause(ctx context.Context) error {
	for {
		c.mu.Lock()
		wait := time.Until(c.pausedUntil)
		c.mu.Unlock()
		if wait <= 0 {
			return nil
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// acquire takes one of the provider's slots; the function that it returns gives it back.
func (c *Client) acquire(ctx context.Context) (release func(), err error) {
	if c.slots == nil {
		return func() {}, c.pause(ctx)
	}
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }, c.pause(ctx)
	case <-ctx.Done():
		return func() {}, context.Cause(ctx)
	}
}

// attempt sends the request once.
func (x *exchange) attempt(original *http.Request, body []byte) (*http.Response, *failure) {
	c := x.client
	release, err := c.acquire(original.Context())
	defer release()
	if err != nil {
		return nil, final(err)
	}
	key, err := c.keys.get(original.Context())
	if err != nil {
		return nil, final(fault.Wrap(fault.Provider, err, "see apiKeyCommand of provider "+c.Provider.Name+" in trailblaze.yaml", "no key for "+c.Name()))
	}
	ctx, cancel := context.WithTimeout(original.Context(), c.Limits.Attempt)
	defer cancel()
	req := original.Clone(ctx)
	if req.URL.Scheme != c.base.Scheme || req.URL.Host != c.base.Host {
		return nil, final(fault.New(fault.Bug, "", "a request for %s would go to %s", c.base.Host, req.URL.Host))
	}
	req.Body, req.ContentLength, req.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	req.Header.Set("User-Agent", "trailblaze")
	for name, value := range c.Provider.Headers {
		req.Header.Set(name, value)
	}
	if key != "" {
		c.codec.authorize(req.Header, key)
	}
	x.attempts++
	var sent atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(w httptrace.WroteRequestInfo) { sent.Store(w.Err == nil) },
	}))
	resp, err := c.direct.RoundTrip(req)
	if err != nil {
		if sent.Load() {
			x.lost++
		}
		return nil, c.unreachable(err)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close() // what matters was read
	fail := c.judge(resp, raw, err)
	if fail == nil {
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		return resp, nil
	}
	fail.key = key
	if fail.unreadable {
		x.lost++
	}
	return nil, fail
}
