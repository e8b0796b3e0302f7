package tsschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a token is.
type tokenKind uint8

const (
	end      tokenKind = iota
	word               // a name or a keyword
	quoted             // a text in quotes, or a template without parts
	number             //
	template           // a piece of a template with parts; the first and the last one match each other
	pattern            // a regular expression
	mark               // one character, or one of => ... ++ --
)

// token is a piece of a script that is not space and not a comment.
type token struct {
	kind    tokenKind
	at, end int    // offsets of bytes
	text    string // as it is written
	doc     string // the last /** comment */ before it, without the marks around it
	match   int    // of an opening bracket: the index of the closing one, or of the end of the script
	newLine bool   // it is the first one of its line
}

// is reports whether the token is a word or a mark.
func (t token) is(text string) bool { return (t.kind == mark || t.kind == word) && t.text == text }

// lexer cuts a script into tokens, in one pass. It knows brackets, but not what is written between them.
type lexer struct {
	src     string
	at      int
	tokens  []token
	open    []int // indexes of brackets that are not closed
	doc     string
	newLine bool
	// noPattern is the end of a line of which it is known that no regular expression ends in it.
	noPattern int
}

// lex returns the tokens of a script. The last one is its end.
func lex(src string) []token {
	x := &lexer{src: src, newLine: true}
	x.at += len(src) - len(strings.TrimPrefix(src, "\ufeff"))
	if strings.HasPrefix(src[x.at:], "#!") {
		x.skipLine()
	}
	for x.skipSpace(); x.at < len(x.src); x.skipSpace() {
		x.next()
	}
	x.add(end, x.at)
	for _, i := range x.open {
		x.tokens[i].match = len(x.tokens) - 1
	}
	return x.tokens
}

// skipSpace skips spaces and comments, and keeps the last comment that describes what follows.
func (x *lexer) skipSpace() {
	x.doc, x.newLine = "", len(x.tokens) == 0
	begins := x.newLine || x.opens() // a comment here belongs to the next token
	for x.at < len(x.src) {
		switch rest := x.src[x.at:]; {
		case rest[0] == '\n' || rest[0] == '\r':
			x.newLine = true
			if !begins {
				x.doc = "" // it stood behind the token before
			}
			begins = true
			x.at++
		case strings.HasPrefix(rest, "//"):
			x.skipLine()
		case strings.HasPrefix(rest, "/*"):
			text, _, closed := strings.Cut(rest[2:], "*/")
			if strings.HasPrefix(text, "*") {
				x.doc = text[1:]
			}
			x.newLine = x.newLine || strings.Contains(text, "\n")
			x.at += 2 + len(text)
			if closed {
				x.at += 2
			}
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\ufeff' {
				return
			}
			x.at += size
		}
	}
}

// opens reports whether the last token opens a bracket.
func (x *lexer) opens() bool { return strings.Contains("{([", x.tokens[len(x.tokens)-1].text) }

func (x *lexer) skipLine() {
	if i := strings.IndexAny(x.src[x.at:], "\r\n"); i >= 0 {
		x.at += i
		return
	}
	x.at = len(x.src)
}

// add adds the token from an offset to the current one.
func (x *lexer) add(kind tokenKind, from int) {
	x.tokens = append(x.tokens, token{
		kind: kind, at: from, end: x.at, text: x.src[from:x.at], doc: x.doc, match: len(x.tokens), newLine: x.newLine,
	})
}

// next reads one token.
func (x *lexer) next() {
	from := x.at
	r, size := utf8.DecodeRuneInString(x.src[x.at:])
	x.at += size
	switch {
	case isWord(r) && !unicode.IsDigit(r):
		x.skipWhile(isWord)
		x.add(word, from)
	case unicode.IsDigit(r) || r == '.' && x.at < len(x.src) && isDigit(x.src[x.at]):
		x.skipWhile(func(r rune) bool { return isWord(r) || r == '.' })
		x.add(number, from)
	case r == '"' || r == '\'':
		x.skipText(byte(r))
		x.add(quoted, from)
	case r == '`':
		x.templateFrom(from, false)
	case r == '/' && x.patternMayFollow() && x.skipPattern():
		x.add(pattern, from)
	default:
		x.mark(from)
	}
}

