// Package callback is the door through which tools that run in processes of their own reach back into their session: an HTTP
// server on 127.0.0.1 that lives as long as the session, and the invocations that may knock on it (specification, section 12).
// Sessions that share a process share a door: an invocation says whose it is.
//
// It refuses to know what tools there are, what memory is, and how a call is made: an Invocation brings the function that does.
// A Server may be used from any goroutine.
package callback

import (
	"context"
	"encoding/json"
	"time"
)

// Request is what a tool asks for while it runs.
type Request struct {
	Tool            string
	Args            map[string]any    // used as they are; numbers are json.Number
	MemoryDelta     map[string]string // set by the asker since it was called; may be nil
	MemoryDeletions []string          // after the delta
}

// Answer is how the call that was asked for ended.
type Answer struct {
	OK              bool
	Text            string
	Error           string          // why it failed; empty when OK
	Structured      json.RawMessage // may be nil
	MemoryDelta     map[string]any  // how the session's memory changed meanwhile; may be nil
	MemoryDeletions []string
}

// Invocation is a call in flight, whose tool may ask for others.
type Invocation struct {
	Session string        // id of the session whose call it is; empty for the door's own
	Entry   string        // of the server whose tool it is, for messages
	Limit   time.Duration // for each callback; 0 means DefaultLimit
	// Dispatch makes a call. Its context ends with the limit, with the asker's connection and with the invocation, each with a
	// cause to tell. It may be called by several goroutines at once.
	Dispatch func(ctx context.Context, r Request) Answer
}

// DefaultLimit is how long a callback may take (specification, section 12).
const DefaultLimit = 30 * time.Second
