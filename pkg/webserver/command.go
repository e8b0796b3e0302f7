package webserver

import (
	"cmp"
	"context"
	"os"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/stdio"
)

// RunCommand runs a command of the app to its end, such as one that resets it, with everything that it starts. URL and
// ReuseExisting of spec are not used. The error is a *fault.Error, or the cause of ctx; it has what the command wrote.
func RunCommand(ctx context.Context, supervisor *spawn.Supervisor, spec Spec) error {
	_ = os.Remove(spec.LogPath) // one that cannot be removed is appended to
	limit := cmp.Or(spec.Timeout, Timeout)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	link, err := startCommand(limited, supervisor, spec)
	if err != nil {
		return err
	}
	_ = link.Stdin().Close()
	select {
	case <-link.Done():
	case <-limited.Done():
		_ = link.Stop(context.WithoutCancel(ctx)) // the first error counts
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return link.Explain(fault.New(fault.Server, "raise timeout under "+spec.Name, "%s: the command did not end within %s: %s",
			spec.Name, limit, spec.Command))
	}
	exit := link.ExitError()
	if err := link.Stop(ctx); err != nil {
		return err
	}
	if exit == nil { // the supervisor ended it
		return fault.New(fault.Cancelled, "", "%s: the command was stopped: %s", spec.Name, spec.Command)
	}
	failed := link.Explain(fault.New(fault.Server, "run the command yourself", "%s: the command %s: %s", spec.Name, exit.Message, spec.Command))
	if failed.Details["exit"] == 0 {
		return nil
	}
	return failed
}

func startCommand(ctx context.Context, supervisor *spawn.Supervisor, spec Spec) (*stdio.Link, error) {
	shell, args := spawn.Shell(spec.Command)
	return stdio.Start(ctx, supervisor, stdio.Spec{
		Spec: spawn.Spec{
			Name: spec.Name, Command: shell, Args: args, Dir: spec.Dir, Env: spec.Env,
			Redact: spec.Redact, Log: spec.Log, Terminate: true,
		},
		LogPath: spec.LogPath, LogStdout: true,
	})
}
