package runtime

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/bundle"
)

// LookPath finds the executable name in path, a list of folders as in PATH. Folders that are not absolute are skipped,
// because what runs must not depend on the working directory. On Windows pathext lists the extensions to try, "" means
// the usual ones. The error is fs.ErrNotExist, or fs.ErrPermission when all that was found is not executable.
func LookPath(name, path, pathext string) (string, error) {
	err := fs.ErrNotExist
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, e := Executable(filepath.Join(dir, name), pathext)
		if e == nil {
			return found, nil
		}
		if errors.Is(e, fs.ErrPermission) {
			err = e
		}
	}
	return "", err
}

// Executable checks that file can be executed, and on Windows completes its extension. The errors are those of
// LookPath.
func Executable(file, pathext string) (string, error) {
	if goruntime.GOOS != "windows" {
		return file, executableFile(file)
	}
	for _, name := range windowsNames(file, pathext) {
		if executableFile(name) == nil {
			return name, nil
		}
	}
	return "", fs.ErrNotExist
}

// windowsNames returns the paths at which Windows looks for an executable file, by the extensions in PATHEXT.
func windowsNames(file, pathext string) []string {
	if pathext == "" {
		pathext = ".com;.exe;.bat;.cmd"
	}
	var names []string
	for ext := range strings.SplitSeq(strings.ToLower(pathext), ";") {
		if ext = "." + strings.TrimPrefix(ext, "."); ext == "." {
			continue
		}
		if strings.HasSuffix(strings.ToLower(file), ext) {
			names = slices.Insert(names, 0, file)
		}
		names = append(names, file+ext)
	}
	return names
}

func executableFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fs.ErrNotExist
	case !info.Mode().IsRegular() || goruntime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

func findBun(path string) string {
	if bun, err := LookPath(executable(Bun), path, ""); err == nil {
		return bun
	}
	// On Windows npm installs a batch file, whose arguments cmd.exe would interpret.
	if shim, err := LookPath("bun.cmd", path, ""); err == nil {
		bun := filepath.Join(filepath.Dir(shim), "node_modules", "bun", "bin", "bun.exe")
		if executableFile(bun) == nil {
			return bun
		}
	}
	return ""
}

// localLoader returns the loader of the tsx that node would find for a script in dir, "" when there is none.
func localLoader(dir string) string {
	for at := range bundle.AncestorDirs(dir) {
		if loader := packageLoader(filepath.Join(at, "node_modules", "tsx")); loader != "" {
			return loader
		}
	}
	return ""
}

// globalLoader returns the loader of the tsx on PATH, which is a link into its package or a script that npm or pnpm
// wrote.
func globalLoader(path string) string {
	bin, err := LookPath("tsx", path, "")
	if err != nil {
		return ""
	}
	if target := shimTarget(bin); target != "" {
		bin = target
	}
	real, err := filepath.EvalSymlinks(bin)
	if err != nil {
		return ""
	}
	// node_modules/tsx/dist/cli.mjs
	for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if loader := packageLoader(dir); loader != "" {
			return loader
		}
	}
	return ""
}

// shimTarget returns the path that a script written by npm or pnpm runs; "" when bin is not such a script.
func shimTarget(bin string) string {
	text, err := readFile(bin, 16<<10) // such scripts are below 2 KiB
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`"(?:\$basedir|%~?dp0%?)[/\\]([^"]*tsx[/\\]dist[/\\][^"]*)"`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return filepath.Join(filepath.Dir(bin), filepath.FromSlash(strings.ReplaceAll(string(m[1]), `\`, "/")))
}

// packageLoader returns the file that `import "tsx"` loads from the package in dir, "" when that is not tsx.
func packageLoader(dir string) string {
	pkg, ok := readPackage(dir)
	if !ok || pkg.Name != "tsx" {
		return ""
	}
	loader := filepath.Join(dir, filepath.FromSlash(mainExport(pkg.Exports)))
	if info, err := os.Stat(loader); err != nil || info.IsDir() {
		return ""
	}
	return loader
}

// mainExport returns the path of "." in the exports of a package.json: a path, or conditions.
func mainExport(exports json.RawMessage) string {
	const usual = "dist/loader.mjs"
	var entries map[string]json.RawMessage
	if json.Unmarshal(exports, &entries) != nil {
		return usual
	}
	var path string
	if json.Unmarshal(entries["."], &path) == nil {
		return path
	}
	var conditions map[string]json.RawMessage
	_ = json.Unmarshal(entries["."], &conditions)
	for _, condition := range []string{"import", "default"} {
		if json.Unmarshal(conditions[condition], &path) == nil {
			return path
		}
	}
	return usual
}

// readFile returns the content of a file, unless it is a pipe or a device, from which reading may never end, or larger
// than limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file, or too large")}
	}
	return os.ReadFile(path)
}
