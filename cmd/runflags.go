package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
)

// withDefaults returns the flags with the project's values for those that are not on the command line. A list has no
// reports.
func (cmd *runCommand) withDefaults(f runFlags, d config.RunDefaults) runFlags {
	if !f.given("workers") {
		f.workers = d.Workers
	}
	if !f.given("retries") {
		f.retries = d.Retries
	}
	if !f.given("timeout") {
		f.timeout = d.Timeout
	}
	if !f.given("fail-on-flaky") {
		f.failOnFlaky = d.FailOnFlaky
	}
	if !f.given("trace") && d.Trace != "" {
		f.trace = d.Trace
	}
	if !f.given("junit") {
		f.junit = cmd.relative(d.JUnit)
	}
	if !f.given("html") {
		f.html = cmd.relative(d.HTML)
	}
	switch {
	case f.failFast:
		f.maxFailures = 1
	case !f.given("max-failures") && !f.given("fail-fast"):
		f.maxFailures = d.MaxFailures
	}
	if f.list {
		f.junit, f.html = "", ""
	}
	return f
}

// given reports whether a flag is on the command line.
func (f runFlags) given(flag string) bool { return f.command.Flags().Changed(flag) }

// timeoutName names what sets the limit of the run.
func (f runFlags) timeoutName() string {
	if f.given("timeout") {
		return "--timeout"
	}
	return "run.timeout"
}

// listTrails prints what a run with the options would replay.
func (cmd *runCommand) listTrails(o run.Options) error {
	cases, err := run.List(o)
	if err != nil {
		return err
	}
	if cmd.json {
		return cmd.writeJSON(map[string]any{"trails": cases})
	}
	for _, c := range cases {
		line := c.File + "  " + c.Title
		if c.Device != "" {
			line += " [" + c.Device + "]"
		}
		if _, err := fmt.Fprintln(cmd.Stdout, report.Clean(cmd.redactor.Text(line))); err != nil {
			return err
		}
		if c.Problem != "" {
			problem, _, _ := strings.Cut(c.Problem, "\n")
			cmd.notice("warning: " + cmd.redactor.Text(problem))
		}
	}
	return nil
}

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
	flags.BoolVar(&f.all, "all-devices", false, "replay each trail on each of the project's devices; if it has none, on all that \"device list\" shows as ready")
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
	return names, nil
}
