package cmd

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/sdks/typescript"
)

// maxIgnore is the size in bytes of the largest .gitignore that init changes.
const maxIgnore = 1 << 20

// starters are the projects that init writes. The server of the first needs no npm packages, so its trail passes with
// any runtime.
//
//go:embed starter all:starter-typescript
var starters embed.FS

// sdkFolder is the folder of the package @trailblaze/scripting in a project in TypeScript.
const sdkFolder = "packages/scripting"

// initCommand writes new projects.
type initCommand struct{ *program }

func (cmd *initCommand) newInit() *cobra.Command {
	var agent, from string
	var typeScript bool
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a small project whose trail passes",
		Long: `Write a project into DIR, or into the working directory: a project file, a tool server in plain JavaScript that
needs no packages, a trail that calls it, and a .gitignore for logs, packages and .env. To a .gitignore that exists it
adds those that are missing. init never overwrites: if one of the other files exists, it writes nothing.

With --typescript the server is in TypeScript. The project then also has package.json, tsconfig.json, the package
@trailblaze/scripting in ` + sdkFolder + `, and the settings with which VS Code checks trails. To a package.json that
exists it adds the scripts and packages that are missing, and that its scripts are modules.

With --agent it also adds trailblaze mcp to the configuration of a coding agent, with a short text that tells the agent
how to write trails. In an existing project it then writes only these, and keeps everything else in their files.

With --from it writes project files beside those of a workspace of the JVM Trailblaze, with its targets and toolsets, and
says what they do not have. Its trails stay where they are.`,
		Example: "  trailblaze init\n  trailblaze run\n  trailblaze init --typescript shop-tests\n  trailblaze init --agent claude\n  trailblaze init --from .",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.New(fault.Misuse, "", "%s takes one folder, got %d", c.CommandPath(), len(args))
			}
			dir := cmd.Dir
			if len(args) == 1 {
				dir = cmd.abs(args[0])
			}
			if from != "" && len(args) > 0 {
				return fault.New(fault.Misuse, "leave it out: the files are written beside those of the workspace", "%s --from takes no folder to write to, got %s", c.CommandPath(), args[0])
			}
			if from != "" {
				return cmd.initFrom(cmd.abs(from))
			}
			if c.Flags().Changed("agent") {
				return cmd.initAgent(dir, agent, typeScript)
			}
			written, err := cmd.writeStarter(dir, typeScript)
			if err != nil {
				return err
			}
			next := cmd.commandName() + " run"
			if cmd.hasDisplay() {
				next += ", or " + cmd.commandName() + " studio to record a trail by clicking"
			}
			if typeScript {
				next = "npm install && npm run types, then " + next
			}
			if len(args) == 1 {
				next = "cd " + shellLine(args) + " && " + next
			}
			return cmd.initDone(written, next)
		},
	}
	c.Flags().StringVar(&agent, "agent", "",
		"also configure a coding agent: `"+strings.Join(agentNames(), "|")+"`")
	c.Flags().BoolVar(&typeScript, "typescript", false, "write a project in TypeScript, with the types of its tools")
	c.Flags().StringVar(&from, "from", "", "write the project that the workspace of the JVM Trailblaze in the folder `DIR` is")
	for _, other := range []string{"agent", "typescript"} {
		c.MarkFlagsMutuallyExclusive("from", other)
	}
	complete(c, "agent", agentNames())
	return c
}

// initAgent adds trailblaze to the configuration of a coding agent. Where there is no project, it writes one, too.
func (cmd *initCommand) initAgent(dir, agent string, typeScript bool) error {
	root, err := cmd.opener.FindRootFrom(dir)
	if err != nil {
		root = dir
	}
	changes, changeErr := agentChanges(root, agent, cmd.server())
	if changeErr != nil {
		return changeErr
	}
	var written []string
	if err != nil {
		if written, err = cmd.writeStarter(dir, typeScript); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := c.write(); err != nil {
			return fault.Wrap(fault.Misuse, err, "", "write "+c.name)
		}
		written = append(written, cmd.relative(c.path))
	}
	next := "start " + agent + " in this folder and ask it for a trail"
	if agent == "goose" && !cmd.json {
		server := cmd.server()
		next += "\n" + fmt.Sprintf(gooseEntry, server[0], strings.Join(server[1:], ", "))
	}
	return cmd.initDone(written, next)
}

// writeStarter writes a starter project and returns the names of its files.
func (cmd *initCommand) writeStarter(dir string, typeScript bool) ([]string, error) {
	content, err := starterFiles(typeScript)
	if err != nil {
		return nil, err
	}
	madeModule, err := extendPackage(dir, content)
	if err != nil {
		return nil, err
	}
	written, err := writeFiles(dir, content, "logs/", "node_modules/", ".env")
	if err == nil && madeModule {
		cmd.notice(`package.json has "type": "module" now; rename files of the package that call require() from .js to .cjs`)
	}
	return written, err
}

