package syntax

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Target describes the element that a call is for (specification, section 15.1). One of these is set: spec, role or
// name, ref, related.
type Target struct {
	Selector act.Selector
	Spec     map[string]string // what page.js finds
	Role     string            // in the accessibility tree; empty for any
	Name     *ElementName      // nil for any
	Ref      string            // e12, or f1e12 in a frame
	Text     bool              // spec is a text: controls with exactly this name come first
	Related  *screen.Selector  // with relations, and without its index
	Ignored  []string          // which arguments and properties of the selector do not count

	Exhaustive bool             // everything in related counts, not only the property that decides
	also       *screen.Selector // selects the element, too; may be nil
}

// withIndex returns the target with an index, or unchanged if the index is negative.
func (t Target) withIndex(index int, argument string) Target {
	if index >= 0 {
		t.Selector.Indexed, t.Selector.Index, t.Selector.IndexName = true, index, argument
	}
	return t
}

// Selectors returns the selectors that have to select the element; at least one if the target has relations.
func (t Target) Selectors() []*screen.Selector {
	if t.also == nil {
		return []*screen.Selector{t.Related}
	}
	return []*screen.Selector{t.Related, t.also}
}

// NewTarget returns a target that messages call what the format says. It has no conditions yet.
func NewTarget(format string, args ...any) Target {
	return Target{Selector: act.Selector{Text: fmt.Sprintf(format, args...)}}
}

// ElementOf returns the target of the arguments nodeSelector and ref. It reads only the arguments, not the page.
func ElementOf(args Arguments) (Target, error) {
	selector := &screen.Selector{}
	if args.Has("nodeSelector") {
		var err error
		if selector, err = screen.ParseSelector(args["nodeSelector"], screen.ParseOptions{}); err != nil {
			return Target{}, err
		}
	}
	t, ok, err := BySelector(selector)
	switch {
	case ok && besideSelector(args) != "":
		t.Ignored = append(t.Ignored, "ref is ignored beside nodeSelector")
		return t, err
	case ok || err != nil:
		return t, err
	case strings.TrimSpace(args.Text("ref")) != "":
		t, err = ByRef(args.Text("ref"))
		if !selector.Empty() {
			t.Ignored = append(t.Ignored, "nodeSelector is ignored beside ref, because it has no cssSelector, dataTestId or ariaRole")
		}
		return t, err
	case selector.Block != nil && selector.Block.Dialect != screen.Web:
		return Target{}, errNoElement(fmt.Sprintf("nodeSelector.%s matches nothing on a web page; give nodeSelector.web or ref",
			selector.Block.Dialect))
	}
	return Target{}, errNoElement("give ref, or nodeSelector.web with cssSelector, dataTestId or ariaRole")
}