// mark reads a mark, and matches brackets. An unexpected closing one matches nothing.
func (x *lexer) mark(from int) {
	for _, long := range []string{"...", "=>", "++", "--"} {
		if strings.HasPrefix(x.src[from:], long) {
			x.at = from + len(long)
			x.add(mark, from)
			return
		}
	}
	text := x.src[from:x.at]
	switch text {
	case "{", "(", "[":
		x.open = append(x.open, len(x.tokens))
	case "}", ")", "]":
		opening, isOpen := x.opening()
		if text == "}" && isOpen && x.tokens[opening].kind == template {
			x.templateFrom(from, true)
			return
		}
		if isOpen && matches(x.tokens[opening].text, text) {
			x.close(opening)
		}
	}
	x.add(mark, from)
}

func matches(opening, closing string) bool { return strings.Contains("{} () []", opening+closing) }

// opening returns the bracket that is to be closed next.
func (x *lexer) opening() (index int, ok bool) {
	if len(x.open) == 0 {
		return 0, false
	}
	return x.open[len(x.open)-1], true
}

func (x *lexer) close(opening int) {
	x.tokens[opening].match = len(x.tokens)
	x.open = x.open[:len(x.open)-1]
}

// templateFrom reads a piece of a template: up to its end, or to ${.
func (x *lexer) templateFrom(from int, continued bool) {
	for x.at < len(x.src) {
		switch rest := x.src[x.at:]; {
		case rest[0] == '\\':
			x.at += min(2, len(rest))
			continue
		case rest[0] == '`':
			x.at++
			if !continued {
				x.add(quoted, from)
				return
			}
			opening, _ := x.opening()
			x.close(opening)
			x.add(template, from)
			return
		case strings.HasPrefix(rest, "${"):
			x.at += 2
			if !continued {
				x.open = append(x.open, len(x.tokens))
			}
			x.add(template, from)
			return
		}
		x.at++
	}
	x.add(template, from)
}

// skipText skips to the end of a text in quotes, or of its line.
func (x *lexer) skipText(quote byte) {
	for x.at < len(x.src) {
		switch c := x.src[x.at]; c {
		case quote:
			x.at++
			return
		case '\n':
			return
		case '\\':
			x.at = min(x.at+2, len(x.src))
		default:
			x.at++
		}
	}
}

// patternMayFollow reports whether a slash begins a regular expression: what is before it is not a value. A closing ) or
// } can end a value or a statement; a value is more frequent.
func (x *lexer) patternMayFollow() bool {
	if len(x.tokens) == 0 {
		return true
	}
	switch t := x.tokens[len(x.tokens)-1]; t.kind {
	case quoted, number, pattern:
		return false
	case template:
		return strings.HasSuffix(t.text, "${")
	case word:
		return strings.Contains(" return typeof case in of do else void delete throw new await yield instanceof ", " "+t.text+" ")
	default:
		return !strings.Contains(" ) ] } ++ -- ", " "+t.text+" ") || t.text == "}" && x.newLine
	}
}

// skipPattern skips a regular expression with its flags. It reports false, and skips nothing, if the line has no end of
// one.
func (x *lexer) skipPattern() bool {
	inClass := false
	i := max(x.at, x.noPattern)
	for ; i < len(x.src) && x.src[i] != '\n'; i++ {
		switch c := x.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			x.at = i + 1
			x.skipWhile(isWord)
			return true
		}
	}
	x.noPattern = i
	return false
}

func (x *lexer) skipWhile(is func(rune) bool) {
	for x.at < len(x.src) {
		r, size := utf8.DecodeRuneInString(x.src[x.at:])
		if !is(r) {
			return
		}
		x.at += size
	}
}

func isWord(r rune) bool {
	return r == '_' || r == '$' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\u200c' || r == '\u200d'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
