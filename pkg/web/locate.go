package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// script is evaluated in the isolated world of each document.
//
//go:embed page.js
var script string

// target says which element a call means (specification, section 15.1). One of spec, role or name, and ref is set.
type target struct {
	description string            // in words, as in: button "Save"
	spec        map[string]string // what page.js looks for
	role        string            // in the accessibility tree; empty for any
	name        *name             // nil for any
	ref         string            // e12
	nth         int               // which of several; negative for the first
	textOnly    bool              // spec is a text: controls of that very name come first
}

// name is what the accessible name of an element has to be.
type name struct {
	text    string
	pattern *regexp.Regexp // nil when the text is meant as it is
}

// elementOf reads ref and nodeSelector.
func elementOf(args arguments) (target, error) {
	web := args.object("nodeSelector").object("web")
	nth := int(web.number("nthIndex", -1))
	given := target{nth: nth}
	switch {
	case web.text("cssSelector") != "":
		given = byCSS(web.text("cssSelector"))
	case web.text("dataTestId") != "":
		id := web.text("dataTestId")
		given = target{description: fmt.Sprintf("element with data-testid %q", id), spec: map[string]string{"testId": id}}
	case web.text("ariaRole") != "" || web.text("ariaNameRegex") != "":
		given.role, given.description = strings.ToLower(web.text("ariaRole")), strings.ToLower(web.text("ariaRole"))
		if pattern := web.text("ariaNameRegex"); pattern != "" {
			given.name = newName(pattern)
			given.description = strings.TrimSpace(fmt.Sprintf("%s %q", given.description, given.name.text))
		}
	case args.text("ref") != "":
		given, nth = byRef(args.text("ref")), -1
	default:
		return target{}, fault.New(fault.InvalidArguments, "give ref, or nodeSelector.web with cssSelector, dataTestId or ariaRole",
			"nothing says which element is meant")
	}
	if given.nth = nth; nth >= 0 {
		given.description += fmt.Sprintf(" number %d", nth)
	}
	return given, nil
}

func byCSS(selector string) target {
	selector = strings.TrimSpace(strings.TrimPrefix(selector, "css="))
	return target{description: selector, spec: map[string]string{"css": selector}, nth: -1}
}

func byText(text string) target {
	text = strings.Join(strings.Fields(text), " ")
	return target{description: strconv.Quote(text), spec: map[string]string{"text": text}, name: &name{text: text}, textOnly: true, nth: -1}
}

var (
	refNumber = regexp.MustCompile(`^e[0-9]+$`)
	roleName  = regexp.MustCompile(`^([a-z]+) "((?:[^"\\]|\\.)*)"$`)
	escaped   = regexp.MustCompile(`\\(.)`)
)

// byRef reads the forms of ref.
func byRef(ref string) target {
	ref = strings.TrimSpace(ref)
	if strings.HasPrefix(ref, "css=") {
		return byCSS(ref)
	}
	if refNumber.MatchString(ref) {
		return target{description: ref, ref: ref, nth: -1}
	}
	if isRole(ref) {
		return target{description: ref, role: ref, nth: -1}
	}
	if m := roleName.FindStringSubmatch(ref); m != nil && isRole(m[1]) {
		return target{description: ref, role: m[1], name: &name{text: escaped.ReplaceAllString(m[2], "$1")}, nth: -1}
	}
	return byText(ref)
}

// isRole knows the roles of WAI-ARIA 1.2 and the graphics module.
func isRole(word string) bool {
	return slices.Contains(strings.Fields(`alert alertdialog application article banner blockquote button caption cell checkbox code
		columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic
		grid gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem
		menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row
		rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab table
		tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`), word)
}

// newName reads ariaNameRegex. What is no regular expression, or one that Go does not know, is meant as it is.
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

// matches compares with an accessible name. Browsers give names as they are styled, so a case that a style changed may not decide: what
// fits in another case counts, where nothing fits as it is.
func (n *name) matches(is string) (exactly, inAnotherCase bool) {
	if n == nil {
		return true, true
	}
	is = strings.Join(strings.Fields(is), " ")
	if is == n.text || n.pattern != nil && n.pattern.MatchString(is) {
		return true, true
	}
	return false, strings.EqualFold(is, n.text)
}

// axNode is a node of the accessibility tree, as far as looking for it needs.
type axNode struct {
	ID       string   `json:"nodeId"`
	Children []string `json:"childIds"`
	Ignored  bool     `json:"ignored"`
	Role     axValue  `json:"role"`
	Name     axValue  `json:"name"`
	Element  int      `json:"backendDOMNodeId"`
}

type axValue struct {
	Value any `json:"value"`
}

func (v axValue) text() string {
	text, _ := v.Value.(string)
	return text
}

// browserRoles are what Chrome calls elements of a role in its accessibility tree, where that is not the role itself.
func browserRoles(role string) []string {
	switch role {
	case "img":
		return []string{"image", "SvgRoot", "Canvas"}
	case "textbox":
		return []string{"textbox", "Date", "DateTime", "InputTime", "ColorWell"}
	}
	return []string{role}
}

