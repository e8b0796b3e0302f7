// Package spawn starts and ends processes: the servers of a session. It frames what they say on stdout, keeps what they say
// beside it, ends them with everything that they started, and finds what a killed run left behind.
//
// It refuses to know what the messages mean, and to start anything again.
//
// A [Supervisor] and its processes may be used from any goroutine. Nothing of a server outlives [Process.Stop]: not the
// leader, not its group, not our goroutines and files. The exception is what a server starts, on purpose, in a session of its
// own and without its pipes: a daemon, such as adb's or Gradle's, that others on the machine may be using by then.
package spawn

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// Options of a Supervisor.
type Options struct {
	StateDir string            // where later runs look for what this one left; "" for nowhere
	Runtimes *jsruntime.Finder // for scripts; nil finds none
	// Log is told when the state file cannot be written. May be nil.
	Log func(level, message, hint string)
}

// Spec says what to start and with what.
type Spec struct {
	Name    string   // of the server; only for lists of processes
	Script  string   // absolute path of a script, or
	Command string   // a command: found in Dir if it has a separator, else in the PATH of Env
	Args    []string // of the script or the command
	Dir     string   // working directory; "" is the script's folder
	Env     []string // the complete environment; of two entries with one name the last counts
	Runtime string   // the runtime that the entry asks for; "" for any
	// OnDevice has a script run in the sandbox of the embedded engine, unless another runtime is asked for.
	OnDevice bool
	// Callback answers what an embedded engine sends to CallbackURL, without a socket. Nil for none.
	Callback    http.Handler
	CallbackURL string
	LogPath     string // file for stderr and stray stdout, created with its folder and the first byte; "" for none
	Apart       bool   // it speaks elsewhere: what it writes to stdout is no mistake, but logged like stderr
	// Redact takes secrets out of everything that is kept of stderr and stray stdout. May be nil.
	Redact func(io.Writer) io.WriteCloser
	// Log is told, at most once, that the server writes to stdout. It is called from any goroutine. May be nil.
	Log func(level, message, hint string)
	// Unwritable is told, at most once, why the file at LogPath, which the error names, cannot be written; the server runs on.
	// It is called from any goroutine. Nil leaves it to Log.
	Unwritable func(err error)
}

// Supervisor owns the processes of one run.
type Supervisor struct {
	runtimes *jsruntime.Finder
	state    state
	maxLine  int

	mu     sync.Mutex
	live   map[*Process]bool
	killed bool
}

// NewSupervisor returns a supervisor without processes.
func NewSupervisor(opts Options) *Supervisor {
	if opts.Runtimes == nil {
		opts.Runtimes = jsruntime.NewFinder(jsruntime.Options{})
	}
	s := &Supervisor{runtimes: opts.Runtimes, maxLine: maxLine, live: map[*Process]bool{}}
	if opts.Log == nil {
		opts.Log = silence
	}
	s.state.dir = opts.StateDir
	s.state.warn = func(message string) { opts.Log("warn", message, "") }
	return s
}

// Start starts a server. ctx bounds the start, not the life, of the process. The error is a *fault.Error: Runtime when nothing
// runs the script, CommandNotFound, PermissionDenied, or Server for what else is wrong.
func (s *Supervisor) Start(ctx context.Context, spec Spec) (*Process, error) {
	if spec.Log == nil {
		spec.Log = silence
	}
	plan, err := s.plan(ctx, spec)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		plan.release()
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "starting the server")
	}
	p, err := s.launch(plan)
	if err != nil {
		plan.release()
		return nil, startFault(err, plan)
	}
	return p, nil
}

func silence(_, _, _ string) {}

// launch starts what was planned. Its errors are those of the operating system.
func (s *Supervisor) launch(plan plan) (*Process, error) {
	ends, err := openPipes()
	if err != nil {
		return nil, err
	}
	p := &Process{
		spec: plan.spec, argv: plan.argv, runtime: plan.runtime, release: plan.release, folder: plan.folder, dir: plan.dir,
		started: time.Now(), maxLine: s.maxLine, stdin: ends.stdin,
		record:  &record{path: plan.spec.LogPath, apart: plan.spec.Apart, notice: plan.spec.Log, unwritable: plan.spec.Unwritable},
		writing: make(chan struct{}, 1), messages: make(chan jsonrpc.Message),
		heard: make(chan struct{}), deaf: make(chan struct{}), done: make(chan struct{}), gaveUp: make(chan struct{}),
	}
	if p.record.unwritable == nil {
		p.record.unwritable = func(err error) { p.record.notice("warn", "its log cannot be written: "+err.Error(), "") }
	}
	p.forget = func() { s.forget(p) }
	if plan.deaf {
		p.deafen()
	}
	if p.body, err = s.incarnate(plan, ends); err != nil {
		ends.closeOurs()
		return nil, err
	}
	s.remember(p)
	go p.run(ends.stdout, ends.stderr)
	return p, nil
}

// incarnate gives a plan a body, which has the other ends of the pipes.
func (s *Supervisor) incarnate(plan plan, ends pipeEnds) (body, error) {
	if plan.runtime == jsruntime.Embedded {
		return startEngine(plan, s.runtimes.Bundles(), ends.theirs), nil
	}
	defer ends.closeTheirs()
	argv := append(plan.prefix, plan.argv...)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: plan.spec.Env, Dir: plan.dir, ExtraFiles: plan.extra}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be our own
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.theirs[0], ends.theirs[1], ends.theirs[2]
	return startProcess(cmd)
}

// remember makes p known before anything can happen to it.
func (s *Supervisor) remember(p *Process) {
	s.mu.Lock()
	s.live[p] = true
	killed := s.killed
	s.mu.Unlock()
	if killed {
		p.kill()
	}
	s.state.add(p)
}

func (s *Supervisor) forget(p *Process) {
	s.mu.Lock()
	delete(s.live, p)
	s.mu.Unlock()
	s.state.remove(p)
}

func (s *Supervisor) alive() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Process, 0, len(s.live))
	for p := range s.live {
		all = append(all, p)
	}
	return all
}

// KillAll kills every process with its group at once, and every one that is started later. It does not wait.
func (s *Supervisor) KillAll() {
	s.mu.Lock()
	s.killed = true
	s.mu.Unlock()
	for _, p := range s.alive() {
		p.kill()
	}
}

// Close ends the supervisor, whose processes should have been stopped by now; those that were not are killed, and the error
// names them.
func (s *Supervisor) Close() error {
	left := s.alive()
	s.KillAll()
	var names []string
	deadline := time.Now().Add(killGrace)
	for _, p := range left {
		names = append(names, fmt.Sprintf("%s (%s)", p.spec.Name, p.body))
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

// pipeEnds are the ends of a child's standard streams.
type pipeEnds struct {
	stdin, stdout, stderr *os.File // ours
	theirs                [3]*os.File
}

func openPipes() (ends pipeEnds, err error) {
	ends.theirs[0], ends.stdin, err = os.Pipe()
	if err == nil {
		ends.stdout, ends.theirs[1], err = os.Pipe()
	}
	if err == nil {
		ends.stderr, ends.theirs[2], err = os.Pipe()
	}
	if err != nil {
		ends.closeTheirs()
		ends.closeOurs()
	}
	return ends, err
}

func (e pipeEnds) closeTheirs() {
	for _, f := range e.theirs {
		_ = f.Close()
	}
}

func (e pipeEnds) closeOurs() { _, _, _ = e.stdin.Close(), e.stdout.Close(), e.stderr.Close() }
