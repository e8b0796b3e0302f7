package spawn

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// CloseGrace is how long a process may take to end with its input before it is terminated (specification, section 5).
const CloseGrace = 5 * time.Second

const (
	// termGrace is that of section 5 as well.
	termGrace = 2 * time.Second
	// killGrace is for the kernel, which may have to finish a transfer first.
	killGrace = 5 * time.Second
	// strangerGrace passes before we look for processes that left the group and kept the pipes. When nobody has, the
	// pipes end with the group.
	strangerGrace = 200 * time.Millisecond
	// drainGrace is how long what a dead server said may take to be read when somebody still holds its pipes.
	drainGrace = 2 * time.Second
)

// Process is a server's process and everything it started. Its methods may be called from any goroutine.
type Process struct {
	spec    Spec
	argv    []string
	runtime string // "" for a command
	release func() // called when it has ended
	folder  string // removed with it; "" for none
	dir     string
	started time.Time
	body    body
	record  *record
	maxLine int
	forget  func() // tells the supervisor that the process is gone

	stdin     *os.File
	writing   chan struct{} // held while a message is written
	messages  chan jsonrpc.Message
	connected atomic.Bool
	heard     chan struct{}
	deafOnce  sync.Once
	deaf      chan struct{} // closed when nobody reads messages any more
	done      chan struct{}

	asked    atomic.Bool // we ended it
	stopOnce sync.Once
	gaveUp   chan struct{}

	mu     sync.Mutex // guards the rest, and signals against the reuse of ids
	reaped bool
	ended  time.Time
	crash  *fault.Error
}

// Transport is how to speak with the server. It can be connected once.
func (p *Process) Transport() mcp.Transport { return transport{p} }

// FirstMessage is closed at the first protocol message.
func (p *Process) FirstMessage() <-chan struct{} { return p.heard }

// Done is closed when the process has exited and been reaped, nothing of its group is left, and all that it said has been
// read.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitError says, once Done is closed, how the process ended by itself: an error of kind fault.Crashed like "exited with code 3".
// It is nil before, and when we ended it.
func (p *Process) ExitError() *fault.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crash
}

// Stop ends the server: its input is closed; after five seconds its group gets SIGTERM, after two more SIGKILL. It returns as
// soon as Done is closed. When ctx ends first, what is left of the patience is skipped. It may be called again and
// concurrently. The error is a *fault.Error: the process does not die.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() {
		p.asked.Store(true)
		_ = p.stdin.Close()
		go p.escalate()
	})
	select {
	case <-p.done:
		return nil
	case <-p.gaveUp:
	case <-ctx.Done():
		p.kill()
	}
	select {
	case <-p.done:
		return nil
	case <-p.gaveUp:
		return fault.New(fault.Server, "", "%s of %s does not die", p.body, p.spec.Name)
	}
}

// escalate is the part of Stop that takes its time.
func (p *Process) escalate() {
	for _, step := range []struct {
		patience time.Duration
		then     func()
	}{
		{CloseGrace, p.terminate},
		{termGrace, p.kill},
		{killGrace, func() { close(p.gaveUp) }},
	} {
		patience := time.NewTimer(step.patience)
		select {
		case <-p.done:
			patience.Stop()
			return
		case <-patience.C:
			step.then()
		}
	}
}

func (p *Process) terminate() { p.signal(body.terminate) }

func (p *Process) kill() {
	p.asked.Store(true)
	p.signal(body.kill)
}

// signal reaches the body as long as its id is ours: until it is reaped.
func (p *Process) signal(send func(body)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		send(p.body)
	}
}

// run owns the process from its start to its end.
func (p *Process) run(stdout, stderr *os.File) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		var pumps sync.WaitGroup
		pumps.Go(func() { p.pumpStderr(stderr) })
		pumps.Go(func() { p.pumpStdout(stdout) })
		pumps.Wait()
	}()
	p.reap()
	p.drain(drained, stdout, stderr)
	p.record.close()
	_ = p.stdin.Close()
	if p.folder != "" {
		_ = os.RemoveAll(p.folder) // what cannot be removed is not worth a failure
	}
	p.release()
	p.forget()
	close(p.done)
}

func (p *Process) pumpStdout(stdout *os.File) {
	noise := p.record.sink(fromStdout, p.spec.Redact)
	defer noise.Close()
	defer close(p.messages)
	f := framer{
		max: p.maxLine,
		message: func(msg jsonrpc.Message) {
			select {
			case <-p.heard:
			default:
				close(p.heard)
			}
			select {
			case p.messages <- msg:
			case <-p.deaf:
			}
		},
		noise: func(text []byte) {
			_, _ = noise.Write(append(slices.Clip(text), '\n'))
		},
	}
	f.run(stdout)
}

func (p *Process) pumpStderr(stderr *os.File) {
	kept := p.record.sink(fromStderr, p.spec.Redact)
	defer kept.Close()
	buf := make([]byte, readSize)
	for {
		n, err := stderr.Read(buf)
		_, _ = kept.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// reap waits for the body's end and leaves nothing of it.
func (p *Process) reap() {
	p.body.await()
	asked := p.asked.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.body.reap()
	p.reaped, p.ended = true, time.Now()
	if !asked {
		p.crash = fault.New(fault.Crashed, "", "%s", p.body.end().verdict())
	}
}

// drain waits until both pipes ended, or makes them end.
func (p *Process) drain(drained <-chan struct{}, stdout, stderr *os.File) {
	strangers, limit := time.NewTimer(strangerGrace), time.NewTimer(drainGrace)
	defer strangers.Stop()
	defer limit.Stop()
	for {
		select {
		case <-drained:
			_, _ = stdout.Close(), stderr.Close()
			return
		case <-strangers.C:
			killHolders(stdout, stderr)
		case <-limit.C:
			p.deafen()
			_, _ = stdout.Close(), stderr.Close()
			<-drained
			return
		}
	}
}

func (p *Process) deafen() { p.deafOnce.Do(func() { close(p.deaf) }) }
