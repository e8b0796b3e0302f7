package mobile

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// deviceCommands are the commands for the device itself.
func deviceCommands() []command {
	setClip := newCommand("mobile_setClipboard", "Sets the text of the clipboard.", `"text": {"type": "string"}`, setClipboard, "text")
	return []command{
		newCommand("networkConnection", "Connects the device to its networks, or disconnects it.",
			`"connected": {"type": "boolean"}`, networkConnection, "connected"),
		setClip, setClip.withName("setClipboard"),
		newCommand("mobile_pasteClipboard", "Enters the text of the clipboard at the end of the field that has the focus.",
			"", pasteClipboard),
	}
}

func networkConnection(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	connected := a.Flag("connected", true)
	done := success("disconnected the device from its networks")
	if connected {
		done = success("connected the device to its networks")
	}
	return done, d.driver.SetNetwork(ctx, connected)
}

func setClipboard(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return success("set the clipboard"), d.driver.SetClipboard(ctx, a.Text("text"))
}

func pasteClipboard(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	if d.options.Platform == Android {
		return d.paste(ctx)
	}
	text, err := d.driver.Clipboard(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if text == "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "set it with mobile_setClipboard", "the clipboard has no text")
	}
	return d.enter(ctx, text, device.Arguments{"hideKeyboardAfter": false})
}

// paste presses the key that pastes, and reads the field: from Android 10 on, only apps can read the clipboard. What
// was pasted differs from the text that trailblaze has set if an app has set another one since.
func (d *phone) paste(ctx context.Context) (tool.Result, error) {
	f, err := d.awaitFocus(ctx, d.limits.Action)
	if err != nil {
		return tool.Result{}, err
	}
	if err := d.driver.Press(ctx, Paste); err != nil {
		return tool.Result{}, err
	}
	if f.node == nil {
		return success("pasted into %s", f), nil
	}
	text, unknown := d.driver.Clipboard(ctx)
	if unknown != nil && fault.KindOf(unknown) != fault.ToolFailed {
		return tool.Result{}, unknown
	}
	e := d.newEntry(f, f.content()+text)
	changed := func() bool { return e.shown != f.content() && (unknown != nil || e.done()) }
	if err := e.await(ctx, changed); err != nil {
		return tool.Result{}, err
	}
	switch {
	case e.shown != f.content() && unknown == nil && e.isPart(e.shown):
		return tool.Result{}, notEntered(f, e.shown, e.text)
	case e.shown != f.content():
		return success("pasted into %s%s", f, noteOf(f, e.shown, e.text)), nil
	case text != "": // the app does not paste at this key
		return d.enter(ctx, text, device.Arguments{"hideKeyboardAfter": false})
	}
	why := "it is empty"
	if unknown != nil {
		why += ", or the app does not paste; " + unknown.Error()
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "set the clipboard with mobile_setClipboard, or use inputText",
		"%s did not change when the clipboard was pasted: %s", f, why)
}
