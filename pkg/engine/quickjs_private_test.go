package engine

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	lib "modernc.org/libquickjs"
)

// newTestVM returns a vm without the engine's own JavaScript.
func newTestVM(t *testing.T, checkStopped func()) *vm {
	t.Helper()
	v, err := newVM(DefaultMemoryLimit, checkStopped, func() { t.Error("out of memory") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.close)
	return v
}

// eval runs a script and returns its completion value.
func (v *vm) eval(t *testing.T, code string) value {
	t.Helper()
	program, err := v.compile([]byte(code), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	x, err := v.runProgram(program, []byte(code))
	if err != nil {
		t.Fatalf("%s: %s", code, (&Engine{vm: v}).describeException(err))
	}
	return x
}

// A new version may change the layout without a compile error.
func TestQuickJSVersionIsTested(t *testing.T) {
	t.Parallel()
	if err := checkVersions(); err != nil {
		t.Error(err)
	}
}

// checkVersions compares the versions in go.mod with those that quickjs_private.go was tested with.
func checkVersions() error {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		return err
	}
	tested := map[string]string{"modernc.org/libquickjs": testedQuickJS, "modernc.org/libc": testedLibc}
	for line := range strings.Lines(string(mod)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] != "module" && tested[fields[0]] == fields[1] {
			delete(tested, fields[0])
		}
	}
	for module, version := range tested {
		err = errors.Join(err, fmt.Errorf("go.mod does not require %s %s, with which quickjs_private.go was tested; if tests "+
			"fail or crash, compare the structures that it uses with the new version; then update the version there",
			module, version))
	}
	return err
}

func TestOnlyOneFileIsUnsafe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			if imported.Path.Value == `"unsafe"` && name != "quickjs_private.go" {
				t.Errorf("%s imports unsafe; move what needs it to quickjs_private.go", name)
			}
		}
	}
}

func TestOnlyOneFileUsesPrivateStructures(t *testing.T) {
	t.Parallel()
	public := []string{"TJSValue", "TJSAtom", "TJSMallocFunctions", "TJSPropertyEnum", "TJSClassExoticMethods"} // of quickjs.h
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasPrefix(name, "quickjs_private") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`\blib\.(TJS\w+)`).FindAllSubmatch(text, -1) {
			if used := string(match[1]); !slices.Contains(public, used) {
				t.Errorf("%s uses lib.%s, which is not in quickjs.h; move what needs it to quickjs_private.go", name, used)
			}
		}
	}
}

// Each subtest checks an assumption of quickjs_private.go by its effect.
func TestQuickJSLayout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T, v *vm){
		"values":                               testValueLayout,
		"JSRuntime.stack_size":                 testStackLimit,
		"JSRuntime.malloc_gc_threshold":        testGCThreshold,
		"JSRuntime.current_stack_frame":        testStackFrames,
		"JSRuntime.class_array":                testErrorClass,
		"JSContext.native_error_proto":         testErrorPrototypes,
		"JSContext.function_proto":             testFunctionPrototype,
		"JSObject.class_id of a DataView":      testDataView,
		"JSObject.class_id of a function":      testFunctionClasses,
		"JSFunctionBytecode.cpool and debug":   testFunctionSources,
		"JSFunctionBytecode: sizes of a frame": testFrameSize,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			debug.SetPanicOnFault(true)
			defer func() {
				if p := recover(); p != nil || t.Failed() {
					t.Errorf("modernc.org/libquickjs has changed what quickjs_private.go assumes of %s (panic: %v)", name, p)
				}
			}()
			test(t, newTestVM(t, func() {}))
		})
	}
	t.Run("JSContext.interrupt_counter", func(t *testing.T) {
		t.Parallel()
		testInterruptCounter(t)
	})
	t.Run("JSMallocState", func(t *testing.T) {
		t.Parallel()
		testMallocState(t)
	})
}

