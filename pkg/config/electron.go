package config

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Electron says how the Electron app of a target is started, or with URL where it runs. Its fields mean what those of
// device.App do, which is converted to it.
type Electron struct {
	Command  string
	Args     []string
	Env      map[string]string
	Port     int
	URL      string
	Timeout  time.Duration
	Headless bool
}

// Fields returns the readers of the keys of an Electron app. text and env read a text and the variables of the app. A
// key without a value counts as absent.
func (e *Electron) Fields(
	text func(yamldoc.Node) string, env func(yamldoc.Node) map[string]string,
) map[string]func(yamldoc.Node) {
	readers := map[string]func(yamldoc.Node){
		"command": func(n yamldoc.Node) { e.Command = text(n) },
		"args": func(n yamldoc.Node) {
			for _, item := range n.Items() {
				e.Args = append(e.Args, text(item))
			}
		},
		"env":     func(n yamldoc.Node) { e.Env = env(n) },
		"cdpPort": func(n yamldoc.Node) { e.Port = readPort(n) },
		"cdpUrl":  func(n yamldoc.Node) { e.URL = readCDPURL(n, text(n)) },
		"cdpTimeoutSeconds": func(n yamldoc.Node) {
			if e.Timeout = time.Duration(n.Int()) * time.Second; e.Timeout < 0 {
				n.Errorf("write a number of seconds", "cdpTimeoutSeconds is negative")
			}
		},
		"headless": func(n yamldoc.Node) { e.Headless = n.Bool() },
	}
	for key, read := range readers {
		readers[key] = func(n yamldoc.Node) {
			if n.Kind() != yamldoc.Null {
				read(n)
			}
		}
	}
	return readers
}

func readPort(n yamldoc.Node) int {
	const last = 1<<16 - 1
	port := n.Int()
	if port < 0 || port > last {
		n.Errorf("write 0 to let the app choose one", "%d is not a port", port)
	}
	return port
}

func readCDPURL(n yamldoc.Node, address string) string {
	for _, scheme := range []string{"http://", "https://", "ws://", "wss://"} {
		if strings.HasPrefix(address, scheme) {
			return address
		}
	}
	n.Errorf("write it like http://127.0.0.1:9222 or ws://…", "%q is not the URL of a debugging port", address)
	return ""
}

// CommandPath returns a command: a path below root if it is written as a path, else a name to look up on PATH.
func CommandPath(root, written string) string {
	if !strings.ContainsAny(written, "/"+string(filepath.Separator)) || filepath.IsAbs(filepath.FromSlash(written)) {
		return written
	}
	return filepath.Join(root, filepath.FromSlash(written))
}

// electron reads the Electron app of a target.
func (l *loader) electron(n yamldoc.Node) Electron {
	var e Electron
	n.Fields(e.Fields(func(n yamldoc.Node) string {
		l.maskDevice("", n.Scalar())
		return l.expandVariables(n, n.Scalar())
	}, l.deviceEnv))
	e.Command = CommandPath(l.project.Root, e.Command)
	if e.Command == "" && e.URL == "" {
		n.Errorf("write command: or cdpUrl:", "the app is neither started nor connected to")
	}
	return e
}

// ElectronFor returns the Electron app of a target; the zero value when it has none.
func (p *Project) ElectronFor(targetID string) Electron {
	t, _ := p.FindTarget(targetID)
	return t.Electron
}
