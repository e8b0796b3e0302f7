package web

import (
	"context"
	"encoding/json"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// keptBytes is the maximum size in bytes of the text of a page in files.
const keptBytes = 1 << 20

// snapshotBytes is the default maximum size in bytes of the list that web_snapshot returns.
const snapshotBytes = 6000

// maxLayoutRounds bounds how often skipped parts are laid out, which may contain others.
const maxLayoutRounds = 4

// tree returns the snapshot of the main frame.
func (p *page) tree(ctx context.Context) (*aria.Tree, error) { return p.treeOf(ctx, aria.Snapshot) }

// treeOf returns one of the kinds of snapshots of the main frame.
func (p *page) treeOf(ctx context.Context, snapshot func(*aria.Capture) *aria.Tree) (*aria.Tree, error) {
	f := p.main()
	capture, err := f.capture(ctx)
	if err != nil {
		return nil, err
	}
	for range maxLayoutRounds {
		skipped := capture.Skipped()
		if len(skipped) == 0 {
			break
		}
		if err := p.layOut(ctx, f, skipped); err != nil {
			return nil, err
		}
		before := len(skipped)
		if capture, err = f.capture(ctx); err != nil {
			return nil, err
		}
		if len(capture.Skipped()) == before {
			break // nothing in them can be laid out
		}
	}
	if capture.HasCheckBox() {
		if capture.Mixed, err = f.mixed(ctx); err != nil {
			return nil, err
		}
	}
	return snapshot(capture), nil
}

// capture returns the document of f with its layout.
func (f *frame) capture(ctx context.Context) (*aria.Capture, error) {
	var c aria.Capture
	err := f.session.Call(ctx, "DOMSnapshot.captureSnapshot", aria.CaptureParams(), &c)
	return &c, asGone(err)
}

// layOut makes the browser lay out elements that it skips because they are far from view.
func (p *page) layOut(ctx context.Context, f *frame, nodes []int) error {
	for _, id := range nodes {
		element, err := p.resolveNode(ctx, f, id)
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

// mixed returns the backend node ids of the check boxes that a script has made indeterminate.
func (f *frame) mixed(ctx context.Context) ([]int, error) {
	list, err := f.handle(ctx, "indeterminateBoxes")
	if err != nil {
		return nil, err
	}
	return f.backendIDs(ctx, list)
}

// backendID returns the backend node id of an element, and releases the handle.
func (f *frame) backendID(ctx context.Context, element *handle) (int, error) {
	defer element.release()
	var described struct {
		Node struct {
			BackendNodeID int `json:"backendNodeId"`
		} `json:"node"`
	}
	err := f.session.Call(ctx, "DOM.describeNode", map[string]any{"objectId": element.objectID}, &described)
	return described.Node.BackendNodeID, asGone(err)
}

func webSnapshot(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	v, err := p.view(ctx, device.ViewOptions{Within: a.Text("within")})
	if err != nil {
		return tool.Result{}, err
	}
	data, err := p.screenshot(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	name := a.Text("screenName")
	if name == "" {
		name = "screen"
	}
	whole := v.Tree.Text(screen.TextOptions{MaxBytes: keptBytes, Ref: v.Ref})
	for _, kept := range []device.Artifact{
		{Name: name + ".png", Data: data},
		{Name: name + ".txt", Data: []byte(p.notes.Redact(whole.String()) + "\n"), Text: true},
	} {
		if _, err := p.device.session.Keep(kept); err != nil {
			return tool.Result{}, fault.Wrap(fault.ToolFailed, err, "", "keep the snapshot")
		}
	}
	maxBytes := max(1, int(a.Number("maxBytes", snapshotBytes)))
	list := v.Part.Text(screen.TextOptions{MaxBytes: maxBytes, Ref: v.Ref})
	result := success("kept %s.png and %s.txt of %s\n%s", name, name, p.url(), list)
	if list.Left > 0 {
		result.Text += "; narrow with within, or raise maxBytes"
	}
	result.Structured = notes.Marshal(map[string]any{
		"url": p.url(), "title": v.Title, "snapshot": list.String(), "more": list.Left,
	})
	return result, nil
}

// Snapshot implements device.Snapshotter. It waits for the element whose content is listed.
func (d *webDevice) Snapshot(ctx context.Context, url string, o device.SnapshotOptions) (device.Snapshot, error) {
	args := map[string]any{"maxBytes": o.MaxBytes}
	calls := []tool.Call{{Tool: "web_navigate", Args: map[string]any{"url": url}}}
	if o.Within != "" {
		args["within"] = o.Within
		calls = append(calls, tool.Call{Tool: "waitForSelector", Args: map[string]any{"selector": o.Within}})
	}
	var result tool.Result
	for _, call := range append(calls, tool.Call{Tool: "web_snapshot", Args: args}) {
		var err error
		if result, err = d.Call(ctx, call); err != nil {
			return device.Snapshot{}, err
		}
		if !result.OK {
			return device.Snapshot{}, &fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint, Details: result.Details}
		}
	}
	var s struct {
		URL, Title, Snapshot string
		More                 int
	}
	if err := json.Unmarshal(result.Structured, &s); err != nil {
		return device.Snapshot{}, fault.Wrap(fault.Device, err, "", "read the snapshot")
	}
	return device.Snapshot{URL: s.URL, Title: s.Title, Text: s.Snapshot, More: s.More}, nil
}
