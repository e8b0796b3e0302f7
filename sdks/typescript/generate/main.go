// Command generate packs the npm package into dist, which is embedded. Run it with "make generate".
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

func main() { embedded.Main(build) }

// build packs the files of the package, without its tests and what it is developed with.
func build(dir string) (embedded.Files, error) {
	content := embedded.Files{}
	for _, pattern := range []string{"LICENSE", "README.md", "index.d.ts", "package.json", "src/*.js"} {
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no file matches %s", pattern)
		}
		for _, file := range files {
			name, err := filepath.Rel(dir, file)
			if err != nil {
				return nil, err
			}
			if content[filepath.ToSlash(name)], err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
	}
	archive, err := content.Zip()
	return embedded.Files{"package.zip": archive}, err
}
