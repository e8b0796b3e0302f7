package trail

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Find returns the trail files that the arguments name: files, folders and globs, and with a leading ! what to leave
// out. Without any file, folder or glob it searches defaultDir. It does not search logsDir unless an argument names it.
// The paths are in the order of the arguments, those of one argument sorted, each once; they are relative to cwd when
// below it. Named paths that do not exist, and globs that match nothing while other arguments do, are joined *fault.Error
// of kind NothingMatched.
//
// A link to a file counts as the file, and a broken one with the name of a trail is such an error too. Find follows a
// link to a folder only when an argument names it.
func Find(cwd, defaultDir, logsDir string, args []string) ([]string, error) {
	f := finder{cwd: cwd, logsDir: logsDir, seen: map[string]bool{}}
	var include []string
	for _, arg := range args {
		if pattern, ok := strings.CutPrefix(arg, "!"); ok {
			f.exclude(pattern)
		} else {
			include = append(include, arg)
		}
	}
	if len(include) == 0 {
		f.folder(defaultDir, IsTrail)
	}
	for _, arg := range include {
		f.argument(arg)
	}
	for _, pattern := range f.unmatched {
		if len(f.found) > 0 { // else the caller says so
			f.fail(fault.NothingMatched, "correct it, or leave it out", "%s matches no trail", pattern)
		}
	}
	return f.found, errors.Join(f.errs...)
}

// Misnamed returns the files in the folders that Find searches which look like trails, and which it does not find:
// those that end in .trail.yml.
func Misnamed(cwd, defaultDir, logsDir string, args []string) []string {
	f := finder{cwd: cwd, logsDir: logsDir, seen: map[string]bool{}}
	for _, arg := range args {
		if pattern, ok := strings.CutPrefix(arg, "!"); ok {
			f.exclude(pattern)
		}
	}
	for _, dir := range Searched(defaultDir, args) {
		if info, err := os.Stat(f.abs(dir)); err == nil && info.IsDir() {
			f.folder(dir, func(below string) bool { return strings.HasSuffix(below, ".trail.yml") })
		}
	}
	return f.found
}

// Searched returns the arguments that Find searches: those that name files, folders or globs, else defaultDir.
func Searched(defaultDir string, args []string) []string {
	named := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "!") })
	if len(named) == 0 {
		return []string{defaultDir}
	}
	return named
}

type finder struct {
	cwd      string
	logsDir  string
	excluded []string // patterns over slash paths relative to cwd
	found    []string
	seen     map[string]bool
	errs     []error
	// unmatched are the patterns that match nothing.
	unmatched []string
}

func (f *finder) fail(kind fault.Kind, hint, format string, args ...any) {
	f.errs = append(f.errs, fault.New(kind, hint, format, args...))
}

func (f *finder) argument(arg string) {
	info, err := os.Stat(f.abs(arg))
	switch {
	case err == nil && info.IsDir():
		f.folder(arg, IsTrail)
	case err == nil && isConfig(filepath.Base(arg)):
		f.fail(fault.Misuse, "name a *.trail.yaml file", "%s is a project file, not a trail", arg)
	case err == nil && !info.Mode().IsRegular():
		f.fail(fault.Misuse, "name a *.trail.yaml file", "%s is not a file", arg)
	case err == nil:
		f.add([]string{f.abs(arg)})
	case strings.ContainsAny(arg, "*?[{"):
		f.glob(arg)
	case errors.Is(err, fs.ErrNotExist) && f.isLink(arg):
		f.fail(fault.NothingMatched, "", "%s is a broken link", arg)
	case errors.Is(err, fs.ErrNotExist):
		f.fail(fault.NothingMatched, f.nearest(arg), "%s does not exist", arg)
	default:
		f.fail(fault.Misuse, "", "read %s: %v", arg, errors.Unwrap(err))
	}
}

func (f *finder) isLink(arg string) bool {
	_, err := os.Lstat(f.abs(arg))
	return err == nil
}

func (f *finder) exclude(pattern string) {
	pattern = filepath.ToSlash(f.displayPath(f.abs(pattern)))
	if !doublestar.ValidatePattern(pattern) {
		f.fail(fault.Misuse, "close its brackets", "!%s is not a pattern", pattern)
	}
	f.excluded = append(f.excluded, pattern)
}

// folder adds the files below a folder for whose slash path, relative to that folder, wanted returns true.
func (f *finder) folder(dir string, wanted func(below string) bool) {
	root := f.abs(dir)
	var found []string
	f.walk(root, func(file string) {
		if below, err := filepath.Rel(root, file); err == nil && wanted(filepath.ToSlash(below)) {
			found = append(found, file)
		}
	})
	f.add(found)
}

