package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
)

// captureFrames captures the documents in which relatedNodes looks for the elements of this try.
func (s *search) captureFrames(ctx context.Context) (err error) {
	s.documents, err = s.page.captureFrames(ctx)
	return err
}

// relatedNodes returns the elements of a frame that match the target's selector with relations. Elements in relations
// are in the same frame. Roles and names are those of the snapshot.
func (s *search) relatedNodes(ctx context.Context, f *frame) ([]axNode, error) {
	document, ok := s.documents[f]
	if !ok {
		return nil, errGone // the frame was added after the capture, or does not respond
	}
	found, all, err := f.lookUp(ctx, s.target.related)
	if err != nil {
		return nil, err
	}
	tree := screen.NewTree(aria.Snapshot(document.Capture).Elements("", all), 0, 0, screen.Web)
	tree.Found = found
	if err := tree.Check(s.target.related); err != nil {
		return nil, err
	}
	var nodes []axNode
	for _, n := range tree.ResolveNative(s.target.related) {
		if id, err := strconv.Atoi(strings.TrimPrefix(string(n.Key), "/")); err == nil { // a text has no key
			nodes = append(nodes, axNode{Role: axValue{n.RoleName()}, Name: axValue{n.Name()}, BackendNodeID: id})
		}
	}
	return nodes, nil
}

// lookUp finds the elements of the blocks of a selector that only the page can find, those with a CSS selector or a
// test id. all has the backend node ids of all of them.
func (f *frame) lookUp(ctx context.Context, s *screen.Selector) (
	found map[*screen.Block][]screen.Key, all map[int]bool, err error,
) {
	found, all = map[*screen.Block][]screen.Key{}, map[int]bool{}
	for _, b := range s.Blocks() {
		spec := map[string]string{"css": b.Text("cssSelector")}
		if spec["css"] == "" {
			if b.Text("dataTestId") == "" {
				continue
			}
			spec = map[string]string{"testId": b.Text("dataTestId")}
		}
		list, err := f.handle(ctx, "all", spec)
		if err != nil {
			return nil, nil, selectorError(err, spec["css"])
		}
		ids, err := f.backendIDs(ctx, list)
		if err != nil {
			return nil, nil, err
		}
		keys := make([]screen.Key, len(ids))
		for i, id := range ids {
			keys[i] = screen.Key(fmt.Sprintf("/%d", id))
			all[id] = true
		}
		found[b] = keys
	}
	return found, all, nil
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
			Value      remoteObject
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
