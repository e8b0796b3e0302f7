package web

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// maxSelectorName is the length of the longest name, in characters, that a selector has if there is another way.
const maxSelectorName = 80

// locateTries is how often a selector is looked for in a page that may change meanwhile.
const locateTries = 3

// locator makes the selector by which a replay finds an element. Each selector is tried with the search that the replay
// makes, and the first one that finds this very element is taken.
type locator struct {
	search  *search // of the call
	node    *screen.Node
	element element
	tree    *screen.Tree // with node; nil if nothing around it is known
	facts   elementFacts
	mark    int // the number of its mark in page.js: 0 for the call that runs, else another for each locator

	inBrowser *roleAndName // what browserName returned; nil before
}

// elementFacts are what page.js knows of an element.
type elementFacts struct {
	TestID        string        // value of the attribute for test ids
	CountedTestID bool          // the same test id with another number is in the page
	ID            []cssSelector // by an id that looks stable, or an attribute for the test ids of other tools
	CSS           []cssSelector // others that are unique in the frame, best first
	Position      []cssSelector // the shortest path that is unique in the frame; at most one
	Path          cssSelector   // from the top of the document
	Card          struct {
		Heading   string        // its text; empty without a card
		Selectors []cssSelector // which others like it match, too
	}
}

// cssSelector is a CSS selector with the texts of the page that are in it.
type cssSelector struct {
	Selector string
	Texts    []string
	Counts   bool // it counts elements
}

// locate returns how a recording names the element. before is what an earlier try returned, or nil; it is kept while it
// finds the element. The result is nil if the frame of the element does not respond.
func (l *locator) locate(ctx context.Context, before *locatedElement) (*locatedElement, error) {
	marked := false
	err := l.element.frame.withinSlice(ctx, func(ctx context.Context) (err error) {
		marked, err = l.setMark(ctx)
		return err
	})
	if err != nil || !marked {
		return nil, err
	}
	if before != nil && before.key == l.node.Key {
		if found, err := l.finds(ctx, before.selector); found || err != nil {
			return before, err
		}
	}
	for _, candidate := range l.candidates() {
		selector, warnings, err := candidate.find(ctx)
		if err != nil {
			return nil, err
		}
		if selector != nil {
			args := map[string]any{"nodeSelector": selector}
			return &locatedElement{tool.Located{Args: args, Warnings: warnings}, selector, l.node.Key}, nil
		}
	}
	var connected bool
	if err := l.element.frame.eval(ctx, "isMarkedConnected", &connected, l.mark); err != nil {
		return nil, err
	}
	if l.search.unlocated++; !connected || l.search.unlocated < locateTries {
		return nil, errGone // the page changed meanwhile
	}
	return nil, fault.New(fault.ToolFailed, "name it by ref or nodeSelector, or give it a test id",
		"%s is %s, which no selector for a recording finds", l.search.target.Ref, l.node)
}

// finder returns a selector that finds the element, nil if it has none, and why the selector may find another element
// in a later replay.
type finder func(context.Context) (selector map[string]any, warnings []string, err error)

// candidate is a way to select an element; by says what it selects by.
type candidate struct {
	by   string
	find finder
}

// candidates returns the ways to select the element, best first: those that count elements come last.
func (l *locator) candidates() []candidate {
	const name, row, place = "role and name", "role and name in a row or part of the page", "role, name and place among others"
	list := []candidate{
		{"test id", l.byTestID(false)},
		{name, l.byName(isConstant, l.unique)},
		{row, l.byRow(isConstant)},
		{"id", l.byStableID},
		{name, l.byName(isChanging, l.unique)},
		{row, l.byRow(isChanging)},
		{"attribute", l.byAttributes},
		{name, l.byName(isLong, l.unique)},
		{"role in a row or part of the page", l.byRow(isEmpty)},
		{"test id", l.byTestID(true)},
		{place, l.byName(isConstant, l.selectByIndex)},
		{place, l.byName(isChanging, l.selectByIndex)},
		{place, l.byName(isLong, l.selectByIndex)},
		{"position", l.byPosition},
		{"position", l.byPath},
	}
	if l.search.check.name == "visible" && !l.search.acts && l.isText() {
		return l.withText(list)
	}
	return list
}

