package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/doctor"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
)

func (a *app) newDoctor() *cobra.Command {
	var deep, clean bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine and the project are ready",
		Long: `Check the JavaScript runtimes, the devices, the project's files, and each server's script and packages. Processes
that a killed run left running are killed. The exit code is 2 when a check fails.`,
		Example: "  trailblaze doctor\n  trailblaze doctor --deep",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), deep, clean) },
	}
	c.Flags().BoolVar(&deep, "deep", false, "also start every server and list its tools")
	c.Flags().BoolVar(&clean, "clean-cache", false, "delete the cached bundles")
	return c
}

func (a *app) doctor(ctx context.Context, deep, clean bool) error {
	o := doctor.Options{
		Runtimes: a.runtimes, Env: a.Env, CacheDir: a.cacheDir(), CleanCache: clean, StateDir: a.stateDir(),
	}
	o.ProjectNamed = a.project != "" || a.env("TRAILBLAZE_PROJECT") != ""
	o.Project, o.ProjectErr = a.loadProject()
	if o.ProjectErr == nil {
		o.OnDevice = o.Project.Location == string(scope.OnDevice)
	}
	if deep && o.ProjectErr == nil {
		o.Probe = func(ctx context.Context, s config.Server) (doctor.Probed, error) {
			return a.probe(ctx, o.Project, s)
		}
	}
	o.Devices = a.deviceChecks(o.Project)
	defer logStop(ctx, a.notice)()
	if _, err := a.sessionFolder().List(); err != nil { // removes the sockets of sessions that were killed
		a.notice("warning: " + err.Error())
	}
	checks := doctor.Run(ctx, o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	healthy := true
	for i, c := range checks {
		c.Name, c.Detail, c.Hint = a.redactor.Text(c.Name), a.redactor.Text(c.Detail), a.redactor.Text(c.Hint)
		checks[i] = c
		healthy = healthy && c.Status != doctor.Fail
	}
	if err := a.printDoctor(checks, healthy); err != nil {
		return err
	}
	if !healthy {
		return exitCode(fault.ExitInfra)
	}
	return nil
}

// probe starts a server, lists its tools and stops it.
func (a *app) probe(ctx context.Context, project *config.Project, s config.Server) (doctor.Probed, error) {
	setup, err := a.newSetup(project, scopeFlags{}, a.redactor)
	if err != nil {
		return doctor.Probed{}, err
	}
	var probed doctor.Probed
	setup.Stream = event.NewStream(a.Now, setup.Redactor, event.HandlerFunc(func(r event.Record) {
		if l, ok := r.Event.(event.Log); ok && l.Level == "warn" {
			probed.Warnings = append(probed.Warnings, withHint(l.Message, l.Hint))
		}
	}), a.debugLogs())
	sc, err := scope.Resolve(setup.request)
	if err != nil { // the tools can be counted in any scope
		driver, _ := scope.ParseDriver(a.Devices[0].Drivers[0])
		sc = scope.Scope{Driver: driver, Location: scope.Host}
	}
	probed.Tools, err = session.CountTools(ctx, setup.Setup, sc, s)
	return probed, err
}

func (a *app) printDoctor(checks []doctor.Check, healthy bool) error {
	if a.json {
		return a.writeJSON(map[string]any{"ok": healthy, "checks": checks})
	}
	style := a.style(a.OutTTY)
	marks := map[doctor.Status]string{doctor.OK: "ok", doctor.Warn: "warn", doctor.Fail: "FAIL"}
	rows := make([][]string, 0, len(checks))
	for _, c := range checks {
		for i, line := range strings.Split(report.Clean(c.Detail), "\n") {
			if i == 0 {
				rows = append(rows, []string{marks[c.Status], c.Name, line})
				continue
			}
			rows = append(rows, []string{"", "", line})
		}
		if c.Hint != "" {
			rows = append(rows, []string{"", "", "hint: " + c.Hint})
		}
	}
	report.StatusTable(a.Stdout, style, rows)
	summary := "\nready"
	if !healthy {
		summary = "\nnot ready: see the failed checks above"
	}
	_, err := fmt.Fprintln(a.Stdout, summary)
	return err
}
