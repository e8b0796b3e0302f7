package cmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/livetool"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// liveFlags are the flags of a live session.
type liveFlags struct {
	scopeFlags
	device                              string
	classifiers, memory, secrets, allow []string
}

func (f *liveFlags) bind(p *program, c *cobra.Command) {
	f.scopeFlags.bind(p, c)
	flags := c.Flags()
	flags.StringVar(&f.device, "device", "", "`NAME` of a device of the project, or PLATFORM:NAME, such as web:a")
	flags.StringSliceVar(&f.classifiers, "classifier", nil,
		"classifiers of the device, broad first, such as `android,phone` or android-phone (default: the platform)")
	flags.StringArrayVar(&f.memory, "memory", nil, "set `NAME=VALUE` in the session's memory (repeatable)")
	flags.StringArrayVar(&f.secrets, "secret", nil,
		"secret `NAME` from the environment, NAME=@FILE or NAME=VALUE (repeatable); never printed, logged or recorded")
}

// choice returns the choice of the flags. It reads the values of --secret, some of which can be read only once. The
// project is loaded after it, because its errors must not show them.
func (f *liveFlags) choice(ctx context.Context, p *program) (liveChoice, error) {
	choice, err := p.choice(f.scopeFlags)
	if err == nil {
		choice.Memory, err = memoryValues(f.memory)
	}
	if err == nil {
		choice.Secrets, err = p.readSecrets(ctx, f.secrets)
	}
	if f.device != "" {
		choice.Devices = []string{f.device}
	}
	choice.Classifiers = f.classifiers
	return liveChoice{Choice: choice, allow: f.allow}, err
}

// liveChoice says which live session is opened.
type liveChoice struct {
	workspace.Choice
	name          string         // the first part of its id
	agent         bool           // the calls are those of an agent, which may not do everything
	allow         []string       // tools that an agent may call although they are restricted
	before        *live.Redacted // the session that the caller had before; nil for none
	withoutTarget bool           // there is no project, so trails name no target
}

// liveOpener opens live sessions.
type liveOpener struct{ *program }

// openLive opens a live session of a project. ctx bounds the session's lifetime.
func (a liveOpener) openLive(ctx context.Context, w *workspace.Workspace, c liveChoice) (*live.Redacted, error) {
	s, err := w.Sessions(ctx, c.Choice)
	if err != nil {
		return nil, err
	}
	device := run.Device(s.Devices[0])
	sc, err := scope.Resolve(device.Request)
	if err != nil {
		return nil, err
	}
	if c.withoutTarget {
		sc.Target = scope.Target{}
	}
	lineage, err := device.Lineage(ctx, sc)
	if err != nil {
		return nil, err
	}
	var ignored int64
	a.toolStream(s, &ignored)
	if c.agent {
		s.Wording = livetool.Wording()
	}
	o := live.Options{
		Setup: s.Setup, Scope: sc, Device: device.Device, Name: c.name, Lineage: lineage,
		NameDriver: !isDefault(device.Request, sc), TargetChosen: device.Request.FlagTarget != "",
		Memory: s.Memory, Secrets: s.Secrets, Before: c.before, Dir: a.Dir, Allow: slices.Concat(w.Project.Allow, c.allow),
		Trace:   w.Project.Run.Trace != config.TraceOff,
		OpenLog: func(path string, onError func(error)) live.Log { return report.NewSessionLog(path, onError) },
		Reset:   s.Reset(),
	}
	if c.agent {
		o.Agent, o.AllowedOrigins = true, w.Origins()
	}
	o.Replay = a.replayer(run.Options{
		Setup: s.Setup, Devices: []run.Device{device}, Memory: s.Memory, Secrets: s.Secrets,
		RestrictOrigins: o.Agent, AllowedOrigins: o.AllowedOrigins,
	})
	return live.Open(ctx, o)
}

// lostRecordings names the recordings of sessions of a project that were killed, and says how to go on with them.
func (a liveOpener) lostRecordings(project *config.Project) []string {
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

// replayer returns a function that replays a trail in a session of its own, with the options of a run.
func (a liveOpener) replayer(o run.Options) func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
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
