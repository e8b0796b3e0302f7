// Package spawn starts and stops processes: tool servers, browsers, and scripts in the embedded engine, which it treats
// as processes. It reads their output to the end and stops them with everything that they started. It also finds and
// kills processes that an earlier run left running when it was killed.
//
// It does not interpret what the processes write, and never restarts one.
//
// A [Supervisor] and its processes may be used from any goroutine. After [Process.Stop], nothing of a process is left:
// not the leader, not its process group, not its goroutines and files here, and no daemon that it started in a session
// of its own. The exception are programs that are kept ([Supervisor.Keep]), such as adb, which other programs may be
// using. [Reap] kills all of that in a later process when this one was killed.
package spawn

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/bundle"
	"github.com/trailblaze/trailblaze/pkg/engine"
	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// Options of a Supervisor.
type Options struct {
	StateDir string            // folder of the state files that later runs read; "" for none
	Runtimes *jsruntime.Finder // for scripts; nil finds none
	// ExitGrace is how long a process may take to exit after its input was closed; 0 for [ExitGrace].
	ExitGrace time.Duration
	// Log is called when the state file cannot be written. May be nil.
	Log func(level, message, hint string)
}

// Spec says what to start and with what.
type Spec struct {
	Name    string   // of the server; only for lists of processes
	Script  string   // absolute path of a script, or
	Command string   // a command: looked up in Dir if it has a separator, else in the PATH of Env
	Args    []string // of the script or the command
	Dir     string   // working directory; "" is the script's folder
	// Env is the complete environment, except for TRAILBLAZE_RUN_ID and TRAILBLAZE_PROCESS_ID, which are added. The last
	// entry of a name counts.
	Env     []string
	Runtime string // the runtime that the entry selects; "" for any
	// Entry is Script if that is generated; NotEmbedded says that it needs bun or node.
	Entry       *bundle.Entry
	NotEmbedded bool
	// Terminate makes Stop send SIGTERM at once, for a program that does not exit when its input is closed.
	Terminate bool
	// OnDevice runs a script in the sandbox of the embedded engine, unless another runtime is requested.
	OnDevice bool
	// Callback serves the requests that an embedded engine sends to CallbackURL, without a socket. Nil for none.
	Callback    http.Handler
	CallbackURL string

	// Stdout reads the process's stdout to its end. ctx is cancelled some time after the process has exited, if stdout
	// is still open; reading then fails. Nil discards stdout.
	Stdout func(ctx context.Context, stdout io.Reader)
	// Stderr gets what the process writes to stderr, without secrets, and is closed at the end. Its errors are ignored.
	// May be nil.
	Stderr io.WriteCloser
	// Redact returns a writer that redacts what is stored of stderr. May be nil.
	Redact func(io.Writer) io.WriteCloser
	// Log is called, from any goroutine, with the selected runtime and with what is waited for. May be nil.
	Log func(level, message, hint string)
}

// Supervisor owns the processes of one run.
type Supervisor struct {
	runtimes *jsruntime.Finder
	state    state
	runID    string // environment entry that everything started from here inherits
	limits   limits
	starting engine.Limiter // of embedded engines

	mu      sync.Mutex
	keep    []string // names of programs
	running map[*Process]bool
	killed  bool
}

// runIDVariable is the start of the environment entry by which a later run identifies the processes of this one.
const runIDVariable = "TRAILBLAZE_RUN_ID="

// NewSupervisor returns a supervisor without processes.
func NewSupervisor(opts Options) *Supervisor {
	if opts.Runtimes == nil {
		opts.Runtimes = jsruntime.NewFinder(jsruntime.Options{})
	}
	if opts.Log == nil {
		opts.Log = discardLog
	}
	s := &Supervisor{
		runtimes: opts.Runtimes, runID: runIDVariable + rand.Text(), limits: defaultLimits(), running: map[*Process]bool{},
	}
	s.limits.exit = cmp.Or(opts.ExitGrace, ExitGrace)
	s.state = state{dir: opts.StateDir, warn: func(message string) { opts.Log("warn", message, "") }}
	s.state.content.RunID = s.runID
	s.Keep([]string{adb})
	return s
}

// Keep sets the file names of programs that go on running when the process that started them ends; adb by default. On
// Windows nothing is kept.
func (s *Supervisor) Keep(names []string) {
	s.mu.Lock()
	s.keep = names
	s.mu.Unlock()
	s.state.keep(names)
}

func (s *Supervisor) keptVariables() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep
}

// Start starts a process. ctx limits the start, not the lifetime, of the process. The error is a *fault.Error of kind
// Runtime if no runtime can run the script, CommandNotFound, PermissionDenied, Cancelled, or else Server.
func (s *Supervisor) Start(ctx context.Context, spec Spec) (*Process, error) {
	if spec.Log == nil {
		spec.Log = discardLog
	}
	plan, err := s.plan(ctx, spec)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		plan.release()
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "starting the server")
	}
	p, err := s.launch(ctx, plan)
	if err != nil {
		plan.release()
		return nil, startFault(err, plan)
	}
	return p, nil
}

