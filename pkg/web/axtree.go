package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/axtree"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// query finds nodes with a role, with exactly this name, or both, in document order.
func (f *frame) query(ctx context.Context, role, name string) ([]axtree.Node, error) {
	return momentOf(ctx).query(axQuery{f, role, name}, func() ([]axtree.Node, error) {
		nodes, err := f.queryTree(ctx, role, name)
		if _, refused := errors.AsType[*cdp.Error](err); refused {
			return nil, errGone // the document was replaced
		}
		return axtree.Matching(nodes, role, name), err
	})
}

// readsWholeTree reports whether queryTree reads the whole tree. The browser's own query takes a tenth of the time that
// the whole tree takes in a long page, but it works only in frames that are drawn. In others, and in windows of apps that
// were attached to while they opened, it may not respond.
func (f *frame) readsWholeTree() bool { return f.parent != nil || f.page.browser.app != nil }

// queryRoles finds the nodes with one of several roles, in the order of the document.
func (f *frame) queryRoles(ctx context.Context, roles []string) (nodes []axtree.Node, err error) {
	if len(roles) == 1 {
		return f.query(ctx, roles[0], "")
	}
	if !f.readsWholeTree() {
		found, errs := make([][]axtree.Node, len(roles)), make([]error, len(roles))
		var queries sync.WaitGroup
		for i, role := range roles {
			queries.Go(func() { found[i], errs[i] = f.query(ctx, role, "") })
		}
		queries.Wait()
		found = slices.DeleteFunc(found, func(nodes []axtree.Node) bool { return len(nodes) == 0 })
		if err := cmp.Or(errs...); err != nil || len(found) < 2 {
			return slices.Concat(found...), err
		}
	}
	nodes, err = f.query(ctx, "", "")
	return slices.DeleteFunc(slices.Clone(nodes), func(n axtree.Node) bool { return !slices.Contains(roles, n.Role.Text()) }), err
}

// queryTree returns nodes from the browser, maybe more than match.
func (f *frame) queryTree(ctx context.Context, role, name string) ([]axtree.Node, error) {
	var answer struct {
		Nodes []axtree.Node `json:"nodes"`
	}
	if f.readsWholeTree() {
		err := f.session.Call(ctx, "Accessibility.getFullAXTree", map[string]any{"frameId": f.id}, &answer)
		return axtree.InDocumentOrder(answer.Nodes), err
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

// byRole finds the elements with a role and a name. names are those of other elements of the role, when none matches.
// With one, one of several is enough, and the search is made faster for this case.
func (f *frame) byRole(ctx context.Context, role string, n *syntax.ElementName, one bool) (found []axtree.Node, names []string, err error) {
	roles := screen.BrowserRoles(role)
	if one && n != nil && n.Pattern == nil { // the browser's own filter takes half the time
		if found, err = f.query(ctx, roles[0], n.Text); err != nil || len(found) > 0 {
			return found, nil, err
		}
	}
	nodes, err := f.queryRoles(ctx, roles)
	if err != nil {
		return nil, nil, err
	}
	found, inAnotherCase, names := axtree.FilterByName(n, nodes)
	if len(found) == 0 {
		found = inAnotherCase
	}
	if len(found) == 0 {
		return nil, names, nil
	}
	// A canvas has no role. It stands for a picture only where nothing else does.
	if others := slices.DeleteFunc(slices.Clone(found), func(n axtree.Node) bool { return n.Role.Text() == "Canvas" }); len(others) > 0 {
		found = others
	}
	return found, nil, nil
}

// controlsNamed finds the controls with exactly this name: those of the preferred roles, or when there are none, all.
func (f *frame) controlsNamed(ctx context.Context, name string, preferred []string) ([]axtree.Node, error) {
	if name == "" {
		return nil, nil
	}
	nodes, err := f.query(ctx, "", name)
	return axtree.Controls(nodes, preferred), err
}
