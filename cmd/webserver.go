package cmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/webserver"
)

// startWebServers starts the web servers of the project, one after another. stop stops them.
func (a *app) startWebServers(ctx context.Context, project *config.Project, redactor *redact.Redactor, stream *event.Stream) (stop func(), err error) {
	var started []*webserver.Server
	stop = func() {
		for _, s := range slices.Backward(started) {
			if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
				stream.Emit(event.Log{Level: "warn", Source: "webServer", Message: err.Error()})
			}
		}
	}
	for i, w := range project.WebServers {
		name, file := "webServer", "web-server.log"
		if len(project.WebServers) > 1 {
			name, file = fmt.Sprintf("webServer %d", i+1), fmt.Sprintf("web-server-%d.log", i+1)
		}
		env := slices.Clone(a.Env)
		for _, key := range slices.Sorted(maps.Keys(w.Env)) {
			env = append(env, key+"="+w.Env[key])
		}
		path := filepath.Join(project.LogsDir, file)
		s, err := webserver.Start(ctx, a.supervisor, webserver.Spec{
			Name: name, Command: w.Command, URL: w.URL, Dir: project.Root, Env: env, Timeout: w.Timeout,
			ReuseExisting: w.ReuseExisting, LogPath: path, Redact: redactor.Writer,
			Log: func(level, message, hint string) {
				stream.Emit(event.Log{Level: level, Source: name, Message: message, Hint: hint})
			},
		})
		if err != nil {
			stop()
			return nil, err
		}
		started = append(started, s)
	}
	return stop, nil
}
