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

// mapMark comes before the place of a source map.
const mapMark = "sourceMappingURL="

// withoutMap takes the source map from a package's file: stacks name the file that is installed, as in node.
func withoutMap(data []byte) []byte {
	at := bytes.LastIndex(data, []byte(mapMark))
	start := bytes.LastIndexByte(data[:max(at, 0)], '\n') + 1
	if at < 0 || len(bytes.Fields(data[at:])) != 1 || bytes.ContainsAny(data[at:], "'\"`") {
		return data
	}
	if opening := string(data[start:at]); opening != "//# " && opening != "//@ " {
		return data
	}
	return data[:start]
}

// withoutOddMaps remembers which source maps a file names, and unmakes those comments that name a pipe or the like: esbuild would
// open it, and wait for ever.
func (b *builder) withoutOddMaps(path string, data []byte) []byte {
	if !isCode(path) && filepath.Ext(path) != ".css" {
		return data
	}
	for at := 0; ; at += len(mapMark) {
		next := bytes.Index(data[at:], []byte(mapMark))
		if next < 0 {
			return data
		}
		at += next
		place := mapPlace(filepath.Dir(path), data[at+len(mapMark):])
		if place == "" {
			continue
		}
		b.mu.Lock()
		b.maps[path] = append(b.maps[path], place)
		b.mu.Unlock()
		if isOdd(place) {
			data = slices.Concat(data[:at], []byte(strings.ToUpper(mapMark)), data[at+len(mapMark):])
		}
	}
}

// mapPlace is the path that a comment means with what comes after its mark, "" for none.
func mapPlace(dir string, ref []byte) string {
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

// isOdd reports whether there is something that is neither a file nor a folder, or more than can be read.
func isOdd(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && (!info.Mode().IsRegular() || info.Size() > maxInput)
}
