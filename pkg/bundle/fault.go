package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// unavailable says why a module that exists somewhere cannot be had here.
func unavailable(name string) (why, hint string) {
	switch {
	case strings.HasSuffix(name, ".node"):
		return name + " is a native addon, which cannot be bundled", Elsewhere
	case strings.HasPrefix(name, "bun"):
		return name + " is for bun alone", "install bun (https://bun.sh), and let the script run on it"
	}
	return name + " cannot be bundled", "install it as a package, or import it by its path"
}

// fault says what is wrong with a script in the words of its author: the first problem, and how many more there are.
func (b *builder) fault(problems []api.Message) error {
	p := problems[0]
	text, hint := b.explain(p)
	more := ""
	if n := len(problems) - 1; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	if p.Location == nil {
		return fault.New(fault.Server, hint, "%s: %s%s", b.author(b.script), text, more)
	}
	return fault.New(fault.Server, hint, "%s:%d:%d: %s%s%s",
		b.author(p.Location.File), p.Location.Line, p.Location.Column+1, text, b.chain(p.Location.File), more)
}

// chain tells how a file came to be imported, "" for the script itself.
func (b *builder) chain(file string) string {
	links := []string{}
	for at, ok := file, true; ok && len(links) <= len(b.importer); at, ok = b.importer[at] {
		links = append(links, b.author(at))
	}
	if len(links) < 2 {
		return ""
	}
	slices.Reverse(links)
	return " (imports: " + strings.Join(links, " → ") + ")"
}

// explain puts esbuild's words into ours where ours help more.
func (b *builder) explain(p api.Message) (text, hint string) {
	spec, missing := strings.CutPrefix(p.Text, `Could not resolve "`)
	spec = strings.TrimSuffix(spec, `"`)
	switch {
	case p.PluginName != "" && (isForeign(imported(p)) || strings.HasSuffix(imported(p), ".node")):
		_, hint = unavailable(imported(p))
		return p.Text, hint
	case p.PluginName != "":
		return p.Text, ""
	case missing && p.Location != nil && isPath(spec):
		return fmt.Sprintf("there is no %s", spec), "check the import in " + p.Location.File
	case missing && p.Location != nil && !strings.HasPrefix(spec, "#") && !plausible(filepath.Dir(p.Location.File), spec):
		return b.notInstalled(PackageName(spec), filepath.Dir(p.Location.File))
	case strings.HasPrefix(p.Text, "No loader is configured"):
		return b.short(p.Text), "read the file when the script runs; only code, JSON and text can be imported"
	}
	text = p.Text
	for _, note := range p.Notes {
		if missing && note.Location != nil {
			text += ": " + strings.TrimSuffix(note.Text, ":")
			break
		}
	}
	if missing {
		hint = "check the import, and what the package.json says of it"
	}
	return b.short(text), hint
}

// short names files in esbuild's words as their author does.
func (b *builder) short(text string) string {
	return strings.ReplaceAll(text, b.root+string(filepath.Separator), "")
}

func (b *builder) notInstalled(name, dir string) (text, hint string) {
	if outside, _, inside := strings.Cut(filepath.ToSlash(dir), "/node_modules/"); inside {
		dir = filepath.FromSlash(outside)
	}
	root := ProjectDir(dir)
	return fmt.Sprintf("the package %s is not installed", name), fmt.Sprintf("run %q in %s", InstallCommand(name, root, "npm"), root)
}

// imported is what the import at a problem's place names.
func imported(p api.Message) string {
	l := p.Location
	if l == nil || l.Column+l.Length > len(l.LineText) || l.Length < 2 {
		return ""
	}
	return strings.Trim(l.LineText[l.Column:l.Column+l.Length], "\"'`")
}