func discardLog(_, _, _ string) {}

// launch starts the process of a plan. Its errors are those of the operating system.
func (s *Supervisor) launch(ctx context.Context, plan plan) (*Process, error) {
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	id := rand.Text()
	plan.spec.Env = slices.Concat(plan.spec.Env, []string{s.runID, processIDVariable + "=" + id})
	p := &Process{
		plan: plan, limits: s.limits, started: time.Now(), stdin: pipes.stdin, inodes: inodesOf(pipes.stdout, pipes.stderr), runID: s.runID,
		id: id, keeps: func(id proc.ID) bool { return isNamed(id, s.keptVariables()) },
		done: make(chan struct{}), unkillable: make(chan struct{}),
	}
	p.unregister = func() { s.unregister(p) }
	if err := s.startBackend(p, pipes); err != nil {
		pipes.closeParentEnds()
		return nil, err
	}
	s.register(p)
	go p.run(context.WithoutCancel(ctx), pipes.stdout, pipes.stderr)
	return p, nil
}

// startBackend starts the engine or the operating system process of p. It adds an operating system process to the state
// file before starting it, so that a later run finds it whenever this one is killed.
func (s *Supervisor) startBackend(p *Process, pipes pipes) (err error) {
	if p.runtime == jsruntime.Embedded {
		p.backend = startEngine(p.plan, s.runtimes.Bundles(), &s.starting, pipes.child)
		return nil
	}
	defer pipes.closeChildEnds()
	s.state.add(p)
	if p.backend, err = startOSProcess(p.command(pipes.child), p.id, p.daemon); err != nil {
		s.state.remove(p)
		return err
	}
	s.state.setPID(p)
	return nil
}

// register adds p to the processes that KillAll and Close kill. After KillAll it kills p.
func (s *Supervisor) register(p *Process) {
	s.mu.Lock()
	s.running[p] = true
	killed := s.killed
	s.mu.Unlock()
	if killed {
		p.kill()
	}
}

func (s *Supervisor) unregister(p *Process) {
	s.mu.Lock()
	delete(s.running, p)
	s.mu.Unlock()
	s.state.remove(p)
}

func (s *Supervisor) runningProcesses() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Process, 0, len(s.running))
	for p := range s.running {
		all = append(all, p)
	}
	return all
}

// KillAll kills every process with everything that it started, daemons too, and every process that is started later. It
// returns when they are gone, and after a second in any case.
func (s *Supervisor) KillAll() {
	s.killAll(func() []proc.ID { return daemonsOf(s.runID, s.keptVariables()) })
}

// killAll implements KillAll. daemons returns those to kill.
func (s *Supervisor) killAll(daemons func() []proc.ID) {
	s.mu.Lock()
	s.killed = true
	s.mu.Unlock()
	all := s.runningProcesses()
	for _, p := range all {
		p.kill()
	}
	deadline := time.Now().Add(s.limits.killAll)
	killUntilGone(deadline, daemons)
	for _, p := range all {
		killDescendants(p, deadline)
		select {
		case <-p.done:
		case <-time.After(time.Until(deadline)):
		}
	}
}

// Close ends the supervisor, whose processes should have been stopped by now; those that were not are killed, and the
// error names them.
func (s *Supervisor) Close() error {
	left := s.runningProcesses()
	s.killAll(func() []proc.ID { return nil })
	var names []string
	deadline := time.Now().Add(s.limits.kill)
	for _, p := range left {
		names = append(names, fmt.Sprintf("%s (%s)", p.spec.Name, p.backend))
		select {
		case <-p.done:
		case <-time.After(time.Until(deadline)):
		}
	}
	s.state.close()
	if len(names) > 0 {
		slices.Sort(names)
		return fault.New(fault.Bug, "", "not stopped when the run ended, and killed: %s", strings.Join(names, ", "))
	}
	return nil
}

// pipes are both ends of the pipes for a process's standard streams.
type pipes struct {
	stdin, stdout, stderr *os.File    // the ends of this process
	child                 [3]*os.File // the ends of the started process
}

func openPipes() (p pipes, err error) {
	p.child[0], p.stdin, err = os.Pipe()
	if err == nil {
		p.stdout, p.child[1], err = os.Pipe()
	}
	if err == nil {
		p.stderr, p.child[2], err = os.Pipe()
	}
	if err != nil {
		p.closeChildEnds()
		p.closeParentEnds()
	}
	return p, err
}

func (p pipes) closeChildEnds() {
	for _, f := range p.child {
		_ = f.Close()
	}
}

func (p pipes) closeParentEnds() { _, _, _ = p.stdin.Close(), p.stdout.Close(), p.stderr.Close() }
