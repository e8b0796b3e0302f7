package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// hostCall implements host.call(name, ...args), which runs a synchronous operation.
func (e *Engine) hostCall(args []value) (value, error) {
	e.stop.check()
	c := &call{Engine: e, ctx: e.ctx}
	f, err := c.prepare(e.syncOps, args)
	if err != nil {
		return undefined(), err
	}
	r, err := f(c)
	e.stop.check()
	if err != nil {
		return undefined(), err
	}
	x, err := e.vm.fromGo(r)
	c.finish()
	return x, err
}

// hostStart implements host.startAsync(id, name, ...args), which starts an asynchronous operation. When it ends, the
// bootstrap's settle is called with the id.
func (e *Engine) hostStart(args []value) (value, error) {
	e.stop.check()
	c := &call{Engine: e, ctx: e.ctx, async: true}
	f, err := c.prepare(e.asyncOps, args[1:])
	if err != nil {
		return undefined(), err
	}
	e.startAsync(int(intOf(args[0])), f, c)
	return undefined(), nil
}

// asyncOpSize is what an asynchronous operation needs besides its arguments and its result, mostly for its goroutine.
const asyncOpSize = 16 << 10

// startAsync runs an asynchronous operation on a goroutine of its own. A panic in it stops the engine. What the call
// has reserved is released when its result has been passed to the script.
func (e *Engine) startAsync(id int, f op, c *call) {
	e.vm.heap.reserve(asyncOpSize)
	e.ref()
	e.goroutines.Go(func() {
		var r any
		err := error(&hostError{Message: "the operation ended without a result"})
		defer func() {
			e.tasks.add(func() {
				e.unref()
				e.settle(id, r, err)
				e.vm.heap.release(asyncOpSize)
				c.finish()
			})
		}()
		defer e.recoverPanic()
		r, err = f(c)
	})
}

// withComputeSlot limits how many operations that compute run at the same time.
func withComputeSlot(f op) op {
	return func(c *call) (any, error) {
		select {
		case c.computeSlots <- struct{}{}:
		case <-c.ctx.Done():
			return nil, fmt.Errorf("wait for a compute slot: %w", c.ctx.Err())
		}
		defer func() { <-c.computeSlots }()
		return f(c)
	}
}

func (e *Engine) settle(id int, r any, err error) {
	if err != nil {
		failure := e.vm.newError(err)
		defer e.vm.free(failure)
		e.bootstrap.call("settle", id, false, failure)
		return
	}
	e.bootstrap.call("settle", id, true, r)
}

// hostLoad implements host.load(name): it returns the function that defines a module of the engine's own, or undefined.
func (e *Engine) hostLoad(args []value) (value, error) {
	name, err := e.vm.toString(args[0])
	if err != nil {
		return undefined(), err
	}
	return e.loadChunk(name)
}

// hostRunMicrotasks implements host.runMicrotasks(): it runs all pending microtasks.
func (e *Engine) hostRunMicrotasks([]value) (value, error) {
	for {
		if ran, err := e.vm.runMicrotask(); !ran || err != nil {
			return undefined(), err
		}
	}
}

// prepare converts the arguments of host.call: the name of an operation, and its arguments. It returns the operation.
func (c *call) prepare(ops opTable, args []value) (op, error) {
	if len(args) == 0 {
		return nil, errors.New("the name of an operation is missing")
	}
	name, err := c.vm.toString(args[0])
	if err != nil {
		return nil, err
	}
	f, ok := ops[name]
	if !ok {
		return nil, c.unavailableError(name)
	}
	converter := copier{vm: c.vm, left: maxValues, borrow: !c.async, reserve: c.reserveArgument}
	c.args = make([]any, len(args)-1)
	for i, arg := range args[1:] {
		if c.args[i], err = converter.copy(arg, 0); err != nil {
			c.finish()
			return nil, err
		}
	}
	c.reserveArgument((maxValues - converter.left) * convertedSize)
	return f, nil
}

// reserveArgument is reserve on the main goroutine.
func (c *call) reserveArgument(size int) {
	c.vm.heap.reserve(size)
	c.reserved += size
}

// unavailableError returns the error of an operation that the engine does not have; it names the module that scripts
// import.
func (e *Engine) unavailableError(name string) error {
	group, _, _ := strings.Cut(name, ".")
	what := map[string]string{"fs": "node:fs", "os": "node:os", "dns": "node:dns", "http": "a server of node:http"}[group]
	where, advice := "in the embedded engine", "install bun (https://bun.sh) or node"
	if e.spec.Sandbox {
		where, advice = "in on-device mode", "mark the tool requiresHost: true, or give its server a runtime: bun"
	}
	return &hostError{
		Code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", Message: fmt.Sprintf("%s is not available %s; %s", cmp.Or(what, name), where, advice),
	}
}
