package engine

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// The variables and arguments of running functions are memory that QuickJS takes from libc: a call has about one slot of its stack,
// whatever it holds, and only slots are counted. So what the frames hold is looked at now and then while the stack is deep.

const (
	maxFrames  = 64 << 20 // bytes that all running functions' variables and arguments may have
	fewSlots   = 64       // of libc's stack: frames so few are not worth a look
	fewPolls   = 200      // calls and jumps backwards between two looks
	slotsOfAll = lib.MaxStackSlots
)

// boundFrames lets no function be called while those that run hold too much. It is called by the interrupt handler.
func (v *vm) boundFrames() {
	at[lib.TJSContext](v.ctx).Finterrupt_counter = fewPolls
	slots := v.tls.StackSlots()
	switch {
	case slots >= fewSlots && v.frames() > maxFrames:
		v.tight = true
		lib.XJS_SetMaxStackSize(v.tls, v.rt, lib.Tsize_t(slots))
	case v.tight:
		v.tight = false
		lib.XJS_SetMaxStackSize(v.tls, v.rt, slotsOfAll)
	}
}

// frames is how many bytes the running functions' variables and arguments have.
func (v *vm) frames() int {
	sum := 0
	for p := at[lib.TJSRuntime](v.rt).Fcurrent_stack_frame; p != 0; p = at[lib.TJSStackFrame](p).Fprev_frame {
		frame := at[lib.TJSStackFrame](p)
		values := int(frame.Farg_count)
		if code := bytecodeOf(frame.Fcur_func); code != nil {
			values += int(code.Fvar_count) + int(code.Fstack_size) + int(code.Farg_count)
		}
		sum += values * valueSize
	}
	return sum
}

// bytecodeOf is nil for what is no function of JavaScript's.
func bytecodeOf(f value) *lib.TJSFunctionBytecode {
	if tag(f) != lib.EJS_TAG_OBJECT {
		return nil
	}
	object := at[lib.TJSObject](pointerOf(f))
	switch object.Fclass_id {
	case lib.EJS_CLASS_BYTECODE_FUNCTION, lib.EJS_CLASS_GENERATOR_FUNCTION, lib.EJS_CLASS_ASYNC_FUNCTION, lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
		return at[lib.TJSFunctionBytecode](*at[uintptr](pointerOf(f) + unsafe.Offsetof(object.Fu)))
	}
	return nil
}
