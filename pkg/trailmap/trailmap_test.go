package trailmap_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trailmap"
)

var update = flag.Bool("update", false, "rewrite the golden sections")

// golden is the file of a txtar archive with what is wrong with the others.
const golden = "want"

// anchor is the anchor file in archives, and maps the folder of trailmaps.
const (
	anchor = "trails/config/trailblaze.yaml"
	maps   = "trails/config/trailmaps/"
)

// tools are some tools that the program has.
var tools = []string{"web_click", "web_evaluate", "web_verifyTextVisible", "tapOn", "wait", "rememberValue"}

func unpack(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(root, f.Name)
		if f.Name == golden {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// load loads a workspace in which nothing is an error.
func load(t *testing.T, files string) *config.Project {
	t.Helper()
	root := unpack(t, txtar.Parse([]byte(files)))
	project, problems := trailmap.Load(root, trailmap.Options{Dir: root}, tools)
	if got := render(root, "error", slices.Concat(problems, project.LeftOut)); got != "" {
		t.Fatal(got)
	}
	return project
}

func render(root, title string, problems fault.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		p.File = filepath.ToSlash(strings.TrimPrefix(p.File, root+string(filepath.Separator)))
		fmt.Fprintf(&b, "%s: %s\n", title, strings.ReplaceAll(p.Error(), root, "ROOT"))
		if p.Snippet != "" {
			fmt.Fprintln(&b, p.Snippet)
		}
		if p.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", p.Hint)
		}
	}
	return b.String()
}

// TestProblems compares everything that is wrong with the workspaces in testdata, each at its position: what makes all of
// it unusable, what leaves out a part, and what is only noted.
func TestProblems(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			root := unpack(t, archive)
			project, problems := trailmap.Load(root, trailmap.Options{Dir: root}, tools)
			got := render(root, "error", problems) + render(root, "left out", project.LeftOut) +
				render(root, "warning", project.Warnings) +
				render(root, "remark", project.Remarks) + "targets:"
			for _, target := range project.Targets {
				got += " " + target.ID
			}
			got += "\ncomposed:"
			for _, c := range project.Composed {
				got += " " + c.Name
			}
			compare(t, name, archive, got+"\n")
		})
	}
}

