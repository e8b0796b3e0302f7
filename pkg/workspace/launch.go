package workspace

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/remote"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/stdio"
)

// launcher returns a launcher that starts servers as processes, takes shared ones from pool, and connects to those with
// a URL. logStderr logs each line that a process writes to stderr.
func (o *Opener) launcher(redactor *redact.Redactor, pool *remote.Pool, logStderr bool) session.Launcher {
	return func(ctx context.Context, l session.Launch) (server.Link, error) {
		if l.Server.URL != "" {
			return remote.Open(ctx, remote.Spec{
				Name: l.Server.Name, URL: l.Server.URL, Headers: l.Server.Headers, Proxy: o.Proxy, Log: l.Log,
			})
		}
		process := stdio.Spec{
			Spec: spawn.Spec{
				Name: l.Server.Name, Script: l.Server.Script, Command: l.Server.Command, Args: l.Server.Args,
				Dir: l.Server.Dir, Env: l.Env, Runtime: l.Server.Runtime, OnDevice: l.OnDevice,
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
