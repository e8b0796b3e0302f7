package cmd

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

func (cmd *checkCommands) newDevice() *cobra.Command {
	c := &cobra.Command{
		Use:   "device",
		Short: "Show the devices that sessions can use",
		Args:  cobra.ArbitraryArgs,
		RunE:  cmd.helpOrUnknown,
	}
	c.AddCommand(cmd.newDeviceList())
	return c
}

func (cmd *checkCommands) newDeviceList() *cobra.Command {
	var platform string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the project's devices, connected phones, emulators, simulators and the browser",
		Long: `List the project's devices, connected phones, running emulators, simulators and the browser. The first column is what
--device takes. Nothing but adb's server is started, and nothing changes on a
device.`,
		Example: "  trailblaze device list\n  trailblaze device list --platform android --json | jq -r '.devices[].use'",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return cmd.listDevices(c.Context(), platform) },
	}
	c.Flags().StringVar(&platform, "platform", "", "list only devices of the platform `NAME`: "+strings.Join(scope.PlatformNames(), ", "))
	complete(c, "platform", scope.PlatformNames())
	return c
}

// deviceView is the JSON output of device list.
type deviceView struct {
	Devices  []workspace.Found `json:"devices"`
	Problems []deviceProblem   `json:"problems"` // why some were not found
}

// deviceProblem is why a device was not found, or none of a platform.
type deviceProblem struct {
	Device string `json:"device"` // what --device takes
	Error  string `json:"error"`
	Hint   string `json:"hint,omitempty"`
}

func (cmd *checkCommands) listDevices(ctx context.Context, platform string) error {
	if _, known := scope.ParsePlatform(platform); platform != "" && !known {
		return unknownName("platform", platform, scope.PlatformNames())
	}
	w, err := cmd.loadProjectIfAny()
	if err != nil {
		return err
	}
	found, problems := w.ListDevices(ctx, platform)
	view := deviceView{Devices: list(found), Problems: []deviceProblem{}}
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		problem := deviceProblem{Device: name, Error: cmd.redactor.Text(problems[name].Error())}
		if known := fault.As(problems[name]); known != nil {
			problem.Hint = cmd.redactor.Text(known.Hint)
		}
		view.Problems = append(view.Problems, problem)
	}
	if cmd.json {
		return cmd.writeJSON(view)
	}
	cmd.printDevices(view)
	return nil
}

func (cmd *checkCommands) printDevices(view deviceView) {
	rows := [][]string{{"DEVICE", "TYPE", "STATE", "WHAT"}}
	for _, d := range view.Devices {
		rows = append(rows, []string{d.Use, d.Type, d.State, report.Clean(cmd.redactor.Text(d.Name))})
	}
	if len(rows) > 1 {
		report.Table(cmd.Stdout, cmd.style(cmd.OutTTY), rows)
	}
	for _, p := range view.Problems {
		cmd.notice(p.Device + ": " + withHint(p.Error, p.Hint))
	}
}
