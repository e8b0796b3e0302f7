package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/android"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/ios"
	"github.com/trailblaze/trailblaze/pkg/run"
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

// bindDevices adds a flag for every option of every kind of device.
func (p *program) bindDevices(c *cobra.Command) {
	flags := c.Flags()
	for _, o := range p.options() {
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
func (p *program) options() []device.Option {
	var all []device.Option
	for _, k := range p.Devices {
		all = append(all, k.Options...)
	}
	return all
}

// setOptions returns the options of devices that are given to a command, by the names of their flags.
func (p *program) setOptions(c *cobra.Command) map[string]string {
	set := map[string]string{}
	if c == nil {
		return set
	}
	for _, o := range p.options() {
		if c.Flags().Changed(o.Flag) {
			set[o.Flag] = c.Flags().Lookup(o.Flag).Value.String()
		}
	}
	return set
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
