package engine

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A value is a reference-counted JavaScript value. The caller owns a value that it receives and frees it, unless the
// value is documented as borrowed.
type value = lib.TJSValue

// A vm is a QuickJS runtime and context with a heap of its own. close frees the heap as a whole, whatever state QuickJS
// is in; therefore a Go panic may unwind the frames of QuickJS, after which the vm may only be closed.
type vm struct {
	tls          *libc.TLS
	rt, ctx      uintptr
	heap         heap
	callbacks    []any // Go functions that C code has pointers to
	errors       errorHooks
	sources      functionSources
	callsBlocked bool // calls of functions fail, see limitFrames
}

// newVM returns a vm with a memory limit in bytes. It calls checkStopped regularly while it executes, and outOfMemory
// when the limit is exceeded; outOfMemory must panic, checkStopped may.
func newVM(limit int, check func(), full func()) (*vm, error) {
	v := &vm{tls: libc.NewTLS(), heap: heap{limit: limit, checkStopped: check, outOfMemory: full}}
	if v.rt = lib.XJS_NewRuntime2(v.tls, v.heap.mallocFunctions(v), 0); v.rt == 0 {
		return v, errors.New("not enough memory for a JavaScript runtime")
	}
	lib.XJS_SetMaxStackSize(v.tls, v.rt, maxStackSlots)
	lib.XJS_SetGCThreshold(v.tls, v.rt, lib.Tsize_t(min(firstGCThreshold, limit/2)))
	v.heap.rt = v.rt
	v.heap.collect = func() { lib.XJS_RunGC(v.tls, v.rt) }
	if v.ctx = lib.XJS_NewContext(v.tls, v.rt); v.ctx == 0 {
		return v, errors.New("not enough memory for a JavaScript context")
	}
	v.installErrorHooks()
	v.installToString()
	lib.XJS_SetInterruptHandler(v.tls, v.rt, cPointer(v, func(*libc.TLS, uintptr, uintptr) int32 {
		check()
		v.limitFrames()
		return 0
	}), 0)
	v.limitFrames()
	return v, nil
}

// firstGCThreshold is the memory in bytes at which the cycle collector first runs. It is more than a server uses after
// loading.
const firstGCThreshold = 48 << 20

func (v *vm) close() {
	v.tls.Close()
	v.heap.close()
}

// setRejectionHandler sets the function that is called for each promise that is rejected without a handler, and again
// with handled set when such a promise gets one. The values are borrowed.
func (v *vm) setRejectionHandler(f func(promise, reason value, handled bool)) {
	tracker := cPointer(v, func(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, _ uintptr) {
		v.withExtraStack(func() { f(promise, reason, handled != 0) })
	})
	lib.XJS_SetHostPromiseRejectionTracker(v.tls, v.rt, tracker, 0)
}

// setStackFormatter sets the function that formats the stack of an error from QuickJS's own stack text. Its arguments
// are borrowed.
func (v *vm) setStackFormatter(show func(err, raw value) (value, error)) { v.errors.formatStack = show }

// newFunction returns a JavaScript function that calls f. The arguments are borrowed. An error is thrown.
func (v *vm) newFunction(name string, f func(args []value) (value, error)) value {
	return v.newMethod(name, func(_ value, args []value) (value, error) { return f(args) })
}

// newMethod is newFunction for a function that needs its receiver, which is borrowed too.
func (v *vm) newMethod(name string, f func(this value, args []value) (value, error)) value {
	callback := cPointer(v, func(_ *libc.TLS, _ uintptr, this value, argc int32, argv uintptr, _ int32) value {
		r, err := f(this, sliceAt[value](argv, argc))
		if err != nil {
			return v.throw(err)
		}
		return r
	})
	p := v.cString(name)
	defer v.heap.free(p)
	return lib.XJS_NewCFunction2(v.tls, v.ctx, callback, p, 0, lib.EJS_CFUNC_generic, 0)
}

// An exception is a JavaScript exception as a Go error. Its holder owns the value.
type exception struct{ v value }

func (t *exception) Error() string { return "a JavaScript exception" }

// result returns r, or the pending exception as an error.
func (v *vm) result(r value) (value, error) {
	if tag(r) == lib.EJS_TAG_EXCEPTION {
		return undefined(), &exception{lib.XJS_GetException(v.tls, v.ctx)}
	}
	return r, nil
}

// freeError frees the value of an exception.
func (v *vm) freeError(err error) {
	if t, ok := errors.AsType[*exception](err); ok {
		v.free(t.v)
	}
}

