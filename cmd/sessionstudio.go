package cmd

import (
	"context"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// share serves a studio over a session of the command line, on a port or a free one. person answers what its device asks.
func (cmd *sessionCommands) share(
	ctx context.Context, w *workspace.Workspace, session *live.RedactedSession, port int, person *lateAsk,
) (*studio.Shared, error) {
	listener, err := listenLocally(ctx, port)
	if err != nil {
		return nil, err
	}
	return studio.Share(ctx, studio.Options{
		Listener: listener, Token: tool.NewCapability(), Project: w.Project, Output: cmd.redactor.Text, Now: cmd.Now,
		Devices: func(context.Context) []studio.DeviceOption { return []studio.DeviceOption{} },
		Open: func(_ context.Context, c studio.Choice) (studio.Opened, error) {
			person.set(c.Ask)
			return studio.Opened{Session: session}, nil
		},
	}, session)
}

// askFunc answers what a device asks, as [live.Options] says.
type askFunc = func(ctx context.Context, q device.Question) (a device.Answer, ok bool)

// lateAsk asks a person who comes after the session was opened. Nobody answers before.
type lateAsk struct{ person atomic.Pointer[askFunc] }

func (l *lateAsk) set(f askFunc) { l.person.Store(&f) }

func (l *lateAsk) ask(ctx context.Context, q device.Question) (a device.Answer, ok bool) {
	if f := l.person.Load(); f != nil {
		return (*f)(ctx, q)
	}
	return a, false
}
