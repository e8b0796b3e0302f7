// Command generate builds the chunks in dist from the sources in src and the installed npm packages. Its output is
// reproducible. Run it with "make generate", or with "go generate" in the parent directory when the packages are
// installed.
package main

import "github.com/trailblaze/trailblaze/pkg/embedded"

func main() { embedded.Main(build) }
