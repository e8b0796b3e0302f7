package mobile

import (
	"context"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// androidCommands are the commands that only Android has.
func androidCommands() []command {
	const argv = `"command": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "The program and its arguments"},
		"runAs": {"type": "string", "minLength": 1, "description": "The debuggable app as which it runs"}`
	return []command{
		newCommand("adbShell", "Runs a command of the device's shell, and returns what it writes.",
			`"command": {"type": "string", "minLength": 1}`, adbShell, "command"),
		newCommand("android_adbShell", "Runs a program on the device, and returns what it writes.", argv, androidShell, "command"),
		newCommand("android_grantPermissions", "Gives an app permissions.",
			appProperty+`, "permissions": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}`,
			grantPermissions, "permissions"),
		newCommand("android_grantAppOpsPermission", "Allows an app an operation that is not a permission, such as SYSTEM_ALERT_WINDOW.",
			appProperty+`, "permission": {"type": "string", "minLength": 1}`, grantAppOps, "permission"),
		newCommand("android_sendBroadcast", "Sends a broadcast to a receiver of an app.",
			`"action": {"type": "string", "minLength": 1}, "componentPackage": {"type": "string", "minLength": 1},
			"componentClass": {"type": "string", "minLength": 1},
			"extras": {"type": "object", "additionalProperties": {"type": ["string", "integer", "boolean"]}}`,
			sendBroadcast, "action").checkedBy(checkBroadcast),
	}
}

func adbShell(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return d.shell(ctx, "sh", "-c", a.Text("command"))
}

func androidShell(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	argv := a.Texts("command")
	if app := a.Text("runAs"); app != "" {
		argv = append([]string{"run-as", app}, argv...)
	}
	return d.shell(ctx, argv...)
}

// shell runs a command on the device. Its output is the result.
func (d *phone) shell(ctx context.Context, argv ...string) (tool.Result, error) {
	output, err := d.driver.Shell(ctx, argv)
	return tool.Result{OK: true, Text: output}, err
}

func grantPermissions(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return d.grant(ctx, a, a.Texts("permissions"))
}

func grantAppOps(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	_, err = d.driver.Shell(ctx, []string{"appops", "set", app, a.Text("permission"), "allow"})
	return success("allowed %s to %s", a.Text("permission"), app), err
}

func checkBroadcast(a device.Arguments) error {
	if a.Has("componentPackage") != a.Has("componentClass") {
		return invalid("", "componentPackage and componentClass are only given together")
	}
	return nil
}

func sendBroadcast(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	if err := checkBroadcast(a); err != nil {
		return tool.Result{}, err
	}
	argv := []string{"am", "broadcast", "-a", a.Text("action")}
	if a.Has("componentClass") {
		argv = append(argv, "-n", a.Text("componentPackage")+"/"+a.Text("componentClass"))
	}
	arguments, _ := a["extras"].(map[string]any)
	extras, err := Extras(arguments)
	if err != nil {
		return tool.Result{}, err
	}
	output, err := d.driver.Shell(ctx, append(argv, ExtraWords(extras)...))
	return success("sent %s: %s", a.Text("action"), strings.TrimSpace(output)), err
}
