//go:build unix

package e2e_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/cmd"
)

// TestReferenceHasEveryFlagAndCommand compares docs/commands with the help that each command really prints: the
// reference is generated from a separate command tree.
func TestReferenceHasEveryFlagAndCommand(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	pages, err := filepath.Glob("../docs/commands/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	flag := regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z][a-z-]*)`)
	subcommand := regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)
	for _, page := range pages {
		words := strings.Split(strings.TrimSuffix(filepath.Base(page), ".md"), "_")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		help := p.run(append(words[1:], "--help")...)
		help.want(t, 0)
		printed, documented := matches(flag, help.stdout), matches(flag, string(text))
		if len(words) == 1 { // the help of the program has several flags in a line
			printed = matches(regexp.MustCompile(`(--[a-z][a-z-]*)`), help.stdout)
		}
		documented = slices.DeleteFunc(documented, func(name string) bool { return name == "--version" })
		printed = slices.DeleteFunc(printed, func(name string) bool { return name == "--version" })
		if diff := gocmp.Diff(printed, documented); diff != "" {
			t.Errorf("flags of %s (-printed +documented):\n%s", page, diff)
		}
		usage, _, _ := strings.Cut(help.stdout, "\nFlags:")
		_, commands, _ := strings.Cut(usage, "\nCommands:")
		_, more, _ := strings.Cut(usage, "\nAvailable Commands:")
		for _, name := range matches(subcommand, cmp.Or(commands, more)) {
			if name == "help" {
				continue
			}
			if sub := strings.Join(append(words, name), "_") + ".md"; !slices.Contains(pages, "../docs/commands/"+sub) {
				t.Errorf("docs/commands/%s is missing", sub)
			}
		}
	}
}

func TestHelpFitsTerminal(t *testing.T) {
	t.Parallel()
	help := newProject(t, nil).run("--help")
	help.want(t, 0, "trailblaze init", "\n  session ", "schema")
	lines := strings.Split(strings.TrimSuffix(help.stdout, "\n"), "\n")
	if len(lines) > 23 { // and the line of the prompt
		t.Errorf("%d lines:\n%s", len(lines), help.stdout)
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("more than 80 columns: %s", line)
		}
	}
}

// matches returns the first group of every match, sorted, each once.
func matches(pattern *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestHelpNamesEveryVariable reads the sources, so that a variable which is read or set somewhere below
// and is not documented is found.
func TestHelpNamesEveryVariable(t *testing.T) {
	t.Parallel()
	used := sourceVariables(t)
	for _, k := range cmd.NewSystem("").Devices {
		for _, o := range k.Options {
			if o.Env != "" {
				used = append(used, o.Env)
			}
		}
	}
	help := newProject(t, nil).run("help", "environment").stdout
	named := strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" \n,;:", r) })
	for _, name := range used {
		if !slices.Contains(named, name) {
			t.Errorf("help environment does not name %s", name)
		}
	}
	for _, name := range named {
		if strings.HasPrefix(name, "TRAILBLAZE_") && !slices.Contains(used, name) {
			t.Errorf("help environment names %s, which no source uses", name)
		}
	}
	if !slices.Contains(used, "NO_COLOR") || !slices.Contains(used, "LC_CTYPE") || !slices.Contains(used, "TRAILBLAZE_DEVICE_ID") {
		t.Errorf("the search misses variables; it found %v", used)
	}
}

// sourceVariables returns the names of environment variables in the sources: literal arguments of functions that read
// one, directly or in a loop over a list, and every TRAILBLAZE_ name.
func sourceVariables(t *testing.T) []string {
	t.Helper()
	reader := regexp.MustCompile(`(?i)^(get|lookup)?env$|^variable$|^get$`)
	variable := regexp.MustCompile(`^[A-Z][A-Za-z0-9_()]+$`)
	ours := regexp.MustCompile(`^TRAILBLAZE_[A-Z]+(_[A-Z]+)*=?$`)
	var found []string
	add := func(e ast.Expr, pattern *regexp.Regexp) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == gotoken.STRING {
			if name, err := strconv.Unquote(literal.Value); err == nil && pattern.MatchString(name) {
				found = append(found, strings.TrimSuffix(name, "="))
			}
		}
	}
	readsVariable := func(c *ast.CallExpr) bool {
		switch f := c.Fun.(type) {
		case *ast.Ident:
			return reader.MatchString(f.Name)
		case *ast.SelectorExpr:
			of, isField := f.X.(*ast.SelectorExpr)
			return reader.MatchString(f.Sel.Name) && (!isField || of.Sel.Name != "Header") // of a response
		}
		return false
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			add(n, ours)
		case *ast.CallExpr:
			if readsVariable(n) {
				for _, arg := range n.Args {
					add(arg, variable)
				}
			}
		case *ast.RangeStmt:
			list, isList := n.X.(*ast.CompositeLit)
			value, isNamed := n.Value.(*ast.Ident)
			if !isList || !isNamed {
				break
			}
			ast.Inspect(n.Body, func(inner ast.Node) bool {
				c, isCall := inner.(*ast.CallExpr)
				if isCall && readsVariable(c) && slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
					id, ok := arg.(*ast.Ident)
					return ok && id.Name == value.Name
				}) {
					for _, e := range list.Elts {
						add(e, variable)
					}
				}
				return true
			})
		}
		return true
	}
	for _, root := range []string{"../cmd", "../pkg"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "spawntest"}, d.Name()):
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || path == "../cmd/help.go":
				return nil
			}
			file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				ast.Inspect(file, visit)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
