// Package config reads a project's files: trailblaze.yaml, and below trailblaze-config/ the targets and the toolsets. It finds
// the project root, reads strictly, and reports the problems of all files at once, each with its place. It starts nothing,
// looks at no trail, and does not decide what a session is for (pkg/scope does). What it returns is plain data: safe to read
// from several goroutines, and nobody changes it after Load.
package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// Project is everything that a project's files say.
type Project struct {
	Root string // absolute
	File string // the project file, absolute; empty when there is only trailblaze-config/

	// The defaults, in their canonical spelling; empty when the file does not say.
	Target, Platform, Driver, Location string

	TrailsDir, LogsDir string    // absolute; they need not exist
	StartAhead         bool      // sessions of the next trails may be opened while one runs
	Servers            []Server  // of the project file, in its order
	Device             []Setting // of the project file, in its order
	Devices            []Device  // of the project file, in its order
	Targets            []Target  // by id
	Toolsets           []Toolset // by id
	Files              int       // read, with or without problems
	Warnings           fault.Problems
}

// Server is one entry under mcpServers. Exactly one of Script, Command and URL is set.
type Server struct {
	Name            string            // unique among the servers of a session
	Script          string            // absolute
	Command         string            // absolute if it was written as a path, else a name to look for on PATH
	Args            []string          // of Command
	Dir             string            // the working directory, absolute; empty means the script's folder
	Env             map[string]string // added to the environment; may be nil
	Runtime         string            // of Script: "bun", "node", or empty for whatever is found
	StartupTimeout  time.Duration     // 0 when not set
	CallTimeout     time.Duration     // 0 when not set
	CallbackTimeout time.Duration     // for each callback of its tools; 0 when not set
	Parallel        bool              // calls need not wait for each other
	RestartOnCrash  bool
	NoPrefetch      bool              // is not started before its trail begins
	MultiDevice     bool              // one process serves all devices of a run
	URL             string            // of a server that is reached and not started
	Headers         map[string]string // sent to URL
	Secrets         map[string]string // what of URL and Headers must not be shown, by the name to show instead

	File         string // absolute, with the entry's place in it
	Line, Column int
}

// PublicURL is the URL without the parts of it that may be confidential, empty when there is none.
func (s Server) PublicURL() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// IsRemote reports whether the server is reached on another machine, as far as its URL says.
func (s Server) IsRemote() bool {
	u, err := url.Parse(s.URL)
	if err != nil || s.URL == "" {
		return false
	}
	host := u.Hostname()
	return host != "localhost" && !strings.HasSuffix(host, ".localhost") && !net.ParseIP(host).IsLoopback()
}

// Target is one app under test, read from trailblaze-config/targets/.
type Target struct {
	ID, DisplayName string
	Servers         []Server // in the order of the file
	Platforms       map[scope.Platform]PlatformConfig
	PlatformOrder   []scope.Platform // the keys of Platforms in the order of the file

	File string // absolute
	Line int    // of the id
}

// PlatformConfig is what a target says about one of its platforms. No ToolSets means that every tool is offered.
type PlatformConfig struct {
	AppIDs, ToolSets, Tools, ExcludedTools []string
	BaseURL                                string // where launchApp begins on the web
}

// Toolset is a named group of tools, read from trailblaze-config/toolsets/. Empty Platforms or Drivers do not restrict it.
type Toolset struct {
	ID, Description string
	Platforms       []scope.Platform
	Drivers         []string // yaml keys
	AlwaysEnabled   bool
	Tools           []string

	File string // absolute
	Line int    // of the id
}

// FindTarget returns the target with an id; ok is false when no file defines it.
func (p *Project) FindTarget(targetID string) (target Target, ok bool) {
	for _, t := range p.Targets {
		if t.ID == targetID {
			return t, true
		}
	}
	return Target{}, false
}

// ServersFor lists the servers of a session: the project's, then the target's. A target without a file adds none.
func (p *Project) ServersFor(targetID string) []Server {
	t, _ := p.FindTarget(targetID)
	return append(append([]Server{}, p.Servers...), t.Servers...)
}

// AllServers lists the servers of the project and of every target.
func (p *Project) AllServers() []Server {
	servers := slices.Clone(p.Servers)
	for _, t := range p.Targets {
		servers = append(servers, t.Servers...)
	}
	return servers
}

// ScopeTargets lists the targets as pkg/scope wants them.
func (p *Project) ScopeTargets() []scope.Target {
	targets := make([]scope.Target, len(p.Targets))
	for i, t := range p.Targets {
		ids := map[scope.Platform][]string{}
		for platform, c := range t.Platforms {
			ids[platform] = c.AppIDs
		}
		targets[i] = scope.Target{ID: t.ID, DisplayName: t.DisplayName, Platforms: t.PlatformOrder, AppIDs: ids}
	}
	return targets
}
