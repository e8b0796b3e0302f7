package workspace

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/composed"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/remote"
	"github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/scripted"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/stdio"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/webserver"
)

// Choice says which sessions are opened. It wins over the environment, which wins over the project. What is empty is
// left to them.
type Choice struct {
	Target, Driver, Platform, AgentMode string

	// Devices are names of devices of the project, PLATFORM:NAME or DRIVER:NAME. Without any, there is one device, which
	// the other fields describe.
	Devices       []string
	Classifiers   []string          // of the devices, broad first
	Width, Height int               // of the devices in pixels; 0 for unknown
	Options       map[string]string // of the devices, those that are set, by the names of their flags
	Memory        map[string]string // initial values
	Secrets       map[string]string // by name
	LogStderr     bool              // log every line that servers write to stderr
}

// Sessions opens the sessions of a choice. NewStream is called before the first.
type Sessions struct {
	session.Setup
	Devices []session.Device  // of the choice, at least one
	Memory  map[string]string // initial values
	Secrets map[string]string // by name, those of the project included
	// StopShared stops the server processes that sessions share.
	StopShared func(ctx context.Context) error

	workspace *Workspace
	inUse     []*backendSet // of the devices
}

// Sessions returns what opens the sessions of a choice. It starts nothing. Close gives the devices back.
func (w *Workspace) Sessions(ctx context.Context, c Choice) (*Sessions, error) {
	if err := w.Runtimes.CheckForced(); err != nil {
		return nil, err
	}
	if err := w.Request(c).CheckFlags(); err != nil {
		return nil, err
	}
	w.addSecrets(w.Secrets, c)
	var own redact.Set
	w.addSecrets(&own, c)
	pool := remote.NewPool(w.Supervisor)
	s := &Sessions{
		Setup: session.Setup{
			Project: w.Project, Cwd: w.Dir, Version: w.Version, Env: w.Env, Builtins: Builtins(w.Project, w.exec(own.Redactor())),
			DeviceCommands: w.commandNames, Redactor: own.Redactor(), Now: w.Now, Budgets: w.budgets,
			Sandboxes: func(s config.Server) bool {
				return w.Runtimes.Sandboxes(runtime.Script{Runtime: s.Runtime, OnDevice: true})
			},
		},
		Memory: c.Memory, Secrets: map[string]string{}, StopShared: pool.Close, workspace: w,
	}
	s.Launch = w.launcher(s.Redactor, pool, c.LogStderr)
	maps.Copy(s.Secrets, w.Project.SecretValues)
	maps.Copy(s.Secrets, c.Secrets)
	if err := s.addDevices(w, c); err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

// Builtins returns the tools of trailblaze itself, and those that files of the project compose. run runs programs.
func Builtins(p *config.Project, run builtin.Runner) []discover.Source {
	sources := append([]discover.Source{builtin.Source(), builtin.ExecSource(run)}, composed.Sources(p.Composed)...)
	return append(sources, discover.Source{Source: tool.Source{Kind: tool.FromBuiltin, Name: "trailblaze"}, Unavailable: p.MissingTools})
}

// Request returns what choice, environment and project say about the scope of sessions.
func (w *Workspace) Request(c Choice) scope.Request {
	target, _ := w.Getenv("TRAILBLAZE_TARGET")
	driver, _ := w.Getenv("TRAILBLAZE_DRIVER")
	projectTarget := w.Project.Target
	if w.NoTarget {
		projectTarget = "app" // a scope needs a target
	}
	return scope.Request{
		FlagTarget: c.Target, EnvTarget: target, ProjectTarget: projectTarget,
		FlagDriver: c.Driver, EnvDriver: driver, ProjectDriver: w.Project.Driver,
		FlagPlatform: c.Platform, ProjectPlatform: w.Project.Platform,
		FlagAgentMode: c.AgentMode, ProjectAgentMode: w.Project.AgentMode,
		Targets: w.Project.ScopeTargets(),
	}
}

// NewStream makes the stream of the sessions' events, with their redactor, and returns it.
func (s *Sessions) NewStream(handlers ...event.Handler) *event.Stream {
	s.Stream = event.NewStream(s.Now, s.Redactor, handlers...)
	return s.Stream
}

// Scope returns the scope of sessions on the first device, as far as no trail decides it.
func (s *Sessions) Scope() (scope.Scope, error) {
	sc, err := scope.Resolve(s.Devices[0].Request)
	if s.workspace.NoTarget {
		sc.Target = scope.Target{}
	}
	return sc, err
}

// Options returns the options of a session on the first device. The caller adds an id and what the session is for.
func (s *Sessions) Options(sc scope.Scope) session.Options {
	return session.Options{
		Setup: s.Setup, Scope: sc, Device: s.Devices[0],
		Values: trail.NewValues(trail.Sources{Memory: s.Memory, Secrets: s.Secrets}),
	}
}

// ListTools starts the servers of a scope, registers their tools and stops them again. No device is started.
func (s *Sessions) ListTools(ctx context.Context, sc scope.Scope) (*discover.Registry, error) {
	return session.ListTools(ctx, s.Setup, sc, s.Devices[0])
}

// Reset returns a function that runs the command of the project that resets the app; nil when there is none.
func (s *Sessions) Reset() func(ctx context.Context) error {
	reset := s.Project.Reset
	if reset.Command == "" {
		return nil
	}
	return func(ctx context.Context) error {
		return webserver.RunCommand(ctx, s.workspace.Supervisor, webserver.Spec{
			Name: "reset", Command: reset.Command, Dir: s.Project.Root, Env: s.Env, Timeout: reset.Timeout,
			LogPath: filepath.Join(s.Project.LogsDir, "reset.log"), Redact: s.Redactor.Writer,
			Log: func(string, string, string) {},
		})
	}
}

// Close gives the devices back, and closes those that no other Sessions use. Every session must be closed before. It
// works also after ctx was cancelled, and may be called again.
func (s *Sessions) Close(ctx context.Context) {
	s.workspace.release(ctx, s.inUse)
	s.inUse = nil
}

// launcher returns a launcher that starts servers as processes, takes shared ones from pool, and connects to those with
// a URL. logStderr logs each line that a process writes to stderr.
func (o *Opener) launcher(redactor *redact.Redactor, pool *remote.Pool, logStderr bool) session.Launcher {
	return func(ctx context.Context, l session.Launch) (server.Link, error) {
		if l.Server.URL != "" {
			return remote.Open(ctx, remote.Spec{
				Name: l.Server.Name, URL: l.Server.URL, Headers: l.Server.Headers, Proxy: o.Proxy, Log: l.Log,
			})
		}
		script, dir := scripted.Script(l.Server, l.OnDevice), l.Server.Dir
		if script.Entry != nil {
			dir = cmp.Or(dir, o.Dir) // the functions of a server may be in several folders
		}
		process := stdio.Spec{
			Spec: spawn.Spec{
				Name: l.Server.Name, Script: script.Path, Entry: script.Entry, Command: l.Server.Command, Args: l.Server.Args,
				Dir: dir, Env: l.Env, Runtime: script.Runtime, NotEmbedded: script.NotEmbedded, OnDevice: script.OnDevice,
				Callback: l.Callback, CallbackURL: l.CallbackURL, Redact: redactor.Writer, Log: l.Log,
			},
			LogPath: l.LogPath, LogFailed: l.Unwritable,
		}
		if logStderr {
			process.StderrLine = func(line string) { l.Log("debug", l.Server.Name+" stderr: "+line, "") }
		}
		if l.Shared != "" {
			return pool.Open(ctx, l.Shared, remote.SharedSpec{
				Process: process, Token: l.Token, StartupTimeout: l.Server.StartupTimeout,
			})
		}
		return stdio.Start(ctx, o.Supervisor, process)
	}
}
