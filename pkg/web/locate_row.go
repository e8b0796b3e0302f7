package web

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
	// maxCheckedTexts is the number of texts in an element that are checked.
	maxCheckedTexts = 8
)

// byRow returns a selector with the role and the name of the element, if the name fits, inside of a row or list item
// with a text that no other has.
func (l *locator) byRow(fits func(name string) bool) candidate {
	return func(ctx context.Context) (map[string]any, []string, error) {
		is := roleAndName{l.node.RoleName(), l.node.Name()}
		if l.tree == nil || !fits(is.name) || !screen.IsRole(is.role) || screen.IsStructural(is.role) {
			return nil, nil, nil
		}
		for row := l.tree.Parent(l.node); row != nil; row = l.tree.Parent(row) {
			if !row.IsRow() {
				continue
			}
			for _, text := range l.rowTexts(row) {
				selector := inWeb(is.block())
				selector["childOf"] = containing(inWeb(map[string]any{"ariaRole": row.RoleName()}), text)
				found, err := l.unique(ctx, selector, is.name, text)
				if found != nil || err != nil {
					return found, slices.Concat(is.warnings(), rowWarnings(row, text)), err
				}
			}
		}
		return nil, nil, nil
	}
}

// rowWarnings says that a row is not found by something that it is called.
func rowWarnings(row *screen.Node, text string) []string {
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return []string{fmt.Sprintf("the %s is found by %q, which may change", row.RoleName(), text)}
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
	texts := textsOf(l.tree, row, l.node)
	slices.SortStableFunc(texts, func(a, b string) int { return len(rowWarnings(row, a)) - len(rowWarnings(row, b)) })
	return texts[:min(maxRowTexts, len(texts))]
}

// textsOf returns the texts of an element and in it, without those of controls and of except.
func textsOf(tree *screen.Tree, n, except *screen.Node) (texts []string) {
	add := func(text string) {
		if text != "" && !isLong(text) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(n.Content())
	for _, inner := range tree.Descendants(n) {
		role := inner.RoleName()
		isText := !screen.IsControl(role) || role == "link"
		if inner != except && isText && (role == "text" || role == "link" || len(inner.Children) == 0) {
			add(inner.Name())
			add(inner.Content())
		}
	}
	return texts
}

// isText reports whether people know the element by a text in it.
func (l *locator) isText() bool {
	return l.tree != nil && !screen.IsControl(l.node.RoleName()) && len(l.checkedTexts()) > 0
}

// checkedTexts are the texts that a check of the element is about.
func (l *locator) checkedTexts() []string {
	if name := l.node.Name(); name != "" {
		return []string{name}
	}
	texts := textsOf(l.tree, l.node, nil)
	return texts[:min(maxCheckedTexts, len(texts))]
}

// withText returns candidates that find the element only while it has its texts. The last ones do not, and say so.
func (l *locator) withText(list []candidate) []candidate {
	texts := l.checkedTexts()
	out := []candidate{l.containing(list, texts)}
	if len(texts) == 1 {
		is := roleAndName{l.node.RoleName(), texts[0]}
		by := func(selecting selecting) candidate {
			return func(ctx context.Context) (map[string]any, []string, error) {
				return l.byRoleAndName(ctx, is, selecting)
			}
		}
		out = []candidate{by(l.unique), out[0], by(l.indexed)}
	}
	for _, c := range list {
		out = append(out, func(ctx context.Context) (map[string]any, []string, error) {
			selector, warnings, err := c(ctx)
			return selector, append(warnings, fmt.Sprintf("the text of %s is not checked; check it with web_verifyTextVisible", l.node)), err
		})
	}
	return out
}

// containing returns the first selector of a list with the texts of the element added to it.
func (l *locator) containing(list []candidate, texts []string) candidate {
	return func(ctx context.Context) (map[string]any, []string, error) {
		for _, c := range list {
			selector, warnings, err := c(ctx)
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
