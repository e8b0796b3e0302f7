package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/bundle"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// packageJSON is the part of a package.json that is used here.
type packageJSON struct {
	Name            string            `json:"name"`
	Version         string            `json:"version"`
	Exports         json.RawMessage   `json:"exports"`
	Engines         map[string]string `json:"engines"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
	Optional        map[string]string `json:"optionalDependencies"`
	Peers           map[string]string `json:"peerDependencies"`
}

// lists reports whether a package.json names a package.
func (p packageJSON) lists(name string) bool {
	return p.Name == name || p.Dependencies[name]+p.DevDependencies[name]+p.Optional[name]+p.Peers[name] != ""
}

// readPackage reads the package.json of a folder. ok is false when there is none that makes sense.
func readPackage(dir string) (pkg packageJSON, ok bool) {
	data, err := readFile(filepath.Join(dir, "package.json"), 4<<20)
	return pkg, err == nil && json.Unmarshal(data, &pkg) == nil
}

// CheckScript returns a *fault.Error unless the script is a file that a runtime can read to its end.
func CheckScript(script string) error {
	info, err := os.Stat(script)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Server, "the entry's script: is looked up from the project's folder", "the script %s does not exist", script)
	case err != nil:
		return fault.Wrap(fault.Server, err, "", "the script cannot be read")
	case info.IsDir():
		return fault.New(fault.Server, "name the script's file", "the script %s is a folder", script)
	case !info.Mode().IsRegular():
		return fault.New(fault.Server, "name a regular file", "the script %s is not a file but a pipe or a device", script)
	}
	return nil
}

// CheckPackages returns a *fault.Error when a script that would run with a command cannot work with the packages around
// it: some that its package.json lists are not installed, or node is older than an SDK or tsx needs.
func (f *Finder) CheckPackages(ctx context.Context, script string, c Command) error {
	dir := filepath.Dir(script)
	if c.Bundle == nil { // a bundle has in it all that it needs
		if err := checkInstalled(dir); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(c.Runtime, Node) {
		return nil
	}
	node, err := f.Node(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{"@modelcontextprotocol/sdk", "@trailblaze/scripting", "tsx"} {
		pkg, ok := readPackage(installedAt(dir, name))
		if !ok || name == "tsx" && c.Runtime != "node+tsx" {
			continue
		}
		if needs := pkg.Engines["node"]; olderThan(node.Version, needs) {
			return fault.New(fault.Runtime, NewerNode,
				"node %s is too old for %s %s, which needs node %s", node.Version, name, pkg.Version, needs)
		}
	}
	if IsOld(node.Version) {
		return fault.New(fault.Runtime, NewerNode,
			"node %s is too old for scripts, which need node %d", node.Version, OldestNode)
	}
	return nil
}

// OldestNode is the oldest major version of node that the SDKs and bundles run on.
const OldestNode = 18

// NewerNode is what to do about a node that is too old.
const NewerNode = "install a newer node (https://nodejs.org), or bun (https://bun.sh)"

// IsOld reports whether a version of node is older than OldestNode.
func IsOld(version string) bool {
	var major int
	n, _ := fmt.Sscanf(version, "v%d.", &major)
	return n == 1 && major < OldestNode
}

// CheckImports returns two errors about the packages that a script imports: those that are missing, and those that are
// installed but that no package.json lists, so that they are missing elsewhere.
func CheckImports(ctx context.Context, script string) (missing, unlisted error) {
	for _, i := range bundle.Imports(ctx, script) {
		dir := filepath.Dir(i.File)
		listed, root := isListed(dir, i.Package)
		folder := cmp.Or(root, dir)
		command := fmt.Sprintf("run %q in %s", bundle.InstallCommand(i.Package, folder, "npm"), folder)
		switch at := relative(folder, i.File); {
		case i.Installed && !listed && root != "" && unlisted == nil:
			unlisted = fault.New(fault.Server, command, "%s imports the package %s, which no package.json lists", at, i.Package)
		case i.Installed || missing != nil || hasFile(dir, ".pnp.cjs"):
		case listed:
			missing = fault.New(fault.Server, command, "%s imports the package %s, which is not installed", at, i.Package)
		default:
			missing = fault.New(fault.Server, command,
				"%s imports the package %s, which is not installed and which no package.json lists", at, i.Package)
		}
	}
	return missing, unlisted
}

// isListed reports whether the package.json of a folder or one above it lists a package, and returns the folder of the
// nearest one, empty if there is none.
func isListed(dir, name string) (listed bool, root string) {
	for at := range bundle.AncestorDirs(dir) {
		if pkg, ok := readPackage(at); ok {
			root = cmp.Or(root, at)
			listed = listed || pkg.lists(name)
		}
	}
	return listed, root
}

// relative returns a path as seen from a folder above it, else as it is.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// checkInstalled returns a *fault.Error when packages are missing that the nearest package.json lists. Those for
// development count only where nothing is installed at all.
func checkInstalled(dir string) error {
	root := bundle.ProjectDir(dir)
	pkg, ok := readPackage(root)
	if !ok || hasFile(dir, ".pnp.cjs") { // with it yarn installs no folders
		return nil
	}
	listed := slices.Collect(maps.Keys(pkg.Dependencies))
	if !hasFile(dir, "node_modules") {
		listed = slices.AppendSeq(listed, maps.Keys(pkg.DevDependencies))
	}
	missing := slices.DeleteFunc(listed, func(name string) bool { return installedAt(dir, name) != "" })
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	which := "the package " + missing[0] + " is"
	if len(missing) > 1 {
		which = "the packages " + strings.Join(slices.Compact(missing), ", ") + " are"
	}
	return fault.New(fault.Server, fmt.Sprintf("run %q in %s", bundle.InstallCommand(missing[0], root, "npm"), root),
		"%s not installed, which %s lists", which, filepath.Join(root, "package.json"))
}

// hasFile reports whether dir or a folder above it has a file or folder of a name.
func hasFile(dir, name string) bool {
	for at := range bundle.AncestorDirs(dir) {
		if _, err := os.Stat(filepath.Join(at, name)); err == nil {
			return true
		}
	}
	return false
}

// installedAt returns the folder of a package as node would find it for a script in dir, "" when it is not installed.
func installedAt(dir, name string) string {
	for at := range bundle.AncestorDirs(dir) {
		folder := filepath.Join(at, "node_modules", filepath.FromSlash(name))
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
	}
	return ""
}

// olderThan reports whether a version of node, like "v18.2.0", is older than each that a range allows, like ">=18" or
// "^18.18.0 || >=20". Of a range that it does not understand it returns false.
func olderThan(version, versionRange string) bool {
	have, ok := parseVersion(strings.TrimPrefix(version, "v"))
	if !ok {
		return false
	}
	for alternative := range strings.SplitSeq(versionRange, "||") {
		m := regexp.MustCompile(`^(?:>=|\^|~)?\s*v?(\d[\d.]*)`).FindStringSubmatch(strings.TrimSpace(alternative))
		if m == nil {
			return false
		}
		lowest, ok := parseVersion(m[1])
		if !ok || slices.Compare(have[:], lowest[:]) >= 0 {
			return false
		}
	}
	return true
}

// parseVersion parses up to three numbers, like "18" or "18.2.0".
func parseVersion(text string) (version [3]int, ok bool) {
	n, _ := fmt.Sscanf(text, "%d.%d.%d", &version[0], &version[1], &version[2])
	return version, n > 0
}
