package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func targets() []Target { return []Target{Embedded, Node} }

func TestReusesBundleWithUnchangedInputs(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"package.json": `{}`, "main.ts": `import "./a"; import "pkg"; import data from "./data.json"; console.log(data)`, "a/index.ts": `import "./b.js"`,
		"a/b.ts": `console.log("b"); try { require("peer") } catch {}`, "data.json": `{}`, "node_modules/pkg/index.js": `require("./x")`, "node_modules/pkg/x.js": ``,
	})
	script, c := filepath.Join(dir, "main.ts"), Open(t.TempDir())
	for _, target := range targets() {
		made := buildBundle(t, c, script, target)
		write(t, filepath.Join(dir, "a", "unrelated.ts"), "new")
		write(t, filepath.Join(dir, "log.txt"), "new")
		write(t, filepath.Join(dir, "a", "b.ts"), `console.log("b"); try { require("peer") } catch {}`) // the same content with a new modification time
		got := c.lookup(source{path: script}, target)
		if got == nil {
			t.Fatalf("%s: the bundle is not cached", target)
		}
		if diff := cmp.Diff([]string{string(made.Code), made.Key, made.File, string(made.SourceMap())},
			[]string{string(got.Code), got.Key, got.File, string(got.SourceMap())}); diff != "" {
			t.Errorf("%s (-built +cached):\n%s", target, diff)
		}
	}
}

// change is a change that affects a bundle, with the output before and after.
type change struct {
	name          string
	files         map[string]string
	links         map[string]string
	change        func(t *testing.T, dir string)
	before, after string
}

func put(path, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { write(t, filepath.Join(dir, path), text) }
}

