// Package bundle makes one JavaScript text of a script and everything that it imports, and remembers what it made. It refuses to
// know who runs the text. A Cache is safe for concurrent use, also by several processes on one folder.
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

// format changes when texts are made differently from the same inputs.
const format = "4"

// Target says who will run the text.
type Target int

const (
	// Embedded is an async function in strict mode that takes one argument, the function that gives it a module of node's by
	// name and importing file, and is called once.
	Embedded Target = iota
	// Node is an ES module in a file of the cache, which imports modules of node itself.
	Node
)

func (t Target) String() string { return [...]string{"embedded", "node"}[t] }

// Bundle is the text of a script.
type Bundle struct {
	Script string // absolute path of the script
	Code   []byte // the text
	Key    string // names the text: other texts have other keys
	File   string // for Node: where the text is

	sourceMap func() []byte
	temporary string // folder that Close removes
}

// SourceMap returns where each piece of the text comes from, as a source map of version 3 whose sources are absolute paths
// (for Node: file URLs); nil when it is lost.
func (b *Bundle) SourceMap() []byte { return b.sourceMap() }

// Close removes what the bundle has outside the cache.
func (b *Bundle) Close() error {
	if b.temporary == "" {
		return nil
	}
	return os.RemoveAll(b.temporary)
}

// Cache makes bundles and remembers them.
type Cache struct {
	store    store
	patience time.Duration      // with one text
	recalls  singleflight.Group // by script and target: servers of one script start at once, and share what is looked at

	mu    sync.Mutex
	locks map[string]chan struct{} // by script and target: nobody makes what another is making
}

// patience is more than the largest script needs on the slowest machine.
const patience = 2 * time.Minute

// Open returns the cache in a folder, which appears with the first thing remembered; "" remembers nothing.
func Open(dir string) *Cache {
	return &Cache{store: store{dir: dir}, patience: patience, locks: map[string]chan struct{}{}}
}

// Bundle returns the text of a script, remembered or made anew. Errors are *fault.Error and name place, cause and the chain of
// imports. It returns when its context ends, even if a file that is no file keeps the bundler waiting.
func (c *Cache) Bundle(ctx context.Context, script string, target Target) (*Bundle, error) {
	script, err := filepath.Abs(script)
	if err != nil {
		return nil, fault.Wrap(fault.Server, err, "name the script by its absolute path", "find the script")
	}
	name := target.String() + script
	select {
	case recalled := <-c.recalls.DoChan(name, func() (any, error) { return c.recall(script, target), nil }):
		if b, _ := recalled.Val.(*Bundle); b != nil {
			return b, nil
		}
	case <-ctx.Done():
		return nil, cancelled(ctx, script)
	}
	lock := c.lock(name)
	select {
	case lock <- struct{}{}:
		defer func() { <-lock }()
	case <-ctx.Done():
		return nil, cancelled(ctx, script)
	}
	if ctx.Err() != nil {
		return nil, cancelled(ctx, script)
	}
	if b := c.recall(script, target); b != nil {
		return b, nil
	}
	limited, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	made, err := build(limited, script, target)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, fault.New(fault.Server, "look for a pipe or a device among what it imports, and the package.json and tsconfig.json files there",
			"bundling %s takes more than %s", script, c.patience)
	}
	if err != nil {
		return nil, err
	}
	return c.remember(script, target, made)
}

func cancelled(ctx context.Context, script string) error {
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

// Get returns a small thing that was Put under a key, and whether it is there, whole.
func (c *Cache) Get(key string) ([]byte, bool) { return c.store.get(key) }

// Put remembers data under a key. A failure is silent.
func (c *Cache) Put(key string, data []byte) { c.store.put(key, data) }

// Size returns how many files the cache has, and their bytes.
func (c *Cache) Size() (files int, bytes int64, err error) { return c.store.size() }

// Clean empties the cache.
func (c *Cache) Clean() error { return c.store.clean() }

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
