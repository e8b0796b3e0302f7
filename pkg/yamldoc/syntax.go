package yamldoc

import (
	"errors"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"
)

const (
	hintQuote     = `put the value in quotes: "…"`
	hintBackslash = `write a backslash as \\, or use single quotes`
	hintWhole     = `write the character itself, or \U and 8 hexadecimal digits`
	messageHex    = `\u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`
)

// parseError records an error of the parser.
func (d *Doc) parseError(err error) {
	var located yaml.Error
	if errors.As(err, &located) && located.GetToken() != nil {
		d.syntaxError(located.GetToken(), located.GetMessage())
		return
	}
	d.add(0, 0, "", "%v", err)
}

// syntaxError records a mistake in the YAML syntax, with a message that says what to change. message is the parser's;
// the line at the token decides between its possible causes.
func (d *Doc) syntaxError(at *token.Token, message string) {
	line, col := position(at)
	text := d.line(line)
	before, after := split(text, col)
	if tokenCol := bareToken(text); tokenCol > 0 && strings.Contains(message, "flow map") {
		d.add(line, tokenCol, `put the value in quotes: "{{name}}"`, "a value that starts with {{ is a mapping to YAML")
		return
	}
	if strings.Contains(message, "mapping value is not allowed") && !secondColon(before, after) {
		d.reportDeeperLine(line)
		return
	}
	for _, e := range explanations() {
		if strings.Contains(message, e.rule) && (e.when == nil || e.when(before, after)) {
			d.add(line, col, e.hint, "%s", e.message)
			return
		}
	}
	d.add(line, col, "", "%s", message)
}

// reportDeeperLine records a problem at the first line that is not empty after the complete value in line. It is
// indented as if it belonged to that value.
func (d *Doc) reportDeeperLine(line int) {
	for next := line + 1; next <= len(d.lines); next++ {
		if text := d.line(next); strings.TrimSpace(text) != "" {
			d.add(next, 1+len(text)-len(strings.TrimLeft(text, " ")), "indent it like the line it belongs to",
				"this line is indented deeper than the line above, which already has its value")
			return
		}
	}
}

// explanation is the message for an error of the parser.
type explanation struct {
	rule    string                          // part of the parser's message
	when    func(before, after string) bool // the line before and after the token; nil means always
	message string
	hint    string
}

// explanations returns the explanations; the first match counts.
func explanations() []explanation {
	return []explanation{
		{"double-quoted text", shortEscape, messageHex, hintBackslash},
		{"not enough length", nil, messageHex, hintBackslash},
		{
			"surrogate", nil,
			"half of a surrogate pair is not a character", hintWhole,
		},
		{
			"double-quoted text", nil, `the text that starts with " here is never closed`,
			`close it with "; inside, write \" for a quote and \\ for a backslash`,
		},
		{
			"single-quoted text",
			nil, `the text that starts with ' here is never closed`, "close it with '; inside, write '' for an apostrophe",
		},
		{"tab character", nil, "a tab in the indentation", "indent with spaces: YAML forbids tabs there"},
		{"found character '\t'", nil, "a tab in the indentation", "indent with spaces: YAML forbids tabs there"},
		{
			"',' or ']'", nil,
			"the list that opens with [ before this is not closed", "separate its entries with commas and close it with ]",
		},
		{
			"',' or '}'", nil, "the mapping that opens with { before this is not closed",
			"separate its entries with commas and close it with }",
		},
		{"end token ']'", nil, "the list that opens with [ is never closed", "close it with ]"},
		{"end token '}'", nil, "the mapping that opens with { is never closed", "close it with }"},
		{"flow map content", nil, "the mapping that opens with { is never closed", "close it with }"},
		{"could not find '['", nil, "this ] has no opening [", "remove it, or " + hintQuote},
		{"could not find '{'", nil, "this } has no opening {", "remove it, or " + hintQuote},
		{"unexpected key name", colonWithoutSpace, "a colon without a space after it", "write key: value, with a space"},
		{"unexpected key name", nil, "this line has no colon", "write key: value"},
		{"implicit line break", nil, "a comma is missing between this and the next line", "separate the entries with commas"},
		{"mapping value is not allowed", nil, "a second colon in one line", hintQuote},
		{
			"map key-value is pre-defined", afterQuote, "text after the closing quote",
			"quote the whole value; an apostrophe inside single quotes is written ''",
		},
		{
			"value is not allowed", startsLine, "the indentation of this line matches no line above it",
			"indent it like the line it belongs to",
		},
		{"value is not allowed", nil, "unexpected text after a complete value", hintQuote},
		{"non-map value", dash, "a list entry between the keys of a mapping", "indent it below the key it belongs to"},
		{"non-map value", colonWithoutSpace, "a colon without a space after it", "write key: value, with a space"},
		{"non-map value", nil, "this line has no colon", "write key: value"},
		{"block sequence entries", nil, "a list cannot start in the line of its key", "put the - in the next line, indented"},
		{"'@' is a reserved", nil, "text cannot start with @", hintQuote},
		{"'`' is a reserved", nil, "text cannot start with a backquote", hintQuote},
		{"unexpected directive", nil, "text cannot start with %", hintQuote},
		{"unknown escape", nil, "this is not an escape sequence of double-quoted text", hintBackslash},
		{"undefined anchor", nil, "& defines an anchor, but no value follows", hintQuote},
		{"undefined alias", nil, "* refers to an anchor, but no name follows", hintQuote},
		{"invalid key", nil, "only plain text can be a key", ""},
		{
			"header",
			nil, "this is not a valid header of a block of text", "write | to keep the line breaks or > to join the lines",
		},
		{
			"number of indent",
			nil, "this block of text is not indented as its first line says", "write | or > without a number",
		},
	}
}

func colonWithoutSpace(_, after string) bool {
	i := strings.IndexByte(after, ':')
	return i > 0 && i+1 < len(after) && after[i+1] != ' '
}

func secondColon(_, after string) bool {
	return strings.Contains(after, ": ") || strings.HasSuffix(strings.TrimRight(after, " "), ":")
}

func afterQuote(before, _ string) bool {
	before = strings.TrimRight(before, " ")
	return strings.HasSuffix(before, "'") || strings.HasSuffix(before, `"`)
}

func shortEscape(_, after string) bool {
	after = strings.ReplaceAll(after, `\\`, "")
	return strings.Count(after, `"`) > 1 && (strings.Contains(after, `\u`) || strings.Contains(after, `\U`) ||
		strings.Contains(after, `\x`))
}

func startsLine(before, _ string) bool { return strings.TrimSpace(before) == "" }

func dash(_, after string) bool { return strings.HasPrefix(after, "-") }

// bareToken returns the column of a {{ that starts a value in the line, 0 when there is none.
func bareToken(text string) int {
	for i := 0; ; {
		at := strings.Index(text[i:], "{{")
		if at < 0 {
			return 0
		}
		i += at
		before := strings.TrimRight(text[:i], " ")
		if before == "" || strings.ContainsAny(before[len(before)-1:], ":-[,") {
			return len([]rune(text[:i])) + 1
		}
		i += len("{{")
	}
}

func (d *Doc) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return d.lines[n-1]
}

// split splits a line before a column, which counts characters from 1.
func split(text string, col int) (before, after string) {
	runes := []rune(text)
	at := min(max(col-1, 0), len(runes))
	return string(runes[:at]), string(runes[at:])
}
