package engine

import (
	"context"
	"maps"
)

// A syncOp runs on the main goroutine. It must not block.
type syncOp func(e *Engine, args []any) (any, error)

// An asyncOp runs on a goroutine of its own and keeps the engine running. It must return soon after ctx is done.
type asyncOp func(ctx context.Context, e *Engine, args []any) (any, error)

// A hostError is an error that is thrown as a JavaScript error with these properties.
type hostError struct {
	Name    string // a global error class; empty: Error
	Code    string // empty: none
	Message string
	Props   map[string]any // such as errno, syscall and path
}

func (h *hostError) Error() string { return h.Message }

// operations returns the operations that JavaScript can call, in the sandbox or outside. No others can be called.
func operations(sandbox bool) (map[string]syncOp, map[string]asyncOp) {
	ops, jobs := map[string]syncOp{}, map[string]asyncOp{}
	for _, group := range operationGroups(sandbox) {
		o, j := group()
		maps.Copy(ops, o)
		maps.Copy(jobs, j)
	}
	return ops, jobs
}

// operationGroups returns the groups of operations. The sandbox has no files and no servers, and its requests only
// reach the callback handler.
func operationGroups(sandbox bool) []func() (map[string]syncOp, map[string]asyncOp) {
	both := []func() (map[string]syncOp, map[string]asyncOp){processOps, intlOps, encodingOps, urlOps, cryptoOps, zlibOps, fetchOps}
	if sandbox {
		return both
	}
	return append(both, fileOps, serverOps, dnsOps, osOps)
}
