package remote

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// reach is how long a connection may take to come about.
	reach = 10 * time.Second
	// maxRedirects is how often a request is sent on.
	maxRedirects = 5
	// idle is how long a connection is kept for the next request. Servers close theirs, node and uvicorn after 5 s, and a request
	// that is on its way then is lost.
	idle = 2 * time.Second
)

// newClient is what speaks with one server. Its connections are its own, so that none of them outlives the link.
func newClient(u *url.URL, proxy func(*http.Request) (*url.URL, error)) *http.Client {
	dialer := &net.Dialer{Timeout: reach, KeepAlive: 15 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: proxy, DialContext: dialer.DialContext, TLSHandshakeTimeout: reach, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: waiting, IdleConnTimeout: idle,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error { return follows(u, r, len(via)) },
	}
}

// redirectError says why a request was not sent on.
type redirectError struct{ to, why string }

func (e *redirectError) Error() string { return fmt.Sprintf("redirects to %s, %s", e.to, e.why) }

// follows refuses redirects that would take the headers to another host or out of TLS, and those that would make something else
// of a message.
func follows(u *url.URL, r *http.Request, times int) error {
	why := ""
	switch {
	case r.URL.Host != u.Host:
		why = "which is another host"
	case u.Scheme == "https" && r.URL.Scheme != "https":
		why = "which is not encrypted"
	case r.Method != http.MethodPost && r.Response.Request.Method == http.MethodPost:
		why = "in a way (" + r.Response.Status + ") that does not take the message along"
	case times > maxRedirects:
		why = "again and again"
	default:
		return nil
	}
	return &redirectError{to: shown(r.URL), why: why}
}
