package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// axNode is a node of the browser's accessibility tree.
type axNode struct {
	ID            string   `json:"nodeId"`
	Children      []string `json:"childIds"`
	Ignored       bool     `json:"ignored"`
	Role          axValue  `json:"role"`
	Name          axValue  `json:"name"`
	BackendNodeID int      `json:"backendDOMNodeId"`
}

type axValue struct {
	Value any `json:"value"`
}

func (v axValue) text() string {
	text, _ := v.Value.(string)
	return text
}

// query finds nodes with a role, with exactly this name, or both, in document order.
func (f *frame) query(ctx context.Context, role, name string) ([]axNode, error) {
	return momentOf(ctx).query(axQuery{f, role, name}, func() ([]axNode, error) {
		nodes, err := f.queryTree(ctx, role, name)
		if _, refused := errors.AsType[*cdp.Error](err); refused {
			return nil, errGone // the document was replaced
		}
		return matching(nodes, role, name), err
	})
}

// matching removes all nodes but those with a role, with exactly this name, or both.
func matching(nodes []axNode, role, name string) []axNode {
	return slices.DeleteFunc(nodes, func(n axNode) bool {
		is := n.Role.text()
		return n.Ignored || n.BackendNodeID == 0 || role == "" && (is == "StaticText" || is == "RootWebArea") ||
			role != "" && is != role || name != "" && n.Name.text() != name
	})
}

// readsWholeTree reports whether queryTree reads the whole tree. The browser's own query takes a tenth of the time that
// the whole tree takes in a long page, but it works only in frames that are drawn. In others, and in windows of apps that
// were attached to while they opened, it may not respond.
func (f *frame) readsWholeTree() bool { return f.parent != nil || f.page.browser.app != nil }

// queryRoles finds the nodes with each of the roles, in the time that one query takes.
func (f *frame) queryRoles(ctx context.Context, roles []string) ([][]axNode, error) {
	found := make([][]axNode, len(roles))
	if f.readsWholeTree() { // each query would read the whole tree
		all, err := f.query(ctx, "", "")
		for i, role := range roles {
			found[i] = matching(slices.Clone(all), role, "")
		}
		return found, err
	}
	errs := make([]error, len(roles))
	var queries sync.WaitGroup
	for i, role := range roles {
		queries.Go(func() { found[i], errs[i] = f.query(ctx, role, "") })
	}
	queries.Wait()
	return found, cmp.Or(errs...)
}

// queryTree returns nodes from the browser, maybe more than match.
func (f *frame) queryTree(ctx context.Context, role, name string) ([]axNode, error) {
	var answer struct {
		Nodes []axNode `json:"nodes"`
	}
	if f.readsWholeTree() {
		err := f.session.Call(ctx, "Accessibility.getFullAXTree", map[string]any{"frameId": f.id}, &answer)
		return inDocumentOrder(answer.Nodes), err
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

// inDocumentOrder sorts the nodes of a tree, of which the first is the root.
func inDocumentOrder(nodes []axNode) []axNode {
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

// byRole finds the elements with a role and a name. names are those of other elements of the role, when none matches.
// If expected, an element is more likely than none, and the search is made faster for this case.
func (f *frame) byRole(
	ctx context.Context, role string, n *syntax.ElementName, expected bool,
) (found []axNode, names []string, err error) {
	roles := screen.BrowserRoles(role)
	if expected && n != nil && n.Pattern == nil { // the browser's own filter takes half the time
		if found, err = f.query(ctx, roles[0], n.Text); err != nil || len(found) > 0 {
			return found, nil, err
		}
	}
	lists, err := f.queryRoles(ctx, roles)
	if err != nil {
		return nil, nil, err
	}
	for _, nodes := range lists {
		found, inAnotherCase, others := filterByName(n, nodes)
		if len(found) == 0 {
			found = inAnotherCase
		}
		if len(found) > 0 {
			return found, nil, nil
		}
		names = append(names, others...)
	}
	return nil, names, nil
}

// filterByName sorts nodes into those whose name matches, those whose name matches in another case, and the names of
// the others.
func filterByName(n *syntax.ElementName, nodes []axNode) (found, inAnotherCase []axNode, others []string) {
	for _, node := range nodes {
		exactly, folded := n.Matches(node.Name.text())
		switch {
		case exactly:
			found = append(found, node)
		case folded:
			inAnotherCase = append(inAnotherCase, node)
		case node.Name.text() != "":
			others = append(others, node.Name.text())
		}
	}
	return found, inAnotherCase, others
}

// controlsNamed finds the controls with exactly this name: those of the preferred roles, or when there are none, all.
func (f *frame) controlsNamed(ctx context.Context, name string, preferred []string) ([]axNode, error) {
	if name == "" {
		return nil, nil
	}
	nodes, err := f.query(ctx, "", name)
	withRole := func(has func(role string) bool) []axNode {
		return slices.DeleteFunc(slices.Clone(nodes), func(n axNode) bool { return !has(n.Role.text()) })
	}
	best := withRole(func(role string) bool { return slices.Contains(preferred, role) })
	if len(best) > 0 {
		return best, err
	}
	return withRole(screen.IsBrowserControl), err
}
