// Package doctor checks a machine and a project. It kills leftover processes, and starts every server once if it is
// given a way to; it changes nothing else and renders nothing.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/scripted"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Status is the outcome of a check.
type Status string

// The outcomes of a check; only Fail makes the exit code of doctor 2.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is a check and its outcome (specification, section 10.2).
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

// Probed is the result of starting a server and listing its tools.
type Probed struct {
	Tools    int
	Warnings []string
}

// Options are the parts of the machine and the project to check. Project is nil when there is none or it cannot be
// read; ProjectErr is then the reason.
type Options struct {
	Runtimes   *jsruntime.Finder
	Env        []string // of this process, in which commands of servers are looked up
	Project    *config.Project
	ProjectErr error
	// ProjectNamed is true if the user named the project, so that its absence is a failure.
	ProjectNamed bool
	Devices      []Device
	CacheDir     string
	CacheProblem string // why the cache folder that is named is not used
	CleanCache   bool   // remove the bundles from it
	StateDir     string
	OnDevice     bool                                                       // the project's agent is on the device
	Probe        func(ctx context.Context, s config.Server) (Probed, error) // nil: servers are not started
}

// Run makes all checks and returns them in a fixed order.
func Run(ctx context.Context, o Options) []Check {
	checks := append(o.runtimes(ctx), ok("embedded engine", spawn.EngineVersion()))
	checks = append(checks, o.devices(ctx)...)
	checks = append(checks, o.projectFiles())
	checks = append(checks, o.servers(ctx)...)
	return append(checks, o.leftovers(), o.cache())
}

func ok(name, detail string) Check { return Check{name, OK, detail, ""} }

// fromError returns the check for an error.
func fromError(name string, status Status, err error) Check {
	c := Check{Name: name, Status: status, Detail: err.Error()}
	if e := fault.As(err); e != nil {
		c.Hint = e.Hint
	}
	return c
}

// runtimes checks bun, node and tsx. None of them is needed: the check of a server fails if its entry selects one that
// is missing. But one that is installed and does not work would be used.
func (o Options) runtimes(ctx context.Context) []Check {
	bun, bunErr := o.Runtimes.Bun(ctx)
	node, nodeErr := o.Runtimes.Node(ctx)
	tsx, tsxErr := o.Runtimes.TSX(o.scriptDir())
	const instead = "without bun and node, scripts run in the engine inside trailblaze"
	return []Check{
		runtimeCheck("bun", bun, bunErr, instead),
		recent(runtimeCheck("node", node, nodeErr, instead), node.Version),
		runtimeCheck("tsx", tsx, tsxErr, "without it, node runs bundles that trailblaze makes"),
	}
}

func runtimeCheck(name string, f jsruntime.Found, err error, instead string) Check {
	switch {
	case err == nil:
		return ok(name, strings.TrimSpace(f.Version+" "+f.Path))
	case f.Path == "":
		return ok(name, err.Error()+"; not needed: "+instead)
	}
	return Check{name, Warn, err.Error(), "scripts would run on it: repair it, or remove it from PATH"}
}

// recent returns the check of node, with a warning about a version that is too old.
func recent(c Check, version string) Check {
	if jsruntime.IsOld(version) && c.Status == OK {
		c.Status, c.Detail = Warn, fmt.Sprintf("%s is older than node %d, which scripts need", c.Detail, jsruntime.OldestNode)
		c.Hint = jsruntime.NewerNode
	}
	return c
}

func (o Options) scripts() []config.Server {
	var scripts []config.Server
	for _, s := range o.allServers() {
		if s.IsScript() {
			scripts = append(scripts, s)
		}
	}
	return scripts
}

func (o Options) scriptDir() string {
	if scripts := o.scripts(); len(scripts) > 0 {
		return filepath.Dir(scripted.Script(scripts[0], o.OnDevice).Path)
	}
	return "."
}

// allServers returns the servers of the project and of every target.
func (o Options) allServers() []config.Server {
	if o.Project == nil {
		return nil
	}
	return o.Project.AllServers()
}

// Device is a kind of device that a session may need.
type Device struct {
	Name     string   // of the check
	Kind     string   // of device
	Settings []string // settings that are set; with any, a missing device is a failure
	Named    bool     // the user wants to know what it lacks; else devices that are not ready are one line
	Check    func(ctx context.Context) (detail string, err error)
}

// devices checks the devices. Those that nothing names and that are not ready are one check.
func (o Options) devices(ctx context.Context) []Check {
	var checks []Check
	var missing []string
	for _, d := range o.Devices {
		c := d.check(ctx)
		if !d.Named && c.Status == Warn {
			missing = append(missing, d.Name)
			continue
		}
		checks = append(checks, c)
	}
	if len(missing) == 0 {
		return checks
	}
	return append(checks, ok(strings.Join(missing, ", "),
		"not ready, and only needed to drive such devices; `trailblaze doctor --platform NAME` shows what is missing"))
}

