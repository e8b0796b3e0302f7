package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
)

// listBytes is how much of a page web_snapshot answers: about what a model reads in passing.
const listBytes = 6000

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
	err := f.session.Call(ctx, "DOMSnapshot.captureSnapshot", aria.CaptureParams(), &c)
	return &c, replaced(err)
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
	err = f.session.Call(ctx, "Runtime.getProperties", map[string]any{"objectId": list.objectID, "ownProperties": true}, &answer)
	if err != nil {
		return nil, replaced(err)
	}
	var ids []int
	for _, p := range answer.Result {
		if !p.Enumerable || p.Value.ObjectID == "" {
			continue
		}
		id, err := f.backendID(ctx, &handle{frame: f, objectID: p.Value.ObjectID})
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// backendID is the number of an element in captures; the element is released.
func (f *frame) backendID(ctx context.Context, element *handle) (int, error) {
	defer element.release()
	var described struct {
		Node struct {
			BackendNodeID int `json:"backendNodeId"`
		} `json:"node"`
	}
	err := f.session.Call(ctx, "DOM.describeNode", map[string]any{"objectId": element.objectID}, &described)
	return described.Node.BackendNodeID, replaced(err)
}

// part is the snapshot of the first element that fits a CSS selector, or of the page without one.
func (t *tab) part(ctx context.Context, selector string) (whole, part *aria.Tree, err error) {
	if whole, err = t.tree(ctx); err != nil || selector == "" {
		return whole, whole, err
	}
	element, err := t.main().handle(ctx, "first", map[string]string{"css": selector})
	if err != nil {
		return nil, nil, noSelector(err, selector)
	}
	if element == nil {
		return nil, nil, fault.New(fault.ToolFailed, "", "nothing on the page fits %s", selector)
	}
	id, err := t.main().backendID(ctx, element)
	if err != nil {
		return nil, nil, err
	}
	part, ok := whole.Within(id)
	if !ok {
		return nil, nil, errGone // it came after the capture
	}
	return whole, part, nil
}

// webSnapshot is web_snapshot.
func webSnapshot(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	whole, part, err := t.part(ctx, a.text("within"))
	for errors.Is(err, errGone) && ctx.Err() == nil {
		t.breathe(ctx, slice)
		whole, part, err = t.part(ctx, a.text("within"))
	}
	if err != nil {
		return tool.Result{}, err
	}
	data, err := t.screenshot(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	name := a.text("screenName")
	if name == "" {
		name = "screen"
	}
	for _, kept := range []device.Artifact{
		{Name: name + ".png", Data: data},
		{Name: name + ".yaml", Data: []byte(t.notes.mask(whole.String()) + "\n"), Text: true},
	} {
		if _, err := t.device.session.Keep(kept); err != nil {
			return tool.Result{}, fault.Wrap(fault.ToolFailed, err, "", "keeping the snapshot")
		}
	}
	list, left := part.List(int(a.number("maxBytes", listBytes)))
	result := said("kept %s.png and %s.yaml of %s\n%s", name, name, t.address(), list)
	if left > 0 {
		result.Text += fmt.Sprintf("\n… %d more lines; narrow with within, or raise maxBytes", left)
	}
	result.Structured = encoded(map[string]any{"url": t.address(), "title": t.title(ctx), "snapshot": list, "more": left})
	return result, nil
}
