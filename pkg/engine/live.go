package engine

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"
)

// patience is how long background work may take to notice that the engine has ended. What waits in the operating system without a
// way to wake it is left behind after that.
const patience = 2 * time.Second

// live is the engine's goroutine. Whatever goes up through it, a panic of ours or of the engine, a fault of the engine's memory,
// runtime.Goexit, ends this engine alone.
func (e *Engine) live() {
	defer e.end()
	defer e.survive()
	debug.SetPanicOnFault(true)
	context.AfterFunc(e.ctx, e.closePipes)
	e.halt.with(Exit{Code: e.run()})
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

func (e *Engine) end() {
	defer close(e.done)
	e.halt.with(Exit{Code: -1, Panic: "something ended the engine's goroutine"})
	e.exit = e.halt.exit
	e.closePipes()
	e.handles.closeAll()
	if e.vm != nil {
		e.vm.close()
	}
	finished := make(chan struct{})
	go func() {
		e.work.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(patience):
	}
}

// pipesCloser closes what the engine was given, which ends reads and writes that wait.
func pipesCloser(e *Engine) func() {
	return sync.OnceFunc(func() {
		for _, pipe := range []io.Closer{e.spec.Stdin, e.spec.Stdout, e.spec.Stderr} {
			_ = pipe.Close()
		}
		e.stdin.stop()
	})
}

// run is the engine's life and returns its exit code.
func (e *Engine) run() int {
	e.vm = newVM(e.spec.MemoryLimit, e.halt.check, e.full)
	e.boot()
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
	e.halt.with(Exit{Code: -1, Panic: text})
	panic(halted{})
}
