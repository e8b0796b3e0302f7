package engine

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlOps read URLs as the web does. A URL is handed over as its href and its parts, one a line: none can contain a line break.
func urlOps() (map[string]op, map[string]job) {
	return map[string]op{"url.parse": parseURL, "url.set": setURL}, nil
}

// parseURL is (input, base, which may be nil); nil when that is no URL.
func parseURL(_ *Engine, args []any) (any, error) {
	input := arg[string](args, 0)
	var u *whatwg.Url
	var err error
	if base, ok := args[1].(string); ok {
		u, err = whatwg.ParseRef(base, input)
	} else {
		u, err = whatwg.Parse(input)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // JavaScript says what is wrong, in node's words
	}
	return lines(u), nil
}

// setURL is (href, part, value): the URL with the part changed, or as it was where the part does not take the value.
func setURL(_ *Engine, args []any) (any, error) {
	u, err := whatwg.Parse(arg[string](args, 0))
	if err != nil {
		return nil, nil //nolint:nilerr // it cannot be: an href is a URL
	}
	value := arg[string](args, 2)
	switch arg[string](args, 1) {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
	return lines(u), nil
}

func lines(u *whatwg.Url) string {
	return strings.Join([]string{
		u.Href(false), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(), u.Search(), u.Hash(),
	}, "\n")
}
