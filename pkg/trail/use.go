package trail

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Use is the trail whose steps a step runs.
type Use struct {
	Key          string // how the file says it: KindUse or tool.RunTrail
	Path         string // as written, with slashes
	Args         map[string]any
	Line, Column int
	Positions    yamldoc.Positions // of Args
	File         *File             // set by Loader
}

// call returns the arguments as those of a call, for messages.
func (u *Use) call() Call {
	return Call{Tool: u.Key, Args: u.Args, Line: u.Line, Column: u.Column, Positions: u.Positions}
}

// maxUses is the number of trails that one trail may use, those that these use included.
const maxUses = 1000

// Loader reads trails with the trails that their steps use.
type Loader struct {
	Root string // of the project; absolute
	Cwd  string // paths below it are shown relative to it
	// Read returns the content of the file at an absolute path, which problems call name; nil for ReadFile.
	Read func(name, path string) ([]byte, fault.Problems)
}

// Load reads the trail at an absolute path, which problems call name. The problems are those of all files, those of
// the trails that are used included, without snippets. With any of them the file is nil.
func (l Loader) Load(name, path string) (*File, fault.Problems) {
	data, problems := l.read(name, path)
	if len(problems) > 0 {
		return nil, problems
	}
	return l.Parse(name, path, data)
}

func (l Loader) read(name, path string) ([]byte, fault.Problems) {
	if l.Read == nil {
		return ReadFile(name, path)
	}
	return l.Read(name, path)
}

// Parse is Load for a trail with the content data.
func (l Loader) Parse(name, path string, data []byte) (*File, fault.Problems) {
	file, problems := Parse(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	loading := &loading{Loader: l}
	loading.uses(file, []string{path})
	if len(loading.problems) > 0 {
		return nil, loading.problems
	}
	return file, nil
}

// WithSnippets sets the missing snippets of problems, whose File is a name as that of Load. The snippet of a call
// includes its arguments. A file that cannot be read leaves them out.
func (l Loader) WithSnippets(problems fault.Problems) fault.Problems {
	lines := map[string][]string{}
	for i, p := range problems {
		if p.Snippet != "" {
			continue
		}
		if _, read := lines[p.File]; !read {
			lines[p.File] = l.lines(p.File)
		}
		problems[i].Snippet = yamldoc.BlockSnippet(lines[p.File], p.Line, p.Column)
	}
	return problems
}

// lines returns the lines of a file, nil when it cannot be read.
func (l Loader) lines(name string) []string {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.Cwd, path)
	}
	data, problems := l.read(name, path)
	if len(problems) > 0 {
		return nil
	}
	return strings.Split(string(data), "\n")
}

// loading is the state of one Load.
type loading struct {
	Loader
	count    int
	problems fault.Problems
}

// uses loads the trails that a file uses. stack has the paths of the files that lead to it, itself included.
func (l *loading) uses(file *File, stack []string) {
	for _, s := range file.StepsAndTeardown() {
		for _, u := range s.Uses() {
			if l.count++; l.count > maxUses {
				if l.count == maxUses+1 {
					l.fail(file, u, "use fewer", "the trail uses more than %d others", maxUses)
				}
				return
			}
			if u.File = l.use(file, u, stack); u.File != nil {
				l.problems = append(l.problems, file.argProblems(u)...)
			}
		}
	}
}

