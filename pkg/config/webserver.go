package config

import (
	"net/url"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// WebServer is a server of the app under test, which a run starts.
type WebServer struct {
	Command       string // for the shell, in the project root
	URL           string // http or https
	Timeout       time.Duration
	ReuseExisting bool
	Env           map[string]string // added to the environment; may be nil
	Targets       []string          // ids of the targets whose trails need it; nil for all trails
}

// ServesAny reports whether trails of one of some targets need the server.
func (w WebServer) ServesAny(targetIDs []string) bool {
	return w.Targets == nil || slices.ContainsFunc(w.Targets, func(id string) bool { return slices.Contains(targetIDs, id) })
}

// webServers reads one server, or a list.
func (l *loader) webServers(n yamldoc.Node) {
	items := []yamldoc.Node{n}
	if n.Kind() == yamldoc.List {
		items = n.Items()
	}
	for _, item := range items {
		l.project.WebServers = append(l.project.WebServers, l.webServer(item))
	}
}

func (l *loader) webServer(n yamldoc.Node) WebServer {
	var w WebServer
	has := map[string]bool{}
	n.Fields(map[string]func(yamldoc.Node){
		"command":       func(n yamldoc.Node) { has["command"], w.Command = true, text(n) },
		"url":           func(n yamldoc.Node) { has["url"], w.URL = true, l.webServerURL(n) },
		"timeout":       func(n yamldoc.Node) { w.Timeout = n.Duration() },
		"reuseExisting": func(n yamldoc.Node) { w.ReuseExisting = n.Bool() },
		"env":           func(n yamldoc.Node) { w.Env = l.deviceEnv(n) },
		"targets": func(n yamldoc.Node) {
			if n.Kind() == yamldoc.List && len(n.Items()) == 0 {
				n.Errorf("remove the key to start the server for every trail", "no trail would need the server")
			}
			for _, item := range n.Items() {
				w.Targets = append(w.Targets, text(item))
				l.namedTargets = append(l.namedTargets, item)
			}
		},
	})
	for _, key := range []string{"command", "url"} {
		if n.Kind() == yamldoc.Mapping && !has[key] {
			n.Errorf(`write command: npm start and url: "http://127.0.0.1:3000"`, "the web server has no %s", key)
		}
	}
	return w
}

func (l *loader) webServerURL(n yamldoc.Node) string {
	raw := text(n)
	address := l.expandVariables(n, raw)
	u, err := url.Parse(address)
	if raw != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		n.Errorf(`write it like "http://127.0.0.1:3000"`, "this is not a URL with http or https")
	}
	return address
}