// walk calls visit for the files below a folder, none when the folder does not exist.
func (f *finder) walk(dir string, visit func(file string)) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.fail(fault.Misuse, "", "read folder %s: %v", f.displayPath(dir), errors.Unwrap(err))
	}
	for _, e := range entries {
		switch full := filepath.Join(dir, e.Name()); {
		case e.IsDir() && !skippedFolder(e.Name()) && full != f.logsDir:
			f.walk(full, visit)
		case e.Type().IsRegular(), e.Type() == fs.ModeSymlink && f.linksToFile(full):
			visit(full)
		}
	}
}

// linksToFile reports whether a link leads to a regular file. Emacs marks files that are being edited with broken
// links.
func (f *finder) linksToFile(link string) bool {
	info, err := os.Stat(link)
	if err == nil {
		return info.Mode().IsRegular()
	}
	if IsTrail(filepath.Base(link)) && !strings.HasPrefix(filepath.Base(link), ".#") && !f.leftOut(f.displayPath(link)) {
		f.fail(fault.NothingMatched, "remove it, or leave it out with !"+f.displayPath(link), "%s is a broken link", f.displayPath(link))
	}
	return false
}

// glob adds the YAML files that a pattern matches, and the trails in folders that it matches.
func (f *finder) glob(pattern string) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	if !doublestar.ValidatePattern(rest) {
		f.fail(fault.Misuse, "close its brackets", "%s is not a pattern", pattern)
		return
	}
	matched := false
	f.folder(base, func(below string) bool {
		wanted := IsTrail(below) && matchesAbove(rest, below)
		if matches(rest, below) {
			wanted = strings.HasSuffix(below, ".yaml") || strings.HasSuffix(below, ".yml")
		}
		wanted = wanted && !isConfig(path.Base(below))
		matched = matched || wanted
		return wanted
	})
	if !matched {
		f.unmatched = append(f.unmatched, pattern)
	}
}

// add adds the files of one argument to the result.
func (f *finder) add(files []string) {
	shown := make([]string, 0, len(files))
	for _, file := range files {
		if name := f.displayPath(file); !f.seen[name] && !f.leftOut(name) {
			f.seen[name] = true
			shown = append(shown, name)
		}
	}
	slices.Sort(shown)
	f.found = append(f.found, shown...)
}

func (f *finder) leftOut(name string) bool {
	return slices.ContainsFunc(f.excluded, func(pattern string) bool {
		below := filepath.ToSlash(name)
		if !strings.Contains(pattern, "/") { // a name matches anywhere in the path
			pattern = "**/" + pattern
		}
		return matches(pattern, below) || matchesAbove(pattern, below)
	})
}

func matches(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok && err == nil
}

// matchesAbove reports whether a pattern matches a folder that contains name.
func matchesAbove(pattern, name string) bool {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if matches(pattern, dir) {
			return true
		}
	}
	return false
}

func (f *finder) abs(name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(f.cwd, name)
}

// displayPath returns an absolute path as messages show it: relative to cwd when below it, with slashes on every
// system.
func (f *finder) displayPath(name string) string {
	if below, err := filepath.Rel(f.cwd, name); err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below)
	}
	return name
}

// MaxSize is the size in bytes of the largest file of a trail or of arguments.
const MaxSize = yamldoc.MaxSize

// ReadFile returns the content of a trail file. name is its name in the problems.
func ReadFile(name, path string) ([]byte, fault.Problems) {
	data, err := files.Read(path, yamldoc.MaxSize)
	if err == nil {
		return data, nil
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return nil, fault.Problems{{Kind: fault.Trail, File: name, Message: "cannot be read: " + err.Error()}}
}

// nearest returns a hint for a path that does not exist.
func (f *finder) nearest(arg string) string {
	dir := filepath.Dir(f.abs(arg))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "the folder " + f.displayPath(dir) + " does not exist either"
	}
	base := filepath.Base(arg)
	var names []string
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.TrimSuffix(name, trailSuffix) == base:
			return "did you mean " + f.displayPath(filepath.Join(dir, name)) + "?"
		case IsTrail(name), e.IsDir() && !skippedFolder(name):
			names = append(names, name)
		}
	}
	if near := fault.Nearest(base, names); len(near) > 0 {
		return "did you mean " + f.displayPath(filepath.Join(dir, near[0])) + "?"
	}
	return ""
}

const trailSuffix = ".trail.yaml"

// IsTrail reports whether a path, with slashes, has the name of a trail.
func IsTrail(name string) bool {
	base := path.Base(name)
	return base == "trail.yaml" || strings.HasSuffix(base, trailSuffix)
}

func isConfig(base string) bool { return base == "trailblaze.yaml" || base == "trailblaze.config.yaml" }

// skippedFolder reports whether a search skips folders with that name.
func skippedFolder(name string) bool {
	switch name {
	case ".git", "node_modules", "build", ".gradle", ".trailblaze":
		return true
	}
	return false
}
