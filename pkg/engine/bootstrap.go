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

// bundleName is the name of the bundle in QuickJS's stacks.
const bundleName = "trailblaze:bundle"

// A bootstrap has the functions that bootstrap.js exports to Go, and the state that it shares with the event loop.
type bootstrap struct {
	e       *Engine
	exports value
	state   []float64
}

// startVM creates the vm and the host object, and runs bootstrap.js.
func (e *Engine) startVM() (err error) {
	if e.vm, err = newVM(e.spec.MemoryLimit, e.stop.check, e.outOfMemory); err != nil {
		return err
	}
	v, k := e.vm, &e.bootstrap
	k.e = e
	hostObject := v.newObject()
	var state value
	k.state, state = v.newSharedFloats(stateSize)
	v.setProperty(hostObject, "state", state)
	v.setProperty(hostObject, "sandbox", newBool(e.spec.Sandbox))
	for name, f := range map[string]func([]value) (value, error){
		"call": e.hostCall, "startAsync": e.hostStart, "load": e.hostLoad, "runMicrotasks": e.hostRunMicrotasks,
	} {
		v.setProperty(hostObject, name, v.newFunction(name, f))
	}
	chunk, err := e.loadChunk("internal/bootstrap")
	if err != nil {
		return fmt.Errorf("load the engine's own JavaScript: %s", e.describeException(err))
	}
	module := v.newObject()
	v.setProperty(module, "exports", v.newObject())
	exports, _ := v.get(module, "exports")
	if _, err := v.call(chunk, module, exports, undefined(), hostObject); err != nil {
		return fmt.Errorf("run the engine's own JavaScript: %s", e.describeException(err))
	}
	k.exports, _ = v.get(module, "exports")
	v.setStackFormatter(k.formatStack)
	v.setRejectionHandler(func(promise, reason value, handled bool) { k.call("rejection", promise, reason, handled) })
	return nil
}

// call calls a function of bootstrap.js. These functions catch what the script throws, so any other error exits the
// engine.
func (k *bootstrap) call(name string, args ...any) any {
	v := k.e.vm
	k.e.stop.check()
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
		k.e.exitWithError(err)
	}
	v.free(append(list, f, r)...)
	return out
}

// formatStack returns the stack of an error as the script sees it.
func (k *bootstrap) formatStack(failure, raw value) (value, error) {
	v := k.e.vm
	f, err := v.get(k.exports, "stack")
	if err != nil {
		return undefined(), err
	}
	defer v.free(f)
	return v.call(f, failure, raw)
}

// exitWithError logs an error to stderr and exits the engine with code 1.
func (e *Engine) exitWithError(err error) {
	_, _ = fmt.Fprintln(e.spec.Stderr, e.describeException(err))
	e.stop.now(Exit{Code: 1})
}

// exit runs the script's exit listeners and returns the exit code.
func (k *bootstrap) exit() int {
	code, _ := k.call("exit").(float64)
	return int(code)
}

// describeException returns the text of a thrown value without calling bootstrap.js.
func (e *Engine) describeException(err error) string {
	t, ok := errors.AsType[*exception](err)
	if !ok {
		return err.Error()
	}
	text, err := e.vm.toString(t.v)
	if err != nil {
		return "a value was thrown that cannot be converted to a string"
	}
	if stack, err := e.vm.get(t.v, "stack"); err == nil && tag(t.v) == lib.EJS_TAG_OBJECT {
		if s, err := e.vm.toString(stack); err == nil {
			return text + "\n" + s
		}
	}
	return text
}

// bytecodeFormat is part of the keys of stored programs. Change it when the format of programs changes.
const bytecodeFormat = "3"

// runScript compiles a script, or takes its program from the store, runs it and returns its completion value. An empty
// key disables the store.
func (e *Engine) runScript(key, file string, code []byte) (value, error) {
	native := file != bundleName
	compile := func() ([]byte, error) { return e.vm.compile(code, file, native) }
	var program []byte
	var err error
	if key == "" || e.spec.Store == nil {
		program, err = compile()
	} else {
		key = fmt.Sprintf("engine-%s-%x-%t-%s-%s", bytecodeFormat, compileFlags, native, e.version, key)
		program, err = e.spec.Store.Load(e.ctx, key, compile)
		e.stop.check()
	}
	if err != nil {
		return undefined(), err
	}
	return e.vm.runProgram(program, code)
}

// loadChunk returns the function that defines a module of the engine's own; undefined if it has no such module.
func (e *Engine) loadChunk(name string) (value, error) {
	text, ok := host.Chunk(name)
	if !ok {
		return undefined(), nil
	}
	code := []byte("(function(module,exports,require,host){" + text + "\n})")
	sum := sha256.Sum256(append([]byte(name+"\n"), code...))
	return e.runScript(hex.EncodeToString(sum[:12]), name, code)
}

// engineVersion identifies what bytecode depends on: the QuickJS release and the platform.
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
