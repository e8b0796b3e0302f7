package bundle

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// sourceMapMarker precedes the URL of a source map in a comment.
const sourceMapMarker = "sourceMappingURL="

// stripSourceMap removes the source map comment from a file of a package, so that stacks name the installed file, as in
// node.
func stripSourceMap(data []byte) []byte {
	at := bytes.LastIndex(data, []byte(sourceMapMarker))
	start := bytes.LastIndexByte(data[:max(at, 0)], '\n') + 1
	if at < 0 || len(bytes.Fields(data[at:])) != 1 || bytes.ContainsAny(data[at:], "'\"`") {
		return data
	}
	if opening := string(data[start:at]); opening != "//# " && opening != "//@ " {
		return data
	}
	return data[:start]
}

// recordSourceMaps records the source maps that a file refers to, and disables comments that refer to a pipe or
// similar, which would block esbuild.
func (b *builder) recordSourceMaps(path string, data []byte) []byte {
	if !isCode(path) && filepath.Ext(path) != ".css" {
		return data
	}
	for at := 0; ; at += len(sourceMapMarker) {
		next := bytes.Index(data[at:], []byte(sourceMapMarker))
		if next < 0 {
			return data
		}
		at += next
		place := sourceMapPath(filepath.Dir(path), data[at+len(sourceMapMarker):])
		if place == "" {
			continue
		}
		b.mu.Lock()
		b.sourceMaps[path] = append(b.sourceMaps[path], place)
		b.mu.Unlock()
		if isUnreadable(place) {
			data = slices.Concat(data[:at], []byte(strings.ToUpper(sourceMapMarker)), data[at+len(sourceMapMarker):])
		}
	}
}

// sourceMapPath returns the path that the URL after the marker refers to; "" for none.
func sourceMapPath(dir string, ref []byte) string {
	if bytes.HasPrefix(ref, []byte("data:")) {
		return ""
	}
	if end := bytes.IndexFunc(ref, unicode.IsSpace); end >= 0 {
		ref = ref[:end]
	}
	name, _, _ := strings.Cut(string(ref), "*/")
	u, err := url.Parse(name)
	if err != nil || u.Path == "" || u.Scheme != "" && u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	if filepath.Separator != '/' && u.Scheme == "file" {
		u.Path = strings.TrimPrefix(u.Path, "/") // /C:/…
	}
	return join(dir, filepath.FromSlash(u.Path))
}

// isUnreadable reports whether a path is neither a regular file nor a directory, or is too large.
func isUnreadable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && (!info.Mode().IsRegular() || info.Size() > maxInputSize)
}
