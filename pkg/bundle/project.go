package bundle

import (
	"cmp"
	"encoding/json"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Elsewhere is what to do about what the embedded engine does not have.
const Elsewhere = "install bun (https://bun.sh) or node, or keep what needs it in a server of its own with runtime: bun"

// ProjectDir returns the nearest folder from dir upwards that has a package.json, dir when none has.
func ProjectDir(dir string) string {
	for at := range Upwards(dir) {
		if exists(filepath.Join(at, "package.json")) {
			return at
		}
	}
	return dir
}

// Upwards are a folder and those above it, up to the root.
func Upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := dir; yield(at); at = filepath.Dir(at) {
			if at == filepath.Dir(at) {
				return
			}
		}
	}
}

// PackageName cuts an import down to what is installed: @scope/name or name.
func PackageName(spec string) string {
	parts := strings.SplitN(spec, "/", 3)
	if strings.HasPrefix(spec, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// InstallCommand is the command that installs a package in a project: by the lock file from its folder upwards, without one by the package
// manager that is usual.
func InstallCommand(name, dir, usual string) string {
	manager := cmp.Or(lockedBy(dir), usual)
	install, add := manager+" install", manager+" add"
	if manager == "npm" {
		add = install
	}
	var listed struct{ Dependencies, DevDependencies map[string]string }
	if data, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil && json.Unmarshal(data, &listed) == nil &&
		listed.Dependencies[name]+listed.DevDependencies[name] != "" {
		return install
	}
	return add + " " + name
}

// lockedBy is the package manager whose lock file is the nearest from dir upwards, "" for none.
func lockedBy(dir string) string {
	managers := []struct{ lock, name string }{
		{"bun.lock", "bun"}, {"bun.lockb", "bun"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"package-lock.json", "npm"},
	}
	for at := range Upwards(dir) {
		for _, m := range managers {
			if exists(filepath.Join(at, m.lock)) {
				return m.name
			}
		}
	}
	return ""
}

// FileURL is an absolute path as a file: URL.
func FileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
