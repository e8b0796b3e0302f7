package session

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// Servers are the server processes that several sessions share: those of entries with `multiDevice: http`. Their tools
// send callbacks to one callback server. The methods may be called from any goroutine, and on nil, which shares
// nothing.
type Servers struct {
	setup      Setup
	stop       func(ctx context.Context) error
	unwritable func(error)
	id         string            // used in place of a session id for all sessions
	logs       map[string]string // names of log files by shared key

	listen    sync.Once
	callbacks *callback.Server // nil until the first process starts, and when it cannot listen

	mark  sync.Once
	inUse *files.LockedFile // in the folder of the logs; nil until the first process starts
}

// ShareServers returns what the sessions of a setup share; nil when no entry is shared. It starts nothing. stop ends
// the processes that were launched with [Launch.Shared]; it may be nil. unwritable is called when a log cannot be
// written.
func ShareServers(setup Setup, stop func(ctx context.Context) error, unwritable func(error)) *Servers {
	entries := setup.Project.AllServers()
	if !slices.ContainsFunc(entries, func(e config.Server) bool { return e.MultiDevice }) {
		return nil
	}
	s := &Servers{setup: setup, stop: stop, unwritable: unwritable, id: NewID("shared", setup.Now()), logs: map[string]string{}}
	for i, name := range logNames(entries) {
		s.logs[sharedKey(entries[i])] = name
	}
	return s
}

// shares reports whether the session shares the process of an entry with others.
func (s *Session) shares(entry config.Server) bool {
	if s.opts.Shared == nil || !entry.MultiDevice {
		return false
	}
	return !s.opts.sandboxes(entry)
}

// sandboxes reports whether the server of an entry is a script in the sandbox.
func (o *Options) sandboxes(entry config.Server) bool {
	return o.Scope.AgentMode == scope.OnDevice && entry.IsScript() && o.Sandboxes != nil && o.Sandboxes(entry)
}

// sharedKey identifies an entry; two targets may have servers of one name.
func sharedKey(entry config.Server) string {
	return entry.Name + "\x00" + entry.File + ":" + strconv.Itoa(entry.Line) + ":" + strconv.Itoa(entry.Column)
}

// launch returns how to reach the process of an entry, and how to start it if it does not run.
func (s *Servers) launch(entry config.Server) Launch {
	s.mark.Do(func() {
		if MakeDir(s.logsDir()) == nil { // else opening the log says why
			s.inUse = markInUse(s.logsDir())
		}
	})
	callbacks := s.callbackServer()
	launch := Launch{
		Server: entry, Shared: sharedKey(entry), Env: serverEnv(s.setup.Env, entry, s.id, callbacks),
		LogPath: filepath.Join(s.logsDir(), s.logs[sharedKey(entry)]), Unwritable: s.unwritable,
		Log: func(level, message, hint string) {
			s.setup.Stream.Emit(event.Log{Level: level, Source: entry.Name, Message: message, Hint: hint})
		},
	}
	launch.setCallback(callbacks)
	if callbacks != nil {
		launch.Token = callbacks.Token()
	}
	return launch
}

// logsDir returns the folder of the logs of the shared processes.
func (s *Servers) logsDir() string { return filepath.Join(s.setup.Project.LogsDir, s.id) }

// callbackServer returns the callback server of the shared processes, nil when it cannot listen.
func (s *Servers) callbackServer() *callback.Server {
	s.listen.Do(func() {
		warn := func(message string) {
			s.setup.Stream.Emit(event.Log{Level: "warn", Source: "callback", Message: message})
		}
		callbacks, err := callback.Listen(s.id, s.setup.Budgets.Callbacks)
		if err != nil {
			warn("tools of shared servers cannot call other tools: " + err.Error())
			return
		}
		callbacks.OnReject(warn)
		s.callbacks = callbacks
	})
	return s.callbacks
}

// Close ends the shared processes, when every session that uses them is closed. It works also after ctx was cancelled.
func (s *Servers) Close(ctx context.Context) {
	if s == nil {
		return
	}
	warn := func(source string, err error) {
		if err != nil {
			s.setup.Stream.Emit(event.Log{Level: "warn", Source: source, Message: "could not be stopped cleanly: " + err.Error()})
		}
	}
	if s.stop != nil {
		warn("run", s.stop(context.WithoutCancel(ctx)))
	}
	s.listen.Do(func() {}) // so that callbacks is set or stays nil
	if s.callbacks != nil {
		warn("callback", s.callbacks.Close())
	}
	s.mark.Do(func() {}) // so that inUse is set or stays nil
	unmarkInUse(s.inUse)
	RemoveEmptyDir(s.logsDir())
}
