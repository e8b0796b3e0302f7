// Package config reads a project's files: trailblaze.yaml, and the targets and toolsets below trailblaze-config/. It
// finds the project root, reads strictly, and reports the problems of all files at once, each with its position. It
// starts nothing, does not read trails, and does not decide what a session is for (pkg/scope does). What it returns is
// plain data that is not changed after Load.
package config

import (
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// Project is the content of a project's files.
type Project struct {
	Root string // absolute
	File string // the project file, absolute; empty when there is only trailblaze-config/

	// The defaults, in their canonical spelling; empty when the file does not set them.
	Target, Platform, Driver, AgentMode string

	BaseURL string // of the app on the web, for targets that have none of their own

	TrailsDir, LogsDir string // absolute; they need not exist
	// WorkingDir is a folder in which trails may name pages that are files; empty for none. It is absolute.
	WorkingDir    string
	StartAhead    bool     // sessions of the next trails may be opened while one runs
	KeepProcesses []string // names of programs that go on running after the server that started them
	FailOn        []string // kinds of tool.Incident for which trails fail
	Run           RunDefaults
	WebServers    []WebServer
	Reset         Reset
	LLM           LLM
	Callbacks     Callbacks
	Servers       []Server       // of the project file, in its order
	Device        []Setting      // of the project file, in its order
	Devices       []Device       // of the project file, in its order
	Targets       []Target       // sorted by id
	Toolsets      []Toolset      // sorted by id
	Composed      []ComposedTool // sorted by name
	// MissingTools says why tools that trails of the project may call are not there, by name; may be nil.
	MissingTools map[string]*fault.Error
	Allow        []string          // tools that agents may call although they are restricted
	Secrets      map[string]string // values of devices and of llm that must not be shown, by the name to show instead
	SecretNames  []string          // names of the trails' secrets
	SecretValues map[string]string // by name, from the environment or .env; without those that have no value
	Files        int               // the number of files read, also those with problems
	Warnings     fault.Problems
	Remarks      fault.Problems // about what is read and not used; less than warnings
	LeftOut      fault.Problems // of parts that were left out; the rest of the project can be used
}

// Notes returns the warnings, and the problems of parts that were left out.
func (p *Project) Notes() fault.Problems { return slices.Concat(p.Warnings, p.LeftOut) }

// Server is one entry under mcpServers. Exactly one of Script, Functions, Command and URL is set.
type Server struct {
	Name            string            // unique among the servers of a session
	Script          string            // absolute
	Functions       []FunctionTool    // its tools, if they are functions that scripts export
	NotEmbedded     bool              // Functions need bun or node
	Command         string            // absolute if it is written as a path, else a name to look up on PATH
	Args            []string          // of Command
	Dir             string            // the working directory, absolute; empty means the script's folder
	Env             map[string]string // added to the environment; may be nil
	Runtime         string            // of Script: "bun", "node", "embedded", or empty to choose one
	StartupTimeout  time.Duration     // 0 when not set
	CallTimeout     time.Duration     // 0 when not set
	CallbackTimeout time.Duration     // of each callback of its tools; 0 when not set
	Parallel        bool              // calls may run at the same time
	RestartOnCrash  bool
	Sampling        bool              // its tools may ask the model of a run
	NoPrefetch      bool              // is not started before its trail begins
	MultiDevice     bool              // one process serves all devices of a run
	URL             string            // of a server that is connected to and not started
	Headers         map[string]string // sent with every request to URL
	Rename          map[string]string // the names under which its tools are registered, by their own; may be nil
	Exclude         []string          // names and globs of tools that are not registered
	Secrets         map[string]string // its values that must not be shown, by the name to show instead; may be nil

	File         string // absolute; Line and Column are the entry's position in it
	Line, Column int
}

// IsScript reports whether what serves the tools is JavaScript or TypeScript.
func (s Server) IsScript() bool { return s.Script != "" || len(s.Functions) > 0 }

// FunctionLimit is how long a call of one of Functions, and a call that it makes, may take where nothing says else.
const FunctionLimit = 10 * time.Minute

// FunctionFiles returns the files of Functions, each once, in their order.
func (s Server) FunctionFiles() []string {
	var files []string
	for _, f := range s.Functions {
		if !slices.Contains(files, f.File) {
			files = append(files, f.File)
		}
	}
	return files
}

// FunctionTool is a tool that is a function which a script exports.
type FunctionTool struct {
	Name, Description string
	File              string          // of the script, absolute
	Export            string          // the name of the function in File
	Schema            json.RawMessage // JSON Schema of its arguments; nil: any object
	Meta              map[string]any  // of the tool, as a server would list it: keys such as trailblaze/supportedPlatforms; may be nil
}

// PublicURL returns the URL without user, password and query, empty when there is none.
func (s Server) PublicURL() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// IsRemote reports whether the URL of the server names another machine.
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
	Electron        Electron         // the app for the driver playwright-electron; zero for none

	File string // absolute
	Line int    // of the id
}

