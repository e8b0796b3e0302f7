package remote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/trailblaze/trailblaze/pkg/httpclient"
)

// maxRedirects is the number of redirects that a request follows.
const maxRedirects = 5

// newClient returns the client of one link. It does not share connections, so that they end with the link.
func newClient(u *url.URL, proxy func(*http.Request) (*url.URL, error), limits timing) *http.Client {
	dialer := &net.Dialer{Timeout: limits.connect, KeepAlive: 15 * time.Second}
	return &http.Client{
		Transport: httpclient.NoUpgrade(&http.Transport{
			Proxy: proxy, DialContext: dialer.DialContext, TLSHandshakeTimeout: limits.connect, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: messageBuffer, IdleConnTimeout: limits.idle, OnProxyConnectResponse: checkProxyResponse,
		}),
		CheckRedirect: func(r *http.Request, via []*http.Request) error { return checkRedirect(u, r, len(via)) },
	}
}

// proxyError is the error of a proxy that refused to connect to the server.
type proxyError struct{ status string }

func (e *proxyError) Error() string { return "it answers " + e.status }

func checkProxyResponse(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{statusText(resp)}
}

// redirectError is the error of a redirect that was not followed.
type redirectError struct{ to, why string }

func (e *redirectError) Error() string { return fmt.Sprintf("redirects to %s, %s", e.to, e.why) }

// checkRedirect rejects redirects that would send the headers to another host or without TLS, and those that would drop
// the message.
func checkRedirect(u *url.URL, r *http.Request, count int) error {
	why := ""
	switch {
	case r.URL.Host != u.Host:
		why = "which is another host"
	case u.Scheme == "https" && r.URL.Scheme != "https":
		why = "which is not encrypted"
	case r.Method != http.MethodPost && r.Response.Request.Method == http.MethodPost:
		why = "with a status (" + r.Response.Status + ") that drops the message; 307 and 308 keep it"
	case count > maxRedirects:
		why = fmt.Sprintf("and so on, more than %d times", maxRedirects)
	default:
		return nil
	}
	return &redirectError{to: withoutSecrets(r.URL), why: why}
}
