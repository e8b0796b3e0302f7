// Package run replays trails. For each one it resolves the scope, opens a session of tool servers, checks every recorded
// call, runs the steps and tears everything down; what happens is told as events. It knows no flags, no terminal, no
// process and no YAML. Trails are replayed by as many workers as Options say; a Run shares nothing with another one.
package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Launch says what to start for one server of a session.
type Launch struct {
	Server  config.Server
	Env     []string // complete
	LogPath string   // for stderr; empty for none
	Log     func(level, message, hint string)
	// Unwritable is told, from any goroutine, that the file at LogPath cannot be written. May be nil.
	Unwritable func(err error)
	// Shared names the process that this session shares with others, which is started when there is none; empty for one of its own.
	Shared string
	Token  string // to show to a shared process; empty for none
	// OnDevice says that the agent of the session is on the device, and so are its servers.
	OnDevice bool
	// Callback answers what is sent to CallbackURL without a socket, for servers inside our own process. Nil for none.
	Callback    http.Handler
	CallbackURL string
}

// callsBack says where the tools of what is launched call back. door may be nil.
func (l *Launch) callsBack(door *callback.Server) {
	if door != nil {
		l.Callback, l.CallbackURL = door.Local(), door.URL()
	}
}

// Launcher starts a server and returns the link to it.
type Launcher func(ctx context.Context, l Launch) (server.Link, error)

// SessionLog keeps the records of one session.
type SessionLog interface {
	event.Handler
	Close() error
}

// Setup is what every session needs, whether it runs a trail or only lists tools.
type Setup struct {
	Project  *config.Project
	Version  string
	Env      []string      // of our own process
	Request  scope.Request // flags, environment and project; a trail adds its own words
	Width    int           // of the device, in pixels, 0 for unknown
	Height   int
	Builtins []discover.Source
	Devices  []Device // at most one for a driver
	Launch   Launcher
	// EndShared ends the processes that were launched as shared. May be nil.
	EndShared func(ctx context.Context) error
	// Sandboxes says of a script, whose agent is on the device, that it runs where nothing can serve others.
	Sandboxes func(config.Server) bool
	Redactor  *redact.Redactor
	Stream    *event.Stream
	Now       func() time.Time

	unwritable func(err error) // told that evidence cannot be written
	sharing    *sharing        // with other sessions of the run; nil when nothing is shared
}

// Lane is a device that trails are replayed on.
type Lane struct {
	Name          string        // as the user calls it; empty for the only one
	Request       scope.Request // with what the device says of it
	Classifiers   []string      // broad first; empty: the platform
	Width, Height int           // in pixels, 0 for unknown
	Devices       []Device      // at most one for a driver
}

// Options is a whole run.
type Options struct {
	Setup
	Cwd            string    // relative paths are relative to it
	Paths          []string  // trail files in order
	Tags           []string  // any of; empty: all
	Classifiers    []string  // broad first; empty: the platform
	Lanes          []Lane    // each trail is replayed on each; empty: one lane of the Setup's own, with Classifiers
	Workers        int       // sessions at once; 0: one for each lane
	Shard          Shard     // only this part of the trails; zero: all
	Durations      Durations // what shards are cut by; nil: the number of trails
	Memory         map[string]string
	Secrets        map[string]string
	Args           map[string]string
	ArgRows        []map[string]any // one case per row; empty: one case
	SkipUnrecorded bool             // skip steps that need an agent instead of failing
	FailFast       bool
	LastFailed     bool       // no path to run means that nothing is left to do
	Last           []LastCase // of paths only these devices, as far as they have names; empty: all
	DryRun         bool
	Retries        int
	Evidence       string // EvidenceOnFailure, EvidenceAlways or EvidenceOff
	Record         string // file that the one trail is recorded to; empty for none
	OpenLog        func(path string, onError func(error)) SessionLog
}

// Summary is how a run ended.
type Summary struct {
	event.RunFinished
	Failed []string // paths that failed or broke
	NotRun []string // paths that were never reached
}

// Run replays the trails on every lane. The error is what ended the run from outside (a signal, --timeout) or made it
// impossible; failed trails are counted in the summary, whose exit code already regards everything.
func Run(ctx context.Context, o Options) (Summary, error) {
	r := &runner{Options: o, started: o.Now()}
	r.unwritable = r.warnUnwritable
	r.sharing = newSharing(r.Options)
	r.lanes = r.allLanes()
	cases, err := r.cases()
	if err != nil {
		return Summary{}, err
	}
	mine, plan := r.shard(cases)
	o.Stream.Emit(r.start(len(mine), plan))
	if len(mine) == 0 {
		o.Stream.Emit(event.Log{Level: "info", Source: "run", Message: nothingToDo(len(cases), o.Shard)})
	} else if o.Shard.Of > 0 {
		o.Stream.Emit(event.Log{Level: "info", Source: "run", Message: fmt.Sprintf("shard %s: %d of %d to replay", o.Shard, len(mine), len(cases))})
	}
	r.work(ctx, mine)
	r.sharing.close(ctx)
	cause := outside(ctx)
	if r.panicked != nil {
		cause = r.panicked
	}
	if cause != nil {
		o.Stream.Emit(event.Log{Level: "error", Source: "run", Message: cause.Error(), Hint: hintOf(cause)})
		r.summary.ExitCode = fault.Worst(r.summary.ExitCode, fault.ExitCode(cause))
	}
	if !o.DryRun {
		if err := errors.Join(r.saveLast(), r.saveDurations()); err != nil {
			r.warnUnwritable(err)
		}
	}
	r.summary.DurationMs = o.Now().Sub(r.started).Milliseconds()
	o.Stream.Emit(r.summary.RunFinished)
	return r.summary, cause
}