// PlatformConfig is the entry of a target for one of its platforms. Empty ToolSets means that every tool is offered.
type PlatformConfig struct {
	AppIDs, ToolSets, Tools, ExcludedTools []string
	BaseURL                                string   // the page that launchApp opens on the web
	Drivers                                []string // yaml keys of those that may be used without being named; empty: all
}

// Toolset is a named group of tools, read from trailblaze-config/toolsets/. Empty Platforms or Drivers mean all of
// them.
type Toolset struct {
	ID, Description string
	Platforms       []scope.Platform
	Drivers         []string // yaml keys
	AlwaysEnabled   bool
	Tools           []string
	Partial         bool // not all of its tools need to exist

	File string // absolute
	Line int    // of the id
}

// ComposedTool is a tool whose calls are written in a file.
type ComposedTool struct {
	Name, Description string
	Group             string // what it is a part of, for listings
	Parameters        []Parameter
	Calls             []ComposedCall
	ForAgents         bool // agents are shown it
	Recordable        bool // it is recorded as it was called, else the calls that it made are
	RequiresHost      bool

	File string // absolute; may be empty
	Line int
}

// Parameter is a parameter of a composed tool.
type Parameter struct {
	Name, Type, Description string // Type is one of JSON Schema; empty: any value
	Required, HasDefault    bool
	Default                 any
}

// ComposedCall is a call of a composed tool. In its arguments, {{params.NAME}} stands for a parameter.
type ComposedCall struct {
	Tool string
	Args map[string]any // not nil
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

// BaseURLFor returns the address of a target on a platform: that of its entry for the platform, else on the web the
// project's. It is empty when there is none.
func (p *Project) BaseURLFor(targetID string, platform scope.Platform) string {
	t, _ := p.FindTarget(targetID)
	if url := t.Platforms[platform].BaseURL; url != "" || platform != scope.Web {
		return url
	}
	return p.BaseURL
}

// ServersFor returns the servers of a session: the project's, then the target's. A target without a file has none.
func (p *Project) ServersFor(targetID string) []Server {
	t, _ := p.FindTarget(targetID)
	return append(append([]Server{}, p.Servers...), t.Servers...)
}

// AllServers returns the servers of the project and of every target.
func (p *Project) AllServers() []Server {
	servers := slices.Clone(p.Servers)
	for _, t := range p.Targets {
		servers = append(servers, t.Servers...)
	}
	return servers
}

// FunctionServers returns the servers with Functions, each once, although several targets may have it.
func (p *Project) FunctionServers() []Server {
	var servers []Server
	for _, s := range p.AllServers() {
		isSame := func(other Server) bool {
			return other.NotEmbedded == s.NotEmbedded && slices.Equal(other.FunctionFiles(), s.FunctionFiles())
		}
		if len(s.Functions) > 0 && !slices.ContainsFunc(servers, isSame) {
			servers = append(servers, s)
		}
	}
	return servers
}

// ScopeTargets returns the targets in the form that pkg/scope uses.
func (p *Project) ScopeTargets() []scope.Target {
	targets := make([]scope.Target, len(p.Targets))
	for i, t := range p.Targets {
		ids, drivers := map[scope.Platform][]string{}, map[scope.Platform][]string{}
		for platform, c := range t.Platforms {
			ids[platform] = c.AppIDs
			if c.Drivers != nil {
				drivers[platform] = c.Drivers
			}
		}
		targets[i] = scope.Target{
			ID: t.ID, DisplayName: t.DisplayName, Platforms: t.PlatformOrder, AppIDs: ids, Drivers: drivers,
		}
	}
	return targets
}
