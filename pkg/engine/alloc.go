package engine

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/memory"
)

// A heap is the memory of one vm, outside of Go's. It counts against the limit what JavaScript asks for.
type heap struct {
	pages memory.Allocator
	used  int // bytes
	limit int // bytes
	rt    uintptr
	check func()
	full  func() // called when the limit is hit; it does not return
}

// functions returns the table that QuickJS takes its memory from.
func (h *heap) functions(v *vm) uintptr {
	table := h.take(int(unsafe.Sizeof(lib.TJSMallocFunctions{})))
	*at[lib.TJSMallocFunctions](table) = lib.TJSMallocFunctions{
		Fjs_malloc: pointer(v, func(_ *libc.TLS, state uintptr, size lib.Tsize_t) uintptr {
			p := h.take(int(size))
			h.count(state, 1)
			return p
		}),
		Fjs_free: pointer(v, func(_ *libc.TLS, state, p uintptr) {
			if p != 0 {
				h.release(p)
				h.count(state, -1)
			}
		}),
		Fjs_realloc: pointer(v, func(_ *libc.TLS, state, p uintptr, size lib.Tsize_t) uintptr {
			return h.resize(state, p, int(size))
		}),
		Fjs_malloc_usable_size: pointer(v, func(_ *libc.TLS, p uintptr) lib.Tsize_t {
			return lib.Tsize_t(memory.UintptrUsableSize(p))
		}),
	}
	return table
}

// count keeps the books by which QuickJS decides when to look for cycles.
func (h *heap) count(state uintptr, blocks int) {
	s := at[lib.TJSMallocState](state)
	s.Fmalloc_count += lib.Tsize_t(blocks)
	s.Fmalloc_size = lib.Tsize_t(h.used)
	if h.rt != 0 {
		h.pace(&at[lib.TJSRuntime](h.rt).Fmalloc_gc_threshold)
	}
}

// pace has QuickJS look for cycles before the limit is hit. It has just looked when it wants to look again beyond the limit, at one and
// a half times of what was left; if that was nearly all, looking again and again would only take long.
func (h *heap) pace(threshold *lib.Tsize_t) {
	if last := h.limit / 16 * 15; int(*threshold) > last {
		if int(*threshold)/3*2 > h.limit/8*7 {
			h.full()
		}
		*threshold = lib.Tsize_t(last)
	}
}

func (h *heap) take(size int) uintptr {
	h.check()
	h.room(size)
	p, err := h.pages.UintptrMalloc(max(1, size))
	if err != nil || p == 0 {
		h.full()
	}
	h.used += memory.UintptrUsableSize(p)
	return p
}

func (h *heap) release(p uintptr) {
	h.used -= memory.UintptrUsableSize(p)
	_ = h.pages.UintptrFree(p)
}

func (h *heap) resize(state, p uintptr, size int) uintptr {
	h.check()
	before, blocks := 0, 1
	if p != 0 {
		before, blocks = memory.UintptrUsableSize(p), 0
	}
	if size == 0 {
		if p != 0 {
			h.release(p)
			h.count(state, -1)
		}
		return 0
	}
	h.room(size - before)
	q, err := h.pages.UintptrRealloc(p, size)
	if err != nil || q == 0 {
		h.full()
	}
	h.used += memory.UintptrUsableSize(q) - before
	h.count(state, blocks)
	return q
}

// room ends the engine if that many bytes more do not fit.
func (h *heap) room(size int) {
	if size > h.limit-h.used {
		h.full()
	}
}

// borrow counts what Go holds for JavaScript.
func (h *heap) borrow(size int) {
	h.room(size)
	h.used += size
}

func (h *heap) close() { _ = h.pages.Close() }
