package trailmap

import (
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// anchor is the content of the anchor file.
type anchor struct {
	targets       words
	defaultTarget word
	composed      []composed
}

// modelNote says why keys about models are not used.
const modelNote = "models are set up with llm: in a project of this program, or with --llm"

func (l *loader) readAnchor() {
	l.problems = append(l.problems, l.read(l.project.File, func(n yamldoc.Node) {
		if n.Kind() == yamldoc.Absent || n.Kind() == yamldoc.Null {
			return
		}
		fields(n, map[string]func(yamldoc.Node){
			"targets": func(n yamldoc.Node) { l.anchor.targets = readWords(n) },
			"defaults": func(n yamldoc.Node) {
				fields(n, map[string]func(yamldoc.Node){
					"target": func(n yamldoc.Node) { l.anchor.defaultTarget = word{readText(n), n} },
				}, map[string]string{"llm": modelNote, "max-llm-calls": modelNote})
			},
			"toolsets": func(n yamldoc.Node) { l.inlined(n, l.readToolset) },
			"tools": func(n yamldoc.Node) {
				l.inlined(n, func(file string, n yamldoc.Node) {
					if c, ok := readComposed(file, n, ""); ok {
						l.anchor.composed = append(l.anchor.composed, c)
					}
				})
			},
		}, map[string]string{"llm": modelNote, "providers": modelNote})
	})...)
}

// inlined reads a list of bodies, each of which may be in a file that it names.
func (l *loader) inlined(n yamldoc.Node, read func(file string, n yamldoc.Node)) {
	for _, item := range n.Items() {
		ref, isRef := own(item, "ref")
		if !isRef {
			read(l.project.File, item)
			continue
		}
		path := filepath.Join(l.dir, filepath.FromSlash(strings.TrimPrefix(readText(ref), "/")))
		switch {
		case len(item.Entries()) > 1:
			item.Errorf("remove the other keys", `"ref" stands alone`)
		case !isFile(path):
			ref.Errorf("paths are relative to "+l.rel(l.dir), "%s does not exist", l.rel(path))
		default:
			l.problems = append(l.problems, l.read(path, func(n yamldoc.Node) { read(path, n) })...)
		}
	}
}
