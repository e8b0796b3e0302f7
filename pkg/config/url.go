package config

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

var (
	headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")  // a token of RFC 9110
	hostFirst  = lazyregexp.New(`^[A-Za-z0-9.-]+(:[0-9]+)?(/|$)`) // a URL without its scheme
	authorizes = lazyregexp.New(`(?i)auth|cookie|token|key|secret|password`)
)

// minSecretLength is the length in bytes from which a part of a URL that is written in the file is a secret: masking a
// shorter one, such as the 1 of "?v=1", would mask much other text. Values of environment variables and credentials are
// secrets whatever their length; pkg/redact does not mask those that are very short.
const minSecretLength = 6

// protocolHeaders returns the headers that the protocol sets, in lower case.
func protocolHeaders() []string {
	return []string{
		"host", "content-type", "content-length", "accept", "connection", "transfer-encoding",
		"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id",
	}
}

func (e *entry) readURL(n yamldoc.Node) {
	raw := text(n)
	e.URL = e.l.expandVariables(n, raw)
	u, err := url.Parse(e.URL)
	_, complete := e.l.environment(raw)
	switch {
	case e.URL == "" || !complete: // reported already
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		hint := "write http://HOST:PORT/PATH or https://HOST/PATH"
		if !strings.Contains(raw, "://") && hostFirst().MatchString(raw) {
			hint = "http:// is missing: write http://" + withoutSecrets(raw)
		}
		n.Errorf(hint, "this is not the URL of a server")
	case u.Port() != "" && !isPort(u.Port()):
		n.Errorf("ports are 1 to 65535", "%s is not a port", u.Port())
	}
	if complete && u != nil {
		e.maskUser(u)
		e.maskQuery(u, e.maskLong)
	}
	e.maskVariables(raw, u)
}

// maskVariables masks the values of environment variables in a URL, except those in its host, which messages about the
// server name.
func (e *entry) maskVariables(raw string, u *url.URL) {
	_, host, _ := strings.Cut(withoutSecrets(raw), "://")
	host, _, _ = strings.Cut(host, "/")
	public, _ := e.l.environment(host)
	variables, _ := e.l.environment(raw)
	for name, value := range variables {
		if _, is := public[name]; is {
			continue
		}
		e.mask(name, value)
		if decoded, err := url.PathUnescape(value); err == nil && decoded != value {
			e.mask(name+", decoded", decoded)
		}
		if u != nil && strings.ContainsAny(value, "/?") { // parts of the value may be shown without the rest
			e.maskLong("path of url", u.Path)
			e.maskQuery(u, e.mask)
			if !strings.Contains(e.PublicURL(), value) {
				e.mask("url", e.PublicURL())
			}
		}
	}
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// maskUser masks the user and password of a URL.
func (e *entry) maskUser(u *url.URL) {
	if user := u.User.Username(); user != "" {
		password, has := u.User.Password()
		if has {
			e.maskLong("user of url", user)
			e.mask("user and password of url", user+":"+password)
			e.mask("password of url", password)
		} else {
			e.mask("user of url", user)
		}
	}
}

// maskQuery calls mask for the values in the query of a URL.
func (e *entry) maskQuery(u *url.URL, mask func(name, value string)) {
	for name, values := range u.Query() {
		for i, value := range values {
			shown := name + " of url"
			if i > 0 {
				shown += " " + strconv.Itoa(i+1)
			}
			mask(shown, value)
		}
	}
}

// withoutSecrets returns a URL, as written in a file, without user, password, query, fragment and a last slash.
func withoutSecrets(raw string) string {
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw = raw[:i]
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	authority, path, _ := strings.Cut(rest, "/")
	authority = authority[strings.LastIndex(authority, "@")+1:]
	return strings.TrimSuffix(scheme+"://"+authority+"/"+path, "/")
}

// readHeaders reads the headers of every request. It masks the values of environment variables in them, and those of
// headers that authorize.
func (e *entry) readHeaders(n yamldoc.Node) { e.Headers = e.l.headers(n, e.mask) }

// headers reads headers that are sent with every request. It passes what must not be shown to mask.
func (l *loader) headers(n yamldoc.Node, mask func(name, value string)) map[string]string {
	headers := l.variables(n)
	for _, v := range n.Entries() {
		name, value := v.Key, headers[v.Key]
		switch {
		case !headerName().MatchString(name):
			v.At.Errorf("", "%q is not a valid name of a header", name)
		case slices.Contains(protocolHeaders(), strings.ToLower(name)):
			v.At.Errorf("remove it", "the header %s is set by trailblaze", name)
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			v.Value.Errorf("does the value of a variable end with a line break?", "a header cannot contain a line break")
		}
		variables, complete := l.environment(v.Value.Scalar())
		for variable, value := range variables {
			mask(variable, value)
		}
		if !complete { // reported already
			continue
		}
		secret := credentials(name, value)
		if secret == "" {
			v.Value.Warnf("is a variable empty?", "header %s is empty after expanding environment variables", name)
		}
		if authorizes().MatchString(name) {
			mask("header "+name, secret)
		}
	}
	return headers
}

// credentials returns the part of a header's value that may be secret: of "Authorization: Bearer abc" the part after
// the scheme.
func credentials(header, value string) string {
	if !strings.HasSuffix(strings.ToLower(header), "authorization") {
		return strings.TrimSpace(value)
	}
	if _, rest, ok := strings.Cut(strings.TrimLeft(value, " "), " "); ok {
		value = rest
	}
	return strings.TrimSpace(value)
}

// mask adds a value to Secrets, under the name that is shown instead.
func (e *entry) mask(name, value string) {
	if strings.TrimSpace(value) == "" {
		return
	}
	if e.Secrets == nil {
		e.Secrets = map[string]string{}
	}
	e.Secrets[name] = value
}

// maskLong is mask for values that are written in the file and need not be secret.
func (e *entry) maskLong(name, value string) {
	if len(value) >= minSecretLength {
		e.mask(name, value)
	}
}

// warnUnencrypted warns of credentials that are sent over http:// to another machine.
func (e *entry) warnUnencrypted() {
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "http" || !e.IsRemote() {
		return
	}
	const hint = "write https:// in url:, unless you trust the network"
	if u.User != nil {
		e.at["url"].Warnf(hint, "the user and password in url are sent unencrypted to another machine")
	}
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		if authorizes().MatchString(name) {
			e.at["url"].Warnf(hint, "%s in url is sent unencrypted to another machine", name)
		}
	}
	if headers, has := e.at["headers"]; has {
		for _, v := range headers.Entries() {
			if authorizes().MatchString(v.Key) {
				v.At.Warnf(hint, "header %s is sent unencrypted to another machine", v.Key)
			}
		}
	}
}
