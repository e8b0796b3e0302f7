package cmd

import (
	"embed"
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
)

// maxIgnore is the size in bytes of the largest .gitignore that init changes.
const maxIgnore = 1 << 20

// starter is the project that init writes. Its server needs no npm packages, so its trail passes with any runtime.
//
//go:embed starter
var starter embed.FS

func (a *app) newInit() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a small project whose trail passes",
		Long: `Write a project into DIR, or into the working directory: a project file, a tool server in plain JavaScript that
needs no packages, a trail that calls it, and a .gitignore for logs, packages and .env. To a .gitignore that exists it
adds those that are missing. init never overwrites: if one of the other files exists, it writes nothing.

With --agent it also adds trailblaze mcp to the configuration of a coding agent, with a short text that tells the agent
how to write trails. In an existing project it then writes only these, and keeps everything else in their files.`,
		Example: "  trailblaze init\n  trailblaze run\n  trailblaze init --agent claude",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.New(fault.Misuse, "", "%s takes one folder, got %d", c.CommandPath(), len(args))
			}
			dir := a.Dir
			if len(args) == 1 {
				dir = a.abs(args[0])
			}
			if c.Flags().Changed("agent") {
				return a.initAgent(dir, agent)
			}
			written, err := a.writeStarter(dir)
			if err != nil {
				return err
			}
			return a.initDone(written, "trailblaze run")
		},
	}
	c.Flags().StringVar(&agent, "agent", "",
		"also configure a coding agent: `"+strings.Join(agentNames(), "|")+"`")
	complete(c, "agent", agentNames())
	return c
}

// initAgent adds trailblaze to the configuration of a coding agent. Where there is no project, it writes one, too.
func (a *app) initAgent(dir, agent string) error {
	root, err := config.FindRoot(config.Options{Dir: dir})
	if err != nil {
		root = dir
	}
	changes, changeErr := agentChanges(root, agent)
	if changeErr != nil {
		return changeErr
	}
	var written []string
	if err != nil {
		if written, err = a.writeStarter(dir); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := c.write(); err != nil {
			return fault.Wrap(fault.Misuse, err, "", "write "+c.name)
		}
		written = append(written, a.relative([]string{c.path})[0])
	}
	next := "start " + agent + " in this folder and ask it for a trail"
	if agent == "goose" && !a.json {
		next += "\n" + gooseEntry
	}
	return a.initDone(written, next)
}

// writeStarter writes the starter project and returns the names of its files.
func (a *app) writeStarter(dir string) ([]string, error) {
	names, err := starterFiles()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil, fault.New(fault.Misuse, "choose another folder; init never overwrites",
				"%s already exists", filepath.Join(dir, name))
		}
	}
	for _, name := range names {
		data, err := starter.ReadFile("starter/" + filepath.ToSlash(name))
		if err == nil {
			err = writeNew(filepath.Join(dir, name), data)
		}
		if err != nil {
			return nil, fault.Wrap(fault.Misuse, err, "", "write the project")
		}
	}
	changed, err := ignore(filepath.Join(dir, ".gitignore"), "logs/", "node_modules/", ".env")
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "write the project")
	}
	if changed {
		names = append(names, ".gitignore")
	}
	return names, nil
}

// ignore adds the patterns that a .gitignore lacks, and reports whether there were any.
func ignore(path string, patterns ...string) (changed bool, err error) {
	old, err := files.Read(path, maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	text := string(old)
	var has []string
	for line := range strings.Lines(text) {
		has = append(has, strings.Trim(line, "/ \t\r\n"))
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, pattern := range patterns {
		if !slices.Contains(has, strings.Trim(pattern, "/")) {
			text, changed = text+pattern+"\n", true
		}
	}
	if !changed {
		return false, nil
	}
	return true, writeNew(path, []byte(text))
}

// writeNew writes a file, and creates its folder if needed.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// starterFiles returns the paths of the starter's files, relative to the project.
func starterFiles() ([]string, error) {
	var files []string
	err := fs.WalkDir(starter, "starter", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var rel string
			rel, err = filepath.Rel("starter", filepath.FromSlash(path))
			files = append(files, rel)
		}
		return err
	})
	return files, err
}

// initDone prints the files that were written, and what to do next.
func (a *app) initDone(files []string, next string) error {
	if a.json {
		return a.writeJSON(map[string]any{"files": append([]string{}, files...)})
	}
	if len(files) == 0 {
		fmt.Fprintln(a.Stdout, "everything is there already")
	}
	for _, name := range files {
		fmt.Fprintf(a.Stdout, "wrote %s\n", name)
	}
	_, err := fmt.Fprintln(a.Stdout, "\nnext: "+next)
	return err
}
