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

// scopeFlags say which target, driver and agent mode are meant.
type scopeFlags struct {
	target, driver, platform, agent, size string

	command *cobra.Command // that has the flags; nil when no command has them
}

func (f *scopeFlags) bind(a *app, c *cobra.Command) {
	f.command = c
	a.bindDevices(c)
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ID` of the target (env TRAILBLAZE_TARGET)")
	flags.StringVar(&f.driver, "driver", "", "`KEY` of the driver (env TRAILBLAZE_DRIVER): "+strings.Join(scope.DriverKeys(), ", "))
	flags.StringVar(&f.platform, "platform", "", "`NAME` of the platform, for its default driver: "+strings.Join(scope.PlatformNames(), ", "))
	flags.StringVar(&f.agent, "agent", "", "agent mode: `host|on-device` (default host)")
	flags.StringVar(&f.size, "device-size", "", "size of the device in pixels, `WIDTHxHEIGHT` (default: unknown)")
	complete(c, "driver", scope.DriverKeys())
	complete(c, "platform", scope.PlatformNames())
	complete(c, "agent", scope.LocationNames())
}

// complete offers values for a flag in shells.
func complete(c *cobra.Command, flag string, values []string) {
	// The error says that the flag does not exist, and the tests ask for every completion.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func (f *scopeFlags) pixels() (width, height int, err error) {
	if f.size == "" {
		return 0, 0, nil
	}
	width, height, ok := config.ParseSize(f.size)
	if !ok {
		return 0, 0, fault.New(fault.Misuse, "write it like 1080x2400", "--device-size %q is not a size", f.size)
	}
	return width, height, nil
}

// loadProject finds and reads the project. Warnings are for the caller to show.
func (a *app) loadProject() (*config.Project, error) {
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	project, problems := a.load(root)
	return project, problems.Err()
}

// load reads the project and shows the places of what it found relative to the working directory.
func (a *app) load(root string) (*config.Project, fault.Problems) {
	project, problems := config.Load(root, a.Getenv)
	for _, s := range project.AllServers() {
		a.redactor = a.redactor.With(s.Secrets)
	}
	problems = append(problems, a.deviceProblems(project)...)
	for _, list := range []fault.Problems{problems, project.Warnings} {
		for i, p := range list {
			list[i].File = a.relative([]string{p.File})[0]
			list[i].Message, list[i].Hint, list[i].Snippet = a.redactor.Text(p.Message), a.redactor.Text(p.Hint), a.redactor.Text(p.Snippet)
		}
	}
	return project, problems
}

func (a *app) findRoot() (string, error) {
	return config.FindRoot(config.Options{Dir: a.Dir, Override: a.project, Env: a.Getenv})
}

// setup is what a command opens sessions with.
type setup struct {
	session.Setup
	request    scope.Request
	device     session.Device // as flags and the project describe it
	stopShared func(ctx context.Context) error
}

// newSetup makes a setup of flags, environment and project.
func (a *app) newSetup(project *config.Project, f scopeFlags, redactor *redact.Redactor) (setup, error) {
	if force, by := a.forcedRuntime(); force != "" && !slices.Contains(jsruntime.Names(), force) {
		return setup{}, fault.New(fault.Misuse, "write "+strings.Join(jsruntime.Names(), ", "), "%s: unknown runtime %q", by, force)
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
	pool := remote.NewPool(a.supervisor)
	return setup{
		Setup: session.Setup{
			Project: project, Version: a.Version, Env: a.Env, Builtins: []discover.Source{builtin.Source()},
			Redactor: redactor, Now: a.Now, Launch: a.launcher(redactor, pool),
			Sandboxes: func(s config.Server) bool {
				return a.runtimes.Sandboxes(jsruntime.Script{Path: s.Script, Runtime: s.Runtime, OnDevice: true})
			},
		},
		device:     session.Device{Backends: devices, Width: width, Height: height},
		stopShared: pool.Close,
		request: scope.Request{
			FlagTarget: f.target, EnvTarget: a.env("TRAILBLAZE_TARGET"), ProjectTarget: project.Target,
			FlagDriver: f.driver, EnvDriver: a.env("TRAILBLAZE_DRIVER"), ProjectDriver: project.Driver,
			FlagPlatform: f.platform, ProjectPlatform: project.Platform,
			FlagLocation: f.agent, ProjectLocation: project.Location,
			Targets: project.ScopeTargets(),
		},
	}, nil
}

// launcher starts servers as processes, those of several devices in a pool, and reaches those that have a URL.
func (a *app) launcher(redactor *redact.Redactor, pool *remote.Pool) session.Launcher {
	return func(ctx context.Context, l session.Launch) (server.Link, error) {
		if l.Server.URL != "" {
			return remote.Open(ctx, remote.Spec{
				Name: l.Server.Name, URL: l.Server.URL, Headers: l.Server.Headers, Proxy: a.Proxy, Log: l.Log,
			})
		}
		process := stdio.Spec{
			Spec: spawn.Spec{
				Name: l.Server.Name, Script: l.Server.Script, Command: l.Server.Command, Args: l.Server.Args, Dir: l.Server.Dir,
				Env: l.Env, Runtime: l.Server.Runtime, OnDevice: l.OnDevice, Callback: l.Callback, CallbackURL: l.CallbackURL,
				Redact: redactor.Writer, Log: l.Log,
			},
			LogPath: l.LogPath, LogFailed: l.Unwritable,
		}
		if l.Shared != "" {
			return pool.Open(ctx, l.Shared, remote.SharedSpec{Process: process, Token: l.Token, StartupTimeout: l.Server.StartupTimeout})
		}
		return stdio.Start(ctx, a.supervisor, process)
	}
}

// tell says something to the person at the terminal.
func (a *app) tell(message string) {
	if !a.json {
		fmt.Fprintf(a.Stderr, "trailblaze: %s\n", message)
	}
}

// joinSentences puts a hint behind what it is about.
func joinSentences(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "; " + hint
}

func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// memoryValues reads --memory flags.
func memoryValues(flags []string) (map[string]string, error) {
	values, err := pairs("memory", flags)
	for name := range values {
		if !trail.IsValueName(name) {
			return nil, fault.New(fault.Misuse, "use letters, digits, _, . and -, start with a letter or _, and leave args to the trail's arguments",
				"--memory %q is not a name that a trail can use", name)
		}
	}
	return values, err
}

// pairs reads NAME=VALUE flags.
func pairs(flag string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range values {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Misuse, fmt.Sprintf("write --%s NAME=VALUE", flag), "--%s %q has no value", flag, kv)
		}
		out[name] = value
	}
	return out, nil
}
