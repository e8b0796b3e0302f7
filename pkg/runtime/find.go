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

// LookPath finds the executable name in path, a list of folders as in PATH. Folders that are not absolute are passed over:
// what runs must not depend on the working directory. On Windows pathext lists the extensions to try, "" means the usual
// ones. The error is fs.ErrNotExist, or fs.ErrPermission when all that was found is not executable.
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

// Executable checks that file can be executed, and on Windows completes its extension. The errors are those of LookPath.
func Executable(file, pathext string) (string, error) {
	if goruntime.GOOS != "windows" {
		return file, executableFile(file)
	}
	if pathext == "" {
		pathext = ".com;.exe;.bat;.cmd"
	}
	exts := strings.Split(strings.ToLower(pathext), ";")
	if slices.Contains(exts, strings.ToLower(filepath.Ext(file))) {
		return file, executableFile(file)
	}
	for _, ext := range exts {
		if executableFile(file+ext) == nil {
			return file + ext, nil
		}
	}
	return "", fs.ErrNotExist
}

func executableFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fs.ErrNotExist
	case info.IsDir() || goruntime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

func findBun(path string) string {
	if bun, err := LookPath(executable(Bun), path, ""); err == nil {
		return bun
	}
	// On Windows npm installs a batch file, which must not be started with arguments that are not ours.
	if shim, err := LookPath("bun.cmd", path, ""); err == nil {
		bun := filepath.Join(filepath.Dir(shim), "node_modules", "bun", "bin", "bun.exe")
		if executableFile(bun) == nil {
			return bun
		}
	}
	return ""
}

// localLoader looks for tsx as node would for a script in dir.
func localLoader(dir string) string {
	for at := range bundle.AncestorDirs(dir) {
		if loader := packageLoader(filepath.Join(at, "node_modules", "tsx")); loader != "" {
			return loader
		}
	}
	return ""
}

// globalLoader looks behind the tsx on PATH, which is a link into its package, or a script that npm or pnpm wrote.
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

// shimTarget returns what a script written by npm or pnpm runs, relative to itself; "" when bin is no such script.
func shimTarget(bin string) string {
	const longest = 16 << 10 // such scripts are below 2 KiB
	if info, err := os.Stat(bin); err != nil || info.Size() > longest {
		return ""
	}
	text, err := os.ReadFile(bin)
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`"(?:\$basedir|%~?dp0%?)[/\\]([^"]*tsx[/\\]dist[/\\][^"]*)"`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return filepath.Join(filepath.Dir(bin), filepath.FromSlash(strings.ReplaceAll(string(m[1]), `\`, "/")))
}

// packageLoader returns what `import "tsx"` would load if tsx were the package in dir, "" when it is not.
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

// mainExport reads "exports" of a package.json: a path, or conditions under ".".
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

// packageJSON is what we need of a package.json.
type packageJSON struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	Exports json.RawMessage `json:"exports"`
}

func readPackage(dir string) (packageJSON, bool) {
	var pkg packageJSON
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return pkg, false
	}
	return pkg, json.Unmarshal(data, &pkg) == nil
}
