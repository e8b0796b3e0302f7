package spawn

import (
	"os"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/engine"
)

// EngineVersion returns the name and the version of the engine inside trailblaze.
func EngineVersion() string { return engine.Version() }

// engineBackend is an engine inside this process.
type engineBackend struct{ *engine.Engine }

// startEngine starts an engine with what a process would get, a store for the bytecode of the bundle, and the limiter
// of engines that start at the same time. The engine closes the pipes when it ends.
func startEngine(p plan, store engine.Store, limiter *engine.Limiter, pipes [3]*os.File) backend {
	return engineBackend{engine.Start(engine.Spec{
		Script: p.spec.Script, Code: p.bundle.Code, Key: p.bundle.Key, SourceMap: p.bundle.SourceMap,
		Store: store, Limiter: limiter,
		Args: p.spec.Args, Env: p.spec.Env, Dir: p.dir, Stdin: pipes[0], Stdout: pipes[1], Stderr: pipes[2],
		Sandbox: p.spec.OnDevice, Callback: p.spec.Callback, CallbackURL: p.spec.CallbackURL,
	})}
}

func (b engineBackend) wait() { <-b.Done() }

func (engineBackend) reap() {}

func (b engineBackend) terminate() { b.Terminate() }

func (b engineBackend) kill() { b.Kill() }

func (b engineBackend) exit() exit {
	e := b.Exit()
	return exit{code: e.Code, signal: strings.TrimPrefix(e.Signal, "SIG"), broken: e.Panic}
}

func (engineBackend) pid() int { return 0 }

func (engineBackend) String() string { return "the embedded engine" }