func (v *vm) throw(err error) value {
	if t, ok := errors.AsType[*exception](err); ok {
		return lib.XJS_Throw(v.tls, v.ctx, t.v)
	}
	return lib.XJS_Throw(v.tls, v.ctx, v.newError(err))
}

func (v *vm) free(values ...value) {
	for _, x := range values {
		lib.XFreeValue(v.tls, v.ctx, x)
	}
}

func (v *vm) dup(x value) value { return lib.XDupValue(v.tls, v.ctx, x) }

// call calls f. The caller keeps ownership of the arguments.
func (v *vm) call(f value, args ...value) (value, error) {
	argv := v.heap.allocate(max(1, len(args)) * valueSize)
	defer v.heap.free(argv)
	copy(sliceAt[value](argv, len(args)), args)
	return v.result(lib.XJS_Call(v.tls, v.ctx, f, undefined(), int32(len(args)), argv))
}

// withExtraStack calls f with a larger stack limit, so that f can run JavaScript after a stack overflow.
func (v *vm) withExtraStack(f func()) {
	const headroom = 500
	before := v.stackLimit() // already larger if calls are nested
	lib.XJS_SetMaxStackSize(v.tls, v.rt, lib.MaxStackSlots+headroom)
	defer lib.XJS_SetMaxStackSize(v.tls, v.rt, before)
	f()
}

// runMicrotask runs one pending microtask and reports whether there was one.
func (v *vm) runMicrotask() (bool, error) {
	switch lib.XJS_ExecutePendingJob(v.tls, v.rt, 0) {
	case 0:
		return false, nil
	case 1:
		return true, nil
	}
	return true, &exception{lib.XJS_GetException(v.tls, v.ctx)}
}

const compileFlags = lib.MJS_EVAL_TYPE_GLOBAL | lib.MJS_EVAL_FLAG_COMPILE_ONLY

// compile compiles a script to a program; file is its name in stacks. The functions of a native script have no source
// text.
func (v *vm) compile(code []byte, file string, native bool) ([]byte, error) {
	if native {
		lib.XJS_SetStripInfo(v.tls, v.rt, lib.MJS_STRIP_SOURCE)
		defer lib.XJS_SetStripInfo(v.tls, v.rt, 0)
	}
	text, name := v.cString(string(code)), v.cString(file)
	defer v.heap.free(text)
	defer v.heap.free(name)
	f, err := v.result(lib.XJS_Eval(v.tls, v.ctx, text, lib.Tsize_t(len(code)), name, compileFlags))
	if err != nil {
		return nil, err
	}
	defer v.free(f)
	var table []byte
	if !native {
		table = v.extractSources(f, code)
	}
	size := v.heap.allocate(sizeOf[lib.Tsize_t]())
	defer v.heap.free(size)
	p := lib.XJS_WriteObject(v.tls, v.ctx, size, f, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		return nil, fmt.Errorf("cannot write the bytecode of %s", file)
	}
	defer lib.Xjs_free(v.tls, v.ctx, p)
	return program(table, sliceAt[byte](p, uint32(*pointerAt[lib.Tsize_t](size)))), nil
}

// runProgram runs the program of a script and returns its completion value. It keeps a reference to code, unless the
// script is native.
func (v *vm) runProgram(program, code []byte) (value, error) {
	table, bytecode := splitProgram(program)
	p := v.cBytes(bytecode)
	defer v.heap.free(p)
	f, err := v.result(lib.XJS_ReadObject(v.tls, v.ctx, p, lib.Tsize_t(len(bytecode)), lib.MJS_READ_OBJ_BYTECODE))
	if err != nil {
		return undefined(), err
	}
	if len(table) > 0 {
		v.sources = functionSources{code, table}
		v.numberFunctions(f)
	}
	return v.result(lib.XJS_EvalFunction(v.tls, v.ctx, f))
}

func (v *vm) global() value { return lib.XJS_GetGlobalObject(v.tls, v.ctx) }

func (v *vm) get(obj value, name string) (value, error) {
	p := v.cString(name)
	defer v.heap.free(p)
	return v.result(lib.XJS_GetPropertyStr(v.tls, v.ctx, obj, p))
}

// setProperty defines a property. It takes ownership of x.
func (v *vm) setProperty(obj value, name string, x value) {
	v.defineProperty(obj, name, lib.MJS_PROP_C_W_E, x)
}

// defineProperty defines a property. It takes ownership of x.
func (v *vm) defineProperty(obj value, name string, flags int32, x value) {
	p := v.cString(name)
	defer v.heap.free(p)
	atom := lib.XJS_NewAtomLen(v.tls, v.ctx, p, lib.Tsize_t(len(name)))
	lib.XJS_DefinePropertyValue(v.tls, v.ctx, obj, atom, x, flags)
	lib.XJS_FreeAtom(v.tls, v.ctx, atom)
}

