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
	case name != "" && WithoutIcons(name) == "":
		return "only characters of an icon font"
	}
	return ""
}

// WithoutIcons returns a text without characters for private use, which icon fonts draw. A text without any is returned
// unchanged.
func WithoutIcons(text string) string {
	isPrivate := func(r rune) bool { return unicode.Is(unicode.Co, r) }
	if !strings.ContainsFunc(text, isPrivate) {
		return text
	}
	return strings.Join(strings.Fields(strings.Join(strings.FieldsFunc(text, isPrivate), "")), " ")
}
