package bundle

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// tsconfig is what a tsconfig.json, and those that it extends, say of where imports lead. Which of them wins does not matter: one
// fact too many is one file that is looked at.
type tsconfig struct {
	dir   string   // of the first
	roots []string // its baseUrl
	bases []string // the folders that one of the paths may start from
	paths []map[string][]string
}

// tsconfig reads a tsconfig.json and adds what it extends.
func (f factList) tsconfig(path string) *tsconfig {
	all := &tsconfig{dir: filepath.Dir(path)}
	if path != "" {
		f.extend(all, path, map[string]bool{})
	}
	return all
}

func (f factList) extend(all *tsconfig, path string, seen map[string]bool) {
	f.add(placeFact, path)
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
	if err != nil || json.Unmarshal(plainJSON(data), &config) != nil {
		f.doubt()
		return
	}
	all.bases = append(all.bases, dir)
	if base := config.CompilerOptions.BaseURL; base != "" {
		all.roots = append(all.roots, all.join(dir, base))
	}
	all.paths = append(all.paths, config.CompilerOptions.Paths)
	for _, name := range stringsIn(config.Extends) {
		for _, base := range f.extended(dir, name) {
			f.extend(all, base, seen)
		}
	}
}

// join is join, but for what a configuration may begin a path with.
func (c *tsconfig) join(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "${configDir}"); ok {
		return filepath.Join(c.dir, rest)
	}
	return join(dir, path)
}

// extended adds the files that a name after "extends" may mean, and returns those that are there.
func (f factList) extended(dir, name string) []string {
	if isPath(name) {
		path := join(dir, name)
		return f.present(path, path+".json", filepath.Join(path, "tsconfig.json"))
	}
	var list []string
	for at := range Upwards(dir) {
		if modules := filepath.Join(at, "node_modules"); f.add(placeFact, modules) != none {
			list = append(list, f.extendedPackage(modules, name)...)
		}
	}
	return list
}

// extendedPackage does the same in one folder of packages, where a package.json may lead elsewhere.
func (f factList) extendedPackage(modules, name string) []string {
	dir, path := filepath.Join(modules, PackageName(name)), filepath.Join(modules, name)
	list := f.present(filepath.Join(path, "tsconfig.json"), path, path+".json")
	manifest := filepath.Join(dir, "package.json")
	if f.add(contentFact, manifest) == none {
		return list
	}
	var says struct {
		TSConfig string
		Exports  json.RawMessage
	}
	data, err := readFile(manifest)
	if err != nil || json.Unmarshal(data, &says) != nil {
		f.doubt()
		return nil
	}
	if says.TSConfig != "" {
		other := join(dir, says.TSConfig)
		list = append(list, f.present(filepath.Join(other, "tsconfig.json"), other, other+".json")...)
	}
	for _, other := range leads(says.Exports, "."+strings.TrimPrefix(name, PackageName(name))) {
		list = append(list, f.present(filepath.Join(dir, other))...)
	}
	return list
}

// present adds files, and returns those that are there.
func (f factList) present(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return f.add(contentFact, path) == none })
}

// mapped adds what an import may mean by a tsconfig.json.
func (f factList) mapped(c *tsconfig, spec, found string) {
	if isPath(spec) || isBuiltin(spec) || spec == fileModule || spec == "" {
		return
	}
	for _, root := range c.roots {
		f.candidates(filepath.Join(root, spec), found)
	}
	for _, paths := range c.paths {
		for pattern, targets := range paths {
			middle, ok := matches(pattern, spec)
			if !ok {
				continue
			}
			for _, target := range targets {
				for _, base := range slices.Concat(c.bases, c.roots) {
					f.candidates(c.join(base, strings.Replace(target, "*", middle, 1)), found)
				}
			}
		}
	}
}

// internal adds what an import that begins with # may mean by the package.json that is in force.
func (f factList) internal(dir, spec, found string) {
	manifest := f.manifest(dir)
	if manifest == "" {
		return
	}
	var says struct{ Imports json.RawMessage }
	data, err := readFile(manifest)
	if err != nil || json.Unmarshal(data, &says) != nil {
		f.doubt()
		return
	}
	for _, name := range leads(says.Imports, spec) {
		if !strings.HasPrefix(name, "#") {
			f.path(filepath.Dir(manifest), name, found)
		}
	}
}

// leads lists where a name may lead by the exports or imports of a package.json, under any condition.
func leads(table json.RawMessage, name string) []string {
	var entries map[string]json.RawMessage
	if json.Unmarshal(table, &entries) != nil {
		return stringsIn(table)
	}
	var list []string
	for pattern, entry := range entries {
		middle, ok := matches(pattern, name)
		if !ok && (strings.HasPrefix(pattern, ".") || strings.HasPrefix(pattern, "#")) {
			continue
		}
		for _, target := range stringsIn(entry) {
			list = append(list, strings.ReplaceAll(target, "*", middle))
		}
	}
	return list
}

// matches reports whether a pattern with at most one star means a name, and what the star stands for.
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

// stringsIn lists the strings of a JSON value, but for the names of fields.
func stringsIn(value json.RawMessage) []string {
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		return []string{text}
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(value, &fields) // anything else has no strings
		for _, field := range fields {
			items = append(items, field)
		}
	}
	var list []string
	for _, item := range items {
		list = append(list, stringsIn(item)...)
	}
	return list
}

// plainJSON makes JSON of what TypeScript takes for it: without comments, commas before a bracket, and a mark at the beginning.
func plainJSON(data []byte) []byte {
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