// query finds nodes of a role, of a name as it is, or both, in document order.
func (f *frame) query(ctx context.Context, role, name string) ([]axNode, error) {
	nodes, err := f.queryTree(ctx, role, name)
	if _, refused := errors.AsType[*cdp.Error](err); refused {
		return nil, errGone // the document was replaced
	}
	return slices.DeleteFunc(nodes, func(n axNode) bool {
		is := n.Role.text()
		return n.Ignored || n.Element == 0 || role == "" && (is == "StaticText" || is == "RootWebArea") || role != "" && is != role ||
			name != "" && n.Name.text() != name
	}), err
}

// queryTree gets nodes from the browser, maybe more than were asked for. It finds them itself, for a tenth of what the whole tree costs in a
// long page, but only in frames that it draws: in others it would never answer.
func (f *frame) queryTree(ctx context.Context, role, name string) ([]axNode, error) {
	var answer struct {
		Nodes []axNode `json:"nodes"`
	}
	if f.parent != nil {
		err := f.session.Call(ctx, "Accessibility.getFullAXTree", map[string]any{"frameId": f.id}, &answer)
		return inOrder(answer.Nodes), err
	}
	root, err := f.handle(ctx, "root")
	if err != nil {
		return nil, err
	}
	defer root.release()
	params := map[string]any{"objectId": root.objectID}
	if role != "" {
		params["role"] = role
	}
	if name != "" {
		params["accessibleName"] = name
	}
	err = f.session.Call(ctx, "Accessibility.queryAXTree", params, &answer)
	return answer.Nodes, err
}

// inOrder brings the nodes of a tree, of which the first is the root, into document order.
func inOrder(nodes []axNode) []axNode {
	byID := make(map[string]axNode, len(nodes))
	for _, n := range nodes[min(1, len(nodes)):] {
		byID[n.ID] = n
	}
	ordered := make([]axNode, 0, len(nodes))
	for next := nodes[:min(1, len(nodes))]; len(next) > 0; {
		n := next[len(next)-1]
		next = next[: len(next)-1 : len(next)-1]
		ordered = append(ordered, n)
		for _, id := range slices.Backward(n.Children) {
			if child, ok := byID[id]; ok {
				delete(byID, id)
				next = append(next, child)
			}
		}
	}
	return ordered
}

// byRole finds the elements of a role and a name. named are the names of that role, when nothing fits.
func (f *frame) byRole(ctx context.Context, role string, n *name) (found []axNode, named []string, err error) {
	for _, r := range browserRoles(role) {
		if n != nil && n.pattern == nil { // what the browser can filter costs half
			if found, err = f.query(ctx, r, n.text); err != nil || len(found) > 0 {
				return found, nil, err
			}
		}
		nodes, err := f.query(ctx, r, "")
		if err != nil {
			return nil, nil, err
		}
		found, near, names := n.filter(nodes)
		if len(found) == 0 {
			found = near
		}
		if len(found) > 0 {
			return found, nil, nil
		}
		named = append(named, names...)
	}
	return nil, named, nil
}

// filter sorts nodes into those whose name fits, those for which that is so in another case, and the names of the rest.
func (n *name) filter(nodes []axNode) (found, near []axNode, rest []string) {
	for _, node := range nodes {
		exactly, nearly := n.matches(node.Name.text())
		switch {
		case exactly:
			found = append(found, node)
		case nearly:
			near = append(near, node)
		case node.Name.text() != "":
			rest = append(rest, node.Name.text())
		}
	}
	return found, near, rest
}

// controlRoles are the roles of what a person can use, as section 15.1 numbers them always.
func controlRoles() []string {
	return []string{
		"button", "link", "textbox", "combobox", "searchbox", "checkbox", "radio", "switch", "tab", "menuitem", "option", "slider",
		"spinbutton", "Date", "DateTime", "InputTime", "ColorWell", "menuitemcheckbox", "menuitemradio", "listbox", "treeitem",
		"DisclosureTriangle",
	}
}

// controlsNamed finds the controls of a name. Those of the preferred roles come alone, if there are any.
func (f *frame) controlsNamed(ctx context.Context, name string, preferred []string) ([]axNode, error) {
	if name == "" {
		return nil, nil
	}
	nodes, err := f.query(ctx, "", name)
	of := func(roles []string) []axNode {
		return slices.DeleteFunc(slices.Clone(nodes), func(n axNode) bool { return !slices.Contains(roles, n.Role.text()) })
	}
	if best := of(preferred); len(best) > 0 {
		return best, err
	}
	return of(controlRoles()), err
}

// nearest are the candidates that somebody may have meant, quoted; the first few when none is near.
func nearest(asked string, candidates []string) string {
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	near := fault.Nearest(asked, candidates)
	for _, c := range candidates {
		a, b := strings.ToLower(asked), strings.ToLower(c)
		if len(near) < 5 && !slices.Contains(near, c) && a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a)) {
			near = append(near, c)
		}
	}
	if len(near) == 0 {
		near = candidates[:min(5, len(candidates))]
	}
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	return strings.Join(near, ", ")
}