// writeFiles writes files by their paths relative to dir, and adds patterns to its .gitignore. It returns their names. If
// one of them exists, other than package.json, it writes nothing.
func writeFiles(dir string, content map[string][]byte, ignored ...string) ([]string, error) {
	names := slices.Sorted(maps.Keys(content))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && name != packageFile {
			return nil, fault.New(fault.Misuse, "choose another folder; init never overwrites",
				"%s already exists", filepath.Join(dir, name))
		}
	}
	var created created
	for _, name := range names {
		if err := created.write(filepath.Join(dir, name), content[name]); err != nil {
			created.remove()
			return nil, fault.Wrap(fault.Misuse, err, "", "write the project")
		}
	}
	changed, err := ignore(filepath.Join(dir, ".gitignore"), ignored...)
	if err != nil {
		created.remove()
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
	return true, replace(path, []byte(text))
}

func replace(path string, data []byte) error {
	return files.Replace(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// created has the files and folders that did not exist before, folders before what is in them.
type created []string

// write writes a file, and creates its folder if needed.
func (c *created) write(path string, data []byte) error {
	if err := c.folder(filepath.Dir(path)); err != nil {
		return err
	}
	_, missing := os.Lstat(path)
	err := replace(path, data)
	if err == nil && missing != nil {
		*c = append(*c, path)
	}
	return err
}

func (c *created) folder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := c.folder(filepath.Dir(path)); err != nil {
		return err
	}
	err := os.Mkdir(path, 0o755)
	if err == nil {
		*c = append(*c, path)
	}
	return err
}

// remove removes everything, so that the command can be repeated. Folders with other files stay.
func (c *created) remove() {
	for _, path := range slices.Backward(*c) {
		_ = os.Remove(path)
	}
}

// starterFiles returns the content of a starter's files, by their paths relative to the project.
func starterFiles(typeScript bool) (map[string][]byte, error) {
	content := map[string][]byte{}
	if !typeScript {
		return content, addFiles(content, starters, "starter", "")
	}
	return content, errors.Join(
		addFiles(content, starters, "starter-typescript", ""),
		addFiles(content, typescript.Files(), ".", sdkFolder),
	)
}

// addFiles adds the files below root, under names below dir.
func addFiles(content map[string][]byte, from fs.FS, root, dir string) error {
	return fs.WalkDir(from, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(filepath.FromSlash(root), filepath.FromSlash(path))
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(from, path)
		content[filepath.Join(filepath.FromSlash(dir), rel)] = data
		return err
	})
}

// initDone prints the files that were written, and what to do next.
func (cmd *initCommand) initDone(files []string, next string) error {
	if cmd.json {
		return cmd.writeJSON(map[string]any{"files": append([]string{}, files...)})
	}
	if len(files) == 0 {
		fmt.Fprintln(cmd.Stdout, "everything is there already")
	}
	for _, name := range files {
		fmt.Fprintf(cmd.Stdout, "wrote %s\n", name)
	}
	_, err := fmt.Fprintln(cmd.Stdout, "\nnext: "+next)
	return err
}

const packageFile = "package.json"

// extendPackage replaces the package.json of a starter's files by the one in dir, if there is one, with what that
// lacks. madeModule reports whether that makes modules of the scripts of the package.
func extendPackage(dir string, content map[string][]byte) (madeModule bool, err error) {
	if content[packageFile] == nil {
		return false, nil
	}
	path := filepath.Join(dir, packageFile)
	old, err := files.Read(path, maxAgentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		content[packageFile], madeModule, err = addPackageMembers(old, content[packageFile])
	}
	if err != nil {
		hint := "choose another folder: trailblaze init --typescript NAME makes one in this folder"
		return false, fault.New(fault.Misuse, hint, "%s cannot be extended: %v", path, err)
	}
	return madeModule, nil
}

// addPackageMembers adds what a package.json lacks of another one, other than that it is private. madeModule is that of
// extendPackage.
func addPackageMembers(data, wanted []byte) (extended []byte, madeModule bool, err error) {
	var has, adds map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &has), json.Unmarshal(wanted, &adds)); err != nil {
		return nil, false, err
	}
	kind := string(has["type"])
	if kind != "" && kind != `"module"` {
		return nil, false, fmt.Errorf("its type is %s, and the tools of a project are modules", kind)
	}
	delete(adds, "private")
	extended, err = addMembers(data, adds)
	return extended, kind == "", err
}
