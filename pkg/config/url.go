package config

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

var (
	headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // a token of RFC 9110
	authorizes = regexp.MustCompile(`(?i)auth|cookie|token|key|secret|password`)
)

// shortestHidden is the length in bytes from which a part of a URL that stands in the file is hidden where it would be shown: a shorter
// one, such as that of "?v=1", would be found in too much else. What comes from a variable or is there to authorize is hidden like a
// --secret, whatever its length.
const shortestHidden = 6

// ownedHeaders are set by the protocol itself, in lower case.
func ownedHeaders() []string {
	return []string{
		"host", "content-type", "content-length", "accept", "connection", "transfer-encoding",
		"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id",
	}
}

func (e *entry) readURL(n yamldoc.Node) {
	raw := text(n)
	e.URL = e.l.expanded(n, raw)
	u, err := url.Parse(e.URL)
	_, complete := e.l.putIn(raw)
	switch {
	case e.URL == "" || !complete: // a problem, whose message shows what the file says
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		n.Errorf("write http://HOST:PORT/PATH or https://HOST/PATH", "this is no URL of a server")
	case u.Port() != "" && !isPort(u.Port()):
		n.Errorf("ports are 1 to 65535", "there is no port %s", u.Port())
	}
	if complete && u != nil {
		e.hideUser(u)
		e.hideQuery(u, e.hideLong)
	}
	e.hideVariables(raw, u)
}

// hideVariables hides what variables put into a URL, but for its host, which every message about the server names.
func (e *entry) hideVariables(raw string, u *url.URL) {
	_, host, _ := strings.Cut(withoutSecrets(raw), "://")
	host, _, _ = strings.Cut(host, "/")
	public, _ := e.l.putIn(host)
	variables, _ := e.l.putIn(raw)
	for name, value := range variables {
		if _, is := public[name]; is {
			continue
		}
		e.hide(name, value)
		if decoded, err := url.PathUnescape(value); err == nil && decoded != value {
			e.hide(name+", decoded", decoded)
		}
		if u != nil && strings.ContainsAny(value, "/?") { // then what is shown and quoted of the URL need not be the value
			e.hideLong("path of url", u.Path)
			e.hideQuery(u, e.hide)
			if !strings.Contains(e.PublicURL(), value) {
				e.hide("url", e.PublicURL())
			}
		}
	}
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// hideUser hides who a URL says that we are.
func (e *entry) hideUser(u *url.URL) {
	if user := u.User.Username(); user != "" {
		password, has := u.User.Password()
		if has {
			e.hideLong("user of url", user)
			e.hide("user and password of url", user+":"+password)
			e.hide("password of url", password)
		} else {
			e.hide("user of url", user)
		}
	}
}

func (e *entry) hideQuery(u *url.URL, hide func(name, value string)) {
	for name, values := range u.Query() {
		for i, value := range values {
			shown := name + " of url"
			if i > 0 {
				shown += " " + strconv.Itoa(i+1)
			}
			hide(shown, value)
		}
	}
}

// withoutSecrets is a URL, as a file has it, without user, password, query, fragment and a last slash.
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

// readHeaders reads what is sent with every request. What a variable puts in must not be shown, nor what a header says that is there to
// authorize.
func (e *entry) readHeaders(n yamldoc.Node) {
	e.Headers = e.variables(n)
	for _, v := range n.Entries() {
		name, value := v.Key, e.Headers[v.Key]
		switch {
		case !headerName.MatchString(name):
			v.At.Errorf("", "%q cannot be the name of a header", name)
		case slices.Contains(ownedHeaders(), strings.ToLower(name)):
			v.At.Errorf("remove it; trailblaze sends the right one itself", "the header %s belongs to the protocol", name)
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			v.Value.Errorf("is there a line break at the end of a variable?", "a header cannot hold a line break")
		}
		variables, complete := e.l.putIn(v.Value.Scalar())
		for variable, value := range variables {
			e.hide(variable, value)
		}
		if !complete { // a problem, whose message shows what the file says
			continue
		}
		said := credentials(name, value)
		if said == "" {
			v.Value.Warnf("is a variable set to nothing?", "header %s is empty once the environment is put in", name)
		}
		if authorizes.MatchString(name) {
			e.hide("header "+name, said)
		}
	}
}

// credentials is what of a header's value may be secret: of "Authorization: Bearer abc" only what follows the scheme.
func credentials(header, value string) string {
	if !strings.HasSuffix(strings.ToLower(header), "authorization") {
		return strings.TrimSpace(value)
	}
	if _, rest, ok := strings.Cut(strings.TrimLeft(value, " "), " "); ok {
		value = rest
	}
	return strings.TrimSpace(value)
}

// hide notes that a value must not be shown, under the name to show instead.
func (e *entry) hide(name, value string) {
	if strings.TrimSpace(value) == "" {
		return
	}
	if e.Secrets == nil {
		e.Secrets = map[string]string{}
	}
	e.Secrets[name] = value
}

// hideLong is hide for values that stand in the file and need not be secrets.
func (e *entry) hideLong(name, value string) {
	if len(value) >= shortestHidden {
		e.hide(name, value)
	}
}

// checkOpenly warns of secrets that everybody on the way can read.
func (e *entry) checkOpenly() {
	headers, has := e.at["headers"]
	if !has || !strings.HasPrefix(strings.ToLower(e.URL), "http://") || !e.IsRemote() {
		return
	}
	for _, v := range headers.Entries() {
		if authorizes.MatchString(v.Key) {
			v.At.Warnf("write https:// in url:, or keep it within a network that you trust", "header %s is sent unencrypted to another machine", v.Key)
		}
	}
}
