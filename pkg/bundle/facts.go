package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A fact is one thing about the file system that a text depends on, and how it was: "<kind> <path>\t<state>". A text may be used
// again while all its facts hold. They are the contents of every input, and of what leads from an import to an input: configuration,
// links, and files that are not there but would be taken if they were.
const (
	contentFact = 'c' // the sum of a file; none when there is no such file
	placeFact   = 'p' // where a path leads when links are followed; none when nowhere
	namesFact   = 'n' // the sum of all names below a folder
)

const none = "-"

// factList collects facts once each.
type factList map[string]string

func (f factList) add(kind byte, path string) string {
	key := string(kind) + " " + path
	if _, known := f[key]; !known {
		f[key] = state(kind, path)
	}
	return f[key]
}

// doubt says that the facts are not all known, so that the text must not be used again.
func (f factList) doubt() { f[""] = none }

// String is the list as it is remembered; "" when there is doubt, or a path does not fit into a line.
func (f factList) String() string {
	if _, doubt := f[""]; doubt {
		return ""
	}
	var lines strings.Builder
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if strings.ContainsAny(key+f[key], "\n\t") {
			return ""
		}
		fmt.Fprintf(&lines, "%s\t%s\n", key, f[key])
	}
	return lines.String()
}

func state(kind byte, path string) string {
	switch kind {
	case contentFact:
		if data, err := readFile(path); err == nil {
			return sumOf(data)
		}
	case placeFact:
		if place, err := filepath.EvalSymlinks(path); err == nil {
			return place
		}
	case namesFact:
		return sumOf([]byte(strings.Join(namesBelow(path), "\n")))
	}
	return none
}

func namesBelow(dir string) []string {
	var names []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return nil
	})
	return names
}

// allTrue reports whether all facts of a list still hold. Reading files is most of it, hence it uses all processors.
func allTrue(list string) bool {
	lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	var next atomic.Int64
	var wrong atomic.Bool
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(lines)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(lines) && !wrong.Load(); i = next.Add(1) - 1 {
				if !isTrue(lines[i]) {
					wrong.Store(true)
				}
			}
		})
	}
	workers.Wait()
	return !wrong.Load()
}

func isTrue(line string) bool {
	key, want, ok := strings.Cut(line, "\t")
	return ok && len(key) > 2 && state(key[0], key[2:]) == want
}

// metafile is what esbuild tells about a text: its inputs, and where their imports led.
type metafile struct {
	Inputs map[string]struct {
		Imports []struct {
			Path     string
			Original string
			External bool
		}
	}
}

// facts lists what the text depends on, "" when that is uncertain.
func (b *builder) facts(data string) string {
	var meta metafile
	if json.Unmarshal([]byte(data), &meta) != nil {
		return ""
	}
	f, configs := factList{}, map[string]*tsconfig{}
	f.add(placeFact, b.script)
	f.yarn(filepath.Dir(b.script))
	for input, entry := range meta.Inputs {
		sum, isFile := b.sums[input]
		if !isFile {
			if filepath.IsAbs(input) {
				return "" // esbuild read it from an archive
			}
			continue
		}
		if sum == "" {
			continue
		}
		f["c "+input] = sum
		dir := filepath.Dir(input)
		path := f.configuration(dir)
		if configs[path] == nil {
			configs[path] = f.tsconfig(path)
		}
		for _, place := range b.maps[input] {
			f.add(contentFact, place) // of an author's own compiler
		}
		for _, i := range entry.Imports {
			spec, found := i.Original, i.Path
			if _, isFile := b.sums[found]; !isFile {
				found = ""
			}
			if i.External && spec == "" {
				spec = i.Path
			}
			f.path(dir, spec, found)
			f.mapped(configs[path], spec, found)
		}
	}
	if f.changedSince(b) {
		return ""
	}
	return f.String()
}

// changedSince reports whether something was written while esbuild may have read it. What it read of inputs is known.
func (f factList) changedSince(b *builder) bool {
	const clock = 20 * time.Millisecond // the clock of file systems lags so much
	for key, sum := range f {
		if key == "" || key[0] != contentFact || sum == none || b.sums[key[2:]] != "" {
			continue
		}
		if info, err := os.Stat(key[2:]); err != nil || info.ModTime().After(b.started.Add(-clock)) {
			return true
		}
	}
	return false
}