func testValueLayout(t *testing.T, v *vm) {
	for code, want := range map[string]any{"7": 7.0, "-1": -1.0, "0.5": 0.5, "true": true, "false": false, "'é'": "é", "void 0": nil} {
		if got, err := v.toGo(v.eval(t, code)); err != nil || got != want {
			t.Errorf("%s is %v (%v), want %v", code, got, err, want)
		}
	}
	global := v.global()
	for code, x := range map[string]value{
		"x === 7": newNumber(7), "x === 0.5": newNumber(0.5), "Object.is(x, -0)": newNumber(math.Copysign(0, -1)),
		"x === 2 ** 40": newNumber(1 << 40), "x === true": newBool(true), "x === undefined": undefined(),
	} {
		v.setProperty(global, "x", x)
		if got := v.eval(t, code); intOf(got) != 1 {
			t.Errorf("%s is false for %v", code, x)
		}
	}
}

func testStackLimit(t *testing.T, v *vm) {
	const limit = 1234
	lib.XJS_SetMaxStackSize(v.tls, v.rt, limit)
	if got := v.stackLimit(); got != limit {
		t.Errorf("the stack limit is %d after it was set to %d", got, limit)
	}
}

func testGCThreshold(t *testing.T, v *vm) {
	const threshold = 1 << 20
	lib.XJS_SetGCThreshold(v.tls, v.rt, threshold)
	if got := *gcThreshold(v.rt); got != threshold {
		t.Errorf("the threshold is %d after it was set to %d", got, threshold)
	}
}

func testStackFrames(t *testing.T, v *vm) {
	var names []any
	global := v.global()
	v.setProperty(global, "probe", v.newFunction("probe", func([]value) (value, error) {
		name, err := v.get(v.currentFunction(), "name")
		if err != nil {
			return undefined(), err
		}
		text, err := v.toGo(name)
		names = append(names, text)
		return undefined(), err
	}))
	v.eval(t, `probe()`)
	if len(names) != 1 || names[0] != "probe" {
		t.Errorf("the running function is %v, want probe", names)
	}
	if got := v.currentFunction(); tag(got) != lib.EJS_TAG_UNDEFINED {
		t.Errorf("a function is running while none is: %v", got)
	}
}

func testErrorClass(t *testing.T, v *vm) {
	shown := 0
	v.setStackFormatter(func(_, _ value) (value, error) {
		shown++
		return v.newString("formatted"), nil
	})
	got, err := v.toGo(v.eval(t, `[new Error("x").stack, new TypeError("y").stack].join()`))
	if err != nil || got != "formatted,formatted" || shown != 2 {
		t.Errorf("the stacks are %v (%v), formatted %d times", got, err, shown)
	}
	got, err = v.toGo(v.eval(t, `const e = new Error("z"); Object.defineProperty(e, "a", { value: 1 }); e.message + e.a`))
	if err != nil || got != "z1" {
		t.Errorf("an error cannot get a property: %v (%v)", got, err)
	}
}

func testErrorPrototypes(t *testing.T, v *vm) {
	for name, index := range map[string]int{
		"RangeError": lib.EJS_RANGE_ERROR, "SyntaxError": lib.EJS_SYNTAX_ERROR, "InternalError": lib.EJS_INTERNAL_ERROR,
	} {
		if want := v.eval(t, name+".prototype"); pointerOf(v.errorPrototypes()[index]) != pointerOf(want) {
			t.Errorf("prototype %d is not that of %s", index, name)
		}
	}
}

func testFunctionPrototype(t *testing.T, v *vm) {
	if want := v.eval(t, "Function.prototype"); pointerOf(v.functionPrototype()) != pointerOf(want) {
		t.Error("functionPrototype does not return Function.prototype")
	}
}

func testDataView(t *testing.T, v *vm) {
	const buffer = `const b = new ArrayBuffer(8, { maxByteLength: 16 }); new Uint8Array(b).set([1, 2, 3, 4, 5, 6, 7, 8]); `
	for code, want := range map[string][]byte{
		buffer + `new DataView(b, 2, 3)`:                                {3, 4, 5},
		buffer + `const w = new DataView(b, 6); b.resize(9); w`:         {7, 8, 0},
		buffer + `const x = new DataView(b, 6, 2); b.resize(7); x`:      {},
		buffer + `const y = new DataView(b, 0, 4); b.resize(16); b.y=y`: {1, 2, 3, 4},
	} {
		fresh := newTestVM(t, func() {})
		if got, ok := fresh.bytesOf(fresh.eval(t, code)); !ok || !bytes.Equal(got, want) {
			t.Errorf("%s has the bytes %v (%t), want %v", code, got, ok, want)
		}
	}
	if _, _, _, ok := dataView(v.eval(t, `new Uint8Array(1)`)); ok {
		t.Error("a typed array is taken for a DataView")
	}
}