func (v *vm) getIndex(obj value, i int) (value, error) {
	return v.result(lib.XJS_GetPropertyUint32(v.tls, v.ctx, obj, uint32(i)))
}

func (v *vm) setIndex(obj value, i int, x value) {
	lib.XJS_DefinePropertyValueUint32(v.tls, v.ctx, obj, uint32(i), x, lib.MJS_PROP_C_W_E)
}

func (v *vm) newObject() value { return lib.XJS_NewObject(v.tls, v.ctx) }
func (v *vm) newArray() value  { return lib.XJS_NewArray(v.tls, v.ctx) }

func (v *vm) newString(s string) value {
	p := v.cString(s)
	defer v.heap.free(p)
	return lib.XJS_NewStringLen(v.tls, v.ctx, p, lib.Tsize_t(len(s)))
}

// toString returns String(x). Lone surrogates are three bytes each, see wellFormed.
func (v *vm) toString(x value) (string, error) {
	text, p, err := v.toUTF8(x)
	if err != nil {
		return "", err
	}
	defer lib.XJS_FreeCString(v.tls, v.ctx, p)
	return string(text), nil
}

// toUTF8 returns String(x) as UTF-8 in memory of the vm, which the caller frees with JS_FreeCString(p).
func (v *vm) toUTF8(x value) (text []byte, p uintptr, err error) {
	size := v.heap.allocate(sizeOf[lib.Tsize_t]())
	defer v.heap.free(size)
	if p = lib.XJS_ToCStringLen2(v.tls, v.ctx, size, x, 0); p == 0 {
		return nil, 0, &exception{lib.XJS_GetException(v.tls, v.ctx)}
	}
	return sliceAt[byte](p, int(*pointerAt[lib.Tsize_t](size))), p, nil
}

// newBytes returns a Uint8Array with a copy of chunks.
func (v *vm) newBytes(chunks ...[]byte) (value, error) {
	array, content, err := v.newUint8Array(totalSize(chunks))
	if err != nil {
		return array, err
	}
	joinTo(content, chunks)
	return array, nil
}

func totalSize(chunks [][]byte) int {
	size := 0
	for _, chunk := range chunks {
		size += len(chunk)
	}
	return size
}

func joinTo(b []byte, chunks [][]byte) {
	for _, chunk := range chunks {
		b = b[copy(b, chunk):]
	}
}

// newUint8Array returns a Uint8Array and its content, which is in memory of the vm.
func (v *vm) newUint8Array(size int) (array value, content []byte, err error) {
	argv := v.heap.allocate(3 * valueSize)
	defer v.heap.free(argv)
	args := sliceAt[value](argv, 3)
	args[0], args[1], args[2] = newNumber(float64(size)), undefined(), undefined()
	array, err = v.result(lib.XJS_NewTypedArray(v.tls, v.ctx, 1, argv, lib.EJS_TYPED_ARRAY_UINT8))
	if err != nil {
		return array, nil, err
	}
	content, _ = v.bytesOf(array)
	return array, content, nil
}

// newStringAt returns a string of valid UTF-8 in memory of the vm.
func (v *vm) newStringAt(text []byte) value {
	if len(text) == 0 {
		return v.newString("")
	}
	return lib.XJS_NewStringLen(v.tls, v.ctx, addressOf(text), lib.Tsize_t(len(text)))
}

// newStringOf returns a string of UTF-8 text, in which errors are replaced with U+FFFD, without a byte order mark.
func (v *vm) newStringOf(chunks [][]byte) (value, error) {
	size := totalSize(chunks)
	p := v.heap.allocate(size)
	defer v.heap.free(p)
	text := sliceAt[byte](p, size)
	joinTo(text, chunks)
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if utf8.Valid(text) {
		return v.result(v.newStringAt(text))
	}
	v.heap.reserve(decodedUTF8Size(text))
	defer v.heap.release(decodedUTF8Size(text))
	return v.result(v.newString(decodeUTF8(text)))
}

// newTypedArray returns a view of an ArrayBuffer, which it takes ownership of.
func (v *vm) newTypedArray(buffer value, kind int32) value {
	argv := v.heap.allocate(3 * valueSize)
	defer v.heap.free(argv)
	args := sliceAt[value](argv, 3)
	args[0], args[1], args[2] = buffer, undefined(), undefined()
	defer v.free(buffer)
	return lib.XJS_NewTypedArray(v.tls, v.ctx, 1, argv, kind)
}

