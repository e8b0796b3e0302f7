package trailmap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// word is a name in a file, with its position.
type word struct {
	text string
	at   yamldoc.Node
}

// words is a list that may be absent: an empty one is a value.
type words struct {
	set   bool
	items []word
}

func (w words) texts() []string {
	var out []string
	for _, item := range w.items {
		out = append(out, item.text)
	}
	return out
}

// readWords reads a list of texts; null counts as absent.
func readWords(n yamldoc.Node) words {
	if n.Kind() == yamldoc.Null {
		return words{}
	}
	w := words{set: n.Kind() == yamldoc.List}
	for _, item := range n.Items() {
		if text := readText(item); text != "" {
			w.items = append(w.items, word{text, item})
		}
	}
	return w
}

// own returns the value of a key of a mapping; ok is false for everything else.
func own(n yamldoc.Node, key string) (value yamldoc.Node, ok bool) {
	if n.Kind() != yamldoc.Mapping {
		return n, false
	}
	return n.Own(key)
}

// readText reads text that is not empty.
func readText(n yamldoc.Node) string {
	s := n.Str()
	if n.Kind() == yamldoc.Text && strings.TrimSpace(s) == "" {
		n.Errorf("write a value or remove the key", "the value is empty")
	}
	return s
}

// fields passes the values of a mapping to the readers of their keys. The program that the file is for ignores other
// keys; they are warnings. notes say what to know about keys that are not used.
func fields(n yamldoc.Node, readers map[string]func(yamldoc.Node), notes map[string]string) {
	for _, e := range n.Entries() {
		read, known := readers[e.Key]
		note, noted := notes[e.Key]
		switch {
		case known:
			read(e.Value)
		case noted:
			e.At.Warnf("", "%q is not used: %s", e.Key, note)
		default:
			all := slices.Sorted(maps.Keys(readers))
			e.At.Warnf(fault.DidYouMean(e.Key, all), "unknown key %q is ignored", e.Key)
		}
	}
}

// read parses a file and passes it to use when it is YAML. Its problems are returned, with those that use reports.
func (l *loader) read(path string, use func(yamldoc.Node)) fault.Problems {
	l.project.Files++
	data, err := files.Read(path, yamldoc.MaxSize)
	if err != nil {
		return fault.Problems{fileProblem(path, "", "cannot be read: %v", reason(err))}
	}
	doc, root := yamldoc.Parse(path, fault.Config, data)
	if len(doc.Problems()) == 0 {
		use(root)
	}
	l.project.Remarks = append(l.project.Remarks, doc.Warnings()...)
	return doc.Problems()
}

func (l *loader) remark(p fault.Problem) { l.project.Remarks = append(l.project.Remarks, p) }

func fileProblem(path, hint, format string, args ...any) fault.Problem {
	return fault.Problem{Kind: fault.Config, File: path, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// reason returns a file error without the path, which the message contains already.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// rel returns a path as messages show it: relative to the root.
func (l *loader) rel(path string) string {
	if rel, err := filepath.Rel(l.project.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// walk returns the files below a folder whose names end in one of some suffixes, sorted; none when it does not exist.
// Links are not followed out of the folder.
func (l *loader) walk(dir string, suffixes ...string) (paths []string, problems fault.Problems) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			problems = append(problems, fileProblem(path, "", "cannot be read: %v", reason(err)))
		case e.IsDir() && e.Name() == "node_modules":
			return fs.SkipDir
		case !e.IsDir() && slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) }):
			if e.Type() == fs.ModeSymlink && !isBelow(dir, path) {
				problems = append(problems, fileProblem(path, "copy the file into the trailmap", "the link leads out of %s", l.rel(dir)))
				return nil
			}
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		problems = append(problems, fileProblem(dir, "", "cannot be read: %v", reason(err)))
	}
	return paths, problems
}

// isBelow reports whether a path lies below a folder, links followed. A path that does not exist does.
func isBelow(dir, path string) bool {
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(realDir, target)
	return err == nil && filepath.IsLocal(rel)
}

// folders returns the folders in a folder, sorted; none when it does not exist.
func folders(dir string) []string {
	entries, _ := os.ReadDir(dir) // one that cannot be read has no trailmaps
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
