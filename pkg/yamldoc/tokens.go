package yamldoc

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// This file reports what the tokenizer reads as something else than YAML says, without an error.

// checkQuotes reports the first mistake in double-quoted text: a tab, for which the tokenizer skips a character behind
// the text, or an escape sequence with the wrong digits, which it reads as any character. What follows may be wrong.
func (d *Doc) checkQuotes(tokens token.Tokens) bool {
	q := quotes{doc: d}
	for _, t := range tokens {
		switch t.Type {
		case token.InvalidType:
			return true
		case token.DoubleQuoteType:
			if column, message, hint := q.next(t); message != "" {
				d.add(q.line, column, hint, "%s", message)
				return false
			}
		}
	}
	return true
}

// quotes reads double-quoted texts in the order of the file.
type quotes struct {
	doc  *Doc
	line int
	text []rune // of the line
	end  int    // index behind the last text in the line
}

func (q *quotes) enter(line int) {
	q.line, q.text, q.end = line, []rune(q.doc.line(line)), 0
}

// next reads the text of a token. It returns the column, in q.line, and the message of a mistake, "" for none.
func (q *quotes) next(t *token.Token) (column int, message, hint string) {
	line, column := position(t)
	if line != q.line {
		q.enter(line)
	}
	i := max(column-1, q.end) // the parser's columns are too small after tabs
	for i < len(q.text) && q.text[i] != '"' {
		i++
	}
	if i == len(q.text) {
		return 0, "", ""
	}
	for i++; q.line <= len(q.doc.lines); {
		switch {
		case i == len(q.text):
			q.enter(q.line + 1)
			i = 0
		case q.text[i] == '"':
			q.end = i + 1
			return 0, "", ""
		case q.text[i] == '\t':
			return i + 1, "a tab in double-quoted text", `write \t for a tab`
		case q.text[i] == '\\':
			n, message, hint := escape(q.text[i:])
			if message != "" {
				return i + 1, message, hint
			}
			i = min(i+n, len(q.text))
		default:
			i++
		}
	}
	return 0, "", ""
}

// escape returns the length of the escape sequence that a text starts with, or what is wrong with it.
func escape(text []rune) (n int, message, hint string) {
	if len(text) < 2 || !slices.Contains([]rune("xuU"), text[1]) {
		return 2, "", ""
	}
	n = 2 + map[rune]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	code, ok := hexadecimal(text, n)
	if ok && n == 6 && 0xd800 <= code && code < 0xdc00 { // the tokenizer demands the other half behind it
		_, ok = hexadecimal(text[n:], n)
		n, code = 2*n, utf8.RuneError
	}
	switch {
	case !ok:
		return 0, messageHex, hintBackslash
	case !utf8.ValidRune(code):
		return 0, "this escape sequence stands for no character", hintWhole
	}
	return n, "", ""
}

// hexadecimal returns the number after the first two of n characters.
func hexadecimal(text []rune, n int) (number rune, ok bool) {
	if len(text) < n {
		return 0, false
	}
	code, err := strconv.ParseUint(string(text[2:n]), 16, 32)
	return rune(code), err == nil //nolint:gosec // a negative one is not valid
}

// checkPlain reports text without quotes that loses its tabs, or that is a mapping to the tokenizer, because it has a
// colon and is in a list within braces.
func (d *Doc) checkPlain(tokens token.Tokens) bool {
	var brackets []token.Type // those that are open
	found := len(d.problems)
	for _, t := range tokens {
		line, col := position(t)
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets = append(brackets, t.Type)
		case token.SequenceEndType, token.MappingEndType:
			brackets = brackets[:max(0, len(brackets)-1)]
		case token.MappingValueType:
			if n := len(brackets); n > 0 && brackets[n-1] == token.SequenceStartType && joins(t) {
				line, col = position(t.Prev)
				d.add(line, col, hintQuote+"; or write key: value, with a space", "a colon without a space after it")
			}
		case token.SingleQuoteType, token.DoubleQuoteType, token.CommentType:
		default:
			if losesTab(t) {
				d.add(line, col, `put it in double quotes, and write \t for the tab`, "a tab in text without quotes")
			}
		}
	}
	return len(d.problems) == found
}

// joins reports whether a colon is part of the text around it, in a list in brackets.
func joins(colon *token.Token) bool {
	if colon.Prev == nil || colon.Next == nil || colon.Next.Origin == "" {
		return false
	}
	switch colon.Prev.Type {
	case token.SingleQuoteType, token.DoubleQuoteType, token.SequenceEndType, token.MappingEndType:
		return false
	}
	return !strings.ContainsAny(colon.Next.Origin[:1], " \t\n,[]{}")
}

// losesTab reports whether the value of a token lacks a tab that is within a line of it.
func losesTab(t *token.Token) bool {
	tabs := 0
	for line := range strings.Lines(t.Origin) {
		tabs += strings.Count(strings.TrimSpace(line), "\t")
	}
	return tabs > strings.Count(t.Value, "\t")
}
