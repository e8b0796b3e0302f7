package engine

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlOps returns the operations for URLs, by the URL Standard. A URL is passed as a text of ten lines: its href and its
// parts, none of which can contain a line break.
func urlOps() (syncOps, asyncOps opTable) {
	return opTable{"url.parse": parseURL, "url.set": setURL}, nil
}

// maxURLSize is the largest size of a URL in bytes, and of what it is parsed from, as in Chrome. Parsing takes up to
// urlParserFactor times as much memory.
const (
	maxURLSize      = 2 << 20
	urlParserFactor = 64
)

// checkURLSize fails if the texts are too large, and reserves the memory for parsing them.
func (c *call) checkURLSize(texts ...string) error {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > maxURLSize {
		return tooLargeError("the URL", maxURLSize)
	}
	c.reserve(urlParserFactor * size)
	return nil
}

// parseURL implements url.parse(input, base or nil); it returns nil when the URL is invalid.
func parseURL(c *call) (any, error) {
	input := arg[string](c.args, 0)
	if err := c.checkURLSize(input, arg[string](c.args, 1)); err != nil {
		return nil, err
	}
	var u *whatwg.Url
	var err error
	if base, ok := c.args[1].(string); ok {
		u, err = whatwg.ParseRef(base, input)
	} else {
		u, err = whatwg.Parse(input)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // JavaScript throws node's error
	}
	return urlLines(u)
}

// setURL implements url.set(href, part, value); it returns the URL, unchanged if the value is invalid for the part.
func setURL(c *call) (any, error) {
	if err := c.checkURLSize(arg[string](c.args, 0), arg[string](c.args, 2)); err != nil {
		return nil, err
	}
	u, err := whatwg.Parse(arg[string](c.args, 0))
	if err != nil {
		return nil, nil //nolint:nilerr // cannot happen: an href is a valid URL
	}
	value := arg[string](c.args, 2)
	switch arg[string](c.args, 1) {
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
	return urlLines(u)
}

func urlLines(u *whatwg.Url) (any, error) {
	href := u.Href(false)
	if len(href) > maxURLSize {
		return nil, tooLargeError("the URL", maxURLSize)
	}
	return strings.Join([]string{
		href, u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(), u.Search(), u.Hash(),
	}, "\n"), nil
}
