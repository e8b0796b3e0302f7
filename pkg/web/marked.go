package web

import (
	"context"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/axtree"
	"github.com/trailblaze/trailblaze/pkg/web/locate"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// locateTries is how often a selector is looked for in a page that may change meanwhile.
const locateTries = 3

// marked is an element that page.js knows by a mark. It implements locate.Page.
type marked struct {
	search  *search // of the call
	element element
	mark    int // the number of the mark: 0 for the call that runs, else another for each element
}

// locateShown returns how a recording names an element of a capture. before is what an earlier try returned, or nil; it
// is kept while it finds the element. The result is nil if the frame of the element does not respond.
func (s *search) locateShown(ctx context.Context, c *pageCapture, n *screen.Node, before *locatedElement) (*locatedElement, error) {
	m := &marked{search: s, element: c.elements[n]}
	facts, err := m.setMark(ctx, n)
	if err != nil || facts == nil {
		return nil, err
	}
	if before != nil && before.key == n.Key {
		if found, err := m.isFoundBy(ctx, before.selector); found || err != nil {
			return before, err
		}
	}
	isChecked := s.check.name == "visible" && !s.acts
	best, found, err := locate.Best(ctx, m, locate.Element{Node: n, Tree: c.tree, Facts: *facts, Checked: isChecked})
	if err != nil {
		return nil, err
	}
	if found {
		args := map[string]any{"nodeSelector": best.Selector}
		return &locatedElement{tool.Located{Args: args, Warnings: best.Notes}, best.Selector, n.Key}, nil
	}
	var connected bool
	if err := m.element.frame.eval(ctx, "isMarkedConnected", &connected, m.mark); err != nil {
		return nil, err
	}
	if err := s.missed(); err != nil || !connected {
		return nil, errGone
	}
	return nil, fault.New(fault.ToolFailed, "name it by ref or nodeSelector, or give it a test id",
		"%s is %s, which no selector for a recording finds", s.target.Ref, n)
}

// missed returns errGone while it is more likely that the page changed than that no selector finds the element.
func (s *search) missed() error {
	if s.unlocated++; s.unlocated < locateTries {
		return errGone
	}
	return nil
}

// setMark marks the element for the check "marked", and returns its facts; nil if its frame does not respond. n is what
// the capture shows of it.
func (m *marked) setMark(ctx context.Context, n *screen.Node) (facts *locate.Facts, err error) {
	record := ""
	if n.Record != nil {
		record = n.Record.Known
	}
	err = m.element.frame.withinSlice(ctx, func(ctx context.Context) error {
		handle, err := m.search.page.resolveNode(ctx, m.element.frame, m.element.id)
		if err != nil {
			return err
		}
		defer handle.release()
		var read locate.Facts
		if err = m.element.frame.eval(ctx, "mark", &read, handle, m.mark, record); err == nil {
			facts = &read
		}
		return err
	})
	return facts, err
}

// removeMark forgets the mark.
func (m *marked) removeMark(ctx context.Context) {
	_ = m.element.frame.eval(ctx, "unmark", nil, m.mark) // a document that is gone has none
}

// probe returns the search that a replay makes for selector. It finds its element ready if that is the marked one.
func (m *marked) probe(given map[string]any) (*search, error) {
	selector, err := screen.ParseSelector(given, screen.ParseOptions{})
	if err != nil {
		return nil, err
	}
	t, _, err := syntax.BySelector(selector)
	if err != nil {
		return nil, err
	}
	c := check{
		name: "marked", unique: m.search.check.unique, preferredRoles: m.search.check.preferredRoles,
		options: map[string]any{"mark": m.mark},
	}
	return m.search.page.search(t, c), nil
}

// isFoundBy reports whether a replay with selector finds the element.
func (m *marked) isFoundBy(ctx context.Context, selector map[string]any) (bool, error) {
	s, err := m.probe(selector)
	if err != nil {
		return false, err
	}
	o, err := s.find(ctx, 0)
	return err == nil && o.Ready && o.frame == m.element.frame, err
}

// Finds implements locate.Page. The error is errGone if the page probably changed since the selector was made.
func (m *marked) Finds(ctx context.Context, selector map[string]any) (bool, error) {
	if found, err := m.isFoundBy(ctx, selector); found || err != nil {
		return found, err
	}
	return false, m.search.missed()
}

// Place implements locate.Page.
func (m *marked) Place(ctx context.Context, selector map[string]any) (total, index int, err error) {
	s, err := m.probe(selector)
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
			count, at, err = m.placeIn(ctx, f, s)
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

// placeIn returns how many elements of a frame match, and the place of the marked one among them; -1 when it is not one
// of them.
func (m *marked) placeIn(ctx context.Context, f *frame, s *search) (count, index int, err error) {
	if s.target.Spec != nil {
		var found struct{ Count, Index int }
		err := f.eval(ctx, "placeOfMarked", &found, s.target.Spec, m.mark)
		if f != m.element.frame {
			found.Index = -1
		}
		return found.Count, found.Index, err
	}
	nodes, _, err := s.nodes(ctx, f)
	index = slices.IndexFunc(nodes, func(n axtree.Node) bool { return n.BackendNodeID == m.element.id })
	if f != m.element.frame {
		index = -1
	}
	return len(nodes), index, err
}

// BrowserName implements locate.Page.
func (m *marked) BrowserName(ctx context.Context) (role, name string, err error) {
	var answer struct {
		Nodes []axtree.Node `json:"nodes"`
	}
	err = m.element.frame.session.Call(ctx, "Accessibility.getPartialAXTree",
		map[string]any{"backendNodeId": m.element.id, "fetchRelatives": false}, &answer)
	for _, n := range answer.Nodes {
		if n.BackendNodeID == m.element.id && !n.Ignored {
			role, name = screen.RoleOfBrowser(n.Role.Text()), n.Name.Text()
		}
	}
	return role, name, asGone(err)
}

// HasSecret implements locate.Page.
func (m *marked) HasSecret(text string) bool {
	d := m.search.page.device
	return d.notes.Redact(text) != text || d.session.Redact != nil && d.session.Redact(text) != text
}
