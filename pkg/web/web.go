// Package web drives web pages in Chrome, Chromium or Edge over the DevTools protocol (specification, section 15.1).
//
// It refuses to know memory and trails, writes no files but the browser's profile, and sleeps no fixed time. A device may be
// called from any goroutine; its calls run one after another.
package web

import (
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// command is a command with what runs it.
type command struct {
	tool.Advertised
	run handler
}
