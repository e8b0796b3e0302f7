package main_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	module   = "github.com/trailblaze/trailblaze"
	decision = "docs/decisions/0001-rooms.md"
)

// mayImport returns the rooms that each room may import. The decision has their order, and what each room is
// independent of.
func mayImport() map[string][]string {
	const (
		main, cmd, report, doctor, run = "main.go", "cmd", "pkg/report", "pkg/doctor", "pkg/run"
		session, replay                = "pkg/session", "pkg/replay"
		server, stdio, spawn, runtime  = "pkg/server", "pkg/stdio", "pkg/spawn", "pkg/runtime"
		discover, config, scope, trail = "pkg/discover", "pkg/config", "pkg/scope", "pkg/trail"
		yamldoc, builtin, callback     = "pkg/yamldoc", "pkg/builtin", "pkg/callback"
		device, web, aria, cdp         = "pkg/device", "pkg/web", "pkg/web/aria", "pkg/cdp"
		chromium, syntax, access       = "pkg/web/chromium", "pkg/web/syntax", "pkg/web/access"
		emulation, storage             = "pkg/web/emulation", "pkg/web/storage"
		minified, packed               = "pkg/web/generate", "sdks/typescript/generate"
		notes, network                 = "pkg/web/notes", "pkg/web/network"
		locate, geometry, axtree       = "pkg/web/locate", "pkg/web/geometry", "pkg/web/axtree"
		downloads                      = "pkg/web/downloads"
		local                          = "pkg/device/local"
		act                            = "pkg/act"
		remote, watch, screen          = "pkg/remote", "pkg/watch", "pkg/screen"
		bundle, engine                 = "pkg/bundle", "pkg/engine"
		event, tool, redact, fault     = "pkg/event", "pkg/tool", "pkg/redact", "pkg/fault"
		files, live, background        = "pkg/files", "pkg/live", "pkg/background"
		mcpserver, webserver           = "pkg/mcpserver", "pkg/webserver"
		livetool, workspace            = "pkg/livetool", "pkg/workspace"
		mobile, source                 = "pkg/mobile", "pkg/mobile/source"
		android, ios, appium           = "pkg/android", "pkg/ios", "pkg/appium"
		devicelog                      = "pkg/mobile/devicelog"
		adb, webdriver                 = "pkg/adb", "pkg/webdriver"
		typings, sdk                   = "pkg/typings", "sdks/typescript"
		lazyregexp, picture, budget    = "pkg/lazyregexp", "pkg/picture", "pkg/budget"
		text, httpclient               = "pkg/text", "pkg/httpclient"
		studio, document               = "pkg/studio", "pkg/studio/document"
		gesture, history, page         = "pkg/studio/gesture", "pkg/studio/history", "pkg/studio/page"
		embedded                       = "pkg/embedded"
		trailmap, composed             = "pkg/trailmap", "pkg/composed"
		tsschema                       = "pkg/tsschema"
		agent, model, pagetext         = "pkg/agent", "pkg/model", "pkg/pagetext"
		scripted                       = "pkg/scripted"
	)
	return map[string][]string{
		main: {cmd},
		cmd: {
			agent, mcpserver, studio, livetool, report, doctor, background, run, live, replay, workspace, scripted, webserver, session, picture, builtin, composed, device, screen, web, android, ios, watch, spawn, runtime, discover, config, model, scope, trail, yamldoc, typings, sdk, event, tool, redact, fault, files, lazyregexp, text,
		},
		mcpserver:  {livetool, discover, fault},
		studio:     {document, gesture, history, page, live, report, device, screen, discover, config, scope, trail, event, tool, fault, files, lazyregexp, text},
		document:   {live, screen, trail, tool, fault, lazyregexp, text},
		gesture:    {live, device, screen, trail, tool, fault, text},
		history:    {document, report, trail, event, fault, text},
		page:       {embedded},
		livetool:   {pagetext, live, discover, trail, event, tool, fault, text},
		agent:      {model, pagetext, live, device, act, screen, discover, trail, event, tool, fault, lazyregexp, text},
		pagetext:   {live, fault},
		report:     {event, tool, redact, fault, files, lazyregexp},
		doctor:     {device, model, server, scripted, spawn, runtime, bundle, discover, config, scope, event, tool, redact, fault, text},
		run:        {replay, session, picture, discover, config, scope, trail, event, tool, redact, fault, files, lazyregexp, text},
		background: {live, event, fault, files, lazyregexp},
		live:       {replay, act, session, callback, device, screen, discover, scope, trail, event, tool, fault, files, lazyregexp, text},
		replay:     {session, discover, config, trail, event, tool, fault, text},
		workspace:  {webserver, session, builtin, composed, scripted, trailmap, device, local, server, remote, stdio, spawn, runtime, discover, config, scope, tool, trail, event, redact, fault, text},
		session:    {budget, callback, device, picture, screen, server, discover, config, scope, trail, event, tool, redact, fault, files},
		builtin:    {discover, tool, fault, lazyregexp},
		composed:   {discover, config, tool, fault, lazyregexp},
		scripted:   {runtime, bundle, config, fault, sdk},
		trailmap:   {tsschema, config, scope, yamldoc, fault, files, lazyregexp},
		tsschema:   {yamldoc, fault, lazyregexp},
		device:     {lazyregexp, picture, screen, tool, fault},
		picture:    {tool, fault, files, lazyregexp},
		local:      {device, spawn},
		webserver:  {stdio, spawn, fault},
		web:        {access, axtree, chromium, downloads, emulation, geometry, locate, network, notes, storage, syntax, device, picture, act, aria, screen, cdp, tool, fault, files, lazyregexp, text},
		minified:   {embedded},
		geometry:   {screen},
		locate:     {notes, device, screen, lazyregexp},
		axtree:     {syntax, screen},
		chromium:   {device, cdp, fault, httpclient, lazyregexp},
		emulation:  {device, fault, lazyregexp},
		storage:    {syntax, fault, files},
		downloads:  {notes, device, text},
		network:    {notes, access, syntax, cdp, tool, fault, files, text},
		notes:      {device, cdp, tool},
		access:     {device, syntax, fault},
		syntax:     {device, act, screen, fault, lazyregexp, text},
		android:    {mobile, source, devicelog, appium, adb, webdriver, device, act, screen, tool, fault, lazyregexp},
		ios:        {mobile, source, devicelog, appium, webdriver, device, act, screen, tool, fault, lazyregexp},
		appium:     {mobile, source, devicelog, webdriver, device, act, screen, fault, files, lazyregexp},
		mobile:     {source, devicelog, device, picture, act, screen, tool, fault, files, lazyregexp, text},
		source:     {screen, fault, lazyregexp, text},
		adb:        {device, fault, lazyregexp},
		devicelog:  {lazyregexp, text},
		webdriver:  {fault, httpclient},
		act:        {fault},
		aria:       {screen, fault, text},
		screen:     {fault, lazyregexp, text},
		cdp:        {fault},
		callback:   {budget, tool, fault},
		remote:     {stdio, spawn, redact, fault, httpclient, text},
		watch:      {fault},
		server:     {event, tool, redact, fault, text},
		stdio:      {spawn, fault, lazyregexp},
		spawn:      {runtime, engine, bundle, fault, files},
		runtime:    {bundle, files, fault, text},
		engine:     {embedded, fault, httpclient},
		bundle:     {files, fault, lazyregexp},
		discover:   {scope, tool, fault, lazyregexp, text},
		config:     {model, scope, yamldoc, tool, fault, files, lazyregexp},
		model:      {fault, files, httpclient, lazyregexp, text},
		scope:      {fault},
		trail:      {budget, scope, yamldoc, tool, fault, files, lazyregexp, text},
		yamldoc:    {fault, lazyregexp, text},
		event:      {tool, fault, text},
		tool:       {fault},
		redact:     {event, tool, fault},
		fault:      {},
		files:      {},
		lazyregexp: {},
		budget:     {},
		text:       {},
		httpclient: {},
		embedded:   {},
		typings:    {lazyregexp},
		sdk:        {},
		packed:     {embedded},
	}
}

