// Command generate bundles the page of the studio into dist, from the sources in src and the installed npm packages. Its
// output is reproducible. Run it with "make generate", or with "go generate" in the parent directory when the packages
// are installed.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

// maxSize bounds what a browser loads, compressed with gzip: the page opens at once over any connection.
const maxSize = 300 << 10

func main() { embedded.Main(build) }

// build bundles the page, each file that a browser loads compressed with gzip. It fails if the page is larger than maxSize.
func build(dir string) (embedded.Files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files, err := embedded.Build(options(dir), "The page of the studio contains parts of these npm packages.")
	if err != nil {
		return nil, err
	}
	files["index.html"], err = os.ReadFile(filepath.Join(dir, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	out, size := embedded.Files{embedded.Licenses: files[embedded.Licenses]}, 0
	delete(files, embedded.Licenses) // browsers do not load it
	for name, text := range files {
		out[name+".gz"] = compress(text)
		size += len(out[name+".gz"])
	}
	if size > maxSize {
		return nil, fmt.Errorf("the page has %d KB compressed, at most %d are allowed", size>>10, maxSize>>10)
	}
	return out, nil
}

func options(dir string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:       dir,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: filepath.Join(dir, "src", "main.tsx"), OutputPath: "app"}},
		Outdir:              filepath.Join(dir, "dist"),
		Bundle:              true,
		Format:              api.FormatESModule,
		Platform:            api.PlatformBrowser,
		Target:              api.ES2023,
		MinifySyntax:        true,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
	}
}

// compress compresses with gzip. The result has no time of its own.
func compress(text []byte) []byte {
	var buf bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // The only error is a bad level.
	_, _ = zip.Write(text)                                    // A buffer takes everything.
	_ = zip.Close()
	return buf.Bytes()
}
