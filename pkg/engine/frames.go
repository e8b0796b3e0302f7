package engine

import lib "modernc.org/libquickjs"

// QuickJS allocates the variables and arguments of running functions on the stack of libc, whose limit counts slots and
// not bytes: a call uses about one slot, independent of the size of its frame. Therefore the bytes of all frames are
// checked regularly while the stack is deep.

const (
	maxFrameBytes     = 64 << 20 // bytes of the variables and arguments of all running functions
	minCheckedSlots   = 64       // a stack of libc with fewer slots is not checked
	interruptInterval = 200      // function calls and backward jumps between two checks
	maxStackSlots     = lib.MaxStackSlots
)

// limitFrames makes calls of functions fail with a stack overflow while the frames use more than maxFrameBytes. The
// interrupt handler calls it.
func (v *vm) limitFrames() {
	v.setInterruptCounter(interruptInterval)
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
