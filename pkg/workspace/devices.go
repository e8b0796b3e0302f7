package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// addDevices adds the devices that the choice names, or the one that choice and project describe when it names none.
func (s *Sessions) addDevices(w *Workspace, c Choice) error {
	if len(c.Devices) == 0 {
		return s.addDevice(w, c, config.Device{}, w.Request(c))
	}
	var chosen []config.Device
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
		if err := w.checkNames(d, chosen, c.Options); err != nil {
			return err
		}
		if err := s.addDevice(w, c, d, onDevice(w.Request(c), d)); err != nil {
			return err
		}
		chosen = append(chosen, d)
	}
	return nil
}

// addDevice adds a device of the project, with what the choice says of it.
func (s *Sessions) addDevice(w *Workspace, c Choice, d config.Device, request scope.Request) error {
	values, err := w.OptionValues(d, c.Options)
	if err != nil {
		return err
	}
	set, err := w.acquire(values)
	if err != nil {
		return err
	}
	s.inUse = append(s.inUse, set)
	device := session.Device{
		Name: d.Name, ID: d.ID, Env: d.Env, Backends: set.backends, Width: c.Width, Height: c.Height,
		Classifiers: c.Classifiers, Request: request,
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

// checkNames refuses an option that names another device than d, or that makes it one of those that were chosen before.
func (w *Workspace) checkNames(d config.Device, before []config.Device, options map[string]string) error {
	for _, k := range w.Kinds {
		for _, o := range k.Options {
			value, source, given := w.given(o, options)
			hasID := o.Key == k.IDOption && d.ID != ""
			switch {
			case !given || !o.Names || !isOfKind(d, k):
			case hasID && source != o.Env && value != d.ID:
				return fault.New(fault.Misuse, "leave out "+source, "%s %s is another device than --device %s, which is %s", source, value, d.Name, d.ID)
			case hasID: // which wins over the environment
			default:
				if other, found := w.differentIn(k, o.Key, d, before); found {
					return fault.New(fault.Misuse, "leave it out, so that each has its own "+o.Key,
						"%s makes %s and %s the same device", source, other.Name, d.Name)
				}
			}
		}
	}
	return nil
}

// differentIn returns a device of d's kind to which the project gives another value of an option than to d.
func (w *Workspace) differentIn(k device.Kind, key string, d config.Device, others []config.Device) (other config.Device, found bool) {
	mine := w.Project.DeviceValues(kindName(k), d)[key]
	for _, other := range others {
		its := w.Project.DeviceValues(kindName(k), other)[key]
		if isOfKind(other, k) && mine != "" && its != "" && its != mine {
			return other, true
		}
	}
	return other, false
}

// isOfKind reports whether sessions on a device are on one of a kind.
func isOfKind(d config.Device, k device.Kind) bool {
	driver, _ := scope.ParseDriver(d.Driver)
	return kindName(k) == cmp.Or(d.Platform, driver.Platform.Lower())
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
	for _, k := range w.Kinds {
		if hasName && d.ID == "" && k.IDOption != "" && isOfKind(d, k) {
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

// OptionValues are the values of options of devices, by the name of their kind of device and their key.
type OptionValues map[string]map[string]string

// OptionValues returns the options that are set for a device. Its id wins over those of a choice, by the names of their
// flags, these win over the environment, and the environment over the project.
func (w *Workspace) OptionValues(d config.Device, options map[string]string) (OptionValues, error) {
	all := OptionValues{}
	var errs []error
	for _, k := range w.Kinds {
		inProject, values := w.Project.DeviceValues(kindName(k), d), map[string]string{}
		for _, o := range k.Options {
			value, source, ok := w.given(o, options)
			if !ok {
				value, ok = inProject[o.Key]
				value, source = below(w.Project.Root, o, value), fmt.Sprintf("device.%s.%s in the project file", kindName(k), o.Key)
			}
			if o.Key == k.IDOption && d.ID != "" {
				value, ok = d.ID, true
			}
			if _, err := strconv.ParseBool(value); o.Switch && value != "" && err != nil {
				errs = append(errs, fault.New(fault.Misuse, "write true or false", "%s: %q is neither true nor false", source, value))
			}
			if ok {
				values[o.Key] = value
			}
		}
		all[k.Name] = values
	}
	return all, errors.Join(errs...)
}

// given returns the value of an option in a choice, or else in the environment, and the flag or the variable with it.
func (w *Workspace) given(o device.Option, options map[string]string) (value, source string, ok bool) {
	if chosen, is := options[o.Flag]; is && o.Flag != "" {
		return below(w.Dir, o, chosen), "--" + o.Flag, true
	}
	value, _ = w.Getenv(o.Env)
	return below(w.Dir, o, value), o.Env, o.Env != "" && value != ""
}

// below returns the value of an option: a relative path below a folder.
func below(dir string, o device.Option, value string) string {
	if !o.Path || value == "" || filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(dir, filepath.FromSlash(value))
}

// WithoutIDs returns the options of a choice without those that name a device by its id.
func (o *Opener) WithoutIDs(options map[string]string) map[string]string {
	rest := maps.Clone(options)
	for _, k := range o.Kinds {
		for _, option := range k.Options {
			if option.Key == k.IDOption {
				delete(rest, option.Flag)
			}
		}
	}
	return rest
}

// addOptionSecrets adds the secrets in the options of all devices.
func (w *Workspace) addOptionSecrets(to *redact.Set, options map[string]string) {
	for _, d := range append([]config.Device{{}}, w.Project.Devices...) {
		all, _ := w.OptionValues(d, options) // its error is shown when the device is used
		for _, k := range w.Kinds {
			if k.Secrets != nil {
				to.Add(k.Secrets(all[k.Name]))
			}
		}
	}
}

// deviceProblems returns a problem for each device setting of the project that no kind of device knows or accepts.
func (w *Workspace) deviceProblems() fault.Problems {
	kinds := make([]config.DeviceKind, len(w.Kinds))
	for i, k := range w.Kinds {
		kinds[i].Name = kindName(k)
		options := map[string]device.Option{}
		for _, o := range k.Options {
			kinds[i].Keys, options[o.Key] = append(kinds[i].Keys, o.Key), o
		}
		kinds[i].Check = func(key, value string) error {
			_, err := w.NewBackend(k, map[string]string{key: below(w.Project.Root, options[key], value)})
			return err
		}
	}
	return w.Project.DeviceProblems(kinds)
}

// kindName is the name of a kind of device under device: in the project file.
func kindName(k device.Kind) string {
	d, _ := scope.ParseDriver(k.Drivers[0])
	return d.Platform.Lower()
}

// NewBackend returns a backend of a kind of device with these values of its options, which the caller closes. It starts
// nothing.
func (w *Workspace) NewBackend(k device.Kind, values map[string]string) (device.Backend, error) {
	return k.New(device.Host{
		Values: values, Env: w.Env, Dir: cmp.Or(w.Project.Root, w.Dir), StateDir: w.StateDir,
		Programs: local.Programs(w.Supervisor), ExitGrace: w.ExitGrace,
	})
}

// commandNames returns the names of the commands of every kind of device.
func (o *Opener) commandNames() []string {
	var names []string
	for _, k := range o.Kinds {
		for _, c := range k.Commands() {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// backendSet are the backends of a project for one set of option values, one for each kind of device.
type backendSet struct {
	root     string // of the project; empty without one
	values   OptionValues
	backends []session.Backend
	users    int // acquire was called so much more often than release
}

// acquire returns the backends for option values, which are made if nobody uses such.
func (w *Workspace) acquire(values OptionValues) (*backendSet, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, set := range w.open {
		if set.root == w.Project.Root && maps.EqualFunc(set.values, values, maps.Equal[map[string]string, map[string]string]) {
			set.users++
			return set, nil
		}
	}
	set := &backendSet{root: w.Project.Root, values: values, users: 1}
	for _, k := range w.Kinds {
		backend, err := w.NewBackend(k, values[k.Name])
		if err != nil {
			return nil, err
		}
		set.backends = append(set.backends, session.Backend{Kind: k, Backend: backend})
	}
	w.open = append(w.open, set)
	return set, nil
}

// release gives sets back and closes those that nobody uses any more, also after ctx was cancelled. An error is only a
// warning.
func (o *Opener) release(ctx context.Context, sets []*backendSet) {
	o.mu.Lock()
	for _, set := range sets {
		set.users--
	}
	var unused []*backendSet
	o.open = slices.DeleteFunc(o.open, func(set *backendSet) bool {
		if set.users <= 0 {
			unused = append(unused, set)
		}
		return set.users <= 0
	})
	o.mu.Unlock()
	for _, set := range unused {
		for _, b := range set.backends {
			if err := b.Close(context.WithoutCancel(ctx)); err != nil {
				o.Warn(err)
			}
		}
	}
}
