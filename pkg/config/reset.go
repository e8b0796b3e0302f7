package config

import (
	"time"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Reset is the command that brings the app under test into the state in which recordings of sessions begin.
type Reset struct {
	Command string        // for the shell, in the project root; empty for none
	Timeout time.Duration // 0 when not set
}

// readReset reads a command, or a mapping with it.
func readReset(n yamldoc.Node) Reset {
	var r Reset
	if n.Kind() != yamldoc.Mapping {
		r.Command = text(n)
		return r
	}
	has := false
	n.Fields(map[string]func(yamldoc.Node){
		"command": func(n yamldoc.Node) { has, r.Command = true, text(n) },
		"timeout": func(n yamldoc.Node) { r.Timeout = n.Duration() },
	})
	if !has {
		n.Errorf("write reset: npm run reset", "reset has no command")
	}
	return r
}
