// Package workspace reads a project and opens sessions of it for a choice of target, devices, memory and secrets. A
// program may do that again and again, with different devices and secrets at the same time.
//
// Every choice has a redactor of its own, which is made once, from everything that the choice, the environment and the
// project keep secret, and which never changes. The secrets are also added to a set of the program, which only grows,
// for errors and messages that belong to no session.
//
// The package is independent of flags, terminals and the purpose of sessions. Messages name the flags that people use
// for a choice.
package workspace

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trailmap"
)

// Options are what all projects and sessions of a program have in common.
type Options struct {
	Env      []string                         // of this process: NAME=VALUE
	Getenv   func(name string) (string, bool) // looks up one of Env
	Dir      string                           // working directory, absolute; paths below it are shown relative to it
	StateDir string                           // see [device.Host]; may be empty
	Version  string                           // of trailblaze
	Now      func() time.Time
	Kinds    []device.Kind // of devices
	// DeviceOptions are options of devices on the command line, by the names of their flags. Their secrets are redacted
	// from the beginning on; a Choice says which count.
	DeviceOptions map[string]string
	Runtimes      *runtime.Finder
	Supervisor    *spawn.Supervisor                     // of every process
	ExitGrace     time.Duration                         // see [device.Host]
	Proxy         func(*http.Request) (*url.URL, error) // for servers with a URL; nil for none
	Secrets       *redact.Set                           // of the program; everything secret that is read is added to it
	Warn          func(error)                           // called when a device cannot be closed
}

// Opener reads projects. Its methods, and those of its workspaces, may be called from any goroutine.
type Opener struct {
	Options
	budgets session.Budgets

	mu   sync.Mutex
	open []*backendSet // those that are not closed
}

// NewOpener returns an Opener. It reads and starts nothing.
func NewOpener(o Options) *Opener {
	opener := &Opener{Options: o, budgets: session.NewBudgets()}
	opener.Empty().addOptionSecrets(o.Secrets, o.DeviceOptions)
	return opener
}

// Close closes the devices that are still open. Their sessions must be closed before.
func (o *Opener) Close(ctx context.Context) {
	o.mu.Lock()
	left := slices.Clone(o.open)
	for _, set := range left {
		set.users = 1
	}
	o.mu.Unlock()
	o.release(ctx, left)
}

// FindRoot returns the folder of the project: that of override, which may be empty, or else of the environment, or else
// the nearest one from the working directory upwards.
func (o *Opener) FindRoot(override string) (string, error) {
	return config.FindRoot(config.Options{
		Dir: o.Dir, Override: override, Env: o.Getenv, Other: o.otherProjects().Layout(),
	})
}

// FindRootFrom returns the folder of the nearest project from a folder upwards.
func (o *Opener) FindRootFrom(dir string) (string, error) {
	return config.FindRoot(config.Options{Dir: dir, Other: trailmap.Options{Dir: dir}.Layout()})
}

// otherProjects returns what finds and reads projects of the JVM Trailblaze.
func (o *Opener) otherProjects() trailmap.Options { return trailmap.Options{Dir: o.Dir, Env: o.Getenv} }

// read reads the project in a folder.
func (o *Opener) read(root string) (*config.Project, fault.Problems) {
	if others := o.otherProjects(); others.Reads(root) {
		return trailmap.Load(root, others, o.toolNames())
	}
	return config.Load(root, o.Getenv)
}

// toolNames returns the names of the tools of trailblaze itself and of the commands of every kind of device.
func (o *Opener) toolNames() []string {
	names := append(o.commandNames(), tool.ReloadTools)
	for _, t := range append(builtin.Source().Tools, builtin.ExecSource(nil).Tools...) {
		names = append(names, t.Name)
	}
	return names
}

// Workspace is a project with what opens sessions of it.
type Workspace struct {
	*Opener
	Project *config.Project
	// Env is the environment of what the project starts: that of this process without the token of callbacks.
	Env []string
	// NoTarget says that sessions have no target, because no project names one.
	NoTarget bool
}

// Empty returns a workspace without a project, for devices that are used outside of one.
func (o *Opener) Empty() *Workspace {
	return &Workspace{Opener: o, Project: &config.Project{}, Env: o.Env}
}

// Load reads the project in a folder. The files of its problems and warnings are relative to the working directory.
// With problems, the project is as far as it could be read.
func (o *Opener) Load(root string) (*Workspace, fault.Problems) {
	project, problems := o.read(root)
	w := &Workspace{Opener: o, Project: project, Env: withoutVariable(o.Env, project.Callbacks.TokenName)}
	o.Supervisor.Keep(project.KeepProcesses)
	w.addSecrets(o.Secrets, Choice{Options: o.DeviceOptions})
	problems = append(problems, w.deviceProblems()...)
	for _, list := range []fault.Problems{problems, project.Warnings, project.Remarks, project.LeftOut} {
		for i, p := range list {
			if rel, err := filepath.Rel(o.Dir, p.File); err == nil && filepath.IsLocal(rel) {
				list[i].File = rel
			}
			list[i].Message, list[i].Hint = o.Secrets.Text(p.Message), o.Secrets.Text(p.Hint)
			list[i].Snippet = o.Secrets.Text(p.Snippet)
		}
	}
	return w, problems
}

// addSecrets adds everything to a set that the sessions of a choice must not show.
func (w *Workspace) addSecrets(to *redact.Set, c Choice) {
	to.Add(c.Secrets)
	to.Add(w.Project.Secrets)
	to.Add(w.Project.SecretValues)
	w.addOptionSecrets(to, c.Options)
	for _, s := range w.Project.AllServers() {
		to.Add(s.Secrets)
	}
}

// Origins returns the origins of the pages that the targets of the project begin with.
func (w *Workspace) Origins() []string {
	var origins []string
	add := func(address string) {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			origins = append(origins, u.Scheme+"://"+u.Host)
		}
	}
	add(w.Project.BaseURL)
	for _, t := range w.Project.Targets {
		for _, platform := range t.PlatformOrder {
			add(t.Platforms[platform].BaseURL)
		}
	}
	return origins
}

// withoutVariable returns an environment without a variable. The case of names is ignored, as on Windows.
func withoutVariable(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return name != "" && strings.EqualFold(key, name)
	})
}
