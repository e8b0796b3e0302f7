// Package encodings is shared by the tests and the server that leaks a secret to them.
package encodings

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// Of returns the encodings of a secret that no output may contain, by name.
func Of(secret string) map[string]string {
	escaped, _ := json.Marshal(secret)
	return map[string]string{
		"plain": secret, "JSON-escaped": strings.Trim(string(escaped), `"`), "URL-encoded": url.QueryEscape(secret),
		"path-encoded": url.PathEscape(secret), "base64": base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}
