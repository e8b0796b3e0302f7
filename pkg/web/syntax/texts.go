package syntax

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// TextQuery is what web_verifyTextVisible looks for: a text, or a match of a regular expression.
type TextQuery struct {
	text, Pattern string
	Options       map[string]any // of page.js
}

// ParseTextQuery reads the arguments text, pattern and exact.
func ParseTextQuery(args Arguments) (q TextQuery, err error) {
	q.text, q.Pattern = args.Text("text"), args.Text("pattern")
	switch hasText, hasPattern := args.Has("text"), args.Has("pattern"); {
	case hasText == hasPattern:
		err = fault.New(fault.InvalidArguments, "give one of text and pattern", "%s of text and pattern are given",
			map[bool]string{true: "both", false: "none"}[hasText])
	case hasText && IsBlank(q.text):
		err = fault.New(fault.InvalidArguments, "", "text is empty, and every page has that")
	case hasText:
		q.Options = map[string]any{"text": q.text, "exact": args.Flag("exact", false)}
	case args.Flag("exact", false):
		err = fault.New(fault.InvalidArguments, "write ^ and $ for the beginning and the end of an element's text",
			"exact says nothing about a pattern")
	default:
		q.Options, err = PatternOptions(q.Pattern)
	}
	return q, err
}

// String returns what is looked for in words, as the subject of a sentence.
func (q TextQuery) String() string {
	if q.Pattern != "" {
		return fmt.Sprintf("a text that matches %q", q.Pattern)
	}
	return fmt.Sprintf("%q", q.text)
}

// Target returns what messages call the text.
func (q TextQuery) Target() Target {
	if q.Pattern != "" {
		return NewTarget("%s", q)
	}
	t := byText(q.text)
	t.Selector.Text = "text " + t.Selector.Text
	if q.Options["exact"] == true {
		t.Selector.Text = "element with exactly the " + t.Selector.Text
	}
	return t
}

// WithinProperty is the argument of a check for the element in which a text is looked for.
func WithinProperty() string {
	return `"within": {"type": "object", "additionalProperties": false, "minProperties": 1,
		"description": "The only element that matches; just what is in it counts", "properties": {` + ElementReference() + "}}"
}

// WithinOf returns the target of the argument within; ok is false without one.
func WithinOf(args Arguments) (t Target, ok bool, err error) {
	if !args.Has("within") {
		return t, false, nil
	}
	given, _ := args["within"].(map[string]any)
	t, err = VerifiedElementOf(given)
	if known := fault.As(err); known != nil {
		err = fault.New(known.Kind, known.Hint, "within: %s", known.Message)
	}
	return t, true, err
}

// IsBlank reports whether page.js finds a text in every other: it ignores invisible characters.
func IsBlank(text string) bool {
	return strings.Trim(text, " \t\r\n\f\v\u00a0\u00ad\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"+
		"\u200a\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2066\u2067\u2068\u2069\u3000\ufeff") == ""
}

// PatternOptions returns the options of page.js for a regular expression that is found in a text: as it is written, and as
// scripts write it.
func PatternOptions(pattern string) (map[string]any, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fault.New(fault.InvalidArguments, "", "pattern: %v", err)
	}
	if expression.MatchString("") {
		return nil, fault.New(fault.InvalidArguments, "", "pattern %q matches an empty text, so it matches every text", pattern)
	}
	source, err := javaScriptOf(pattern)
	return map[string]any{"pattern": pattern, "expression": source}, err
}
