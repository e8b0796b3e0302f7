package trailmap

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tsschema"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// scripted is a tool that a script defines.
type scripted struct {
	name       word   // its position is known if a descriptor has it
	file       string // the script, or the descriptor
	line       int    // of the export; 0 when the descriptor has the name
	tool       config.FunctionTool
	subprocess bool // it needs bun or node
	remarks    fault.Problems
}

var (
	idForm   = lazyregexp.New(`^[a-z][a-zA-Z0-9]*$`)
	nameForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.\-]*$`)
)

// composedSuffixes returns what ends the names of files with composed tools. Other YAML files in tools/ are descriptors.
func composedSuffixes() []string { return []string{".tool.yaml", ".shortcut.yaml", ".trailhead.yaml"} }

func hasSuffix(path string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) })
}

// readScripted finds the tools that scripts of a trailmap define.
func (l *loader) readScripted(m *trailmap) {
	dir := filepath.Join(m.dir, "tools")
	m.scripts = newScripts(m.dir)
	paths, problems := l.walk(dir, ".ts", ".yaml")
	m.problems = append(m.problems, problems...)
	described := map[string]bool{} // scripts
	for _, path := range paths {
		if strings.HasSuffix(path, ".yaml") && !hasSuffix(path, composedSuffixes()) {
			l.readDescriptor(m, path, described)
		}
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".ts") && !hasSuffix(path, []string{".d.ts", ".test.ts"}) && !described[path] {
			l.readScript(m, path)
		}
	}
	m.problems = append(m.problems, l.twice(m)...)
}

// readScript finds the tool of a script without a descriptor. A script without a tool is a helper.
func (l *loader) readScript(m *trailmap, path string) {
	exports, err := m.scripts.Exports(path)
	exports = slices.DeleteFunc(exports, func(e tsschema.Export) bool { return !e.Tool })
	switch {
	case err != nil:
		m.problems = append(m.problems, fileProblem(path, "", "cannot be read: %v", reason(err)))
	case len(exports) > 1:
		l.remark(fileProblem(path, "write a descriptor with tools: beside it",
			"this script is not used: it exports %d tools, and has no descriptor", len(exports)))
	case len(exports) == 1:
		e := exports[0]
		m.problems = append(m.problems, l.scriptProblems(m, path, e)...)
		m.scripted = append(m.scripted, scripted{name: word{text: e.Name}, file: path, line: e.Line, tool: functionOf(path, e)})
	}
}

// readDescriptor reads a descriptor. One that is malformed is skipped.
func (l *loader) readDescriptor(m *trailmap, path string, described map[string]bool) {
	whole := &descriptor{}
	var each []*descriptor
	script := ""
	problems := l.read(path, func(n yamldoc.Node) {
		readers := whole.readers()
		readers["script"] = func(n yamldoc.Node) { script = l.scriptOf(m, path, word{readText(n), n}) }
		readers["tools"] = func(n yamldoc.Node) {
			if n.Kind() == yamldoc.List && len(n.Items()) == 0 {
				n.Errorf("name a tool", "the list is empty")
			}
			for _, item := range n.Items() {
				d := &descriptor{}
				fields(item, d.readers(), nil)
				if d.name.text == "" && item.Kind() == yamldoc.Mapping {
					item.Errorf("add name: NAME", `"name" is missing`)
				}
				each = append(each, d)
			}
		}
		fields(n, readers, nil)
		if _, has := own(n, "script"); n.Kind() == yamldoc.Mapping && !has {
			n.Errorf("add script: ./FILE.ts", `"script" is missing`)
		}
	})
	for _, p := range problems {
		p.Message = "this descriptor is not used: " + p.Message
		l.remark(p)
	}
	if len(problems) > 0 {
		return
	}
	described[script] = true
	m.scripted = append(m.scripted, m.describedTools(path, script, whole, each)...)
}

// scriptOf returns the script of a descriptor.
func (l *loader) scriptOf(m *trailmap, descriptor string, w word) string {
	path := filepath.Join(filepath.Dir(descriptor), filepath.FromSlash(w.text))
	switch rel, err := filepath.Rel(m.dir, path); {
	case w.text == "":
	case err != nil || !filepath.IsLocal(rel) || !isBelow(m.dir, path):
		w.at.Errorf("name a file of the trailmap", "%s leads out of the trailmap", w.text)
	case !isFile(path):
		w.at.Errorf("paths are relative to the descriptor", "%s does not exist", w.text)
	}
	return path
}

// twice reports names that two scripts of a trailmap define.
func (l *loader) twice(m *trailmap) fault.Problems {
	var problems fault.Problems
	first := map[string]scripted{}
	for _, s := range m.scripted {
		earlier, again := first[s.name.text]
		if !again {
			first[s.name.text] = s
			continue
		}
		problems = append(problems, s.problem("rename one of them", "tool %q is defined twice; first in %s", s.name.text,
			l.rel(earlier.file)))
	}
	return problems
}

// checkScripts reports scripted tools that have the name of another tool of the workspace, and those that targets list
// wrongly.
func (l *loader) checkScripts(own []*trailmap) {
	files := map[string]string{} // of composed tools, by name
	for _, c := range l.anchor.composed {
		files[c.Name] = c.File
	}
	for _, m := range own {
		m.checkScriptSites()
		m.checkHoisted()
		for _, c := range m.composed {
			files[c.Name] = c.File
		}
	}
	for _, m := range own {
		for _, s := range m.scripted {
			l.project.Remarks = append(l.project.Remarks, s.remarks...)
			if module := m.scripts.NodeModule(s.tool.File); module != "" && !s.subprocess {
				l.remark(s.problem("a descriptor with runtime: subprocess makes it run in both",
					"the JVM Trailblaze skips tool %q, because its script imports %s", s.name.text, module))
			}
			file, twice := files[s.name.text]
			if twice && file != s.file && (s.line == 0 || hasSuffix(file, composedSuffixes())) {
				m.problems = append(m.problems, s.problem("rename one of them", "tool %q is also defined in %s", s.name.text, l.rel(file)))
				continue
			}
			files[s.name.text] = s.file
		}
	}
}

// problem returns a problem at the name of the tool.
func (s scripted) problem(hint, format string, args ...any) fault.Problem {
	if s.line == 0 {
		return s.name.at.Problem(hint, format, args...)
	}
	p := fileProblem(s.file, hint, format, args...)
	p.Line, p.Column = s.line, 1
	if data, err := files.Read(s.file, yamldoc.MaxSize); err == nil {
		lines := strings.Split(string(data), "\n")
		if s.line <= len(lines) {
			p.Column = 1 + max(0, strings.Index(lines[s.line-1], s.name.text))
		}
		p.Snippet = yamldoc.Snippet(lines, p.Line, p.Column)
	}
	return p
}

// noteMissingTools records why tools that trails may call are not there: those that are skipped, and those that the JVM
// Trailblaze has and this program does not have.
func (l *loader) noteMissingTools(own []*trailmap) {
	for _, t := range frameworkTools() {
		l.miss(t.name, t.instead, "this version does not have the tool %q of the JVM Trailblaze", t.name)
	}
	for _, m := range own {
		for name, why := range m.skipped {
			l.miss(name, "`trailblaze check` shows the place", "tool %q of %s is skipped: %s", name, m.id, why)
		}
	}
}

// miss records why a tool is not there, unless it is.
func (l *loader) miss(name, hint, format string, args ...any) {
	if _, composed := l.composed[name]; !composed && !slices.Contains(l.tools, name) {
		l.project.MissingTools[name] = fault.New(fault.UnknownTool, hint, "%s", fmt.Sprintf(format, args...))
	}
}

// frameworkTool is a tool of the JVM Trailblaze that this program may not have.
type frameworkTool struct{ name, instead string }

func frameworkTools() []frameworkTool {
	const record = "record the value with saveAs: of a call that reads it"
	const verify = "write a check with a selector or a text"
	return []frameworkTool{
		{"objectiveStatus", "remove the call: it is a message of an agent"},
		{"rememberWithAi", record},
		{"assertWithAi", verify},
		{"android_systemUiDemoMode", ""},
		{"android_writeBytesToFile", ""},
		{"android_writeFileToDownloads", ""},
		{"mobile_listInstalledAppsDetailed", "mobile_listInstalledApps lists the apps"},
	}
}
