package yamldoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Map is a mapping that is written in its order.
type Map []Pair

// Pair is a key of a Map with its value.
type Pair struct {
	Key   string
	Value any
}

// Encode returns a value as a YAML document that Parse and Value read back as the same value, a Map as a
// map[string]any. It accepts Map, the types that Value returns, int and json.Number. Other types, and values that YAML
// cannot hold, are an error.
func Encode(v any) ([]byte, error) {
	e := encoder{maps: 2, lists: 2}
	if collection(v) {
		e.block(v, 0)
	} else {
		e.write(e.scalar(v, 0), "\n")
	}
	return e.out.Bytes(), e.err
}

type encoder struct {
	out bytes.Buffer
	err error

	maps, lists int  // spaces by which mappings and lists are indented below their key
	flat        bool // strings of several lines are quoted instead of written as blocks
	quoted      bool // all strings are quoted, as in JSON
}

// verbatim is YAML that is written unchanged. In a Pair with such a value the key is written unchanged, too.
type verbatim string

func (e *encoder) write(parts ...string) {
	for _, p := range parts {
		e.out.WriteString(p)
	}
}

func (e *encoder) fail(format string, args ...any) string {
	if e.err == nil {
		e.err = fmt.Errorf("write YAML: "+format, args...)
	}
	return ""
}

// block writes a collection. The caller has written the indentation of its first line.
func (e *encoder) block(v any, indent int) {
	if indent > 2*maxDepth {
		e.err = errors.New("write YAML: nested too deeply")
		return
	}
	switch v := v.(type) {
	case map[string]any:
		e.block(sortedMap(v), indent)
	case Map:
		for i, pair := range v {
			e.indent(i, indent)
			e.write(e.key(pair), ":")
			if collection(pair.Value) {
				below := indent + e.indentBelow(pair.Value)
				e.write("\n")
				e.indent(1, below)
				e.block(pair.Value, below)
			} else {
				e.write(" ", e.scalar(pair.Value, indent), "\n")
			}
		}
	case []any:
		for i, item := range v {
			e.indent(i, indent)
			if c, ok := item.(copied); ok && c.lines != "" {
				e.lines(c.lines, indent)
				continue
			} else if ok {
				item = c.value
			}
			e.write("- ")
			if collection(item) {
				e.block(item, indent+2)
			} else {
				e.write(e.scalar(item, indent), "\n")
			}
		}
	}
}

// lines writes lines with an indentation, of which the first one has it already.
func (e *encoder) lines(text string, indent int) {
	for i, line := range strings.Split(text, "\n") {
		if line != "" {
			e.indent(i, indent)
		}
		e.write(line, "\n")
	}
}

// flow returns a value on one line.
func (e *encoder) flow(v any, depth int) string {
	if depth > maxDepth {
		return e.fail("nested too deeply")
	}
	if c, ok := v.(copied); ok {
		if c.flow != "" {
			return c.flow
		}
		return e.flow(c.value, depth)
	}
	if !collection(v) {
		return e.scalar(v, 0)
	}
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		return e.flow(sortedMap(v), depth)
	case Map:
		for _, pair := range v {
			parts = append(parts, e.key(pair)+": "+e.flow(pair.Value, depth+1))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		for _, item := range v {
			parts = append(parts, e.flow(item, depth+1))
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (e *encoder) key(pair Pair) string {
	if _, ok := pair.Value.(verbatim); ok {
		return pair.Key
	}
	return e.text(pair.Key)
}

// indentBelow returns by how many spaces a collection is indented below its key.
func (e *encoder) indentBelow(v any) int {
	if _, list := v.([]any); list {
		return e.lists
	}
	return e.maps
}

func sortedMap(v map[string]any) Map {
	var m Map
	for _, key := range slices.Sorted(maps.Keys(v)) {
		m = append(m, Pair{key, v[key]})
	}
	return m
}

// indent writes the indentation of a line, except for the first one, which the caller has indented.
func (e *encoder) indent(line, by int) {
	if line > 0 {
		e.write(strings.Repeat(" ", by))
	}
}

// collection reports whether a value is a mapping or list that is not empty, which is written in lines of its own.
func collection(v any) bool {
	switch v := v.(type) {
	case Map:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}

func (e *encoder) scalar(v any, indent int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case verbatim:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return e.float(v)
	case json.Number:
		return e.number(v.String())
	case string:
		if !e.flat && fitsBlock(v) {
			return blockText(v, indent)
		}
		return e.text(v)
	case Map, map[string]any:
		return "{}"
	case []any:
		return "[]"
	}
	return e.fail("a %T cannot be written as YAML", v)
}

// number returns a number in a form that stays the same when it is read and written again.
func (e *encoder) number(text string) string {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return strconv.FormatUint(u, 10)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !plainFloat().MatchString(text) {
		return e.fail("%q is not a number that can be read again", text)
	}
	return e.float(f)
}

func (e *encoder) float(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return e.fail("%v is not a JSON number", f)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

var (
	plainText = lazyregexp.New(`^[\p{L}_/][\p{L}\p{N} _./()+;=!?'@$-]*$|^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`)
	keyword   = lazyregexp.New(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)
)

// text returns text on one line, quoted unless every YAML reader takes it for text.
func (e *encoder) text(s string) string {
	if !utf8.ValidString(s) {
		return e.fail("%q is not valid UTF-8", s)
	}
	if !e.quoted && plainText().MatchString(s) && !keyword().MatchString(s) && !strings.HasSuffix(s, " ") {
		return s
	}
	if !e.quoted && strings.Contains(s, `\`) && !strings.ContainsFunc(s, isUnprintable) { // such as a regular expression
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !isUnprintable(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// fitsBlock reports whether text has several lines that can be written as they are below a |.
func fitsBlock(s string) bool {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if len(lines) < 2 || lines[len(lines)-1] == "" || !utf8.ValidString(s) {
		return false
	}
	for i, line := range lines {
		if strings.HasSuffix(line, " ") || i == 0 && (line == "" || line[0] == ' ') {
			return false
		}
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
	}
	return true
}

func blockText(s string, indent int) string {
	body, header := strings.TrimSuffix(s, "\n"), "|-"
	if body != s {
		header = "|"
	}
	margin := "\n" + strings.Repeat(" ", indent+2)
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if lines[i] = margin + line; line == "" {
			lines[i] = "\n"
		}
	}
	return header + strings.Join(lines, "")
}

// isUnprintable reports whether r is written as an escape.
func isUnprintable(r rune) bool { return !unicode.IsPrint(r) || r == '\ufeff' }
