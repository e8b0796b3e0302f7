package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Load reads the project at root. env looks up the environment variables in ${NAME} and under secrets; nil means that
// none is set. Those that are not set are taken from the file .env in root. The
// problems are those of all files, sorted by position. With any problem the project must not be run, but it holds what
// could be read.
func Load(root string, env func(string) (string, bool)) (*Project, fault.Problems) {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	p := &Project{Root: root, TrailsDir: filepath.Join(root, "trails"), LogsDir: filepath.Join(root, "logs"), KeepProcesses: []string{"adb"}}
	l := &loader{project: p, env: env}
	l.dotenv()
	l.projectFile()
	l.llmKeys()
	for _, path := range l.files("targets") {
		l.read(path, func(n yamldoc.Node) { l.target(path, n) })
	}
	for _, path := range l.files("toolsets") {
		l.read(path, func(n yamldoc.Node) { l.toolset(path, n) })
	}
	l.checkNames()
	slices.SortStableFunc(p.Targets, func(a, b Target) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(p.Toolsets, func(a, b Toolset) int { return strings.Compare(a.ID, b.ID) })
	l.problems.Sort()
	p.Warnings.Sort()
	return p, l.problems
}

// loader collects the content of the files, and the positions of names that must be unique across files.
type loader struct {
	project  *Project
	env      func(string) (string, bool)
	problems fault.Problems

	namedTargets   []yamldoc.Node // ids of targets in the project file
	model          yamldoc.Node   // of llm
	projectServers []name
	targetServers  [][]name // per target file
	targetIDs      []name
	toolsetIDs     []name
}

// name is a name that must be unique, and its position.
type name struct {
	text string
	file string
	at   yamldoc.Node
}

// path returns a path in a file as an absolute one. Relative paths are relative to the project root, in every file.
func (l *loader) path(written string) string {
	path := filepath.FromSlash(written)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(l.project.Root, path)
}

// rel returns a path as messages show it: relative to the project root.
func (l *loader) rel(path string) string {
	if rel, err := filepath.Rel(l.project.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// read parses a file and passes it to use when it is YAML.
func (l *loader) read(path string, use func(yamldoc.Node)) {
	l.project.Files++
	data, err := files.Read(path, yamldoc.MaxSize)
	if err != nil {
		l.fileProblem(path, "", "cannot be read: %v", reason(err))
		return
	}
	doc, root := yamldoc.Parse(path, fault.Config, data)
	if len(doc.Problems()) == 0 {
		use(root)
	}
	l.problems = append(l.problems, doc.Problems()...)
	l.project.Warnings = append(l.project.Warnings, doc.Warnings()...)
}

func (l *loader) fileProblem(path, hint, format string, args ...any) {
	l.problems = append(l.problems, fault.Problem{
		Kind: fault.Config, File: path, Hint: hint,
		Message: fmt.Sprintf(format, args...),
	})
}

// reason returns a file error without the path, which the message contains already.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// files returns the YAML files of a folder of trailblaze-config/, none when it does not exist.
func (l *loader) files(folder string) []string {
	dir := filepath.Join(l.project.Root, configDir, folder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.fileProblem(dir, "", "cannot be read: %v", reason(err))
	}
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case filepath.Ext(path) == ".yaml" && !isDir(path):
			paths = append(paths, path)
		case filepath.Ext(path) == ".yml":
			l.warnIgnored(path)
		}
	}
	return paths
}

// warnIgnored warns of a .yml file that is not read.
func (l *loader) warnIgnored(path string) {
	l.project.Warnings = append(l.project.Warnings, fault.Problem{
		Kind: fault.Config, File: path,
		Message: "this file is not read", Hint: "rename it to end in .yaml",
	})
}

// projectFile reads the project file, if there is one.
func (l *loader) projectFile() {
	p := l.project
	path, old := filepath.Join(p.Root, projectFile), filepath.Join(p.Root, oldProjectFile)
	for _, name := range []string{path, old} {
		if yml := strings.TrimSuffix(name, ".yaml") + ".yml"; isFile(yml) {
			l.warnIgnored(yml)
		}
	}
	switch {
	case isFile(path) && isFile(old):
		l.fileProblem(path, "move what you need into "+projectFile+" and remove the other",
			"%s and %s both exist; a project has one of them", projectFile, oldProjectFile)
	case isFile(old):
		path = old
	case !isFile(path):
		return
	}
	p.File = path
	l.read(path, l.projectBody)
}

func (l *loader) projectBody(n yamldoc.Node) {
	p := l.project
	var driver scope.Driver
	var platform scope.Platform
	var driverAt yamldoc.Node
	agents := once{keys: `"agent" and "preferHostAgent"`}
	servers := once{keys: `"mcpServers" and "trailblazeSubprocessToolsets"`}
	readServers := func(n yamldoc.Node) {
		if servers.claim(n) {
			p.Servers, l.projectServers = l.servers(p.File, n)
		}
	}
	n.Fields(map[string]func(yamldoc.Node){
		"target":   func(n yamldoc.Node) { p.Target, l.namedTargets = text(n), append(l.namedTargets, n) },
		"platform": func(n yamldoc.Node) { platform = readPlatform(n) },
		"driver":   func(n yamldoc.Node) { driver, driverAt = readDriver(n), n },
		"agent": func(n yamldoc.Node) {
			if agents.claim(n) {
				p.AgentMode = readAgentMode(n)
			}
		},
		"preferHostAgent": func(n yamldoc.Node) {
			if agents.claim(n) {
				p.AgentMode = string(scope.OnDevice)
				if n.Bool() {
					p.AgentMode = string(scope.Host)
				}
			}
		},
		"baseUrl":                      func(n yamldoc.Node) { p.BaseURL = l.baseURL(n) },
		"trailsDir":                    func(n yamldoc.Node) { p.TrailsDir = l.path(text(n)) },
		"logsDir":                      func(n yamldoc.Node) { p.LogsDir = l.path(text(n)) },
		"startAhead":                   func(n yamldoc.Node) { p.StartAhead = n.Bool() },
		"keepProcesses":                func(n yamldoc.Node) { p.KeepProcesses = texts(n) },
		"failOn":                       func(n yamldoc.Node) { p.FailOn = n.Words(tool.IncidentKinds()) },
		"run":                          l.runDefaults,
		"webServer":                    l.webServers,
		"reset":                        func(n yamldoc.Node) { p.Reset = readReset(n) },
		"secrets":                      l.secretNames,
		"llm":                          l.llm,
		"callbacks":                    l.callbacks,
		"allow":                        func(n yamldoc.Node) { p.Allow = texts(n) },
		"device":                       l.deviceSettings,
		"devices":                      l.devices,
		"mcpServers":                   readServers,
		"trailblazeSubprocessToolsets": readServers,
	})
	p.Platform, p.Driver = platform.Lower(), driver.Key
	if platform != "" && driver.Key != "" && driver.Platform != platform {
		driverAt.Errorf("remove one of them", "driver %q is for %s, but platform is %s", driver.Key, driver.Platform.Lower(),
			platform.Lower())
	}
}