func (l *loading) fail(file *File, u *Use, hint, format string, args ...any) {
	l.problems = append(l.problems, fault.Problem{
		Kind: fault.Trail, File: file.Name, Line: u.Line, Column: u.Column, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// use returns the trail that a step of file uses, nil with a problem.
func (l *loading) use(file *File, u *Use, stack []string) *File {
	path, ok := l.find(u.Path, filepath.Dir(stack[len(stack)-1]))
	if !ok {
		l.fail(file, u, "the path is relative to this file, or else to the project root", "trail %q does not exist", u.Path)
		return nil
	}
	if !isBelow(path, l.Root) && !isBelow(path, filepath.Dir(stack[0])) {
		l.fail(file, u, "copy it into the project", "trail %q is outside the project", u.Path)
		return nil
	}
	if slices.Contains(stack, path) {
		var names []string
		for _, p := range append(slices.Clone(stack[slices.Index(stack, path):]), path) {
			names = append(names, l.displayPath(p))
		}
		l.fail(file, u, "remove one of these steps", "the trail uses itself: %s", strings.Join(names, " uses "))
		return nil
	}
	data, problems := l.read(l.displayPath(path), path)
	var used *File
	if len(problems) == 0 {
		used, problems = Parse(l.displayPath(path), data)
	}
	if len(problems) > 0 {
		l.problems = append(l.problems, problems...)
		return nil
	}
	if problem, empty := used.EmptyProblem(); empty {
		l.problems = append(l.problems, problem)
		return nil
	}
	l.uses(used, append(slices.Clone(stack), path))
	return used
}

// find returns the path of the file that is written in a file in the folder dir.
func (l *loading) find(written, dir string) (path string, ok bool) {
	written = filepath.FromSlash(written)
	for _, base := range []string{dir, l.Root} {
		path := written
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
	}
	return "", false
}

// isBelow reports whether a path, with links followed, is that of something in a folder.
func isBelow(path, folder string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return false
	}
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

func (l *loading) displayPath(path string) string {
	if rel, err := filepath.Rel(l.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// argProblems returns what is wrong with the arguments that f gives to a trail that it uses.
func (f *File) argProblems(u *Use) fault.Problems {
	var problems fault.Problems
	fail := func(path []string, hint, format string, args ...any) {
		p := fault.Problem{Kind: fault.Trail, File: f.Name, Message: fmt.Sprintf(format, args...), Hint: hint}
		p.Line, p.Column = u.call().ArgPosition(path)
		problems = append(problems, p)
	}
	declared := u.File.Config.Args
	for _, name := range sortedKeys(u.Args) {
		decl, ok := declared[name]
		switch value := u.Args[name]; {
		case !ok:
			fail([]string{name}, knownHint(name, sortedKeys(declared), "declare it under config: args: of "+u.File.Name),
				"%s declares no argument %q", u.File.Name, name)
		case !HasToken(value) && !fits(decl.Type, value):
			fail([]string{name}, "", "argument %s of %s is %s, expected %s", name, u.File.Name, describe(value), article(decl.Type))
		}
	}
	for _, name := range sortedKeys(declared) {
		if _, given := u.Args[name]; !given && !declared[name].HasDefault {
			fail(nil, fmt.Sprintf("write args: { %s: … } below %s:", name, u.Key), "argument %s (%s) of %s is missing", name,
				declared[name].Type, u.File.Name)
		}
	}
	return problems
}

// Enter makes the arguments of a used trail those of the session, and adds the values of its config.memory that the
// session lacks. The tokens in u.Args are replaced first. leave restores the arguments; args are for
// [Values.EnterWith].
func (v *Values) Enter(u *Use) (args map[string]any, leave func(), err error) {
	given, err := Interpolate(u.Args, v)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range given {
		if HasToken(u.Args[name]) {
			given[name] = fitted(u.File.Config.Args[name].Type, value)
		}
	}
	args, err = ResolveArgs(u.File.Config.Args, nil, given, v.wording)
	if err != nil {
		return nil, nil, fault.Wrap(fault.InvalidArguments, err, "", "use "+u.File.Name)
	}
	for name, value := range u.File.Config.Memory {
		if _, known := v.Get(name); !known {
			if err := v.Set(name, value); err != nil {
				return nil, nil, err
			}
		}
	}
	return args, v.EnterWith(args), nil
}

// EnterWith is Enter with arguments that an earlier Enter returned.
func (v *Values) EnterWith(args map[string]any) (leave func()) {
	v.mu.RLock()
	outer := v.args
	v.mu.RUnlock()
	v.SetArgs(args)
	return func() { v.SetArgs(outer) }
}

// Enter is Values.Enter for a check. The problems are those of the arguments of u, without the name of the file.
func (c *ValueChecker) Enter(u *Use) (leave func(), problems fault.Problems) {
	if !c.any {
		problems = c.check(u.call(), nil, u.Args)
	}
	for name := range u.File.Config.Memory {
		if _, known := c.values.Get(name); !known {
			c.Define(name)
		}
	}
	outer := c.values.args
	args := map[string]any{}
	for name := range u.File.Config.Args {
		args[name] = Undetermined{}
	}
	c.values.SetArgs(args)
	return func() { c.values.SetArgs(outer) }, problems
}

// UsePaths returns the absolute paths of the trails that the steps of a loaded trail at path use, and of those that
// these use.
func (l Loader) UsePaths(file *File, path string) []string {
	var paths []string
	for _, s := range file.StepsAndTeardown() {
		for _, u := range s.Uses() {
			if used, ok := (&loading{Loader: l}).find(u.Path, filepath.Dir(path)); ok && u.File != nil {
				paths = append(append(paths, used), l.UsePaths(u.File, used)...)
			}
		}
	}
	return paths
}

// Moved returns the trail at path with the paths of used trails such that a file in another folder can have them: they
// are relative to the project root.
func (l Loader) Moved(file *File, path string) *File {
	out := file.clone()
	out.Config.Teardown = slices.Clone(out.Config.Teardown)
	for _, s := range out.StepsAndTeardown() {
		if s.Use != nil {
			moved := *s.Use
			moved.Path = l.movedPath(moved.Path, path)
			s.Use, s.Text = &moved, moved.Path
		}
		if len(s.Uses()) == 0 {
			continue
		}
		s.Recording = slices.Clone(s.Recording)
		for i, r := range s.Recording {
			if len(r.Calls) == 1 && r.Calls[0].Use != nil {
				moved := r.Calls[0]
				moved.Args = maps.Clone(moved.Args)
				moved.Args["path"] = l.movedPath(moved.Use.Path, path)
				s.Recording[i].Calls = []Call{moved}
			}
		}
	}
	return out
}

// movedPath returns the path that is written in a file, relative to the project root.
func (l Loader) movedPath(written, file string) string {
	used, ok := (&loading{Loader: l}).find(written, filepath.Dir(file))
	if !ok {
		return written
	}
	if rel, err := filepath.Rel(l.Root, used); err == nil && filepath.IsLocal(rel) {
		used = rel
	}
	return filepath.ToSlash(used)
}
