package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// deviceFlags are the flags for the devices of a run, and for how many sessions run at once.
type deviceFlags struct {
	devices []string
	all     bool
	workers int
}

func (f *deviceFlags) bind(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.devices, "device", nil,
		"`NAME` of a device of the project, or PLATFORM:NAME, such as web:a (repeatable); all of them replay each trail")
	flags.BoolVar(&f.all, "all-devices", false, "replay each trail on each of the project's devices")
	flags.IntVar(&f.workers, "workers", 0, "run at most `N` sessions at once (default: one on each device)")
	c.MarkFlagsMutuallyExclusive("device", "all-devices")
}

// useLast selects the devices of the last run, unless flags name devices.
func (f *deviceFlags) useLast(last []run.LastCase) {
	if len(f.devices) > 0 || f.all {
		return
	}
	for _, c := range last {
		if c.Device != "" && !slices.Contains(f.devices, c.Device) {
			f.devices = append(f.devices, c.Device)
		}
	}
}

// runDevices returns the devices of a choice for a run.
func runDevices(devices []workspace.Device) []run.Device {
	out := make([]run.Device, len(devices))
	for i, d := range devices {
		out[i] = run.Device(d)
	}
	return out
}

// names returns the names of the devices that the flags name.
func (f runFlags) names(project *config.Project) ([]string, error) {
	names := f.devices
	if f.command.Flags().Changed("device") && (len(names) == 0 || slices.Contains(names, "")) {
		return nil, fault.New(fault.Misuse, "write --device NAME, or leave --device out for the project's platform",
			"--device has no name")
	}
	if !f.all {
		return names, nil
	}
	for _, d := range project.Devices {
		names = append(names, d.Name)
	}
	if len(names) == 0 {
		return nil, fault.New(fault.Misuse,
			"list devices under devices: in the project file, or name some: --device web:a,web:b",
			"--all-devices: the project has no devices")
	}
	return names, nil
}
