package run

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// othersGrace is how long the other servers may go on starting after one has failed, so that a second failure with a reason
// of its own is reported with the first.
const othersGrace = 5 * time.Second

// session is one scope with its running servers and their registered tools.
type session struct {
	id       string
	dir      string // empty when nothing is kept
	scope    scope.Scope
	setup    Setup
	emit     *event.Emitter
	entries  []config.Server
	servers  []*server.Server  // in configured order
	others   []discover.Source // that have tools and are no servers
	registry atomic.Pointer[discover.Registry]
	reloaded atomic.Bool      // the registry is not the one that calls were held against before the first one
	door     *callback.Server // for tools that call back; nil when none could, or when it cannot be opened
	device   *sessionDevice   // nil when nothing drives the scope's devices
	wanted   bool             // a call will need the device, as far as that is known
	release  func()           // called when the session has ended; may be nil
	step     atomic.Int32     // that runs, from 1; 0 outside of one

	ctx    context.Context //nolint:containedctx // the session's life: cancelled with the cause when a server breaks
	cancel context.CancelCauseFunc
	watch  sync.WaitGroup
}

// opening says how a session begins.
type opening struct {
	id       string
	dir      string // where its evidence goes; empty when nothing is kept
	trailDir string // absolute folder of the trail; empty without one
	emit     *event.Emitter
	needs    []string // tools that will be called, as far as that is known
	ahead    bool     // the session's turn has not come: begin says when
	listOnly bool     // each server is stopped as soon as it is listed, and the device stays as it is
}

// openSession starts every server of the scope at once, and the device if a call will need it, and registers their tools. On
// failure nothing is left running.
func openSession(ctx context.Context, setup Setup, sc scope.Scope, o opening) (*session, error) {
	s := &session{id: o.id, dir: o.dir, scope: sc, setup: setup, emit: o.emit, entries: setup.Project.ServersFor(sc.Target.ID)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if !o.listOnly && slices.ContainsFunc(s.entries, func(e config.Server) bool { return !s.shares(e) && !e.IsRemote() }) {
		s.openDoor()
	}
	s.others = slices.Concat([]discover.Source{s.openDevice(o)}, setup.Builtins, []discover.Source{s.reloadSource()})
	err := s.start(o.listOnly)
	var registry *discover.Registry
	if err == nil {
		registry, err = s.register(s.listings())
	}
	if err != nil {
		s.close(ctx)
		return nil, err
	}
	s.registry.Store(registry)
	s.warn(registry.Warnings, nil)
	return s, nil
}

// openDoor lets tools call back. A session whose tools do not is none the worse without it.
func (s *session) openDoor() {
	door, err := callback.Listen(s.id)
	if err != nil {
		s.emit.Log("warn", "callback", "tools cannot call other tools: "+err.Error(), "")
		return
	}
	door.OnRefusal(func(message string) { s.emit.Log("warn", "callback", message, "") })
	s.door = door
}

// doorFor is where the tools of a source call back, nil when they cannot. entry is that of their server.
func (s *session) doorFor(from tool.Source) (door *callback.Server, entry config.Server) {
	i := slices.IndexFunc(s.entries, func(e config.Server) bool { return e.Name == from.Name })
	switch {
	case from.Kind != tool.FromServer || i < 0:
		return nil, entry
	case s.entries[i].IsRemote(): // our door opens to this machine only
		return nil, s.entries[i]
	case s.shares(s.entries[i]):
		return s.setup.sharing.callbacks(), s.entries[i]
	}
	return s.door, s.entries[i]
}

// callbackLimit is how long each callback of a server's tools may take.
func callbackLimit(entry config.Server) time.Duration {
	return cmp.Or(entry.CallbackTimeout, callback.DefaultLimit)
}

// start brings up the servers; every failure is reported.
func (s *session) start(listOnly bool) error {
	entries := s.entries
	ctx, giveUp := context.WithCancel(s.ctx)
	defer giveUp()
	logNames := logNames(entries)
	started := make([]*server.Server, len(entries))
	failures := make([]error, len(entries))
	var wg sync.WaitGroup
	var first sync.Once
	for i, entry := range entries {
		wg.Go(func() {
			started[i], failures[i] = s.startOne(ctx, entry, logNames[i])
			switch {
			case failures[i] != nil:
				first.Do(func() { time.AfterFunc(othersGrace, giveUp) })
			case listOnly:
				failures[i] = errors.Join(started[i].FinishStart(ctx), started[i].Stop(context.WithoutCancel(ctx)))
			default:
				s.watch.Go(func() { s.watchServer(started[i]) })
			}
		})
	}
	wg.Wait()
	for _, srv := range started {
		if srv != nil {
			s.servers = append(s.servers, srv)
		}
	}
	if err := causes(append(failures, s.broke())); err != nil || listOnly {
		return err
	}
	return s.settle()
}

// causes joins the failures, leaving out servers that were only given up because another had failed.
func causes(failures []error) error {
	var own, givenUp []error
	for _, err := range failures {
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.Cancelled:
			givenUp = append(givenUp, err)
		default:
			own = append(own, err)
		}
	}
	if len(own) == 0 {
		return errors.Join(givenUp...)
	}
	return errors.Join(own...)
}

