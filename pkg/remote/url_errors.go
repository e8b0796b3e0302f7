package remote

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// transportError is an error that is delivered in place of a response.
type transportError struct {
	cause         *fault.Error
	disconnected  bool // the session cannot be used any more
	maybeExecuted bool // the server may have executed the request
	noConnection  bool // there is no connection to the server, or it was interrupted: the server may have exited
}

func (e *transportError) Error() string { return e.cause.Message }

// Unwrap returns the *fault.Error.
func (e *transportError) Unwrap() error { return e.cause }

// Disconnected reports whether the session cannot be used any more, so that a new one is worth trying.
func (e *transportError) Disconnected() bool { return e.disconnected }

// MaybeExecuted reports whether the server may have executed the request. Otherwise it has not received or has rejected
// it.
func (e *transportError) MaybeExecuted() bool { return e.maybeExecuted }

const (
	hintRunning   = "is it running, and is this its url? trailblaze does not start servers that have a url"
	hintPath      = "most servers use the path /mcp, older ones /sse: add the path to the url in its entry"
	hintLost      = "trying again can help; its log may say why"
	hintServerLog = "the log of the server may say more"
	hintProxy     = "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
	hintHTTPS     = "use https:// in url in its entry"

	// for a process that several sessions share, which has no url to correct
	hintShared    = "with multiDevice: http it must serve streamable HTTP at /mcp to clients that send TRAILBLAZE_SESSION_TOKEN"
	hintTransport = "it seems to have one transport for all clients: with multiDevice: http it needs one for each session, " +
		"identified by Mcp-Session-Id; see docs/shared-servers.md"
)

// hint returns what to do about a server with a url, or about a shared process.
func (l *Link) hint(url, shared string) string {
	if l.spec.shared {
		return shared
	}
	return url
}

// unreachable returns the error of a request that was not sent.
func (l *Link) unreachable(err error) *transportError {
	if failure := l.redirectFailure(err); failure != nil {
		return failure
	}
	if failure := l.proxyFailed(err); failure != nil {
		return failure
	}
	why, hint := l.connectFailure(err)
	hint = l.hint(hint, hintLost)
	return &transportError{
		cause: fault.New(fault.Server, hint, "%s cannot be reached at %s: %s", withoutSecrets(l.url),
			address(l.url), why),
		disconnected: true, noConnection: true,
	}
}

// proxyFailed returns the error of a request that was not sent because the proxy failed; nil for other errors.
func (l *Link) proxyFailed(err error) *transportError {
	why := ""
	var refused *proxyError
	var dial *net.OpError
	switch {
	case errors.As(err, &refused):
		why = refused.Error()
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		why, _ = l.connectFailure(dial.Err)
	default:
		return nil
	}
	return &transportError{
		cause: fault.New(fault.Server, hintProxy, "%s cannot be reached through %s: %s", withoutSecrets(l.url),
			cmp.Or(l.proxy(), "its proxy"), why),
		disconnected: true, noConnection: true,
	}
}

// proxy returns the proxy of the server for a message, without user and password; "" if it has none.
func (l *Link) proxy() string {
	if l.spec.Proxy == nil {
		return ""
	}
	u, err := l.spec.Proxy(&http.Request{URL: l.url})
	if err != nil || u == nil {
		return ""
	}
	return "the proxy " + withoutSecrets(u)
}

// noResponseError returns the error of a request that was sent and got no response.
func (l *Link) noResponseError(err error) *transportError {
	if failure := l.redirectFailure(err); failure != nil {
		return failure
	}
	if strings.Contains(err.Error(), tlsAlert) {
		return l.expectsHTTPS()
	}
	return l.connectionLost(err)
}

// tlsAlert is how net/http quotes the start of a TLS alert in place of a response.
const tlsAlert = `malformed HTTP response "\x15\x03`

// expectsHTTPS returns the error of a server with an http:// URL that expects TLS.
func (l *Link) expectsHTTPS() *transportError {
	return &transportError{
		cause:        fault.New(fault.Server, hintHTTPS, "%s: the server expects HTTPS", withoutSecrets(l.url)),
		disconnected: true,
	}
}

