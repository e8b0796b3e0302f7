package engine

import (
	"runtime"
	"sync/atomic"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/memory"
)

// A heap counts the memory of one engine against its limit: the memory of QuickJS, which is outside of Go's heap, and
// the memory that Go allocates for the script. Unless it is documented otherwise, its methods are called on the main
// goroutine.
type heap struct {
	allocator    memory.Allocator
	limit        int // bytes
	rt           uintptr
	checkStopped func()
	outOfMemory  func() // called when the limit is exceeded, on any goroutine; it does not return
	collect      func() // runs the cycle collector of QuickJS

	used   int          // bytes that were allocated or reserved by the main goroutine
	shared atomic.Int64 // bytes that were reserved by other goroutines

	published     atomic.Int64 // used, for other goroutines
	lastPublished int

	garbage atomic.Int64 // bytes that were released since the last collection of garbage
}

const (
	// publishStep is by how many bytes published may differ from used.
	publishStep = 1 << 20
	// checkedSize is the size in bytes from which an allocation is checked against the limit before it is made. Smaller
	// ones are checked afterwards.
	checkedSize = 64 << 10
)

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
	setMallocState(state, blocks, h.total())
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
	if size >= checkedSize {
		h.checkLimit(size)
	}
	p, err := h.allocator.UintptrMalloc(max(1, size))
	if err != nil || p == 0 {
		h.outOfMemory()
	}
	h.add(usableSize(p))
	h.checkLimit(0)
	return p
}

func (h *heap) free(p uintptr) {
	h.add(-usableSize(p))
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
	if size > before { // the block is copied, so that there are two for a moment
		h.checkLimit(size)
	}
	q, err := h.allocator.UintptrRealloc(p, size)
	if err != nil || q == 0 {
		h.outOfMemory()
	}
	h.add(usableSize(q) - before)
	h.updateMallocState(state, blocks)
	return q
}

// total returns the bytes that count against the limit.
func (h *heap) total() int { return h.used + int(h.shared.Load()) }

// checkLimit calls outOfMemory if size more bytes exceed the limit.
func (h *heap) checkLimit(size int) {
	if size > h.limit-h.total() {
		h.outOfMemory()
	}
}

func (h *heap) add(size int) {
	h.used += size
	if d := h.used - h.lastPublished; d > publishStep || d < -publishStep {
		h.lastPublished = h.used
		h.published.Store(int64(h.used))
	}
}

// reserve counts memory that Go is about to allocate for the script. Unlike allocate, it may collect cycles first.
func (h *heap) reserve(size int) {
	if size > h.limit-h.total() && size <= h.limit {
		h.collect()
	}
	h.checkLimit(size)
	h.add(size)
}

// release reverses reserve.
func (h *heap) release(size int) {
	h.add(-size)
	h.addGarbage(size)
}

// reserveShared does what reserve does, on any goroutine, but does not collect cycles.
func (h *heap) reserveShared(size int) {
	if h.shared.Add(int64(size))+h.published.Load() > int64(h.limit) {
		h.outOfMemory()
	}
}

// releaseShared reverses reserveShared, on any goroutine.
func (h *heap) releaseShared(size int) {
	h.shared.Add(-int64(size))
	h.addGarbage(size)
}

func (h *heap) close() { _ = h.allocator.Close() }

// maxGarbage is the number of bytes that an engine may release until Go's garbage is collected. Go's collector itself
// allows as much garbage as there is other memory, so that a script which lets Go hold half of its limit would need
// more than its limit.
const maxGarbage = 64 << 20

// addGarbage counts released memory, and collects garbage when it is much. It may be called on any goroutine.
func (h *heap) addGarbage(size int) {
	if size > 0 && h.garbage.Add(int64(size)) > maxGarbage {
		h.garbage.Store(0)
		runtime.GC()
	}
}
