package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A value is JavaScript's, counted: who gets one frees it, unless it is said that it is borrowed.
type value = lib.TJSValue

// A vm is QuickJS with memory of its own, which close gives back as a whole, whatever state the engine is in. Hence a Go panic
// may go up through it: nothing of it is used afterwards. All that is unsafe stands in this file, alloc.go, errors.go and
// frames.go.
type vm struct {
	tls     *libc.TLS
	rt, ctx uintptr
	heap    heap
	keep    []any // what the C side points at
	hook    errorHook
	sources sources
	tight   bool // no function may be called, see boundFrames
}

// newVM makes a vm whose memory has a limit in bytes. check is called now and then while it works, and may panic to end it.
func newVM(limit int, check func(), full func()) (*vm, error) {
	v := &vm{tls: libc.NewTLS(), heap: heap{limit: limit, check: check, full: full}}
	if v.rt = lib.XJS_NewRuntime2(v.tls, v.heap.functions(v), 0); v.rt == 0 {
		return v, errors.New("there is no memory for a JavaScript runtime")
	}
	lib.XJS_SetMaxStackSize(v.tls, v.rt, slotsOfAll)
	lib.XJS_SetGCThreshold(v.tls, v.rt, lib.Tsize_t(min(gcThreshold, limit/2)))
	v.heap.rt = v.rt
	if v.ctx = lib.XJS_NewContext(v.tls, v.rt); v.ctx == 0 {
		return v, errors.New("there is no memory for a JavaScript context")
	}
	v.hookErrors()
	v.hookSources()
	lib.XJS_SetInterruptHandler(v.tls, v.rt, pointer(v, func(*libc.TLS, uintptr, uintptr) int32 {
		check()
		v.boundFrames()
		return 0
	}), 0)
	v.boundFrames()
	return v, nil
}

// gcThreshold is the memory in bytes at which cycles are looked for the first time: after what a server loads.
const gcThreshold = 48 << 20

func (v *vm) close() {
	v.tls.Close()
	v.heap.close()
}

// called are the types of what QuickJS calls: to interrupt it, for functions of ours, for rejections, for its memory, for errors.
type called interface {
	func(tls *libc.TLS, rt, opaque uintptr) int32 |
		func(tls *libc.TLS, ctx uintptr, this value, argc int32, argv uintptr, magic int32) value |
		func(tls *libc.TLS, ctx uintptr, promise, reason value, handled int32, opaque uintptr) |
		func(tls *libc.TLS, state uintptr, size lib.Tsize_t) uintptr |
		func(tls *libc.TLS, state, p uintptr) |
		func(tls *libc.TLS, state, p uintptr, size lib.Tsize_t) uintptr |
		func(tls *libc.TLS, p uintptr) lib.Tsize_t |
		func(tls *libc.TLS, ctx uintptr, obj value, prop lib.TJSAtom, val, getter, setter value, flags int32) int32 |
		func(tls *libc.TLS, ctx uintptr, this value, argc int32, argv uintptr, magic int32, data uintptr) value
}