// library is a package, or a tree of them, that only some rooms import.
type library struct {
	path   string
	rooms  []string
	reason string
}

func libraries() []library {
	return []library{
		{"os/exec", []string{"pkg/spawn", "pkg/runtime"}, "one place starts and stops processes"},
		{"github.com/modelcontextprotocol/go-sdk", []string{"pkg/server", "pkg/stdio", "pkg/remote", "pkg/mcpserver"}, "a tool's origin matters to nobody else"},
		{"github.com/charmbracelet", []string{"pkg/report", "cmd"}, "nothing else knows how things look"},
		{"github.com/spf13", []string{"cmd"}, "nothing else knows the command line"},
		{"github.com/fsnotify", []string{"pkg/watch"}, "one place watches files"},
		{"github.com/evanw/esbuild", []string{"pkg/bundle", "pkg/engine", "pkg/studio/page", "pkg/web/generate", "pkg/embedded"}, "one place makes bundles, others generate what they embed"},
		{"modernc.org", []string{"pkg/engine"}, "what runs JavaScript matters to nobody else"},
		{"maragu.dev/gomponents", []string{"pkg/report"}, "only reports are written as pages by the program"},
		{"github.com/sashabaranov/go-openai", []string{"pkg/model"}, "how a provider is spoken to matters to nobody else"},
		{"github.com/coder/websocket", []string{"pkg/cdp", "pkg/studio"}, "other rooms do not depend on the transport of a protocol"},
	}
}

