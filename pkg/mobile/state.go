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
	text, err := d.driver.Clipboard(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if text == "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "set it with mobile_setClipboard", "the clipboard has no text")
	}
	return d.enter(ctx, text, device.Arguments{"hideKeyboardAfter": false})
}
