package files

import (
	"net/url"
	"path/filepath"
	"strings"
)

// URL returns the file: URL of an absolute path.
func URL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/ on Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
