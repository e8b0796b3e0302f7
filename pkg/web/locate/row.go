package locate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

const (
	// maxRowTexts is the number of texts in a row by which it is told from others.
	maxRowTexts = 6
	// maxNeighbours is the number of texts before an element by which it is looked for.
	maxNeighbours = 3
	// maxCheckedTexts is the number of texts in an element that are checked.
	maxCheckedTexts = 8
	// maxCounted is the number of elements that are counted in a row at most: what has more is a part of the page.
	maxCounted = 12
)

// byRow returns a selector with the role and the name of the element, if the name fits, inside of something around it
// that is known by a text.
func (l *locator) byRow(around func() []surrounding, fits func(name string) bool) finder {
	return func(ctx context.Context) (map[string]any, []string, error) {
		is := roleAndName{l.Node.RoleName(), l.Node.Name()}
		if !fits(is.name) || !hasMeaning(is.role) {
			return nil, nil, nil
		}
		found, outer, err := l.selectInside(ctx, around(), inWeb(is.block()), is.name)
		if found == nil || err != nil {
			return nil, nil, err
		}
		warnings, err := l.nameWarnings(ctx, is, found)
		return found, slices.Concat(warnings, outer), err
	}
}

// hasMeaning reports whether role says what an element is.
func hasMeaning(role string) bool { return screen.IsRole(role) && !screen.IsStructural(role) }

// byText returns a selector with the role, a class or the tag of an element that is neither a control nor an editor and has
// no role with a name, and a text in it that fits.
func (l *locator) byText(fits func(text string) bool) finder {
	return func(ctx context.Context) (map[string]any, []string, error) {
		role := l.Node.RoleName()
		named := l.Node.Name() != "" && !isLong(l.Node.Name()) && hasMeaning(role) // a row is called by all its cells
		if l.Tree == nil || l.Node.Editable || screen.IsControl(role) || screen.IsPassing(role) || named {
			return nil, nil, nil
		}
		texts := textsOf(l.Tree, l.Node, nil, l.Facts.Texts...)
		for _, text := range append(texts, l.Node.Name()) {
			if !fits(text) {
				continue
			}
			found, err := l.kindWith(ctx, text)
			if found != nil || err != nil {
				return found, l.warningsOf(text), err
			}
		}
		return nil, nil, nil
	}
}

