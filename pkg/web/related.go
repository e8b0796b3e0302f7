package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/axtree"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// captureRelated captures the documents in which relatedNodes looks for the elements of this try, if the target has
// relations.
func (s *search) captureRelated(ctx context.Context) (err error) {
	if s.target.Related == nil {
		return nil
	}
	if s.documents = momentOf(ctx).captured(); s.documents == nil {
		s.documents, err = s.page.captureFrames(ctx)
	}
	return err
}

// relatedNodes returns the elements of a frame that match the target's selector with relations. Elements in relations
// are in the same frame. Roles and names are those of the snapshot.
func (s *search) relatedNodes(ctx context.Context, f *frame) ([]axtree.Node, error) {
	document, ok := s.documents[f]
	if !ok {
		return nil, errGone // the frame was added after the capture, or does not respond
	}
	l := &lookup{
		frame: f, snapshot: momentOf(ctx).snapshot(document.Capture), exhaustive: s.target.Exhaustive,
		found: map[*screen.Block][]screen.Key{}, all: map[int]bool{},
	}
	selectors := s.target.Selectors()
	for _, selector := range selectors {
		if err := l.selector(ctx, selector); err != nil {
			return nil, err
		}
	}
	tree := l.tree()
	for _, selector := range selectors {
		if err := tree.Check(selector); err != nil {
			return nil, err
		}
	}
	found := tree.ResolveNative(selectors[0])
	for _, selector := range selectors[1:] {
		also := tree.ResolveNative(selector)
		found = slices.DeleteFunc(found, func(n *screen.Node) bool { return !slices.Contains(also, n) })
	}
	var nodes []axtree.Node
	for _, n := range found {
		if id, ok := elementID(n); ok && n.Role != "text" {
			nodes = append(nodes, axtree.NewNode(n.RoleName(), n.Name(), id))
		}
	}
	return nodes, nil
}

// elementID returns the backend node id in the key of a node.
func elementID(n *screen.Node) (int, bool) {
	id, err := strconv.Atoi(strings.TrimPrefix(string(n.Key), "/"))
	return id, err == nil
}

// lookup finds in one frame the elements of blocks that only the page can find: those with a CSS selector or a test id.
type lookup struct {
	frame      *frame
	snapshot   *aria.Tree
	exhaustive bool // as in target
	found      map[*screen.Block][]screen.Key
	all        map[int]bool // backend node ids of all elements that were found
}

// tree returns the elements of the snapshot with those that were found so far.
func (l *lookup) tree() *screen.Tree {
	tree := screen.NewTree(l.snapshot.Elements("", l.all, l.exhaustive), 0, 0, screen.Web)
	tree.Found, tree.Exhaustive = l.found, l.exhaustive
	return tree
}

// selector finds the elements of the blocks of s, those in relations first: they narrow down where others can be.
func (l *lookup) selector(ctx context.Context, s *screen.Selector) error {
	for _, inner := range s.Related() {
		if err := l.selector(ctx, inner); err != nil {
			return err
		}
	}
	spec := map[string]string{}
	if css := s.Block.Text("cssSelector"); css != "" {
		spec["css"] = css
	}
	if id := s.Block.Text("dataTestId"); id != "" && (l.exhaustive || len(spec) == 0) {
		spec["testId"] = id
	}
	if len(spec) == 0 {
		return nil
	}
	near, err := l.nodesNear(ctx, s)
	if err != nil {
		return err
	}
	ids, err := l.elements(ctx, spec, near)
	if err != nil {
		return err
	}
	keys := make([]screen.Key, len(ids))
	for i, id := range ids {
		keys[i] = screen.Key(fmt.Sprintf("/%d", id))
		l.all[id] = true
	}
	l.found[s.Block] = keys
	return nil
}

// maxNear is up to how many elements are used to narrow down where others can be.
const maxNear = 20

// nodesNear returns elements each of which is inside an element that s can select, or around one; nil when that is not
// known.
func (l *lookup) nodesNear(ctx context.Context, s *screen.Selector) ([]any, error) {
	if _, indexed := s.Block.Number("nthIndex"); indexed {
		return nil, nil // it counts all elements of the block
	}
	anchor := s.ChildOf
	if anchor == nil && len(s.ContainsDescendants) > 0 {
		anchor = s.ContainsDescendants[0]
	}
	if anchor == nil || anchor != s.ChildOf && (anchor.ChildOf != nil || anchor.Index != nil) { // which do not count there
		return nil, nil
	}
	nodes := l.tree().ResolveNative(anchor)
	if len(nodes) > maxNear {
		return nil, nil
	}
	near := []any{}
	for _, n := range nodes {
		id, ok := elementID(n)
		if !ok {
			return nil, nil
		}
		element, err := l.frame.page.resolveNode(ctx, l.frame, id)
		if err != nil {
			return nil, err
		}
		near = append(near, element)
	}
	return near, nil
}

// elements returns the backend node ids of the elements that a spec finds inside or around elements that are near, or
// everywhere when near is nil. It releases what is near.
func (l *lookup) elements(ctx context.Context, spec map[string]string, near []any) ([]int, error) {
	defer func() {
		for _, element := range near {
			if h, ok := element.(*handle); ok {
				h.release()
			}
		}
	}()
	list, err := l.frame.handle(ctx, "all", append([]any{spec, near != nil}, near...)...)
	if err != nil {
		return nil, selectorError(err, spec["css"])
	}
	return l.frame.backendIDs(ctx, list)
}

// backendIDs returns the backend node ids of the elements of a list, and releases the handles.
func (f *frame) backendIDs(ctx context.Context, list *handle) ([]int, error) {
	if list == nil {
		return nil, nil
	}
	defer list.release()
	var items struct {
		Result []struct {
			Enumerable bool
			Value      notes.RemoteObject
		}
	}
	err := f.session.Call(ctx, "Runtime.getProperties",
		map[string]any{"objectId": list.objectID, "ownProperties": true}, &items)
	if err != nil {
		return nil, asGone(err)
	}
	var waits []func(context.Context, any) error
	for _, item := range items.Result {
		if item.Enumerable && item.Value.ObjectID != "" {
			object := map[string]any{"objectId": item.Value.ObjectID}
			waits = append(waits, f.session.Send("DOM.describeNode", object))
			f.session.Send("Runtime.releaseObject", object)
		}
	}
	ids := make([]int, len(waits))
	for i, wait := range waits {
		var described struct {
			Node struct{ BackendNodeID int }
		}
		if err := wait(ctx, &described); err != nil {
			return nil, asGone(err)
		}
		ids[i] = described.Node.BackendNodeID
	}
	return ids, nil
}
