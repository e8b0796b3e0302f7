package web

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// fileAccess says which files pages may be read from: those below some folders.
type fileAccess struct {
	folders   []string // absolute, without symbolic links
	pagesOnly bool     // a page is opened only from a file with one of [pageExtensions]
}

// pageExtensions returns those of the files that agents may open as pages. Others may have secrets, such as .env.
func pageExtensions() []string { return []string{".html", ".htm", ".xhtml", ".svg", ".pdf"} }

// newFileAccess allows the folder of the project, or without a project that of the trail, and the folders that the user
// allows. Relative ones start at the project's folder.
func newFileAccess(session device.Session, allowed []string) fileAccess {
	base := session.Root
	if base == "" {
		base = session.TrailDir
	}
	a := fileAccess{pagesOnly: session.RestrictOrigins}
	if base != "" {
		a.folders = append(a.folders, resolvePath(base))
	}
	for _, folder := range allowed {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(base, folder)
		}
		a.folders = append(a.folders, resolvePath(folder))
	}
	return a
}

// SetTrailDir changes the folder of the trail, between calls.
func (d *webDevice) SetTrailDir(dir string) { d.session.TrailDir = dir }

// foldersOf returns the folders in which a path that an argument names may be: those of the trail and of the project,
// or an empty one for an absolute path.
func (d *webDevice) foldersOf(path string) []string {
	if filepath.IsAbs(filepath.FromSlash(path)) {
		return []string{""}
	}
	return slices.DeleteFunc([]string{d.session.TrailDir, d.session.Root}, func(folder string) bool { return folder == "" })
}

// errNoFolder is the error for a relative path in a session without a trail and a project.
func errNoFolder(argument, path string) error {
	return fault.New(fault.InvalidArguments, "give an absolute path",
		"%s: no folder is known in which %q could be a file", argument, path)
}

// resolvePath returns a path without symbolic links, as far as it exists.
func resolvePath(path string) string {
	path = filepath.Clean(path)
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		return resolved
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolvePath(parent), filepath.Base(path))
}

// allows reports whether the file of a file: URL may be read.
func (a fileAccess) allows(address string) bool {
	path, err := syntax.PathOf(address)
	return err == nil && a.allowsPath(path)
}

// allowsPath reports whether a file may be read.
func (a fileAccess) allowsPath(path string) bool {
	path = resolvePath(path)
	return slices.ContainsFunc(a.folders, func(folder string) bool {
		below, err := filepath.Rel(folder, path)
		return err == nil && filepath.IsLocal(below)
	})
}

// allowsPage reports whether the file of a file: URL may be shown as a page.
func (a fileAccess) allowsPage(address string) bool {
	if !a.pagesOnly {
		return true
	}
	path, err := syntax.PathOf(address)
	return err == nil && slices.Contains(pageExtensions(), strings.ToLower(filepath.Ext(resolvePath(path))))
}

// allowFiles makes the page read only files that the session may read. It must be called before a page is opened.
func (p *page) allowFiles(ctx context.Context, address string) error {
	if !syntax.ReachesFiles(address) {
		return nil
	}
	isFile := strings.HasPrefix(strings.ToLower(syntax.PlainURL(address)), "file:")
	if isFile && !p.device.files.allows(address) {
		return fault.New(fault.ToolFailed,
			"device: { web: { allowFile: [FOLDER] } } in the project file allows other folders",
			"%s may not be opened: it is not below %s", address, p.device.files)
	}
	if isFile && !p.device.files.allowsPage(address) {
		return fault.New(fault.ToolFailed, "agents may open files of the project that end in "+strings.Join(pageExtensions(), ", "),
			"%s may not be opened: it is not a page", address)
	}
	if p.device.network.filesChecked.Swap(true) {
		return nil
	}
	return p.context.pauseAllRequests(ctx)
}

// String lists the folders.
func (a fileAccess) String() string {
	if len(a.folders) == 0 {
		return "a folder of a project"
	}
	return strings.Join(a.folders, " or ")
}

// readFolders reads the value of the option allowFile: a list of folders in JSON, or folders separated as in PATH.
func readFolders(value string) ([]string, error) {
	var folders []string
	if strings.HasPrefix(value, "[") {
		if err := json.Unmarshal([]byte(value), &folders); err != nil {
			return nil, fault.New(fault.Misuse, "write a list of folders, such as [../shared]",
				"allowFile: %s is not a list of folders", value)
		}
		return folders, nil
	}
	return slices.DeleteFunc(filepath.SplitList(value), func(folder string) bool { return folder == "" }), nil
}
