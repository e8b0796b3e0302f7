package workspace

import (
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
)

// OptionValues are the values of options of devices, by the name of their kind of device and their key.
type OptionValues map[string]map[string]string

// OptionValues returns the options that are set for a device. Those of a choice, by the names of their flags, win over
// the environment, the environment over the project.
func (w *Workspace) OptionValues(d config.Device, options map[string]string) (OptionValues, error) {
	return w.optionValues(w.Project, d, options)
}

// optionValues implements OptionValues. project may be nil.
func (o *Opener) optionValues(project *config.Project, d config.Device, options map[string]string) (OptionValues, error) {
	all := OptionValues{}
	var errs []error
	for _, k := range o.Kinds {
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
		errs = append(errs, o.overrideOptions(values, k, options))
		all[k.Name] = values
	}
	return all, errors.Join(errs...)
}

// addOptionSecrets adds the secrets in the options of all devices. project may be nil.
func (o *Opener) addOptionSecrets(to *redact.Set, project *config.Project, options map[string]string) {
	devices := []config.Device{{}}
	if project != nil {
		devices = append(devices, project.Devices...)
	}
	for _, d := range devices {
		all, _ := o.optionValues(project, d, options) // its error is shown when the device is used
		for _, k := range o.Kinds {
			if k.Secrets != nil {
				to.Add(k.Secrets(all[k.Name]))
			}
		}
	}
}

func hasOption(k device.Kind, key string) bool {
	return slices.ContainsFunc(k.Options, func(o device.Option) bool { return o.Key == key })
}

// overrideOptions replaces values of a kind's options by those of the environment and of a choice.
func (o *Opener) overrideOptions(values map[string]string, k device.Kind, options map[string]string) error {
	var errs []error
	for _, option := range k.Options {
		source := fmt.Sprintf("device.%s.%s in the project file", kindName(k), option.Key)
		if value, ok := o.Getenv(option.Env); ok && option.Env != "" && value != "" {
			values[option.Key], source = value, option.Env
		}
		if value, ok := options[option.Flag]; ok && option.Flag != "" {
			values[option.Key], source = value, "--"+option.Flag
		}
		if path := values[option.Key]; option.Path && path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(source, "device.") {
			values[option.Key] = filepath.Join(o.Dir, path)
		}
		if _, err := strconv.ParseBool(values[option.Key]); option.Switch && values[option.Key] != "" && err != nil {
			errs = append(errs, fault.New(fault.Misuse, "write true or false",
				"%s: %q is neither true nor false", source, values[option.Key]))
		}
	}
	return errors.Join(errs...)
}

// deviceProblems returns a problem for each device setting of the project that no kind of device knows or accepts.
func (w *Workspace) deviceProblems() fault.Problems {
	kinds := make([]config.DeviceKind, len(w.Kinds))
	for i, k := range w.Kinds {
		kinds[i].Name = kindName(k)
		for _, o := range k.Options {
			kinds[i].Keys = append(kinds[i].Keys, o.Key)
		}
		kinds[i].Check = func(key, value string) error {
			_, err := w.NewBackend(k, map[string]string{key: inProject(w.Project, k, key, value)})
			return err
		}
	}
	return w.Project.DeviceProblems(kinds)
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

// NewBackend returns a backend of a kind of device with these values of its options, which the caller closes. It starts
// nothing.
func (o *Opener) NewBackend(k device.Kind, values map[string]string) (device.Backend, error) {
	return k.New(device.Host{
		Values: values, Env: o.Env, Dir: o.Dir, StateDir: o.StateDir, Programs: local.Programs(o.Supervisor), ExitGrace: o.ExitGrace,
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
