// Package cmd is the command line: flags, environment, signals, exit codes, and the choice of renderers. The packages
// below it do the work. Only this package reads the process's arguments, environment and streams, once, into a System,
// so that tests can run whole commands in process.
package cmd

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// System is what the program reads from the operating system, and the kinds of devices.
type System struct {
	Args    []string // without the program's name
	Env     []string // NAME=VALUE; the last of a name counts
	Dir     string   // working directory, absolute
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	OutTTY  bool // whether stdout is a terminal
	ErrTTY  bool // whether stderr is a terminal
	Width   int  // of the terminal in columns, 0 when unknown
	Height  int  // of the terminal in lines, 0 when unknown
	Now     func() time.Time
	Notify  func(c chan<- os.Signal, signals ...os.Signal)
	Unhook  func(c chan<- os.Signal)
	Build   Build
	Devices []device.Kind
	Proxy   func(*http.Request) (*url.URL, error) // for servers with a URL; nil for none
	Parent  func() int                            // the id of the parent process; nil when it does not matter
	// Executable is the path of this program, which is executed again for a session in the background.
	Executable string
	// AdoptOrphans is called once, before anything is started; see [spawn.AdoptOrphans]. Nil for a part of a program that
	// has other children.
	AdoptOrphans func()
	// ExitGrace is how long servers may take to exit after their input was closed, and servers on devices after they
	// were stopped; 0 for the defaults.
	ExitGrace time.Duration
}

// NewSystem reads the real process. version is the version that the linker set, empty for none.
func NewSystem(version string) System {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	info, _ := debug.ReadBuildInfo()
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	width, height, _ := term.GetSize(int(os.Stdout.Fd()))
	return System{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Width: width, Height: height,
		Now: time.Now, Notify: notify, Unhook: signal.Stop, Build: NewBuild(version, info), Devices: kinds(),
		Proxy: http.ProxyFromEnvironment, Parent: parent(), Executable: executable, AdoptOrphans: spawn.AdoptOrphans,
	}
}

// parent returns the function for System.Parent. On Windows the id stays that of the first parent.
func parent() func() int {
	if runtime.GOOS == "windows" {
		return nil
	}
	return os.Getppid
}

// notify is signal.Notify, except that signals which the parent process set to be ignored, as nohup does, stay ignored.
func notify(c chan<- os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Getenv returns the value of an environment variable and whether it is set. On Windows the case of names does not
// matter.
func (s System) Getenv(name string) (string, bool) {
	for _, kv := range slices.Backward(s.Env) {
		key, value, ok := strings.Cut(kv, "=")
		if ok && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			return value, true
		}
	}
	return "", false
}

func (s System) env(name string) string {
	v, _ := s.Getenv(name)
	return v
}

// commandName returns how the user runs this program.
func (s System) commandName() string { return cmp.Or(s.env("TRAILBLAZE_PROGRAM"), "trailblaze") }

// withProgram returns a message with the commands in it as the user runs them.
func (s System) withProgram(message string) string {
	return strings.ReplaceAll(message, "`trailblaze ", "`"+s.commandName()+" ")
}

// inCI reports whether a CI runner may read the output, and take lines of it for commands.
func (s System) inCI() bool {
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"} {
		if value := strings.ToLower(s.env(name)); value != "" && value != "0" && value != "false" {
			return true
		}
	}
	return false
}

// relative returns a path, relative to the working directory if it is below it. It may be empty.
func (s System) relative(path string) string {
	if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// shortPath returns a path relative to the working directory where that is shorter.
func (s System) shortPath(path string) string {
	if rel, err := filepath.Rel(s.Dir, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// abs returns path, made absolute from the working directory.
func (s System) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// cacheDir returns trailblaze's cache folder, empty when the environment names no place for one, or one with a problem.
func (s System) cacheDir() string {
	if s.cacheProblem() != "" {
		return ""
	}
	return s.namedCacheDir()
}

// cacheProblem says why the cache folder that the environment names is not used; empty when it is used.
func (s System) cacheProblem() string {
	dir := s.namedCacheDir()
	if why := files.DistrustReason(dir); why != "" {
		return fmt.Sprintf("the cache folder %s is not used, because %s", dir, why)
	}
	return ""
}

// namedCacheDir returns the cache folder that the environment names.
func (s System) namedCacheDir() string {
	for _, name := range []string{"TRAILBLAZE_CACHE_DIR", "XDG_CACHE_HOME", "LocalAppData"} {
		if dir := s.env(name); dir != "" && filepath.IsAbs(dir) {
			if name == "TRAILBLAZE_CACHE_DIR" {
				return dir
			}
			return filepath.Join(dir, "trailblaze")
		}
	}
	if home := s.env("HOME"); home != "" {
		return filepath.Join(home, ".cache", "trailblaze")
	}
	return ""
}

// stateDir returns the folder of the state file, with which a later run finds the processes of a killed one.
func (s System) stateDir() string {
	if dir := s.cacheDir(); dir != "" {
		return filepath.Join(dir, "state")
	}
	return ""
}
