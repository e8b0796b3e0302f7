package spawn

import (
	"os"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/engine"
)

// EngineVersion names the engine inside trailblaze and its version.
func EngineVersion() string { return engine.Version() }

// engineBody is an engine inside our own process.
type engineBody struct{ *engine.Engine }

// startEngine starts an engine with what a process would get, and a store for what it makes of the bundle. It closes the pipes at its end.
func startEngine(p plan, store engine.Store, pipes [3]*os.File) body {
	return engineBody{engine.Start(engine.Spec{
		Script: p.spec.Script, Code: p.bundle.Code, Key: p.bundle.Key, SourceMap: p.bundle.SourceMap, Store: store,
		Args: p.spec.Args, Env: p.spec.Env, Dir: p.dir, Stdin: pipes[0], Stdout: pipes[1], Stderr: pipes[2],
		Sandbox: p.spec.OnDevice, Callback: p.spec.Callback, CallbackURL: p.spec.CallbackURL,
	})}
}

func (b engineBody) await() { <-b.Done() }

func (engineBody) reap() {}

func (b engineBody) terminate() { b.Terminate() }

func (b engineBody) kill() { b.Kill() }

func (b engineBody) end() end {
	exit := b.Exit()
	return end{code: exit.Code, signal: strings.TrimPrefix(exit.Signal, "SIG"), broken: exit.Panic}
}

func (engineBody) pid() int { return 0 }

func (engineBody) String() string { return "the embedded engine" }
