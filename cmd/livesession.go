package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// liveFlags are the flags of a live session, and what does not come from flags.
type liveFlags struct {
	scopeFlags
	device                       string
	classifiers, memory, secrets []string

	secretValues map[string]string // by name; see readSecrets
	initial      map[string]string // of the memory; wins over memory
	agent        bool              // the calls are those of an agent, which may not do everything
	before       *live.Session     // the session that the caller had before; nil for none
	allow        []string          // tools that an agent may call although they are restricted
	noProject    bool              // trails then name no target
}

func (f *liveFlags) bind(a *app, c *cobra.Command) {
	f.scopeFlags.bind(a, c)
	flags := c.Flags()
	flags.StringVar(&f.device, "device", "", "`NAME` of a device of the project, or PLATFORM:NAME, such as web:a")
	flags.StringSliceVar(&f.classifiers, "classifier", nil,
		"classifiers of the device, broad first, such as `android,phone` or android-phone (default: the platform)")
	flags.StringArrayVar(&f.memory, "memory", nil, "set `NAME=VALUE` in the session's memory (repeatable)")
	flags.StringArrayVar(&f.secrets, "secret", nil,
		"secret `NAME` from the environment, NAME=@FILE or NAME=VALUE (repeatable); never printed, logged or recorded")
}

// readSecrets reads the values of --secret, once, because some files can be read only once. The project is loaded after
// it, because its errors must not show them.
func (f *liveFlags) readSecrets(ctx context.Context, a *app) error {
	var err error
	f.secretValues, err = a.secrets(ctx, f.secrets)
	a.redactor.Add(f.secretValues)
	return err
}

// openLive opens a live session of a project. name is the first part of its id. ctx bounds the session's lifetime.
func (a *app) openLive(ctx context.Context, project *config.Project, f liveFlags, name string) (*live.Session, error) {
	f.secretValues = withProject(project, f.secretValues)
	setup, err := a.newSetup(project, f.scopeFlags)
	if err != nil {
		return nil, err
	}
	memory, err := memoryValues(f.memory)
	if err != nil {
		return nil, err
	}
	maps.Copy(memory, f.initial)
	device := run.Device{Device: setup.device, Request: setup.request, Classifiers: f.classifiers}
	if f.device != "" {
		flags := runFlags{scopeFlags: f.scopeFlags, classifiers: f.classifiers}
		if device, err = a.runDevice(project, flags, setup, f.device); err != nil {
			return nil, err
		}
	}
	sc, err := scope.Resolve(device.Request)
	if err != nil {
		return nil, err
	}
	if f.noProject {
		sc.Target = scope.Target{}
	}
	lineage, err := device.Lineage(ctx, sc)
	if err != nil {
		return nil, err
	}
	var ignored int64
	setup.Stream = a.toolStream(project, setup, &ignored)
	o := live.Options{
		Setup: setup.Setup, Scope: sc, Device: device.Device, Name: name, Lineage: lineage,
		NameDriver: !isDefault(device.Request, sc), TargetChosen: device.Request.FlagTarget != "",
		Memory: memory, Secrets: f.secretValues, Before: f.before, Dir: a.Dir, Allow: slices.Concat(project.Allow, f.allow),
		OpenLog: func(path string, onError func(error)) live.Log { return report.NewSessionLog(path, onError) },
	}
	if f.agent {
		o.Agent, o.AllowedOrigins = true, origins(project)
	}
	o.Replay = a.replayer(run.Options{
		Setup: setup.Setup, Devices: []run.Device{device}, Memory: memory, Secrets: f.secretValues,
		RestrictOrigins: o.Agent, AllowedOrigins: o.AllowedOrigins,
	})
	if project.Reset.Command != "" {
		o.Reset = func(ctx context.Context) error { return a.resetApp(ctx, project, setup.Redactor) }
	}
	return live.Open(ctx, o)
}

// lostRecordings names the recordings of sessions of a project that were killed, and says how to go on with them.
func (a *app) lostRecordings(project *config.Project) []string {
	var notes []string
	for _, path := range live.Lost(project.LogsDir) {
		name := path
		if rel, err := filepath.Rel(project.Root, path); err == nil {
			name = filepath.ToSlash(rel)
		}
		notes = append(notes, fmt.Sprintf("a session was killed; what it recorded is in %s: move it below %s as "+
			"NAME.trail.yaml, replay it in a session, and record on", report.Clean(name), filepath.Base(project.TrailsDir)))
	}
	return notes
}

// isDefault reports whether a trail that was recorded in a scope is replayed in it without flags.
func isDefault(r scope.Request, recorded scope.Scope) bool {
	r.FlagTarget, r.FlagDriver, r.FlagPlatform, r.EnvTarget, r.EnvDriver = "", "", "", "", ""
	r.TrailTarget, r.RecordedPlatforms = recorded.Target.ID, []scope.Platform{recorded.Driver.Platform}
	replayed, err := scope.Resolve(r)
	return err == nil && replayed.Driver == recorded.Driver
}

// origins returns the origins of the pages that the targets of a project begin with.
func origins(project *config.Project) []string {
	var out []string
	add := func(address string) {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			out = append(out, u.Scheme+"://"+u.Host)
		}
	}
	add(project.BaseURL)
	for _, t := range project.Targets {
		for _, platform := range t.PlatformOrder {
			add(t.Platforms[platform].BaseURL)
		}
	}
	return out
}

// replayer returns a function that replays a trail in a session of its own, with the options of a run.
func (a *app) replayer(o run.Options) func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
	return func(ctx context.Context, path string, contents map[string][]byte, args map[string]string) (live.Replayed, error) {
		o, ended := o, trailEnd{logsDir: o.Project.LogsDir}
		o.Stream, o.Cwd = event.NewStream(a.Now, o.Redactor, &ended), o.Project.Root
		o.Paths, o.Args, o.Evidence, o.WithoutHistory = []string{path}, args, run.EvidenceOnFailure, true
		o.OpenLog = func(path string, onError func(error)) run.SessionLog { return report.NewSessionLog(path, onError) }
		o.Contents = contents
		_, err := run.Run(ctx, o)
		return ended.replayed(), err
	}
}

// trailEnd collects how the only trail of a run ended.
type trailEnd struct {
	logsDir string

	mu      sync.Mutex
	ended   event.TrailFinished
	dialogs []string
	failure event.Log // the last error that was logged
	session string
}

// Handle implements event.Handler.
func (t *trailEnd) Handle(r event.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := r.Event.(type) {
	case event.TrailFinished:
		t.ended = e
	case event.DeviceNoted:
		if e.Kind == "dialog" {
			t.dialogs = append(t.dialogs, e.Text)
		}
	case event.Log:
		if e.Level == "error" {
			t.failure = e
		}
	}
	if r.Session != "" {
		t.session = r.Session
	}
}

func (t *trailEnd) replayed() live.Replayed {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.ended
	r := live.Replayed{
		Outcome: e.Outcome, Reason: e.Reason, Hint: e.Hint, Step: e.Step, Text: e.StepText, Tool: e.Tool, Line: e.Line,
		Millis: e.DurationMs, Dialogs: t.dialogs,
	}
	if r.Outcome == "" { // it was not started
		r.Outcome, r.Reason, r.Hint = event.Error, cmp.Or(t.failure.Message, "it was not started"), t.failure.Hint
	}
	if t.session != "" {
		r.Folder = filepath.Join(t.logsDir, t.session)
	}
	return r
}
