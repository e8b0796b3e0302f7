package engine

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlOps returns the operations for URLs, by the URL Standard. A URL is passed as a text of ten lines: its href and its
// parts, none of which can contain a line break.
func urlOps() (map[string]syncOp, map[string]asyncOp) {
	return map[string]syncOp{"url.parse": parseURL, "url.set": setURL}, nil
}

// parseURL implements url.parse(input, base or nil); it returns nil when the URL is invalid.
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
		return nil, nil //nolint:nilerr // JavaScript throws node's error
	}
	return urlLines(u), nil
}

// setURL implements url.set(href, part, value); it returns the URL, unchanged if the value is invalid for the part.
func setURL(_ *Engine, args []any) (any, error) {
	u, err := whatwg.Parse(arg[string](args, 0))
	if err != nil {
		return nil, nil //nolint:nilerr // cannot happen: an href is a valid URL
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
	return urlLines(u), nil
}

func urlLines(u *whatwg.Url) string {
	return strings.Join([]string{
		u.Href(false), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(), u.Search(), u.Hash(),
	}, "\n")
}