func testFunctionClasses(t *testing.T, v *vm) {
	for code, want := range map[string]bool{
		`(function () {})`: true, `(() => 1)`: true, `(function* () {})`: true, `(async () => 1)`: true,
		`(async function* () {})`: true, `(class {})`: true, `Math.max`: false, `({})`: false, `(() => 1).bind()`: false, `1`: false,
	} {
		if _, ok := functionOf(v.eval(t, code)); ok != want {
			t.Errorf("%s has bytecode: %t, want %t", code, ok, want)
		}
	}
}

func testFunctionSources(t *testing.T, v *vm) {
	const code = `function outer() { return () => { /* inner */ } } [String(outer), String(outer())]`
	p, name := v.cString(code), v.cString("test")
	script, err := v.result(lib.XJS_Eval(v.tls, v.ctx, p, lib.Tsize_t(len(code)), name, compileFlags))
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	eachFunction(script, func(f bytecodeFunction) { sources = append(sources, string(f.source())) })
	want := []string{"", "function outer() { return () => { /* inner */ } }", "() => { /* inner */ }"}
	if !slices.Equal(sources, want) { // the script itself has no text
		t.Errorf("the sources are %q, want %q", sources, want)
	}
	if got, err := v.toGo(v.eval(t, code)); err != nil || !slices.Equal(got.([]any), []any{want[1], want[2]}) {
		t.Errorf("restored sources are %q (%v), want %q", got, err, want[1:])
	}
}

func testFrameSize(t *testing.T, v *vm) {
	var sizes []int
	global := v.global()
	v.setProperty(global, "probe", v.newFunction("probe", func([]value) (value, error) {
		sizes = append(sizes, v.frameBytes())
		return undefined(), nil
	}))
	names := make([]string, 100)
	for i := range names {
		names[i] = "a" + strings.Repeat("b", i)
	}
	list := strings.Join(names, ",")
	v.eval(t, `(() => { probe() })(); (() => { var `+list+`; probe() })(); ((`+list+`) => { probe() })()`)
	for i, name := range []string{"variables", "parameters"} {
		if more := sizes[i+1] - sizes[0]; more < len(names)*valueSize || more > 3*len(names)*valueSize {
			t.Errorf("%d %s add %d bytes to a frame, want %d to three times as many", len(names), name, more, len(names)*valueSize)
		}
	}
}

func testInterruptCounter(t *testing.T) {
	calls := 0
	var seen []int
	v := newTestVM(t, func() { calls++ })
	v.setProperty(v.global(), "probe", v.newFunction("probe", func([]value) (value, error) {
		seen = append(seen, calls)
		return undefined(), nil
	}))
	const intervals = 10
	v.eval(t, fmt.Sprintf(`probe(); for (let i = 0; i < %d; i++); probe(); probe()`, intervals*interruptInterval))
	got := (seen[1] - seen[0]) - (seen[2] - seen[1])
	if got < intervals-1 || got > 3*intervals { // QuickJS may count several jumps for each iteration
		t.Errorf("the interrupt handler was called %d times in a loop, want %d; modernc.org/libquickjs has changed "+
			"JSContext.interrupt_counter", got, intervals)
	}
}

func testMallocState(t *testing.T) {
	v := newTestVM(t, func() {})
	stats := v.heap.allocate(sizeOf[lib.TJSMemoryUsage]())
	lib.XJS_ComputeMemoryUsage(v.tls, v.rt, stats)
	usage := pointerAt[lib.TJSMemoryUsage](stats)
	used := int64(v.heap.used)
	if usage.Fmalloc_size <= 0 || usage.Fmalloc_size > used || usage.Fmalloc_size < used/2 || usage.Fmalloc_count < 10 {
		t.Errorf("QuickJS counts %d bytes in %d blocks, the heap %d bytes; modernc.org/libquickjs has changed JSMallocState",
			usage.Fmalloc_size, usage.Fmalloc_count, used)
	}
}
