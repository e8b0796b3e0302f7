package web

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// target describes the element that a call is for (specification, section 15.1). One of these is set: spec, role or
// name, ref, related.
type target struct {
	selector act.Selector
	spec     map[string]string // what page.js finds
	role     string            // in the accessibility tree; empty for any
	name     *name             // nil for any
	ref      string            // e12, or f1e12 in a frame
	text     bool              // spec is a text: controls with exactly this name come first
	related  *screen.Selector  // with relations, and without its index
	ignored  []string          // which arguments and properties of the selector do not count

	exhaustive bool             // everything in related counts, not only the property that decides
	also       *screen.Selector // selects the element, too; may be nil
}

// at returns the target with an index, or unchanged if the index is negative.
func (t target) at(index int, argument string) target {
	if index >= 0 {
		t.selector.Indexed, t.selector.Index, t.selector.IndexName = true, index, argument
	}
	return t
}

// selectors returns the selectors that have to select the element; at least one if the target has relations.
func (t target) selectors() []*screen.Selector {
	if t.also == nil {
		return []*screen.Selector{t.related}
	}
	return []*screen.Selector{t.related, t.also}
}

func newTarget(format string, args ...any) target {
	return target{selector: act.Selector{Text: fmt.Sprintf(format, args...)}}
}

// elementOf returns the target of the arguments nodeSelector and ref. It reads only the arguments, not the page.
func elementOf(args arguments) (target, error) {
	selector := &screen.Selector{}
	if args.has("nodeSelector") {
		var err error
		if selector, err = screen.ParseSelector(args["nodeSelector"], screen.ParseOptions{}); err != nil {
			return target{}, err
		}
	}
	t, ok, err := bySelector(selector)
	switch {
	case ok && besideSelector(args) != "":
		t.ignored = append(t.ignored, "ref is ignored beside nodeSelector")
		return t, err
	case ok || err != nil:
		return t, err
	case strings.TrimSpace(args.text("ref")) != "":
		t, err = byRef(args.text("ref"))
		if !selector.Empty() {
			t.ignored = append(t.ignored, "nodeSelector is ignored beside ref, because it has no cssSelector, dataTestId or ariaRole")
		}
		return t, err
	case selector.Block != nil && selector.Block.Dialect != screen.Web:
		return target{}, errNoElement(fmt.Sprintf("nodeSelector.%s matches nothing on a web page; give nodeSelector.web or ref",
			selector.Block.Dialect))
	}
	return target{}, errNoElement("give ref, or nodeSelector.web with cssSelector, dataTestId or ariaRole")
}

// bySelector returns the target of a selector; ok is false for one without conditions for web pages.
func bySelector(s *screen.Selector) (t target, ok bool, err error) {
	if s.HasRelations() {
		t, err = byRelations(s)
		return t, err == nil, err
	}
	web := s.Block
	if web == nil || web.Dialect != screen.Web {
		return target{}, false, nil
	}
	switch {
	case web.Text("cssSelector") != "":
		if err := syntax.CheckCSS(web.Text("cssSelector")); err != nil {
			return target{}, false, err
		}
		t = byCSS(web.Text("cssSelector"))
	case web.Text("dataTestId") != "":
		t = newTarget("element with data-testid %q", web.Text("dataTestId"))
		t.spec = map[string]string{"testId": web.Text("dataTestId")}
	case web.Text("ariaRole") != "" || web.Pattern("ariaNameRegex") != nil:
		if t, err = byRoleAndName(web.Text("ariaRole"), web.Pattern("ariaNameRegex")); err != nil {
			return target{}, false, err
		}
	default:
		return target{}, false, nil
	}
	t.ignored = ignoredProperties(s)
	if index, ok := web.Number("nthIndex"); ok {
		return t.at(index, "nthIndex"), true, nil
	}
	if s.Index != nil {
		return t.at(*s.Index, "index"), true, nil
	}
	return t, true, nil
}

