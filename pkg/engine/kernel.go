package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	lib "modernc.org/libquickjs"

	"github.com/trailblaze/trailblaze/pkg/engine/host"
)

// bundleFile is what raw stacks call the bundle.
const bundleFile = "trailblaze:bundle"

// A kernel is what the engine's loop knows of JavaScript: the functions that bootstrap.js exports, and the state that it keeps.
type kernel struct {
	e       *Engine
	exports value
	state   []float64
}

// boot makes the vm and the door, and runs bootstrap.js.
func (e *Engine) boot() (err error) {
	if e.vm, err = newVM(e.spec.MemoryLimit, e.halt.check, e.full); err != nil {
		return err
	}
	v, k := e.vm, &e.kernel
	k.e = e
	door := v.newObject()
	var state value
	k.state, state = v.shared(stateSize)
	v.set(door, "state", state)
	v.set(door, "sandbox", boolean(e.spec.Sandbox))
	for name, f := range map[string]func([]value) (value, error){
		"call": e.doorCall, "begin": e.doorBegin, "load": e.doorLoad, "microtasks": e.doorMicrotasks,
	} {
		v.set(door, name, v.function(name, f))
	}
	chunk, err := e.chunk("internal/bootstrap")
	if err != nil {
		return fmt.Errorf("load the engine's own JavaScript: %s", e.describe(err))
	}
	module := v.newObject()
	v.set(module, "exports", v.newObject())
	exports, _ := v.get(module, "exports")
	if _, err := v.call(chunk, module, exports, undefined(), door); err != nil {
		return fmt.Errorf("run the engine's own JavaScript: %s", e.describe(err))
	}
	k.exports, _ = v.get(module, "exports")
	v.onStack(k.stack)
	v.onRejection(func(promise, reason value, handled bool) { k.call("rejection", promise, reason, handled) })
	return nil
}

// call calls one of the kernel's functions. They catch what the script throws, so that an error is the end.
func (k *kernel) call(name string, args ...any) any {
	v := k.e.vm
	k.e.halt.check()
	f, err := v.get(k.exports, name)
	var list []value
	for _, arg := range args {
		x, convertErr := v.fromGo(arg)
		list, err = append(list, x), errors.Join(err, convertErr)
	}
	var r value
	if err == nil {
		r, err = v.call(f, list...)
	}
	var out any
	if err == nil {
		out, err = v.toGo(r)
	}
	if err != nil {
		k.e.crash(err)
	}
	v.free(append(list, f, r)...)
	return out
}

// stack makes the stack of an error that JavaScript sees.
func (k *kernel) stack(failure, raw value) (value, error) {
	v := k.e.vm
	f, err := v.get(k.exports, "stack")
	if err != nil {
		return undefined(), err
	}
	defer v.free(f)
	return v.call(f, failure, raw)
}

// crash ends the engine with an error that JavaScript did not deal with.
func (e *Engine) crash(err error) {
	_, _ = fmt.Fprintln(e.spec.Stderr, e.describe(err))
	e.halt.now(Exit{Code: 1})
}

// exit runs the listeners to the end and returns the exit code.
func (k *kernel) exit() int {
	code, _ := k.call("exit").(float64)
	return int(code)
}

// describe says what was thrown, without the help of JavaScript's own functions.
func (e *Engine) describe(err error) string {
	t, ok := errors.AsType[*thrown](err)
	if !ok {
		return err.Error()
	}
	text, err := e.vm.str(t.v)
	if err != nil {
		return "something that is no string was thrown"
	}
	if stack, err := e.vm.get(t.v, "stack"); err == nil && tag(t.v) == lib.EJS_TAG_OBJECT {
		if s, err := e.vm.str(stack); err == nil {
			return text + "\n" + s
		}
	}
	return text
}

// bytecodeFormat changes when the same text is compiled to something else.
const bytecodeFormat = "3"

// load runs a script, from its bytecode if that is remembered, and returns its value. key is empty if it is not to be remembered.
func (e *Engine) load(key, file string, code []byte) (value, error) {
	native := file != bundleFile
	if key != "" {
		key = fmt.Sprintf("engine-%s-%x-%t-%s-%s", bytecodeFormat, compileFlags, native, engineVersion(), key)
	}
	program, ok := e.remembered(key)
	if !ok {
		var err error
		if program, err = e.vm.compile(code, file, native); err != nil {
			return undefined(), err
		}
		if key != "" && e.spec.Store != nil {
			e.spec.Store.Put(key, program)
		}
	}
	return e.vm.run(program, code)
}

func (e *Engine) remembered(key string) ([]byte, bool) {
	if key == "" || e.spec.Store == nil {
		return nil, false
	}
	return e.spec.Store.Get(key)
}

// chunk loads a module of the host's own.
func (e *Engine) chunk(name string) (value, error) {
	text, ok := host.Chunk(name)
	if !ok {
		return undefined(), nil
	}
	code := []byte("(function(module,exports,require,host){" + text + "\n})")
	sum := sha256.Sum256(append([]byte(name+"\n"), code...))
	return e.load(hex.EncodeToString(sum[:12]), name, code)
}

// engineVersion names what bytecode depends on.
func engineVersion() string {
	version := lib.MCONFIG_VERSION
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "modernc.org/libquickjs" {
				version = dep.Version
			}
		}
	}
	return version + "-" + runtime.GOOS + "-" + runtime.GOARCH
}
