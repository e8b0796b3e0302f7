// Package engine runs a bundle in a JavaScript engine (QuickJS) inside this process. An engine behaves like a process:
// it has arguments, an environment, stdin, stdout, stderr and an exit code. It exits when the script has nothing left
// to do, when it is terminated or killed, or when it fails.
//
// Each engine runs on a goroutine of its own and has a heap of its own, which is freed as a whole when the engine
// exits. The goroutines that it started have ended before Done is closed. The methods of an Engine may be called from
// any goroutine.
package engine

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Store caches bytecode. It must be safe for concurrent use.
type Store interface {
	// Load returns the data of a key, which is not modified. If there is none, it calls create, which may panic, and
	// stores and returns the result. Of concurrent calls with the same key one calls create, and the others wait for
	// it, until ctx is done.
	Load(ctx context.Context, key string, create func() ([]byte, error)) ([]byte, error)
}

// Spec describes what an engine runs, and its environment.
type Spec struct {
	Script    string        // process.argv[1]
	Code      []byte        // the bundle: an expression that is an async function of one parameter, __trailblaze_require
	Key       string        // identifies Code in the Store; empty: its bytecode is not stored
	SourceMap func() []byte // returns the source map of Code; called when a stack is formatted; may be nil, or return nil
	Store     Store         // caches bytecode; may be nil
	Limiter   *Limiter      // limits how many engines start at the same time; may be nil

	Args, Env []string // process.argv after the script; "NAME=value", the last value of a name counts
	Dir       string   // the working directory

	// The engine closes all three when it exits. Closing Stdout and Stderr must unblock a pending Write.
	Stdin          io.ReadCloser
	Stdout, Stderr io.WriteCloser

	Sandbox     bool         // no files, network, processes or information about the machine
	Callback    http.Handler // serves requests to the origin of CallbackURL without a socket; may be nil
	CallbackURL string

	MemoryLimit int // memory of the script in bytes; 0: DefaultMemoryLimit
}

// DefaultMemoryLimit is the memory in bytes that the script of one engine may use.
const DefaultMemoryLimit = 512 << 20

// Exit describes how an engine exited.
type Exit struct {
	Code   int    // exit code, as of a process; -1 after a signal or a panic
	Signal string // the signal that ended it: "SIGTERM", "SIGKILL", or one that the script sent to itself
	Panic  string // failure of the engine itself, or the limit that was exceeded
}

// Engine is a running bundle.
type Engine struct {
	spec     Spec
	syncOps  opTable
	asyncOps opTable

	// ctx is cancelled when the engine stops; stop contains the Exit.
	ctx  context.Context //nolint:containedctx // the lifetime of the engine
	stop *stopState

	tasks           *taskQueue
	goroutines      sync.WaitGroup // the main goroutine, asynchronous operations, the reader of stdin
	computeSlots    chan struct{}  // each asynchronous operation that computes holds one
	shutdownTimeout time.Duration
	stdin           stdin
	started         time.Time

	handlesSIGTERM atomic.Bool // the script listens to SIGTERM

	outOfMemoryOnce sync.Once

	handles handleTable // resources that the script has open

	// Only the main goroutine uses these.
	vm        *vm
	bootstrap bootstrap
	positions sourcePositions
	intl      intlVM

	version string // see engineVersion
	done    chan struct{}
}

// shutdownTimeout is how long the goroutines of a stopped engine may take to end.
const shutdownTimeout = 2 * time.Second

// maxComputeJobs is the number of asynchronous operations of one engine that compute at the same time, as in node.
// Others wait.
const maxComputeJobs = 4

// Start starts an engine and does not wait for it.
func Start(spec Spec) *Engine {
	e := newEngine(spec)
	e.begin()
	return e
}

func newEngine(spec Spec) *Engine {
	if spec.MemoryLimit == 0 {
		spec.MemoryLimit = DefaultMemoryLimit
	}
	e := &Engine{
		spec: spec, tasks: newTaskQueue(), started: time.Now(), version: engineVersion(), done: make(chan struct{}),
		shutdownTimeout: shutdownTimeout,
	}
	e.computeSlots = make(chan struct{}, maxComputeJobs)
	e.syncOps, e.asyncOps = operations(spec.Sandbox)
	e.ctx, e.stop = newStopState()
	e.stdin.changed = sync.NewCond(&e.stdin.mu)
	return e
}

func (e *Engine) begin() {
	e.goroutines.Go(e.main)
	context.AfterFunc(e.ctx, e.shutdown)
}

// Done is closed when the engine has exited and its resources are released.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Exit waits for Done and returns how the engine exited.
func (e *Engine) Exit() Exit {
	<-e.done
	return e.stop.exit
}

// Terminate does what SIGTERM does to a process: it calls the script's listener, or stops the engine when there is
// none.
func (e *Engine) Terminate() {
	if e.handlesSIGTERM.Load() {
		e.tasks.add(func() { e.bootstrap.call("signal", "SIGTERM") })
		return
	}
	e.stop.request(Exit{Code: -1, Signal: "SIGTERM"})
}

// Kill stops the engine, even while JavaScript is running. It does not wait for Done.
func (e *Engine) Kill() { e.stop.request(Exit{Code: -1, Signal: "SIGKILL"}) }
