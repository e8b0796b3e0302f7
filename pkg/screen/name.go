package screen

import (
	"strings"
	"unicode"
)

// MayChange returns what in a name may change from one replay to the next, such as digits; "" if it looks constant.
func MayChange(name string) string {
	switch {
	case strings.ContainsFunc(name, unicode.IsNumber):
		return "digits"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Sc, r) }):
		return "a currency sign"
	}
	return ""
}
