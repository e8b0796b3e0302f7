package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// servers reads a list of entries, or a mapping from names to entries. An empty value has none.
func (l *loader) servers(file string, n yamldoc.Node) (servers []Server, names []name) {
	var entries []*entry
	switch n.Kind() {
	case yamldoc.Null:
	case yamldoc.Mapping:
		for _, e := range n.Entries() {
			entries = append(entries, l.entry(e.Value, &e))
		}
	default:
		for _, item := range n.Items() {
			entries = append(entries, l.entry(item, nil))
		}
	}
	for _, e := range entries {
		e.File = file
		servers = append(servers, e.Server)
		names = append(names, name{e.Name, l.rel(file), e.nameAt})
	}
	return servers, names
}

// entry is a server being read.
type entry struct {
	Server
	l      *loader
	node   yamldoc.Node
	at     map[string]yamldoc.Node // the values, by key
	nameAt yamldoc.Node            // the node that the name comes from
}

// entry reads one server; named is its key in a mapping, nil in a list.
func (l *loader) entry(n yamldoc.Node, named *yamldoc.Entry) *entry {
	e := &entry{l: l, node: n, nameAt: n, at: map[string]yamldoc.Node{}}
	e.Line, e.Column = n.Line(), n.Column()
	if named != nil {
		e.Name, e.nameAt, e.Line, e.Column = named.Key, named.At, named.At.Line(), named.At.Column()
	}
	if n.Kind() != yamldoc.Mapping {
		n.Errorf("write a list of `- script: PATH` and `- command: NAME`, or a mapping from names to them",
			"this is not a server")
		return e
	}
	readers := e.readers()
	for key, read := range readers {
		readers[key] = func(n yamldoc.Node) {
			e.at[key] = n
			read(n)
		}
	}
	n.Fields(readers)
	e.check(named != nil)
	return e
}

func (e *entry) readers() map[string]func(yamldoc.Node) {
	return map[string]func(yamldoc.Node){
		"name":            func(n yamldoc.Node) { text(n) },
		"transport":       func(n yamldoc.Node) { oneOf(n, "transport", "stdio", "http") },
		"script":          e.readScript,
		"command":         e.readCommand,
		"url":             e.readURL,
		"args":            e.readArgs,
		"workingDir":      e.readDir,
		"cwd":             e.readDir,
		"env":             e.readEnv,
		"headers":         e.readHeaders,
		"runtime":         e.readRuntime,
		"startupTimeout":  func(n yamldoc.Node) { e.StartupTimeout = n.Duration() },
		"callTimeout":     func(n yamldoc.Node) { e.CallTimeout = n.Duration() },
		"callbackTimeout": func(n yamldoc.Node) { e.CallbackTimeout = n.Duration() },
		"parallel":        func(n yamldoc.Node) { e.Parallel = n.Bool() },
		"startAhead":      func(n yamldoc.Node) { e.NoPrefetch = !n.Bool() },
		"multiDevice":     func(n yamldoc.Node) { e.MultiDevice = onlyWord(n, "multiDevice", "http") },
		"restart":         func(n yamldoc.Node) { e.RestartOnCrash = onlyWord(n, "restart", "on-crash") },
		"sampling":        func(n yamldoc.Node) { e.Sampling = n.Bool() },
		"rename":          e.readRename,
		"exclude":         func(n yamldoc.Node) { e.Exclude = globs(n) },
	}
}

// readScript reads the path of a script, which must exist.
func (e *entry) readScript(n yamldoc.Node) {
	written := text(n)
	if written == "" {
		return
	}
	e.Script = e.l.path(written)
	info, err := os.Stat(e.Script)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		n.Errorf(e.nearestFile(), "script %q does not exist", written)
	case err != nil:
		n.Errorf("", "script %q cannot be read: %v", written, reason(err))
	case info.IsDir():
		n.Errorf("name the file in it", "script %q is a folder", written)
	case !slices.Contains(scriptExtensions(), filepath.Ext(e.Script)):
		n.Errorf("start other programs with command: and args:", "script %q is neither TypeScript nor JavaScript", written)
	}
}

func scriptExtensions() []string {
	return []string{".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"}
}

// maxHinted is the number of files that a hint lists.
const maxHinted = 10

// nearestFile returns a hint for a script that does not exist.
func (e *entry) nearestFile() string {
	entries, err := os.ReadDir(filepath.Dir(e.Script))
	if err != nil {
		return "the folder " + e.l.rel(filepath.Dir(e.Script)) + " does not exist; paths are relative to the project root"
	}
	var files []string
	for _, f := range entries {
		if slices.Contains(scriptExtensions(), filepath.Ext(f.Name())) {
			files = append(files, f.Name())
		}
	}
	base := filepath.Base(e.Script)
	if near := fault.Nearest(base, files); len(near) > 0 {
		folder := filepath.Dir(e.Script)
		for i, name := range near {
			near[i] = e.l.rel(filepath.Join(folder, name))
		}
		return fault.DidYouMean(e.l.rel(e.Script), near)
	}
	if len(files) > 0 && len(files) <= maxHinted {
		return "the scripts in " + e.l.rel(filepath.Dir(e.Script)) + " are " + strings.Join(files, ", ")
	}
	return "paths are relative to the project root"
}

// readCommand reads a program: a path if it has a separator, else a name to look up on PATH.
func (e *entry) readCommand(n yamldoc.Node) {
	written := text(n)
	e.Command = e.l.expandVariables(n, written)
	if e.Command == "" && written != "" {
		n.Errorf("set its variables, or write a default: ${NAME:-default}",
			"command is empty after expanding environment variables")
	}
	e.Command = CommandPath(e.l.project.Root, e.Command)
}

