package workspace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// Device is a device of a choice.
type Device struct {
	session.Device
	Request     scope.Request // the settings of choice, environment, project and device that decide the scope
	Classifiers []string      // broadest first; empty: those that the backend reports
}

// addDevices adds the devices that the choice names, or the one that choice and project describe when it names none.
func (s *Sessions) addDevices(w *Workspace, c Choice) error {
	if len(c.Devices) == 0 {
		return s.addDevice(w, c, config.Device{}, w.Request(c))
	}
	for i, name := range c.Devices {
		if slices.Contains(c.Devices[:i], name) {
			return fault.New(fault.Misuse, "name each device once", "--device %s is given twice", name)
		}
		d, err := w.findDevice(name)
		if err != nil {
			return err
		}
		if c.Driver+c.Platform != "" {
			return fault.New(fault.Misuse, "leave out --driver and --platform",
				"--device %s already determines driver and platform", name)
		}
		if err := s.addDevice(w, c, d, onDevice(w.Request(c), d)); err != nil {
			return err
		}
	}
	return nil
}

// addDevice adds a device of the project, with what the choice says of it.
func (s *Sessions) addDevice(w *Workspace, c Choice, d config.Device, request scope.Request) error {
	values, err := w.OptionValues(d, c.Options)
	if err != nil {
		return err
	}
	set, err := w.backendsFor(values)
	if err != nil {
		return err
	}
	s.inUse = append(s.inUse, set)
	device := Device{
		Device: session.Device{
			Name: d.Name, ID: d.ID, Env: d.Env, Backends: set.backends, Width: c.Width, Height: c.Height,
		},
		Request: request, Classifiers: c.Classifiers,
	}
	if len(device.Classifiers) == 0 {
		device.Classifiers = d.Classifiers
	}
	if device.Width == 0 {
		device.Width, device.Height = d.Width, d.Height
	}
	s.Devices = append(s.Devices, device)
	return nil
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

// findDevice returns the device with a name: one of the project's, or PLATFORM:NAME or DRIVER:NAME. In those, the name
// is the platform's identifier of the device, if its kind has identifiers.
func (w *Workspace) findDevice(name string) (config.Device, error) {
	d, known := w.Project.FindDevice(name)
	prefix, id, hasName := strings.Cut(name, ":")
	driver, isDriver := scope.ParseDriver(prefix)
	platform, isPlatform := scope.ParsePlatform(prefix)
	switch {
	case known:
	case hasName && id == "":
		return d, fault.New(fault.Misuse, "write PLATFORM:NAME, such as web:a", "--device %q has no name", name)
	case isDriver:
		d = config.Device{Name: name, Driver: driver.Key}
	case isPlatform:
		d = config.Device{Name: name, Platform: platform.Lower()}
	default:
		return d, unknownDevice(w.Project, name)
	}
	driver, _ = scope.ParseDriver(d.Driver)
	for _, k := range w.Kinds {
		if hasName && d.ID == "" && k.IDOption != "" && kindName(k) == cmp.Or(d.Platform, driver.Platform.Lower()) {
			d.ID = id
		}
	}
	return d, nil
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
