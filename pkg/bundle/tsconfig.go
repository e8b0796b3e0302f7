package bundle

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// tsconfig has what a tsconfig.json and the files that it extends say about imports. All values are merged regardless
// of precedence: an unnecessary dependency does no harm.
type tsconfig struct {
	dir   string   // of the first file
	roots []string // values of baseUrl
	bases []string // directories that paths may be relative to
	paths []map[string][]string
}

// addTSConfig parses a tsconfig.json and adds the files that it extends.
func (d dependencies) addTSConfig(path string) *tsconfig {
	all := &tsconfig{dir: filepath.Dir(path)}
	if path != "" {
		d.addExtended(all, path, map[string]bool{})
	}
	return all
}

func (d dependencies) addExtended(all *tsconfig, path string, seen map[string]bool) {
	d.add(pathDep, path)
	place, err := filepath.EvalSymlinks(path)
	if err != nil || seen[place] {
		return
	}
	seen[place] = true
	dir := filepath.Dir(place)
	var config struct {
		Extends         json.RawMessage
		CompilerOptions struct {
			BaseURL string
			Paths   map[string][]string
		}
	}
	data, err := readFile(place)
	if err != nil || json.Unmarshal(stripJSONC(data), &config) != nil {
		d.markUncacheable()
		return
	}
	all.bases = append(all.bases, dir)
	if base := config.CompilerOptions.BaseURL; base != "" {
		all.roots = append(all.roots, all.join(dir, base))
	}
	all.paths = append(all.paths, config.CompilerOptions.Paths)
	for _, name := range jsonStrings(config.Extends) {
		for _, base := range d.extendedConfigs(dir, name) {
			d.addExtended(all, base, seen)
		}
	}
}

// join joins paths as the package's join does, and replaces ${configDir}.
func (c *tsconfig) join(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "${configDir}"); ok {
		return filepath.Join(c.dir, rest)
	}
	return join(dir, path)
}

// extendedConfigs adds the files that a value of "extends" can mean, and returns those that exist.
func (d dependencies) extendedConfigs(dir, name string) []string {
	if isPath(name) {
		path := join(dir, name)
		return d.addExisting(path, path+".json", filepath.Join(path, "tsconfig.json"))
	}
	var list []string
	for at := range AncestorDirs(dir) {
		if modules := filepath.Join(at, "node_modules"); d.add(pathDep, modules) != absent {
			list = append(list, d.extendedPackageConfigs(modules, name)...)
		}
	}
	return list
}

// extendedPackageConfigs does the same within one node_modules directory, considering package.json.
func (d dependencies) extendedPackageConfigs(modules, name string) []string {
	dir, path := filepath.Join(modules, PackageName(name)), filepath.Join(modules, name)
	list := d.addExisting(filepath.Join(path, "tsconfig.json"), path, path+".json")
	manifest := filepath.Join(dir, "package.json")
	if d.add(contentDep, manifest) == absent {
		return list
	}
	var says struct {
		TSConfig string
		Exports  json.RawMessage
	}
	data, err := readFile(manifest)
	if err != nil || json.Unmarshal(data, &says) != nil {
		d.markUncacheable()
		return nil
	}
	if says.TSConfig != "" {
		other := join(dir, says.TSConfig)
		list = append(list, d.addExisting(filepath.Join(other, "tsconfig.json"), other, other+".json")...)
	}
	for _, other := range packageTargets(says.Exports, "."+strings.TrimPrefix(name, PackageName(name))) {
		list = append(list, d.addExisting(filepath.Join(dir, other))...)
	}
	return list
}

// addExisting adds files, and returns those that exist.
func (d dependencies) addExisting(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return d.add(contentDep, path) == absent })
}

// addMapped adds what an import can mean according to a tsconfig.json.
func (d dependencies) addMapped(c *tsconfig, spec, found string) {
	if isPath(spec) || isBuiltin(spec) || spec == fileModule || spec == "" {
		return
	}
	for _, root := range c.roots {
		d.addCandidates(filepath.Join(root, spec), found)
	}
	for _, paths := range c.paths {
		for pattern, targets := range paths {
			middle, ok := matches(pattern, spec)
			if !ok {
				continue
			}
			for _, target := range targets {
				for _, base := range slices.Concat(c.bases, c.roots) {
					d.addCandidates(c.join(base, strings.Replace(target, "*", middle, 1)), found)
				}
			}
		}
	}
}

// addInternal adds what an import that begins with # can mean according to package.json.
func (d dependencies) addInternal(dir, spec, found string) {
	manifest := d.addManifest(dir)
	if manifest == "" {
		return
	}
	var says struct{ Imports json.RawMessage }
	data, err := readFile(manifest)
	if err != nil || json.Unmarshal(data, &says) != nil {
		d.markUncacheable()
		return
	}
	for _, name := range packageTargets(says.Imports, spec) {
		if !strings.HasPrefix(name, "#") {
			d.addImport(filepath.Dir(manifest), name, found)
		}
	}
}

// packageTargets returns the targets of a name in the exports or imports of a package.json, under any condition.
func packageTargets(table json.RawMessage, name string) []string {
	var entries map[string]json.RawMessage
	if json.Unmarshal(table, &entries) != nil {
		return jsonStrings(table)
	}
	var list []string
	for pattern, entry := range entries {
		middle, ok := matches(pattern, name)
		if !ok && (strings.HasPrefix(pattern, ".") || strings.HasPrefix(pattern, "#")) {
			continue
		}
		for _, target := range jsonStrings(entry) {
			list = append(list, strings.ReplaceAll(target, "*", middle))
		}
	}
	return list
}

// matches reports whether a pattern with at most one star matches a name, and what the star matches.
func matches(pattern, name string) (middle string, ok bool) {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return "", pattern == name
	}
	ok = len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	if !ok {
		return "", false
	}
	return name[len(before) : len(name)-len(after)], true
}

// jsonStrings returns all strings in a JSON value, except for the names of fields.
func jsonStrings(value json.RawMessage) []string {
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		return []string{text}
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(value, &fields) // other values have no strings
		for _, field := range fields {
			items = append(items, field)
		}
	}
	var list []string
	for _, item := range items {
		list = append(list, jsonStrings(item)...)
	}
	return list
}

// stripJSONC converts JSON as TypeScript accepts it to standard JSON: without comments, trailing commas and a byte
// order mark.
func stripJSONC(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	plain := make([]byte, 0, len(data))
	for len(data) > 0 {
		n := 1
		switch {
		case data[0] == '"':
			n = stringLength(data)
			plain = append(plain, data[:n]...)
		case bytes.HasPrefix(data, []byte("//")):
			n = lengthUntil(data, "\n")
		case bytes.HasPrefix(data, []byte("/*")):
			n = lengthUntil(data, "*/")
		case data[0] == '}' || data[0] == ']':
			plain = append(bytes.TrimSuffix(plain, []byte(",")), data[0])
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(data[0])):
			plain = append(plain, data[0])
		}
		data = data[n:]
	}
	return plain
}

func lengthUntil(data []byte, end string) int {
	if at := bytes.Index(data[2:], []byte(end)); at >= 0 {
		return 2 + at + len(end)
	}
	return len(data)
}

func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}
