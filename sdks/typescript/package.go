// Package typescript contains the npm package @trailblaze/scripting, for projects that trailblaze init writes.
package typescript

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
)

//go:embed dist/package.zip
var archive string

// Files returns the files of the package, without its tests and what it is developed with.
func Files() fs.FS {
	r, _ := zip.NewReader(strings.NewReader(archive), int64(len(archive))) // The only error is a bad archive.
	return r
}
