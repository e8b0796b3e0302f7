package bundle

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first used: every start of the program would pay for it, and most do not bundle.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
