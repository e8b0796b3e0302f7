package remote

import (
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
)

// failure is an error in place of an answer.
type failure struct {
	why    *fault.Error
	lost   bool // nothing more is to be expected of this conversation
	unsure bool // the server may or may not have done what it was asked for
	cut    bool // there is no connection to the server, or no longer: it may have ended
}

func (f *failure) Error() string { return f.why.Message }

// Unwrap returns the *fault.Error.
func (f *failure) Unwrap() error { return f.why }

// Disconnected reports whether nothing more is to be expected of the conversation, so that a new one is worth trying.
func (f *failure) Disconnected() bool { return f.lost }

// MaybeExecuted reports whether the server may or may not have done what it was asked for. Otherwise it has not, or has said so.
func (f *failure) MaybeExecuted() bool { return f.unsure }

const (
	hintRunning = "is it running, and is this its url? trailblaze neither starts nor stops a server that has one"
	hintPath    = "servers usually answer at /mcp, older ones at /sse: complete the url of its entry"
	hintLost    = "trying again can help; its log may say why"
	hintTheirs  = "whoever runs it can see more in its log"
	hintHTTPS   = "write https:// instead of http:// in url: of its entry"

	// of a process that several sessions share, and that has no url: to correct
	hintServes   = "with multiDevice: http it has to serve streamable HTTP at /mcp by itself, to whoever shows TRAILBLAZE_SESSION_TOKEN"
	hintSessions = "it seems to have one transport for all clients: with multiDevice: http it needs one for each session, " +
		"told apart by the Mcp-Session-Id; docs/shared-servers.md shows how"
)

// hint is what to do about a server with a url, or about a shared process instead.
func (l *Link) hint(url, shared string) string {
	if l.spec.shared {
		return shared
	}
	return url
}

// unreachable is the failure of a request that was not sent.
func (l *Link) unreachable(err error) *failure {
	if f := l.redirected(err); f != nil {
		return f
	}
	why, hint := l.reason(err)
	hint = l.hint(hint, hintLost)
	return &failure{
		why:  fault.New(fault.Server, hint, "%s cannot be reached at %s: %s", shown(l.url), address(l.url), why),
		lost: true, cut: true,
	}
}

// brokenOff is the failure of a request that was sent and not answered.
func (l *Link) brokenOff(err error) *failure {
	if f := l.redirected(err); f != nil {
		return f
	}
	if strings.Contains(err.Error(), tlsAlert) {
		return l.expectsTLS()
	}
	return l.lost(err)
}

// tlsAlert is how net/http quotes the beginning of a TLS alert that comes instead of an answer.
const tlsAlert = `malformed HTTP response "\x15\x03`

// expectsTLS is the failure of a server that wants https:// and was spoken to without it.
func (l *Link) expectsTLS() *failure {
	return &failure{
		why:  fault.New(fault.Server, hintHTTPS, "%s cannot be spoken to: there it expects TLS, which is https://", shown(l.url)),
		lost: true,
	}
}

func (l *Link) lost(err error) *failure {
	hint := hintLost
	if l.url.Scheme == "http" && !l.spec.shared && !l.spoken() {
		hint = "does it expect https://? Then write that into url: of its entry"
	}
	return &failure{
		why:  fault.New(fault.Server, hint, "the connection to %s was lost: %s", shown(l.url), plain(err)),
		lost: true, unsure: true, cut: true,
	}
}

func (l *Link) redirected(err error) *failure {
	var to *redirectError
	if !errors.As(err, &to) {
		return nil
	}
	return &failure{
		why: fault.New(fault.Server, l.hint("write the URL that is meant into url: of its entry; its headers go to that host only", hintServes),
			"%s %s", shown(l.url), to),
		lost: true,
	}
}

// refusal is the failure of a request that was answered with a status instead.
func (l *Link) refusal(resp *http.Response, text string) *failure {
	status := statusOf(resp)
	switch {
	case l.url.Scheme == "http" && resp.StatusCode == http.StatusBadRequest && strings.Contains(text, "HTTPS"):
		return l.expectsTLS()
	case l.forgotten(resp, text):
		return &failure{why: fault.New(fault.Server, hintLost, "the server has forgotten the session: it answers %s", status), lost: true}
	case unauthorized(resp):
		return &failure{why: fault.New(fault.PermissionDenied,
			l.hint("look at headers: of its entry, such as Authorization, and at the variables that they take: is one of them empty?", hintServes),
			"%s answers %s%s", shown(l.url), status, l.excerpt(resp, text)), lost: true}
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return &failure{
			why:  fault.New(fault.PermissionDenied, "look at HTTP_PROXY, HTTPS_PROXY and NO_PROXY", "a proxy answers %s", status),
			lost: true,
		}
	}
	return &failure{
		why:    fault.New(fault.Server, l.refusalHint(resp), "%s answers %s%s", shown(l.url), status, l.excerpt(resp, text)),
		unsure: true,
	}
}

