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

// Kinds of dependencies.
const (
	contentDep = 'c' // the state is the hash of a file
	pathDep    = 'p' // the state is the path with symbolic links resolved
	listingDep = 'n' // the state is the hash of all paths below a directory
)

// absent is the state of a path that does not exist.
const absent = "-"

// dependencies are facts about the file system that a bundle depends on, each once: from "<kind> <path>" to its state.
// They are the contents of all inputs, and everything that determines where imports lead: configuration, links, and
// files that do not exist but would be used if they did. A bundle is up to date while all states are unchanged.
type dependencies map[string]string

// add adds a dependency with its current state, and returns that.
func (d dependencies) add(kind byte, path string) string {
	key := string(kind) + " " + path
	if _, known := d[key]; !known {
		d[key] = state(kind, path)
	}
	return d[key]
}

// markUncacheable records that the dependencies are incomplete, so that the bundle must not be cached.
func (d dependencies) markUncacheable() { d[""] = absent }

// String returns the dependencies as lines of "<kind> <path>\t<state>"; "" when the bundle is uncacheable, or when a
// path contains a tab or a line break.
func (d dependencies) String() string {
	if _, uncacheable := d[""]; uncacheable {
		return ""
	}
	var lines strings.Builder
	for _, key := range slices.Sorted(maps.Keys(d)) {
		if strings.ContainsAny(key+d[key], "\n\t") {
			return ""
		}
		fmt.Fprintf(&lines, "%s\t%s\n", key, d[key])
	}
	return lines.String()
}

func state(kind byte, path string) string {
	switch kind {
	case contentDep:
		if data, err := readFile(path); err == nil {
			return sumOf(data)
		}
	case pathDep:
		if place, err := filepath.EvalSymlinks(path); err == nil {
			return place
		}
	case listingDep:
		return sumOf([]byte(strings.Join(namesBelow(path), "\n")))
	}
	return absent
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

// upToDate reports whether all states of a list are unchanged. It reads files in parallel.
func upToDate(list string) bool {
	lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	var next atomic.Int64
	var wrong atomic.Bool
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(lines)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(lines) && !wrong.Load(); i = next.Add(1) - 1 {
				if !isCurrent(lines[i]) {
					wrong.Store(true)
				}
			}
		})
	}
	workers.Wait()
	return !wrong.Load()
}

func isCurrent(line string) bool {
	key, want, ok := strings.Cut(line, "\t")
	return ok && len(key) > 2 && key[1] == ' ' && state(key[0], key[2:]) == want
}

// metafile is the part of esbuild's metafile that lists the inputs and where their imports lead.
type metafile struct{ Inputs map[string]metaInput }

type metaInput struct {
	Imports []struct {
		Path     string
		Original string
		External bool
	}
}

// dependencies returns what the bundle depends on, in the format of dependencies.String; "" when that is not known
// completely.
func (b *builder) dependencies(data string) string {
	var meta metafile
	if json.Unmarshal([]byte(data), &meta) != nil {
		return ""
	}
	d, configs := dependencies{}, map[string]*tsconfig{}
	d.add(pathDep, b.script)
	d.addYarnMap(filepath.Dir(b.script))
	for input, entry := range meta.Inputs {
		sum, isFile := b.sums[input]
		if strings.HasPrefix(input, nsGenerated+":") {
			b.addGenerated(d, entry)
			continue
		}
		if !isFile {
			if filepath.IsAbs(input) {
				return "" // in an archive of yarn, which esbuild reads itself
			}
			continue
		}
		if sum == "" {
			continue
		}
		d["c "+input] = sum
		dir := filepath.Dir(input)
		path := d.addConfig(dir)
		if configs[path] == nil {
			configs[path] = d.addTSConfig(path)
		}
		for _, place := range b.sourceMaps[input] {
			d.add(contentDep, place)
		}
		for _, i := range entry.Imports {
			spec, found := i.Original, i.Path
			if _, isFile := b.sums[found]; !isFile {
				found = ""
			}
			if i.External && spec == "" {
				spec = i.Path
			}
			d.addImport(dir, spec, found)
			d.addMapped(configs[path], spec, found)
		}
	}
	if d.changedSince(b) {
		return ""
	}
	return d.String()
}

