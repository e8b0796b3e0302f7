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
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// liveFlags are the flags of a live session.
type liveFlags struct {
	sessionFlags
	device string
}

func (f *liveFlags) bind(p *program, c *cobra.Command) {
	f.sessionFlags.bind(p, c)
	c.Flags().StringVar(&f.device, "device", "", "`NAME` of a device of the project, or PLATFORM:NAME, such as web:a")
}

// choice returns the choice of the flags. It reads the values of --secret, some of which can be read only once. The
// project is loaded after it, because its errors must not show them.
func (f *liveFlags) choice(ctx context.Context, p *program) (workspace.Choice, error) {
	secrets, err := p.readSecrets(ctx, f.secrets)
	if err != nil {
		return workspace.Choice{}, err
	}
	choice, err := f.sessionFlags.choice(p, secrets)
	if f.device != "" {
		choice.Devices = []string{f.device}
	}
	return choice, err
}

// liveOpener opens live sessions.
type liveOpener struct{ *program }

// openLive opens a live session of a choice. o says its name, who makes the calls and what they may do. Other processes
// may make calls in it if the project says so. ctx bounds the session's lifetime.
func (a liveOpener) openLive(ctx context.Context, w *workspace.Workspace, c workspace.Choice, o live.Options) (*live.RedactedSession, error) {
	s, err := a.liveSessions(ctx, w, c, &o)
	if err != nil {
		return nil, err
	}
	return a.openIn(ctx, w, s, o, func(*run.Options) {})
}

// liveSessions returns sessions of a choice, with their stream. It completes o with who else may make calls.
func (a liveOpener) liveSessions(ctx context.Context, w *workspace.Workspace, c workspace.Choice, o *live.Options) (*workspace.Sessions, error) {
	s, err := w.Sessions(ctx, c)
	if err != nil {
		return nil, err
	}
	if o.CallbackToken, err = w.Project.Callbacks.Token(s.Secrets); err != nil {
		return nil, err
	}
	delete(s.Secrets, w.Project.Callbacks.TokenName) // else {{NAME}} would type it into a page; it stays redacted
	var ignored int64
	a.toolStream(s, &ignored)
	return s, nil
}

// openIn is openLive in sessions that have their stream. change is called with the options of each replay of a trail.
func (a liveOpener) openIn(
	ctx context.Context, w *workspace.Workspace, s *workspace.Sessions, o live.Options, change func(*run.Options),
) (_ *live.RedactedSession, err error) {
	device := s.Devices[0]
	o.Device, o.TargetChosen = device, device.Request.FlagTarget != ""
	if o.Scope, err = s.Scope(); err != nil {
		return nil, err
	}
	if o.Lineage, err = device.Lineage(ctx, o.Scope); err != nil {
		return nil, err
	}
	o.AllowedOrigins = slices.Concat(w.Origins(), o.AllowedOrigins)
	if o.Agent {
		s.Wording = livetool.Wording()
	}
	o.Setup, o.Memory, o.Secrets, o.Dir, o.Reset = s.Setup, s.Memory, s.Secrets, a.Dir, s.Reset()
	o.NameDriver, o.Allow = !isDefault(device.Request, o.Scope), slices.Concat(w.Project.Allow, o.Allow)
	o.OtherTools = sync.OnceValues(func() (trail.Tools, error) { return a.toolsWithoutServers(w.Project) })
	o.Trace = w.Project.Run.Trace != config.TraceOff
	o.OpenLog = func(path string, onError func(error)) live.Log { return report.NewSessionLog(path, onError) }
	o.Replay = a.replayer(run.Options{
		Setup: s.Setup, Devices: s.Devices, Memory: s.Memory, Secrets: s.Secrets,
		RestrictOrigins: o.Agent, AllowedOrigins: o.AllowedOrigins,
	}, change)
	return live.Open(ctx, o)
}

// projectOrWeb returns the project. Without one it is an empty project in the working directory, for web pages, which the
// notes say.
func (a liveOpener) projectOrWeb() (*workspace.Workspace, []string, error) {
	_, given := a.Getenv("TRAILBLAZE_PROJECT")
	if _, err := a.findRoot(); a.project != "" || given || err == nil {
		w, err := a.loadProject()
		return w, nil, err
	}
	w, problems := a.opener.Load(a.Dir) // no file is read
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	w.Project.Platform, w.NoTarget = "web", true
	return w, []string{
		"no project (trailblaze.yaml) was found from " + a.Dir + " upwards, so the session is for web pages; " +
			"`trailblaze init` makes a project, which `trailblaze run` needs to replay trails",
	}, nil
}

// lostRecordings names the recordings of sessions of a project that ended before they were saved, and says how to
// go on with them.
func (a liveOpener) lostRecordings(project *config.Project) []string {
	var notes []string
	for _, path := range live.RecoverRecordings(project.LogsDir) {
		name := path
		if rel, err := filepath.Rel(project.Root, path); err == nil {
			name = filepath.ToSlash(rel)
		}
		notes = append(notes, fmt.Sprintf("a session ended before its recording was saved: it is in %s; move it below %s as "+
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

// replayer returns a function that replays a trail in a session of its own, with the options of a run. change is called
// with those of each replay.
func (a liveOpener) replayer(
	o run.Options, change func(*run.Options),
) func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
	return func(ctx context.Context, path string, contents map[string][]byte, args map[string]string) (live.Replayed, error) {
		o, ended := o, trailEnd{logsDir: o.Project.LogsDir}
		o.Stream, o.Cwd = event.NewStream(a.Now, o.Redactor, &ended), o.Project.Root
		o.Paths, o.Args, o.Evidence, o.WithoutHistory = []string{path}, args, run.EvidenceOnFailure, true
		o.OpenLog = func(path string, onError func(error)) run.SessionLog { return report.NewSessionLog(path, onError) }
		o.Contents = contents
		change(&o)
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