// ignoredProperties says which properties of a selector without relations do not count because another one decides.
func ignoredProperties(s *screen.Selector) []string {
	has := func(property string) bool {
		_, number := s.Block.Number(property)
		return number || s.Block.Text(property) != ""
	}
	deciding := []string{"cssSelector", "dataTestId", "ariaRole", "ariaNameRegex"}
	decides := deciding[slices.IndexFunc(deciding, has)]
	var ignored []string
	for _, property := range append(deciding, "ariaDescriptorRegex", "headingLevel") {
		named := decides == "ariaRole" && property == "ariaNameRegex"
		if has(property) && property != decides && !named {
			ignored = append(ignored, property)
		}
	}
	var out []string
	switch len(ignored) {
	case 0:
	case 1:
		out = append(out, ignored[0]+" is ignored beside "+decides)
	default:
		out = append(out, strings.Join(ignored, " and ")+" are ignored beside "+decides)
	}
	if s.Index != nil && has("nthIndex") {
		out = append(out, "index is ignored beside nthIndex")
	}
	return out
}

// besideSelector returns the argument ref as it counts beside a selector. A reference like e12 does not: recordings keep
// that of the session in which they were made.
func besideSelector(args arguments) string {
	ref := strings.TrimSpace(args.text("ref"))
	if screen.IsReference(ref) || frameRef().MatchString(ref) {
		return ""
	}
	return ref
}

// verifiedElementOf is elementOf for an assertion, in which everything that is written counts.
func verifiedElementOf(args arguments) (target, error) {
	t, err := elementOf(args)
	if err != nil || len(t.ignored) == 0 && t.related == nil {
		return t, err
	}
	selector, err := screen.ParseSelector(args["nodeSelector"], screen.ParseOptions{})
	if err != nil {
		return t, err
	}
	if selector.Block == nil && t.related == nil { // index alone
		t.ignored = nil
		return t.at(*selector.Index, "index"), nil
	}
	if t, err = byRelations(selector); err != nil {
		return t, err
	}
	t.exhaustive = true
	if ref := besideSelector(args); ref != "" {
		t.selector.Text += " that is " + ref
		t.also, err = refSelector(ref)
	}
	return t, err
}

// refSelector returns a selector for the elements that the argument ref names.
func refSelector(ref string) (*screen.Selector, error) {
	t, err := byRef(ref)
	if err != nil {
		return nil, err
	}
	block := map[string]any{}
	switch {
	case t.text:
		block["ariaNameRegex"] = `(?i)[\s\S]*` + regexp.QuoteMeta(t.name.text) + `[\s\S]*`
	case t.spec != nil:
		block["cssSelector"] = t.spec["css"]
	default:
		block["ariaRole"] = t.role
		if t.name != nil {
			block["ariaNameRegex"] = regexp.QuoteMeta(t.name.text)
		}
	}
	return screen.ParseSelector(map[string]any{"web": block}, screen.ParseOptions{})
}

// byRelations returns the target of a selector with relations.
func byRelations(s *screen.Selector) (target, error) {
	for _, b := range s.Blocks() {
		if b.Dialect != screen.Web {
			return target{}, fault.New(fault.InvalidArguments, "give web blocks only",
				"nodeSelector.%s matches nothing on a web page", b.Dialect)
		}
		if css := b.Text("cssSelector"); css != "" {
			if err := syntax.CheckCSS(css); err != nil {
				return target{}, err
			}
		}
	}
	t := newTarget("%s", s)
	if s.Index == nil {
		t.related = s
		return t, nil
	}
	all := *s
	all.Index = nil
	t = newTarget("%s", &all)
	t.related = &all
	return t.at(*s.Index, "index"), nil
}

// byRoleAndName returns the target with an ARIA role, a name, or both.
func byRoleAndName(role string, pattern *screen.Pattern) (target, error) {
	role = strings.ToLower(role)
	if role != "" && !screen.IsRole(role) {
		return target{}, fault.New(fault.InvalidArguments, fault.DidYouMean(role, screen.Roles()),
			"nodeSelector.web.ariaRole: %q is not an ARIA role", role)
	}
	t := newTarget("%s", role)
	t.role = role
	if pattern != nil {
		t.name = newName(pattern)
		t.selector.Text = strings.TrimSpace(fmt.Sprintf("%s %q", role, t.name.text))
	}
	return t, nil
}

func errNoElement(hint string) error {
	return fault.New(fault.InvalidArguments, hint, "no argument says which element is meant")
}

