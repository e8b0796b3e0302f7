package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// doorCall is host.call(name, ...args): an operation that answers at once.
func (e *Engine) doorCall(args []value) (value, error) {
	e.halt.check()
	name, list, err := e.arguments(args)
	if err != nil {
		return undefined(), err
	}
	f, ok := e.ops[name]
	if !ok {
		return undefined(), e.notOffered(name)
	}
	r, err := f(e, list)
	e.halt.check()
	if err != nil {
		return undefined(), err
	}
	return e.vm.fromGo(r)
}

// doorBegin is host.begin(id, name, ...args): work in the background, whose end settles what JavaScript keeps under the id.
func (e *Engine) doorBegin(args []value) (value, error) {
	e.halt.check()
	id := args[0]
	name, list, err := e.arguments(args[1:])
	if err != nil {
		return undefined(), err
	}
	f, ok := e.jobs[name]
	if !ok {
		return undefined(), e.notOffered(name)
	}
	e.background(int(intOf(id)), f, list)
	return undefined(), nil
}

// background runs a job. A panic in it is the engine's end. What it was given counts as JavaScript's memory meanwhile.
func (e *Engine) background(id int, f job, args []any) {
	given := sizeOf(args)
	if given > 0 {
		e.vm.heap.borrow(given)
	}
	e.ref()
	e.work.Go(func() {
		var r any
		err := error(&hostError{Message: "the work in the background was given up"})
		defer func() {
			e.inbox.put(func() {
				e.unref()
				e.vm.heap.used -= given
				e.settle(id, r, err)
			})
		}()
		defer e.survive()
		r, err = f(e.ctx, e, args)
	})
}

// sizeOf is the bytes of what a job was given, as far as they are many.
func sizeOf(args []any) int {
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

// inTurn is for jobs that compute: few of them at once.
func inTurn(f job) job {
	return func(ctx context.Context, e *Engine, args []any) (any, error) {
		select {
		case e.turns <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a turn: %w", ctx.Err())
		}
		defer func() { <-e.turns }()
		return f(ctx, e, args)
	}
}

func (e *Engine) settle(id int, r any, err error) {
	if err != nil {
		failure := e.vm.newError(err)
		defer e.vm.free(failure)
		e.kernel.call("settle", id, false, failure)
		return
	}
	e.kernel.call("settle", id, true, r)
}

// doorLoad is host.load(name): the function that is a chunk, or undefined.
func (e *Engine) doorLoad(args []value) (value, error) {
	name, err := e.vm.str(args[0])
	if err != nil {
		return undefined(), err
	}
	return e.chunk(name)
}

// doorMicrotasks is host.microtasks(): it runs all that are pending.
func (e *Engine) doorMicrotasks([]value) (value, error) {
	for {
		if more, err := e.vm.job(); !more || err != nil {
			return undefined(), err
		}
	}
}

// arguments copies what JavaScript gave: a name, and the rest.
func (e *Engine) arguments(args []value) (string, []any, error) {
	if len(args) == 0 {
		return "", nil, fmt.Errorf("the name of an operation is missing")
	}
	name, err := e.vm.str(args[0])
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

// notOffered says that an operation is not there, in the words of the module that the author knows.
func (e *Engine) notOffered(name string) error {
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
