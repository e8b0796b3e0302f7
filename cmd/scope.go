package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/remote"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/stdio"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// scopeFlags are the flags that select target, driver and agent mode.
type scopeFlags struct {
	target, driver, platform, agent, size string

	command *cobra.Command // the command with the flags, nil for none
}

func (f *scopeFlags) bind(a *app, c *cobra.Command) {
	f.command = c
	a.bindDevices(c)
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ID` of the target (env TRAILBLAZE_TARGET)")
	flags.StringVar(&f.driver, "driver", "",
		"`KEY` of the driver (env TRAILBLAZE_DRIVER): "+strings.Join(scope.DriverKeys(), ", "))
	flags.StringVar(&f.platform, "platform", "",
		"`NAME` of the platform, whose default driver is used: "+strings.Join(scope.PlatformNames(), ", "))
	flags.StringVar(&f.agent, "agent", "", "agent mode: `host|on-device` (default host)")
	flags.StringVar(&f.size, "device-size", "", "size of the device in pixels, `WIDTHxHEIGHT` (default: unknown)")
	complete(c, "driver", scope.DriverKeys())
	complete(c, "platform", scope.PlatformNames())
	complete(c, "agent", scope.LocationNames())
}

// complete registers the values of a flag for completion in shells.
func complete(c *cobra.Command, flag string, values []string) {
	// It only fails for a flag that does not exist; a test covers every flag that is completed.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// unknownName is the error for a name that a flag does not know.
func unknownName(flag, name string, known []string) error {
	return fault.New(fault.Misuse, fault.DidYouMean(name, known),
		"--%s: unknown %s %q; known: %s", flag, flag, name, strings.Join(known, ", "))
}

// pixels returns the size of --device-size, 0 without it.
func (f *scopeFlags) pixels() (width, height int, err error) {
	if f.size == "" {
		return 0, 0, nil
	}
	width, height, ok := config.ParseSize(f.size)
	if !ok {
		return 0, 0, fault.New(fault.Misuse, "write it like 1080x2400",
			"--device-size: %q is not a size in pixels", f.size)
	}
	return width, height, nil
}

// loadProject finds and reads the project. The caller shows the project's warnings. With an error about the content of
// its files it returns the project as far as it could be read.
func (a *app) loadProject() (*config.Project, error) {
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	project, problems := a.load(root)
	return project, problems.Err()
}

// load reads the project. The files of its problems and warnings are relative to the working directory.
func (a *app) load(root string) (*config.Project, fault.Problems) {
	project, problems := config.Load(root, a.Getenv)
	a.supervisor.Keep(project.KeepProcesses)
	for _, secrets := range []map[string]string{project.Secrets, project.SecretValues, a.deviceSecrets(project)} {
		a.redactor.Add(secrets)
	}
	for _, s := range project.AllServers() {
		a.redactor.Add(s.Secrets)
	}
	problems = append(problems, a.deviceProblems(project)...)
	for _, list := range []fault.Problems{problems, project.Warnings} {
		for i, p := range list {
			list[i].File = a.relative([]string{p.File})[0]
			list[i].Message, list[i].Hint = a.redactor.Text(p.Message), a.redactor.Text(p.Hint)
			list[i].Snippet = a.redactor.Text(p.Snippet)
		}
	}
	return project, problems
}

func (a *app) findRoot() (string, error) {
	return config.FindRoot(config.Options{Dir: a.Dir, Override: a.project, Env: a.Getenv})
}

// setup is the input for opening sessions.
type setup struct {
	session.Setup
	request    scope.Request
	device     session.Device // as flags and the project describe it
	stopShared func(ctx context.Context) error
}

// newSetup returns the setup of flags, environment and project.
func (a *app) newSetup(project *config.Project, f scopeFlags) (setup, error) {
	if force, by := a.forcedRuntime(); force != "" && !slices.Contains(jsruntime.Names(), force) {
		return setup{}, fault.New(fault.Misuse, "use one of: "+strings.Join(jsruntime.Names(), ", "),
			"%s: unknown runtime %q", by, force)
	}
	width, height, err := f.pixels()
	if err != nil {
		return setup{}, err
	}
	values, err := a.deviceValues(project, config.Device{}, f.command)
	if err != nil {
		return setup{}, err
	}
	devices, err := a.devices(values)
	if err != nil {
		return setup{}, err
	}
	redactor, pool := a.redactor.Redactor(), remote.NewPool(a.supervisor)
	return setup{
		Setup: session.Setup{
			Project: project, Cwd: a.Dir, Version: a.Build.Version, Env: a.Env, Builtins: []discover.Source{builtin.Source()},
			DeviceCommands: a.commandNames(),
			Redactor:       redactor, Now: a.Now, Budgets: session.NewBudgets(), Launch: a.launcher(redactor, pool),
			Sandboxes: func(s config.Server) bool {
				return a.runtimes.Sandboxes(jsruntime.Script{Path: s.Script, Runtime: s.Runtime, OnDevice: true})
			},
		},
		device:     session.Device{Backends: devices, Width: width, Height: height},
		stopShared: pool.Close,
		request:    a.scopeRequest(project, f),
	}, nil
}

// scopeRequest returns what flags, environment and project say about the scope.
func (a *app) scopeRequest(project *config.Project, f scopeFlags) scope.Request {
	return scope.Request{
		FlagTarget: f.target, EnvTarget: a.env("TRAILBLAZE_TARGET"), ProjectTarget: project.Target,
		FlagDriver: f.driver, EnvDriver: a.env("TRAILBLAZE_DRIVER"), ProjectDriver: project.Driver,
		FlagPlatform: f.platform, ProjectPlatform: project.Platform,
		FlagLocation: f.agent, ProjectLocation: project.Location,
		Targets: project.ScopeTargets(),
	}
}

// launcher returns a launcher that starts servers as processes, takes shared ones from pool, and connects to those with
// a URL.
func (a *app) launcher(redactor *redact.Redactor, pool *remote.Pool) session.Launcher {
	return func(ctx context.Context, l session.Launch) (server.Link, error) {
		if l.Server.URL != "" {
			return remote.Open(ctx, remote.Spec{
				Name: l.Server.Name, URL: l.Server.URL, Headers: l.Server.Headers, Proxy: a.Proxy, Log: l.Log,
			})
		}
		process := stdio.Spec{
			Spec: spawn.Spec{
				Name: l.Server.Name, Script: l.Server.Script, Command: l.Server.Command, Args: l.Server.Args,
				Dir: l.Server.Dir, Env: l.Env, Runtime: l.Server.Runtime, OnDevice: l.OnDevice,
				Callback: l.Callback, CallbackURL: l.CallbackURL, Redact: redactor.Writer, Log: l.Log,
			},
			LogPath: l.LogPath, LogFailed: l.Unwritable, StderrLine: a.stderrLine(l),
		}
		if l.Shared != "" {
			return pool.Open(ctx, l.Shared, remote.SharedSpec{
				Process: process, Token: l.Token, StartupTimeout: l.Server.StartupTimeout,
			})
		}
		return stdio.Start(ctx, a.supervisor, process)
	}
}

// stderrLine returns a function that logs each line of a server's stderr for -vv, nil without it.
func (a *app) stderrLine(l session.Launch) func(line string) {
	if a.verbose < 2 {
		return nil
	}
	return func(line string) { l.Log("debug", l.Server.Name+" stderr: "+line, "") }
}

// notice prints a message to stderr, nothing with --json.
func (a *app) notice(message string) {
	if !a.json {
		fmt.Fprintf(a.Stderr, "trailblaze: %s\n", a.withProgram(message))
	}
}

// withHint appends a hint to a message.
func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "; " + hint
}

// flagNames returns the names of all flags of a command, inherited ones included.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// memoryValues returns the values of --memory, by name.
func memoryValues(flags []string) (map[string]string, error) {
	values, err := pairs("memory", flags)
	for name := range values {
		if !trail.IsValueName(name) {
			return nil, fault.New(fault.Misuse,
				"use letters, digits, _, . and -, start with a letter or _; args is reserved for the trail's arguments",
				"--memory: %q is not a valid name", name)
		}
	}
	return values, err
}

// pairs returns the values of a flag of the form NAME=VALUE, by name.
func pairs(flag string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range values {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			hint := fmt.Sprintf("write --%s NAME=VALUE", flag)
			return nil, fault.New(fault.Misuse, hint, "--%s: %q is not NAME=VALUE", flag, kv)
		}
		out[name] = value
	}
	return out, nil
}