// configuration adds the files that steer what becomes of files in a folder, and what its imports mean. It returns the tsconfig.json
// that is in force, "" for none.
func (f factList) configuration(dir string) string {
	f.manifest(dir)
	if isInstalled(dir) {
		return "" // esbuild leaves the tsconfig.json of packages alone
	}
	for at := range Upwards(dir) {
		for _, name := range []string{"tsconfig.json", "jsconfig.json"} {
			if path := filepath.Join(at, name); f.add(contentFact, path) != none {
				return path
			}
		}
	}
	return ""
}

// manifest adds the package.json that is in force in a folder, and returns its path, "" for none.
func (f factList) manifest(dir string) string {
	for at := range Upwards(dir) {
		if filepath.Base(at) == "node_modules" {
			break
		}
		if path := filepath.Join(at, "package.json"); f.add(contentFact, path) != none {
			return path
		}
	}
	return ""
}

// yarn adds the map that yarn has in place of node_modules.
func (f factList) yarn(dir string) {
	for at := range Upwards(dir) {
		for _, name := range []string{".pnp.data.json", ".pnp.cjs", ".pnp.js"} {
			f.add(contentFact, filepath.Join(at, name))
		}
	}
}

// path adds what leads from an import in a folder to the file that was found, "" for none.
func (f factList) path(dir, spec, found string) {
	switch {
	case spec == "" || isBuiltin(spec) || spec == fileModule:
	case strings.HasPrefix(spec, "#"):
		f.internal(dir, spec, found)
	case isPath(spec) && strings.Contains(spec, "*"):
		before, _, _ := strings.Cut(spec, "*")
		f.add(namesFact, join(dir, before[:strings.LastIndex(before, "/")+1]))
	case isPath(spec) && isInstalled(found): // what a package has changes with its version
		if folder := join(dir, spec); strings.HasPrefix(found, folder+string(filepath.Separator)) {
			f.add(contentFact, folder+".js")
		}
	case isPath(spec):
		f.candidates(join(dir, spec), found)
	default:
		f.packages(dir, spec, found)
	}
}

// packages adds the folders in which a package was looked for.
func (f factList) packages(dir, spec, found string) {
	name := PackageName(spec)
	for at := range Upwards(dir) {
		modules := filepath.Join(at, "node_modules")
		if filepath.Base(at) != "node_modules" && f.add(placeFact, modules) != none {
			path := filepath.Join(modules, name)
			if place := f.add(placeFact, path); place != none {
				f.add(contentFact, filepath.Join(path, "package.json"))
				if strings.HasPrefix(found, place+string(filepath.Separator)) {
					if !isInstalled(found) {
						f.candidates(filepath.Join(place, strings.TrimPrefix(spec, name)), found)
					}
					return
				}
			}
		}
	}
}

// candidates adds the files that a path may mean besides the one that was found.
func (f factList) candidates(path, found string) {
	if path == found {
		return
	}
	f.add(placeFact, path)
	f.add(contentFact, path)
	for _, other := range alternatives(path) {
		f.add(contentFact, other)
	}
}

// alternatives are the files that an import of a path may mean when there is no such file.
func alternatives(path string) []string {
	list := []string{filepath.Join(path, "package.json")}
	for _, ext := range []string{".tsx", ".ts", ".jsx", ".js", ".css", ".json"} {
		list = append(list, path+ext, filepath.Join(path, "index"+ext))
	}
	typed := map[string][]string{".js": {".ts", ".tsx"}, ".jsx": {".ts", ".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}
	ext := filepath.Ext(path)
	for _, other := range typed[ext] {
		list = append(list, strings.TrimSuffix(path, ext)+other)
	}
	return list
}

func isInstalled(path string) bool {
	return strings.Contains(filepath.ToSlash(path)+"/", "/node_modules/")
}

func isPath(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../") || filepath.IsAbs(spec)
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// maxInput is more than any script has; a larger file is data that was imported by mistake.
const maxInput = 64 << 20

var errNotAFile = errors.New("not a file")

// readFile reads a regular file. Others may never end; a pipe that nobody writes to is not even waited for.
func readFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotAFile
	case info.Size() > maxInput:
		return nil, fmt.Errorf("it has %d MB, more than the %d MB that can be bundled", info.Size()>>20, maxInput>>20)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return data[:n], nil
}
