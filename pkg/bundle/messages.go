package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// unsupportedReason returns why an import cannot be bundled, and what to do.
func unsupportedReason(name string) (why, hint string) {
	switch {
	case strings.HasSuffix(name, ".node"):
		return name + " is a native addon, which cannot be bundled", OtherRuntimeHint
	case strings.HasPrefix(name, "bun"):
		return name + " only works in bun", "install bun (https://bun.sh), and run the script with it"
	}
	return name + " cannot be bundled", "install it as a package, or import it by its path"
}

// fault returns an error about the first of esbuild's messages, and the number of others.
func (b *builder) fault(problems []api.Message) error {
	p := b.problem(problems)
	p.File = b.displayPath(p.File)
	return fault.New(fault.Server, p.Hint, "%s", p.Error())
}

// problem returns the first of esbuild's messages, and the number of others, at its place.
func (b *builder) problem(problems []api.Message) (p fault.Problem) {
	first := problems[0]
	text, hint := b.explain(first)
	if n := len(problems) - 1; n > 0 {
		defer func() { p.Message += fmt.Sprintf("; and %d more", n) }()
	}
	if first.Location == nil {
		return fault.Problem{Kind: fault.Config, File: b.script, Message: text, Hint: hint}
	}
	at := first.Location
	return fault.Problem{
		Kind: fault.Config, File: at.File, Line: at.Line, Column: at.Column + 1, Message: text + b.importChain(at.File), Hint: hint,
	}
}

// importChain describes how a file was imported; "" for the script itself.
func (b *builder) importChain(file string) string {
	links := []string{}
	for at, ok := file, true; ok && len(links) <= len(b.importer); at, ok = b.importer[at] {
		links = append(links, b.displayPath(at))
	}
	if len(links) < 2 {
		return ""
	}
	slices.Reverse(links)
	return " (imports: " + strings.Join(links, " → ") + ")"
}

// syntaxError matches the messages of esbuild about syntax.
var syntaxError = lazyregexp.New(`^(?:Expected|Unexpected|Unterminated|Syntax error)\b`)

// explain replaces some of esbuild's messages with more helpful ones.
func (b *builder) explain(p api.Message) (text, hint string) {
	spec, missing := strings.CutPrefix(p.Text, `Could not resolve "`)
	spec = strings.TrimSuffix(spec, `"`)
	switch {
	case p.PluginName != "" && (isUnsupported(importedName(p)) || strings.HasSuffix(importedName(p), ".node")):
		_, hint = unsupportedReason(importedName(p))
		return p.Text, hint
	case p.PluginName != "":
		return p.Text, ""
	case missing && p.Location != nil && isPath(spec):
		return fmt.Sprintf("cannot find %s", spec), "check the import in " + p.Location.File
	case missing && p.Location != nil && !strings.HasPrefix(spec, "#") &&
		!likelyExists(filepath.Dir(p.Location.File), spec):
		return b.notInstalled(PackageName(spec), filepath.Dir(p.Location.File))
	case strings.HasPrefix(p.Text, "No loader is configured"):
		return b.shortenPaths(p.Text), "read the file with node:fs; only code, JSON and text can be imported"
	}
	text = p.Text
	for _, note := range p.Notes {
		if missing && note.Location != nil {
			text += ": " + strings.TrimSuffix(note.Text, ":")
			break
		}
	}
	if syntaxError().MatchString(p.Text) {
		hint = "correct the syntax there"
	}
	if missing {
		hint = "check the import, and the exports and imports of the package.json"
	}
	return b.shortenPaths(text), hint
}

// shortenPaths makes absolute paths in a message relative to the project.
func (b *builder) shortenPaths(text string) string {
	return strings.ReplaceAll(text, b.root+string(filepath.Separator), "")
}

func (b *builder) notInstalled(name, dir string) (text, hint string) {
	if outside, _, inside := strings.Cut(filepath.ToSlash(dir), "/node_modules/"); inside {
		dir = filepath.FromSlash(outside)
	}
	root := ProjectDir(dir)
	text = fmt.Sprintf("the package %s is not installed", name)
	return text, fmt.Sprintf("run %q in %s", InstallCommand(name, root, "npm"), root)
}

// importedName returns the text of the import at the position of a message.
func importedName(p api.Message) string {
	l := p.Location
	if l == nil || l.Column+l.Length > len(l.LineText) || l.Length < 2 {
		return ""
	}
	return strings.Trim(l.LineText[l.Column:l.Column+l.Length], "\"'`")
}
