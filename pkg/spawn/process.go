package spawn

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// ExitGrace is how long a process may take to exit after its input was closed, before it is terminated (specification,
// section 5).
const ExitGrace = 5 * time.Second

// limits are durations that cannot be configured, except for exit. Tests shorten them.
type limits struct {
	notice    time.Duration // after which Stop logs what it waits for
	exit      time.Duration // Options.ExitGrace
	terminate time.Duration // after SIGTERM, before SIGKILL
	kill      time.Duration // after SIGKILL, until Stop returns an error: the kernel may have to finish a transfer first
	holders   time.Duration // after the exit, before processes that left the group and hold a pipe open are killed
	drain     time.Duration // after the exit, until unread data in the pipes is dropped
	remove    time.Duration // for removing the folder of the process
	killAll   time.Duration // for KillAll
}

func defaultLimits() limits {
	return limits{
		notice: time.Second, exit: ExitGrace, terminate: 2 * time.Second, kill: 5 * time.Second,
		holders: 200 * time.Millisecond, drain: 5 * time.Second, remove: 5 * time.Second, killAll: time.Second,
	}
}

// Process is a process that was started, and everything it started. Its methods may be called from any goroutine.
type Process struct {
	plan
	limits     limits
	started    time.Time
	backend    backend
	stdin      *os.File
	inodes     []uint64 // of the pipes behind stdout and stderr; nil where the system has none
	entry      *entry   // in the state file; nil for an engine
	runID      string   // entry of its environment
	id         string   // value of its environment variable processIDVariable
	keeps      func(proc.ID) bool
	stderr     tail
	unregister func() // from the supervisor
	done       chan struct{}

	stopRequested atomic.Bool
	stopOnce      sync.Once
	stopping      sync.WaitGroup // of stopUnresponsive
	unkillable    chan struct{}  // closed when it does not exit after SIGKILL

	mu     sync.Mutex // guards the rest, and signals against the reuse of ids
	reaped bool
	ended  time.Time
	crash  *fault.Error
}

// command is the command that starts a process of the system.
func (p *plan) command(streams [3]*os.File) *exec.Cmd {
	argv := append(p.prefix, p.argv...)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: p.spec.Env, Dir: p.dir, ExtraFiles: p.files}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams[0], streams[1], streams[2]
	return cmd
}

// Stdin is the process's input. Stop closes it, and so does the end of the process.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stderr returns the last lines that the process wrote to stderr.
func (p *Process) Stderr() string { return lastBytes(p.stderr.lines()) }

// Done is closed when the process has exited and been reaped, nothing of its group is left, and its output has been
// read to the end.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitError returns, once Done is closed, how the process ended by itself: an error of kind fault.Crashed like "exited
// with code 3". It returns nil before, and when Stop or the supervisor ended the process.
func (p *Process) ExitError() *fault.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crash
}

// Stop closes the input of the process; after five seconds its group gets SIGTERM, after two more SIGKILL. It returns
// as soon as Done is closed and nothing is logged any more. When ctx ends first, the process is killed at once. It may
// be called again and concurrently. The error is a *fault.Error: the process cannot be killed.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() {
		p.stopRequested.Store(true)
		_ = p.stdin.Close()
		p.stopping.Go(p.stopUnresponsive)
	})
	select {
	case <-p.done:
		p.stopping.Wait()
		return nil
	case <-p.unkillable:
	case <-ctx.Done():
		p.kill()
	}
	select {
	case <-p.done:
		p.stopping.Wait()
		return nil
	case <-p.unkillable:
		return fault.New(fault.Server, "", "%s of %s is still running after SIGKILL", p.backend, p.spec.Name)
	}
}

// stopUnresponsive terminates and kills a process that does not exit when its input is closed. It logs what it waits
// for.
func (p *Process) stopUnresponsive() {
	l := p.limits
	if p.spec.Terminate {
		p.terminateAtOnce()
		return
	}
	const hint = "let the server exit when its standard input ends, also during a call; sessions then end sooner"
	p.inStages([]stage{
		{l.notice, func() { p.log("its input is closed; waiting up to %s for it to exit", hint, l.exit) }},
		{l.exit - l.notice, func() {
			p.log("did not exit within %s of the end of its input; sent SIGTERM, waiting up to %s for it to exit", hint, l.exit, l.terminate)
			p.terminate() // last: once the process has exited, nobody may wait for the log any more
		}},
		{l.terminate, func() {
			p.log("did not exit within %s of SIGTERM; sent SIGKILL", hint, l.terminate)
			p.kill()
		}},
		{l.kill, func() { close(p.unkillable) }},
	})
}