// connectionLost returns the error of a request whose response was interrupted.
func (l *Link) connectionLost(err error) *transportError {
	hint := hintLost
	if l.url.Scheme == "http" && !l.spec.shared && !l.handshakeDone() {
		hint = "if the server expects HTTPS, " + hintHTTPS
	}
	return &transportError{
		cause: fault.New(fault.Server, hint, "the connection to %s was lost: %s", withoutSecrets(l.url),
			plainError(err)),
		disconnected: true, maybeExecuted: true, noConnection: true,
	}
}

func (l *Link) redirectFailure(err error) *transportError {
	var redirect *redirectError
	if !errors.As(err, &redirect) {
		return nil
	}
	return &transportError{
		cause: fault.New(fault.Server,
			l.hint("write the final URL into url in its entry; its headers are sent to that host only", hintShared),
			"%s %s", withoutSecrets(l.url), redirect),
		disconnected: true,
	}
}

// statusError returns the error of a request whose response has a status other than success.
func (l *Link) statusError(resp *http.Response, text string) *transportError {
	status := statusText(resp)
	switch {
	case l.url.Scheme == "http" && resp.StatusCode == http.StatusBadRequest && strings.Contains(text, "HTTPS"):
		return l.expectsHTTPS()
	case l.isSessionUnknown(resp, text):
		return &transportError{
			cause: fault.New(fault.Server, hintLost,
				"the server does not know the session any more: it answers %s", status),
			disconnected: true,
		}
	case isUnauthorized(resp):
		return &transportError{
			cause: fault.New(fault.PermissionDenied,
				l.hint("check headers in its entry, such as Authorization, and the variables in them: is one of them empty?", hintShared),
				"%s answers %s%s", withoutSecrets(l.url), status, excerpt(resp, text)),
			disconnected: true,
		}
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return &transportError{
			cause:        fault.New(fault.PermissionDenied, hintProxy, "%s answers %s", cmp.Or(l.proxy(), "a proxy"), status),
			disconnected: true,
		}
	}
	return &transportError{
		cause: fault.New(fault.Server, l.statusHint(resp), "%s answers %s%s", withoutSecrets(l.url), status,
			excerpt(resp, text)),
		maybeExecuted: true,
	}
}

// isSingleSession reports whether a server rejects a session because it has one already.
func isSingleSession(e *fault.Error) bool {
	return e.Kind == fault.ProtocolError && strings.Contains(strings.ToLower(e.Message), "already initialized")
}

// statusHint returns what to do about a status.
func (l *Link) statusHint(resp *http.Response) string {
	hint := ""
	if resp.StatusCode >= http.StatusInternalServerError {
		hint = "the server, or " + cmp.Or(l.proxy(), "a proxy in front of it") + ", has a problem; its log may say which"
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		hint = "it gets too many requests: run fewer trails at once, or later"
	}
	if after := resp.Header.Get("Retry-After"); hint != "" && after != "" {
		if _, err := strconv.Atoi(after); err == nil {
			after += " s"
		}
		hint += fmt.Sprintf("; it says when to try again (Retry-After: %.40s)", after)
	}
	return hint
}

// noMCP returns the error of a server that supports neither transport, or of one that rejected the session with a
// JSON-RPC error. sseErr is why HTTP with SSE failed.
func (l *Link) noMCP(rejected *transportError, sseErr error, rpc *jsonrpc.Error) *transportError {
	if rpc != nil || rejected.cause.Hint == hintHTTPS {
		if rpc != nil {
			rejected.cause.Hint = l.hint("it supports MCP, but rejects the session; "+hintServerLog, hintTransport)
		}
		rejected.disconnected, rejected.maybeExecuted = true, false
		return rejected
	}
	sse := plainError(sseErr)
	if redirect := (*redirectError)(nil); errors.As(sseErr, &redirect) {
		sse = redirect.Error()
	}
	where := withoutSecrets(l.url)
	streamable := strings.TrimPrefix(rejected.cause.Message, where+" ")
	return &transportError{
		cause: fault.New(fault.Server, l.hint(hintPath, hintShared),
			"no MCP server at %s: streamable HTTP: %s; HTTP with SSE: %s", where, streamable, sse),
		disconnected: true,
	}
}