// setMark marks the element for the check "marked", and reads its facts.
func (l *locator) setMark(ctx context.Context) (marked bool, err error) {
	handle, err := l.search.page.resolveNode(ctx, l.element.frame, l.element.id)
	if err != nil {
		return false, err
	}
	defer handle.release()
	err = l.element.frame.eval(ctx, "mark", &l.facts, handle, l.mark)
	return err == nil, err
}

// removeMark forgets the mark.
func (l *locator) removeMark(ctx context.Context) {
	_ = l.element.frame.eval(ctx, "unmark", nil, l.mark) // a document that is gone has none
}

// byTestID returns a selector with the test id, if that counts elements or not.
func (l *locator) byTestID(counted bool) finder {
	return func(ctx context.Context) (selector map[string]any, warnings []string, err error) {
		if l.facts.TestID == "" || l.facts.CountedTestID != counted {
			return nil, nil, nil
		}
		if counted {
			warnings = []string{fmt.Sprintf("%s is found by a test id that counts, which may change", l.node)}
		}
		selector, err = l.unique(ctx, inWeb(map[string]any{"dataTestId": l.facts.TestID}), l.facts.TestID)
		return selector, warnings, err
	}
}

// inWeb returns the selector with a block for web pages.
func inWeb(block map[string]any) map[string]any { return map[string]any{"web": block} }

func (l *locator) byStableID(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.facts.ID)
}

func (l *locator) byAttributes(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.facts.CSS)
}

func (l *locator) byPosition(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.facts.Position)
}

// byCSS returns the first selector that matches nothing else in any frame.
func (l *locator) byCSS(ctx context.Context, selectors []cssSelector) (map[string]any, []string, error) {
	for _, css := range selectors {
		selector, err := l.unique(ctx, inWeb(map[string]any{"cssSelector": css.Selector}), css.Texts...)
		if err != nil || selector != nil {
			return selector, l.warnings(css), err
		}
	}
	return nil, nil, nil
}

func (l *locator) byPath(ctx context.Context) (map[string]any, []string, error) {
	selector, err := l.selectByIndex(ctx, inWeb(map[string]any{"cssSelector": l.facts.Path.Selector}), l.facts.Path.Texts...)
	return selector, slices.Concat(l.warnings(l.facts.Path), l.indexWarnings(selector)), err
}

func (l *locator) warnings(css cssSelector) []string {
	if !css.Counts {
		return nil
	}
	return []string{fmt.Sprintf("%s is found by its position in the page, which may change", l.node)}
}

// indexWarnings says that a selector counts elements.
func (l *locator) indexWarnings(selector map[string]any) []string {
	block, _ := selector["web"].(map[string]any)
	if index, ok := block["nthIndex"].(int); ok {
		return []string{fmt.Sprintf("%s is number %d of several with this selector, which may change", l.node, index+1)}
	}
	return nil
}

func isEmpty(name string) bool { return name == "" }

func isConstant(name string) bool { return name != "" && !isLong(name) && screen.MayChange(name) == "" }

func isChanging(name string) bool { return name != "" && !isLong(name) && screen.MayChange(name) != "" }

func isLong(name string) bool { return utf8.RuneCountInString(name) > maxSelectorName }

// selecting returns a selector that finds the element, made of one that may match others, too; nil if there is none.
type selecting func(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, error)

// byName returns a selector with the role and the name of the element, as the snapshot has them, if the name fits. If
// that does not find the element, it takes them from the browser's accessibility tree.
func (l *locator) byName(fits func(name string) bool, selecting selecting) finder {
	return func(ctx context.Context) (map[string]any, []string, error) {
		shown := roleAndName{l.node.RoleName(), l.node.Name()}
		if shown.name != "" && !fits(shown.name) {
			return nil, nil, nil
		}
		selector, warnings, err := l.byRoleAndName(ctx, shown, selecting)
		if selector != nil || err != nil {
			return selector, warnings, err
		}
		other, err := l.browserName(ctx)
		if err != nil || other == shown || !fits(other.name) {
			return nil, nil, err
		}
		return l.byRoleAndName(ctx, other, selecting)
	}
}

