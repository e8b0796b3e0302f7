package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/android"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/ios"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/web"
)

// kinds returns the kinds of device that trailblaze has. Add a new kind here (docs/decisions/0004).
func kinds() []device.Kind {
	return []device.Kind{
		web.Kind(),
		android.Kind(),
		ios.Kind(),
	}
}

// commandNames returns the names of the commands of every kind of device.
func (a *app) commandNames() []string {
	var names []string
	for _, k := range a.Devices {
		for _, c := range k.Commands() {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// bindDevices adds a flag for every option of every kind of device.
func (a *app) bindDevices(c *cobra.Command) {
	flags := c.Flags()
	for _, o := range a.options() {
		if o.Flag == "" || flags.Lookup(o.Flag) != nil { // of two kinds that share an option, one adds the flag
			continue
		}
		usage := o.Usage
		var more []string
		if o.Env != "" {
			more = append(more, "env "+o.Env)
		}
		if o.Default != "" {
			more = append(more, "default "+o.Default)
		}
		if len(more) > 0 {
			usage += " (" + strings.Join(more, "; ") + ")"
		}
		if o.Switch {
			flags.Bool(o.Flag, false, usage)
			continue
		}
		if o.List {
			flags.Var(new(listValue), o.Flag, usage)
			continue
		}
		flags.String(o.Flag, "", usage)
	}
}

// listValue is the value of a flag that may be given several times.
type listValue string

// Set implements pflag.Value.
func (l *listValue) Set(value string) error {
	if *l != "" {
		value = string(*l) + "," + value
	}
	*l = listValue(value)
	return nil
}

func (l *listValue) String() string { return string(*l) }

// Type implements pflag.Value.
func (*listValue) Type() string { return "string" }

// options returns the options of all kinds of device.
func (a *app) options() []device.Option {
	var all []device.Option
	for _, k := range a.Devices {
		all = append(all, k.Options...)
	}
	return all
}

// optionValues are the values of options, by the name of their kind of device and their key.
type optionValues map[string]map[string]string

// deviceValues returns the options that are set for a device. Flags of c win over the environment, the environment over
// the project file. c and project may be nil.
func (a *app) deviceValues(project *config.Project, d config.Device, c *cobra.Command) (optionValues, error) {
	all := optionValues{}
	var errs []error
	for _, k := range a.Devices {
		values := map[string]string{}
		if project != nil {
			values = project.DeviceValues(kindName(k), d)
			maps.DeleteFunc(values, func(key, _ string) bool { return !hasOption(k, key) }) // of another kind
			for key, value := range values {
				values[key] = inProject(project, k, key, value)
			}
			if k.IDOption != "" && d.ID != "" {
				values[k.IDOption] = d.ID
			}
		}
		errs = append(errs, a.overrideOptions(values, k, c))
		all[k.Name] = values
	}
	return all, errors.Join(errs...)
}

// deviceSecrets returns the secrets in the options of all devices, from flags, the environment and the project file.
// The project may be nil.
func (a *app) deviceSecrets(project *config.Project) map[string]string {
	secrets := map[string]string{}
	devices := []config.Device{{}}
	if project != nil {
		devices = append(devices, project.Devices...)
	}
	for _, d := range devices {
		all, _ := a.deviceValues(project, d, nil) // its error is shown when the device is used
		for _, k := range a.Devices {
			if k.Secrets == nil {
				continue
			}
			for _, o := range k.Options {
				if value := lastFlag(a.Args, o.Flag); value != "" {
					all[k.Name][o.Key] = value
				}
			}
			maps.Copy(secrets, k.Secrets(all[k.Name]))
		}
	}
	return secrets
}

// lastFlag returns the last value of a flag in arguments; empty when it is not there. They are not parsed yet.
func lastFlag(args []string, name string) string {
	value := ""
	for i, arg := range args {
		flag, given, ok := strings.Cut(arg, "=")
		if name == "" || flag != "--"+name {
			continue
		}
		if !ok && i+1 < len(args) {
			given = args[i+1]
		}
		value = given
	}
	return value
}

func hasOption(k device.Kind, key string) bool {
	return slices.ContainsFunc(k.Options, func(o device.Option) bool { return o.Key == key })
}

// overrideOptions replaces values of a kind's options by those of the environment and of the flags of c.
func (a *app) overrideOptions(values map[string]string, k device.Kind, c *cobra.Command) error {
	var errs []error
	for _, o := range k.Options {
		source := fmt.Sprintf("device.%s.%s in the project file", kindName(k), o.Key)
		if value, ok := a.Getenv(o.Env); ok && o.Env != "" && value != "" {
			values[o.Key], source = value, o.Env
		}
		if c != nil && c.Flags().Changed(o.Flag) {
			values[o.Key], source = c.Flags().Lookup(o.Flag).Value.String(), "--"+o.Flag
		}
		if path := values[o.Key]; o.Path && path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(source, "device.") {
			values[o.Key] = filepath.Join(a.Dir, path)
		}
		if _, err := strconv.ParseBool(values[o.Key]); o.Switch && values[o.Key] != "" && err != nil {
			errs = append(errs, fault.New(fault.Misuse, "write true or false",
				"%s: %q is neither true nor false", source, values[o.Key]))
		}
	}
	return errors.Join(errs...)
}

// deviceProblems returns a problem for each device setting of the project that no kind of device knows or accepts.
func (a *app) deviceProblems(project *config.Project) fault.Problems {
	kinds := make([]config.DeviceKind, len(a.Devices))
	for i, k := range a.Devices {
		kinds[i].Name = kindName(k)
		for _, o := range k.Options {
			kinds[i].Keys = append(kinds[i].Keys, o.Key)
		}
		kinds[i].Check = func(key, value string) error {
			_, err := k.New(a.host(map[string]string{key: inProject(project, k, key, value)})) // starts nothing
			return err
		}
	}
	return project.DeviceProblems(kinds)
}

// inProject returns the value of a setting in the project file: a relative path below the project's folder.
func inProject(project *config.Project, k device.Kind, key, value string) string {
	isPath := slices.ContainsFunc(k.Options, func(o device.Option) bool { return o.Key == key && o.Path })
	if !isPath || value == "" || filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(project.Root, filepath.FromSlash(value))
}

// kindName is the name of a kind of device under device: in the project file.
func kindName(k device.Kind) string {
	d, _ := scope.ParseDriver(k.Drivers[0])
	return d.Platform.Lower()
}

func (a *app) host(values map[string]string) device.Host {
	return device.Host{
		Values: values, Env: a.Env, Dir: a.Dir, StateDir: a.stateDir(), Programs: local.Programs(a.supervisor),
		ExitGrace: a.ExitGrace,
	}
}

// backends are the backends for one set of option values, one for each kind of device.
type backends struct {
	values  optionValues
	devices []session.Backend
	inUse   bool // by the next run
}

// devices returns the backends for a device with these option values. Devices with equal values share them.
// closeDevices closes them.
func (a *app) devices(values optionValues) ([]session.Backend, error) {
	a.backendsMu.Lock()
	defer a.backendsMu.Unlock()
	for i, b := range a.backends {
		if maps.EqualFunc(b.values, values, maps.Equal[map[string]string, map[string]string]) {
			a.backends[i].inUse = true
			return b.devices, nil
		}
	}
	b := backends{values: values, inUse: true}
	for _, k := range a.Devices {
		backend, err := k.New(a.host(values[k.Name]))
		if err != nil {
			return nil, err
		}
		b.devices = append(b.devices, session.Backend{Kind: k, Backend: backend})
	}
	a.backends = append(a.backends, b)
	return b.devices, nil
}

// closeDevices closes the backends for which done returns true. An error is only a warning.
func (a *app) closeDevices(ctx context.Context, done func(backends) bool) {
	a.backends = slices.DeleteFunc(a.backends, func(b backends) bool {
		if !done(b) {
			return false
		}
		for _, d := range b.devices {
			if err := d.Close(context.WithoutCancel(ctx)); err != nil {
				fmt.Fprintf(a.Stderr, "trailblaze: warning: %v\n", err)
			}
		}
		return true
	})
}

// evidenceModes returns the values of --evidence.
func evidenceModes() []string {
	return []string{run.EvidenceOnFailure, run.EvidenceAlways, run.EvidenceOff}
}

// checkMode returns an error if the value of a flag is not one of its modes.
func checkMode(flag, value string, modes []string) error {
	if slices.Contains(modes, value) {
		return nil
	}
	return fault.New(fault.Misuse, "write "+flag+" "+strings.Join(modes, ", or "+flag+" "),
		"%s: unknown value %q", flag, value)
}