func (r *runner) start(cases int, plan string) event.RunStarted {
	e := event.RunStarted{Trails: cases, Shard: r.Shard.String(), Plan: plan, Root: r.Project.Root, Dir: r.Cwd}
	if n := r.workers(); n > 1 {
		e.Workers = n
	}
	return e
}

// outside returns what ended the run from outside, nil when nothing did.
func outside(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if fault.As(cause) != nil {
		return cause
	}
	return fault.New(fault.Interrupted, "", "interrupted")
}

type runner struct {
	Options
	started  time.Time
	lanes    []*lane
	ahead    *ahead   // nil when cases are replayed at once
	listings sync.Map // of dry runs, which list a scope once

	mu       sync.Mutex // guards the rest
	summary  Summary
	measured Measured
	panicked error
	again    []LastCase // for --last-failed

	unwritableOnce sync.Once
}

// testCase is one trail file with one set of arguments, on one lane.
type testCase struct {
	n    int // its place in the order of all
	path string
	row  int // index into ArgRows, -1 without rows
	lane *lane
}

// title is a trail's name with the row of its arguments.
func (c testCase) title(name string) string {
	if c.row < 0 {
		return name
	}
	return fmt.Sprintf("%s [%d]", name, c.row+1)
}

// wanted reports whether a trail is to be replayed on a lane: with --last-failed not where it had passed.
func (r *runner) wanted(path string, l *lane) bool {
	return len(r.Last) == 0 || slices.ContainsFunc(r.Last, func(c LastCase) bool {
		return c.Trail == r.resolve(path) && (c.Device == l.name || c.Device == "" || l.name == "")
	})
}

// cases are what there is to do: trail by trail, row by row, lane by lane.
func (r *runner) cases() ([]testCase, error) {
	var cases []testCase
	rows := []int{-1}
	if len(r.ArgRows) > 0 {
		rows = nil
	}
	for i := range r.ArgRows {
		rows = append(rows, i)
	}
	trails := 0
	for _, path := range r.Paths {
		if len(r.Tags) > 0 && !r.tagged(path) {
			continue
		}
		trails++
		for _, row := range rows {
			for _, l := range r.lanes {
				if !r.wanted(path, l) {
					continue
				}
				cases = append(cases, testCase{len(cases), path, row, l})
			}
		}
	}
	if trails == 0 && (!r.LastFailed || len(r.Tags) > 0) {
		return nil, r.nothingToRun()
	}
	if r.Record != "" && len(cases) > 1 {
		return nil, fault.New(fault.Misuse, "name one trail and one device; every session leaves a recording.trail.yaml of its own in any case",
			"--record writes the recording of one trail, and these are %d", len(cases))
	}
	return cases, nil
}

func (r *runner) nothingToRun() error {
	if len(r.Tags) > 0 && len(r.Paths) > 0 {
		return fault.New(fault.NothingMatched, "tags stand in a trail's config: tags: [smoke]",
			"none of %d trails has any of the tags %s", len(r.Paths), strings.Join(r.Tags, ", "))
	}
	return fault.New(fault.NothingMatched, "trails are *.trail.yaml and trail.yaml files; name files or folders, or set trailsDir",
		"no trail to run; looked in %s", r.Project.TrailsDir)
}

// tagged reports whether a trail has one of the wanted tags. A file that cannot be read counts: its problems must be seen.
func (r *runner) tagged(path string) bool {
	file, problems := readTrail(path, r.resolve(path))
	if len(problems) > 0 {
		return true
	}
	return slices.ContainsFunc(file.Config.Tags, func(tag string) bool { return slices.Contains(r.Tags, tag) })
}

// resolve makes a path absolute; relative ones are relative to the directory the user stands in.
func (r *runner) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Cwd, path)
}

func readTrail(name, path string) (*trail.File, fault.Problems) {
	data, err := os.ReadFile(path)
	if err != nil {
		cause := err
		if pe, ok := errors.AsType[*os.PathError](err); ok {
			cause = pe.Err
		}
		return nil, fault.Problems{{Kind: fault.Trail, File: name, Message: "cannot be read: " + cause.Error()}}
	}
	return trail.Parse(name, data)
}

// count adds a finished case to the summary.
func (r *runner) count(c testCase, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.summary
	if v.outcome == "" {
		r.leave(c)
		return
	}
	s.ExitCode = fault.Worst(s.ExitCode, v.exit())
	r.measured.Add(TrailKey(r.Project.Root, r.resolve(c.path)), v.outcome, v.took)
	s.Count(v.outcome, v.flaky())
	if v.outcome == event.Failed || v.outcome == event.Error {
		s.Failed = appendNew(s.Failed, c.path)
		r.again = append(r.again, LastCase{r.resolve(c.path), c.lane.name})
	}
}

// leave notes a case whose turn does not come. The caller holds r.mu.
func (r *runner) leave(c testCase) {
	s := &r.summary
	s.NotRun = appendNew(s.NotRun, c.path)
	s.RunFinished.NotRun = append(s.RunFinished.NotRun, event.NotRun{File: c.path, Title: c.title(trailName(c.path)), Device: c.lane.name})
	r.again = append(r.again, LastCase{r.resolve(c.path), c.lane.name})
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