// terminateAtOnce terminates a process, and kills it if it does not exit.
func (p *Process) terminateAtOnce() {
	p.terminate()
	p.inStages([]stage{
		{p.limits.exit, func() {
			p.log("did not exit within %s of SIGTERM; sent SIGKILL", "", p.limits.exit)
			p.kill()
		}},
		{p.limits.kill, func() { close(p.unkillable) }},
	})
}

// stage is something to do when a process has not exited for some time.
type stage struct {
	wait time.Duration
	then func()
}

// inStages does what the stages say, up to the end of the process.
func (p *Process) inStages(stages []stage) {
	for _, s := range stages {
		timer := time.NewTimer(s.wait)
		select {
		case <-p.done:
			timer.Stop()
			return
		case <-timer.C:
			s.then()
		}
	}
}

func (p *Process) log(format, hint string, args ...any) {
	p.spec.Log("info", fmt.Sprintf(format, args...), hint)
}

func (p *Process) terminate() { p.signal(backend.terminate) }

func (p *Process) kill() {
	p.stopRequested.Store(true)
	p.signal(backend.kill)
}

// signal reaches the backend until it is reaped; afterwards its id may belong to another process.
func (p *Process) signal(send func(backend)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		send(p.backend)
	}
}

// run owns the process from its start to its end.
func (p *Process) run(ctx context.Context, stdout, stderr *os.File) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		var readers sync.WaitGroup
		readers.Go(func() { p.readStdout(ctx, stdout) })
		readers.Go(func() { p.readStderr(stderr) })
		readers.Wait()
	}()
	p.reap()
	emptied := make(chan struct{})
	go func() {
		defer close(emptied)
		p.removeFolder(0) // beside the end of what else is left, which takes as long
	}()
	p.drain(drained, giveUp, stdout, stderr)
	p.killLeft(time.Now().Add(p.limits.kill))
	if p.isOwner() {
		owners.forget(p.id)
	}
	_ = p.stdin.Close()
	<-emptied
	p.removeFolder(p.limits.remove) // what ended meanwhile may have written to it
	p.release()
	p.unregister()
	close(p.done)
}

// removeFolder removes the folder of the process, and tries that up to a limit. What cannot be removed is not worth a
// failure.
func (p *Process) removeFolder(limit time.Duration) {
	if p.folder != "" {
		_ = files.RemoveAll(p.folder, limit)
	}
}

func (p *Process) readStdout(ctx context.Context, stdout io.Reader) {
	if p.spec.Stdout != nil {
		p.spec.Stdout(ctx, stdout)
	}
	_, _ = io.Copy(io.Discard, stdout)
}

func (p *Process) readStderr(stderr io.Reader) {
	to := []io.Writer{&p.stderr}
	if p.spec.Stderr != nil {
		to = append(to, p.spec.Stderr)
		defer p.spec.Stderr.Close()
	}
	kept := Redacted(io.MultiWriter(to...), p.spec.Redact)
	defer kept.Close()
	const pipeSize = 64 << 10 // on Linux
	buf := make([]byte, pipeSize)
	for {
		n, err := stderr.Read(buf)
		_, _ = kept.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// reap waits for the end of the backend and leaves nothing of its group.
func (p *Process) reap() {
	p.backend.wait()
	requested := p.stopRequested.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backend.reap()
	p.reaped, p.ended = true, time.Now()
	if !requested {
		p.crash = fault.New(fault.Crashed, "", "%s", p.backend.exit())
	}
}

// drain waits until both pipes have ended. When they do not, it kills the processes that hold them open, and at last
// closes them.
func (p *Process) drain(drained <-chan struct{}, giveUp func(), stdout, stderr *os.File) {
	defer func() { _, _ = stdout.Close(), stderr.Close() }()
	holders, limit := time.NewTimer(p.limits.holders), time.NewTimer(p.limits.drain)
	defer holders.Stop()
	defer limit.Stop()
	for {
		select {
		case <-drained:
			return
		case <-holders.C:
			killDescendants(p, time.Now().Add(p.limits.holders))
			p.killLeft(time.Now().Add(p.limits.holders)) // where the system does not say who has a pipe open
			holders.Reset(p.limits.holders)
		case <-limit.C:
			giveUp()
			_, _ = stdout.Close(), stderr.Close()
			<-drained
			return
		}
	}
}

// killLeft kills what the process started and left running, unless that is kept, until the deadline.
func (p *Process) killLeft(deadline time.Time) {
	if p.isOwner() {
		owners.killLeft(p.id, deadline, p.keeps)
	}
}

// isOwner reports whether what the process starts ends with it.
func (p *Process) isOwner() bool { return !p.daemon && p.entry != nil }

// Redacted returns w behind redact, which may be nil. Closing it writes what redact has not written yet; it does not
// close w.
func Redacted(w io.Writer, redact func(io.Writer) io.WriteCloser) io.WriteCloser {
	if redact == nil {
		return nopCloser{w}
	}
	return redact(w)
}

type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }
