// Package typescript contains the npm package @trailblaze/scripting, for projects that trailblaze init writes.
package typescript

import "embed"

// Files are the files of the package, without its tests and what it is developed with.
//
//go:embed LICENSE README.md index.d.ts package.json src/*.js
var Files embed.FS
