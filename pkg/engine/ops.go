package engine

import (
	"context"
	"maps"
)

// An op answers at once, on the engine's goroutine: it must not wait.
type op func(e *Engine, args []any) (any, error)

// A job works on a goroutine of its own and keeps the engine alive meanwhile. It must return soon after ctx ended.
type job func(ctx context.Context, e *Engine, args []any) (any, error)

// A hostError becomes a JavaScript error with these properties.
type hostError struct {
	Name    string // a global error class; empty: Error
	Code    string // empty: none
	Message string
	Props   map[string]any // such as errno, syscall and path
}

func (h *hostError) Error() string { return h.Message }

// operations returns what a profile offers. What is not in it cannot be called, whatever the JavaScript tries.
func operations(sandbox bool) (map[string]op, map[string]job) {
	ops, jobs := map[string]op{}, map[string]job{}
	for _, group := range groups(sandbox) {
		o, j := group()
		maps.Copy(ops, o)
		maps.Copy(jobs, j)
	}
	return ops, jobs
}

// groups are the operations of a profile. In the sandbox there are no files and no servers, and requests reach the callback door alone.
func groups(sandbox bool) []func() (map[string]op, map[string]job) {
	both := []func() (map[string]op, map[string]job){processOps, intlOps, encodingOps, urlOps, cryptoOps, zlibOps, fetchOps}
	if sandbox {
		return both
	}
	return append(both, fileOps, serverOps, nameOps, osOps)
}
