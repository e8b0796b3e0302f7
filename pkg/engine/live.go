package engine

import (
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// live is the engine's goroutine. Whatever goes up through it, a panic of ours or of the engine, a fault of the engine's memory,
// runtime.Goexit, ends this engine alone.
func (e *Engine) live() {
	defer e.leave()
	defer e.survive()
	debug.SetPanicOnFault(true)
	e.halt.with(Exit{Code: e.run()})
}

func (e *Engine) leave() {
	e.halt.with(Exit{Code: -1, Panic: "something ended the engine's goroutine"})
	if e.vm != nil {
		e.vm.close()
	}
	e.intl.close()
}

// survive makes a panic the engine's end.
func (e *Engine) survive() {
	p := recover()
	if _, ok := p.(halted); ok || p == nil {
		return
	}
	_, _ = fmt.Fprintf(e.spec.Stderr, "panic: %v\n\n%.4000s\n", p, debug.Stack())
	e.halt.with(Exit{Code: -1, Panic: fmt.Sprint(p)})
}

// end runs once the engine is to end, on a goroutine of its own: it wakes whoever waits, and waits for all that the engine started.
// What does not notice in time, such as a call into the operating system that nothing can wake, is left behind.
func (e *Engine) end() {
	defer close(e.done)
	for _, pipe := range []io.Closer{e.spec.Stdin, e.spec.Stdout, e.spec.Stderr} {
		_ = pipe.Close()
	}
	e.stdin.stop()
	e.handles.closeAll()
	finished := make(chan struct{})
	go func() {
		e.work.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(e.patience):
	}
}

// run is the engine's life and returns its exit code.
func (e *Engine) run() int {
	if err := e.boot(); err != nil {
		e.halt.now(Exit{Code: -1, Panic: err.Error()})
	}
	main, err := e.load(e.spec.Key, bundleFile, e.spec.Code)
	if err != nil {
		e.crash(err)
	}
	e.kernel.call("main", main)
	e.loop()
	return e.kernel.exit()
}

// full ends the engine when its memory is used up, as node ends.
func (e *Engine) full() {
	text := fmt.Sprintf("JavaScript heap out of memory: it may hold %d MiB", e.spec.MemoryLimit>>20)
	_, _ = fmt.Fprintf(e.spec.Stderr, "FATAL ERROR: %s\n", text)
	e.halt.now(Exit{Code: -1, Panic: text})
}
