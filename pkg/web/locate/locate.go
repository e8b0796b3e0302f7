// Package locate chooses the selectors by which a recording names an element of a web page: by a test id, by role and
// name, by what is around it, by CSS, by its place among others. It says why one may find another element in a later
// replay.
//
// The package does not know browsers. Each selector is tried in the page, with the search that a replay makes, and only
// those that find this very element are returned.
package locate

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// maxSelectorName is the length of the longest name, in characters, that a selector has if there is another way.
const maxSelectorName = 80

// Page tries selectors in a page for one element. Selectors are written as the argument nodeSelector is. An error ends
// the choice, and is returned as it is.
type Page interface {
	// Place returns how many elements of all frames a selector matches, and the index of the element among them, from 0;
	// -1 when it is not one of them.
	Place(ctx context.Context, selector map[string]any) (total, index int, err error)
	// Finds reports whether a replay with a selector finds the element, which Place has just found with it. When a replay
	// does not, the page may have changed since, and an error says so.
	Finds(ctx context.Context, selector map[string]any) (bool, error)
	// BrowserName returns the ARIA role and the name of the element in the browser's accessibility tree; both are empty
	// when the tree does not have the element.
	BrowserName(ctx context.Context) (role, name string, err error)
	// HasSecret reports whether a recording would change a text, because a secret is in it.
	HasSecret(text string) bool
}

// Element is the element that selectors are chosen for.
type Element struct {
	Node    *screen.Node
	Tree    *screen.Tree // with Node; nil if nothing around it is known
	Facts   Facts
	Checked bool // it is checked by what it shows, so selectors with its texts come first
}

// Facts are what the page knows of an element. They can be read from what page.js returns, as JSON.
type Facts struct {
	TestID        string        // value of the attribute for test ids
	CountedTestID bool          // the same test id with another number is in the page
	ID            []CSSSelector // by an id that looks stable, or an attribute for the test ids of other tools
	CSS           []CSSSelector // others that are unique in the frame, best first
	Icon          []CSSSelector // by an icon that no other has, but may have later, such as that of a state
	Position      []CSSSelector // the shortest path that is unique in the frame; at most one
	Path          CSSSelector   // from the top of the document
	Card          struct {
		Heading   string        // its text; empty without a card
		Selectors []CSSSelector // which others like it match, too
	}
	Texts  []string      // texts in it
	Row    []string      // texts in the row that it is in
	Kind   []CSSSelector // its icon, its classes and its tag, which others have, too
	Record []CSSSelector // an element around it with the text that its record is known by, which others like it match, too
}

// CSSSelector is a CSS selector with the texts of the page that are in it.
type CSSSelector struct {
	Selector string
	Texts    []string
	Counts   bool // it counts elements
}

// block returns the selector as a nodeSelector has it.
func (s CSSSelector) block() map[string]any { return inWeb(map[string]any{"cssSelector": s.Selector}) }

// Best returns the selector that a recording names an element by. It is false when no selector finds the element. The
// number of elements that it matches is not set.
func Best(ctx context.Context, p Page, e Element) (best device.Candidate, found bool, err error) {
	l := &locator{Element: e, page: p, onlyOne: map[string]bool{}}
	for _, c := range l.candidates() {
		selector, warnings, err := c.find(ctx)
		if err != nil {
			return device.Candidate{}, false, err
		}
		if selector != nil {
			return device.Candidate{By: c.by, Selector: selector, Notes: warnings}, true, nil
		}
	}
	return device.Candidate{}, false, nil
}

// Candidates returns all selectors that find an element, best first, each once.
func Candidates(ctx context.Context, p Page, e Element) (list []device.Candidate, err error) {
	l := &locator{Element: e, page: p, onlyOne: map[string]bool{}}
	for _, c := range l.candidates() {
		selector, warnings, err := c.find(ctx)
		if err != nil {
			return nil, err
		}
		if selector == nil || device.HasSelector(list, selector) {
			continue
		}
		matches, err := l.matches(ctx, selector)
		if err != nil {
			return nil, err
		}
		list = append(list, device.Candidate{By: c.by, Selector: selector, Matches: matches, Notes: warnings})
	}
	return list, nil
}

