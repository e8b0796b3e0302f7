package web

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
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
	facts   elementFacts

	inBrowser *roleAndName // what browserName returned; nil before
}

// elementFacts are what page.js knows of an element.
type elementFacts struct {
	TestID string        // data-testid
	ID     []cssSelector // by an id that looks stable; at most one
	CSS    []cssSelector // others that are unique in the frame, best first
	Path   cssSelector   // from the top of the document
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
		marked, err = l.mark(ctx)
		return err
	})
	if err != nil || !marked {
		return nil, err
	}
	if before != nil && before.key == l.node.Key {
		if found, err := l.finds(ctx, before.block); found || err != nil {
			return before, err
		}
	}
	for _, candidate := range []func(context.Context) (map[string]any, []string, error){
		l.byTestID, l.byStableName, l.byStableID, l.byChangingName, l.byAttributes, l.byLongName, l.byPath,
	} {
		block, warnings, err := candidate(ctx)
		if err != nil {
			return nil, err
		}
		if block != nil {
			if index, ok := block["nthIndex"].(int); ok {
				warnings = append(warnings, fmt.Sprintf("%s is number %d of several with this selector, which may change", l.node, index+1))
			}
			args := map[string]any{"nodeSelector": map[string]any{"web": block}}
			return &locatedElement{tool.Located{Args: args, Warnings: warnings}, block, l.node.Key}, nil
		}
	}
	var connected bool
	if err := l.element.frame.eval(ctx, "isMarkedConnected", &connected); err != nil {
		return nil, err
	}
	if l.search.unlocated++; !connected || l.search.unlocated < locateTries {
		return nil, errGone // the page changed meanwhile
	}
	return nil, fault.New(fault.ToolFailed, "name it by ref or nodeSelector, or give it a data-testid",
		"%s is %s, which no selector for a recording finds", l.search.target.ref, l.node)
}

// mark marks the element for the check "marked", and reads its facts.
func (l *locator) mark(ctx context.Context) (marked bool, err error) {
	handle, err := l.search.page.resolveNode(ctx, l.element.frame, l.element.id)
	if err != nil {
		return false, err
	}
	defer handle.release()
	err = l.element.frame.eval(ctx, "mark", &l.facts, handle)
	return err == nil, err
}

func (l *locator) byTestID(ctx context.Context) (map[string]any, []string, error) {
	if l.facts.TestID == "" {
		return nil, nil, nil
	}
	block, err := l.unique(ctx, map[string]any{"dataTestId": l.facts.TestID}, l.facts.TestID)
	return block, nil, err
}

func (l *locator) byStableID(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.facts.ID)
}

func (l *locator) byAttributes(ctx context.Context) (map[string]any, []string, error) {
	return l.byCSS(ctx, l.facts.CSS)
}

// byCSS returns the first selector that matches nothing else in any frame.
func (l *locator) byCSS(ctx context.Context, selectors []cssSelector) (map[string]any, []string, error) {
	for _, css := range selectors {
		block, err := l.unique(ctx, map[string]any{"cssSelector": css.Selector}, css.Texts...)
		if err != nil || block != nil {
			return block, l.warnings(css), err
		}
	}
	return nil, nil, nil
}

func (l *locator) byPath(ctx context.Context) (map[string]any, []string, error) {
	block, err := l.indexed(ctx, map[string]any{"cssSelector": l.facts.Path.Selector}, l.facts.Path.Texts...)
	return block, l.warnings(l.facts.Path), err
}

func (l *locator) warnings(css cssSelector) []string {
	if !css.Counts {
		return nil
	}
	return []string{fmt.Sprintf("%s is found by its position in the page, which may change", l.node)}
}

func (l *locator) byStableName(ctx context.Context) (map[string]any, []string, error) {
	return l.byName(ctx, func(name string) bool { return !isLong(name) && screen.MayChange(name) == "" })
}

func (l *locator) byChangingName(ctx context.Context) (map[string]any, []string, error) {
	return l.byName(ctx, func(name string) bool { return !isLong(name) && screen.MayChange(name) != "" })
}

func (l *locator) byLongName(ctx context.Context) (map[string]any, []string, error) {
	return l.byName(ctx, isLong)
}

func isLong(name string) bool { return utf8.RuneCountInString(name) > maxSelectorName }

// byName returns a selector with the role and the name of the element, as the snapshot has them, if the name fits. If
// that does not find the element, it takes them from the browser's accessibility tree.
func (l *locator) byName(ctx context.Context, fits func(name string) bool) (map[string]any, []string, error) {
	shown := roleAndName{l.node.RoleName(), l.node.Name()}
	if shown.name != "" && !fits(shown.name) {
		return nil, nil, nil
	}
	block, warnings, err := l.byRoleAndName(ctx, shown)
	if block != nil || err != nil {
		return block, warnings, err
	}
	other, err := l.browserName(ctx)
	if err != nil || other == shown || !fits(other.name) {
		return nil, nil, err
	}
	return l.byRoleAndName(ctx, other)
}

