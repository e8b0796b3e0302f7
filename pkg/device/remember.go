package device

import (
	"maps"
	"math/big"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// RememberProperties are the properties of the schemas of [tool.RememberText] and [tool.RememberNumber] beside those
// that name an element.
const RememberProperties = `"variable": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]*$", "description": "Its name in memory, for {{name}} in later calls"},
	"prompt": {"type": "string", "description": "Not supported: name an element"}`

// RememberPattern is the property of [tool.RememberText] for a part of the text, with a comma after it.
const RememberPattern = `"pattern": {"type": "string", "minLength": 1, "description": "Keep only what this regular expression matches, or its first group"}, `

// CheckRemember returns an error for a call that describes an element in words, for a model.
func CheckRemember(a Arguments) error {
	if !a.Has("prompt") {
		return nil
	}
	return fault.New(fault.InvalidArguments, "name the element, such as with nodeSelector, or keep what a tool of yours returns with saveAs:",
		"prompt needs a model, and what a trail compares comes from the device")
}

// withNumber matches a whole text in which a digit is, in Go and in JavaScript. It names the spaces that are in numbers, so
// that a page leaves these as they are.
const withNumber = "[\\s\\S\u00a0\u202f]*\\d[\\s\\S]*"

// RememberArguments returns the arguments with which a call of [tool.RememberText] or [tool.RememberNumber] reads the text
// of an element: a number is awaited.
func RememberArguments(command string, args map[string]any) map[string]any {
	if command != tool.RememberNumber {
		return args
	}
	args = maps.Clone(args)
	args["pattern"] = withNumber
	return args
}

// Remember returns the result of such a call that has read a text.
func Remember(command, text string, a Arguments) tool.Result {
	value := text
	if command == tool.RememberNumber {
		value = FirstNumber(text)
	}
	name := a.Text("variable")
	return tool.Result{OK: true, Text: value, MemoryDelta: map[string]any{name: value}}
}

// number matches a number with groups of three digits, before which in India groups of two are, or one without. Of its
// submatches, the first two are what stands before the number, and its sign.
var number = lazyregexp.New(`(^|[^\p{L}\p{N}])?([-−])?\p{Sc}?([1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?|[1-9]\d{0,2}(?:\.\d{3})+,\d+|` +
	`[1-9]\d{0,2}(?:\.\d{3}){2,}|[1-9]\d{0,2}(?:[\x{a0}\x{202f}'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)`)

var withoutGroups = lazyregexp.New(`^\d+(?:[.,]\d+)?`)

// FirstNumber returns the first number in a text as JSON writes it: 1,234.50 and 1.234,50 are 1234.5, and 12,5 is 12.5.
// A single point is a decimal point, also before three digits; a single comma before three digits is not. It returns an
// empty text without a number in ASCII digits.
func FirstNumber(text string) string {
	at := number().FindStringSubmatchIndex(text)
	if at == nil {
		return ""
	}
	start, end := at[6], at[7]
	digits := text[start:end]
	if rest := text[end:]; rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		digits = withoutGroups().FindString(text[start:]) // what looked like groups of three is not: 1,2345
	}
	last := strings.LastIndexAny(digits, ".,")
	isDecimal := last >= 0 && strings.Count(digits, digits[last:last+1]) == 1
	if isDecimal && digits[0] != '0' && digits[last] == ',' && len(digits)-last == 4 && !strings.ContainsAny(digits[:last], ".'’\u00a0\u202f") && last <= 3 {
		isDecimal = false
	}
	whole, fraction := digits, ""
	if isDecimal {
		whole, fraction = digits[:last], digits[last+1:]
	}
	onlyDigits := func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}
	value, _ := new(big.Rat).SetString(strings.Map(onlyDigits, whole) + "." + fraction + "0")
	if at[4] >= 0 { // a sign
		value.Neg(value)
	}
	out := value.FloatString(len(fraction))
	if strings.Contains(out, ".") {
		out = strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	return out
}
