// Package engine runs a bundle in a JavaScript engine inside our own process, as if it were a process of its own: it has
// arguments, an environment, three pipes and an exit code, and it ends when nothing is left to do, when it is told to, or when
// it breaks. It refuses to know what the script is for.
//
// Each engine lives on a goroutine of its own, with memory of its own that is given back as a whole at its end. What it started
// (operations in the background, a reader of its input) has ended before Done says so. The methods of an Engine may be called
// from any goroutine.
package engine

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Store remembers small blobs, such as bytecode. What it does not find costs time and nothing else. It is safe for concurrent use.
type Store interface {
	Get(key string) ([]byte, bool)
	Put(key string, data []byte)
}

// Spec says what an engine runs and what it sees.
type Spec struct {
	Script    string        // process.argv[1]
	Code      []byte        // the bundle: a text that is an async function of __trailblaze_require
	Key       string        // names the text in the Store; empty: its bytecode is not remembered
	SourceMap func() []byte // of Code, asked for when a stack is shown; may be nil, or return nil
	Store     Store         // may be nil

	Args, Env []string // process.argv after the script; "NAME=value", later ones win
	Dir       string   // the working directory

	Stdin          io.ReadCloser  // closed by the engine at its end, like the others
	Stdout, Stderr io.WriteCloser // closing them must end a Write that waits

	Sandbox     bool         // no files, network, processes, nor facts about the machine
	Callback    http.Handler // answers requests to the origin of CallbackURL without a socket; nil: none
	CallbackURL string

	MemoryLimit int // bytes of JavaScript's memory; 0: DefaultMemoryLimit
}

// DefaultMemoryLimit is the memory in bytes that one engine's JavaScript may hold.
const DefaultMemoryLimit = 512 << 20

// Exit is how an engine ended.
type Exit struct {
	Code   int    // as of a process; -1 after a signal or a panic
	Signal string // "SIGTERM" or "SIGKILL" if that ended it, or what the script sent itself
	Panic  string // what broke in the engine itself, or the limit that was hit
}

// Engine is a running bundle.
type Engine struct {
	spec Spec
	ops  map[string]op
	jobs map[string]job

	// ctx ends with the engine; halt says why, once.
	ctx  context.Context //nolint:containedctx // the life of the engine
	halt *halt

	inbox    *inbox
	work     sync.WaitGroup // the engine's goroutine, background jobs, the reader of stdin
	turns    chan struct{}  // what computes in the background holds one
	patience time.Duration
	stdin    stdin
	started  time.Time

	heedsTerm atomic.Bool // the script listens to SIGTERM

	handles handles // what JavaScript has open

	vm     *vm    // of the engine's goroutine
	kernel kernel // of the engine's goroutine
	places places // of the engine's goroutine
	intl   intlVM // of the engine's goroutine

	done chan struct{}
}

// patience is how long what the engine started may take to notice its end.
const patience = 2 * time.Second

// maxTurns is how many of an engine's jobs compute at once, as in node. The others wait.
const maxTurns = 4

// Start runs a bundle and returns at once.
func Start(spec Spec) *Engine {
	e := newEngine(spec)
	e.start()
	return e
}

func newEngine(spec Spec) *Engine {
	if spec.MemoryLimit == 0 {
		spec.MemoryLimit = DefaultMemoryLimit
	}
	e := &Engine{spec: spec, inbox: newInbox(), started: time.Now(), done: make(chan struct{}), patience: patience}
	e.turns = make(chan struct{}, maxTurns)
	e.ops, e.jobs = operations(spec.Sandbox)
	e.ctx, e.halt = newHalt()
	e.stdin.wake = sync.NewCond(&e.stdin.mu)
	return e
}

func (e *Engine) start() {
	e.work.Go(e.live)
	context.AfterFunc(e.ctx, e.end)
}

// Done is closed when the engine has ended and nothing of it is left.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Exit says how the engine ended. It waits for Done.
func (e *Engine) Exit() Exit {
	<-e.done
	return e.halt.exit
}

// Terminate asks the engine to end, as SIGTERM does: the script's listener decides; without one the engine ends at once.
func (e *Engine) Terminate() {
	if e.heedsTerm.Load() {
		e.inbox.put(func() { e.kernel.call("signal", "SIGTERM") })
		return
	}
	e.halt.with(Exit{Code: -1, Signal: "SIGTERM"})
}

// Kill ends the engine at once, whatever it is doing.
func (e *Engine) Kill() { e.halt.with(Exit{Code: -1, Signal: "SIGKILL"}) }
