package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// othersGrace is how long the other servers may go on starting after one has failed, so that a second failure with a
// reason of its own is reported with the first. After a permanent failure they only finish launching.
const othersGrace = 5 * time.Second

// startServers starts the servers and waits for all of them; every failure is reported. With listOnly each one is
// stopped as soon as its tools are listed. Once they are launched, the session's other sources of tools are read.
func (s *Session) startServers(listOnly bool) error {
	ctx, stopOthers := context.WithCancel(s.ctx)
	defer stopOthers()
	logs := logNames(s.entries)
	started := make([]*server.Server, len(s.entries))
	failures := make([]error, len(s.entries))
	var wg sync.WaitGroup
	var launching sync.WaitGroup // the servers that are not launched yet
	launching.Add(len(s.entries))
	var first sync.Once
	for i, entry := range s.entries {
		wg.Go(func() {
			started[i], failures[i] = s.startServer(ctx, entry, logs[i], launching.Done)
			switch {
			case failures[i] != nil:
				first.Do(func() { time.AfterFunc(othersGrace, stopOthers) })
				if isPermanent(failures[i]) {
					launching.Wait() // others may fail to launch, too
					s.announce(failures[i])
					stopOthers()
				}
			case listOnly:
				failures[i] = errors.Join(started[i].FinishStart(ctx), started[i].Stop(context.WithoutCancel(ctx)))
			default:
				s.watch.Go(func() { s.watchServer(started[i]) })
			}
		})
	}
	wg.Go(func() {
		launching.Wait()
		s.sources = slices.Concat([]discover.Source{s.deviceSource()}, s.opts.Builtins, []discover.Source{s.reloadSource()})
	})
	wg.Wait()
	for _, srv := range started {
		if srv != nil {
			s.servers = append(s.servers, srv)
		}
	}
	if err := joinFailures(append(failures, s.Err())); err != nil || listOnly {
		return err
	}
	return s.listChangedServers()
}

// failureNotice is how long the other servers of a session may take to stop before the failure that stops them is
// logged.
const failureNotice = 200 * time.Millisecond

// announce logs a failure that ends the start of the session, when stopping the other servers delays the error.
func (s *Session) announce(err error) {
	if len(s.entries) == 1 {
		return
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	s.notices.Go(func() {
		select {
		case <-time.After(failureNotice):
			s.opts.Emit.Log("error", "session", message+"; stopping the other servers", Hint(err))
		case <-s.stopped:
		}
	})
}

// isPermanent reports whether a server cannot start before something is corrected, so that waiting for others only
// delays the error.
func isPermanent(err error) bool {
	switch fault.KindOf(err) {
	case fault.CommandNotFound, fault.PermissionDenied, fault.Runtime, fault.Config, fault.Unavailable:
		return true
	default:
		return false
	}
}

// joinFailures joins errors. Servers that were only stopped because another one failed are left out.
func joinFailures(failures []error) error {
	var own, cancelled []error
	for _, err := range failures {
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.Cancelled:
			cancelled = append(cancelled, err)
		default:
			own = append(own, err)
		}
	}
	if len(own) == 0 {
		return errors.Join(cancelled...)
	}
	return errors.Join(own...)
}

// startServer starts one server. It calls launched once, when the server was launched or failed to.
func (s *Session) startServer(ctx context.Context, entry config.Server, logName string, launched func()) (srv *server.Server, err error) {
	launched = sync.OnceFunc(launched)
	defer launched()
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	launch := s.launch(entry, logName)
	started := s.opts.Now()
	cfg := serverConfig(entry)
	cfg.Launch = func(ctx context.Context) (server.Link, error) {
		defer launched()
		return s.opts.Launch(ctx, launch)
	}
	cfg.Root, cfg.Version, cfg.Calls = s.opts.Project.Root, s.opts.Version, &s.graph
	cfg.Log = func(level, message, hint string) { s.opts.Emit.Log(level, entry.Name, message, hint) }
	s.allowSampling(entry, &cfg)
	srv, err = server.Start(ctx, cfg)
	if err != nil {
		return nil, s.atEntry(withHint(err, "start it by hand to see what it says"), entry)
	}
	s.opts.Emit.Emit(event.ServerStarted{
		Server: entry.Name, Tools: len(srv.Tools()), DurationMs: s.opts.Now().Sub(started).Milliseconds(),
	})
	return srv, nil
}