func (d Device) check(ctx context.Context) Check {
	detail, err := d.Check(ctx)
	if err == nil {
		return ok(d.Name, detail)
	}
	if len(d.Settings) > 0 || fault.KindOf(err) == fault.PermissionDenied {
		return fromError(d.Name, Fail, err)
	}
	c := fromError(d.Name, Warn, err)
	c.Hint = strings.TrimSuffix("only needed to drive "+d.Kind+" devices; "+c.Hint, "; ")
	return c
}

func (o Options) projectFiles() Check {
	const name = "project files"
	switch {
	case o.ProjectErr != nil && fault.KindOf(o.ProjectErr) == fault.Misuse && !o.ProjectNamed:
		return fromError(name, Warn, o.ProjectErr)
	case o.ProjectErr != nil:
		c := fromError(name, Fail, o.ProjectErr)
		if fault.KindOf(o.ProjectErr) != fault.Misuse { // such as a folder that does not exist
			c.Hint = "`trailblaze check` shows each place"
		}
		return c
	case len(o.Project.Notes()) > 0:
		return Check{name, Warn, o.Project.Notes().Error(), "`trailblaze check` shows each place"}
	}
	return ok(name, o.Project.Root)
}

// servers checks every configured server. With Probe it starts all of them concurrently.
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
	if s.IsScript() {
		if c = o.script(ctx, name, s); c.Status == Fail {
			return c
		}
	}
	if o.Probe == nil {
		if s.Command == "" {
			return c
		}
		return o.command(c, s)
	}
	probed, err := o.Probe(ctx, s)
	if err != nil {
		return fromError(name, Fail, err)
	}
	first, more, _ := strings.Cut(c.Detail, "\n")
	c.Detail = strings.TrimSpace(fmt.Sprintf("%s: %s\n%s", first, text.Count(probed.Tools, "tool"), more))
	if len(probed.Warnings) > 0 {
		c.Status, c.Detail = Warn, strings.Join(append([]string{c.Detail}, probed.Warnings...), "\n")
	}
	return c
}

// command checks that the command of a server exists. It does not start the command.
func (o Options) command(c Check, s config.Server) Check {
	path, err := spawn.FindCommand(s.Command, s.Dir, device.WithVariables(o.Env, s.Env))
	if err != nil {
		return fromError(c.Name, Fail, err)
	}
	c.Detail = path
	return c
}

// script checks that a script can run and describes with what it would. It does not start the script.
func (o Options) script(ctx context.Context, name string, s config.Server) Check {
	if len(s.Functions) > 0 {
		return o.functions(ctx, name, s)
	}
	if err := jsruntime.CheckScript(s.Script); err != nil {
		return fromError(name, Fail, err)
	}
	command, err := o.Runtimes.Command(ctx, jsruntime.Script{Path: s.Script, Runtime: s.Runtime, OnDevice: o.OnDevice})
	if err != nil {
		return fromError(name, Fail, err)
	}
	defer command.Release()
	if err := o.Runtimes.CheckPackages(ctx, s.Script, command); err != nil {
		return fromError(name, Fail, err)
	}
	missing, unlisted := jsruntime.CheckImports(ctx, s.Script)
	if missing != nil {
		return fromError(name, Fail, missing)
	}
	c := ok(name, fmt.Sprintf("%s %s (%s)", command.Runtime, s.Script, command.Why))
	if unlisted != nil {
		w := fromError(name, Warn, unlisted)
		c.Status, c.Detail, c.Hint = Warn, c.Detail+"\n"+w.Detail, w.Hint
	}
	return c
}

func (o Options) leftovers() Check {
	const name = "leftover processes"
	if info, err := os.Stat(filepath.Dir(o.StateDir)); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return ok(name, "none") // nothing can have been recorded there; the check of the cache reports that
	}
	killed, err := spawn.Reap(o.StateDir)
	switch {
	case err != nil && len(killed) == 0:
		return Check{name, Fail, err.Error(), "make " + o.StateDir + " a folder that can be read, or remove it"}
	case err != nil:
		return Check{name, Fail, err.Error(), "kill them by their process ids"}
	case len(killed) > 0:
		lines := make([]string, len(killed))
		for i, l := range killed {
			lines[i] = l.String()
		}
		return Check{name, Warn, "killed processes that an earlier run left running: " + strings.Join(lines, "; "), ""}
	}
	return ok(name, "none")
}

func (o Options) cache() Check {
	const name = "cache"
	const hint = "set TRAILBLAZE_CACHE_DIR to a folder that can be written; without it versions of runtimes and bundles are not kept between runs"
	if o.CacheDir == "" {
		return Check{name, Warn, cmp.Or(o.CacheProblem, "the cache folder is not known: HOME is not set"), hint}
	}
	err := os.MkdirAll(o.CacheDir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(o.CacheDir, ".doctor-*"); err == nil {
			err = f.Close()
			_ = os.Remove(f.Name()) // it was created only to check that the folder is writable
		}
	}
	if err != nil {
		return Check{name, Warn, err.Error(), hint}
	}
	bundles := o.Runtimes.Bundles()
	files, size, err := bundles.Size()
	if err != nil {
		return Check{name, Warn, "its size cannot be determined: " + err.Error(), hint}
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