// locator chooses selectors for an element.
type locator struct {
	Element

	page      Page
	inBrowser *roleAndName    // what browserName returned; nil before
	onlyOne   map[string]bool // what isOnlyOne returned
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
	const text = "a text in it"
	list := []candidate{
		{"test id", l.byTestID(false)},
		{name, l.byName(isConstant, l.unique)},
		{row, l.byRow(l.surroundings, isConstant)},
		{text, l.byText(isConstant)},
		{"id", l.byStableID},
		{name, l.byName(isChanging, l.unique)},
		{text, l.byText(isChanging)},
		{row, l.byRow(l.surroundings, isChanging)},
		{"attribute", l.byAttributes(false)},
		{name, l.byName(isLong, l.unique)},
		{"role in a row or part of the page", l.byRow(l.surroundings, isEmpty)},
		{row, l.byRow(l.record, func(name string) bool { return !isLong(name) })},
		{"icon, class or tag in a row or part of the page", l.byKind},
		{"icon", l.byIcon},
		{"attribute", l.byAttributes(true)},
		{"test id", l.byTestID(true)},
		{"place in a row or part of the page", l.byPlaceInRow},
		{place, l.byName(isConstant, l.selectByIndex)},
		{place, l.byName(isChanging, l.selectByIndex)},
		{place, l.byName(isLong, l.selectByIndex)},
		{"position", l.byPosition},
		{"position", l.byPath},
	}
	if l.Checked && l.isText() {
		return l.withText(list)
	}
	return list
}

// byTestID returns a selector with the test id, if that counts elements or not.
func (l *locator) byTestID(counted bool) finder {
	return func(ctx context.Context) (selector map[string]any, warnings []string, err error) {
		if l.Facts.TestID == "" || l.Facts.CountedTestID != counted {
			return nil, nil, nil
		}
		if counted {
			warnings = []string{fmt.Sprintf("%s is found by a test id that counts, which may change", l.Node)}
		}
		selector, err = l.unique(ctx, inWeb(map[string]any{"dataTestId": l.Facts.TestID}), l.Facts.TestID)
		return selector, warnings, err
	}
}

// inWeb returns the selector with a block for web pages.
func inWeb(block map[string]any) map[string]any { return map[string]any{"web": block} }

func (l *locator) byStableID(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.Facts.ID)
}

func (l *locator) byIcon(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.Facts.Icon)
}

// byAttributes returns a selector with attributes, if they have a number of data or not.
func (l *locator) byAttributes(numbered bool) finder {
	var list []CSSSelector
	for _, css := range l.Facts.CSS {
		if (css.number() != "") == numbered {
			list = append(list, css)
		}
	}
	return func(ctx context.Context) (map[string]any, []string, error) { return l.byCSS(ctx, list) }
}

// dataAttribute is an attribute with data of the app, and loneNumber a number that is not part of a word.
var (
	dataAttribute = lazyregexp.New(`\[(value|href)=`)
	loneNumber    = lazyregexp.New(`(^|[^\pL\pN])\pN+([^\pL\pN]|$)`)
)

// number returns the text of an attribute that a database may have numbered, such as 3 or /orders/3; empty without one.
func (s CSSSelector) number() string {
	last := len(s.Texts) - 1 // of the attribute with data
	if last < 0 || !dataAttribute().MatchString(s.Selector) || !loneNumber().MatchString(s.Texts[last]) {
		return ""
	}
	return s.Texts[last]
}

func (l *locator) byPosition(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.Facts.Position)
}

// byCSS returns the first selector that matches nothing else in any frame.
func (l *locator) byCSS(ctx context.Context, selectors []CSSSelector) (map[string]any, []string, error) {
	for _, css := range selectors {
		selector, err := l.unique(ctx, css.block(), css.Texts...)
		if err != nil || selector != nil {
			return selector, l.warnings(css), err
		}
	}
	return nil, nil, nil
}

