package aria

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Template is what toMatchAriaSnapshot of Playwright expects of a page. It matches by the same rules: a node of the
// page has the role, the name and the states that the template names, and among its children, in order, those of the
// template.
type Template struct{ root *templateNode }

// fragment is the role of a template with several nodes.
const fragment = "fragment"

// templateNode is a node of a template: an element, or a text without a role.
type templateNode struct {
	role     string
	name     *expected // nil for any
	states   []state
	url      *expected
	mode     string // how children are compared: contain, equal, deep-equal; empty for contain, or what is around it
	children []*templateNode
	text     *expected
	line     string // as it is written, for messages
}

// state is a state of an element with its value, such as level and 2.
type state struct{ name, value string }

// expected is a text that is equal, or matches a regular expression.
type expected struct {
	raw, normalized string
	pattern         *regexp.Regexp // nil without one
	onlyPattern     bool           // the text itself does not match
}

func (e *expected) matches(text string) bool {
	switch {
	case e == nil || e.normalized == "" && !e.onlyPattern:
		return true
	case text == "":
		return false
	case !e.onlyPattern && (text == e.normalized || text == e.raw):
		return true
	}
	return e.pattern != nil && e.pattern.MatchString(text)
}

// maxTemplate is the size of the largest template in bytes, and maxTemplateDepth how deep its lists may be nested.
const (
	maxTemplate      = 1 << 20
	maxTemplateDepth = 200
)

// ParseTemplate reads a template in Playwright's format. The error says what is wrong and in which line.
func ParseTemplate(text string) (*Template, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are allowed", len(text), maxTemplate)
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("it is not YAML: %s", line)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("it is empty; write a list of elements, such as: - heading \"Cart\"")
	}
	list, ok := file.Docs[0].Body.(*ast.SequenceNode)
	if !ok {
		return nil, fmt.Errorf("it is not a list; write every element on a line that begins with a dash")
	}
	root := &templateNode{role: fragment}
	if err := root.addList(list, 0); err != nil {
		return nil, err
	}
	if len(root.children) == 0 && root.mode == "" {
		return nil, fmt.Errorf("it names no element, so every page matches it")
	}
	if len(root.children) == 1 && (root.mode == "" || root.mode == "contain") {
		root = root.children[0]
	}
	return &Template{root}, nil
}

