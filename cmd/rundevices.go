package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
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

// runDevices returns the devices that the flags name, or the one that flags and project describe when they name none.
func (a *app) runDevices(project *config.Project, f runFlags, setup setup) ([]run.Device, error) {
	if f.workers < 0 || f.workers == 0 && f.command.Flags().Changed("workers") {
		return nil, fault.New(fault.Misuse, "leave --workers out for one session at a time on each device",
			"--workers %d is less than 1", f.workers)
	}
	names, err := f.names(project)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return []run.Device{{Device: setup.device, Request: setup.request, Classifiers: f.classifiers}}, nil
	}
	devices := make([]run.Device, len(names))
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fault.New(fault.Misuse, "name each device once", "--device %s is given twice", name)
		}
		if devices[i], err = a.runDevice(project, f, setup, name); err != nil {
			return nil, err
		}
	}
	return devices, nil
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

// runDevice returns the device with a name. Flags win over the project file.
func (a *app) runDevice(project *config.Project, f runFlags, setup setup, name string) (run.Device, error) {
	d, err := findDevice(project, name)
	if err != nil {
		return run.Device{}, err
	}
	a.identify(&d)
	if f.driver+f.platform != "" {
		return run.Device{}, fault.New(fault.Misuse, "leave out --driver and --platform",
			"--device %s already determines driver and platform", name)
	}
	device := run.Device{
		Device: session.Device{
			Name: name, ID: d.ID, Env: d.Env, Width: setup.device.Width, Height: setup.device.Height,
		},
		Request: onDevice(setup.request, d), Classifiers: f.classifiers,
	}
	if len(device.Classifiers) == 0 {
		device.Classifiers = d.Classifiers
	}
	if device.Width == 0 {
		device.Width, device.Height = d.Width, d.Height
	}
	values, err := a.deviceValues(project, d, f.command)
	if err == nil {
		device.Backends, err = a.devices(values)
	}
	return device, err
}

// onDevice returns the request for a device: with its platform and driver, without defaults of the project and the
// environment that are for another platform.
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

// findDevice returns the device that a --device flag names: one of the project's, or PLATFORM:NAME or DRIVER:NAME.
func findDevice(project *config.Project, name string) (config.Device, error) {
	if d, ok := project.FindDevice(name); ok {
		return d, nil
	}
	prefix, rest, hasName := strings.Cut(name, ":")
	d := config.Device{Name: name}
	driver, isDriver := scope.ParseDriver(prefix)
	platform, isPlatform := scope.ParsePlatform(prefix)
	switch {
	case hasName && rest == "":
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

// identify takes the name in PLATFORM:NAME as the platform's identifier of a device, if its kind has identifiers.
func (a *app) identify(d *config.Device) {
	_, id, named := strings.Cut(d.Name, ":")
	driver, _ := scope.ParseDriver(d.Driver)
	for _, k := range a.Devices {
		if named && d.ID == "" && k.IDOption != "" && kindName(k) == cmp.Or(d.Platform, driver.Platform.Lower()) {
			d.ID = id
		}
	}
}

func unknownDevice(project *config.Project, name string) error {
	names := scope.PlatformNames()
	for _, d := range project.Devices {
		names = append(names, d.Name)
	}
	hint := "write PLATFORM:NAME, such as web:a, or one of: " + strings.Join(names, ", ")
	if len(fault.Nearest(name, names)) > 0 {
		hint = fault.DidYouMeanListed(name, names, "devices: in the project file lists the devices")
	}
	return fault.New(fault.Misuse, hint, "--device %q is neither one of the project's devices nor a platform", name)
}
