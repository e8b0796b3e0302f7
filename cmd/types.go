package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/typings"
	"github.com/trailblaze/trailblaze/pkg/watch"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// maxTypings is the size in bytes of the largest file of types that is compared with the new one.
const maxTypings = 64 << 20

// typeCommands describe the tools of a project for compilers and editors.
type typeCommands struct{ *program }

func (cmd *typeCommands) newTypes() *cobra.Command {
	var f typesFlags
	c := &cobra.Command{
		Use:   "types",
		Short: "Write the types of the project's tools for TypeScript and Python",
		Long: `Write ` + typings.TypeScriptFile + ` or ` + typings.PythonFile + `, or both: the names, arguments, documentation and results of
the tools that a session of the project can have, those of devices and built-in ones included. With these files,
compilers and editors check and complete client.tools.NAME(…) and callTool("NAME", …) of the packages for TypeScript and
Python.

Without --language, the languages are those that the project uses: those of its servers, of the files that were written
before, and of tsconfig.json, pyproject.toml, requirements.txt or setup.py in the project root. If there are none of
these, package.json means TypeScript, and both files are written without it.

The servers of every target are started for each of its platforms, asked for their tools and stopped; no tool is called.
A file whose content would stay the same is not written.`,
		Example: `  trailblaze types
  trailblaze types --out src/types
  trailblaze types --language typescript,python
  trailblaze types --watch    # write them again after changes`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, name := range f.languages {
				if !slices.Contains(languageNames(), name) {
					return unknownName("language", name, languageNames())
				}
			}
			if f.watch {
				if cmd.json {
					return fault.New(fault.Misuse, "leave one of them out", "--watch and --json cannot be combined")
				}
				return cmd.watchTypes(c.Context(), f)
			}
			return cmd.types(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "write the files into `DIR` (default: the project root)")
	c.Flags().BoolVarP(&f.watch, "watch", "w", false, "write them again after each change of the project, until Ctrl-C")
	c.Flags().StringSliceVar(&f.languages, "language", nil,
		"write the file for `LANGUAGE` (repeatable): "+strings.Join(languageNames(), ", ")+" (default: those of the project)")
	complete(c, "language", languageNames())
	return c
}

type typesFlags struct {
	out       string
	watch     bool
	languages []string // names; empty for those of the project
}

// types writes the files of the project once.
func (cmd *typeCommands) types(ctx context.Context, f typesFlags) error {
	listed, err := cmd.listScopes(ctx)
	if err != nil {
		return err
	}
	dir := listed.project.Root
	if f.out != "" {
		dir = cmd.abs(f.out)
	}
	view := typesView{Scopes: list(listed.scopes), Tools: listed.names(), Warnings: list(listed.warnings)}
	selected := languagesOf(listed.project, dir)
	if len(f.languages) > 0 {
		selected = languagesWhere(func(l language) bool { return slices.Contains(f.languages, l.name) })
	}
	for _, l := range selected {
		view.languages = append(view.languages, l.title)
		path := filepath.Join(dir, l.file)
		isOurs := func(start []byte) bool { return bytes.Contains(start, []byte(typings.Mark)) }
		if err := cmd.checkOverwritten(cmd.relative(path), "a file of trailblaze types", isOurs); err != nil {
			return err
		}
		written, err := writeChanged(path, l.write(listed.tools))
		if err != nil {
			return fault.Wrap(fault.Misuse, err, "--out names another folder", "write the types")
		}
		view.Files = append(view.Files, typesFile{cmd.relative(path), written})
	}
	view.others = len(f.languages) == 0 && len(selected) < len(languages())
	return cmd.printTypes(view)
}

// writeChanged writes a file unless it has this content, and reports whether it did.
func writeChanged(path string, data []byte) (bool, error) {
	old, err := files.Read(path, maxTypings)
	if err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	err = files.Replace(path, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Chmod(0o644))
	})
	return err == nil, err
}

// typesView is the JSON output of types.
type typesView struct {
	Files    []typesFile `json:"files"`
	Scopes   []string    `json:"scopes"`
	Tools    int         `json:"tools"` // the number of names
	Warnings []string    `json:"warnings"`

	languages []string // titles
	others    bool     // the project has fewer languages than there are
}

type typesFile struct {
	File    string `json:"file"`
	Written bool   `json:"written"` // false when it was up to date
}

func (cmd *typeCommands) printTypes(v typesView) error {
	if cmd.json {
		return cmd.writeJSON(v)
	}
	for _, f := range v.Files {
		if f.Written {
			fmt.Fprintf(cmd.Stdout, "wrote %s\n", f.File)
		} else {
			fmt.Fprintf(cmd.Stdout, "%s is up to date\n", f.File)
		}
	}
	_, err := fmt.Fprintf(cmd.Stdout, "%s (%s)\n", text.Count(v.Tools, "tool"), report.Clean(strings.Join(v.Scopes, "; ")))
	if v.others {
		cmd.notice("this project uses " + strings.Join(v.languages, " and ") + "; --language selects others")
	}
	return err
}

// scopeTools are the tools of every scope of a project.
type scopeTools struct {
	project          *config.Project
	tools            []typings.Tool
	scopes, warnings []string // scopes in words
}

// names returns the number of names that the tools have.
func (s scopeTools) names() int {
	names := map[string]bool{}
	for _, t := range s.tools {
		names[t.Name] = true
	}
	return len(names)
}

