// Package doctor says what a machine and a project lack. It looks, ends leftover processes, and with Deep starts every server
// once; it changes nothing else and renders nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// Status is how a check came out.
type Status string

// The three ways in which a check comes out; only Fail makes the doctor's exit code 2.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one finding (specification, section 10.2).
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

// Probed is what a server said when it was started and listed.
type Probed struct {
	Tools    int
	Warnings []string
}

// Options says what to look at. Project is nil when there is none or it cannot be read; then ProjectErr says why.
type Options struct {
	Runtimes   *jsruntime.Finder
	Getenv     func(string) (string, bool)
	Project    *config.Project
	ProjectErr error
	// ProjectNamed says that somebody named the project, so that one which is not there is a failure.
	ProjectNamed bool
	Devices      []Device
	CacheDir     string
	CleanCache   bool // empty it of bundles
	StateDir     string
	OnDevice     bool                                                       // the project's agent is on the device
	Probe        func(ctx context.Context, s config.Server) (Probed, error) // nil: servers are not started
}

// Run makes every check, in a fixed order.
func Run(ctx context.Context, o Options) []Check {
	checks := append(o.runtimes(ctx), ok("embedded engine", spawn.EngineVersion()))
	for _, d := range o.Devices {
		checks = append(checks, d.check(ctx))
	}
	checks = append(checks, o.adb(), o.projectFiles())
	checks = append(checks, o.servers(ctx)...)
	return append(checks, o.leftovers(), o.cache())
}

func ok(name, detail string) Check { return Check{name, OK, detail, ""} }

// of makes a check from an error.
func of(name string, status Status, err error) Check {
	c := Check{Name: name, Status: status, Detail: err.Error()}
	if e := fault.As(err); e != nil {
		c.Hint = e.Hint
	}
	return c
}

// runtimes looks for bun, node and tsx. None of them is needed: an entry that asks for one that is missing fails by itself, but one that
// is there would be used.
func (o Options) runtimes(ctx context.Context) []Check {
	bun, bunErr := o.Runtimes.Bun(ctx)
	node, nodeErr := o.Runtimes.Node(ctx)
	tsx, tsxErr := o.Runtimes.TSX(o.scriptDir())
	const instead = "without bun and node, scripts run in the engine inside trailblaze"
	return []Check{
		found("bun", bun, bunErr, instead),
		found("node", node, nodeErr, instead),
		found("tsx", tsx, tsxErr, "without it, node runs bundles that trailblaze makes"),
	}
}

func found(name string, f jsruntime.Found, err error, instead string) Check {
	switch {
	case err == nil:
		return ok(name, strings.TrimSpace(f.Version+" "+f.Path))
	case f.Path == "":
		return ok(name, err.Error()+"; not needed: "+instead)
	}
	return Check{name, Warn, err.Error(), "scripts would be run by it: repair it, or take it off PATH"}
}

func (o Options) scripts() []config.Server {
	var scripts []config.Server
	for _, s := range o.allServers() {
		if s.Script != "" {
			scripts = append(scripts, s)
		}
	}
	return scripts
}

func (o Options) scriptDir() string {
	if scripts := o.scripts(); len(scripts) > 0 {
		return filepath.Dir(scripts[0].Script)
	}
	return "."
}

// allServers lists the servers of the project and of every target.
func (o Options) allServers() []config.Server {
	if o.Project == nil {
		return nil
	}
	return o.Project.AllServers()
}

// Device is a kind of device that a session may need.
type Device struct {
	Name  string   // of the check
	Kind  string   // of device
	Asked []string // settings; with any, a device that is missing is a failure
	Check func(ctx context.Context) (detail string, err error)
}

func (d Device) check(ctx context.Context) Check {
	detail, err := d.Check(ctx)
	if err == nil {
		return ok(d.Name, detail)
	}
	if len(d.Asked) > 0 || fault.KindOf(err) == fault.PermissionDenied {
		return of(d.Name, Fail, err)
	}
	c := of(d.Name, Warn, err)
	c.Hint = strings.TrimSuffix("only needed to drive "+d.Kind+" devices; "+c.Hint, "; ")
	return c
}

func (o Options) adb() Check {
	return o.program("adb", "only needed to drive Android; install the Android platform tools", "adb")
}

// program looks for a program that not everybody needs. One that is there but cannot be run is a failure.
func (o Options) program(check, hint string, names ...string) Check {
	for _, name := range names {
		path, err := jsruntime.LookPath(name, o.path(), "")
		switch {
		case err == nil:
			return ok(check, path)
		case errors.Is(err, fs.ErrPermission):
			return Check{check, Fail, name + " is on PATH but may not be executed", "make it executable, or take it off PATH"}
		}
	}
	return Check{check, Warn, "not found on PATH", hint}
}

