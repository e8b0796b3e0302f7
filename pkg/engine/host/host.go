// Package host holds the JavaScript that gives the embedded engine the names of node and of the web: one chunk for each module, made of
// src and of the npm packages of the lock file by the program in generate, read-only, and embedded as text. It knows nothing of an engine.
//
// A chunk is the body of
//
//	(function (module, exports, require, host) { … })
//
// and leaves what the module is in module.exports: the value that require("node:events") has in node, so the names of a module are
// properties of it. A chunk requires others as "node:events" or "internal/abort"; host is the door to Go.
package host

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:generate go run ./generate

//go:embed dist/*.js dist/*/*.js
var dist embed.FS

// Chunk is the text of the chunk of a name: "node:fs/promises" for a module of node, "internal/fetch" for what is the host's own.
// ok is false when there is none.
func Chunk(name string) (src string, ok bool) {
	text, err := dist.ReadFile(fileOf(name))
	return string(text), err == nil
}

// Has says whether there is a chunk of a name.
func Has(name string) bool {
	_, err := fs.Stat(dist, fileOf(name))
	return err == nil
}

// Names are those of all chunks, sorted.
func Names() []string {
	var names []string
	for _, pattern := range []string{"dist/*.js", "dist/*/*.js"} {
		files, _ := fs.Glob(dist, pattern) // The only error is a bad pattern.
		for _, file := range files {
			names = append(names, nameOf(file))
		}
	}
	slices.Sort(names)
	return names
}

// fileOf is the file of a chunk, "" when no chunk has such a name.
func fileOf(name string) string {
	file, isNode := strings.CutPrefix(name, "node:")
	if isNode == strings.HasPrefix(file, "internal/") {
		return ""
	}
	return "dist/" + file + ".js"
}

// nameOf is the inverse of fileOf.
func nameOf(file string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(file, "dist/"), ".js")
	if strings.HasPrefix(name, "internal/") {
		return name
	}
	return "node:" + name
}
