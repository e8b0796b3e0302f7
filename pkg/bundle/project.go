package bundle

import (
	"cmp"
	"encoding/json"
	"iter"
	"path/filepath"
	"strings"
)

// OtherRuntimeHint is the hint for features that the embedded engine does not have.
const OtherRuntimeHint = "install bun (https://bun.sh) or node, or keep what needs it in a server of its own with runtime: bun"

// ProjectDir returns the nearest directory from dir upwards that has a package.json, or dir.
func ProjectDir(dir string) string {
	for at := range AncestorDirs(dir) {
		if exists(filepath.Join(at, "package.json")) {
			return at
		}
	}
	return dir
}

// AncestorDirs yields a directory and its ancestors, up to the root.
func AncestorDirs(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := dir; yield(at); at = filepath.Dir(at) {
			if at == filepath.Dir(at) {
				return
			}
		}
	}
}

// PackageName returns the package of an import: name or @scope/name.
func PackageName(spec string) string {
	parts := strings.SplitN(spec, "/", 3)
	if strings.HasPrefix(spec, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// InstallCommand returns the command that installs a package in a project. The package manager is determined by the
// lock file; usual is the default.
func InstallCommand(name, dir, usual string) string {
	manager := cmp.Or(packageManager(dir), usual)
	install, add := manager+" install", manager+" add"
	if manager == "npm" {
		add = install
	}
	var listed struct{ Dependencies, DevDependencies map[string]string }
	data, err := readFile(filepath.Join(dir, "package.json"))
	if err == nil && json.Unmarshal(data, &listed) == nil && listed.Dependencies[name]+listed.DevDependencies[name] != "" {
		return install
	}
	return add + " " + name
}

// packageManager returns the package manager of the nearest lock file from dir upwards; "" for none.
func packageManager(dir string) string {
	managers := []struct{ lock, name string }{
		{"bun.lock", "bun"},
		{"bun.lockb", "bun"},
		{"pnpm-lock.yaml", "pnpm"},
		{"yarn.lock", "yarn"},
		{"package-lock.json", "npm"},
	}
	for at := range AncestorDirs(dir) {
		for _, m := range managers {
			if exists(filepath.Join(at, m.lock)) {
				return m.name
			}
		}
	}
	return ""
}
