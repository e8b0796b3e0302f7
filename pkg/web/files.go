package web

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// SetTrailDir changes the folder of the trail, between calls.
func (d *webDevice) SetTrailDir(dir string) { d.session.TrailDir = dir }

// foldersOf returns the folders in which a path that an argument names may be: those of the trail and of the project,
// or an empty one for an absolute path.
func (d *webDevice) foldersOf(path string) []string {
	return foldersFor(path, d.session.TrailDir, d.session.Root)
}

// foldersOfPages returns what foldersOf does for a path that is the URL of a page, with the working directory.
func (d *webDevice) foldersOfPages(path string) []string {
	return foldersFor(path, d.session.TrailDir, d.session.WorkingDir, d.session.Root)
}

func foldersFor(path string, known ...string) []string {
	if filepath.IsAbs(filepath.FromSlash(path)) {
		return []string{""}
	}
	return slices.DeleteFunc(known, func(folder string) bool { return folder == "" })
}

// findFile returns the path of a file beside the trail or in the project, for an argument of a command.
func (d *webDevice) findFile(argument, name string) (string, error) {
	var tried []string
	for _, folder := range d.foldersOf(name) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if !d.files.AllowsPath(path) {
			return "", fault.New(fault.ToolFailed, allowFileHint,
				"%s: %s may not be read: it is not below %s", argument, path, d.files)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		tried = append(tried, path)
	}
	if len(tried) == 0 {
		return "", errNoFolder(argument, name)
	}
	return "", &fault.Error{
		Kind: fault.ToolFailed, Hint: "write a path relative to the trail's folder or the project's",
		Message: fmt.Sprintf("%s: the file %s does not exist", argument, strings.Join(slices.Compact(tried), " or ")),
	}
}

// errNoFolder is the error for a relative path in a session without a trail and a project.
func errNoFolder(argument, path string) error {
	return fault.New(fault.InvalidArguments, "give an absolute path",
		"%s: no folder is known in which %q could be a file", argument, path)
}

const allowFileHint = "--allow-file FOLDER allows another folder, and device: { web: { allowFile: [FOLDER] } } in trailblaze.yaml"

func agentFilesHint() string {
	return "agents may open files of the project that end in " + strings.Join(access.PageExtensions(), ", ")
}

// allowFiles makes the page read only files that the session may read. It must be called before a page is opened.
func (p *page) allowFiles(ctx context.Context, address string) error {
	if !syntax.ReachesFiles(address) {
		return nil
	}
	isFile := strings.HasPrefix(strings.ToLower(syntax.PlainURL(address)), "file:")
	if isFile && !p.device.files.Allows(address) {
		return fault.New(fault.ToolFailed, allowFileHint,
			"%s may not be opened: it is not below %s", address, p.device.files)
	}
	if isFile && !p.device.files.AllowsPage(address) {
		return fault.New(fault.ToolFailed, agentFilesHint(),
			"%s may not be opened: it is not a page", address)
	}
	if p.device.network.PauseFiles() {
		return nil
	}
	return p.context.pauseAllRequests(ctx)
}
