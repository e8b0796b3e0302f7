// Package bundle bundles a script and everything that it imports to one JavaScript file, and caches the result. A Cache
// is safe for concurrent use, also by several processes on one directory.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// format is part of cache keys. Change it when the output for the same input changes.
const format = "6"

// Target is what runs a bundle.
type Target int

const (
	// Embedded is the embedded engine. The code is an async function in strict mode, which is called once. Its argument
	// is a function that returns a module of node, given its name and the importing file.
	Embedded Target = iota
	// Node is node. The code is an ES module in a file of the cache.
	Node
	// Bun is bun. The code is that of Node, and may import modules of bun.
	Bun
)

func (t Target) String() string { return [...]string{"embedded", "node", "bun"}[t] }

// Bundle is a bundled script.
type Bundle struct {
	Script string // absolute path of the script
	Code   []byte
	Key    string // hash of Code
	File   string // for Node and Bun: the file that contains Code

	sourceMap func() []byte
	temporary string // directory that Close removes
}

// SourceMap returns the source map (version 3) of the code. Its sources are absolute paths, or file URLs for Node. It
// is nil when the cache has lost it.
func (b *Bundle) SourceMap() []byte { return b.sourceMap() }

// Close removes files of the bundle outside of the cache.
func (b *Bundle) Close() error {
	if b.temporary == "" {
		return nil
	}
	return os.RemoveAll(b.temporary)
}

// Cache bundles scripts and caches the results.
type Cache struct {
	store        store
	recent       recentData
	buildTimeout time.Duration
	lookups      singleflight.Group // by target and source, because several servers may start the same script

	mu    sync.Mutex
	locks map[string]chan struct{} // by target and source: a bundle is built once at a time
}

// buildTimeout is much longer than the build of a large script takes.
const buildTimeout = 2 * time.Minute

// Open returns the cache in a directory, which is created when something is stored. With "" nothing is stored.
func Open(dir string) *Cache {
	return &Cache{store: store{dir: dir}, buildTimeout: buildTimeout, locks: map[string]chan struct{}{}}
}

// Bundle returns the bundle of a script, from the cache or built. Errors are *fault.Error, with the position, the cause
// and the chain of imports. It returns when the context is done, even if a special file blocks esbuild.
func (c *Cache) Bundle(ctx context.Context, script string, target Target) (*Bundle, error) {
	script, err := filepath.Abs(script)
	if err != nil {
		return nil, fault.Wrap(fault.Server, err, "name the script by its absolute path", "find the script")
	}
	return c.bundle(ctx, source{path: script}, target)
}

// source is what is bundled: the script in a file, or a generated one.
type source struct {
	path  string // absolute
	entry *Entry // nil for a file
}

// id distinguishes the source from all others.
func (s source) id() string {
	if s.entry == nil {
		return s.path
	}
	return s.path + "\x00" + s.entry.sum()
}

func (c *Cache) bundle(ctx context.Context, src source, target Target) (*Bundle, error) {
	name := target.String() + src.id()
	select {
	case found := <-c.lookups.DoChan(name, func() (any, error) { return c.lookup(src, target), nil }):
		if b, _ := found.Val.(*Bundle); b != nil {
			return b, nil
		}
	case <-ctx.Done():
		return nil, cancelledError(ctx, src.path)
	}
	lock := c.lock(name)
	select {
	case lock <- struct{}{}:
		defer func() { <-lock }()
	case <-ctx.Done():
		return nil, cancelledError(ctx, src.path)
	}
	if ctx.Err() != nil {
		return nil, cancelledError(ctx, src.path)
	}
	if b := c.lookup(src, target); b != nil {
		return b, nil
	}
	limited, cancel := context.WithTimeout(ctx, c.buildTimeout)
	defer cancel()
	output, err := c.build(limited, src, target)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		hint := "check whether a file that it imports, or a package.json or tsconfig.json, is a pipe or a device"
		return nil, fault.New(fault.Server, hint, "bundling %s timed out after %s", src.path, c.buildTimeout)
	}
	if err != nil {
		return nil, err
	}
	return c.save(src, target, output)
}

func (c *Cache) build(ctx context.Context, src source, target Target) (*bundleOutput, error) {
	if src.entry != nil {
		return c.buildEntry(ctx, src.entry, target)
	}
	b, err := newFileBuilder(src.path, target)
	if err != nil {
		return nil, err
	}
	return b.build(ctx)
}

func cancelledError(ctx context.Context, script string) error {
	return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "bundle "+script)
}

func (c *Cache) lock(name string) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks[name] == nil {
		c.locks[name] = make(chan struct{}, 1)
	}
	return c.locks[name]
}

// Load returns the data of a key, which the caller must not modify. If there is none, it calls create, stores the
// result and returns it. Errors are returned and not stored. Of concurrent calls with the same key one calls create,
// and the others wait for it, until their context is done.
func (c *Cache) Load(ctx context.Context, key string, create func() ([]byte, error)) ([]byte, error) {
	return c.recent.load(ctx, key, func() (data []byte, isNew bool, err error) {
		if data, ok := c.store.get(key); ok {
			return data, false, nil
		}
		data, err = create()
		return data, true, err
	}, func(data []byte) { c.store.put(key, data) })
}

// Size returns the number of files in the cache and their total size in bytes.
func (c *Cache) Size() (files int, bytes int64, err error) { return c.store.size() }

// Clean removes all files of the cache.
func (c *Cache) Clean() error { return c.store.clean() }

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