// listScopes starts the servers of each scope of the project, one scope after another, and returns their tools.
func (cmd *typeCommands) listScopes(ctx context.Context) (scopeTools, error) {
	w, err := cmd.loadProject()
	if err != nil {
		return scopeTools{}, err
	}
	s, err := w.Sessions(ctx, workspace.Choice{LogStderr: cmd.verbose > 1})
	if err != nil {
		return scopeTools{}, err
	}
	listed := scopeTools{project: w.Project}
	warn := func(text string) {
		if text = cmd.redactor.Text(text); !slices.Contains(listed.warnings, text) {
			listed.warnings = append(listed.warnings, text)
			cmd.notice("warning: " + text)
		}
	}
	for _, problem := range w.Project.Notes() {
		warn(problem.Error())
	}
	s.NewStream(warnings(warn), cmd.debugLogs())
	defer logStop(ctx, cmd.notice)()
	for _, sc := range projectScopes(w.Project, w.Request(workspace.Choice{})) {
		registry, err := s.ListTools(ctx, sc)
		if err != nil {
			return scopeTools{}, cmd.withWarnings(err, listed.warnings)
		}
		name := sc.Driver.Key
		if sc.Target.ID != "" {
			name = sc.Target.ID + " on " + name
		}
		listed.scopes = append(listed.scopes, name)
		for _, t := range registry.Tools {
			listed.tools = append(listed.tools, typings.Tool{
				Name: t.Name, Description: cmd.redactor.Text(t.Description), Scope: name, Aliases: t.Aliases,
				InputSchema: s.Redactor.Bytes(t.InputSchema), OutputSchema: s.Redactor.Bytes(t.OutputSchema),
			})
		}
	}
	return listed, nil
}

// projectScopes returns the scopes that sessions of a project can have: each target with each of its drivers.
func projectScopes(project *config.Project, r scope.Request) []scope.Scope {
	mode, ok := scope.ParseAgentMode(r.ProjectAgentMode)
	if !ok {
		mode = scope.Host
	}
	targets := slices.Clone(r.Targets)
	isDefault := func(t scope.Target) bool { return t.ID == project.Target }
	if !slices.ContainsFunc(targets, isDefault) && (project.Target != "" || len(targets) == 0) {
		targets = append(targets, scope.Target{ID: project.Target})
	}
	var scopes []scope.Scope
	for _, t := range targets {
		for _, d := range targetDrivers(project, t) {
			scopes = append(scopes, scope.Scope{Target: t, Driver: d, AgentMode: mode})
		}
	}
	return scopes
}

// targetDrivers returns the drivers that the project names for the platforms of a target, else their default drivers. A
// target that names no platforms has those of the project, else all.
func targetDrivers(project *config.Project, t scope.Target) []scope.Driver {
	var named []scope.Driver
	platforms := slices.Clone(t.Platforms)
	add := func(platform, driver string) {
		if d, ok := scope.ParseDriver(driver); ok {
			named, platform = append(named, d), string(d.Platform)
		}
		if p, ok := scope.ParsePlatform(platform); ok && len(t.Platforms) == 0 && !slices.Contains(platforms, p) {
			platforms = append(platforms, p)
		}
	}
	add(project.Platform, project.Driver)
	for _, d := range project.Devices {
		add(d.Platform, d.Driver)
	}
	if len(platforms) == 0 {
		platforms = []scope.Platform{scope.Android, scope.IOS, scope.Web}
	}
	var drivers []scope.Driver
	for _, p := range platforms {
		isOther := func(d scope.Driver) bool { return d.Platform != p }
		own := slices.DeleteFunc(slices.Clone(named), isOther)
		if len(own) == 0 {
			own = []scope.Driver{t.DefaultDriver(p)}
		}
		for _, d := range own {
			if !slices.Contains(drivers, d) {
				drivers = append(drivers, d)
			}
		}
	}
	return drivers
}

// watchTypes writes the types, and again after each change of the project, until it is interrupted.
func (cmd *typeCommands) watchTypes(ctx context.Context, f typesFlags) (err error) {
	root, err := cmd.findRoot()
	if err != nil {
		return err
	}
	changes, err := watch.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, changes.Close()) }()
	if err := changes.Watch([]string{root}, []string{filepath.Join(root, "logs")}); err != nil {
		return err
	}
	for {
		var code exitCode
		if err := cmd.types(ctx, f); err != nil && ctx.Err() == nil {
			code = exitCode(cmd.fail(err))
		}
		if ctx.Err() == nil {
			cmd.notice("waiting for changes (Ctrl-C ends)")
		}
		if err := awaitSources(ctx, changes); err != nil {
			return err
		}
		if ctx.Err() != nil && code != 0 {
			return code // of the last listing
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// awaitSources waits until a file changes that may decide which tools there are. It returns an error when files can no
// longer be watched.
func awaitSources(ctx context.Context, changes *watch.Watcher) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-changes.Changes():
			if c.Err != nil || c.All || slices.ContainsFunc(c.Paths, decidesTools) {
				return c.Err
			}
		}
	}
}

func decidesTools(path string) bool {
	name := filepath.Base(path)
	return isSourceCode(path) && name != typings.TypeScriptFile || isYAML(path) && !isTrail(path) || name == ".env" || name == "package.json"
}
