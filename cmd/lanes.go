package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// laneFlags say on which devices trails are replayed, and how many sessions there may be at once.
type laneFlags struct {
	devices []string
	all     bool
	workers int
}

func (f *laneFlags) bind(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.devices, "device", nil,
		"`NAME` of a device of the project, or PLATFORM:NAME for any other, such as web:a; each trail is replayed on each of them")
	flags.BoolVar(&f.all, "all-devices", false, "replay each trail on each of the project's devices")
	flags.IntVar(&f.workers, "workers", 0, "at most `N` sessions at once (default: one for each device)")
	c.MarkFlagsMutuallyExclusive("device", "all-devices")
}

// again means the devices of the last run, unless others are named.
func (f *laneFlags) again(last []run.LastCase) {
	if len(f.devices) > 0 || f.all {
		return
	}
	for _, c := range last {
		if c.Device != "" && !slices.Contains(f.devices, c.Device) {
			f.devices = append(f.devices, c.Device)
		}
	}
}

// lanes are the devices that the flags name, none when they name none.
func (a *app) lanes(project *config.Project, f runFlags, setup run.Setup) ([]run.Lane, error) {
	if f.workers < 0 || f.workers == 0 && f.command.Flags().Changed("workers") {
		return nil, fault.New(fault.Misuse, "leave it out for one session at a time on each device", "--workers %d is less than 1", f.workers)
	}
	names := f.devices
	if f.command.Flags().Changed("device") && (len(names) == 0 || slices.Contains(names, "")) {
		return nil, fault.New(fault.Misuse, "leave the flag out for the project's own platform", "a --device has no name")
	}
	if f.all {
		for _, d := range project.Devices {
			names = append(names, d.Name)
		}
		if len(names) == 0 {
			return nil, fault.New(fault.Misuse, "list them under devices: in the project file, or name some: --device web:a,web:b",
				"--all-devices: the project names no device")
		}
	}
	var lanes []run.Lane
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fault.New(fault.Misuse, "name it once", "--device %s is there twice", name)
		}
		lane, err := a.lane(project, f, setup, name)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, lane)
	}
	return lanes, nil
}

// lane is one device. What flags say of all devices wins over what the project says of it.
func (a *app) lane(project *config.Project, f runFlags, setup run.Setup, name string) (run.Lane, error) {
	d, err := findDevice(project, name)
	if err != nil {
		return run.Lane{}, err
	}
	if f.driver+f.platform != "" {
		return run.Lane{}, fault.New(fault.Misuse, "leave out --driver and --platform", "--device %s says already what the device is", name)
	}
	lane := run.Lane{
		Name: name, Request: onDevice(setup.Request, d), Classifiers: f.classifiers, Width: setup.Width, Height: setup.Height,
	}
	if len(lane.Classifiers) == 0 {
		lane.Classifiers = d.Classifiers
	}
	if lane.Width == 0 {
		lane.Width, lane.Height = d.Width, d.Height
	}
	values, err := a.deviceValues(project, d, f.command)
	if err == nil {
		lane.Devices, err = a.devices(values)
	}
	return lane, err
}

// onDevice adds what the device is. A default of the project or the environment that is for another platform is not meant for it.
func onDevice(req scope.Request, d config.Device) scope.Request {
	if d.Driver != "" {
		req.FlagDriver = d.Driver
	}
	if d.Platform == "" {
		return req
	}
	req.FlagPlatform = d.Platform
	for _, word := range []*string{&req.EnvDriver, &req.ProjectDriver} {
		if driver, ok := scope.ParseDriver(*word); ok && driver.Platform.Lower() != d.Platform {
			*word = ""
		}
	}
	return req
}

// findDevice is one of the project's devices, or any of a platform or driver.
func findDevice(project *config.Project, name string) (config.Device, error) {
	if d, ok := project.FindDevice(name); ok {
		return d, nil
	}
	what, rest, named := strings.Cut(name, ":")
	d := config.Device{Name: name}
	driver, isDriver := scope.ParseDriver(what)
	platform, isPlatform := scope.ParsePlatform(what)
	switch {
	case named && rest == "":
		return d, fault.New(fault.Misuse, "write PLATFORM:NAME, such as web:a", "--device %q has no name", name)
	case isDriver:
		d.Driver = driver.Key
	case isPlatform:
		d.Platform = platform.Lower()
	default:
		return d, unknownDevice(project, name)
	}
	return d, nil
}

func unknownDevice(project *config.Project, name string) error {
	names := scope.PlatformNames()
	for _, d := range project.Devices {
		names = append(names, d.Name)
	}
	hint := "write PLATFORM:NAME, such as web:a; known are " + strings.Join(names, ", ")
	if len(fault.Nearest(name, names)) > 0 {
		hint = fault.DidYouMean(name, names)
	}
	return fault.New(fault.Misuse, hint, "--device %q is neither one of the project's devices nor a platform", name)
}
