package cmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/typings"
)

// language is a language for which types can be written, and how a project that uses it is recognized.
type language struct {
	name, title string // as a flag and in a text
	file        string // with the types
	write       func([]typings.Tool) []byte

	extensions []string // of programs
	commands   []string // that run programs in it
	manifests  []string // files in the root of a project that show that it uses the language
	hints      []string // files that show it unless something shows another language
}

// languages returns all languages.
func languages() []language {
	return []language{
		{
			name: "typescript", title: "TypeScript", file: typings.TypeScriptFile, write: typings.TypeScript,
			extensions: []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"},
			commands:   []string{"node", "bun", "bunx", "deno", "tsx", "npm", "npx", "pnpm", "yarn"},
			manifests:  []string{"tsconfig.json"},
			hints:      []string{"package.json"},
		},
		{
			name: "python", title: "Python", file: typings.PythonFile, write: typings.Python,
			extensions: []string{".py"},
			commands:   []string{"python", "pypy", "uv", "uvx", "poetry", "pipx"},
			manifests:  []string{"pyproject.toml", "requirements.txt", "setup.py"},
		},
	}
}

func languageNames() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

// languagesOf returns the languages that a project uses: those of its servers, of its manifests, and of the types that
// dir has. If nothing shows a language, it returns all.
func languagesOf(project *config.Project, dir string) []language {
	has := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return exists(filepath.Join(project.Root, name)) })
	}
	uses := func(l language) bool {
		return exists(filepath.Join(dir, l.file)) || has(l.manifests) || slices.ContainsFunc(project.AllServers(), l.runs)
	}
	hinted := func(l language) bool { return has(l.hints) }
	for _, belongs := range []func(language) bool{uses, hinted} {
		if found := languagesWhere(belongs); len(found) > 0 {
			return found
		}
	}
	return languages()
}

func languagesWhere(belongs func(language) bool) []language {
	return slices.DeleteFunc(languages(), func(l language) bool { return !belongs(l) })
}

// runs reports whether a server is a program in the language, as far as its entry shows that.
func (l language) runs(s config.Server) bool {
	command := strings.TrimRight(strings.TrimSuffix(strings.ToLower(filepath.Base(s.Command)), ".exe"), "0123456789.")
	if s.Command != "" && slices.Contains(l.commands, command) {
		return true
	}
	return slices.ContainsFunc(slices.Concat([]string{s.Script, s.Command}, s.Args, s.FunctionFiles()), func(word string) bool {
		return slices.Contains(l.extensions, filepath.Ext(word))
	})
}
