package syntax

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// URLPattern is a URL, or a glob in Playwright's syntax: * matches any characters but /, ** matches any, {a,b} matches
// one of several texts, and \ makes the next character literal. A question mark is literal.
type URLPattern struct {
	Text    string
	matches *regexp.Regexp // nil for any URL
}

// ParseURLPattern parses the argument url. A pattern that is relative is resolved against base. An empty one matches any
// URL.
func ParseURLPattern(text, base string) (URLPattern, error) {
	if text == "" {
		return URLPattern{}, nil
	}
	resolved := resolveGlob(base, text)
	if !strings.HasPrefix(resolved, "*") && !globScheme().MatchString(resolved) {
		return URLPattern{}, fault.New(fault.InvalidArguments, "write a whole URL, or a pattern such as **/api/orders*",
			"url: %q is neither a URL nor a pattern, and there is no base_url", text)
	}
	expression, err := globExpression(resolved)
	if err != nil {
		return URLPattern{}, fault.Wrap(fault.InvalidArguments, err, `write { and } in pairs, or \{ for the character`, "url")
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return URLPattern{}, fault.Wrap(fault.InvalidArguments, err, "", "url")
	}
	return URLPattern{text, compiled}, nil
}

var globScheme = lazyregexp.New(`^[A-Za-z*{][^/]*:`)

// Match reports whether a URL matches.
func (u URLPattern) Match(address string) bool {
	return u.matches == nil || u.matches.MatchString(address)
}

// globExpression returns the regular expression of a glob, by the rules of Playwright's globToRegexPattern.
func globExpression(glob string) (string, error) {
	const special = `$^+.*()|\?{}[]`
	var out strings.Builder
	out.WriteByte('^')
	inGroup := false
	literal := func(c rune) {
		if strings.ContainsRune(special, c) {
			out.WriteByte('\\')
		}
		out.WriteRune(c)
	}
	runes := []rune(glob)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\\' && i+1 < len(runes):
			i++
			literal(runes[i])
		case c == '*':
			start := i
			for i+1 < len(runes) && runes[i+1] == '*' {
				i++
			}
			slashAfter := i+1 < len(runes) && runes[i+1] == '/'
			switch {
			case i == start:
				out.WriteString("([^/]*)")
			case !slashAfter:
				out.WriteString("(.*)")
			case start > 0 && runes[start-1] == '/':
				out.WriteString("((.+/)|)")
				i++
			default:
				out.WriteString("(.*/)")
				i++
			}
		case c == '{' && inGroup:
			return "", fmt.Errorf("a { inside of another one in %q", glob)
		case c == '{':
			inGroup = true
			out.WriteByte('(')
		case c == '}' && !inGroup:
			return "", fmt.Errorf("a } without { in %q", glob)
		case c == '}':
			inGroup = false
			out.WriteByte(')')
		case c == ',' && inGroup:
			out.WriteByte('|')
		default:
			literal(c)
		}
	}
	if inGroup {
		return "", fmt.Errorf("a { without } in %q", glob)
	}
	out.WriteByte('$')
	return out.String(), nil
}

var escapedQuestionMark = lazyregexp.New(`\\\\\?`)

// resolveGlob resolves a glob against a base URL and normalizes it as browsers normalize URLs, by the rules of
// Playwright's resolveGlobBase. Parts of it that have wildcards stay as they are.
func resolveGlob(base, glob string) string {
	if strings.HasPrefix(glob, "*") {
		return glob
	}
	glob = escapedQuestionMark().ReplaceAllString(glob, "?")
	for _, scheme := range []string{"about:", "data:", "chrome:", "edge:", "file:"} {
		if strings.HasPrefix(glob, scheme) {
			return glob
		}
	}
	var originals [][2]string // placeholder and text
	placeholder := func(original, name string) string {
		if original == "" {
			return ""
		}
		originals = append(originals, [2]string{name, original})
		return name
	}
	parts := strings.Split(glob, "/")
	for i, part := range parts {
		name := fmt.Sprintf("$_%d_$", i)
		switch question := strings.Index(part, "?"); {
		case part == "." || part == ".." || part == "":
		case i == 0 && strings.HasSuffix(part, ":"):
			if strings.ContainsAny(part, "*{") {
				parts[i] = placeholder(part, "http:")
			}
		case !strings.ContainsAny(part, `*?{}\`):
		case question < 0:
			parts[i] = placeholder(part, name)
		default:
			parts[i] = placeholder(part[:question], name) + placeholder(part[question:], "?"+name)
		}
	}
	resolved := NormalizeURL(base, strings.Join(parts, "/"))
	for _, o := range originals {
		original := o[1]
		if u, err := url.Parse(resolved); err == nil && strings.Contains(u.Scheme+"://"+u.Host, o[0]) {
			original = strings.ToLower(original)
		}
		resolved = strings.Replace(resolved, o[0], original, 1)
	}
	return resolved
}

// NormalizeURL returns the URL of a reference relative to base as a browser writes it. It returns the reference if it
// is not valid.
func NormalizeURL(base, reference string) string {
	u, err := url.Parse(reference)
	if err != nil {
		return reference
	}
	if !u.IsAbs() {
		from, err := url.Parse(base)
		if err != nil || base == "" {
			return reference
		}
		u = from.ResolveReference(u)
	}
	if u.Opaque != "" {
		return reference
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u = u.ResolveReference(&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery, ForceQuery: u.ForceQuery, Fragment: u.Fragment})
	if u.Path == "" && u.Host != "" {
		u.Path = "/"
	}
	return u.String()
}
