// Package page has the page of the studio, bundled from TypeScript. The program in generate builds dist from src.
package page

import (
	"embed"
	"io/fs"
)

//go:generate go run ./generate

//go:embed dist/*.gz
var dist embed.FS

// Files returns the files of the page, each compressed with gzip: index.html.gz, app.js.gz and app.css.gz. Nothing else
// is needed. They are made for a Content-Security-Policy that allows scripts and styles of 'self' only.
func Files() fs.FS {
	files, _ := fs.Sub(dist, "dist") // The only error is a bad name.
	return files
}
