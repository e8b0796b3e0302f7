package run

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// sharing is what the sessions of a run on several devices have in common: the processes of entries with `multiDevice: http`, and the
// door at which their tools call back. Its methods may be called from any goroutine, and on nil, which is a run that shares nothing.
type sharing struct {
	setup Setup
	id    string // stands for a session where none is meant
	logs  map[string]string

	open sync.Once
	door *callback.Server // nil until the first process starts, and when it cannot be opened
}

// newSharing returns nil when no session would share anything. Nothing is started before a session asks for it.
func newSharing(o Options) *sharing {
	entries := o.Project.AllServers()
	shared := func(e config.Server) bool { return e.MultiDevice }
	if len(o.Lanes) < 2 || o.DryRun || !slices.ContainsFunc(entries, shared) {
		return nil
	}
	s := &sharing{setup: o.Setup, id: newSessionID("shared", o.Now()), logs: map[string]string{}}
	for i, name := range logNames(entries) { // targets may have servers of one name
		s.logs[sharedKey(entries[i])] = name
	}
	return s
}

// has reports whether the process of an entry is shared.
func (s *sharing) has(entry config.Server) bool { return s != nil && entry.MultiDevice }

// shares reports whether the session shares the process of an entry.
func (s *session) shares(entry config.Server) bool {
	sandboxed := s.scope.Location == scope.OnDevice && entry.Script != "" && s.setup.Sandboxes(entry)
	return s.setup.sharing.has(entry) && !sandboxed
}

// sharedKey names an entry; two targets may have servers of one name.
func sharedKey(entry config.Server) string {
	return entry.Name + "\x00" + entry.File + ":" + strconv.Itoa(entry.Line) + ":" + strconv.Itoa(entry.Column)
}

// launch says how to reach the process of an entry, and how to start it when there is none.
func (s *sharing) launch(entry config.Server) Launch {
	door := s.callbacks()
	launch := Launch{
		Server: entry, Shared: sharedKey(entry), Env: serverEnv(s.setup.Env, entry, s.id, door),
		LogPath: filepath.Join(s.setup.Project.LogsDir, s.id, s.logs[sharedKey(entry)]), Unwritable: s.setup.unwritable,
		Log: func(level, message, hint string) {
			s.setup.Stream.Emit(event.Log{Level: level, Source: entry.Name, Message: message, Hint: hint})
		},
	}
	launch.callsBack(door)
	if door != nil {
		launch.Token = door.Token()
	}
	return launch
}

// callbacks is the door of the shared processes, nil when there is none.
func (s *sharing) callbacks() *callback.Server {
	s.open.Do(func() {
		log := func(message string) {
			s.setup.Stream.Emit(event.Log{Level: "warn", Source: "callback", Message: message})
		}
		door, err := callback.Listen(s.id)
		if err != nil {
			log("tools of shared servers cannot call other tools: " + err.Error())
			return
		}
		door.OnRefusal(log)
		s.door = door
	})
	return s.door
}

// close ends the shared processes. It works on every exit path, also after ctx was cancelled.
func (s *sharing) close(ctx context.Context) {
	if s == nil {
		return
	}
	warn := func(source string, err error) {
		if err != nil {
			s.setup.Stream.Emit(event.Log{Level: "warn", Source: source, Message: "could not be stopped cleanly: " + err.Error()})
		}
	}
	if s.setup.EndShared != nil {
		warn("run", s.setup.EndShared(context.WithoutCancel(ctx)))
	}
	s.open.Do(func() {})
	if s.door != nil {
		warn("callback", s.door.Close())
	}
}