func changes() []change {
	return []change{
		{
			"a helper two imports deep",
			map[string]string{"main.ts": `import "./a"`, "a.ts": `import "./b"`, "b.ts": `console.log("one")`},
			nil, put("b.ts", `console.log("two")`), "one", "two",
		},
		{
			"data",
			map[string]string{"main.ts": `import d from "./d.json"; console.log(d.x)`, "d.json": `{"x": "one"}`},
			nil,
			put("d.json", `{"x": "two"}`), "one", "two",
		},
		{
			"a file that comes before the one that was found",
			map[string]string{"main.ts": `import "./a"`, "a/index.ts": `console.log("folder")`},
			nil, put("a.ts", `console.log("file")`), "folder", "file",
		},
		{
			"a file that is named exactly",
			map[string]string{"main.ts": `import "./a.js"`, "a.ts": `console.log("ts")`},
			nil, put("a.js", `console.log("js")`), "ts", "js",
		},
		{
			"a file that is gone",
			map[string]string{"main.ts": `import "./a"`, "a.ts": `console.log("file")`, "a/index.ts": `console.log("folder")`},
			nil, func(t *testing.T, dir string) { remove(t, dir, "a.ts") }, "file", "folder",
		},
		{
			"a package's entry",
			map[string]string{
				"main.ts": `import "p"`, "node_modules/p/package.json": `{"main": "a.js"}`,
				"node_modules/p/a.js": `console.log("a")`, "node_modules/p/b.js": `console.log("b")`,
			},
			nil, put("node_modules/p/package.json", `{"main": "b.js"}`), "a", "b",
		},
		{
			"a nearer package",
			map[string]string{"package.json": `{}`, "main.ts": `import "./in/x"`, "in/x.ts": `import "p"`, "node_modules/p/index.js": `console.log("far")`},
			nil, put("in/node_modules/p/index.js", `console.log("near")`), "far", "near",
		},
		{
			"a package that was not installed",
			map[string]string{"main.ts": `try { console.log(require("p")) } catch { console.log("none") }`},
			nil, put("node_modules/p/index.js", `module.exports = "there"`), "none", "there",
		},
		{
			"a link of a workspace",
			map[string]string{"main.ts": `import "p"`, "one/index.js": `console.log("one")`, "two/index.js": `console.log("two")`},
			map[string]string{"node_modules/p": "../one"},
			func(t *testing.T, dir string) {
				remove(t, dir, "node_modules/p")
				link(t, "../two", filepath.Join(dir, "node_modules/p"))
			}, "one", "two",
		},
		{
			"a link to a file",
			map[string]string{"main.ts": `import "./l"`, "one.ts": `console.log("one")`, "two.ts": `console.log("two")`},
			map[string]string{"l.ts": "one.ts"},
			func(t *testing.T, dir string) {
				remove(t, dir, "l.ts")
				link(t, "two.ts", filepath.Join(dir, "l.ts"))
			}, "one", "two",
		},
		{
			"the script's own link",
			map[string]string{"one.ts": `console.log("one")`, "two.ts": `console.log("two")`},
			map[string]string{"main.ts": "one.ts"},
			func(t *testing.T, dir string) {
				remove(t, dir, "main.ts")
				link(t, "two.ts", filepath.Join(dir, "main.ts"))
			}, "one", "two",
		},
		{
			"paths in tsconfig.json",
			map[string]string{
				"main.ts": `import "@/x"`, "one/x.ts": `console.log("one")`, "two/x.ts": `console.log("two")`,
				"tsconfig.json": `{"compilerOptions": {"paths": {"@/*": ["./one/*"]}}}`,
			},
			nil, put("tsconfig.json", `{"compilerOptions": {"paths": {"@/*": ["./two/*"]}}}`), "one", "two",
		},
		{
			"what a tsconfig.json extends",
			map[string]string{
				"main.ts": `import "@/x"`, "one/x.ts": `console.log("one")`, "two/x.ts": `console.log("two")`,
				"tsconfig.json": `{"extends": ["./c/base"]}`, "c/base.json": `{"compilerOptions": {"paths": {"@/*": ["../one/*"]}}}`,
			},
			nil, put("c/base.json", `{"compilerOptions": {"paths": {"@/*": ["../two/*"]}}}`), "one", "two",
		},
		{
			"a tsconfig.json that was not there",
			map[string]string{"package.json": `{}`, "in/main.ts": ``, "main.ts": `class A { x = 1 }; class B extends A { declare y: number; x }; console.log(new B().x)`},
			nil, put("tsconfig.json", `{"compilerOptions": {"useDefineForClassFields": false}}`), "undefined", "1",
		},
		{
			"imports of package.json",
			map[string]string{
				"main.ts": `import "#x"`, "one.ts": `console.log("one")`, "two.ts": `console.log("two")`,
				"package.json": `{"imports": {"#x": "./one.ts"}}`,
			},
			nil, put("package.json", `{"imports": {"#x": "./two.ts"}}`), "one", "two",
		},
		{
			"a module whose name is made when the script runs",
			map[string]string{
				"main.ts": "const n = process.argv.length > 0 ? \"b\" : \"\"; (async () => import(`./p/${n}.ts`))().then((m) => console.log(m.default), () => console.log(\"none\"))", "p/a.ts": ``,
			},
			nil, put("p/b.ts", `export default "there"`), "none", "there",
		},
		{
			"the map of a compiler",
			map[string]string{
				"main.js": "", "main.ts": `import "./a.js"; console.log("same")`, "a.js": "1;\n//# sourceMappingURL=a.js.map",
				"a.js.map": `{"version":3,"sources":["one.ts"],"names":[],"mappings":"AAAA"}`,
			},
			nil, put("a.js.map", `{"version":3,"sources":["two.ts"],"names":[],"mappings":"AAAA"}`), "same", "same",
		},
		{
			"what a tsconfig.json with comments extends",
			map[string]string{
				"main.ts":  `import "@/x"`,
				"one/x.ts": `console.log("one")`, "two/x.ts": `console.log("two")`,
				"tsconfig.json": "{ // \"\n/* c */ \"extends\" /* x */\n: \"./c/base\" , }",
				"c/base.json":   `{"compilerOptions": {"paths": {"@/*": ["../one/*"]}}}`,
			},
			nil, put("c/base.json", `{"compilerOptions": {"paths": {"@/*": ["../two/*"]}}}`), "one", "two",
		},
		{
			"what a tsconfig.json of a workspace says",
			map[string]string{
				"main.ts":  `import "@/x"`,
				"one/x.ts": `console.log("one")`, "two/x.ts": `console.log("two")`,
				"tsconfig.json":      `{"extends": "@acme/ts/base.json"}`,
				"in/ts/base.json":    `{"compilerOptions": {"paths": {"@/*": ["../../one/*"]}}}`,
				"in/ts/package.json": `{}`,
			},
			map[string]string{"node_modules/@acme/ts": "../../in/ts"},
			put("in/ts/base.json", `{"compilerOptions": {"paths": {"@/*": ["../../two/*"]}}}`), "one", "two",
		},
		{
			"what a package exports as tsconfig.json",
			map[string]string{
				"main.ts":  `import "@/x"`,
				"one/x.ts": `console.log("one")`, "two/x.ts": `console.log("two")`,
				"tsconfig.json":                        `{"extends": "@acme/ts/base"}`,
				"node_modules/@acme/ts/conf/base.json": `{"compilerOptions": {"paths": {"@/*": ["../../../../one/*"]}}}`,
				"node_modules/@acme/ts/package.json":   `{"exports": {"./*": {"default": "./conf/*.json"}}}`,
			},
			nil, put("node_modules/@acme/ts/conf/base.json", `{"compilerOptions": {"paths": {"@/*": ["../../../../two/*"]}}}`), "one", "two",
		},
		{
			"the first of several paths",
			map[string]string{
				"main.ts":       `import "@/x"`,
				"b/x.ts":        `console.log("one")`,
				"tsconfig.json": `{"compilerOptions": {"paths": {"@/*": ["./a/*", "./b/*"]}}}`,
			},
			nil, put("a/x.ts", `console.log("two")`), "one", "two",
		},
		{
			"a file before a package",
			map[string]string{
				"main.ts":                 `import "p"`,
				"node_modules/p/index.js": `console.log("one")`,
				"tsconfig.json":           `{"compilerOptions": {"baseUrl": "./base"}}`,
				"base/other.ts":           ``,
			},
			nil, put("base/p.ts", `console.log("two")`), "one", "two",
		},
		{
			"a nearer package that package.json imports",
			map[string]string{
				"main.ts":                 `import "./in/x"`,
				"in/x.ts":                 `import "#p"`,
				"in/package.json":         `{"imports": {"#p": "p"}}`,
				"node_modules/p/index.js": `console.log("one")`,
			},
			nil, put("in/node_modules/p/index.js", `console.log("two")`), "one", "two",
		},
		{
			"a file before a folder in a package",
			map[string]string{
				"main.ts":                   `import "p"`,
				"node_modules/p/index.js":   `require("./x")`,
				"node_modules/p/x/index.js": `console.log("one")`,
			},
			nil, put("node_modules/p/x.js", `console.log("two")`), "one", "two",
		},
		{
			"a map in another folder",
			map[string]string{
				"main.ts":    `import "./a.js"; console.log("same")`,
				"a.js":       "1;\n//# sourceMappingURL=maps/a.map",
				"maps/a.map": `{"version":3,"sources":["one.ts"],"names":[],"mappings":"AAAA"}`,
			},
			nil, put("maps/a.map", `{"version":3,"sources":["two.ts"],"names":[],"mappings":"AAAA"}`), "same", "same",
		},
	}
}

