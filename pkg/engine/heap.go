package engine

import (
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/memory"
)

// A heap is the memory of one vm, outside of Go's heap, with a limit.
type heap struct {
	allocator    memory.Allocator
	used         int // bytes
	limit        int // bytes
	rt           uintptr
	checkStopped func()
	outOfMemory  func() // called when the limit is exceeded; it does not return
}

// mallocFunctions returns the C table of functions that QuickJS allocates with.
func (h *heap) mallocFunctions(v *vm) uintptr {
	table := h.allocate(sizeOf[lib.TJSMallocFunctions]())
	*pointerAt[lib.TJSMallocFunctions](table) = lib.TJSMallocFunctions{
		Fjs_malloc: cPointer(v, func(_ *libc.TLS, state uintptr, size lib.Tsize_t) uintptr {
			p := h.allocate(int(size))
			h.updateMallocState(state, 1)
			return p
		}),
		Fjs_free: cPointer(v, func(_ *libc.TLS, state, p uintptr) {
			if p != 0 {
				h.free(p)
				h.updateMallocState(state, -1)
			}
		}),
		Fjs_realloc: cPointer(v, func(_ *libc.TLS, state, p uintptr, size lib.Tsize_t) uintptr {
			return h.reallocate(state, p, int(size))
		}),
		Fjs_malloc_usable_size: cPointer(v, func(_ *libc.TLS, p uintptr) lib.Tsize_t {
			return lib.Tsize_t(usableSize(p))
		}),
	}
	return table
}

// updateMallocState updates the counters by which QuickJS decides when to run its cycle collector.
func (h *heap) updateMallocState(state uintptr, blocks int) {
	setMallocState(state, blocks, h.used)
	if h.rt != 0 {
		h.capGCThreshold(gcThreshold(h.rt))
	}
}

// capGCThreshold makes QuickJS collect cycles before the limit is exceeded. After a collection QuickJS sets the
// threshold to one and a half times the memory that is left; if that was nearly the limit, the engine is out of memory,
// because collecting again and again would free little and take long.
func (h *heap) capGCThreshold(threshold *lib.Tsize_t) {
	if last := h.limit / 16 * 15; int(*threshold) > last {
		if int(*threshold)/3*2 > h.limit/8*7 {
			h.outOfMemory()
		}
		*threshold = lib.Tsize_t(last)
	}
}

func (h *heap) allocate(size int) uintptr {
	h.checkStopped()
	h.checkLimit(size)
	p, err := h.allocator.UintptrMalloc(max(1, size))
	if err != nil || p == 0 {
		h.outOfMemory()
	}
	h.used += usableSize(p)
	return p
}

func (h *heap) free(p uintptr) {
	h.used -= usableSize(p)
	_ = h.allocator.UintptrFree(p)
}

func (h *heap) reallocate(state, p uintptr, size int) uintptr {
	h.checkStopped()
	before, blocks := 0, 1
	if p != 0 {
		before, blocks = usableSize(p), 0
	}
	if size == 0 {
		if p != 0 {
			h.free(p)
			h.updateMallocState(state, -1)
		}
		return 0
	}
	h.checkLimit(size - before)
	q, err := h.allocator.UintptrRealloc(p, size)
	if err != nil || q == 0 {
		h.outOfMemory()
	}
	h.used += usableSize(q) - before
	h.updateMallocState(state, blocks)
	return q
}

// checkLimit calls outOfMemory if size more bytes exceed the limit.
func (h *heap) checkLimit(size int) {
	if size > h.limit-h.used {
		h.outOfMemory()
	}
}

// reserve counts memory that Go holds for JavaScript.
func (h *heap) reserve(size int) {
	h.checkLimit(size)
	h.used += size
}

func (h *heap) close() { _ = h.allocator.Close() }
