package engine

import (
	"math"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/memory"
)

// This file contains everything that depends on structures that QuickJS does not publish, on the layout of its values,
// and on memory that Go does not manage. It is the only file of the package that imports unsafe. TestQuickJSLayout
// checks each assumption; run it after a change of the versions below.
const (
	testedQuickJS = "v0.14.0" // of modernc.org/libquickjs
	testedLibc    = "v1.79.0" // of modernc.org/libc
)

// C memory.

// pointerAt returns a pointer to the T at an address of C memory.
func pointerAt[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// sliceAt returns a slice of the n values of type T at an address of C memory.
func sliceAt[T any, N int | int32 | uint32](p uintptr, n N) []T {
	return unsafe.Slice(pointerAt[T](p), n)
}

// sizeOf returns the size of T in bytes.
func sizeOf[T any]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// addressOf returns the address of a slice that sliceAt returned.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// usableSize returns the size in bytes of a block of a memory.Allocator.
func usableSize(p uintptr) int { return memory.UintptrUsableSize(p) }

// cFunction lists the types of Go functions that QuickJS calls.
type cFunction interface {
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

// cPointer returns a C function pointer for f, which is valid until the vm is closed.
func cPointer[F cFunction](v *vm, f F) uintptr {
	v.callbacks = append(v.callbacks, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}

// Values, on 64-bit machines: eight bytes of payload and a tag.

const valueSize = int(unsafe.Sizeof(value{}))

func tag(x value) int32         { return int32(x.Ftag) }
func pointerOf(x value) uintptr { return *(*uintptr)(unsafe.Pointer(&x)) }
func undefined() value          { return value{Ftag: lib.EJS_TAG_UNDEFINED} }
func intOf(x value) int32       { return int32(*(*uint64)(unsafe.Pointer(&x))) }
func floatOf(x value) float64   { return *(*float64)(unsafe.Pointer(&x)) }

func newValue(tag int64, payload uint64) (x value) {
	*(*uint64)(unsafe.Pointer(&x)) = payload
	x.Ftag = tag
	return x
}

func newBool(b bool) value {
	if b {
		return newValue(lib.EJS_TAG_BOOL, 1)
	}
	return newValue(lib.EJS_TAG_BOOL, 0)
}

func newNumber(f float64) value {
	if i := int32(f); float64(i) == f && (i != 0 || !math.Signbit(f)) {
		return newValue(lib.EJS_TAG_INT, uint64(uint32(i)))
	}
	return newValue(lib.EJS_TAG_FLOAT64, math.Float64bits(f))
}

// Fields of JSRuntime and JSContext.

// stackLimit returns the limit set with JS_SetMaxStackSize, in slots of libc's stack.
func (v *vm) stackLimit() lib.Tsize_t { return pointerAt[lib.TJSRuntime](v.rt).Fstack_size }

// gcThreshold returns the memory in bytes above which QuickJS runs its cycle collector before an allocation.
func gcThreshold(rt uintptr) *lib.Tsize_t { return &pointerAt[lib.TJSRuntime](rt).Fmalloc_gc_threshold }

// setInterruptCounter sets the number of function calls and backward jumps until the interrupt handler is called.
func (v *vm) setInterruptCounter(n int32) { pointerAt[lib.TJSContext](v.ctx).Finterrupt_counter = n }

// errorPrototypes are the prototypes of the native error classes, indexed by lib.EJS_EVAL_ERROR and the others.
func (v *vm) errorPrototypes() *[8]value {
	return &pointerAt[lib.TJSContext](v.ctx).Fnative_error_proto
}

// functionPrototype returns Function.prototype, which is borrowed.
func (v *vm) functionPrototype() value { return pointerAt[lib.TJSContext](v.ctx).Ffunction_proto }

// setMallocState adds blocks to the number of allocated blocks in a JSMallocState, and sets their total size in bytes,
// by which QuickJS decides when to run its cycle collector.
func setMallocState(state uintptr, blocks, bytes int) {
	s := pointerAt[lib.TJSMallocState](state)
	s.Fmalloc_count += lib.Tsize_t(blocks)
	s.Fmalloc_size = lib.Tsize_t(bytes)
}

// Objects.

// exoticFlag is the bit is_exotic of an object, which is set in objects whose class has exotic methods.
const exoticFlag = 0x8

// setErrorMethods sets the exotic methods of the class of errors.
func (v *vm) setErrorMethods(methods uintptr) {
	classes := pointerAt[lib.TJSRuntime](v.rt).Fclass_array
	class := pointerAt[lib.TJSClass](classes + lib.EJS_CLASS_ERROR*unsafe.Sizeof(lib.TJSClass{}))
	class.Fexotic = methods
}

// setExotic sets whether QuickJS calls the exotic methods of an object.
func setExotic(obj value, exotic bool) {
	flags := &pointerAt[lib.TJSObject](pointerOf(obj)).F__ccgo16
	*flags &^= exoticFlag
	if exotic {
		*flags |= exoticFlag
	}
}

// dataView returns the buffer of a DataView, and where the view starts and ends in it; ok is false for other values.
// The buffer is borrowed. Of a view that tracks the length of its buffer, end is -1.
func dataView(x value) (buffer value, start, end int, ok bool) {
	if tag(x) != lib.EJS_TAG_OBJECT {
		return buffer, 0, 0, false
	}
	object := pointerAt[lib.TJSObject](pointerOf(x))
	if object.Fclass_id != lib.EJS_CLASS_DATAVIEW {
		return buffer, 0, 0, false
	}
	view := *(**lib.TJSTypedArray)(unsafe.Pointer(&object.Fu))
	buffer = newValue(lib.EJS_TAG_OBJECT, uint64(view.Fbuffer))
	start, end = int(view.Foffset), int(view.Foffset)+int(view.Flength)
	if view.Ftrack_rab != 0 {
		end = -1
	}
	return buffer, start, end, true
}

// Running functions.

// currentFunction returns the function that is running, which is borrowed; undefined when there is none.
func (v *vm) currentFunction() value {
	frame := pointerAt[lib.TJSRuntime](v.rt).Fcurrent_stack_frame
	if frame == 0 {
		return undefined()
	}
	return pointerAt[lib.TJSStackFrame](frame).Fcur_func
}

// frameBytes returns the bytes of the variables and arguments of all running functions.
func (v *vm) frameBytes() int {
	values := 0
	for p := pointerAt[lib.TJSRuntime](v.rt).Fcurrent_stack_frame; p != 0; {
		frame := pointerAt[lib.TJSStackFrame](p)
		values += int(frame.Farg_count)
		if f, ok := functionOf(frame.Fcur_func); ok {
			values += int(f.Fvar_count) + int(f.Fstack_size) + int(f.Farg_count)
		}
		p = frame.Fprev_frame
	}
	return values * valueSize
}

// Bytecode.

// bytecodeFunction is the bytecode of a function.
type bytecodeFunction struct{ *lib.TJSFunctionBytecode }

// functionOf returns the bytecode of a JavaScript function; ok is false for other values.
func functionOf(x value) (f bytecodeFunction, ok bool) {
	if tag(x) != lib.EJS_TAG_OBJECT {
		return f, false
	}
	object := pointerAt[lib.TJSObject](pointerOf(x))
	switch object.Fclass_id {
	case lib.EJS_CLASS_BYTECODE_FUNCTION, lib.EJS_CLASS_GENERATOR_FUNCTION, lib.EJS_CLASS_ASYNC_FUNCTION,
		lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
		code := *(**lib.TJSFunctionBytecode)(unsafe.Pointer(&object.Fu))
		return bytecodeFunction{code}, true
	}
	return f, false
}

// eachFunction visits the function of a compiled script and all functions nested in it, outer functions first.
func eachFunction(script value, visit func(bytecodeFunction)) {
	f := bytecodeFunction{pointerAt[lib.TJSFunctionBytecode](pointerOf(script))}
	visit(f)
	for _, x := range sliceAt[value](f.Fcpool, f.Fcpool_count) {
		if tag(x) == lib.EJS_TAG_FUNCTION_BYTECODE {
			eachFunction(x, visit)
		}
	}
}

// source returns the source text, which is nil when it was removed, in memory of the vm.
func (f bytecodeFunction) source() []byte {
	if f.Fdebug.Fsource == 0 {
		return nil
	}
	return sliceAt[byte](f.Fdebug.Fsource, f.Fdebug.Fsource_len)
}

// removeSource frees the source text and stores a number in the field for its length.
func (f bytecodeFunction) removeSource(v *vm, number int32) {
	lib.Xjs_free(v.tls, v.ctx, f.Fdebug.Fsource)
	f.Fdebug.Fsource, f.Fdebug.Fsource_len = 0, number
}

// number returns the number that removeSource stored; ok is false when the function has a source text, or no number.
func (f bytecodeFunction) number() (n int32, ok bool) {
	return f.Fdebug.Fsource_len, f.Fdebug.Fsource == 0 && f.Fdebug.Fsource_len != 0
}

func (f bytecodeFunction) setSource(v *vm, text []byte) {
	p := lib.Xjs_malloc(v.tls, v.ctx, lib.Tsize_t(len(text)))
	copy(sliceAt[byte](p, len(text)), text)
	f.Fdebug.Fsource, f.Fdebug.Fsource_len = p, int32(len(text))
}
