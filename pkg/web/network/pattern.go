package network

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Pattern says which requests a command means.
type Pattern struct {
	url      syntax.URLPattern
	method   string // empty for any
	status   int    // 0 for any
	contains string // a part of what was sent
	words    string // the arguments that were given, for messages
}

// ReadPattern reads the arguments url, method, status and contains of a command. A url that is relative is resolved
// against base. The error is of kind InvalidArguments.
func ReadPattern(args syntax.Arguments, base string) (Pattern, error) {
	url, err := syntax.ParseURLPattern(args.Text("url"), base)
	return Pattern{
		url: url, method: strings.ToUpper(args.Text("method")), status: int(args.Number("status", 0)), contains: args.Text("contains"),
		words: args.InWords("method", "status", "url", "contains"),
	}, err
}

// matches reports whether the pattern means requests with a URL and a method.
func (p Pattern) matches(url, method string) bool {
	return (p.method == "" || p.method == method) && p.url.Match(url)
}

// hasResponse reports whether an exchange is one that the pattern means, whatever was sent.
func (p Pattern) hasResponse(x *Exchange) bool {
	return p.matches(x.url, x.method) && (p.status == 0 || p.status == x.status)
}

// covers reports whether an exchange is one that the pattern means.
func (p Pattern) covers(x *Exchange) bool {
	return p.hasResponse(x) && strings.Contains(x.body, p.contains)
}
