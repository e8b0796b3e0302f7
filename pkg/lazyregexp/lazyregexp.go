// Package lazyregexp compiles the patterns of packages when they are first used, because compiling all of them takes a
// seventh of the start of the program.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the pattern that expr describes. It panics if expr is invalid.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