// launch returns how to start the server of an entry.
func (s *Session) launch(entry config.Server, logName string) Launch {
	var l Launch
	if s.shares(entry) {
		l = s.opts.Shared.launch(entry)
	} else {
		l = Launch{
			Server: entry, Env: s.serverEnv(entry),
			Log: func(level, message, hint string) {
				if level == "info" && isSignal(s.Err()) {
					hint = "" // the server is stopped in the middle of its work
				}
				s.opts.Emit.Log(level, entry.Name, message, hint)
			},
		}
		l.setCallback(s.callbacks)
		if s.opts.Dir != "" {
			l.LogPath, l.Unwritable = filepath.Join(s.opts.Dir, logName), s.opts.Unwritable
		}
	}
	l.OnDevice = s.opts.Scope.AgentMode == scope.OnDevice
	return l
}

// isSignal reports whether a session ended because of a signal to trailblaze.
func isSignal(cause error) bool {
	kind := fault.KindOf(cause)
	return cause != nil && (kind == fault.Interrupted || kind == fault.Terminated)
}

// limitOr returns the limit that an entry sets, that of functions for a server with them, or else the usual one.
func limitOr(entry config.Server, own, usual time.Duration) time.Duration {
	if len(entry.Functions) > 0 {
		usual = config.FunctionLimit
	}
	return cmp.Or(own, usual)
}

// serverConfig returns the limits and permissions of an entry.
func serverConfig(entry config.Server) server.Config {
	return server.Config{
		Name: entry.Name, StartupTimeout: entry.StartupTimeout, CallTimeout: limitOr(entry, entry.CallTimeout, 0),
		Parallel: entry.Parallel, RestartOnCrash: entry.RestartOnCrash, Reconnect: entry.URL != "",
	}
}

// watchServer ends the session when a server fails, also between calls.
func (s *Session) watchServer(srv *server.Server) {
	select {
	case <-srv.Failed():
		s.cancel(withHint(srv.Err(), s.crashHint()))
	case <-s.ctx.Done():
	}
}

// crashHint returns the hint for a server that failed.
func (s *Session) crashHint() string {
	const hint = "look for the reason in what it wrote"
	if s.opts.SuggestRetries {
		return hint + "; --retries 1 replays the trail once more in a fresh session"
	}
	return hint
}

// withHint adds a hint to an error that has none. A cancellation gets none.
func withHint(err error, hint string) error {
	e := fault.As(err)
	if e == nil || e.Hint != "" || e.Kind == fault.Cancelled {
		return err
	}
	hinted := *e
	hinted.Hint = hint
	return &hinted
}

// atEntry adds the position of a server's entry to the error of its start. A cancellation stays as it is.
func (s *Session) atEntry(err error, entry config.Server) error {
	e := fault.As(err)
	if e == nil || e.Kind == fault.Cancelled || entry.File == "" {
		return err
	}
	file := entry.File
	if rel, relErr := filepath.Rel(s.opts.Cwd, file); relErr == nil && filepath.IsLocal(rel) {
		file = rel
	}
	at := *e
	first, rest, more := strings.Cut(e.Message, "\n")
	at.Message = fmt.Sprintf("%s\n  its entry: %s:%d", first, file, entry.Line)
	if more {
		at.Message += "\n" + rest
	}
	return &at
}

// callbacksFor returns the callback server of the tools of a source, nil when they cannot call back, and the entry of
// their server.
func (s *Session) callbacksFor(source tool.Source) (*callback.Server, config.Server) {
	entry, ok := s.entryOf(source)
	switch {
	case !ok, entry.IsRemote(): // callback servers are open to this machine only
		return nil, entry
	case s.shares(entry):
		return s.opts.Shared.callbackServer(), entry
	}
	return s.callbacks, entry
}