func TestRoomsImportOnlyAllowedRooms(t *testing.T) {
	t.Parallel()
	for _, v := range violations(decidedRooms(t), packages(t)) {
		t.Error(v)
	}
}

func TestEveryRoomHasAPackage(t *testing.T) {
	t.Parallel()
	hasPackage := map[string]bool{}
	for pkg := range packages(t) {
		hasPackage[roomOf(pkg)] = true
	}
	for room := range mayImport() {
		if !hasPackage[room] {
			t.Errorf("%s has no package; remove it here and in %s", room, decision)
		}
	}
}

func TestTableEqualsDecision(t *testing.T) {
	t.Parallel()
	rows := decidedRooms(t)
	documented, tabled := slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(mayImport()))
	if diff := cmp.Diff(documented, tabled); diff != "" {
		t.Errorf("rooms (-%s +mayImport):\n%s", decision, diff)
	}
	for room, others := range mayImport() {
		for _, other := range others {
			if rows[other].row < rows[room].row {
				t.Errorf("%s may import %s, which is above it in %s", room, other, decision)
			}
		}
	}
}

func TestViolationsAreReportedWithTheirReason(t *testing.T) {
	t.Parallel()
	got := violations(map[string]decidedRoom{"pkg/trail": {1, "processes"}}, map[string][]string{
		"cmd":             {module + "/pkg/run", "github.com/spf13/cobra"},
		"pkg/trail":       {"fmt", module + "/pkg/fault", module + "/pkg/spawn"},
		"pkg/trail/inner": {module + "/pkg/trail", "os/exec"},
		"pkg/util":        {"fmt"},
	})
	want := []string{
		"pkg/trail imports pkg/spawn: it is independent of processes (" + decision + ")",
		"pkg/trail/inner imports os/exec, which only pkg/spawn, pkg/runtime may: one place starts and stops processes",
		"pkg/util is in no room of " + decision,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// violations returns the imports that are not allowed.
func violations(rows map[string]decidedRoom, imports map[string][]string) []string {
	var out []string
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		room := roomOf(pkg)
		if room == "" {
			out = append(out, fmt.Sprintf("%s is in no room of %s", pkg, decision))
			continue
		}
		for _, imported := range imports[pkg] {
			if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
				if other := roomOf(ours); other != room && !slices.Contains(mayImport()[room], other) {
					out = append(out, fmt.Sprintf("%s imports %s: it is independent of %s (%s)", pkg, ours, rows[room].independentOf, decision))
				}
			}
			for _, lib := range libraries() {
				if within(imported, lib.path) && !slices.Contains(lib.rooms, room) {
					out = append(out, fmt.Sprintf("%s imports %s, which only %s may: %s",
						pkg, imported, strings.Join(lib.rooms, ", "), lib.reason))
				}
			}
		}
	}
	return out
}

func within(p, tree string) bool { return p == tree || strings.HasPrefix(p, tree+"/") }

// roomOf returns the room of a package, "" if it is in none. The root package is the room of main.go.
func roomOf(pkg string) string {
	if pkg == "." {
		return "main.go"
	}
	inner := ""
	for room := range mayImport() {
		if within(pkg, room) && len(room) > len(inner) {
			inner = room
		}
	}
	return inner
}

// packages returns the imports of every package on any system, without those of tests, which are not restricted.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && outside(name):
			return filepath.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(name))
		out[pkg] = append([]string{}, out[pkg]...) // a package without imports is one, too
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(out[pkg], imported) {
				out[pkg] = append(out[pkg], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// outside reports whether a directory contains no part of the program.
func outside(dir string) bool {
	name := filepath.Base(dir)
	return dir != "." && strings.ContainsAny(name[:1], "._") ||
		slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, name)
}

// decidedRoom is the row of a room in the decision.
type decidedRoom struct {
	row           int
	independentOf string
}

// decidedRooms reads the table of the decision. Its rows look like: | `pkg/tool`, `pkg/fault` | does | is independent
// of |.
func decidedRooms(t *testing.T) map[string]decidedRoom {
	t.Helper()
	text, err := os.ReadFile(decision)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]decidedRoom{}
	for i, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\|.*\\| (.*) \\|$").FindAllStringSubmatch(string(text), -1) {
		for room := range strings.SplitSeq(row[1], ", ") {
			out[strings.Trim(room, "`")] = decidedRoom{i, row[2]}
		}
	}
	return out
}
