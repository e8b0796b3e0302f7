package bundle

import (
	"context"
	"sync"
)

// maxRecentSize limits the bytes that recentData holds. The bytecode of a server with packages has about 3 MB.
const maxRecentSize = 32 << 20

// recentData holds data in memory, so that several engines with the same script read or compile it once. The zero value
// is ready for use. A singleflight.Group would pass a panic of create, by which an engine stops, on to the engines that
// wait.
type recentData struct {
	mu      sync.Mutex
	entries map[string]*recentEntry
	size    int // bytes of the data of entries that are done
}

// recentEntry is the data of a key.
type recentEntry struct {
	done chan struct{} // closed when data is set, or loading it has failed
	data []byte
	ok   bool
}

// load returns the data of a key. If there is none, it calls create, or waits for another call that does. When create
// returns new data, save is called with it after other calls have received it.
func (r *recentData) load(
	ctx context.Context, key string, create func() (data []byte, isNew bool, err error), save func([]byte),
) ([]byte, error) {
	for {
		entry, created := r.entry(key)
		if created {
			return r.fill(key, entry, create, save)
		}
		select {
		case <-entry.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if entry.ok {
			return entry.data, nil
		}
	}
}

// entry returns the entry of a key, and whether it was created, so that the caller has to fill it.
func (r *recentData) entry(key string) (entry *recentEntry, created bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if entry = r.entries[key]; entry != nil {
		return entry, false
	}
	if r.entries == nil {
		r.entries = map[string]*recentEntry{}
	}
	entry = &recentEntry{done: make(chan struct{})}
	r.entries[key] = entry
	return entry, true
}

func (r *recentData) fill(
	key string, entry *recentEntry, create func() (data []byte, isNew bool, err error), save func([]byte),
) (data []byte, err error) {
	isNew, ok := false, false
	defer func() { // also when create panics
		r.finish(key, entry, data, ok)
		if ok && isNew {
			save(data)
		}
	}()
	data, isNew, err = create()
	ok = err == nil
	return data, err
}

// finish completes an entry. It removes an entry that has no data, and all others when they become too large.
func (r *recentData) finish(key string, entry *recentEntry, data []byte, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry.data, entry.ok = data, ok
	close(entry.done)
	if !ok || len(data) > maxRecentSize {
		delete(r.entries, key)
		return
	}
	if r.size += len(data); r.size <= maxRecentSize {
		return
	}
	for other, e := range r.entries {
		if e != entry && e.ok {
			delete(r.entries, other)
		}
	}
	r.size = len(data)
}