// coreTarget reads text, id and index.
func coreTarget(args arguments) (target, error) {
	text, id := strings.TrimSpace(args.text("text")), args.text("id")
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
	roleName    = lazyregexp.New(`^([A-Za-z]+) (?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$`)
	lowerCase   = lazyregexp.New(`^[a-z]+ "`)
	escapedRune = lazyregexp.New(`\\(.)`)
	frameRef    = lazyregexp.New(`^f[1-9][0-9]*e[1-9][0-9]*$`)
	foreignRef  = lazyregexp.New(`^(xpath|text|role|id|name|data-test-?id|data-test|internal:[a-z-]+)=|^\(?//|\s>>\s|` +
		`^(page\.)?(getBy[A-Z]\w*|locator)\(`)
)

// likeSelector is a text that is probably meant as a selector.
var likeSelector = lazyregexp.New(`^([#.][A-Za-z_][\w-]*|\[[^\]\s]+\]|[\w-]+=\S.*)$`)

// absentElementOf is verifiedElementOf for an assertion that passes when nothing matches. It refuses a text that looks
// like a selector, because nothing on the page has that.
func absentElementOf(args arguments) (target, error) {
	t, err := verifiedElementOf(args)
	if err == nil && t.text && likeSelector().MatchString(t.name.text) {
		return t, fault.New(fault.InvalidArguments,
			"write css= before a CSS selector, as in css=#x; check that a text is not visible with web_verifyTextNotVisible",
			"ref: %q is read as a text, and looks like a selector", t.name.text)
	}
	return t, err
}

// byRef returns the target of the argument ref: css=SELECTOR, a reference, a role, role "name", or a text.
func byRef(ref string) (target, error) {
	ref = strings.TrimSpace(ref)
	t := newTarget("%s", ref)
	role := roleName().FindStringSubmatch(ref)
	if role != nil && (screen.IsRole(strings.ToLower(role[1])) || lowerCase().MatchString(ref)) {
		role[1] = strings.ToLower(role[1])
	} else {
		role = nil // a text
	}
	switch {
	case strings.HasPrefix(ref, "css="):
		return byCSS(ref), syntax.CheckCSS(strings.TrimSpace(strings.TrimPrefix(ref, "css=")))
	case screen.IsReference(ref), frameRef().MatchString(ref):
		t.ref = ref
	case screen.IsRole(ref):
		t.role = ref
	case role != nil && !screen.IsRole(role[1]):
		return target{}, fault.New(fault.InvalidArguments, fault.DidYouMean(role[1], screen.Roles()),
			"ref: %q is not an ARIA role", role[1])
	case role != nil:
		t.role, t.name = role[1], &name{text: escapedRune().ReplaceAllString(role[2]+role[3], "$1")}
	case foreignRef().MatchString(ref):
		return target{}, fault.New(fault.InvalidArguments, "write css=SELECTOR, role \"name\", a role, or a text",
			"ref: %q is the syntax of another tool", ref)
	default:
		return byText(ref), nil
	}
	return t, nil
}

// name is what the accessible name of an element has to be.
type name struct {
	text    string
	pattern *screen.Pattern // nil when only text matches
}

// newName returns the name for ariaNameRegex.
func newName(pattern *screen.Pattern) *name {
	if literal, ok := pattern.Literal(); ok {
		return &name{text: strings.Join(strings.Fields(literal), " ")}
	}
	return &name{text: pattern.String(), pattern: pattern}
}

// matches compares n with an accessible name. Browsers return names as changed by style sheets (PAY for Pay), so a name
// in another case is used if none matches exactly.
func (n *name) matches(name string) (exactly, inAnotherCase bool) {
	if n == nil {
		return true, true
	}
	name = strings.Join(strings.Fields(name), " ")
	folded, wanted := foldName(name), foldName(n.text)
	if folded == wanted || n.pattern != nil && (n.pattern.Matches(name) || n.pattern.Matches(folded)) {
		return true, true
	}
	return false, strings.EqualFold(folded, wanted)
}

// foldName returns a name in Unicode's composed form, without characters for private use, which icon fonts draw.
func foldName(name string) string {
	if visible := screen.WithoutIcons(name); visible != "" {
		name = visible
	}
	return norm.NFC.String(name)
}