func (s *session) startOne(ctx context.Context, entry config.Server, logName string) (srv *server.Server, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	log := func(level, message, hint string) { s.emit.Log(level, entry.Name, message, hint) }
	var launch Launch
	if s.shares(entry) {
		launch = s.setup.sharing.launch(entry)
	} else {
		launch = Launch{Server: entry, Env: s.childEnv(entry), Log: log}
		launch.callsBack(s.door)
		if s.dir != "" {
			launch.LogPath, launch.Unwritable = filepath.Join(s.dir, logName), s.setup.unwritable
		}
	}
	launch.OnDevice = s.scope.Location == scope.OnDevice
	begun := s.setup.Now()
	cfg := allowed(entry)
	cfg.Launch = func(ctx context.Context) (server.Link, error) { return s.setup.Launch(ctx, launch) }
	cfg.Version, cfg.Log = s.setup.Version, log
	srv, err = server.Start(ctx, cfg)
	if err != nil {
		return nil, advised(err, "start it by hand to see what it says")
	}
	s.emit.Emit(event.ServerStarted{
		Server: entry.Name, Tools: len(srv.Tools()), DurationMs: s.setup.Now().Sub(begun).Milliseconds(),
	})
	return srv, nil
}

// allowed is what an entry says about how its server is used.
func allowed(entry config.Server) server.Config {
	return server.Config{
		Name: entry.Name, StartupTimeout: entry.StartupTimeout, CallTimeout: entry.CallTimeout,
		Parallel: entry.Parallel, RestartOnCrash: entry.RestartOnCrash, Reconnect: entry.URL != "",
	}
}

// watchServer ends the session the moment a server breaks, also between calls.
func (s *session) watchServer(srv *server.Server) {
	select {
	case <-srv.Failed():
		s.cancel(advised(srv.Err(), crashHint))
	case <-s.ctx.Done():
	}
}

const (
	lookHint  = "look for the reason in what it wrote"
	crashHint = lookHint + "; --retries gives the trail a fresh session"
)

// advised gives a hint to an error about a server that has none.
func advised(err error, hint string) error {
	e := fault.As(err)
	if e == nil || e.Hint != "" || e.Kind == fault.Cancelled {
		return err
	}
	with := *e
	with.Hint = hint
	return &with
}

// broke returns why the session ended by itself or from outside, nil while it is sound.
func (s *session) broke() error {
	if s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

// close stops every server at once and waits for them. It works on every exit path, also after ctx was cancelled.
func (s *session) close(ctx context.Context) {
	s.cancel(errClosed)
	if s.release != nil {
		defer s.release()
	}
	s.watch.Wait()
	var wg sync.WaitGroup
	for _, srv := range s.servers {
		wg.Go(func() {
			if err := srv.Stop(context.WithoutCancel(ctx)); err != nil {
				s.emit.Log("warn", srv.Name(), "could not be stopped cleanly: "+err.Error(), "")
			}
		})
	}
	if s.device != nil {
		wg.Go(func() {
			if err := s.device.Close(context.WithoutCancel(ctx)); err != nil {
				s.emit.Log("warn", "device", "could not be closed cleanly: "+err.Error(), "")
			}
		})
	}
	wg.Wait()
	if s.door != nil {
		if err := s.door.Close(); err != nil {
			s.emit.Log("warn", "callback", "could not be closed cleanly: "+err.Error(), "")
		}
	}
}

var errClosed = errors.New("session closed")

func toolsets(p *config.Project) []discover.Toolset {
	sets := make([]discover.Toolset, len(p.Toolsets))
	for i, ts := range p.Toolsets {
		sets[i] = discover.Toolset{
			ID: ts.ID, Description: ts.Description, Platforms: ts.Platforms, Drivers: ts.Drivers,
			AlwaysEnabled: ts.AlwaysEnabled, Tools: ts.Tools,
		}
	}
	return sets
}

// gate is what the target's entry for the scope's platform says about tools.
func gate(p *config.Project, sc scope.Scope) discover.Selection {
	for _, t := range p.Targets {
		if t.ID == sc.Target.ID {
			platform := t.Platforms[sc.Driver.Platform]
			return discover.Selection{ToolSets: platform.ToolSets, Tools: platform.Tools, Excluded: platform.ExcludedTools}
		}
	}
	return discover.Selection{}
}

// logPrefix begins the names of servers' log files.
const logPrefix = "subprocess_stderr_"

// logNames are the names of the servers' log files, one for each even where the file system cannot tell their names apart.
func logNames(entries []config.Server) []string {
	names := make([]string, len(entries))
	taken := map[string]bool{}
	for i, entry := range entries {
		base := logPrefix + fileName(entry.Name)
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		taken[strings.ToLower(name)] = true
		names[i] = name + ".log"
	}
	return names
}

// logName is the name of the log of a server, empty when there is no such server.
func (s *session) logName(server string) string {
	i := slices.IndexFunc(s.entries, func(e config.Server) bool { return e.Name == server })
	if i < 0 {
		return ""
	}
	return logNames(s.entries)[i]
}

// fileName makes a name safe as a file name on every system, keeping it readable.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r == '.':
			return '.'
		}
		return '_'
	}, name)
	safe = strings.Trim(safe, "._")
	if len(safe) > maxFileName {
		safe = safe[:maxFileName]
	}
	if safe == "" {
		return "unnamed"
	}
	return safe
}

// maxFileName leaves room for a time, a random part and a suffix within the 255 bytes that file systems allow.
const maxFileName = 100
