package screen

import (
	"fmt"
	"strconv"
	"strings"
)

// String describes what s selects, for messages. Example: button "Save" inside text "Row 2".
func (s *Selector) String() string {
	var words strings.Builder
	words.WriteString(s.Block.String())
	for _, r := range s.relations() {
		inner := r.selector.String()
		if len(r.selector.relations()) > 0 {
			inner = "(" + inner + ")"
		}
		words.WriteString(" " + relationWords(r.name) + " " + inner)
	}
	if s.Index != nil {
		words.WriteString(", index " + strconv.Itoa(*s.Index))
	}
	return words.String()
}

func relationWords(name string) string {
	switch name {
	case "leftOf":
		return "left of"
	case "rightOf":
		return "right of"
	case "childOf":
		return "inside"
	case "containsChild":
		return "with the child"
	case "containsDescendants":
		return "containing"
	}
	return name
}

// String describes what the block selects: a role or text, then the other conditions.
func (b *Block) String() string {
	if b == nil {
		return "element"
	}
	subject, rest := b.subject()
	for _, c := range rest {
		subject += " " + c.words()
	}
	return subject
}

// subject returns a phrase with the role and the name or text that the block requires, and its other conditions.
func (b *Block) subject() (subject string, rest []condition) {
	subject = "element"
	role := b.Text("ariaRole")
	if role != "" {
		subject = strings.ToLower(role)
	}
	name := "textRegex"
	if b.Dialect == Web {
		name = "ariaNameRegex"
	}
	for _, c := range b.conditions {
		switch {
		case c.name == "ariaRole":
		case c.name == name && (role != "" || b.Dialect == Web):
			subject += " " + c.pattern.words()
		case c.name == name:
			subject = "text " + c.pattern.words()
		default:
			rest = append(rest, c)
		}
	}
	return subject, rest
}

func (c *condition) words() string {
	switch c.name {
	case "cssSelector":
		return "at " + Visible(shorten(c.value, maxName))
	case "dataTestId":
		return "with data-testid " + quote(c.value)
	case "nthIndex":
		return "number " + strconv.Itoa(c.number) + " from 0"
	}
	switch c.kind {
	case patternKey:
		return "with " + strings.TrimSuffix(c.name, "Regex") + " " + c.pattern.words()
	case flagKey:
		if !c.on {
			return "with " + c.name + " false"
		}
		return "with " + c.name
	case numberKey:
		return fmt.Sprintf("with %s %d", c.name, c.number)
	case textKey, memberKey:
	}
	return "with " + c.name + " " + quote(c.value)
}

// words describes the texts that the pattern matches.
func (p *Pattern) words() string {
	if text, ok := p.Literal(); ok {
		return quote(text)
	}
	if text, ok := p.Contained(); ok {
		return "containing " + quote(text)
	}
	return "matching " + quote(p.raw)
}