func (o Options) path() string {
	path, _ := o.Getenv("PATH")
	return path
}

func (o Options) projectFiles() Check {
	const name = "project files"
	switch {
	case o.ProjectErr != nil && fault.KindOf(o.ProjectErr) == fault.Misuse && !o.ProjectNamed:
		return of(name, Warn, o.ProjectErr)
	case o.ProjectErr != nil:
		c := of(name, Fail, o.ProjectErr)
		c.Hint = "`trailblaze check` shows each place"
		return c
	case len(o.Project.Warnings) > 0:
		return Check{name, Warn, o.Project.Warnings.Error(), "`trailblaze check` shows each place"}
	}
	return ok(name, o.Project.Root)
}

// servers checks every configured server, and with Probe starts all of them at once.
func (o Options) servers(ctx context.Context) []Check {
	servers := o.allServers()
	checks := make([]Check, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { checks[i] = o.server(ctx, s) })
	}
	wg.Wait()
	return checks
}

func (o Options) server(ctx context.Context, s config.Server) Check {
	name := "server " + s.Name
	c := ok(name, s.Command+s.PublicURL())
	if s.Script != "" {
		if _, err := os.Stat(s.Script); err != nil {
			return Check{name, Fail, s.Script + " does not exist", "correct the path, or restore the file"}
		}
		command, err := o.Runtimes.Command(ctx, jsruntime.Script{Path: s.Script, Runtime: s.Runtime, OnDevice: o.OnDevice})
		if err != nil {
			return of(name, Fail, err)
		}
		command.Release()
		c = ok(name, fmt.Sprintf("%s %s (%s)", command.Runtime, s.Script, command.Why))
		if dir, missing := missingModules(s.Script); missing {
			c = Check{name, Warn, dir + " has a package.json with dependencies but no node_modules", "run npm install or bun install in " + dir}
		}
	}
	if o.Probe == nil {
		return c
	}
	probed, err := o.Probe(ctx, s)
	if err != nil {
		return of(name, Fail, err)
	}
	tools := "tools"
	if probed.Tools == 1 {
		tools = "tool"
	}
	c.Detail = fmt.Sprintf("%s: %d %s", c.Detail, probed.Tools, tools)
	if len(probed.Warnings) > 0 {
		c.Status, c.Detail = Warn, strings.Join(append([]string{c.Detail}, probed.Warnings...), "\n")
	}
	return c
}

// missingModules reports whether the package that a script belongs to has dependencies that nobody installed.
func missingModules(script string) (dir string, missing bool) {
	for dir = filepath.Dir(script); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
			return "", false
		}
		if data, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
			return dir, strings.Contains(string(data), `ependencies"`)
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func (o Options) leftovers() Check {
	const name = "leftover processes"
	if info, err := os.Stat(filepath.Dir(o.StateDir)); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return ok(name, "none") // nothing can have been remembered there; the check of the cache says so
	}
	killed, err := spawn.Reap(o.StateDir)
	switch {
	case err != nil && len(killed) == 0:
		return Check{name, Fail, err.Error(), "make " + o.StateDir + " a folder that can be read, or remove it"}
	case err != nil:
		return Check{name, Fail, err.Error(), "end them by hand"}
	case len(killed) > 0:
		lines := make([]string, len(killed))
		for i, l := range killed {
			lines[i] = l.String()
		}
		return Check{name, Warn, "an earlier, killed run had left these; they are ended now: " + strings.Join(lines, "; "), ""}
	}
	return ok(name, "none")
}

func (o Options) cache() Check {
	const name = "cache"
	const hint = "set TRAILBLAZE_CACHE_DIR to a folder that can be written; without it runtimes are looked at, and bundles made, anew each time"
	if o.CacheDir == "" {
		return Check{name, Warn, "there is no cache folder: HOME is not set", hint}
	}
	err := os.MkdirAll(o.CacheDir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(o.CacheDir, ".doctor-*"); err == nil {
			err = f.Close()
			_ = os.Remove(f.Name()) // our own probe; nothing reads it
		}
	}
	if err != nil {
		return Check{name, Warn, err.Error(), hint}
	}
	bundles := o.Runtimes.Bundles()
	files, size, err := bundles.Size()
	if err != nil {
		return Check{name, Warn, "what is in it cannot be told: " + err.Error(), hint}
	}
	holds := fmt.Sprintf("%d files of bundles, %.1f MB", files, float64(size)/1e6)
	if !o.CleanCache {
		return ok(name, fmt.Sprintf("%s (%s; --clean-cache empties it)", o.CacheDir, holds))
	}
	if err := bundles.Clean(); err != nil {
		return Check{name, Fail, "it could not be emptied: " + err.Error(), "remove " + o.CacheDir + " by hand"}
	}
	return ok(name, fmt.Sprintf("%s (emptied of %s)", o.CacheDir, holds))
}
