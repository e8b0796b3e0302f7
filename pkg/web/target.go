package web

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// target says which element a call means (specification, section 15.1). One of spec, role or name, and ref is set.
type target struct {
	selector act.Selector
	spec     map[string]string // what page.js finds
	role     string            // in the accessibility tree; empty for any
	name     *name             // nil for any
	ref      string            // e12
	text     bool              // spec is a text: controls with exactly this name come first
}

// at makes the target the one at an index, when that is not negative.
func (t target) at(index int, argument string) target {
	if index >= 0 {
		t.selector.Indexed, t.selector.Index, t.selector.IndexName = true, index, argument
	}
	return t
}

func newTarget(format string, args ...any) target {
	return target{selector: act.Selector{Text: fmt.Sprintf(format, args...)}}
}

// elementOf reads ref and nodeSelector.
func elementOf(args arguments) (target, error) {
	web := args.object("nodeSelector").object("web")
	index := int(web.number("nthIndex", -1))
	switch {
	case web.text("cssSelector") != "":
		return byCSS(web.text("cssSelector")).at(index, "nthIndex"), nil
	case web.text("dataTestId") != "":
		t := newTarget("element with data-testid %q", web.text("dataTestId"))
		t.spec = map[string]string{"testId": web.text("dataTestId")}
		return t.at(index, "nthIndex"), nil
	case web.text("ariaRole") != "" || web.text("ariaNameRegex") != "":
		t := newTarget("%s", strings.ToLower(web.text("ariaRole")))
		t.role = t.selector.Text
		if pattern := web.text("ariaNameRegex"); pattern != "" {
			t.name = newName(pattern)
			t.selector.Text = strings.TrimSpace(fmt.Sprintf("%s %q", t.role, t.name.text))
		}
		return t.at(index, "nthIndex"), nil
	case args.text("ref") != "":
		return byRef(args.text("ref")), nil
	}
	return target{}, errNoElement("give ref, or nodeSelector.web with cssSelector, dataTestId or ariaRole")
}

func errNoElement(hint string) error {
	return fault.New(fault.InvalidArguments, hint, "no argument says which element is meant")
}

// coreTarget reads text, id and index.
func coreTarget(args arguments) (target, error) {
	text, id := args.text("text"), args.text("id")
	t := byText(text)
	switch {
	case text == "" && id == "":
		return target{}, errNoElement("give text, id or both")
	case id != "":
		t = newTarget("element with id %q", id)
		t.spec = map[string]string{"id": id}
		if text != "" {
			t.spec["text"] = text
			t.selector.Text += fmt.Sprintf(" and text %q", text)
		}
	}
	return t.at(int(args.number("index", -1)), "index"), nil
}

func byCSS(selector string) target {
	selector = strings.TrimSpace(strings.TrimPrefix(selector, "css="))
	t := newTarget("%s", selector)
	t.spec = map[string]string{"css": selector}
	return t
}

func byText(text string) target {
	text = strings.Join(strings.Fields(text), " ")
	t := newTarget("%q", text)
	t.spec, t.name, t.text = map[string]string{"text": text}, &name{text: text}, true
	return t
}

var (
	refNumber  = regexp.MustCompile(`^e[0-9]+$`)
	roleName   = regexp.MustCompile(`^([a-z]+) "((?:[^"\\]|\\.)*)"$`)
	escapeRune = regexp.MustCompile(`\\(.)`)
)

// byRef reads the forms of ref.
func byRef(ref string) target {
	ref = strings.TrimSpace(ref)
	t := newTarget("%s", ref)
	role := roleName.FindStringSubmatch(ref)
	switch {
	case strings.HasPrefix(ref, "css="):
		return byCSS(ref)
	case refNumber.MatchString(ref):
		t.ref = ref
	case screen.IsRole(ref):
		t.role = ref
	case role != nil && screen.IsRole(role[1]):
		t.role, t.name = role[1], &name{text: escapeRune.ReplaceAllString(role[2], "$1")}
	default:
		return byText(ref)
	}
	return t
}

// name is what the accessible name of an element has to be.
type name struct {
	text    string
	pattern *regexp.Regexp // nil when only text matches
}

// newName reads ariaNameRegex. A text that is not a regular expression of Go matches itself.
func newName(pattern string) *name {
	n := &name{text: pattern}
	if inner, ok := strings.CutPrefix(pattern, `\Q`); ok && strings.Index(inner, `\E`) == len(inner)-2 {
		n.text = strings.TrimSuffix(inner, `\E`)
	}
	if regexp.QuoteMeta(n.text) != n.text && n.text == pattern {
		n.pattern, _ = regexp.Compile(`^(?s:` + pattern + `)$`)
	}
	n.text = strings.Join(strings.Fields(n.text), " ")
	return n
}

// matches compares with an accessible name. Browsers return names as a style sheet changed them (PAY for Pay), so a
// name in another case counts where none matches exactly.
func (n *name) matches(name string) (exactly, inAnotherCase bool) {
	if n == nil {
		return true, true
	}
	name = strings.Join(strings.Fields(name), " ")
	if name == n.text || n.pattern != nil && n.pattern.MatchString(name) {
		return true, true
	}
	return false, strings.EqualFold(name, n.text)
}

// quoted is a list of texts in quotes.
func quoted(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = strconv.Quote(text)
	}
	return list
}
