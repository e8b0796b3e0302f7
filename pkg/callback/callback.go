// Package callback serves the HTTP endpoint through which tools that run in processes of their own call other tools of
// their session: an HTTP server on 127.0.0.1 that runs as long as the session, and the invocations that may use it
// (specification, section 12). Sessions that share a process share a server: the invocation id identifies the session
// of a request. A server of [ListenForOthers] is for processes that the session did not start.
//
// The package does not depend on tools, memory or how a call is made: an Invocation has a function that makes the call.
// A Server may be used by any goroutine.
package callback

import (
	"context"
	"encoding/json"
	"time"
)

// Request is a tool call that a running tool requests.
type Request struct {
	Tool            string
	Args            map[string]any    // numbers are json.Number; `{{…}}` is not replaced
	MemoryDelta     map[string]string // what the calling tool has set since it was called; may be nil
	MemoryDeletions []string          // applied after MemoryDelta
}

// Response is the outcome of a requested call.
type Response struct {
	OK         bool
	Text       string
	Error      string          // why the call failed; empty when OK
	Structured json.RawMessage // may be nil
	// Changes returns how the session's memory has changed since the call was requested, and ChangeSize about how many
	// bytes that takes. Both are called when there is room for the response. Both may be nil.
	Changes    func() (delta map[string]any, deletions []string)
	ChangeSize func() int

	delta     map[string]any // what Changes returned
	deletions []string
}

// Invocation is a pending tool call whose tool may call other tools.
type Invocation struct {
	Session string        // id of the session that made the call; empty for the server's own
	Entry   string        // name of the tool's server, for messages; empty without one
	Caller  string        // the tool and its server, for messages; empty if they need no name
	Limit   time.Duration // for each callback; 0 means DefaultLimit
	// Dispatch makes a requested call. Its context ends with the limit, with the client's connection and with the
	// invocation; context.Cause says which. Several goroutines may call it at once.
	Dispatch func(ctx context.Context, r Request) Response
}

// DefaultLimit is the longest that a callback may take (specification, section 12).
const DefaultLimit = 30 * time.Second
