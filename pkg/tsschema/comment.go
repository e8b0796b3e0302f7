package tsschema

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// tag is a @name in a comment, with the text up to the next one.
type tag struct{ name, text string }

// describe returns the text of a comment, without the marks at its lines.
func describe(comment string) string {
	lines := strings.Split(strings.ReplaceAll(comment, "\r", ""), "\n")
	margin := -1
	for i, line := range lines {
		text := strings.TrimRight(line, " \t")
		if i > 0 {
			text = strings.TrimLeft(text, " \t")
			text = strings.TrimPrefix(text, "*")
		}
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		if margin < 0 && indent < len(text) && i > 0 {
			margin = indent
		}
		lines[i] = text[min(indent, max(margin, 0)):]
		if i == 0 {
			lines[i] = strings.TrimLeft(text, " \t")
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

var tagForm = lazyregexp.New(`(^|\s)@([A-Za-z]\w*)`)

// tagsOf splits a comment into what comes before the first tag, with its lines joined to paragraphs, and the tags.
func tagsOf(comment string) (description string, tags []tag) {
	text := describe(comment)
	at := tagForm().FindAllStringSubmatchIndex(text, -1)
	first := len(text)
	for i, m := range at {
		to := len(text)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		first = min(first, m[0])
		tags = append(tags, tag{text[m[4]:m[5]], strings.TrimSpace(text[m[1]:to])})
	}
	return paragraphs(strings.TrimSpace(text[:first])), tags
}

// paragraphs joins the lines of a text, but for empty ones and those of lists.
func paragraphs(text string) string {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i, line := range lines {
		switch {
		case i == 0:
		case lines[i-1] == "" || line == "" || line[0] == '*' || line[0] == '-':
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// annotate adds what a comment says to a schema. It returns the name of a tag that would change the type, or that this
// program cannot check: what it is about has no schema here.
func annotate(schema map[string]any, comment string) (unsupportedTag string) {
	if comment == "" {
		return ""
	}
	description, tags := tagsOf(comment)
	if description != "" {
		schema["description"] = description
	}
	var examples []any
	for _, t := range tags {
		switch {
		case slices.Contains([]string{"asType", "nullable", "ref", "discriminator", "hide", "hidden", "ignore", "required", "id"}, t.name),
			t.name == "pattern" && !isPattern(t.text):
			unsupportedTag = t.name
		case t.name == "example":
			if value, ok := parseValue(t.text); ok {
				examples = append(examples, value)
				schema["examples"] = examples
			}
		case slices.Contains([]string{"title", "description", "format", "pattern", "contentMediaType", "contentEncoding"}, t.name):
			schema[t.name] = t.text
		case t.name == "comment":
			schema["$comment"] = t.text
		case slices.Contains([]string{
			"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minProperties",
			"maxProperties", "minItems", "maxItems", "uniqueItems", "propertyNames", "contains", "const", "examples", "default", "if",
			"then", "else", "readOnly", "writeOnly", "deprecated",
		}, t.name):
			value := tagValue(t.text)
			if !isValueOf(t.name, value) {
				unsupportedTag = t.name
				continue
			}
			schema[t.name] = value
		}
	}
	return unsupportedTag
}

// isValueOf reports whether a keyword that constrains values can have a value. Others can have every value.
func isValueOf(keyword string, value any) bool {
	number, isNumber := value.(float64)
	_, isBool := value.(bool)
	_, isObject := value.(map[string]any)
	switch keyword {
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf":
		return isNumber
	case "minLength", "maxLength", "minProperties", "maxProperties", "minItems", "maxItems":
		return isNumber && number >= 0 && number == math.Trunc(number)
	case "uniqueItems":
		return isBool
	case "propertyNames", "contains", "if", "then", "else":
		return isBool || isObject
	}
	return true
}

// isPattern reports whether a regular expression of JavaScript is one of Go, too, by which arguments are checked.
func isPattern(text string) bool {
	_, err := regexp.Compile(text)
	return err == nil
}

// tagValue returns the value in the text of a tag; text that is not a literal is itself.
func tagValue(text string) any {
	if text == "" {
		return true
	}
	if value, ok := parseValue(text); ok {
		return value
	}
	return text
}

// parseValue reads a text that consists of a literal.
func parseValue(text string) (any, bool) {
	p := parser{tokens: lex(text)}
	value, ok := p.value(0)
	return value, ok && p.peek().kind == end
}