func (e *entry) readArgs(n yamldoc.Node) {
	for _, item := range n.Items() {
		e.Args = append(e.Args, e.l.expandVariables(item, item.Scalar()))
		e.maskSecrets("", item.Scalar())
	}
}

// readEnv reads the environment of the process. It masks the values of variables that are secrets by their name.
func (e *entry) readEnv(n yamldoc.Node) {
	e.Env = e.l.variables(n)
	for _, v := range n.Entries() {
		e.maskSecrets(v.Key, v.Value.Scalar())
	}
}

// maskSecrets masks the secrets in raw, the text of a key.
func (e *entry) maskSecrets(key, raw string) {
	for name, value := range e.l.secrets(key, raw) {
		e.mask(name, value)
	}
}

// readRename reads the names under which tools are registered.
func (e *entry) readRename(n yamldoc.Node) {
	names := map[string]yamldoc.Node{}
	for _, v := range n.Entries() {
		name := text(v.Value)
		if first, twice := names[name]; twice && name != "" {
			v.Value.Errorf("write another name", "%q is the name of two tools; first in line %d, column %d", name, first.Line(),
				first.Column())
		}
		names[name] = v.Value
		if e.Rename == nil {
			e.Rename = map[string]string{}
		}
		e.Rename[v.Key] = name
	}
}

func (e *entry) readDir(n yamldoc.Node) {
	written := text(n)
	if e.Dir = e.l.path(written); written != "" && !isDir(e.Dir) {
		n.Errorf("paths are relative to the project root", "folder %q does not exist", written)
	}
}

func (e *entry) readRuntime(n yamldoc.Node) {
	e.Runtime = oneOf(n, "runtime", "bun", "node", "embedded")
}

// variables reads a mapping from names to scalars, with environment variables expanded.
func (l *loader) variables(n yamldoc.Node) map[string]string {
	out := map[string]string{}
	for _, v := range n.Entries() {
		if !isVariable(v.Key) {
			v.At.Errorf("", "%q is not a valid name", v.Key)
			continue
		}
		out[v.Key] = l.expandVariables(v.Value, v.Value.Scalar())
	}
	return out
}

// check reports keys of the entry that cannot be combined, and sets what follows from its keys.
func (e *entry) check(inMapping bool) {
	e.checkOneFolder()
	kind := e.kind()
	if kind == "" {
		return
	}
	for key, at := range e.at {
		if takes := keysFor(kind); !slices.Contains(takes, key) {
			at.Errorf("keys for "+kind+": "+strings.Join(takes, ", "), "%q cannot be combined with %q", key, kind)
		}
	}
	e.checkTransport(kind)
	e.warnUnencrypted()
	e.setName(kind, inMapping)
	if kind == "command" && e.Dir == "" {
		e.Dir = e.l.project.Root
	}
}

func (e *entry) checkOneFolder() {
	both := once{keys: `"cwd" and "workingDir"`}
	for _, key := range []string{"cwd", "workingDir"} {
		if at, ok := e.at[key]; ok {
			both.claim(at)
		}
	}
}

// kind returns which of script, command and url the entry has. It is empty, with a problem, unless it is exactly one.
func (e *entry) kind() string {
	var kinds []string
	for _, key := range []string{"script", "command", "url"} {
		if _, ok := e.at[key]; ok {
			kinds = append(kinds, key)
		}
	}
	switch len(kinds) {
	case 0:
		e.node.Errorf("write script: PATH, or command: NAME", "this server has neither script nor command nor url")
		return ""
	case 1:
		return kinds[0]
	}
	e.at[kinds[1]].Errorf("write two entries, or remove one of the keys", "a server has either %s",
		strings.Join(kinds, " or "))
	return ""
}

// keysFor returns the keys that an entry of a kind may have.
func keysFor(kind string) []string {
	keys := []string{
		kind, "name", "transport", "startupTimeout", "callTimeout", "callbackTimeout", "parallel", "sampling", "rename", "exclude",
	}
	switch kind {
	case "script":
		return append(keys, "runtime", "workingDir", "cwd", "env", "startAhead", "multiDevice", "restart")
	case "command":
		return append(keys, "args", "workingDir", "cwd", "env", "startAhead", "multiDevice", "restart")
	default:
		return append(keys, "headers")
	}
}

func (e *entry) checkTransport(kind string) {
	at := e.at["transport"]
	wrong := "http"
	if kind == "url" {
		wrong = "stdio"
	}
	if at.Kind() == yamldoc.Text && at.Str() == wrong {
		at.Errorf("use http with url, stdio with script and command", "transport %q cannot be combined with %q", wrong, kind)
	}
}

// setName sets the server's name: its key in a mapping, else name:, else its script, command or url as written.
func (e *entry) setName(kind string, inMapping bool) {
	at, named := e.at["name"]
	if !named {
		at = e.at[kind]
	}
	if at.Kind() != yamldoc.Text {
		return // reported already
	}
	if !inMapping {
		e.Name, e.nameAt = at.Str(), at
		if !named && kind == "url" {
			e.Name = withoutSecrets(e.Name)
		}
	} else if named && at.Str() != e.Name {
		at.Errorf("remove name:, or rename the key", "the key names this server %q, but name: is %q", e.Name, at.Str())
	}
}
