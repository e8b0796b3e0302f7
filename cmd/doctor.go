package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/doctor"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// checkCommands check a machine and a project.
type checkCommands struct{ *program }

func (cmd *checkCommands) newDoctor() *cobra.Command {
	var f doctorFlags
	var names []string // of platforms
	var collect collectFlags
	c := &cobra.Command{
		Use:   "doctor [PROVIDER/MODEL]",
		Short: "Check that this machine and the project are ready",
		Long: `Check the JavaScript runtimes, the devices, the project's files, and each server's script and packages. The devices
are those of the platforms that the project or its trails name. Processes that a killed run left running are killed, and
what it changed on an Android phone is put back. The exit code is 2 when a check fails.

With --collect, nothing is checked. Instead FILE, a zip, gets what a phone answers to the questions of a session: its
screen, its state and how long each answer took, for people who do not have that phone. Texts of the screen, serials and
secrets are replaced; a README in it says what was replaced.

With --llm, the model of the project, or PROVIDER/MODEL, is asked three times as well. Only then does doctor send
anything to a provider.`,
		Example: "  trailblaze doctor\n  trailblaze doctor --deep\n  trailblaze doctor --platform android\n" +
			"  trailblaze doctor --llm\n  trailblaze doctor --llm ollama/qwen3\n" +
			"  trailblaze doctor --collect phone.zip --platform android",
		Args: func(c *cobra.Command, args []string) error {
			if f.llm && len(args) == 1 {
				f.model = args[0]
				return nil
			}
			return noArgs(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			platforms := make([]scope.Platform, len(names))
			for i, name := range names {
				var ok bool
				if platforms[i], ok = scope.ParsePlatform(name); !ok {
					return unknownName("platform", name, scope.PlatformNames())
				}
			}
			f.platforms = platforms
			switch {
			case collect.file != "":
				return cmd.collect(c.Context(), collect, platforms)
			case collect.device != "" || collect.withText:
				return fault.New(fault.Misuse, "add --collect FILE", "--device and --with-text can be used only with --collect")
			}
			return cmd.doctor(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.deep, "deep", false, "also start every server and list its tools")
	c.Flags().BoolVar(&f.llm, "llm", false, "also ask the model of the project, or PROVIDER/MODEL, three times")
	c.Flags().StringSliceVar(&names, "platform", nil,
		"also check the devices of the platform with this `NAME` (repeatable): "+strings.Join(scope.PlatformNames(), ", "))
	complete(c, "platform", scope.PlatformNames())
	c.Flags().BoolVar(&f.clean, "clean-cache", false, "delete the cached bundles")
	c.Flags().StringVar(&collect.file, "collect", "", "write what a phone answers to `FILE`, a zip, in place of the checks")
	c.Flags().StringVar(&collect.device, "device", "", "with --collect: `NAME` of a device of the project, or PLATFORM:NAME, such as android:SERIAL")
	c.Flags().BoolVar(&collect.withText, "with-text", false, "with --collect: keep the texts of the screen")
	for _, other := range []string{"deep", "clean-cache", "llm"} {
		c.MarkFlagsMutuallyExclusive("collect", other)
	}
	return c
}

// doctorFlags are what doctor checks.
type doctorFlags struct {
	platforms        []scope.Platform
	deep, clean, llm bool
	model            string // PROVIDER/MODEL; empty for the project's
}

func (cmd *checkCommands) doctor(ctx context.Context, f doctorFlags) error {
	o := doctor.Options{
		Runtimes: cmd.runtimes, Env: cmd.Env, CacheDir: cmd.cacheDir(), CacheProblem: cmd.cacheProblem(), CleanCache: f.clean, StateDir: cmd.stateDir(),
	}
	o.ProjectNamed = cmd.project != "" || cmd.env("TRAILBLAZE_PROJECT") != ""
	w, err := cmd.loadProject()
	if o.ProjectErr = err; w == nil {
		w = cmd.opener.Empty()
	} else {
		o.Project = w.Project
	}
	if err == nil {
		o.OnDevice = o.Project.AgentMode == string(scope.OnDevice)
	}
	if f.deep && err == nil {
		o.Probe = func(ctx context.Context, s config.Server) (doctor.Probed, error) {
			return cmd.probe(ctx, w, s)
		}
	}
	var asked *models
	if f.llm {
		var err error
		if asked, err = cmd.models(w.Project, modelFlags{llm: f.model}); err != nil {
			return err
		}
		defer asked.closeIdle()
		asked.showWaits(cmd.notice)
	}
	o.Devices = append(cmd.deviceChecks(w, f.platforms), cmd.appChecks(w, f.platforms)...)
	defer logStop(ctx, cmd.notice)()
	if _, err := cmd.sessionFolder().List(); err != nil { // removes the sockets of sessions that were killed
		cmd.notice("warning: " + err.Error())
	}
	checks := doctor.Run(ctx, o)
	if asked != nil {
		checks = append(checks, doctor.CheckModel(ctx, doctor.Model{Model: asked.Model, Name: asked.name, Settings: asked.settings})...)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	healthy := true
	for i, c := range checks {
		c.Name, c.Detail, c.Hint = cmd.redactor.Text(c.Name), cmd.redactor.Text(c.Detail), cmd.redactor.Text(c.Hint)
		checks[i] = c
		healthy = healthy && c.Status != doctor.Fail
	}
	if err := cmd.printDoctor(checks, healthy); err != nil {
		return err
	}
	if !healthy {
		return exitCode(fault.ExitInfra)
	}
	return nil
}

// deviceChecks returns the checks for the kinds of device whose platforms the flag, the project, its trails or the
// environment name, or that have settings. When none is named, it returns all of them.
func (cmd *checkCommands) deviceChecks(w *workspace.Workspace, platforms []scope.Platform) []doctor.Device {
	platforms = append(platforms, cmd.projectPlatforms(w)...)
	if d, ok := scope.ParseDriver(cmd.env("TRAILBLAZE_DRIVER")); ok {
		platforms = append(platforms, d.Platform)
	}
	values, invalid := w.OptionValues(config.Device{}, nil)
	var checks []doctor.Device
	for _, k := range cmd.Devices {
		d := cmd.deviceCheck(w, k, values[k.Name], invalid)
		d.Named = invalid != nil || len(d.Settings) > 0 || drives(k, platforms)
		checks = append(checks, d)
	}
	isNamed := func(d doctor.Device) bool { return d.Named }
	if len(platforms) > 0 || slices.ContainsFunc(checks, isNamed) {
		return slices.DeleteFunc(checks, func(d doctor.Device) bool { return !d.Named })
	}
	for i, k := range cmd.Devices { // most people begin with web pages
		checks[i].Named = drives(k, []scope.Platform{scope.Web})
	}
	return checks
}

// deviceCheck returns the check of a kind of device with its settings. It fails if the settings are invalid.
func (cmd *checkCommands) deviceCheck(w *workspace.Workspace, k device.Kind, values map[string]string, invalid error) doctor.Device {
	d := doctor.Device{Name: k.DoctorCheck, Kind: k.Name}
	for _, o := range k.Options {
		if value := values[o.Key]; value != "" {
			d.Settings = append(d.Settings, o.Key+" "+value)
		}
	}
	d.Check = func(ctx context.Context) (string, error) {
		if invalid != nil {
			return "", invalid
		}
		backend, err := w.NewBackend(k, values)
		if err != nil {
			return "", err
		}
		detail, err := backend.Check(ctx)
		return detail, errors.Join(err, backend.Close(ctx))
	}
	return d
}

// appChecks returns the checks of the Electron apps of the project's targets; none if only other platforms are asked for.
func (cmd *checkCommands) appChecks(w *workspace.Workspace, platforms []scope.Platform) []doctor.Device {
	if len(platforms) > 0 && !slices.Contains(platforms, scope.Web) {
		return nil
	}
	var checks []doctor.Device
	for _, t := range w.Project.Targets {
		app := device.App(t.Electron)
		if app.Command == "" && app.URL == "" {
			continue
		}
		checks = append(checks, doctor.Device{
			Name: "electron app " + t.ID, Kind: "electron", Settings: []string{app.Command}, Named: true,
			Check: func(ctx context.Context) (string, error) { return cmd.checkApp(ctx, w, app) },
		})
	}
	return checks
}

func (cmd *checkCommands) checkApp(ctx context.Context, w *workspace.Workspace, app device.App) (detail string, err error) {
	starts := slices.IndexFunc(cmd.Devices, func(k device.Kind) bool { return slices.Contains(k.Drivers, scope.ElectronDriver) })
	if starts < 0 {
		return "", fault.New(fault.Bug, "", "no device starts apps")
	}
	backend, err := w.NewBackend(cmd.Devices[starts], nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, backend.Close(ctx)) }()
	checker, ok := backend.(device.AppChecker)
	if !ok {
		return "", fault.New(fault.Bug, "", "the driver %s checks no apps", scope.ElectronDriver)
	}
	return checker.CheckApp(ctx, app)
}

// drives reports whether a kind of device has a driver of one of the platforms.
func drives(k device.Kind, platforms []scope.Platform) bool {
	return slices.ContainsFunc(k.Drivers, func(key string) bool {
		d, ok := scope.ParseDriver(key)
		return ok && slices.Contains(platforms, d.Platform)
	})
}

// projectPlatforms returns the platforms that a project and its trails name, some of them several times; none for nil.
// Files with errors count as far as they can be read.
func (p *program) projectPlatforms(w *workspace.Workspace) []scope.Platform {
	if w == nil || w.Project.Root == "" {
		return nil
	}
	project := w.Project
	var platforms []scope.Platform
	add := func(platform, driver string) {
		if d, ok := scope.ParseDriver(driver); ok {
			platforms = append(platforms, d.Platform)
		}
		if p, ok := scope.ParsePlatform(platform); ok {
			platforms = append(platforms, p)
		}
	}
	add(project.Platform, project.Driver)
	for _, d := range project.Devices {
		add(d.Platform, d.Driver)
	}
	for _, t := range project.ScopeTargets() {
		platforms = append(platforms, t.Platforms...)
	}
	paths, _ := trail.Find(p.Dir, project.TrailsDir, project.LogsDir, nil) // a project without trails names none
	for _, path := range paths {
		if file, _ := (trail.Loader{Root: project.Root, Cwd: p.Dir}).Load(path, p.abs(path)); file != nil {
			platforms = append(platforms, file.RecordedPlatforms()...)
		}
	}
	return platforms
}

// probe starts a server, lists its tools and stops it.
func (cmd *checkCommands) probe(ctx context.Context, w *workspace.Workspace, server config.Server) (doctor.Probed, error) {
	s, err := w.Sessions(ctx, workspace.Choice{LogStderr: cmd.verbose > 1})
	if err != nil {
		return doctor.Probed{}, err
	}
	var probed doctor.Probed
	s.NewStream(event.HandlerFunc(func(r event.Record) {
		if l, ok := r.Event.(event.Log); ok && l.Level == "warn" {
			probed.Warnings = append(probed.Warnings, withHint(l.Message, l.Hint))
		}
	}), cmd.debugLogs())
	sc, err := s.Scope()
	if err != nil { // the tools can be counted in any scope
		driver, _ := scope.ParseDriver(cmd.Devices[0].Drivers[0])
		sc = scope.Scope{Driver: driver, AgentMode: scope.Host}
	}
	probed.Tools, err = session.CountTools(ctx, s.Setup, sc, server)
	return probed, err
}

func (cmd *checkCommands) printDoctor(checks []doctor.Check, healthy bool) error {
	if cmd.json {
		return cmd.writeJSON(map[string]any{"ok": healthy, "checks": checks})
	}
	style := cmd.style(cmd.OutTTY)
	marks := map[doctor.Status]string{doctor.OK: "ok", doctor.Warn: "warn", doctor.Fail: "FAIL"}
	rows := make([][]string, 0, len(checks))
	for _, c := range checks {
		for i, line := range strings.Split(report.Clean(cmd.withProgram(c.Detail)), "\n") {
			if i == 0 {
				rows = append(rows, []string{marks[c.Status], c.Name, line})
				continue
			}
			rows = append(rows, []string{"", "", line})
		}
		if c.Hint != "" {
			rows = append(rows, []string{"", "", "hint: " + cmd.withProgram(c.Hint)})
		}
	}
	report.StatusTable(cmd.Stdout, style, rows)
	summary := "\nready"
	if !healthy {
		summary = "\nnot ready: see the failed checks above"
	}
	_, err := fmt.Fprintln(cmd.Stdout, summary)
	return err
}