// pointer makes a function callable from C for as long as the vm lives.
func pointer[F called](v *vm, f F) uintptr {
	v.keep = append(v.keep, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}

// onRejection has promises reported that are rejected without a handler, and those that get one later. The values are borrowed.
func (v *vm) onRejection(f func(promise, reason value, handled bool)) {
	tracker := pointer(v, func(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, _ uintptr) {
		v.deeper(func() { f(promise, reason, handled != 0) })
	})
	lib.XJS_SetHostPromiseRejectionTracker(v.tls, v.rt, tracker, 0)
}

// onStack has show make the stacks that JavaScript reads of errors and their raw stacks, which are borrowed.
func (v *vm) onStack(show func(err, raw value) (value, error)) { v.hook.show = show }

// function makes a JavaScript function of Go's. The arguments are borrowed. An error is thrown.
func (v *vm) function(name string, f func(args []value) (value, error)) value {
	return v.method(name, func(_ value, args []value) (value, error) { return f(args) })
}

// method is a function that wants to know its receiver, which is borrowed too.
func (v *vm) method(name string, f func(this value, args []value) (value, error)) value {
	door := pointer(v, func(_ *libc.TLS, _ uintptr, this value, argc int32, argv uintptr, _ int32) value {
		r, err := f(this, span[value](argv, argc))
		if err != nil {
			return v.throw(err)
		}
		return r
	})
	p := v.cString(name)
	defer v.heap.release(p)
	return lib.XJS_NewCFunction2(v.tls, v.ctx, door, p, 0, lib.EJS_CFUNC_generic, 0)
}

// A thrown is a JavaScript exception on its way through Go.
type thrown struct{ v value }

func (t *thrown) Error() string { return "a JavaScript exception" }

// result makes an error of an exception.
func (v *vm) result(r value) (value, error) {
	if tag(r) == lib.EJS_TAG_EXCEPTION {
		return undefined(), &thrown{lib.XJS_GetException(v.tls, v.ctx)}
	}
	return r, nil
}

// drop frees what was thrown.
func (v *vm) drop(err error) {
	if t, ok := errors.AsType[*thrown](err); ok {
		v.free(t.v)
	}
}

func (v *vm) throw(err error) value {
	if t, ok := errors.AsType[*thrown](err); ok {
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

// call calls f. The arguments stay the caller's.
func (v *vm) call(f value, args ...value) (value, error) {
	argv := v.heap.take(max(1, len(args)) * valueSize)
	defer v.heap.release(argv)
	copy(span[value](argv, len(args)), args)
	return v.result(lib.XJS_Call(v.tls, v.ctx, f, undefined(), int32(len(args)), argv))
}

// deeper has f work where JavaScript has used up its stack.
func (v *vm) deeper(f func()) {
	const headroom = 500
	before := at[lib.TJSRuntime](v.rt).Fstack_size // more than usual when f itself came from here
	lib.XJS_SetMaxStackSize(v.tls, v.rt, lib.MaxStackSlots+headroom)
	defer lib.XJS_SetMaxStackSize(v.tls, v.rt, before)
	f()
}

// job runs one pending microtask and says whether there was one.
func (v *vm) job() (bool, error) {
	switch lib.XJS_ExecutePendingJob(v.tls, v.rt, 0) {
	case 0:
		return false, nil
	case 1:
		return true, nil
	}
	return true, &thrown{lib.XJS_GetException(v.tls, v.ctx)}
}

const compileFlags = lib.MJS_EVAL_TYPE_GLOBAL | lib.MJS_EVAL_FLAG_COMPILE_ONLY

// compile makes a program of a script; file is what stacks call it. The functions of a native one do not know their text.
func (v *vm) compile(code []byte, file string, native bool) ([]byte, error) {
	if native {
		lib.XJS_SetStripInfo(v.tls, v.rt, lib.MJS_STRIP_SOURCE)
		defer lib.XJS_SetStripInfo(v.tls, v.rt, 0)
	}
	text, name := v.cString(string(code)), v.cString(file)
	defer v.heap.release(text)
	defer v.heap.release(name)
	f, err := v.result(lib.XJS_Eval(v.tls, v.ctx, text, lib.Tsize_t(len(code)), name, compileFlags))
	if err != nil {
		return nil, err
	}
	defer v.free(f)
	var table []byte
	if !native {
		table = v.takeSources(f, code)
	}
	size := v.heap.take(int(unsafe.Sizeof(lib.Tsize_t(0))))
	defer v.heap.release(size)
	p := lib.XJS_WriteObject(v.tls, v.ctx, size, f, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		return nil, fmt.Errorf("cannot write the bytecode of %s", file)
	}
	defer lib.Xjs_free(v.tls, v.ctx, p)
	return program(table, span[byte](p, uint32(*at[lib.Tsize_t](size)))), nil
}

// run runs the program of a script, of which it keeps the code of one that is not native, and returns the script's value.
func (v *vm) run(program, code []byte) (value, error) {
	table, bytecode := parts(program)
	p := v.cBytes(bytecode)
	defer v.heap.release(p)
	f, err := v.result(lib.XJS_ReadObject(v.tls, v.ctx, p, lib.Tsize_t(len(bytecode)), lib.MJS_READ_OBJ_BYTECODE))
	if err != nil {
		return undefined(), err
	}
	if len(table) > 0 {
		v.sources = sources{code, bytes.Clone(table)} // the rest of the program may go
		numberFunctions(f)
	}
	return v.result(lib.XJS_EvalFunction(v.tls, v.ctx, f))
}

func (v *vm) global() value { return lib.XJS_GetGlobalObject(v.tls, v.ctx) }

func (v *vm) get(obj value, name string) (value, error) {
	p := v.cString(name)
	defer v.heap.release(p)
	return v.result(lib.XJS_GetPropertyStr(v.tls, v.ctx, obj, p))
}

// set sets a property. It takes over x.
func (v *vm) set(obj value, name string, x value) { v.property(obj, name, lib.MJS_PROP_C_W_E, x) }

// property defines a property. It takes over x.
func (v *vm) property(obj value, name string, flags int32, x value) {
	p := v.cString(name)
	defer v.heap.release(p)
	atom := lib.XJS_NewAtomLen(v.tls, v.ctx, p, lib.Tsize_t(len(name)))
	lib.XJS_DefinePropertyValue(v.tls, v.ctx, obj, atom, x, flags)
	lib.XJS_FreeAtom(v.tls, v.ctx, atom)
}

func (v *vm) index(obj value, i int) (value, error) {
	return v.result(lib.XJS_GetPropertyUint32(v.tls, v.ctx, obj, uint32(i)))
}

func (v *vm) setIndex(obj value, i int, x value) {
	lib.XJS_DefinePropertyValueUint32(v.tls, v.ctx, obj, uint32(i), x, lib.MJS_PROP_C_W_E)
}

func (v *vm) newObject() value { return lib.XJS_NewObject(v.tls, v.ctx) }
func (v *vm) newArray() value  { return lib.XJS_NewArray(v.tls, v.ctx) }

func (v *vm) text(s string) value {
	p := v.cString(s)
	defer v.heap.release(p)
	return lib.XJS_NewStringLen(v.tls, v.ctx, p, lib.Tsize_t(len(s)))
}

// str returns x as a string.
func (v *vm) str(x value) (string, error) {
	size := v.heap.take(int(unsafe.Sizeof(lib.Tsize_t(0))))
	defer v.heap.release(size)
	p := lib.XJS_ToCStringLen2(v.tls, v.ctx, size, x, 0)
	if p == 0 {
		return "", &thrown{lib.XJS_GetException(v.tls, v.ctx)}
	}
	defer lib.XJS_FreeCString(v.tls, v.ctx, p)
	return string(goBytes(p, int(*at[lib.Tsize_t](size)))), nil
}

// bytes makes a Uint8Array with a copy of b.
func (v *vm) bytes(b []byte) value {
	p := v.cBytes(b)
	defer v.heap.release(p)
	buffer := lib.XJS_NewArrayBufferCopy(v.tls, v.ctx, p, lib.Tsize_t(len(b)))
	if tag(buffer) == lib.EJS_TAG_EXCEPTION {
		return buffer
	}
	return v.view(buffer, lib.EJS_TYPED_ARRAY_UINT8)
}

// view takes over an ArrayBuffer.
func (v *vm) view(buffer value, kind int32) value {
	argv := v.heap.take(3 * valueSize)
	defer v.heap.release(argv)
	args := span[value](argv, 3)
	args[0], args[1], args[2] = buffer, undefined(), undefined()
	defer v.free(buffer)
	return lib.XJS_NewTypedArray(v.tls, v.ctx, 1, argv, kind)
}

// shared makes a Float64Array over memory that Go reads as it is, for as long as the vm lives.
func (v *vm) shared(n int) ([]float64, value) {
	p := v.heap.take(8 * n)
	floats := span[float64](p, n)
	clear(floats)
	buffer := lib.XJS_NewArrayBuffer(v.tls, v.ctx, p, lib.Tsize_t(8*n), 0, 0, 0)
	return floats, v.view(buffer, lib.EJS_TYPED_ARRAY_FLOAT64)
}

// binary returns a copy of what an ArrayBuffer or a view holds, and whether x is one.
func (v *vm) binary(x value) ([]byte, bool) {
	sizes := v.heap.take(3 * int(unsafe.Sizeof(lib.Tsize_t(0))))
	defer v.heap.release(sizes)
	n := span[lib.Tsize_t](sizes, 3)
	if p := lib.XJS_GetArrayBuffer(v.tls, v.ctx, sizes, x); p != 0 {
		return goBytes(p, int(n[0])), true
	}
	v.forget()
	const word = unsafe.Sizeof(lib.Tsize_t(0))
	buffer, err := v.result(lib.XJS_GetTypedArrayBuffer(v.tls, v.ctx, x, sizes, sizes+word, 0))
	if err != nil {
		v.drop(err)
		return v.dataView(x)
	}
	defer v.free(buffer)
	offset, length := n[0], n[1]
	p := lib.XJS_GetArrayBuffer(v.tls, v.ctx, sizes+2*word, buffer)
	if p == 0 {
		v.forget()
		return []byte{}, true
	}
	return goBytes(p+uintptr(offset), int(length)), true
}

// dataView returns a copy of what a DataView shows, and whether x is one.
func (v *vm) dataView(x value) ([]byte, bool) {
	if tag(x) != lib.EJS_TAG_OBJECT || at[lib.TJSObject](pointerOf(x)).Fclass_id != lib.EJS_CLASS_DATAVIEW {
		return nil, false
	}
	view := *(**lib.TJSTypedArray)(unsafe.Pointer(&at[lib.TJSObject](pointerOf(x)).Fu))
	all, _ := v.binary(payload(lib.EJS_TAG_OBJECT, uint64(view.Fbuffer)))
	start, end := int(view.Foffset), int(view.Foffset)+int(view.Flength)
	if view.Ftrack_rab != 0 {
		end = max(start, len(all))
	}
	if end > len(all) {
		return []byte{}, true
	}
	return all[start:end], true
}

// forget drops a pending exception.
func (v *vm) forget() { v.free(lib.XJS_GetException(v.tls, v.ctx)) }

func (v *vm) memory() int { return v.heap.used }

func (v *vm) isArray(x value) bool    { return lib.XJS_IsArray(v.tls, v.ctx, x) == 1 }
func (v *vm) isFunction(x value) bool { return lib.XJS_IsFunction(v.tls, v.ctx, x) != 0 }

// keys returns the names of an object's own enumerable properties.
func (v *vm) keys(x value) ([]string, error) {
	out := v.heap.take(2 * int(unsafe.Sizeof(uintptr(0))))
	defer v.heap.release(out)
	const flags = lib.MJS_GPN_STRING_MASK | lib.MJS_GPN_ENUM_ONLY
	count := out + unsafe.Sizeof(uintptr(0))
	if lib.XJS_GetOwnPropertyNames(v.tls, v.ctx, out, count, x, flags) < 0 {
		return nil, &thrown{lib.XJS_GetException(v.tls, v.ctx)}
	}
	table, n := *at[uintptr](out), *at[uint32](count)
	defer lib.XJS_FreePropertyEnum(v.tls, v.ctx, table, n)
	var names []string
	for _, p := range span[lib.TJSPropertyEnum](table, n) {
		name := lib.XJS_AtomToString(v.tls, v.ctx, p.Fatom)
		s, err := v.str(name)
		v.free(name)
		if err != nil {
			return nil, err
		}
		names = append(names, s)
	}
	return names, nil
}

// json makes a value of JSON.
func (v *vm) json(text []byte) (value, error) {
	p, name := v.cString(string(text)), v.cString("JSON")
	defer v.heap.release(p)
	defer v.heap.release(name)
	return v.result(lib.XJS_ParseJSON(v.tls, v.ctx, p, lib.Tsize_t(len(text)), name))
}

func (v *vm) cString(s string) uintptr {
	p := v.heap.take(len(s) + 1)
	b := span[byte](p, len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	return p
}

func (v *vm) cBytes(b []byte) uintptr {
	p := v.heap.take(max(1, len(b)))
	copy(span[byte](p, len(b)), b)
	return p
}

func goBytes(p uintptr, n int) []byte {
	b := make([]byte, n)
	copy(b, span[byte](p, n))
	return b
}

// at is what C has at an address. The address is not Go's memory, of which nothing may be assumed.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func span[T any, N int | int32 | uint32](p uintptr, n N) []T { return unsafe.Slice(at[T](p), n) }

// The layout of a value on machines of 64 bits.

const valueSize = int(unsafe.Sizeof(value{}))

func tag(x value) int32         { return int32(x.Ftag) }
func pointerOf(x value) uintptr { return *(*uintptr)(unsafe.Pointer(&x)) }
func undefined() value          { return value{Ftag: lib.EJS_TAG_UNDEFINED} }
func intOf(x value) int32       { return int32(*(*uint64)(unsafe.Pointer(&x))) }
func floatOf(x value) float64   { return *(*float64)(unsafe.Pointer(&x)) }
func boolean(b bool) (x value) {
	return payload(lib.EJS_TAG_BOOL, uint64(*(*byte)(unsafe.Pointer(&b))))
}

func number(f float64) value {
	if i := int32(f); float64(i) == f && (i != 0 || !math.Signbit(f)) {
		return payload(lib.EJS_TAG_INT, uint64(uint32(i)))
	}
	return payload(lib.EJS_TAG_FLOAT64, math.Float64bits(f))
}

func payload(tag int64, bits uint64) (x value) {
	*(*uint64)(unsafe.Pointer(&x)) = bits
	x.Ftag = tag
	return x
}