func remove(t *testing.T, dir, path string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, path)); err != nil {
		t.Fatal(err)
	}
}

func TestRebuildsAfterChanges(t *testing.T) {
	t.Parallel()
	for _, ch := range changes() {
		t.Run(ch.name, func(t *testing.T) {
			t.Parallel()
			dir, c := project(t, ch.files), Open(t.TempDir())
			for path, target := range ch.links {
				link(t, target, filepath.Join(dir, path))
			}
			script := filepath.Join(dir, "main.ts")
			says := func() string {
				stdout, stderr := run(t, dir, "", servers(t, "node_modules", ".bin", "bun"), "run", "--no-install", buildBundle(t, c, script, Node).File)
				return strings.TrimSpace(stdout + stderr)
			}
			if got := says(); got != ch.before {
				t.Fatalf("output before the change: %q, want %q", got, ch.before)
			}
			if c.lookup(source{path: script}, Node) == nil {
				t.Fatal("the bundle is not cached")
			}
			ch.change(t, dir)
			if c.lookup(source{path: script}, Node) != nil {
				t.Fatal("the cached bundle is still used")
			}
			if got := says(); got != ch.after {
				t.Errorf("output after the change: %q, want %q", got, ch.after)
			}
		})
	}
}

func TestDoesNotCacheWithRecentlyWrittenConfig(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": ``, "package.json": `{}`})
	if err := os.Chtimes(filepath.Join(dir, "package.json"), time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	c, script := Open(t.TempDir()), filepath.Join(dir, "main.ts")
	buildBundle(t, c, script, Embedded)
	if c.lookup(source{path: script}, Embedded) != nil {
		t.Error("the bundle is cached")
	}
}

func TestDamagedCache(t *testing.T) {
	t.Parallel()
	damages := map[string]func(t *testing.T, path string, data []byte){
		"truncated": func(t *testing.T, path string, data []byte) { write(t, path, string(data[:len(data)/2])) },
		"empty":     func(t *testing.T, path string, _ []byte) { write(t, path, "") },
		"changed":   func(t *testing.T, path string, data []byte) { data[len(data)/2] ^= 1; write(t, path, string(data)) },
		"longer":    func(t *testing.T, path string, data []byte) { write(t, path, string(data)+"x") },
		"gone":      func(t *testing.T, path string, _ []byte) { remove(t, path, "") },
		"a folder": func(t *testing.T, path string, _ []byte) {
			remove(t, path, "")
			write(t, filepath.Join(path, "x"), "")
		},
	}
	dir := project(t, map[string]string{"main.ts": `import "./a"; console.log(1)`, "a.ts": `console.log("a")`})
	script := filepath.Join(dir, "main.ts")
	for name, damage := range damages {
		for _, target := range targets() {
			t.Run(name+" "+target.String(), func(t *testing.T) {
				t.Parallel()
				cache := t.TempDir()
				want := buildBundle(t, Open(cache), script, target)
				files, err := os.ReadDir(cache)
				if err != nil || len(files) != 3 {
					t.Fatalf("the cache has %d files: %v", len(files), err)
				}
				for _, file := range files {
					path := filepath.Join(cache, file.Name())
					data, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					damage(t, path, append([]byte{}, data...))
					got := buildBundle(t, Open(cache), script, target)
					if string(got.Code) != string(want.Code) || got.Key != want.Key {
						t.Errorf("with %s %s the bundle differs", file.Name(), name)
					}
					if target == Node {
						if onDisk, err := os.ReadFile(got.File); string(onDisk) != string(want.Code) {
							t.Errorf("with %s %s the file for node differs: %v", file.Name(), name, err)
						}
					}
				}
			})
		}
	}
}

func TestUnwritableCache(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": `console.log("runs", process.argv[1] === import.meta.filename)`, "file": ""})
	script := filepath.Join(dir, "main.ts")
	for _, cache := range []string{"", filepath.Join(dir, "file", "cache")} {
		c := Open(cache)
		if b := buildBundle(t, c, script, Embedded); len(b.Code) == 0 || len(b.SourceMap()) == 0 {
			t.Errorf("%q: no code or no source map", cache)
		}
		b := buildBundle(t, c, script, Node)
		if stdout, stderr := run(t, dir, "", node20(t), b.File); stdout != "runs true\n" {
			t.Errorf("%q: output %q, %s", cache, stdout, stderr)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(b.File)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %s was not removed: %v", cache, filepath.Dir(b.File), err)
		}
		for range 2 {
			if data, err := load(t.Context(), Open(cache), "key", "data"); data != "data" || err != nil {
				t.Errorf("%q: data %q (%v)", cache, data, err)
			}
		}
		if files, bytes, err := c.Size(); files != 0 || bytes != 0 || cache == "" && err != nil {
			t.Errorf("%q has %d files with %d bytes, %v", cache, files, bytes, err)
		}
		if err := c.Clean(); cache == "" && err != nil {
			t.Errorf("clean: %v", err)
		}
	}
}

func TestConcurrentUseOfCache(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": `import "./a"; console.log(1)`, "a.ts": `console.log("a")`})
	script, cache := filepath.Join(dir, "main.ts"), t.TempDir()
	want := map[Target]string{}
	for _, target := range targets() {
		want[target] = string(buildBundle(t, Open(""), script, target).Code)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := Open(cache) // as in another process
			for range 5 {
				target := targets()[i%2]
				b, err := c.Bundle(t.Context(), script, target)
				if err != nil {
					t.Error(err)
					continue
				}
				if string(b.Code) != want[target] {
					t.Errorf("%s: the bundle differs", target)
				}
				text := strings.Repeat("data", 1000)
				if data, err := load(t.Context(), c, "same key", text); err != nil || data != text {
					t.Errorf("%d bytes of data (%v)", len(data), err)
				}
				if i == 0 {
					if err := c.Clean(); err != nil {
						t.Error(err)
					}
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// load loads a key, for which it creates data.
func load(ctx context.Context, c *Cache, key, data string) (string, error) {
	loaded, err := c.Load(ctx, key, func() ([]byte, error) { return []byte(data), nil })
	return string(loaded), err
}

func TestLoadStoresData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	for i, data := range []string{"", "data", strings.Repeat("x", 1<<20)} {
		key := "k/../" + string(rune('a'+i))
		if got, err := load(t.Context(), Open(dir), key, data); got != data || err != nil {
			t.Errorf("%d bytes are new as %d (%v)", len(data), len(got), err)
		}
		c := Open(dir)
		for _, where := range []string{"a file", "memory"} {
			if got, err := load(t.Context(), c, key, "other"); got != data || err != nil {
				t.Errorf("%d bytes from %s are %d (%v)", len(data), where, len(got), err)
			}
		}
	}
}

func TestLoadCreatesDataOnceAtATime(t *testing.T) {
	t.Parallel()
	c := Open("")
	started, finish := make(chan bool), make(chan bool)
	results := make(chan string, 2)
	go func() {
		data, err := c.Load(t.Context(), "key", func() ([]byte, error) {
			close(started)
			<-finish
			return []byte("first"), nil
		})
		results <- fmt.Sprint(string(data), err)
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := load(ctx, c, "key", "second"); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with a cancelled context: %v", err)
	}
	go func() {
		data, err := load(t.Context(), c, "key", "second")
		results <- fmt.Sprint(data, err)
	}()
	close(finish)
	for range cap(results) {
		if got := <-results; got != "first<nil>" {
			t.Errorf("loaded %s", got)
		}
	}
}

func TestLoadContinuesAfterFailures(t *testing.T) {
	t.Parallel()
	c := Open("")
	failed := errors.New("failed")
	if _, err := c.Load(t.Context(), "key", func() ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	func() {
		defer func() {
			if p := recover(); p != "on purpose" {
				t.Errorf("panic %v", p)
			}
		}()
		_, _ = c.Load(t.Context(), "key", func() ([]byte, error) { panic("on purpose") })
	}()
	if data, err := load(t.Context(), c, "key", "data"); data != "data" || err != nil {
		t.Errorf("data %q (%v)", data, err)
	}
}

func TestLoadLimitsMemory(t *testing.T) {
	t.Parallel()
	c := Open("")
	for i := range 5 {
		if _, err := load(t.Context(), c, string(rune('a'+i)), strings.Repeat("x", maxRecentSize/3)); err != nil {
			t.Fatal(err)
		}
		if c.recent.size > maxRecentSize || len(c.recent.entries) > 3 {
			t.Errorf("%d entries with %d bytes are held", len(c.recent.entries), c.recent.size)
		}
	}
}

func TestCleanKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": `1`})
	cache := t.TempDir()
	write(t, filepath.Join(cache, "versions.json"), "{}")
	c := Open(cache)
	for _, target := range targets() {
		buildBundle(t, c, filepath.Join(dir, "main.ts"), target)
	}
	files, bytes, err := c.Size()
	if err != nil || files != 6 || bytes < 1000 {
		t.Errorf("the cache has %d files with %d bytes, %v", files, bytes, err)
	}
	if err := c.Clean(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(cache)
	if err != nil || len(left) != 1 || left[0].Name() != "versions.json" {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tc := range []struct {
		name string
		age  []time.Duration
		size int64 // of each
		want int   // number of files that stay, the most recent ones
	}{
		{"young and small", []time.Duration{time.Hour, 29 * 24 * time.Hour}, 1000, 2},
		{"old", []time.Duration{time.Hour, 31 * 24 * time.Hour, 365 * 24 * time.Hour}, 1000, 1},
		{"too much", []time.Duration{1, 2, 3, 4}, maxTotalSize / 2, 2},
		{"nothing", nil, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := store{dir: t.TempDir()}
			for i, age := range tc.age {
				path := filepath.Join(s.dir, string(rune('a'+i))+blobExt)
				write(t, path, "")
				if err := errors.Join(os.Truncate(path, tc.size), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
					t.Fatal(err)
				}
			}
			s.prune(now)
			left, err := os.ReadDir(s.dir)
			if err != nil || len(left) != tc.want || tc.want > 0 && left[0].Name() != "a"+blobExt {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func TestUsedFilesAreNotPruned(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.ts": `1`})
	for _, target := range targets() {
		cache, script := t.TempDir(), filepath.Join(dir, "main.ts")
		buildBundle(t, Open(cache), script, target)
		files, err := os.ReadDir(cache)
		if err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-maxAge)
		for _, file := range files {
			if err := os.Chtimes(filepath.Join(cache, file.Name()), old, old); err != nil {
				t.Fatal(err)
			}
		}
		buildBundle(t, Open(cache), script, target)
		store{dir: cache}.prune(time.Now().Add(maxAge / 2))
		if left, _ := os.ReadDir(cache); len(left) != len(files) {
			t.Errorf("%s: %d of %d files are left", target, len(left), len(files))
		}
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := project(t, map[string]string{"main.ts": `1`})
	if _, err := Open("").Bundle(ctx, filepath.Join(dir, "main.ts"), Embedded); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
