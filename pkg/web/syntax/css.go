package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// CheckCSS returns an error for a selector in the syntax of another tool, and for one that no browser accepts or that is
// cut off. What it does not know it accepts, because the browser decides.
func CheckCSS(selector string) error {
	invalid := func(format string, a ...any) error {
		a = append([]any{selector}, a...)
		return fault.New(fault.InvalidArguments, "write it as for document.querySelector", "%q is not a CSS selector: "+format, a...)
	}
	if found := foreignCSS().FindString(selector); found != "" {
		return invalid("%s is the syntax of another tool", strings.TrimSpace(found))
	}
	r := &cssReader{rest: selector}
	r.list(false)
	if r.problem == "" && r.rest != "" {
		r.fail(r.rest[:1] + " closes nothing: an opening bracket is missing before it")
	}
	if r.problem != "" {
		return invalid("%s", r.problem)
	}
	return nil
}

const cssEscape = `\\(?:[0-9a-fA-F]{1,6}[ \t\r\n\f]?|[^\r\n\f0-9a-fA-F]|$)`

// cssReader reads a selector up to its first mistake.
type cssReader struct {
	rest    string
	problem string
}

var (
	foreignCSS  = lazyregexp.New(`^(xpath|text|role|id|data-test-?id|data-test|internal:[a-z-]+)=|^\(?\.*//|^[^"']*\s>>\s`)
	cssSpace    = lazyregexp.New(`^(?:[ \t\r\n\f]|/\*(?s:.*?)\*/)+`)
	cssName     = lazyregexp.New(`^(?:--|-?(?:[a-zA-Z_]|[^\x00-\x7f]|` + cssEscape + `))(?:[\w-]|[^\x00-\x7f]|` + cssEscape + `)*`)
	cssString   = lazyregexp.New(`^(?:"(?:[^"\\\r\n\f]|\\(?s:.))*"|'(?:[^'\\\r\n\f]|\\(?s:.))*')`)
	cssOperator = lazyregexp.New(`^[~|^$*]?=`)
)

// foreignPseudoClasses are pseudo-classes of other tools.
func foreignPseudoClasses() []string {
	return []string{"contains", "eq", "gt", "has-text", "left-of", "lt", "nth-match", "right-of", "text", "text-is", "text-matches", "visible"}
}

func (r *cssReader) fail(problem string) {
	if r.problem == "" {
		r.problem = problem
	}
	r.rest = ""
}

// skip skips what a pattern matches, and returns it.
func (r *cssReader) skip(found string) string {
	r.rest = r.rest[len(found):]
	return found
}

func (r *cssReader) space() { r.skip(cssSpace().FindString(r.rest)) }

// next reports whether the selector goes on with one of some characters.
func (r *cssReader) next(characters string) bool {
	return r.rest != "" && strings.IndexByte(characters, r.rest[0]) >= 0
}

// list reads selectors that commas separate, up to the end or a closing bracket. Relative ones may begin with a
// combinator.
func (r *cssReader) list(relative bool) {
	for {
		r.complex(relative)
		if !r.next(",") {
			return
		}
		r.skip(",")
	}
}

// complex reads compound selectors with combinators between them.
func (r *cssReader) complex(relative bool) {
	r.space()
	if relative && r.next(">+~") {
		r.skip(r.rest[:1])
		r.space()
	}
	for {
		if !r.compound() {
			r.missing()
			return
		}
		r.space()
		switch {
		case r.rest == "" || r.next(",)]"):
			return
		case strings.HasPrefix(r.rest, "||"):
			r.skip("||")
		case r.next(">+~"):
			r.skip(r.rest[:1])
		}
		r.space()
	}
}

// missing says that a compound selector is missing here.
func (r *cssReader) missing() {
	switch {
	case r.problem != "":
	case r.rest == "" || r.next(",)"):
		r.fail("a part of it is empty")
	default:
		_, size := utf8.DecodeRuneInString(r.rest)
		r.fail(r.rest[:size] + " cannot be here")
	}
}

// compound reads selectors of one element, and reports whether there is one.
func (r *cssReader) compound() bool {
	found := r.typeName()
	for {
		switch {
		case r.next("#"):
			r.skip("#")
			r.name("behind #")
		case r.next("."):
			r.skip(".")
			r.name("behind a dot")
		case r.next("["):
			r.attribute()
		case r.next(":"):
			r.pseudo()
		case r.next("&"):
			r.skip("&")
		default:
			return found && r.problem == ""
		}
		found = true
	}
}

// typeName reads the name of an element with its namespace.
func (r *cssReader) typeName() bool {
	name := func() string {
		if r.next("*") {
			return r.skip("*")
		}
		return r.skip(cssName().FindString(r.rest))
	}
	found := name() != ""
	if r.next("|") && !strings.HasPrefix(r.rest, "||") {
		r.skip("|")
		if name() == "" {
			r.fail("a name is missing behind |")
		}
		return true
	}
	return found
}

func (r *cssReader) name(where string) string {
	name := r.skip(cssName().FindString(r.rest))
	if name == "" {
		r.fail("a name is missing " + where)
	}
	return name
}

// attribute reads [name="value"].
func (r *cssReader) attribute() {
	r.skip("[")
	r.space()
	if r.next("*") {
		r.skip("*")
	}
	if r.next("|") {
		r.skip("|")
	}
	r.name("behind [")
	if r.next("|") && !strings.HasPrefix(r.rest, "|=") {
		r.skip("|")
		r.name("behind |")
	}
	r.space()
	if operator := r.skip(cssOperator().FindString(r.rest)); operator != "" {
		r.space()
		if r.skip(cssString().FindString(r.rest)) == "" {
			if r.next(`"'`) {
				r.fail("the quote " + r.rest[:1] + " is not closed")
				return
			}
			if r.name("behind "+operator) != "" && !r.next(" \t\r\n\f]/") && r.rest != "" {
				r.fail("the value of an attribute needs quotes")
			}
		}
		r.space()
		r.skip(cssName().FindString(r.rest)) // i or s
		r.space()
	}
	r.closing("]", "[")
}

func (r *cssReader) closing(bracket, opening string) {
	switch {
	case r.problem != "":
	case r.next(bracket):
		r.skip(bracket)
	case r.rest == "":
		r.fail("the bracket " + opening + " is not closed")
	default:
		r.missing()
	}
}

// pseudo reads a pseudo-class or a pseudo-element. Only those whose arguments are selectors that all have to be valid
// are looked into.
func (r *cssReader) pseudo() {
	r.skip(r.rest[:1])
	if r.next(":") {
		r.skip(":")
	}
	name := strings.ToLower(r.name("behind a colon"))
	if slices.Contains(foreignPseudoClasses(), name) {
		r.fail(":" + name + " is the syntax of another tool")
	}
	if !r.next("(") {
		return
	}
	r.skip("(")
	switch name {
	case "not", "has":
		r.list(name == "has")
	default:
		r.balanced()
	}
	r.closing(")", "(")
}

// balanced skips everything up to the closing bracket of the one that was read.
func (r *cssReader) balanced() {
	for depth := 0; r.rest != ""; r.skip(r.rest[:1]) {
		switch c := r.rest[0]; {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return
		case c == ')':
			depth--
		case c == '\\' && len(r.rest) > 1:
			r.skip(`\`)
		case c == '"' || c == '\'':
			quoted := cssString().FindString(r.rest)
			if quoted == "" {
				r.fail("the quote " + string(c) + " is not closed")
				return
			}
			r.skip(quoted[1:])
		}
	}
}
