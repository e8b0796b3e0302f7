package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/doctor"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/web"
)

// kinds are the kinds of device that there are; a new one is a line here (docs/decisions/0004).
func kinds() []device.Kind {
	return []device.Kind{
		web.Kind(),
	}
}

// bindDevices adds a flag for every option of every kind of device.
func (a *app) bindDevices(c *cobra.Command) {
	flags := c.Flags()
	for _, o := range a.options() {
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
		flags.String(o.Flag, "", usage)
	}
}

func (a *app) options() []device.Option {
	var all []device.Option
	for _, k := range a.Devices {
		all = append(all, k.Options...)
	}
	return all
}

// deviceValues is what is set of the options for a device: by the project, over that by the environment, over that by flags. c may be
// nil.
func (a *app) deviceValues(project *config.Project, d config.Device, c *cobra.Command) (map[string]string, error) {
	values := map[string]string{}
	if project != nil {
		values = project.DeviceValues(d)
	}
	var wrong []error
	for _, o := range a.options() {
		from := "device: " + o.Key + " in the project file"
		if value, ok := a.Getenv(o.Env); ok && o.Env != "" && value != "" {
			values[o.Key], from = value, o.Env
		}
		if c != nil && c.Flags().Changed(o.Flag) {
			values[o.Key], from = c.Flags().Lookup(o.Flag).Value.String(), "--"+o.Flag
		}
		if _, err := strconv.ParseBool(values[o.Key]); o.Switch && values[o.Key] != "" && err != nil {
			wrong = append(wrong, fault.New(fault.Misuse, "write true or false", "%s: %q is neither true nor false", from, values[o.Key]))
		}
	}
	return values, errors.Join(wrong...)
}

// deviceProblems are settings of the project that no kind of device knows or takes.
func (a *app) deviceProblems(project *config.Project) fault.Problems {
	var keys []string
	for _, o := range a.options() {
		keys = append(keys, o.Key)
	}
	return project.DeviceProblems(keys, func(key, value string) error {
		var errs []error
		for _, k := range a.Devices {
			_, err := k.New(a.host(map[string]string{key: value})) // starts nothing
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

func (a *app) host(values map[string]string) device.Host {
	return device.Host{Values: values, Env: a.Env, Supervisor: a.supervisor}
}

// backends are those of one set of values.
type backends struct {
	values  map[string]string
	devices []session.Backend
	wanted  bool // by the run that is next
}

// devices returns the backends for a device with these values; devices with the same values share them. close ends them.
func (a *app) devices(values map[string]string) ([]session.Backend, error) {
	for i, b := range a.backends {
		if maps.Equal(b.values, values) {
			a.backends[i].wanted = true
			return b.devices, nil
		}
	}
	b := backends{values: values, wanted: true}
	for _, k := range a.Devices {
		backend, err := k.New(a.host(values))
		if err != nil {
			return nil, err
		}
		b.devices = append(b.devices, session.Backend{Kind: k, Backend: backend})
	}
	a.backends = append(a.backends, b)
	return b.devices, nil
}

// closeDevices closes the backends that are done. What goes wrong changes no result, and is said.
func (a *app) closeDevices(ctx context.Context, done func(backends) bool) {
	a.backends = slices.DeleteFunc(a.backends, func(b backends) bool {
		if !done(b) {
			return false
		}
		for _, d := range b.devices {
			if err := d.Backend.Close(context.WithoutCancel(ctx)); err != nil {
				fmt.Fprintf(a.Stderr, "trailblaze: warning: %v\n", err)
			}
		}
		return true
	})
}

// deviceChecks are what doctor looks at.
func (a *app) deviceChecks(project *config.Project) []doctor.Device {
	values, err := a.deviceValues(project, config.Device{}, nil)
	var checks []doctor.Device
	for _, k := range a.Devices {
		d := doctor.Device{Name: k.Check, Kind: k.Name, Check: func(context.Context) (string, error) { return "", err }}
		for _, o := range k.Options {
			if value := values[o.Key]; value != "" {
				d.Asked = append(d.Asked, o.Key+" "+value)
			}
		}
		if err == nil {
			backend, broken := k.New(a.host(values))
			d.Check = func(context.Context) (string, error) { return "", broken }
			if broken == nil {
				d.Check = func(ctx context.Context) (string, error) {
					detail, err := backend.Check(ctx)
					return detail, errors.Join(err, backend.Close(ctx))
				}
			}
		}
		checks = append(checks, d)
	}
	return checks
}

// evidenceModes are the values of --evidence.
func evidenceModes() []string {
	return []string{run.EvidenceOnFailure, run.EvidenceAlways, run.EvidenceOff}
}

func checkEvidence(mode string) error {
	if slices.Contains(evidenceModes(), mode) {
		return nil
	}
	return fault.New(fault.Misuse, "write --evidence "+strings.Join(evidenceModes(), ", or --evidence "), "--evidence %q is none of them", mode)
}
