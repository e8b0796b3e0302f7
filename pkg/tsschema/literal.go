package tsschema

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// value reads a literal: a text, a number, true, false, null, or a list or an object of them. ok is false for everything
// else; then only a bracket is skipped.
func (p *parser) value(depth int) (value any, ok bool) {
	switch t := p.peek(); {
	case depth > maxDepth:
		return nil, false
	case t.kind == quoted:
		return unquote(p.advance().text), true
	case t.is("-") && p.after().kind == number:
		p.advance()
		n, ok := parseNumber(p.advance().text)
		return -n, ok
	case t.kind == number:
		n, ok := parseNumber(p.advance().text)
		return n, ok
	case t.is("true"), t.is("false"):
		return p.advance().text == "true", true
	case t.is("null"):
		p.advance()
		return nil, true
	case t.is("["):
		return p.listLiteral(depth)
	case t.is("{"):
		all, complete := p.objectLiteral(depth)
		return all, complete
	}
	return nil, false
}

func (p *parser) listLiteral(depth int) (value any, ok bool) {
	closing := p.peek().match
	defer func() { p.i = min(closing+1, len(p.tokens)-1) }()
	p.advance()
	all := []any{}
	for p.i < closing {
		value, ok := p.value(depth + 1)
		if !ok || !p.accept(",") && p.i != closing {
			return nil, false
		}
		all = append(all, value)
	}
	return all, true
}

// objectLiteral reads the entries of an object whose values are literals. complete is false if others were left out.
func (p *parser) objectLiteral(depth int) (all map[string]any, complete bool) {
	closing := p.peek().match
	p.advance()
	all, complete = map[string]any{}, true
	for p.i < closing {
		key := p.advance()
		name := key.text
		if key.kind == quoted {
			name = unquote(name)
		}
		isEntry := (key.kind == word || key.kind == quoted) && p.accept(":")
		var value any
		if isEntry {
			value, isEntry = p.value(depth + 1)
		}
		if isEntry && (p.i == closing || p.peek().is(",")) {
			all[name] = value
		} else {
			complete = false
		}
		for p.i < closing && !p.peek().is(",") {
			p.skipBracket()
		}
		p.accept(",")
	}
	p.i = min(closing+1, len(p.tokens)-1)
	return all, complete
}

func parseNumber(text string) (float64, bool) {
	if n, err := strconv.ParseInt(text, 0, 53); err == nil {
		return float64(n), true
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return n, err == nil
}

// unquote returns the text between quotes, with what is escaped in it.
func unquote(written string) string {
	if len(written) < 2 || written[len(written)-1] != written[0] {
		return strings.TrimLeft(written, "\"'`")
	}
	written = written[1 : len(written)-1]
	if !strings.Contains(written, `\`) {
		return written
	}
	var units []uint16 // as JavaScript counts, so that pairs of escaped surrogates become one character
	for written != "" {
		r, size := utf8.DecodeRuneInString(written)
		if r == '\\' {
			r, size = escaped(written)
		}
		if r >= 0 {
			units = utf16.AppendRune(units, r)
		}
		if r >= 0xd800 && r < 0xe000 {
			units[len(units)-1] = uint16(r)
		}
		written = written[size:]
	}
	return string(utf16.Decode(units))
}

// escaped returns the character that an escape at the beginning of a text stands for, and the length of the escape. The
// character is -1 for an escaped end of a line.
func escaped(text string) (r rune, size int) {
	if len(text) == 1 {
		return '\\', 1
	}
	digits := func(from, n int) (rune, int) {
		if from+n <= len(text) {
			if v, err := strconv.ParseUint(text[from:from+n], 16, 32); err == nil {
				return rune(v), from + n
			}
		}
		return rune(text[1]), 2
	}
	switch text[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'v':
		return '\v', 2
	case '0':
		return 0, 2
	case '\n':
		return -1, 2
	case 'x':
		return digits(2, 2)
	case 'u':
		if strings.HasPrefix(text[2:], "{") {
			if n := strings.IndexByte(text[:min(len(text), 11)], '}'); n > 3 {
				r, size = digits(3, n-3)
				return r, size + 1
			}
		}
		return digits(2, 4)
	}
	r, size = utf8.DecodeRuneInString(text[1:])
	return r, 1 + size
}