// entryOf returns the entry of a source that is a server.
func (s *Session) entryOf(source tool.Source) (config.Server, bool) {
	i := slices.IndexFunc(s.entries, func(e config.Server) bool { return e.Name == source.Name })
	if source.Kind != tool.FromServer || i < 0 {
		return config.Server{}, false
	}
	return s.entries[i], true
}

// callbackLimit returns how long each callback of a server's tools may take.
func callbackLimit(entry config.Server) time.Duration {
	return limitOr(entry, entry.CallbackTimeout, callback.DefaultLimit)
}

// listChangedServers lists the servers again whose tools changed while the others were still starting.
func (s *Session) listChangedServers() error {
	return s.eachServer(func(_ int, srv *server.Server) error { return srv.FinishStart(s.ctx) })
}

// eachServer calls do for all servers at once; every failure is reported.
func (s *Session) eachServer(do func(i int, srv *server.Server) error) error {
	failures := make([]error, len(s.servers))
	var wg sync.WaitGroup
	for i, srv := range s.servers {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failures[i] = fault.Panicked(p)
				}
			}()
			failures[i] = do(i, srv)
		})
	}
	wg.Wait()
	return joinFailures(failures)
}

// listings returns the tools that each server listed last.
func (s *Session) listings() []*server.Listing {
	out := make([]*server.Listing, len(s.servers))
	for i, srv := range s.servers {
		out[i] = srv.Listing()
	}
	return out
}

// register makes a registry of the servers' tools and those of all other sources.
func (s *Session) register(listings []*server.Listing) (*discover.Registry, error) {
	var sources []discover.Source
	for i, srv := range s.servers {
		sources = append(sources, discover.Source{
			Source: tool.Source{Kind: tool.FromServer, Name: srv.Name()}, Tools: listings[i].Tools,
			Registry: listings[i].Registry, Caller: srv, Rename: s.entries[i].Rename, Exclude: s.entries[i].Exclude,
		})
	}
	sc := s.opts.Scope
	r, err := discover.Build(discover.Scope{Driver: sc.Driver.Key, Platform: sc.Driver.Platform, AgentMode: sc.AgentMode},
		append(sources, s.sources...), toolsets(s.opts.Project), gate(s.opts.Project, sc))
	if err == nil {
		r.Wording = s.opts.Wording
	}
	return r, err
}

// warn logs the warnings of a registry that were not logged before.
func (s *Session) warn(warnings, logged []string) {
	for _, w := range warnings {
		if !slices.Contains(logged, w) {
			s.opts.Emit.Log("warn", "registry", w, "")
		}
	}
}

func toolsets(p *config.Project) []discover.Toolset {
	sets := make([]discover.Toolset, len(p.Toolsets))
	for i, ts := range p.Toolsets {
		sets[i] = discover.Toolset{
			ID: ts.ID, Description: ts.Description, Platforms: ts.Platforms, Drivers: ts.Drivers,
			AlwaysEnabled: ts.AlwaysEnabled, Tools: ts.Tools, Partial: ts.Partial,
		}
	}
	return sets
}

// gate returns the selection of tools in the target's entry for the scope's platform.
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

// logNames returns the names of the servers' log files, distinct also on file systems that ignore case.
func logNames(entries []config.Server) []string {
	names := make([]string, len(entries))
	taken := map[string]bool{}
	for i, entry := range entries {
		base := logPrefix + FileName(entry.Name)
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		taken[strings.ToLower(name)] = true
		names[i] = name + ".log"
	}
	return names
}

// logName returns the name of a server's log file, empty when there is no such server.
func (s *Session) logName(server string) string {
	i := slices.IndexFunc(s.entries, func(e config.Server) bool { return e.Name == server })
	if i < 0 {
		return ""
	}
	return logNames(s.entries)[i]
}

// RemoveServerLogs removes what servers wrote from a session's folder.
func RemoveServerLogs(dir string) {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has no logs to remove
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), logPrefix) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
