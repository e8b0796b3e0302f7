package web

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/web/aria"
)

// maxRounds is how often what a page has skipped is laid out: skipped parts may hold others.
const maxRounds = 4

// tree is the snapshot of the page, its main frame alone.
func (t *tab) tree(ctx context.Context) (*aria.Tree, error) {
	f := t.main()
	capture, err := f.capture(ctx)
	if err != nil {
		return nil, err
	}
	for range maxRounds {
		skipped := capture.Skipped()
		if len(skipped) == 0 {
			break
		}
		if err := t.layOut(ctx, f, skipped); err != nil {
			return nil, err
		}
		before := len(skipped)
		if capture, err = f.capture(ctx); err != nil {
			return nil, err
		}
		if len(capture.Skipped()) == before {
			break // they hold nothing to lay out
		}
	}
	if capture.HasCheckBox() {
		if capture.Mixed, err = f.mixed(ctx); err != nil {
			return nil, err
		}
	}
	return aria.Snapshot(capture), nil
}

// capture reads the document of f and how it is shown.
func (f *frame) capture(ctx context.Context) (*aria.Capture, error) {
	var c aria.Capture
	if err := f.session.Call(ctx, "DOMSnapshot.captureSnapshot", aria.CaptureParams(), &c); err != nil {
		return nil, err
	}
	return &c, nil
}

// layOut has the browser lay out what it skips because it is far from view.
func (t *tab) layOut(ctx context.Context, f *frame, nodes []int) error {
	for _, id := range nodes {
		element, err := t.node(ctx, f, id)
		if err != nil {
			return err
		}
		err = f.eval(ctx, "layOut", nil, element)
		element.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// mixed are the check boxes that a script has made indeterminate.
func (f *frame) mixed(ctx context.Context) ([]int, error) {
	list, err := f.handle(ctx, "mixed")
	if list == nil || err != nil {
		return nil, err
	}
	defer list.release()
	var answer struct {
		Result []struct {
			Enumerable bool `json:"enumerable"`
			Value      struct {
				ObjectID string `json:"objectId"`
			} `json:"value"`
		} `json:"result"`
	}
	if err := f.session.Call(ctx, "Runtime.getProperties", map[string]any{"objectId": list.objectID, "ownProperties": true}, &answer); err != nil {
		return nil, err
	}
	var ids []int
	for _, p := range answer.Result {
		if !p.Enumerable || p.Value.ObjectID == "" {
			continue
		}
		element := &handle{frame: f, objectID: p.Value.ObjectID}
		var described struct {
			Node struct {
				BackendNodeID int `json:"backendNodeId"`
			} `json:"node"`
		}
		err := f.session.Call(ctx, "DOM.describeNode", map[string]any{"objectId": element.objectID}, &described)
		element.release()
		if err != nil {
			return nil, err
		}
		ids = append(ids, described.Node.BackendNodeID)
	}
	return ids, nil
}
