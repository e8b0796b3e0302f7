package mobile

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// keptBytes is the maximum size in bytes of the text of a screen in files.
const keptBytes = 1 << 20

// screenCommands are the commands that keep what the screen shows.
func screenCommands() []command {
	return []command{
		newCommand("captureScreen", "Takes a screenshot.", "", captureScreen),
		newCommand("takeSnapshot", "Keeps a screenshot and the elements of the screen as text.",
			`"screenName": {"type": "string"}, "description": {"type": "string"}`, takeSnapshot),
	}
}

func captureScreen(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	if _, err := d.readSettled(ctx); err != nil {
		return tool.Result{}, err
	}
	data, err := d.driver.Screenshot(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if isBlack(data) && d.session.Log != nil {
		d.session.Log("warn", "the screenshot is black: "+whyBlack, "")
	}
	path, err := d.session.Keep(device.Artifact{Name: "screenshot.png", Data: data})
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.ToolFailed, err, "", "keep the screenshot")
	}
	return success("%s", path), nil
}

// takeSnapshot keeps what can be read. It does not fail.
func takeSnapshot(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	name := a.Text("screenName")
	if name == "" {
		name = "screen"
	}
	var kept []string
	now, err := d.readSettled(ctx)
	keep := func(artifact device.Artifact) {
		if path, err := d.session.Keep(artifact); err == nil {
			kept = append(kept, path)
		}
	}
	if data, err := d.driver.Screenshot(ctx); err == nil {
		keep(device.Artifact{Name: name + ".png", Title: a.Text("description"), Data: data})
	}
	if err == nil {
		keep(device.Artifact{Name: name + ".txt", Title: a.Text("description"), Data: []byte(d.textOf(now, keptBytes)), Text: true})
	}
	if len(kept) == 0 {
		return success("the screen could not be kept"), nil
	}
	return success("kept the screen as %s", name), nil
}

// textOf returns the text form of a screen.
func (d *phone) textOf(s Screen, maxBytes int) string {
	o := screen.TextOptions{MaxBytes: maxBytes, Ref: d.seeReferences(s.Tree, d.session.Live)}
	return s.Tree.Text(o).String() + "\n"
}

// Snapshot implements device.Snapshotter. url is a deep link; if it is empty, what the device shows is listed.
func (d *phone) Snapshot(ctx context.Context, url string, o device.SnapshotOptions) (device.Snapshot, error) {
	if url != "" {
		result, err := d.Call(ctx, tool.Call{Tool: "openUrl", Args: map[string]any{"url": url}})
		if err != nil {
			return device.Snapshot{}, err
		}
		if !result.OK {
			return device.Snapshot{}, &fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint, Details: result.Details}
		}
	}
	v, err := d.View(ctx, device.ViewOptions{Within: o.Within})
	if err != nil {
		return device.Snapshot{}, err
	}
	text := v.Part.Text(screen.TextOptions{MaxBytes: o.MaxBytes, Ref: v.Ref})
	return device.Snapshot{URL: url, Title: v.Title, Text: text.String(), More: text.Left}, nil
}
