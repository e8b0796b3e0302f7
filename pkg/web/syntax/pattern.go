package syntax

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// javaScriptOf returns a regular expression of Go as one of JavaScript with the flag u, which matches the same texts.
func javaScriptOf(pattern string) (string, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	translate(&out, tree)
	return out.String(), nil
}

func translate(out *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			literal(out, r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		out.WriteByte('[')
		for pair := range slices.Chunk(re.Rune, 2) {
			fmt.Fprintf(out, `\u{%x}-\u{%x}`, pair[0], pair[1])
		}
		out.WriteByte(']')
	case syntax.OpCapture:
		group(out, "(", re.Sub, "")
	case syntax.OpConcat:
		group(out, "(?:", re.Sub, "")
	case syntax.OpAlternate:
		group(out, "(?:", re.Sub, "|")
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		group(out, "(?:", re.Sub, "")
		out.WriteString(quantifier(re))
	default:
		out.WriteString(fixed(re.Op))
	}
}

func group(out *strings.Builder, begin string, parts []*syntax.Regexp, between string) {
	out.WriteString(begin)
	for i, part := range parts {
		if i > 0 {
			out.WriteString(between)
		}
		translate(out, part)
	}
	out.WriteByte(')')
}

// literal writes a character, with fold as the class of those that are equal in another case.
func literal(out *strings.Builder, r rune, fold bool) {
	fmt.Fprintf(out, `[\u{%x}`, r)
	for other := unicode.SimpleFold(r); fold && other != r; other = unicode.SimpleFold(other) {
		fmt.Fprintf(out, `\u{%x}`, other)
	}
	out.WriteByte(']')
}

func quantifier(re *syntax.Regexp) string {
	written := map[syntax.Op]string{syntax.OpStar: "*", syntax.OpPlus: "+", syntax.OpQuest: "?"}[re.Op]
	switch {
	case re.Op != syntax.OpRepeat:
	case re.Max < 0:
		written = fmt.Sprintf("{%d,}", re.Min)
	default:
		written = fmt.Sprintf("{%d,%d}", re.Min, re.Max)
	}
	if re.Flags&syntax.NonGreedy != 0 {
		written += "?"
	}
	return written
}

// fixed is an operator that has no parts.
func fixed(op syntax.Op) string {
	return map[syntax.Op]string{
		syntax.OpNoMatch:        "[]",
		syntax.OpEmptyMatch:     "(?:)",
		syntax.OpAnyCharNotNL:   `[^\n]`,
		syntax.OpAnyChar:        `[^]`,
		syntax.OpBeginLine:      `(?<=^|\n)`,
		syntax.OpEndLine:        `(?=$|\n)`,
		syntax.OpBeginText:      "^",
		syntax.OpEndText:        "$",
		syntax.OpWordBoundary:   `\b`,
		syntax.OpNoWordBoundary: `\B`,
	}[op]
}