// changedSince reports whether a file was modified while esbuild may have read it. Inputs are not checked, because the
// builder read them itself.
func (d dependencies) changedSince(b *builder) bool {
	const clockLag = 20 * time.Millisecond // modification times are earlier than the clock by up to this
	for key, sum := range d {
		if key == "" || key[0] != contentDep || sum == absent || b.sums[key[2:]] != "" {
			continue
		}
		if info, err := os.Stat(key[2:]); err != nil || info.ModTime().After(b.started.Add(-clockLag)) {
			return true
		}
	}
	return false
}

// addConfig adds the package.json and tsconfig.json that apply to files in a directory. It returns the path of the
// tsconfig.json; "" for none.
func (d dependencies) addConfig(dir string) string {
	d.addManifest(dir)
	if isInstalled(dir) {
		return "" // esbuild ignores the tsconfig.json of packages
	}
	for at := range AncestorDirs(dir) {
		for _, name := range tsconfigNames() {
			if path := filepath.Join(at, name); d.add(contentDep, path) != absent {
				return path
			}
		}
	}
	return ""
}

// tsconfigNames returns the names of TypeScript's configuration, in the order in which esbuild looks for them.
func tsconfigNames() []string { return []string{"tsconfig.json", "jsconfig.json"} }

// addManifest adds the package.json that applies to a directory, and returns its path; "" for none.
func (d dependencies) addManifest(dir string) string {
	for at := range AncestorDirs(dir) {
		if filepath.Base(at) == "node_modules" {
			break
		}
		if path := filepath.Join(at, "package.json"); d.add(contentDep, path) != absent {
			return path
		}
	}
	return ""
}

// yarnMapNames returns the names of the files that yarn's Plug'n'Play uses instead of node_modules.
func yarnMapNames() []string { return []string{".pnp.data.json", ".pnp.cjs", ".pnp.js"} }

// addYarnMap adds the files of yarn's Plug'n'Play.
func (d dependencies) addYarnMap(dir string) {
	for at := range AncestorDirs(dir) {
		for _, name := range yarnMapNames() {
			d.add(contentDep, filepath.Join(at, name))
		}
	}
}

// addImport adds everything that determines where an import in a directory leads. found is the file that it led to; ""
// for none.
func (d dependencies) addImport(dir, spec, found string) {
	switch {
	case spec == "" || isBuiltin(spec) || spec == fileModule:
	case strings.HasPrefix(spec, "#"):
		d.addInternal(dir, spec, found)
	case isPath(spec) && strings.Contains(spec, "*"):
		before, _, _ := strings.Cut(spec, "*")
		d.add(listingDep, join(dir, before[:strings.LastIndex(before, "/")+1]))
	case isPath(spec) && isInstalled(found): // the files of a package change with its package.json
		if path := join(dir, spec); strings.HasPrefix(found, path+string(filepath.Separator)) {
			d.add(contentDep, path+".js")
		}
	case isPath(spec):
		d.addCandidates(join(dir, spec), found)
	default:
		d.addPackage(dir, spec, found)
	}
}

// addPackage adds the directories in which a package was searched.
func (d dependencies) addPackage(dir, spec, found string) {
	name := PackageName(spec)
	for at := range AncestorDirs(dir) {
		modules := filepath.Join(at, "node_modules")
		if filepath.Base(at) != "node_modules" && d.add(pathDep, modules) != absent {
			path := filepath.Join(modules, name)
			if place := d.add(pathDep, path); place != absent {
				d.add(contentDep, filepath.Join(path, "package.json"))
				if strings.HasPrefix(found, place+string(filepath.Separator)) {
					if !isInstalled(found) {
						d.addCandidates(filepath.Join(place, strings.TrimPrefix(spec, name)), found)
					}
					return
				}
			}
		}
	}
}

// addCandidates adds the files that an import of path can mean instead of the one that was found.
func (d dependencies) addCandidates(path, found string) {
	if path == found {
		return
	}
	d.add(pathDep, path)
	d.add(contentDep, path)
	for _, other := range alternatives(path) {
		d.add(contentDep, other)
	}
}

// alternatives returns the files that an import of path can mean when path itself is not a file.
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
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../") ||
		filepath.IsAbs(spec)
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// maxInputSize is the size limit of an input in bytes. A larger file was probably imported by mistake.
const maxInputSize = 64 << 20

var errNotRegular = errors.New("not a regular file")

// readFile reads a regular file. It fails for other files, reading which may not end, without blocking on a pipe.
func readFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > maxInputSize:
		return nil, fmt.Errorf("its size of %d MB exceeds the limit of %d MB", info.Size()>>20, maxInputSize>>20)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return data[:n], nil
}