func (l *locator) byRoleAndName(ctx context.Context, is roleAndName, selecting selecting) (map[string]any, []string, error) {
	if is.name == "" || !screen.IsRole(is.role) {
		return nil, nil, nil
	}
	selector, err := selecting(ctx, inWeb(is.block()), is.name)
	if selector == nil || err != nil {
		return nil, nil, err
	}
	warnings, err := l.nameWarnings(ctx, is, selector)
	return selector, warnings, err
}

// roleAndName are an ARIA role and an accessible name.
type roleAndName struct{ role, name string }

func (n roleAndName) block() map[string]any {
	block := map[string]any{"ariaRole": n.role}
	if n.name != "" {
		block["ariaNameRegex"] = screen.ExactPattern(n.name)
	}
	return block
}

// nameWarnings says why a selector with a role and a name may find another element later, and which does not.
func (l *locator) nameWarnings(ctx context.Context, is roleAndName, selector map[string]any) (list []string, err error) {
	what, counts := screen.MayChange(is.name), l.indexWarnings(selector)
	if what == "" && len(counts) == 0 {
		if isLong(is.name) {
			list = []string{fmt.Sprintf("the name %q is long and may change", is.name)}
		}
		return list, nil
	}
	other, err := l.constant(ctx, is)
	if err != nil {
		return nil, err
	}
	words := ""
	if other != nil {
		words = "nodeSelector " + string(notes.Marshal(other))
	}
	if what != "" {
		does := "a test id does not, and without one only its position is left"
		if words != "" {
			does = "a test id, or " + words + " does not"
		}
		list = append(list, fmt.Sprintf("the name %q contains %s and may change; %s", is.name, what, does))
	} else if words != "" {
		counts[0] += "; " + words + " does not"
	}
	return append(list, counts...), nil
}

// constant returns a selector that finds the element whatever its position and the digits in its name are; nil if there
// is none.
func (l *locator) constant(ctx context.Context, is roleAndName) (map[string]any, error) {
	pattern := is.constant()
	if pattern == "" {
		return nil, nil
	}
	selector := inWeb(map[string]any{"ariaRole": is.role, "ariaNameRegex": pattern})
	if found, err := l.unique(ctx, selector, is.name); found != nil || err != nil {
		return found, err
	}
	steady := func(text string) bool { return screen.MayChange(text) == "" }
	if found, _, err := l.selectInside(ctx, selector, steady, is.name); found != nil || err != nil {
		return found, err
	}
	return l.selectBeside(ctx, selector, is.name)
}

// digits are what changes in a name such as Total 12.50.
var digits = lazyregexp.New(`\pN+([.,]\pN+)*`)