// kindWith returns a selector with the role, a class or the tag of the element and a text in it.
func (l *locator) kindWith(ctx context.Context, text string) (map[string]any, error) {
	if role := l.Node.RoleName(); screen.IsRole(role) {
		found, err := l.unique(ctx, containing(inWeb(map[string]any{"ariaRole": role}), text), text)
		if found != nil || err != nil {
			return found, err
		}
	}
	for _, css := range l.Facts.Kind {
		kind := css.block()
		found, err := l.unique(ctx, containing(kind, text), append(css.Texts, text)...)
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// warningsOf says why a text in the element may be another one later.
func (l *locator) warningsOf(text string) []string {
	if what := screen.MayChange(text); what != "" {
		return []string{fmt.Sprintf("%s is found by %q, which contains %s and may change", l.Node, text, what)}
	}
	return nil
}

// byKind returns a selector with the icon, a class or the tag of an element without a role or without a name, inside of
// something around it that is known by a text.
func (l *locator) byKind(ctx context.Context) (map[string]any, []string, error) {
	if hasMeaning(l.Node.RoleName()) && l.Node.Name() != "" {
		return nil, nil, nil
	}
	around := slices.Concat(l.surroundings(), l.record())
	for _, css := range l.Facts.Kind {
		found, warnings, err := l.selectInside(ctx, around, css.block(), css.Texts...)
		if found != nil || err != nil {
			return found, warnings, err
		}
	}
	return nil, nil, nil
}

// selectInside returns selector with the condition that the element is inside of one of around. It is nil if no such
// selector finds the element. What is around a part of the page with several such elements has them, too.
func (l *locator) selectInside(
	ctx context.Context, around []surrounding, selector map[string]any, texts ...string,
) (found map[string]any, warnings []string, err error) {
	hasSeveral := false
	for _, outer := range around {
		if hasSeveral && outer.inTree {
			continue
		}
		inside := maps.Clone(selector)
		inside["childOf"] = outer.selector
		total, index, err := l.place(ctx, inside, slices.Concat(texts, outer.texts, []string{outer.text})...)
		switch {
		case err != nil || index < 0:
		case total == 1:
			found, err = l.confirm(ctx, inside)
		case outer.inTree:
			hasSeveral, err = l.isOnlyOne(ctx, outer)
		}
		if found != nil || err != nil {
			return found, textWarnings(outer.what, outer.text), err
		}
	}
	return nil, nil, nil
}

// isOnlyOne reports whether one element in all frames is selected as something around the element is.
func (l *locator) isOnlyOne(ctx context.Context, outer surrounding) (bool, error) {
	key := fmt.Sprint(outer.selector)
	if only, known := l.onlyOne[key]; known {
		return only, nil
	}
	total, _, err := l.page.Place(ctx, outer.selector)
	l.onlyOne[key] = total == 1
	return total == 1, err
}

// byPlaceInRow returns a selector that counts the elements like this one in its record, or in something else around it
// that is known by a text.
func (l *locator) byPlaceInRow(ctx context.Context) (map[string]any, []string, error) {
	for _, outer := range slices.Concat(l.record(), l.surroundings()) {
		if only, err := l.isOnlyOne(ctx, outer); err != nil {
			return nil, nil, err
		} else if !only {
			continue // one may be around others
		}
		for _, like := range l.alike() {
			inside := like.selector
			inside["childOf"] = outer.selector
			found, index, err := l.counted(ctx, inside, slices.Concat(like.texts, outer.texts, []string{outer.text})...)
			if found != nil || err != nil {
				counts := fmt.Sprintf("%s is number %d of several in the %s %q, which may change", l.Node, index+1, outer.what, outer.text)
				return found, slices.Concat(nameMayChange(like.text), textWarnings(outer.what, outer.text), []string{counts}), err
			}
		}
	}
	return nil, nil, nil
}

// alike returns selectors for the element and others like it: by its role and name, else by its icon, its classes, its
// role and at last its tag.
func (l *locator) alike() (list []surrounding) {
	is := roleAndName{l.Node.RoleName(), l.Node.Name()}
	if hasMeaning(is.role) && is.name != "" {
		return []surrounding{{selector: inWeb(is.block()), text: is.name, texts: []string{is.name}}}
	}
	for _, css := range l.Facts.Kind {
		list = append(list, surrounding{selector: css.block(), texts: css.Texts})
	}
	if hasMeaning(is.role) {
		list = slices.Insert(list, max(0, len(list)-1), surrounding{selector: inWeb(is.block())})
	}
	return list
}

// counted returns selector with the index of the element among several that it matches; nil if it is not one of them.
func (l *locator) counted(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, int, error) {
	total, index, err := l.place(ctx, selector, texts...)
	if err != nil || index < 0 || total < 2 || total > maxCounted {
		return nil, 0, err
	}
	selector["index"] = index
	found, err := l.confirm(ctx, selector)
	return found, index, err
}

// surrounding is something around an element that is known by a text: a row, list item or record with it, a part of the
// page with this name, or a card with this heading.
type surrounding struct {
	selector   map[string]any
	what, text string
	texts      []string // others of the page that are in the selector
	inTree     bool     // it is around all that was found before it
}

// surroundings returns what is around the element, the innermost first, and cards last.
func (l *locator) surroundings() (list []surrounding) {
	if l.Tree == nil {
		return nil
	}
	for outer := l.Tree.Parent(l.Node); outer != nil; outer = l.Tree.Parent(outer) {
		role := outer.RoleName()
		if outer.IsRow() || screen.IsPassing(role) {
			for _, text := range l.rowTexts(outer) {
				list = append(list, surrounding{containing(inWeb(map[string]any{"ariaRole": role}), text), role, text, nil, true})
			}
		}
		if isNamedPart(outer) {
			list = append(list, surrounding{inWeb(roleAndName{role, outer.Name()}.block()), role, outer.Name(), nil, true})
		}
	}
	heading := roleAndName{"heading", l.Facts.Card.Heading}
	for _, css := range l.Facts.Card.Selectors {
		card := css.block()
		card["containsDescendants"] = []any{inWeb(heading.block())}
		list = append(list, surrounding{card, "card", heading.name, css.Texts, false})
	}
	return list
}

// record returns ways to select the record of the element: what is around it with the text that tells it from others,
// unless that is its own label.
func (l *locator) record() (list []surrounding) {
	if l.Node.Record == nil {
		return nil
	}
	known := l.Node.Record.Known
	if isLong(known) || known == l.Node.Name() {
		return nil
	}
	for _, css := range l.Facts.Record {
		around := containing(css.block(), known)
		list = append(list, surrounding{around, "record", known, css.Texts, false})
	}
	return list
}

// isNamedPart reports whether an element is a row, a control such as the handle of a card, or a part of the page, that
// people know by its name.
func isNamedPart(n *screen.Node) bool {
	if n.Name() == "" || isLong(n.Name()) {
		return false
	}
	parts := []string{"alertdialog", "dialog", "form", "group", "radiogroup", "region", "tabpanel"}
	return n.IsRow() || screen.IsControl(n.RoleName()) || slices.Contains(parts, n.RoleName())
}

// selectBeside returns selector with the condition that the element is the first one below, or on the right of, a text
// that stands before it; nil if no such selector finds it.
func (l *locator) selectBeside(ctx context.Context, selector map[string]any, texts ...string) (map[string]any, error) {
	if l.Tree == nil {
		return nil, nil
	}
	nodes := l.Tree.Nodes()
	before := nodes[:max(0, slices.Index(nodes, l.Node))]
	tries := 0
	for _, n := range slices.Backward(before) {
		role, name := n.RoleName(), n.Name()
		if name == "" {
			name = n.Content()
		}
		if screen.IsControl(role) || len(n.Children) > 0 || name == "" || isLong(name) || screen.MayChange(name) != "" {
			continue
		}
		if tries++; tries > maxNeighbours {
			break
		}
		for _, side := range []string{"below", "rightOf"} {
			near := maps.Clone(selector)
			near[side], near["index"] = inWeb(map[string]any{"ariaNameRegex": screen.ExactPattern(name)}), 0
			if found, err := l.unique(ctx, near, append(texts, name)...); found != nil || err != nil {
				return found, err
			}
		}
	}
	return nil, nil
}

// textWarnings says that what is around an element is not found by something that it is called.
func textWarnings(what, text string) []string {
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return []string{fmt.Sprintf("the %s is found by %q, which may change", what, text)}
	}
	return nil
}

// containing returns selector with the condition that texts are in the element.
func containing(selector map[string]any, texts ...string) map[string]any {
	var inside []any
	for _, text := range texts {
		inside = append(inside, inWeb(map[string]any{"ariaNameRegex": screen.ExactPattern(text)}))
	}
	selector = maps.Clone(selector)
	selector["containsDescendants"] = inside
	return selector
}

// rowTexts returns texts in a row that may tell it from others: those with letters first, else in their order.
func (l *locator) rowTexts(row *screen.Node) []string {
	texts := textsOf(l.Tree, row, l.Node, l.Facts.Row...)
	slices.SortStableFunc(texts, func(a, b string) int { return len(textWarnings("", a)) - len(textWarnings("", b)) })
	return texts[:min(maxRowTexts, len(texts))]
}

// textsOf returns the texts of an element and in it, without those of controls, of editors and of except, and then more.
func textsOf(tree *screen.Tree, n, except *screen.Node, more ...string) (texts []string) {
	add := func(text string) {
		if text != "" && !isLong(text) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(n.Content())
	values := map[*screen.Node]bool{} // what editors hold
	for _, inner := range tree.Descendants(n) {
		if values[inner] {
			continue
		}
		if inner.Editable {
			for _, value := range tree.Descendants(inner) {
				values[value] = true
			}
			continue
		}
		role := inner.RoleName()
		isText := !screen.IsControl(role) || role == "link"
		if inner != except && isText && (role == "text" || role == "link" || len(inner.Children) == 0) {
			add(inner.Name())
			add(inner.Content())
		}
	}
	for _, text := range more {
		add(text)
	}
	return texts
}

// isText reports whether people know the element by a text in it.
func (l *locator) isText() bool {
	return l.Tree != nil && !screen.IsControl(l.Node.RoleName()) && len(l.checkedTexts()) > 0
}

// checkedTexts are the texts that a check of the element is about.
func (l *locator) checkedTexts() []string {
	if name := l.Node.Name(); name != "" {
		return []string{name}
	}
	texts := textsOf(l.Tree, l.Node, nil)
	return texts[:min(maxCheckedTexts, len(texts))]
}

// withText returns candidates that find the element only while it has its texts. The last ones do not, and say so.
func (l *locator) withText(list []candidate) []candidate {
	texts := l.checkedTexts()
	out := []candidate{{"its texts", l.containing(list, texts)}}
	if len(texts) == 1 {
		is := roleAndName{l.Node.RoleName(), texts[0]}
		by := func(selecting selecting) finder {
			return func(ctx context.Context) (map[string]any, []string, error) {
				return l.byRoleAndName(ctx, is, selecting)
			}
		}
		out = []candidate{{"role and text", by(l.unique)}, out[0], {"role, text and place among others", by(l.selectByIndex)}}
	}
	for _, c := range list {
		out = append(out, candidate{c.by, func(ctx context.Context) (map[string]any, []string, error) {
			selector, warnings, err := c.find(ctx)
			return selector, append(warnings, fmt.Sprintf("the text of %s is not checked; check it with web_verifyTextVisible", l.Node)), err
		}})
	}
	return out
}

// containing returns the first selector of a list with the texts of the element added to it.
func (l *locator) containing(list []candidate, texts []string) finder {
	return func(ctx context.Context) (map[string]any, []string, error) {
		for _, c := range list {
			selector, warnings, err := c.find(ctx)
			if err != nil {
				return nil, nil, err
			}
			if selector == nil || selector["containsDescendants"] != nil {
				continue
			}
			found, err := l.unique(ctx, containing(selector, texts...), texts...)
			if found != nil || err != nil {
				return found, warnings, err
			}
		}
		return nil, nil, nil
	}
}
