package cmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/webserver"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// resources are what a run uses and the next one may use again: the web servers of the project, and devices.
type resources struct {
	webServers
	sessions *workspace.Sessions // of the last run; nil before the first
}

// replaceSessions sets the sessions of the next run. Devices of the last run that they do not use are closed.
func (r *resources) replaceSessions(ctx context.Context, s *workspace.Sessions) {
	last := r.sessions
	r.sessions = s
	if last != nil {
		last.Close(ctx)
	}
}

// close closes the devices and then stops the web servers, which may have started what devices are connected to.
func (r *resources) close(ctx context.Context) {
	r.sessions.Close(ctx)
	r.stop(ctx)
}

// webServers are the web servers of a project that are running: for one run, or with --watch for all of them.
type webServers struct {
	*program
	project *config.Project              // whose servers they are; nil for none
	running []*webserver.Server          // by the index in project.WebServers; nil for one that is not running
	stream  atomic.Pointer[event.Stream] // of the current run; nil between runs
}

// start starts the web servers of a project that trails of some targets need, one after another. Those that are running
// are used again if nothing that concerns them has changed.
func (w *webServers) start(
	ctx context.Context, project *config.Project, targets []string, redactor *redact.Redactor, stream *event.Stream,
) error {
	w.stream.Store(stream)
	if !w.reusable(ctx, project) {
		w.stop(ctx)
		w.project, w.running = project, make([]*webserver.Server, len(project.WebServers))
	}
	for i, server := range project.WebServers {
		if w.running[i] != nil || !server.ServesAny(targets) {
			continue
		}
		s, err := webserver.Start(ctx, w.supervisor, w.spec(project, i, redactor))
		if err != nil {
			w.stop(ctx)
			return err
		}
		w.running[i] = s
	}
	return nil
}

// reusable reports whether the servers are those of project, as it is now, and are running.
func (w *webServers) reusable(ctx context.Context, project *config.Project) bool {
	old := w.project
	return old != nil && old.LogsDir == project.LogsDir && reflect.DeepEqual(old.WebServers, project.WebServers) &&
		!slices.ContainsFunc(w.running, func(s *webserver.Server) bool { return s != nil && !s.Running(ctx) })
}

// spec returns what the server with an index is started with.
func (w *webServers) spec(project *config.Project, i int, redactor *redact.Redactor) webserver.Spec {
	server, name, file := project.WebServers[i], "webServer", "web-server.log"
	if len(project.WebServers) > 1 {
		name, file = fmt.Sprintf("webServer %d", i+1), fmt.Sprintf("web-server-%d.log", i+1)
	}
	env := slices.Clone(w.Env)
	for _, key := range slices.Sorted(maps.Keys(server.Env)) {
		env = append(env, key+"="+server.Env[key])
	}
	return webserver.Spec{
		Name: name, Command: server.Command, URL: server.URL, Dir: project.Root, Env: env, Timeout: server.Timeout,
		ReuseExisting: server.ReuseExisting, LogPath: filepath.Join(project.LogsDir, file), Redact: redactor.Writer,
		Log: func(level, message, hint string) {
			w.log(event.Log{Level: level, Source: name, Message: message, Hint: hint})
		},
	}
}

// log adds a message to the events of the current run, and prints it between runs.
func (w *webServers) log(e event.Log) {
	if stream := w.stream.Load(); stream != nil {
		stream.Emit(e)
		return
	}
	w.notice(report.Clean(w.redactor.Text(fmt.Sprintf("warning: %s: %s\n  hint: %s", e.Source, e.Message, e.Hint))))
}

// endRun says that the stream of start must not be used any more.
func (w *webServers) endRun() { w.stream.Store(nil) }

// stop stops the servers, the last one first.
func (w *webServers) stop(ctx context.Context) {
	for _, s := range slices.Backward(w.running) {
		if s == nil {
			continue
		}
		if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
			w.log(event.Log{Level: "warn", Source: "webServer", Message: err.Error()})
		}
	}
	w.running, w.project = nil, nil
}

// noticeWebServers says which web servers a session of a target needs and does not start.
func (a *sessionCommands) noticeWebServers(ctx context.Context, project *config.Project, targetID string) {
	for _, server := range project.WebServers {
		if server.ServesAny([]string{targetID}) && !webserver.InUse(ctx, server.URL) {
			a.notice(fmt.Sprintf("nothing is running at %s, and a session does not start webServer; start it yourself: %s",
				server.URL, report.Clean(a.redactor.Text(server.Command))))
		}
	}
}