// newSharedFloats returns a Float64Array and its memory, which is valid until the vm is closed.
func (v *vm) newSharedFloats(n int) ([]float64, value) {
	p := v.heap.allocate(8 * n)
	floats := sliceAt[float64](p, n)
	clear(floats)
	buffer := lib.XJS_NewArrayBuffer(v.tls, v.ctx, p, lib.Tsize_t(8*n), 0, 0, 0)
	return floats, v.newTypedArray(buffer, lib.EJS_TYPED_ARRAY_FLOAT64)
}

// bytesOf returns the bytes of an ArrayBuffer, typed array or DataView, in memory of the vm; ok is false for other
// values.
func (v *vm) bytesOf(x value) (b []byte, ok bool) {
	sizes := v.heap.allocate(3 * sizeOf[lib.Tsize_t]())
	defer v.heap.free(sizes)
	n := sliceAt[lib.Tsize_t](sizes, 3)
	if p := lib.XJS_GetArrayBuffer(v.tls, v.ctx, sizes, x); p != 0 {
		return sliceAt[byte](p, int(n[0])), true
	}
	v.clearException()
	word := uintptr(sizeOf[lib.Tsize_t]())
	buffer, err := v.result(lib.XJS_GetTypedArrayBuffer(v.tls, v.ctx, x, sizes, sizes+word, 0))
	if err != nil {
		v.freeError(err)
		return v.dataViewBytes(x)
	}
	defer v.free(buffer)
	offset, length := n[0], n[1]
	p := lib.XJS_GetArrayBuffer(v.tls, v.ctx, sizes+2*word, buffer)
	if p == 0 {
		v.clearException()
		return []byte{}, true
	}
	return sliceAt[byte](p+uintptr(offset), int(length)), true
}

// dataViewBytes returns the bytes of a DataView, in memory of the vm; ok is false for other values.
func (v *vm) dataViewBytes(x value) (b []byte, ok bool) {
	buffer, start, end, ok := dataView(x)
	if !ok {
		return nil, false
	}
	all, _ := v.bytesOf(buffer)
	if end < 0 {
		end = max(start, len(all))
	}
	if end > len(all) {
		return []byte{}, true
	}
	return all[start:end], true
}

// clearException clears a pending exception.
func (v *vm) clearException() { v.free(lib.XJS_GetException(v.tls, v.ctx)) }

func (v *vm) usedMemory() int { return v.heap.total() }

func (v *vm) isArray(x value) bool    { return lib.XJS_IsArray(v.tls, v.ctx, x) == 1 }
func (v *vm) isFunction(x value) bool { return lib.XJS_IsFunction(v.tls, v.ctx, x) != 0 }

// keys returns the names of the own enumerable properties of an object.
func (v *vm) keys(x value) ([]string, error) {
	out := v.heap.allocate(2 * sizeOf[uintptr]())
	defer v.heap.free(out)
	const flags = lib.MJS_GPN_STRING_MASK | lib.MJS_GPN_ENUM_ONLY
	count := out + uintptr(sizeOf[uintptr]())
	if lib.XJS_GetOwnPropertyNames(v.tls, v.ctx, out, count, x, flags) < 0 {
		return nil, &exception{lib.XJS_GetException(v.tls, v.ctx)}
	}
	table, n := *pointerAt[uintptr](out), *pointerAt[uint32](count)
	defer lib.XJS_FreePropertyEnum(v.tls, v.ctx, table, n)
	var names []string
	for _, p := range sliceAt[lib.TJSPropertyEnum](table, n) {
		name := lib.XJS_AtomToString(v.tls, v.ctx, p.Fatom)
		s, err := v.toString(name)
		v.free(name)
		if err != nil {
			return nil, err
		}
		names = append(names, s)
	}
	return names, nil
}

// parseJSON returns the value of a JSON text.
func (v *vm) parseJSON(text []byte) (value, error) {
	p, name := v.cString(string(text)), v.cString("JSON")
	defer v.heap.free(p)
	defer v.heap.free(name)
	return v.result(lib.XJS_ParseJSON(v.tls, v.ctx, p, lib.Tsize_t(len(text)), name))
}

func (v *vm) cString(s string) uintptr {
	p := v.heap.allocate(len(s) + 1)
	b := sliceAt[byte](p, len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	return p
}

func (v *vm) cBytes(b []byte) uintptr {
	p := v.heap.allocate(max(1, len(b)))
	copy(sliceAt[byte](p, len(b)), b)
	return p
}
