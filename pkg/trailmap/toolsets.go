package trailmap

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// defineFrameworkToolsets defines the toolsets that the JVM Trailblaze has without a file. What is in them is written
// in the names of this program's commands, with globs; those of other platforms match nothing.
func (l *loader) defineFrameworkToolsets() {
	mobile, web := scope.DriversOf(scope.Android), scope.DriversOf(scope.Web)
	mobile = append(mobile, scope.DriversOf(scope.IOS)...)
	android := scope.DriversOf(scope.Android)
	for _, ts := range []config.Toolset{
		{ID: "core_interaction", Drivers: mobile, AlwaysEnabled: true, Description: "touch and type", Tools: []string{
			"tap*", "longPress*", "inputText*", "eraseText", "clearText", "hideKeyboard", "pressKey", "swipe*", "drag*", "scroll*",
			"pinch", "wait", "waitUntil*", "waitForChange", "mobile_doubleTap",
		}},
		{ID: "navigation", Drivers: mobile, Description: "apps, links and keys of the system", Tools: []string{
			"launchApp", "stopApp", "openUrl", "pressBack", "pressHome",
		}},
		{ID: "observation", Drivers: mobile, Description: "look at the screen", Tools: []string{
			"takeSnapshot", "captureScreen", "findMatches", "isVisible", "hasText", "getElement*", "mobile_getText",
		}},
		{ID: "verification", Drivers: mobile, Description: "check the screen", Tools: []string{
			"assertVisible*", "assertNotVisible*", "assertWaypoint", "verifyScreenshot",
		}},
		{ID: "memory", Description: "remember and compare values", Tools: []string{
			"remember*", "dumpMemory", "assertEquals", "assertNotEquals", "assertMath",
		}},
		{ID: "meta", AlwaysEnabled: true},
		{ID: "web_core", Drivers: web, Description: "use a page", Tools: []string{
			"web_{navigate,click,type,hover,wait,waitForUrl,scroll,pressKey,selectOption,setChecked,uploadFile,dragTo,snapshot,resize}",
			"web_{currentUrl,getText,evaluate,handleDialog,listTabs,switchTab,closeTab,waitForTab}", "findMatches", "web_requestDetails", "wait",
		}},
		{ID: "web_verification", Drivers: web, Description: "check a page", Tools: []string{"web_verify*", "assertWaypoint", "web_assertNetworkEvent"}},
		{ID: "web_framework", Drivers: web, AlwaysEnabled: true, Tools: []string{"web_evaluate"}},
		{ID: "android_framework", Drivers: android, AlwaysEnabled: true, Tools: []string{"android_*", "adbShell"}},
		{ID: "android_primitives", Drivers: android, AlwaysEnabled: true, Tools: []string{"android_*"}},
		{ID: "mobile_primitives", Drivers: mobile, AlwaysEnabled: true, Tools: []string{"mobile_*"}},
	} {
		ts.Partial = true
		l.toolsets[ts.ID] = ts
	}
}

// withoutTools reports whether an id is that of a toolset of the JVM Trailblaze for whose drivers this program has no
// commands.
func withoutTools(id string) bool {
	return strings.HasPrefix(id, "compose_") || strings.HasPrefix(id, "revyl_")
}

// readToolsets reads the toolsets of a trailmap. They are global; of equal ids the last one that is read counts.
func (l *loader) readToolsets(m *trailmap) {
	paths, problems := l.walk(filepath.Join(m.dir, "toolsets"), ".yaml")
	m.problems = append(m.problems, problems...)
	for _, path := range paths {
		m.problems = append(m.problems, l.read(path, func(n yamldoc.Node) { l.readToolset(path, n) })...)
	}
}

func (l *loader) readToolset(path string, n yamldoc.Node) {
	t := config.Toolset{File: path, Partial: true}
	var idAt yamldoc.Node
	var tools words
	fields(n, map[string]func(yamldoc.Node){
		"id":          func(n yamldoc.Node) { t.ID, idAt = readText(n), n },
		"description": func(n yamldoc.Node) { t.Description = n.Str() },
		"platforms": func(n yamldoc.Node) {
			for _, w := range readWords(n).items {
				p, ok := scope.ParsePlatform(w.text)
				switch {
				case ok:
					t.Platforms = append(t.Platforms, p)
				case w.text != compose:
					w.at.Errorf("", "unknown platform %q", w.text)
				}
			}
		},
		"drivers":        func(n yamldoc.Node) { t.Drivers = readDrivers("", n).texts() },
		"always_enabled": func(n yamldoc.Node) { t.AlwaysEnabled = n.Bool() },
		"tools":          func(n yamldoc.Node) { tools = readWords(n) },
	}, nil)
	if idAt.Kind() == yamldoc.Absent && n.Kind() == yamldoc.Mapping {
		n.Errorf("add id: NAME", `"id" is missing`)
	}
	if t.ID == "" {
		return
	}
	t.Line, t.Tools = idAt.Line(), tools.texts()
	l.toolsetTools = slices.DeleteFunc(l.toolsetTools, func(of toolsetTools) bool { return of.id == t.ID })
	l.toolsetTools = append(l.toolsetTools, toolsetTools{t.ID, tools.items})
	l.toolsets[t.ID] = t
}

// toolsetTools are the tools in the file of a toolset.
type toolsetTools struct {
	id    string
	tools []word
}
