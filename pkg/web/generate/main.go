// Command generate minifies the scripts that pkg/web sends to each document into dist, which is embedded. Run it with
// "make generate".
package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

func main() { embedded.Main(build) }

// build minifies scripts of a directory.
func build(dir string) (embedded.Files, error) {
	out := embedded.Files{}
	for _, name := range []string{"page.js", "messages.js"} {
		file := filepath.Join(dir, name)
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		result := api.Transform(string(source), api.TransformOptions{
			Sourcefile: file, Target: api.ES2023, Charset: api.CharsetUTF8,
			MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		})
		if len(result.Errors) > 0 {
			return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
		}
		out[name] = result.Code
	}
	return out, nil
}
