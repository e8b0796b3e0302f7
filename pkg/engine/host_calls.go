package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// hostCall implements host.call(name, ...args), which runs a synchronous operation.
func (e *Engine) hostCall(args []value) (value, error) {
	e.stop.check()
	name, list, err := e.convertArgs(args)
	if err != nil {
		return undefined(), err
	}
	f, ok := e.syncOps[name]
	if !ok {
		return undefined(), e.unavailableError(name)
	}
	r, err := f(e, list)
	e.stop.check()
	if err != nil {
		return undefined(), err
	}
	return e.vm.fromGo(r)
}

// hostStart implements host.startAsync(id, name, ...args), which starts an asynchronous operation. When it ends,
// the bootstrap's settle is called with the id.
func (e *Engine) hostStart(args []value) (value, error) {
	e.stop.check()
	id := args[0]
	name, list, err := e.convertArgs(args[1:])
	if err != nil {
		return undefined(), err
	}
	f, ok := e.asyncOps[name]
	if !ok {
		return undefined(), e.unavailableError(name)
	}
	e.startAsync(int(intOf(id)), f, list)
	return undefined(), nil
}

// startAsync runs an asynchronous operation on a goroutine of its own. A panic in it stops the engine. Its arguments
// count as memory of the script until it ends.
func (e *Engine) startAsync(id int, f asyncOp, args []any) {
	size := argsSize(args)
	if size > 0 {
		e.vm.heap.reserve(size)
	}
	e.ref()
	e.goroutines.Go(func() {
		var r any
		err := error(&hostError{Message: "the operation ended without a result"})
		defer func() {
			e.tasks.add(func() {
				e.unref()
				e.vm.heap.used -= size
				e.settle(id, r, err)
			})
		}()
		defer e.recoverPanic()
		r, err = f(e.ctx, e, args)
	})
}

// argsSize returns the bytes of strings and binary data among arguments.
func argsSize(args []any) int {
	n := 0
	for _, arg := range args {
		switch arg := arg.(type) {
		case []byte:
			n += len(arg)
		case string:
			n += len(arg)
		}
	}
	return n
}

// withComputeSlot limits how many operations that compute run at the same time.
func withComputeSlot(f asyncOp) asyncOp {
	return func(ctx context.Context, e *Engine, args []any) (any, error) {
		select {
		case e.computeSlots <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a compute slot: %w", ctx.Err())
		}
		defer func() { <-e.computeSlots }()
		return f(ctx, e, args)
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

// convertArgs converts the arguments of host.call: the name of an operation, and the operation's arguments.
func (e *Engine) convertArgs(args []value) (string, []any, error) {
	if len(args) == 0 {
		return "", nil, fmt.Errorf("the name of an operation is missing")
	}
	name, err := e.vm.toString(args[0])
	if err != nil {
		return "", nil, err
	}
	list := make([]any, len(args)-1)
	for i, arg := range args[1:] {
		if list[i], err = e.vm.toGo(arg); err != nil {
			return "", nil, err
		}
	}
	return name, list, nil
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