// errorAt is an error about a node of the file.
func errorAt(n ast.Node, format string, args ...any) error {
	line := 0
	if token := n.GetToken(); token != nil {
		line = token.Position.Line
	}
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

func (t *templateNode) addList(list *ast.SequenceNode, depth int) error {
	if depth > maxTemplateDepth {
		return errorAt(list, "lists are nested more than %d deep", maxTemplateDepth)
	}
	for _, item := range list.Values {
		var err error
		switch item := item.(type) {
		case *ast.MappingNode:
			for _, entry := range item.Values {
				if err = t.addEntry(entry, depth); err != nil {
					return err
				}
			}
		case *ast.MappingValueNode:
			err = t.addEntry(item, depth)
		default:
			text, ok := scalar(item)
			if !ok {
				return errorAt(item, "an item must be an element, such as heading \"Cart\"")
			}
			var child *templateNode
			if child, err = parseKey(item, text); err == nil {
				t.children = append(t.children, child)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scalar returns the text of a scalar.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func (t *templateNode) addEntry(entry *ast.MappingValueNode, depth int) error {
	key, ok := scalar(entry.Key)
	if !ok {
		return errorAt(entry, "a key must be an element, such as heading \"Cart\"")
	}
	value, isScalar := scalar(entry.Value)
	if key == "text" || strings.HasPrefix(key, "/") {
		if !isScalar {
			return errorAt(entry, "%s needs a text", key)
		}
		return t.addProperty(entry, key, value)
	}
	child, err := parseKey(entry, key)
	if err != nil {
		return err
	}
	t.children = append(t.children, child)
	if list, ok := entry.Value.(*ast.SequenceNode); ok {
		return child.addList(list, depth+1)
	}
	if !isScalar {
		return errorAt(entry, "after %q: expected a text or a list", key+":")
	}
	text, err := expectedText(entry, value)
	child.children = []*templateNode{{text: text, line: "text: " + value}}
	child.line += ": " + value
	return err
}

// addProperty adds a text, or sets how children are compared or a property such as /url.
func (t *templateNode) addProperty(n ast.Node, key, value string) error {
	if key == "/children" {
		if !slices.Contains([]string{"contain", "equal", "deep-equal"}, value) {
			return errorAt(n, "/children: %q is not one of contain, equal, deep-equal", value)
		}
		t.mode = value
		return nil
	}
	text, err := expectedText(n, value)
	switch {
	case err != nil:
		return err
	case key == "text":
		t.children = append(t.children, &templateNode{text: text, line: "text: " + value})
	case key == "/url":
		t.url = text
	} // Playwright compares no other property
	return nil
}

// expectedText is a text, which between slashes may be a regular expression, too.
func expectedText(n ast.Node, raw string) (*expected, error) {
	e := &expected{raw: raw, normalized: normalize(raw)}
	if len(raw) > 1 && strings.HasPrefix(raw, "/") && strings.HasSuffix(raw, "/") {
		var err error
		if e.pattern, err = regexp.Compile(raw[1 : len(raw)-1]); err != nil {
			return nil, errorAt(n, "%s is not a regular expression that is supported: %v", raw, err)
		}
	}
	return e, nil
}

// parseKey reads role, name and states: heading "Cart" [level=1].
func parseKey(n ast.Node, text string) (*templateNode, error) {
	k := &keyReader{rest: strings.TrimFunc(text, isSpace)}
	t := &templateNode{role: k.word(), line: text}
	switch {
	case t.role == "text":
		return nil, errorAt(n, "text needs a text: write text: …")
	case !screen.IsRole(t.role) && t.role != "iframe" && t.role != fragment:
		return nil, errorAt(n, "%q does not begin with an ARIA role%s", text, suggestion(t.role))
	}
	var err error
	if t.name, err = k.name(); err != nil {
		return nil, errorAt(n, "%s: %v", text, err)
	}
	for k.cut("[") {
		s := state{name: k.word(), value: "true"}
		if k.cut("=") {
			end := strings.IndexFunc(k.rest, func(r rune) bool { return r == ']' || isSpace(r) })
			end = max(end, 0)
			s.value, k.rest = k.rest[:end], k.rest[end:]
		}
		if !k.cut("]") {
			return nil, errorAt(n, "%s: a ] is missing", text)
		}
		if !s.valid() {
			return nil, errorAt(n, "%s: [%s=%s] is not a state of an element", text, s.name, s.value)
		}
		if s.name != "active" { // Playwright does not compare it
			t.states = append(t.states, s)
		}
	}
	if k.rest != "" {
		return nil, errorAt(n, "%s: unexpected %q", text, k.rest)
	}
	return t, nil
}

func suggestion(role string) string {
	if hint := fault.DidYouMean(role, screen.Roles()); hint != "" {
		return "; " + hint
	}
	return ""
}

func (s state) valid() bool {
	isBool := s.value == "true" || s.value == "false"
	switch s.name {
	case "checked", "pressed":
		return isBool || s.value == "mixed"
	case "disabled", "expanded", "selected", "active":
		return isBool
	case "invalid":
		return isBool || s.value == "grammar" || s.value == "spelling"
	case "level":
		_, err := strconv.Atoi(s.value)
		return err == nil
	}
	return false
}

// keyReader reads a key from its beginning.
type keyReader struct{ rest string }

// cut removes prefix and white space around it.
func (k *keyReader) cut(prefix string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(k.rest, isSpace), prefix)
	if ok {
		k.rest = strings.TrimLeftFunc(rest, isSpace)
	}
	return ok
}

// word removes letters, and white space after them.
func (k *keyReader) word() string {
	end := strings.IndexFunc(k.rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(k.rest)
	}
	word := k.rest[:end]
	k.rest = strings.TrimLeftFunc(k.rest[end:], isSpace)
	return word
}

// name removes a name in quotes, or a regular expression between slashes. It is nil without one.
func (k *keyReader) name() (*expected, error) {
	switch {
	case strings.HasPrefix(k.rest, `"`):
		name, ok := k.quotedText()
		if !ok {
			return nil, fmt.Errorf("a quote is missing at the end of the name")
		}
		return &expected{raw: normalize(name), normalized: normalize(name)}, nil
	case strings.HasPrefix(k.rest, "/"):
		pattern, ok := k.regularExpression()
		if !ok {
			return nil, fmt.Errorf("a slash is missing at the end of the regular expression")
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("/%s/ is not a regular expression that is supported: %w", pattern, err)
		}
		return &expected{pattern: compiled, onlyPattern: true}, nil
	}
	return nil, nil
}

func (k *keyReader) quotedText() (string, bool) {
	var b strings.Builder
	escaped := false
	for i, r := range k.rest[1:] {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			k.rest = strings.TrimLeftFunc(k.rest[i+2:], isSpace)
			return b.String(), true
		default:
			b.WriteRune(r)
		}
	}
	return "", false
}

// regularExpression removes a regular expression between slashes. A slash in it is escaped, or in a character class.
func (k *keyReader) regularExpression() (string, bool) {
	escaped, inClass := false, false
	for i, r := range k.rest[1:] {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '[':
			inClass = true
		case r == ']':
			inClass = false
		case r == '/' && !inClass:
			pattern := k.rest[1 : i+1]
			k.rest = strings.TrimLeftFunc(k.rest[i+2:], isSpace)
			return pattern, true
		}
	}
	return "", false
}