// constant returns a pattern for the name whatever the digits in it are; empty when that has no letters and would match
// every number, or when something else may change.
func (n roleAndName) constant() string {
	var parts []string
	for _, part := range digits().Split(n.name, -1) {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	if !strings.ContainsFunc(strings.Join(parts, ""), unicode.IsLetter) || len(parts) == 1 && screen.MayChange(n.name) != "" {
		return ""
	}
	return strings.Join(parts, `[\d.,]+`)
}

// browserName returns the role and the name of the element in the browser's accessibility tree, which it reads once.
func (l *locator) browserName(ctx context.Context) (roleAndName, error) {
	if l.inBrowser != nil {
		return *l.inBrowser, nil
	}
	var answer struct {
		Nodes []axNode `json:"nodes"`
	}
	err := l.element.frame.session.Call(ctx, "Accessibility.getPartialAXTree",
		map[string]any{"backendNodeId": l.element.id, "fetchRelatives": false}, &answer)
	if err != nil {
		return roleAndName{}, asGone(err)
	}
	l.inBrowser = &roleAndName{}
	for _, n := range answer.Nodes {
		if n.BackendNodeID == l.element.id && !n.Ignored {
			name := strings.Join(strings.Fields(n.Name.text()), " ")
			l.inBrowser = &roleAndName{screen.RoleOfBrowser(n.Role.text()), name}
		}
	}
	return *l.inBrowser, nil
}

// unique returns selector if it matches only the element in all frames, else nil. texts are what of the page is in it.
func (l *locator) unique(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, error) {
	if l.hasSecret(selector, texts) {
		return nil, nil
	}
	total, index, err := l.place(ctx, selector)
	if err != nil || total != 1 || index < 0 {
		return nil, err
	}
	return l.confirm(ctx, selector)
}

// selectByIndex is like unique, but when a selector without relations matches several elements, it returns the selector
// with the index of the element.
func (l *locator) selectByIndex(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, error) {
	if l.hasSecret(selector, texts) {
		return nil, nil
	}
	total, index, err := l.place(ctx, selector)
	if err != nil || index < 0 {
		return nil, err
	}
	if block, ok := selector["web"].(map[string]any); ok && total > 1 {
		block = maps.Clone(block)
		block["nthIndex"] = index
		selector = inWeb(block)
	}
	return l.confirm(ctx, selector)
}

// confirm returns selector if a replay with it finds the element, else nil. The error is errGone if the page probably
// changed since it was made.
func (l *locator) confirm(ctx context.Context, selector map[string]any) (map[string]any, error) {
	found, err := l.finds(ctx, selector)
	switch {
	case err != nil:
		return nil, err
	case found:
		return selector, nil
	}
	if l.search.unlocated++; l.search.unlocated < locateTries {
		return nil, errGone
	}
	return nil, nil
}

// hasSecret reports whether a recording would change selector, because a secret is in it or in one of texts.
func (l *locator) hasSecret(selector map[string]any, texts []string) bool {
	d := l.search.page.device
	changes := func(text string) bool {
		return d.notes.Redact(text) != text || d.session.Redact != nil && d.session.Redact(text) != text
	}
	return slices.ContainsFunc(append(textsIn(selector), texts...), changes)
}

// textsIn returns all texts in a selector.
func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case map[string]any:
		for _, inner := range v {
			texts = append(texts, textsIn(inner)...)
		}
	case []any:
		for _, inner := range v {
			texts = append(texts, textsIn(inner)...)
		}
	}
	return texts
}

// probe returns the search that a replay makes for selector. It finds its element ready if that is the marked one.
func (l *locator) probe(given map[string]any) (*search, error) {
	selector, err := screen.ParseSelector(given, screen.ParseOptions{})
	if err != nil {
		return nil, err
	}
	t, _, err := syntax.BySelector(selector)
	if err != nil {
		return nil, err
	}
	c := check{
		name: "marked", unique: l.search.check.unique, preferredRoles: l.search.check.preferredRoles,
		options: map[string]any{"mark": l.mark},
	}
	return l.search.page.search(t, c), nil
}

// finds reports whether a replay with selector finds the element.
func (l *locator) finds(ctx context.Context, selector map[string]any) (bool, error) {
	s, err := l.probe(selector)
	if err != nil {
		return false, err
	}
	o, err := s.find(ctx, 0)
	return err == nil && o.Ready && o.frame == l.element.frame, err
}

// place returns how many elements selector matches in all frames, and the place of the element among them; -1 when it
// is not one of them.
func (l *locator) place(ctx context.Context, selector map[string]any) (total, index int, err error) {
	s, err := l.probe(selector)
	if err != nil {
		return 0, -1, err
	}
	if err := s.captureRelated(ctx); err != nil {
		return 0, -1, err
	}
	index = -1
	for _, f := range s.page.frames() {
		count, at := 0, -1
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			count, at, err = s.placeIn(ctx, f, l)
			return err
		})
		if err != nil {
			return 0, -1, err
		}
		if at >= 0 {
			index = total + at
		}
		total += count
	}
	return total, index, nil
}

// placeIn returns how many elements of a frame match, and the place of that of l among them; -1 when it is not one of
// them.
func (s *search) placeIn(ctx context.Context, f *frame, l *locator) (count, index int, err error) {
	if s.target.Spec != nil {
		var found struct{ Count, Index int }
		err := f.eval(ctx, "placeOfMarked", &found, s.target.Spec, l.mark)
		if f != l.element.frame {
			found.Index = -1
		}
		return found.Count, found.Index, err
	}
	nodes, _, err := s.nodes(ctx, f)
	index = slices.IndexFunc(nodes, func(n axNode) bool { return n.BackendNodeID == l.element.id })
	if f != l.element.frame {
		index = -1
	}
	return len(nodes), index, err
}
