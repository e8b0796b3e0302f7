package config

import (
	"os"
	"path/filepath"

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
}

// FindRoot returns the project root: the folder that Override or TRAILBLAZE_PROJECT names, else the nearest folder from
// Dir upwards that contains a project file or trailblaze-config/. Its error is a *fault.Error of kind Misuse.
func FindRoot(opts Options) (string, error) {
	given := opts.Override
	if given == "" && opts.Env != nil {
		given, _ = opts.Env("TRAILBLAZE_PROJECT")
	}
	if given != "" {
		return givenRoot(opts.Dir, given)
	}
	for dir := filepath.Clean(opts.Dir); ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fault.New(fault.Misuse, "run `trailblaze init` to start a project here, or name one with --project",
				"no project found: neither %s nor a folder above it contains %s, %s or %s/",
				opts.Dir, projectFile, oldProjectFile, configDir)
		}
	}
}

func givenRoot(dir, given string) (string, error) {
	root := filepath.Clean(given)
	if !filepath.IsAbs(root) {
		root = filepath.Join(dir, root)
	}
	switch {
	case isRoot(root):
		return root, nil
	case isFile(root):
		return "", fault.New(fault.Misuse, "name the folder that holds it", "project %s is a file", root)
	case !isDir(root):
		return "", fault.New(fault.Misuse, "name a folder that exists, or run `trailblaze init` in a new one",
			"project folder %s does not exist", root)
	default:
		return "", fault.New(fault.Misuse, "run `trailblaze init` there to start a project",
			"%s is not a project: it contains none of %s, %s and %s/", root, projectFile, oldProjectFile, configDir)
	}
}

func isRoot(dir string) bool {
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
