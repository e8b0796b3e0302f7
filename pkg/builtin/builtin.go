// Package builtin holds the tools that trailblaze brings itself. They are a source like any other: a call in, a result out. They
// refuse to know sessions, servers and devices; what they change in memory is in their results. They keep nothing, so they may
// be called from any goroutine.
package builtin

import "github.com/trailblaze/trailblaze/pkg/discover"

// Source returns the built-in tools with what runs them.
func Source() discover.Source { return discover.Source{} }
