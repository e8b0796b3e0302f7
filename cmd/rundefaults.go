package cmd

import (
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
)

// withDefaults returns the flags with the project's values for those that are not on the command line. A list has no
// reports.
func (a *runCommand) withDefaults(f runFlags, d config.RunDefaults) runFlags {
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
		f.junit = a.shown(d.JUnit)
	}
	if !f.given("html") {
		f.html = a.shown(d.HTML)
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

// shown returns a path that may be empty, relative to the working directory when it is below it.
func (s System) shown(path string) string {
	if path == "" {
		return ""
	}
	return s.relative([]string{path})[0]
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
func (a *runCommand) listTrails(o run.Options) error {
	cases, err := run.List(o)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"trails": cases})
	}
	for _, c := range cases {
		line := c.File + "  " + c.Title
		if c.Device != "" {
			line += " [" + c.Device + "]"
		}
		if _, err := fmt.Fprintln(a.Stdout, report.Clean(a.redactor.Text(line))); err != nil {
			return err
		}
		if c.Problem != "" {
			problem, _, _ := strings.Cut(c.Problem, "\n")
			a.notice("warning: " + report.Clean(a.redactor.Text(problem)))
		}
	}
	return nil
}