func compare(t *testing.T, name string, archive *txtar.Archive, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == golden })
	if i < 0 {
		i = len(archive.Files)
		archive.Files = append(archive.Files, txtar.File{Name: golden})
	}
	if *update {
		archive.Files[i].Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// manifest is a file of an archive: a trailmap with a target for the web.
func manifest(id, dependencies, web string) string {
	return fmt.Sprintf("-- %s%s/trailmap.yaml --\nid: %s\ndependencies: [%s]\ntarget:\n  display_name: X\n  platforms:\n    web: {%s}\n",
		maps, id, id, dependencies, web)
}

// library is a file of an archive: a trailmap with defaults for the web.
func library(id, dependencies, web string) string {
	return fmt.Sprintf("-- %s%s/trailmap.yaml --\nid: %s\ndependencies: [%s]\ndefaults:\n  web: {%s}\n", maps, id, id, dependencies, web)
}

// TestDefaultsComeFromTheClosestDependency is the table of precedence: what the target says, then each level of
// dependencies, in a level the one that is declared later.
func TestDefaultsComeFromTheClosestDependency(t *testing.T) {
	t.Parallel()
	a := func(more string) string { return library("a", "deep", "base_url: 'http://a'"+more) }
	b := func(more string) string { return library("b", "trailblaze", "base_url: 'http://b'"+more) }
	deep := library("deep", "", "base_url: 'http://deep', app_ids: [deep], tool_sets: [memory]")
	always := []string{"android_framework", "android_primitives", "core_interaction", "meta", "mobile_primitives", "web_framework"}
	for name, tc := range map[string]struct {
		files string
		want  config.PlatformConfig
	}{
		"no dependency": {manifest("x", "", ""), config.PlatformConfig{}},
		"the framework": {manifest("x", "trailblaze", ""), config.PlatformConfig{
			ToolSets: []string{"web_core", "web_verification", "memory"}, Drivers: []string{"playwright-native", "playwright-electron"},
		}},
		"its own come first": {manifest("x", "a", "base_url: 'http://own'") + a("") + deep, config.PlatformConfig{
			BaseURL: "http://own", AppIDs: []string{"deep"}, ToolSets: []string{"memory"},
		}},
		"null is absent": {manifest("x", "a", "base_url: null, app_ids:") + a("") + deep, config.PlatformConfig{
			BaseURL: "http://a", AppIDs: []string{"deep"}, ToolSets: []string{"memory"},
		}},
		"an empty list is a value": {manifest("x", "a", "app_ids: [], tool_sets: []") + a("") + deep, config.PlatformConfig{
			BaseURL: "http://a", ToolSets: always,
		}},
		"the later one of a level": {manifest("x", "a, b", "") + a(", drivers: [web]") + b("") + deep, config.PlatformConfig{
			BaseURL: "http://b", AppIDs: []string{"deep"}, Drivers: []string{"playwright-native", "playwright-electron"},
			ToolSets: []string{"web_core", "web_verification", "memory"}, // deep and trailblaze are at one level
		}},
		"the closest level": {manifest("x", "b, a, deep", "") + a("") + b("") + deep, config.PlatformConfig{
			BaseURL: "http://deep", AppIDs: []string{"deep"}, ToolSets: []string{"memory"},
			Drivers: []string{"playwright-native", "playwright-electron"},
		}},
		"lists replace each other": {
			manifest("x", "a", "") + a(", excluded_tools: [web_click], tool_sets: [web_core]") +
				library("deep", "", "excluded_tools: [web_evaluate], tool_sets: [memory]"),
			config.PlatformConfig{BaseURL: "http://a", ExcludedTools: []string{"web_click"}, ToolSets: []string{"web_core"}},
		},
		"a target is a dependency, too": {
			manifest("x", "y", "") + "-- " + maps + "y/trailmap.yaml --\nid: y\ndefaults: {web: {base_url: 'http://y'}}\n" +
				"target: {display_name: Y, platforms: {web: {base_url: 'http://not'}}}\n",
			config.PlatformConfig{BaseURL: "http://y"},
		},
		"one of the workspace replaces a bundled one": {
			manifest("x", "trailblaze", "") + library("trailblaze", "", "base_url: 'http://mine'"),
			config.PlatformConfig{BaseURL: "http://mine"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := load(t, "-- "+anchor+" --\n"+tc.files)
			x, _ := project.FindTarget("x")
			if diff := cmp.Diff(tc.want, x.Platforms[scope.Web]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestPlatformsAreThoseOfTheTarget has defaults for a platform that the target does not have, and one that has nothing
// but defaults.
func TestPlatformsAreThoseOfTheTarget(t *testing.T) {
	t.Parallel()
	project := load(t, "-- "+anchor+" --\n-- "+maps+"x/trailmap.yaml --\nid: x\ndependencies: [trailblaze]\n"+
		"target: {id: app, display_name: App, platforms: {ios: {}, android: {drivers: [ANDROID_ONDEVICE_INSTRUMENTATION]}}}\n")
	app, _ := project.FindTarget("app")
	if diff := cmp.Diff([]scope.Platform{scope.IOS, scope.Android}, app.PlatformOrder); diff != "" {
		t.Error(diff)
	}
	want := []string{"core_interaction", "navigation", "observation", "verification", "memory"}
	if diff := cmp.Diff(want, app.Platforms[scope.IOS].ToolSets); diff != "" {
		t.Error(diff)
	}
	resolved, err := scope.Resolve(scope.Request{FlagTarget: "app", FlagPlatform: "android", Targets: project.ScopeTargets()})
	if err != nil || resolved.Driver.Key != "android-ondevice-instrumentation" {
		t.Errorf("the driver is %v, %v", resolved.Driver, err)
	}
}

func TestDefaultTarget(t *testing.T) {
	t.Parallel()
	bakery := manifest("bakery", "", "") + manifest("orders", "bakery", "")
	for name, tc := range map[string]struct {
		anchor, target string
		targets        []string
	}{
		"none is named":     {"", "default", []string{"bakery", "default", "orders"}},
		"one is named":      {"defaults: {target: bakery}", "bakery", []string{"bakery", "default", "orders"}},
		"an unknown one":    {"defaults: {target: bakkery}", "default", []string{"bakery", "default", "orders"}},
		"targets":           {"targets: [bakery]", "default", []string{"bakery", "default"}},
		"with dependencies": {"targets: [orders]\ndefaults: {target: bakery}", "bakery", []string{"bakery", "default", "orders"}},
		"targets is empty":  {"targets: []", "default", []string{"bakery", "default", "orders"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := load(t, "-- "+anchor+" --\n"+tc.anchor+"\n"+bakery)
			var ids []string
			for _, target := range project.Targets {
				ids = append(ids, target.ID)
			}
			if diff := cmp.Diff(tc.targets, ids); diff != "" || project.Target != tc.target {
				t.Errorf("the default is %q\n%s", project.Target, diff)
			}
		})
	}
}

// TestProjectIsFound searches from several folders: the nearest project counts, and ours comes first in one folder.
func TestProjectIsFound(t *testing.T) {
	t.Parallel()
	files := []string{
		"both/" + anchor, "both/trailblaze.yaml", "both/trails/a/b", "theirs/" + anchor, "theirs/trails/a/b", "theirs/ours/trailblaze.yaml",
		"theirs/other/trails/config/trailmaps/x/y", "examples/x/" + anchor, "empty/config/a", "ours/trailblaze.yaml", "ours/theirs/" + anchor,
	}
	archive := &txtar.Archive{}
	for _, name := range files {
		archive.Files = append(archive.Files, txtar.File{Name: name})
	}
	root := unpack(t, archive)
	for name, tc := range map[string]struct {
		dir, override, configDir, want string
		theirs                         bool
	}{
		"its root":                      {dir: "theirs", want: "theirs", theirs: true},
		"below trails":                  {dir: "theirs/trails/a", want: "theirs", theirs: true},
		"the folder of the anchor":      {dir: "theirs/trails/config", want: "theirs", theirs: true},
		"no anchor":                     {dir: "theirs/other/trails/config", want: "theirs", theirs: true},
		"ours is nearer":                {dir: "theirs/ours", want: "theirs/ours"},
		"theirs is nearer":              {dir: "ours/theirs/trails", want: "ours/theirs", theirs: true},
		"ours comes first":              {dir: "both/trails/a", want: "both"},
		"ours, from theirs":             {dir: "both/trails/config", want: "both"},
		"none":                          {dir: "empty"},
		"the environment":               {dir: "empty", configDir: "../examples/x/trails/config", want: "examples/x", theirs: true},
		"before the search":             {dir: "ours", configDir: "../examples/x/trails/config", want: "examples/x", theirs: true},
		"before ours in its folder":     {dir: "empty", configDir: "../both/trails/config", want: "both", theirs: true},
		"the environment has no file":   {dir: "theirs/trails", configDir: "../../empty/config", want: "theirs", theirs: true},
		"the environment has no folder": {dir: "theirs", configDir: "nowhere", want: "theirs", theirs: true},
		"the flag":                      {dir: "empty", override: "../theirs", configDir: "../examples/x/trails/config", want: "theirs", theirs: true},
		"the flag names the config":     {dir: "empty", override: "../theirs/trails/config", want: "theirs", theirs: true},
		"the flag names nothing":        {dir: "theirs", override: "trails/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := trailmap.Options{Dir: filepath.Join(root, tc.dir), Env: func(name string) (string, bool) {
				return tc.configDir, name == trailmap.ConfigDirVariable
			}}
			found, err := config.FindRoot(config.Options{Dir: o.Dir, Override: tc.override, Other: o.Layout()})
			if tc.want == "" {
				if err == nil || !strings.Contains(err.Error(), trailmap.Anchor) {
					t.Errorf("found %q, %v", found, err)
				}
				return
			}
			if found != filepath.Join(root, tc.want) || err != nil || o.Reads(found) != tc.theirs {
				t.Errorf("found %q, %v; theirs is %v", found, err, o.Reads(found))
			}
		})
	}
}

// TestEnvironmentNamesFiles has the anchor in the workspace, and everything else in a folder that the environment names.
func TestEnvironmentNamesFiles(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte("-- "+anchor+" --\ndefaults: {target: x}\n"+
		strings.ReplaceAll(manifest("x", "", ""), "trails/config", "elsewhere"))))
	o := trailmap.Options{Dir: root, Env: func(string) (string, bool) { return "elsewhere", true }}
	project, problems := trailmap.Load(root, o, tools)
	if len(problems) > 0 || project.Target != "x" {
		t.Errorf("target %q; %v", project.Target, problems)
	}
	o.Env = func(string) (string, bool) { return "nowhere", true }
	project, _ = trailmap.Load(root, o, tools)
	if w := project.Warnings.Error(); !strings.Contains(w, "TRAILBLAZE_CONFIG_DIR is ignored: nowhere is not a folder") {
		t.Error(w)
	}
}

// TestMissingToolsSayWhy has scripts, which are there, code of the JVM, and tools that this program lacks or has.
func TestMissingToolsSayWhy(t *testing.T) {
	t.Parallel()
	project := load(t, "-- "+anchor+" --\n"+manifest("x", "", "tools: [x_one, tapOn, assertWithAi], excluded_tools: [x_two, wait]")+
		"-- "+maps+"x/tools/deep/one.ts --\nexport const x_one = trailblaze.tool<In>({}, run);\n"+
		"-- "+maps+"x/tools/two.yaml --\nscript: ./two.ts\ntools: [{name: x_two}]\n"+
		"-- "+maps+"x/tools/two.ts --\nexport const x_two = trailblaze.tool(run);\nexport const x_three = trailblaze.tool(run);\n"+
		"-- "+maps+"x/tools/k.tool.yaml --\nid: x_kotlin\nclass: test.Kotlin\n")
	var got []string
	for name, why := range project.MissingTools {
		if strings.HasPrefix(name, "x_") || strings.HasPrefix(name, "remember") {
			got = append(got, why.Error())
		}
	}
	slices.Sort(got)
	want := []string{
		`this version does not have the tool "rememberWithAi" of the JVM Trailblaze`,
		`tool "x_kotlin" of x is skipped: class: names code of the JVM, which this program cannot run`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	x, _ := project.FindTarget("x")
	if diff := cmp.Diff(config.PlatformConfig{
		Tools: []string{"x_one", "tapOn"}, ExcludedTools: []string{"x_two", "wait"},
	}, x.Platforms[scope.Web]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestComposedTools(t *testing.T) {
	t.Parallel()
	project := load(t, "-- "+anchor+" --\ntools: [{ref: /shared/one.yaml}]\n-- trails/config/shared/one.yaml --\n"+
		"id: one\ndescription: New.\nrequires_host: false\ntools: [wait: {seconds: 1}]\n"+library("x", "", "")+
		"-- "+maps+"x/tools/a/one.tool.yaml --\nid: one\ndescription: Old.\ntools: [wait: {}]\n"+
		"-- "+maps+"x/shortcuts/two.shortcut.yaml --\nid: two\ndescription: |\n  Two.\nshortcut: {from: a, to: b}\nsurface_to_llm: false\n"+
		"is_recordable: false\nis_verification: true\nparameters:\n  - {name: n, type: int, required: false, description: How many., default: 3}\n"+
		"  - {name: s, type: string, default: 3}\n  - {name: any, type: thing, default: null}\n"+
		"tools:\n  - wait:\n  - web_click: {ref: \"{{params.s}}\", more: [1, {a: b}]}\n")
	wants := []config.ComposedTool{
		{
			Name: "one", Description: "New.", Group: "workspace", Calls: []config.ComposedCall{{Tool: "wait", Args: map[string]any{"seconds": int64(1)}}},
			ForAgents: true, Recordable: true, Line: 1,
		},
		{
			Name: "two", Description: "Two.", Group: "x", RequiresHost: true, Line: 1, Parameters: []config.Parameter{
				{Name: "n", Type: "integer", Description: "How many.", HasDefault: true, Default: int64(3)},
				{Name: "s", Type: "string", Required: true, HasDefault: true, Default: "3"},
				{Name: "any", Required: true, HasDefault: true},
			},
			Calls: []config.ComposedCall{
				{Tool: "wait", Args: map[string]any{}},
				{Tool: "web_click", Args: map[string]any{"ref": "{{params.s}}", "more": []any{int64(1), map[string]any{"a": "b"}}}},
			},
		},
	}
	for i := range project.Composed {
		project.Composed[i].File = ""
	}
	if diff := cmp.Diff(wants, project.Composed); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestElectronAppOfTarget(t *testing.T) {
	t.Parallel()
	project := load(t, `
-- trails/config/trailblaze.yaml --
{}
-- trails/config/trailmaps/notes/trailmap.yaml --
id: notes
target:
  display_name: Notes
  electron: {command: bin/notes, args: [--dev], env: {A: 1}, cdpUrl: null, headless: true, newer: 1}
-- trails/config/targets/started.yaml --
id: started
display_name: Started
electron: {cdpUrl: "ws://127.0.0.1:1/x", cdpPort: 9333, cdpTimeoutSeconds: 60}
`)
	want := config.Electron{
		Command: filepath.Join(project.Root, "bin", "notes"), Args: []string{"--dev"}, Env: map[string]string{"A": "1"},
		Port: 9222, Headless: true,
	}
	if diff := cmp.Diff(want, project.ElectronFor("notes")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = config.Electron{URL: "ws://127.0.0.1:1/x", Port: 9333, Timeout: time.Minute}
	if diff := cmp.Diff(want, project.ElectronFor("started")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := render(project.Root, "remark", project.Remarks); !strings.Contains(got, `unknown key "newer" is ignored`) {
		t.Error(got)
	}
}
