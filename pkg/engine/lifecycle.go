package engine

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"
)

// main is the engine's main goroutine. A panic, a memory fault or runtime.Goexit in it stops this engine only.
func (e *Engine) main() {
	defer e.cleanup()
	defer e.recoverPanic()
	debug.SetPanicOnFault(true)
	e.stop.request(Exit{Code: e.run()})
}

func (e *Engine) cleanup() {
	e.stop.request(Exit{Code: -1, Panic: "the engine's goroutine exited unexpectedly"})
	if e.vm != nil {
		e.vm.close()
	}
	e.intl.close()
}

// recoverPanic is deferred: it stops the engine after a panic, and logs the panic to stderr.
func (e *Engine) recoverPanic() {
	p := recover()
	if _, ok := p.(stopped); ok || p == nil {
		return
	}
	_, _ = fmt.Fprintf(e.spec.Stderr, "panic: %v\n\n%.4000s\n", p, debug.Stack())
	e.stop.request(Exit{Code: -1, Panic: fmt.Sprint(p)})
}

// shutdown runs on a goroutine of its own when the engine is stopped. It unblocks the goroutines of the engine and
// waits for them. After shutdownTimeout it no longer waits, because a system call that cannot be interrupted may block
// one of them.
func (e *Engine) shutdown() {
	defer close(e.done)
	for _, pipe := range []io.Closer{e.spec.Stdin, e.spec.Stdout, e.spec.Stderr} {
		_ = pipe.Close()
	}
	e.stdin.stop()
	e.handles.closeAll()
	finished := make(chan struct{})
	go func() {
		e.goroutines.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(e.shutdownTimeout):
	}
}

// run loads the bundle, runs the event loop until it is empty, and returns the exit code.
func (e *Engine) run() int {
	started := e.spec.Limiter.acquire(e.ctx)
	defer started()
	e.stop.check()
	if err := e.startVM(); err != nil {
		e.stop.now(Exit{Code: -1, Panic: err.Error()})
	}
	e.warnOfTimeZone()
	main, err := e.runScript(e.spec.Key, bundleName, e.spec.Code)
	if err != nil {
		e.exitWithError(err)
	}
	e.bootstrap.call("main", main)
	started()
	e.runLoop()
	return e.bootstrap.exit()
}

// warnOfTimeZone warns if the environment asks for another local time than that of this process, which QuickJS uses.
func (e *Engine) warnOfTimeZone() {
	name := lookupEnv(e.spec.Env, "TZ")
	zone, err := time.LoadLocation(strings.TrimPrefix(name, ":"))
	if name == "" || err != nil {
		return
	}
	const halfYear = 182 * 24 * time.Hour // in case one of them has daylight saving time
	for _, at := range []time.Time{e.started, e.started.Add(halfYear)} {
		_, asked := at.In(zone).Zone()
		if _, offset := at.Local().Zone(); asked != offset {
			_, _ = fmt.Fprintf(e.spec.Stderr, "Warning: TZ=%s has no effect in the embedded engine: local times are those of "+
				"trailblaze's own TZ; set it for trailblaze, or give the server a runtime: bun\n", name)
			return
		}
	}
}

// outOfMemory stops the engine because it exceeded its memory limit. The message starts as node's does. Asynchronous
// operations may call it at the same time; the message is written once.
func (e *Engine) outOfMemory() {
	text := fmt.Sprintf("JavaScript heap out of memory: it may hold %d MiB", e.spec.MemoryLimit>>20)
	e.outOfMemoryOnce.Do(func() { _, _ = fmt.Fprintf(e.spec.Stderr, "FATAL ERROR: %s\n", text) })
	e.stop.now(Exit{Code: -1, Panic: text})
}
