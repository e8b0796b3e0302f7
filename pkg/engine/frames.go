package engine

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// QuickJS allocates the variables and arguments of running functions on the stack of libc, whose limit counts slots and
// not bytes: a call uses about one slot, whatever its frame holds. Therefore the bytes of all frames are checked
// regularly while the stack is deep.

const (
	maxFrameBytes     = 64 << 20 // bytes of the variables and arguments of all running functions
	minCheckedSlots   = 64       // a stack of libc with fewer slots is not checked
	interruptInterval = 200      // function calls and backward jumps between two checks
	maxStackSlots     = lib.MaxStackSlots
)

// limitFrames makes calls of functions fail with a stack overflow while the frames use more than maxFrameBytes. The
// interrupt handler calls it.
func (v *vm) limitFrames() {
	pointerAt[lib.TJSContext](v.ctx).Finterrupt_counter = interruptInterval
	slots := v.tls.StackSlots()
	switch {
	case slots >= minCheckedSlots && v.frameBytes() > maxFrameBytes:
		v.callsBlocked = true
		lib.XJS_SetMaxStackSize(v.tls, v.rt, lib.Tsize_t(slots))
	case v.callsBlocked:
		v.callsBlocked = false
		lib.XJS_SetMaxStackSize(v.tls, v.rt, maxStackSlots)
	}
}

// frameBytes returns the bytes of the variables and arguments of all running functions.
func (v *vm) frameBytes() int {
	sum := 0
	for p := pointerAt[lib.TJSRuntime](v.rt).Fcurrent_stack_frame; p != 0; p = pointerAt[lib.TJSStackFrame](p).Fprev_frame {
		frame := pointerAt[lib.TJSStackFrame](p)
		values := int(frame.Farg_count)
		if code := bytecodeOf(frame.Fcur_func); code != nil {
			values += int(code.Fvar_count) + int(code.Fstack_size) + int(code.Farg_count)
		}
		sum += values * valueSize
	}
	return sum
}

// bytecodeOf returns the bytecode of a JavaScript function; nil for other values.
func bytecodeOf(f value) *lib.TJSFunctionBytecode {
	if tag(f) != lib.EJS_TAG_OBJECT {
		return nil
	}
	object := pointerAt[lib.TJSObject](pointerOf(f))
	switch object.Fclass_id {
	case lib.EJS_CLASS_BYTECODE_FUNCTION, lib.EJS_CLASS_GENERATOR_FUNCTION, lib.EJS_CLASS_ASYNC_FUNCTION, lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
		return pointerAt[lib.TJSFunctionBytecode](*pointerAt[uintptr](pointerOf(f) + unsafe.Offsetof(object.Fu)))
	}
	return nil
}
