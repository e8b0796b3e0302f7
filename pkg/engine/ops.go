package engine

import (
	"context"
	"maps"
)

// An op is an operation that JavaScript calls. A synchronous operation runs on the main goroutine and must not block.
// An asynchronous one runs on a goroutine of its own and keeps the engine running; it must return soon after its
// context is done.
type op func(c *call) (any, error)

// A call is one call of an operation. Binary arguments of a synchronous operation are memory of the script: the
// operation must not modify them, and not use them after it has returned.
type call struct {
	*Engine
	ctx  context.Context //nolint:containedctx // of one operation; cancelled when the engine stops
	args []any

	async    bool
	reserved int // bytes reserved by the main goroutine
	shared   int // bytes reserved by the goroutine of an asynchronous operation
}

// reserve counts n bytes that the operation is about to allocate in Go. They are released when its result has been
// copied to JavaScript. Exceeding the memory limit stops the engine and does not return.
func (c *call) reserve(n int) {
	if c.async {
		c.vm.heap.reserveShared(n)
		c.shared += n
		return
	}
	c.vm.heap.reserve(n)
	c.reserved += n
}

// finish releases what the call has reserved. It is called on the main goroutine.
func (c *call) finish() {
	c.vm.heap.release(c.reserved)
	c.vm.heap.releaseShared(c.shared)
	c.reserved, c.shared = 0, 0
}

// A hostError is an error that is thrown as a JavaScript error with these properties.
type hostError struct {
	Name    string // a global error class; empty: Error
	Code    string // empty: none
	Message string
	Props   map[string]any // such as errno, syscall and path
}

func (h *hostError) Error() string { return h.Message }

// opTable has operations by name.
type opTable map[string]op

// operations returns the operations that JavaScript can call, in the sandbox or outside. No others can be called.
func operations(sandbox bool) (syncOps, asyncOps opTable) {
	syncOps, asyncOps = opTable{}, opTable{}
	for _, group := range operationGroups(sandbox) {
		s, a := group()
		maps.Copy(syncOps, s)
		maps.Copy(asyncOps, a)
	}
	return syncOps, asyncOps
}

// operationGroups returns the groups of operations. The sandbox has no files and no servers, and its requests only
// reach the callback handler.
func operationGroups(sandbox bool) []func() (syncOps, asyncOps opTable) {
	both := []func() (opTable, opTable){processOps, intlOps, encodingOps, urlOps, cryptoOps, zlibOps, fetchOps}
	if sandbox {
		return both
	}
	return append(both, fileOps, serverOps, dnsOps, osOps)
}