func (l *locator) byRoleAndName(ctx context.Context, is roleAndName) (map[string]any, []string, error) {
	if is.name == "" || !screen.IsRole(is.role) {
		return nil, nil, nil
	}
	block := map[string]any{"ariaRole": is.role, "ariaNameRegex": screen.ExactPattern(is.name)}
	block, err := l.indexed(ctx, block, is.name)
	return block, is.warnings(), err
}

// roleAndName are an ARIA role and an accessible name.
type roleAndName struct{ role, name string }

func (n roleAndName) warnings() []string {
	if what := screen.MayChange(n.name); what != "" {
		return []string{fmt.Sprintf("the name %q contains %s and may change; %s does not", n.name, what, n.constant())}
	}
	if isLong(n.name) {
		return []string{fmt.Sprintf("the name %q is long and may change", n.name)}
	}
	return nil
}

// digits are what changes in a name such as Total 12.50.
var digits = lazyregexp.New(`\pN+([.,]\pN+)*`)

// constant returns what names the element whatever the digits in its name are.
func (n roleAndName) constant() string {
	var parts []string
	for _, part := range digits().Split(n.name, -1) {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	if len(parts) == 1 {
		return "a data-testid"
	}
	return "a nodeSelector with ariaNameRegex " + strings.Join(parts, `[\d.,]+`) + " or a data-testid"
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

// unique returns block if it matches only the element in all frames, else nil. texts are what of the page is in it.
func (l *locator) unique(ctx context.Context, block map[string]any, texts ...string) (map[string]any, error) {
	if l.hasSecret(block, texts) {
		return nil, nil
	}
	total, index, err := l.place(ctx, block)
	if err != nil || total != 1 || index < 0 {
		return nil, err
	}
	return l.confirmed(ctx, block)
}

// indexed is like unique, but when block matches several elements, it returns block with the index of the element.
func (l *locator) indexed(ctx context.Context, block map[string]any, texts ...string) (map[string]any, error) {
	if l.hasSecret(block, texts) {
		return nil, nil
	}
	total, index, err := l.place(ctx, block)
	if err != nil || index < 0 {
		return nil, err
	}
	if total > 1 {
		block = maps.Clone(block)
		block["nthIndex"] = index
	}
	return l.confirmed(ctx, block)
}

// confirmed returns block if a replay with it finds the element, else nil. The error is errGone if the page probably
// changed since block was made.
func (l *locator) confirmed(ctx context.Context, block map[string]any) (map[string]any, error) {
	found, err := l.finds(ctx, block)
	switch {
	case err != nil:
		return nil, err
	case found:
		return block, nil
	}
	if l.search.unlocated++; l.search.unlocated < locateTries {
		return nil, errGone
	}
	return nil, nil
}

// hasSecret reports whether a recording would change block, because a secret is in it or in one of texts.
func (l *locator) hasSecret(block map[string]any, texts []string) bool {
	texts = slices.Clone(texts)
	for _, value := range block {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	d := l.search.page.device
	return slices.ContainsFunc(texts, func(text string) bool {
		return d.notes.redact(text) != text || d.session.Redact != nil && d.session.Redact(text) != text
	})
}

// probe returns the search that a replay makes for block. It finds its element ready if that is the marked one.
func (l *locator) probe(block map[string]any) (*search, error) {
	selector, err := screen.ParseSelector(map[string]any{"web": block}, screen.ParseOptions{})
	if err != nil {
		return nil, err
	}
	t, _, err := bySelector(selector)
	if err != nil {
		return nil, err
	}
	c := check{name: "marked", unique: l.search.check.unique, preferredRoles: l.search.check.preferredRoles}
	return l.search.page.search(t, c), nil
}

// finds reports whether a replay with block finds the element.
func (l *locator) finds(ctx context.Context, block map[string]any) (bool, error) {
	s, err := l.probe(block)
	if err != nil {
		return false, err
	}
	o, err := s.find(ctx, 0)
	return err == nil && o.Ready && o.frame == l.element.frame, err
}

// place returns how many elements block matches in all frames, and the place of the element among them; -1 when it is
// not one of them.
func (l *locator) place(ctx context.Context, block map[string]any) (total, index int, err error) {
	s, err := l.probe(block)
	if err != nil {
		return 0, -1, err
	}
	index = -1
	for _, f := range s.page.frames() {
		count, at := 0, -1
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			count, at, err = s.placeIn(ctx, f, l.element)
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

// placeIn returns how many elements of a frame match, and the place of e among them; -1 when it is not one of them.
func (s *search) placeIn(ctx context.Context, f *frame, e element) (count, index int, err error) {
	if s.target.spec != nil {
		var found struct{ Count, Index int }
		err := f.eval(ctx, "placeOfMarked", &found, s.target.spec)
		if f != e.frame {
			found.Index = -1
		}
		return found.Count, found.Index, err
	}
	nodes, _, err := s.nodes(ctx, f)
	index = slices.IndexFunc(nodes, func(n axNode) bool { return n.BackendNodeID == e.id })
	if f != e.frame {
		index = -1
	}
	return len(nodes), index, err
}