// BySelector returns the target of a selector; ok is false for one without conditions for web pages.
func BySelector(s *screen.Selector) (t Target, ok bool, err error) {
	if s.HasRelations() {
		t, err = byRelations(s)
		return t, err == nil, err
	}
	web := s.Block
	if web == nil || web.Dialect != screen.Web {
		return Target{}, false, nil
	}
	switch {
	case web.Text("cssSelector") != "":
		if err := CheckCSS(web.Text("cssSelector")); err != nil {
			return Target{}, false, err
		}
		t = ByCSS(web.Text("cssSelector"))
	case web.Text("dataTestId") != "":
		t = NewTarget("element with data-testid %q", web.Text("dataTestId"))
		t.Spec = map[string]string{"testId": web.Text("dataTestId")}
	case web.Text("ariaRole") != "" || web.Pattern("ariaNameRegex") != nil:
		if t, err = byRoleAndName(web.Text("ariaRole"), web.Pattern("ariaNameRegex")); err != nil {
			return Target{}, false, err
		}
	default:
		return Target{}, false, nil
	}
	t.Ignored = ignoredProperties(s)
	if index, ok := web.Number("nthIndex"); ok {
		return t.withIndex(index, "nthIndex"), true, nil
	}
	if s.Index != nil {
		return t.withIndex(*s.Index, "index"), true, nil
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

// besideSelector returns the argument ref as it counts beside a selector. A reference like e12 does not: recordings
// keep that of the session in which they were made.
func besideSelector(args Arguments) string {
	ref := strings.TrimSpace(args.Text("ref"))
	if screen.IsReference(ref) || frameRef().MatchString(ref) {
		return ""
	}
	return ref
}

// VerifiedElementOf is ElementOf for an assertion, in which everything that is written counts.
func VerifiedElementOf(args Arguments) (Target, error) {
	t, err := ElementOf(args)
	if err != nil || len(t.Ignored) == 0 && t.Related == nil {
		return t, err
	}
	selector, err := screen.ParseSelector(args["nodeSelector"], screen.ParseOptions{})
	if err != nil {
		return t, err
	}
	if selector.Block == nil && t.Related == nil { // index alone
		t.Ignored = nil
		return t.withIndex(*selector.Index, "index"), nil
	}
	if t, err = byRelations(selector); err != nil {
		return t, err
	}
	t.Exhaustive = true
	if ref := besideSelector(args); ref != "" {
		t.Selector.Text += " that is " + ref
		t.also, err = refSelector(ref)
	}
	return t, err
}

// refSelector returns a selector for the elements that the argument ref names.
func refSelector(ref string) (*screen.Selector, error) {
	t, err := ByRef(ref)
	if err != nil {
		return nil, err
	}
	block := map[string]any{}
	switch {
	case t.Text:
		block["ariaNameRegex"] = `(?i)[\s\S]*` + regexp.QuoteMeta(t.Name.Text) + `[\s\S]*`
	case t.Spec != nil:
		block["cssSelector"] = t.Spec["css"]
	default:
		block["ariaRole"] = t.Role
		if t.Name != nil {
			block["ariaNameRegex"] = regexp.QuoteMeta(t.Name.Text)
		}
	}
	return screen.ParseSelector(map[string]any{"web": block}, screen.ParseOptions{})
}

// byRelations returns the target of a selector with relations.
func byRelations(s *screen.Selector) (Target, error) {
	for _, b := range s.Blocks() {
		if b.Dialect != screen.Web {
			return Target{}, fault.New(fault.InvalidArguments, "give web blocks only",
				"nodeSelector.%s matches nothing on a web page", b.Dialect)
		}
		if css := b.Text("cssSelector"); css != "" {
			if err := CheckCSS(css); err != nil {
				return Target{}, err
			}
		}
	}
	t := NewTarget("%s", s)
	if s.Index == nil {
		t.Related = s
		return t, nil
	}
	all := *s
	all.Index = nil
	t = NewTarget("%s", &all)
	t.Related = &all
	return t.withIndex(*s.Index, "index"), nil
}

// byRoleAndName returns the target with an ARIA role, a name, or both.
func byRoleAndName(role string, pattern *screen.Pattern) (Target, error) {
	role = strings.ToLower(role)
	if role != "" && !screen.IsRole(role) {
		return Target{}, fault.New(fault.InvalidArguments, fault.DidYouMean(role, screen.Roles()),
			"nodeSelector.web.ariaRole: %q is not an ARIA role", role)
	}
	t := NewTarget("%s", role)
	t.Role = role
	if pattern != nil {
		t.Name = NewElementName(pattern)
		t.Selector.Text = strings.TrimSpace(fmt.Sprintf("%s %q", role, t.Name.Text))
	}
	return t, nil
}

func errNoElement(hint string) error {
	return fault.New(fault.InvalidArguments, hint, "no argument says which element is meant")
}

// CoreTarget reads text, id and index.
func CoreTarget(args Arguments) (Target, error) {
	text, id := strings.TrimSpace(args.Text("text")), args.Text("id")
	t := byText(text)
	switch {
	case text == "" && id == "":
		return Target{}, errNoElement("give text, id or both")
	case id != "":
		t = NewTarget("element with id %q", id)
		t.Spec = map[string]string{"id": id}
		if text != "" {
			t.Spec["text"] = text
			t.Selector.Text += fmt.Sprintf(" and text %q", text)
		}
	}
	return t.withIndex(int(args.Number("index", -1)), "index"), nil
}

// ByCSS returns the target with a CSS selector, which may begin with css=.
func ByCSS(selector string) Target {
	selector = strings.TrimSpace(strings.TrimPrefix(selector, "css="))
	t := NewTarget("%s", selector)
	t.Spec = map[string]string{"css": selector}
	return t
}

func byText(text string) Target {
	text = strings.Join(strings.Fields(text), " ")
	t := NewTarget("%q", text)
	t.Spec, t.Name, t.Text = map[string]string{"text": text}, &ElementName{Text: text}, true
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

// AbsentElementOf is VerifiedElementOf for an assertion that passes when nothing matches. It refuses a text that looks
// like a selector, because nothing on the page has that.
func AbsentElementOf(args Arguments) (Target, error) {
	t, err := VerifiedElementOf(args)
	if err == nil && t.Text && likeSelector().MatchString(t.Name.Text) {
		return t, fault.New(fault.InvalidArguments,
			"write css= before a CSS selector, as in css=#x; check that a text is not visible with web_verifyTextNotVisible",
			"ref: %q is read as a text, and looks like a selector", t.Name.Text)
	}
	return t, err
}

// CountedElementOf returns the target whose elements are counted, which cannot be one element by its position.
func CountedElementOf(args Arguments) (Target, error) {
	t, err := VerifiedElementOf(args)
	switch {
	case err != nil:
		return t, err
	case t.Ref != "":
		return t, fault.New(fault.InvalidArguments, "name the elements with nodeSelector, or by their role",
			"%s is one element, which is not counted", t.Ref)
	case t.Selector.Indexed:
		return t, fault.New(fault.InvalidArguments, "leave out "+t.Selector.IndexName,
			"%s chooses one element, which is not counted", t.Selector.IndexName)
	}
	return t, nil
}

// MatchesOf returns the target of the arguments selector and ref, of which all elements count that match, or with an index
// the one at that place.
func MatchesOf(args Arguments) (Target, error) {
	switch {
	case args.Has("selector") && args.Has("ref"):
		return Target{}, fault.New(fault.InvalidArguments, "leave out one of them", "selector and ref cannot be used together")
	case args.Has("selector"):
		return selectedBy("selector", args["selector"])
	case !args.Has("ref"):
		return Target{}, errNoElement("give selector, or ref")
	}
	t, err := ByRef(args.Text("ref"))
	if err == nil && t.Ref != "" {
		err = fault.New(fault.InvalidArguments, "give selector, or a role or text as ref", "ref: %s is one element of a snapshot", t.Ref)
	}
	return t, err
}

// RuleTarget returns the target whose elements a rule counts, or with an index the one at that place.
func RuleTarget(r device.Rule) (Target, error) { return selectedBy(r.Path, r.Selector) }

// selectedBy returns the target of a selector, of which everything counts. Messages name it by path.
func selectedBy(path string, selector any) (Target, error) {
	t, err := VerifiedElementOf(Arguments{"nodeSelector": selector})
	if known := fault.As(err); known != nil {
		renamed := *known
		renamed.Message = strings.ReplaceAll(known.Message, "nodeSelector", path)
		renamed.Hint = strings.ReplaceAll(strings.ReplaceAll(known.Hint, "give ref, or nodeSelector", "give nodeSelector"), "nodeSelector", path)
		return t, &renamed
	}
	return t, err
}

// ByRef returns the target of the argument ref: css=SELECTOR, a reference, a role, role "name", or a text.
func ByRef(ref string) (Target, error) {
	ref = strings.TrimSpace(ref)
	t := NewTarget("%s", ref)
	role := roleName().FindStringSubmatch(ref)
	if role != nil && (screen.IsRole(strings.ToLower(role[1])) || lowerCase().MatchString(ref)) {
		role[1] = strings.ToLower(role[1])
	} else {
		role = nil // a text
	}
	switch {
	case strings.HasPrefix(ref, "css="):
		return ByCSS(ref), CheckCSS(strings.TrimSpace(strings.TrimPrefix(ref, "css=")))
	case screen.IsReference(ref), frameRef().MatchString(ref):
		t.Ref = ref
	case screen.IsRole(ref):
		t.Role = ref
	case role != nil && !screen.IsRole(role[1]):
		return Target{}, fault.New(fault.InvalidArguments, fault.DidYouMean(role[1], screen.Roles()),
			"ref: %q is not an ARIA role", role[1])
	case role != nil:
		t.Role, t.Name = role[1], &ElementName{Text: escapedRune().ReplaceAllString(role[2]+role[3], "$1")}
	case foreignRef().MatchString(ref):
		hint := "write css=SELECTOR, role \"name\", a role, or a text"
		if strings.Contains(ref, ">>") {
			hint += "; an element in another one is a nodeSelector with childOf"
		}
		return Target{}, fault.New(fault.InvalidArguments, hint, "ref: %q is the syntax of another tool", ref)
	default:
		return byText(ref), nil
	}
	return t, nil
}

// ElementName is what the accessible name of an element has to be.
type ElementName struct {
	Text    string
	Pattern *screen.Pattern // nil when only text matches
}

// NewElementName returns the name for ariaNameRegex.
func NewElementName(pattern *screen.Pattern) *ElementName {
	if literal, ok := pattern.Literal(); ok {
		return &ElementName{Text: strings.Join(strings.Fields(literal), " ")}
	}
	return &ElementName{Text: pattern.String(), Pattern: pattern}
}

// Is reports whether an accessible name is the text of n itself, which may match it as a pattern, too.
func (n *ElementName) Is(name string) bool {
	return n != nil && FoldName(strings.Join(strings.Fields(name), " ")) == FoldName(n.Text)
}

// Matches compares n with an accessible name. Browsers return names as changed by style sheets (PAY for Pay), so a name
// in another case is used if none matches exactly.
func (n *ElementName) Matches(name string) (exactly, inAnotherCase bool) {
	if n == nil {
		return true, true
	}
	name = strings.Join(strings.Fields(name), " ")
	folded, wanted := FoldName(name), FoldName(n.Text)
	if folded == wanted || n.Pattern != nil && (n.Pattern.Matches(name) || n.Pattern.Matches(folded)) {
		return true, true
	}
	return false, strings.EqualFold(folded, wanted)
}

// FoldName returns a name in Unicode's composed form, without characters for private use, which icon fonts draw.
func FoldName(name string) string {
	if visible := screen.WithoutIcons(name); visible != "" {
		name = visible
	}
	return norm.NFC.String(name)
}