func (l *locator) byPath(ctx context.Context) (map[string]any, []string, error) {
	selector, err := l.selectByIndex(ctx, l.Facts.Path.block(), l.Facts.Path.Texts...)
	return selector, slices.Concat(l.warnings(l.Facts.Path), l.indexWarnings(selector)), err
}

func (l *locator) warnings(css CSSSelector) []string {
	if number := css.number(); number != "" {
		return []string{fmt.Sprintf("%s is found by %q, which contains digits and may change; a test id does not", l.Node, number)}
	}
	if !css.Counts {
		return nil
	}
	return []string{fmt.Sprintf("%s is found by its position in the page, which may change", l.Node)}
}

// indexWarnings says that a selector counts elements.
func (l *locator) indexWarnings(selector map[string]any) []string {
	block, _ := selector["web"].(map[string]any)
	if index, ok := block["nthIndex"].(int); ok {
		return []string{fmt.Sprintf("%s is number %d of several with this selector, which may change", l.Node, index+1)}
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
		shown := roleAndName{l.Node.RoleName(), l.Node.Name()}
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
		return nameMayChange(is.name), nil
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
		list = append(list, nameMayChange(is.name)[0]+"; "+does)
	} else if words != "" {
		counts[0] += "; " + words + " does not"
	}
	return append(list, counts...), nil
}

// nameMayChange warns of a name that has what changes, or is long; nil for any other.
func nameMayChange(name string) []string {
	switch what := screen.MayChange(name); {
	case what != "":
		return []string{fmt.Sprintf("the name %q contains %s and may change", name, what)}
	case isLong(name):
		return []string{fmt.Sprintf("the name %q is long and may change", name)}
	}
	return nil
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
	steady := slices.DeleteFunc(l.surroundings(), func(s surrounding) bool { return screen.MayChange(s.text) != "" })
	if found, _, err := l.selectInside(ctx, steady, selector, is.name); found != nil || err != nil {
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
	if l.inBrowser == nil {
		role, name, err := l.page.BrowserName(ctx)
		if err != nil {
			return roleAndName{}, err
		}
		l.inBrowser = &roleAndName{role, strings.Join(strings.Fields(name), " ")}
	}
	return *l.inBrowser, nil
}

// unique returns selector if it matches only the element in all frames, else nil. texts are what of the page is in it.
func (l *locator) unique(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, error) {
	total, index, err := l.place(ctx, selector, texts...)
	if err != nil || total != 1 || index < 0 {
		return nil, err
	}
	return l.confirm(ctx, selector)
}

// place is Page.Place for a selector that a recording may have; others match nothing.
func (l *locator) place(ctx context.Context, selector map[string]any, texts ...string) (total, index int, err error) {
	if l.hasSecret(selector, texts) {
		return 0, -1, nil
	}
	return l.page.Place(ctx, selector)
}

// selectByIndex is like unique, but when a selector without relations matches several elements, it returns the selector
// with the index of the element.
func (l *locator) selectByIndex(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, error) {
	total, index, err := l.place(ctx, selector, texts...)
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

// confirm returns selector if a replay with it finds the element, else nil.
func (l *locator) confirm(ctx context.Context, selector map[string]any) (map[string]any, error) {
	if found, err := l.page.Finds(ctx, selector); !found || err != nil {
		return nil, err
	}
	return selector, nil
}

// matches returns how many elements a selector matches without its index.
func (l *locator) matches(ctx context.Context, selector map[string]any) (int, error) {
	selector = maps.Clone(selector)
	delete(selector, "index")
	block, _ := selector["web"].(map[string]any)
	if _, indexed := block["nthIndex"]; indexed {
		block = maps.Clone(block)
		delete(block, "nthIndex")
		selector["web"] = block
	}
	total, _, err := l.page.Place(ctx, selector)
	return total, err
}

// hasSecret reports whether a recording would change selector, because a secret is in it or in one of texts.
func (l *locator) hasSecret(selector map[string]any, texts []string) bool {
	return slices.ContainsFunc(append(textsIn(selector), texts...), l.page.HasSecret)
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
