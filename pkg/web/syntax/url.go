package syntax

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// OriginOf returns the origin of a URL with the scheme http or https, without the port that is the default; "" for any
// other.
func OriginOf(address string) string {
	u, err := url.Parse(PlainURL(address))
	if err != nil {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname())
	if scheme != "http" && scheme != "https" || host == "" {
		return ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && (scheme != "http" || port != "80") && (scheme != "https" || port != "443") {
		host += ":" + port
	}
	return scheme + "://" + host
}

// PathOf returns the path of a file: URL.
func PathOf(address string) (string, error) {
	u, err := url.Parse(PlainURL(address))
	if err != nil {
		return "", err
	}
	if !strings.EqualFold(u.Scheme, "file") || u.Host != "" && u.Host != "localhost" {
		return "", fmt.Errorf("%s is not a local file", address)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /C:/
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s has no absolute path", address)
	}
	return path, nil
}

// PlainURL returns a URL without the characters that browsers ignore, and without prefixes that show the same page in
// another way.
func PlainURL(address string) string {
	address = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimFunc(address, func(r rune) bool { return r <= ' ' }))
	for {
		scheme, rest, ok := strings.Cut(address, ":")
		if !ok || !slices.Contains([]string{"view-source", "filesystem"}, strings.ToLower(scheme)) {
			return address
		}
		address = rest
	}
}

// SchemeOf returns the scheme of a URL, in lower case; "" if it has none.
func SchemeOf(address string) string {
	scheme, _, ok := strings.Cut(PlainURL(address), ":")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// HasNoOrigin reports whether a page with this URL may be opened whatever the allowed origins are: it comes from no
// server. Files have rules of their own.
func HasNoOrigin(address string) bool {
	return slices.Contains([]string{"about", "data", "blob", "file"}, SchemeOf(address))
}

// ReachesFiles reports whether a page with this URL may be a file, or may open one. Browsers keep other pages from
// doing so.
func ReachesFiles(address string) bool {
	return !slices.Contains([]string{"http", "https", "about", "data"}, SchemeOf(address))
}

var absoluteURL = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*://|^(?i:about|data):`)

// IsPath reports whether an argument is the path of a file, and not a URL. With a base URL, what begins with a slash is a
// URL, too.
func IsPath(address, baseURL string) bool {
	return !absoluteURL().MatchString(address) && (!strings.HasPrefix(address, "/") || baseURL == "")
}
