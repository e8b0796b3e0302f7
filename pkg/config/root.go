package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// A project root contains at least one of these.
const (
	projectFile    = "trailblaze.yaml"
	oldProjectFile = "trailblaze.config.yaml"
	configDir      = "trailblaze-config"
)

// Options are where FindRoot searches for a project.
type Options struct {
	Dir      string                      // the working directory, absolute
	Override string                      // the folder given with --project, absolute or relative to Dir; may be empty
	Env      func(string) (string, bool) // looks up TRAILBLAZE_PROJECT when Override is empty; may be nil
	Other    Layout                      // of projects that are found, too; may be zero
}

// Layout recognizes projects whose files lie elsewhere and are read by another package.
type Layout struct {
	Anchor string // the file that such a project has, as messages name it
	// Root returns the root of the project that a folder belongs to by its own files; empty when there is none.
	Root func(dir string) string
	// Named returns the root of the project that the environment names; empty when it names none. It wins over the
	// search.
	Named func() string
}

// FindRoot returns the project root: the folder that Override or TRAILBLAZE_PROJECT names, else the nearest folder from
// Dir upwards that contains a project file or trailblaze-config/, or that is the root of a project of the other layout.
// Its error is a *fault.Error of kind Misuse.
func FindRoot(opts Options) (string, error) {
	given := opts.Override
	if given == "" && opts.Env != nil {
		given, _ = opts.Env("TRAILBLAZE_PROJECT")
	}
	if given != "" {
		return opts.givenRoot(given)
	}
	if opts.Other.Named != nil {
		if root := opts.Other.Named(); root != "" {
			return root, nil
		}
	}
	for dir := filepath.Clean(opts.Dir); ; dir = filepath.Dir(dir) {
		if root := opts.root(dir); root != "" {
			return root, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fault.New(fault.Misuse, "run `trailblaze init` to start a project here, or name one with --project",
				"no project found: neither %s nor a folder above it contains %s", opts.Dir, opts.anchors("or"))
		}
	}
}

// root returns the root of the project that a folder belongs to by its own files; empty when there is none.
func (opts Options) root(dir string) string {
	var other string
	if opts.Other.Root != nil {
		other = opts.Other.Root(dir)
	}
	if IsRoot(dir) && (other == "" || other == dir) {
		return dir
	}
	return other
}

// anchors lists what a project root contains.
func (opts Options) anchors(last string) string {
	names := []string{projectFile, oldProjectFile, configDir + "/"}
	if opts.Other.Anchor != "" {
		names = append(names, opts.Other.Anchor)
	}
	end := len(names) - 1
	return strings.Join(names[:end], ", ") + " " + last + " " + names[end]
}

func (opts Options) givenRoot(given string) (string, error) {
	root := filepath.Clean(given)
	if !filepath.IsAbs(root) {
		root = filepath.Join(opts.Dir, root)
	}
	switch found := opts.root(root); {
	case found != "":
		return found, nil
	case isFile(root):
		return "", fault.New(fault.Misuse, "name the folder that holds it", "project %s is a file", root)
	case !isDir(root):
		return "", fault.New(fault.Misuse, "name a folder that exists, or run `trailblaze init` in a new one",
			"project folder %s does not exist", root)
	default:
		return "", fault.New(fault.Misuse, "run `trailblaze init` there to start a project",
			"%s is not a project: it contains none of %s", root, opts.anchors("and"))
	}
}

// IsRoot reports whether a folder contains a project file or trailblaze-config/.
func IsRoot(dir string) bool {
	return isFile(filepath.Join(dir, projectFile)) || isFile(filepath.Join(dir, oldProjectFile)) ||
		isDir(filepath.Join(dir, configDir))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