// oneClient reports whether a server refuses a session because it has one already.
func oneClient(e *fault.Error) bool {
	return e.Kind == fault.ProtocolError && strings.Contains(strings.ToLower(e.Message), "already initialized")
}

// refusalHint is what to do about a status that is no answer.
func (l *Link) refusalHint(resp *http.Response) string {
	hint := ""
	if resp.StatusCode >= http.StatusInternalServerError {
		hint = "the server, or what stands before it, has a problem of its own; its log may say which"
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		hint = "it is asked too often: run less at once, or later"
	}
	if after := resp.Header.Get("Retry-After"); hint != "" && after != "" {
		if _, err := strconv.Atoi(after); err == nil {
			after += " s"
		}
		hint += fmt.Sprintf("; it says when to try again (Retry-After: %.40s)", after)
	}
	return hint
}

// noMCP is the failure of a server that speaks neither way, unless it refused in the words of the protocol.
func (l *Link) noMCP(refused *failure, second error, rpc *jsonrpc.Error) *failure {
	if rpc != nil || refused.why.Hint == hintHTTPS {
		if rpc != nil {
			refused.why.Hint = l.hint("it speaks MCP, but refuses to begin a session; whoever runs it can see more in its log", hintSessions)
		}
		refused.lost, refused.unsure = true, false
		return refused
	}
	how := plain(second)
	if to := (*redirectError)(nil); errors.As(second, &to) {
		how = to.Error()
	}
	return &failure{why: fault.New(fault.Server, l.hint(hintPath, hintServes), "nothing speaks MCP at %s: streamable HTTP: %s; HTTP with SSE: %s",
		shown(l.url), strings.TrimPrefix(refused.why.Message, shown(l.url)+" "), how), lost: true}
}

// odd is the failure of a request whose answer is of no type that the protocol knows.
func (l *Link) odd(resp *http.Response) *failure {
	text := opening(resp)
	switch kind := mediaType(resp); {
	case isPage(resp, text):
		return l.nonsense(statusOf(resp) + " with a web page, such as that of a login or a proxy, and not with a message" + l.excerpt(resp, text))
	case text == "":
		return l.nonsense("its answer is empty (" + statusOf(resp) + ")")
	default:
		return l.nonsense(fmt.Sprintf("its answer is of type %q, and no message%s", kind, l.excerpt(resp, text)))
	}
}

// nonsense is the failure of a server that does not keep to the protocol.
func (l *Link) nonsense(what string) *failure {
	return &failure{
		why:    fault.New(fault.ProtocolError, l.hint(hintPath, hintServes), "%s does not speak MCP: %s", shown(l.url), what),
		unsure: true,
	}
}

func tooLarge() *failure {
	return &failure{why: fault.New(fault.TooLarge, "let the tool return less, or the path of a file",
		"the answer is over the limit of %d MiB", maxMessage>>20)}
}

func statusOf(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

const (
	// maxRefusal is how much of a refusal is read.
	maxRefusal = 64 << 10
	// maxExcerpt is how much of it is told.
	maxExcerpt = 200
)

// opening reads the beginning of a body.
func opening(resp *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil && len(text) == 0 {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func isPage(resp *http.Response, text string) bool {
	return mediaType(resp) == "text/html" || strings.HasPrefix(text, "<")
}

// excerpt is the first line of a refusal, to be put behind what is said of it. Of a page it is the title.
func (l *Link) excerpt(resp *http.Response, text string) string {
	if isPage(resp, text) {
		_, title, _ := strings.Cut(text, "<title>")
		text, _, _ = strings.Cut(title, "</title>")
	} else if rpc := errorIn(text); rpc != nil {
		text = rpc.Error()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if line == "" || !ok(resp) && (strings.EqualFold(line, statusOf(resp)) || strings.EqualFold(line, http.StatusText(resp.StatusCode))) {
		return ""
	}
	if len(line) > maxExcerpt {
		line = strings.ToValidUTF8(line[:maxExcerpt], "") + "…"
	}
	return ": " + line
}

// reason says why there is no connection, and what to do.
func (l *Link) reason(err error) (why, hint string) {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		noTLS    tls.RecordHeaderError
		dns      *net.DNSError
		deadline net.Error
	)
	const hintTrust = "SSL_CERT_FILE names a file with more authorities to trust"
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that this machine does not trust", hintTrust
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for another name (%s)", plain(name)), "write the name of the certificate into url: of its entry"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("its certificate is not valid now (%s to %s)",
			invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly)), "renew it, or correct the clock"
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS", "write http:// instead of https:// if that is meant"
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("unknown host %q", dns.Name), "correct the url; a name of an internal network may need a VPN"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", hintRunning
	case errors.As(err, &deadline) && deadline.Timeout():
		return fmt.Sprintf("no connection within %s", reach), hintRunning
	}
	return plain(err), hintRunning
}

// plain is an error without the method and URL that net/http puts in front, which may hold secrets.
func plain(err error) string {
	var in *url.Error
	for errors.As(err, &in) {
		err = in.Err
		in = nil
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it was closed before the answer"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it was reset before the answer"
	}
	return err.Error()
}
