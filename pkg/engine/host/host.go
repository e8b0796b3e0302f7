// Package host embeds the JavaScript that implements node's modules and the globals of the web for the embedded engine.
// The program in generate builds it from src and from npm packages: one chunk for each module.
//
// A chunk is the body of
//
//	(function (module, exports, require, host) { … })
//
// and sets module.exports to what require returns in node. A chunk requires others as "node:events" or
// "internal/abort". host is the object whose functions call Go.
package host

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:generate go run ./generate

//go:embed dist/chunks.zip
var archive string

// chunks opens the archive.
var chunks = sync.OnceValue(func() *zip.Reader { //nolint:gochecknoglobals // a constant
	r, _ := zip.NewReader(strings.NewReader(archive), int64(len(archive))) // The only error is a bad archive.
	return r
})

// Chunk returns the source of a chunk: "node:fs/promises" for a module of node, "internal/fetch" for an internal one.
func Chunk(name string) (src string, ok bool) {
	text, err := fs.ReadFile(chunks(), fileOf(name))
	return string(text), err == nil
}

// Has reports whether a chunk exists.
func Has(name string) bool {
	_, err := fs.Stat(chunks(), fileOf(name))
	return err == nil
}

// Names returns the names of all chunks, sorted.
func Names() []string {
	var names []string
	for _, pattern := range []string{"*.js", "*/*.js"} {
		files, _ := fs.Glob(chunks(), pattern) // The only error is a bad pattern.
		for _, file := range files {
			names = append(names, nameOf(file))
		}
	}
	slices.Sort(names)
	return names
}

// fileOf returns the file of a chunk; "" for an invalid name.
func fileOf(name string) string {
	file, isNode := strings.CutPrefix(name, "node:")
	if isNode == strings.HasPrefix(file, "internal/") {
		return ""
	}
	return file + ".js"
}

// nameOf is the inverse of fileOf.
func nameOf(file string) string {
	name := strings.TrimSuffix(file, ".js")
	if strings.HasPrefix(name, "internal/") {
		return name
	}
	return "node:" + name
}
