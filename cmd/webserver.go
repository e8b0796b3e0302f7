package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/webserver"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// resources are what one run uses, or with --watch every run: devices and the web servers of the project.
type resources struct {
	*program
	sessions *workspace.Sessions // of the current or the last run; nil before the first
	models   *models             // of the current or the last run; nil for none
	reuse    bool                // web servers that are running already, whatever the project says

	project *config.Project              // whose servers are running; nil for none
	running []*webserver.Server          // by the index in project.WebServers; nil for one that is not running
	stream  atomic.Pointer[event.Stream] // of the current run; nil between runs
}

// replaceSessions sets the sessions of the next run. Devices of the last run that they do not use are closed.
func (r *resources) replaceSessions(ctx context.Context, s *workspace.Sessions) {
	last := r.sessions
	r.sessions = s
	if last != nil {
		last.Close(ctx)
	}
}

// start starts the web servers that trails of some targets need, one after another. Those that are running are used
// again if nothing that concerns them has changed.
func (r *resources) start(ctx context.Context, targets []string) error {
	r.stream.Store(r.sessions.Stream)
	project := r.sessions.Project
	if !r.reusable(ctx, project) {
		r.stop(ctx)
		r.project, r.running = project, make([]*webserver.Server, len(project.WebServers))
	}
	for i, server := range project.WebServers {
		if r.running[i] != nil || !server.ServesAny(targets) {
			continue
		}
		s, err := webserver.Start(ctx, r.supervisor, r.spec(i))
		if err != nil {
			r.stop(ctx)
			return err
		}
		r.running[i] = s
	}
	return nil
}

// reusable reports whether the servers are those of project, as it is now, and are running.
func (r *resources) reusable(ctx context.Context, project *config.Project) bool {
	old := r.project
	return old != nil && old.LogsDir == project.LogsDir && reflect.DeepEqual(old.WebServers, project.WebServers) &&
		!slices.ContainsFunc(r.running, func(s *webserver.Server) bool { return s != nil && !s.Running(ctx) })
}

// spec returns what the server with an index is started with.
func (r *resources) spec(i int) webserver.Spec {
	project, name, file := r.sessions.Project, "webServer", "web-server.log"
	server := project.WebServers[i]
	if len(project.WebServers) > 1 {
		name, file = fmt.Sprintf("webServer %d", i+1), fmt.Sprintf("web-server-%d.log", i+1)
	}
	return webserver.Spec{
		Name: name, Command: server.Command, URL: server.URL, Dir: project.Root, Env: device.WithVariables(r.sessions.Env, server.Env), Timeout: server.Timeout,
		ReuseExisting: server.ReuseExisting || r.reuse, LogPath: filepath.Join(project.LogsDir, file), Redact: r.sessions.Redactor.Writer,
		Log: func(level, message, hint string) {
			r.log(event.Log{Level: level, Source: name, Message: message, Hint: hint})
		},
	}
}

// log adds a message to the events of the current run, and prints it between runs.
func (r *resources) log(e event.Log) {
	if stream := r.stream.Load(); stream != nil {
		stream.Emit(e)
		return
	}
	r.notice(r.redactor.Text(fmt.Sprintf("warning: %s: %s\n  hint: %s", e.Source, e.Message, e.Hint)))
}

// endRun says that the stream of start must not be used any more.
func (r *resources) endRun() { r.stream.Store(nil) }

// stop stops the servers, the last one first.
func (r *resources) stop(ctx context.Context) {
	for _, s := range slices.Backward(r.running) {
		if s == nil {
			continue
		}
		if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
			r.log(event.Log{Level: "warn", Source: "webServer", Message: err.Error()})
		}
	}
	r.running, r.project = nil, nil
}

// noticeWebServers says which web servers a session of a target needs and does not start.
func (cmd *sessionCommands) noticeWebServers(ctx context.Context, project *config.Project, targetID string) {
	for _, server := range project.WebServers {
		if server.ServesAny([]string{targetID}) && !webserver.InUse(ctx, server.URL) {
			cmd.notice(fmt.Sprintf("nothing is running at %s, and a session does not start webServer; start it yourself: %s",
				server.URL, report.Clean(cmd.redactor.Text(server.Command))))
		}
	}
}
