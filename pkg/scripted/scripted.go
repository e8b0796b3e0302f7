// Package scripted hosts tools that are functions which scripts export, as one tool server: it generates the script of
// the server, which imports them.
//
// The scripts import @trailblaze/scripting, but not ours: the package of that name in the JVM Trailblaze.
package scripted

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/bundle"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/runtime"
	typescript "github.com/trailblaze/trailblaze/sdks/typescript"
)

//go:embed host/*.js
var host embed.FS

// pkg is the package that the scripts import.
const pkg = "@trailblaze/scripting"

// Script returns the script that serves the tools of a server: the one in its file, or a generated one that serves its
// functions.
func Script(s config.Server, onDevice bool) runtime.Script {
	script := runtime.Script{Path: s.Script, Runtime: s.Runtime, OnDevice: onDevice, NotEmbedded: s.NotEmbedded}
	if len(s.Functions) > 0 {
		script.Entry = entry(s)
		script.Path = script.Entry.Path
	}
	return script
}

func entry(s config.Server) *bundle.Entry {
	files := s.FunctionFiles()
	return &bundle.Entry{
		Path: filepath.Join(commonFolder(files), s.Name), Code: code(s, files), Files: files, Modules: modules(),
	}
}

// Broken returns why scripts of a server's functions cannot be bundled for what would run them. Errors are *fault.Error.
func Broken(ctx context.Context, s config.Server, runtimes *runtime.Finder) (fault.Problems, error) {
	script := Script(s, false)
	broken, err := runtimes.Bundles().Broken(ctx, script.Entry, runtimes.Target(script))
	var problems fault.Problems
	for _, file := range script.Entry.Files {
		if p, found := broken[file]; found {
			problems = append(problems, p)
		}
	}
	return problems, err
}

// commonFolder returns the deepest folder that contains all files.
func commonFolder(files []string) string {
	folder := filepath.Dir(files[0])
	for _, file := range files[1:] {
		for rel, err := filepath.Rel(folder, file); err == nil && !filepath.IsLocal(rel); rel, err = filepath.Rel(folder, file) {
			folder = filepath.Dir(folder)
		}
	}
	return folder
}

// listed is a function as the server lists it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Meta        map[string]any  `json:"_meta"`
}

// code returns the code of the generated script.
func code(s config.Server, files []string) string {
	var out strings.Builder
	out.WriteString("import { serve } from \"" + pkg + "/host/host.js\";\n")
	for i, file := range files {
		fmt.Fprintf(&out, "const load%d = () => import(%s);\n", i, literal(file))
	}
	fmt.Fprintf(&out, "serve(%s, [\n", literal(s.Name))
	for _, f := range s.Functions {
		schema := f.Schema
		if schema == nil {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		fmt.Fprintf(&out, "  { listed: %s, file: %s, export: %s, load: load%d },\n",
			literal(listed{f.Name, f.Description, schema, meta(f.Meta)}), literal(filepath.Base(f.File)), literal(f.Export),
			slices.Index(files, f.File))
	}
	out.WriteString("]);\n")
	return out.String()
}

// meta returns the _meta of a function: its own, and that its arguments are coerced to its schema.
func meta(own map[string]any) map[string]any {
	all := map[string]any{"trailblaze/coercesArguments": true}
	maps.Copy(all, own)
	return all
}

// literal returns a value as JavaScript.
func literal(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out) // escapes U+2028 and U+2029
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts and what was read as JSON or YAML
	return strings.TrimSpace(out.String())
}

// modules returns the modules of the package, and those that serve its tools.
func modules() map[string]string {
	out := map[string]string{pkg: `export * from "` + pkg + `/host/scripting.js";`}
	for _, name := range []string{"/in-process", "/sub-process"} {
		out[pkg+name] = out[pkg]
	}
	for _, files := range []struct {
		fs.FS
		pattern string
	}{{host, "host/*.js"}, {typescript.Files(), "src/*.js"}} {
		names, _ := fs.Glob(files, files.pattern)
		for _, name := range names {
			text, _ := fs.ReadFile(files, name) // embedded
			out[path.Join(pkg, name)] = string(text)
		}
	}
	return out
}
