// Package cmd is the command line: flags, environment, signals, exit codes, and which renderer gets the events. What the
// commands do lives in the packages below it. Only this package reads the process's arguments, environment and streams,
// once, into a System, so that tests can run whole commands in process.
package cmd

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// System is everything the program takes from the operating system.
type System struct {
	Args    []string // without the program's name
	Env     []string
	Dir     string // working directory
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	OutTTY  bool // stdout is a terminal
	ErrTTY  bool
	Width   int // of the terminal, in columns; 0 when unknown
	Height  int // and in lines
	Now     func() time.Time
	Notify  func(c chan<- os.Signal, signals ...os.Signal)
	Unhook  func(c chan<- os.Signal)
	Version string
	Devices []device.Kind
	Proxy   func(*http.Request) (*url.URL, error) // for servers with a URL; nil means none
}

// NewSystem reads the real process.
func NewSystem(version string) System {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	width, height, _ := term.GetSize(int(os.Stdout.Fd()))
	return System{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())), Width: width, Height: height,
		Now: time.Now, Notify: notify, Unhook: signal.Stop, Version: version, Devices: kinds(),
		Proxy: http.ProxyFromEnvironment,
	}
}

// notify leaves alone what the parent told us to ignore, as nohup does with SIGHUP.
func notify(c chan<- os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Getenv returns a variable of the environment; the last one of a name counts. On Windows names have no case.
func (s System) Getenv(name string) (string, bool) {
	for _, kv := range slices.Backward(s.Env) {
		if key, value, ok := strings.Cut(kv, "="); ok && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			return value, true
		}
	}
	return "", false
}

func (s System) env(name string) string {
	v, _ := s.Getenv(name)
	return v
}

// cacheDir is our folder below the user's cache folder; empty when there is none.
func (s System) cacheDir() string {
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

// stateDir holds the state file that lets a later run find what a killed one left behind.
func (s System) stateDir() string {
	if dir := s.cacheDir(); dir != "" {
		return filepath.Join(dir, "state")
	}
	return ""
}