// unexpectedType returns the error of a response whose type the protocol does not have.
func (l *Link) unexpectedType(resp *http.Response) *transportError {
	text := readStart(resp)
	switch kind := mediaType(resp); {
	case isPage(resp, text):
		return l.notMCP(statusText(resp) + " with a web page instead of a message, such as a login page" +
			excerpt(resp, text))
	case text == "":
		return l.notMCP("its response is empty (" + statusText(resp) + ")")
	default:
		return l.notMCP(fmt.Sprintf("its response has the type %q, and is not a JSON-RPC message%s", kind,
			excerpt(resp, text)))
	}
}

// notMCP returns the error of a response that violates the protocol.
func (l *Link) notMCP(what string) *transportError {
	return &transportError{
		cause: fault.New(fault.ProtocolError, l.hint(hintPath, hintShared), "%s is not an MCP server: %s",
			withoutSecrets(l.url), what),
		maybeExecuted: true,
	}
}

func tooLarge() *transportError {
	return &transportError{cause: fault.New(fault.TooLarge, "let the tool return less, or the path of a file",
		"the response exceeds the limit of %d MiB", maxMessage>>20)}
}

func statusText(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

const (
	// maxErrorBody is how many bytes of an error response are read.
	maxErrorBody = 64 << 10
	// maxExcerpt is how many bytes of it are quoted.
	maxExcerpt = 200
)

// readStart reads the start of a body.
func readStart(resp *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(text) == 0 {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func isPage(resp *http.Response, text string) bool {
	return mediaType(resp) == "text/html" || strings.HasPrefix(text, "<")
}

// excerpt returns the first line of a body, or the title of a page, as a suffix for a message.
func excerpt(resp *http.Response, body string) string {
	if isPage(resp, body) {
		_, title, _ := strings.Cut(body, "<title>")
		body, _, _ = strings.Cut(title, "</title>")
	} else if rpc := rpcErrorIn(body); rpc != nil {
		body = rpc.Error()
	}
	line := strings.TrimSpace(text.FirstLine(body))
	repeatsStatus := strings.EqualFold(line, statusText(resp)) ||
		strings.EqualFold(line, http.StatusText(resp.StatusCode))
	if line == "" || !isSuccess(resp) && repeatsStatus {
		return ""
	}
	return ": " + text.HeadBytes(line, maxExcerpt)
}

// connectFailure returns why there is no connection, and what to do.
func (l *Link) connectFailure(err error) (why, hint string) {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		noTLS    tls.RecordHeaderError
		dns      *net.DNSError
		deadline net.Error
	)
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that this machine does not trust",
			"SSL_CERT_FILE names a file with additional trusted authorities"
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for another name (%s)", plainError(name)),
			"use the name in the certificate in url in its entry"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("its certificate is not valid now (%s to %s)",
				invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly)),
			"renew it, or correct the clock"
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not use TLS", "use http:// in url if that is intended"
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("unknown host %q", dns.Name), "correct the url; a name of an internal network may need a VPN"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, winsockRefused):
		return "connection refused", hintRunning
	case errors.As(err, &deadline) && deadline.Timeout():
		return fmt.Sprintf("no connection within %s", l.timing.connect), hintRunning
	}
	return plainError(err), hintRunning
}

// These errors of Winsock mean ECONNRESET and ECONNREFUSED on Windows. Other systems have no errors with these numbers.
const (
	winsockReset   = syscall.Errno(10054)
	winsockRefused = syscall.Errno(10061)
)

// plainError returns the text of an error without the method and URL of net/http, which may contain secrets.
func plainError(err error) string {
	var in *url.Error
	for errors.As(err, &in) {
		err = in.Err
		in = nil
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it was closed before the response"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, winsockReset):
		return "it was reset before the response"
	}
	return err.Error()
}
