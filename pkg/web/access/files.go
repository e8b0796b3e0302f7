package access

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Files says which files pages may be read from: those below some folders. It may be used from any goroutine.
type Files struct {
	pagesOnly  bool   // a page is opened only from a file with one of [PageExtensions]
	workingDir string // without symbolic links; empty for none

	mu      sync.Mutex
	folders []string // absolute, without symbolic links
}

// PageExtensions returns those of the files that agents may open as pages. Others may have secrets, such as .env.
func PageExtensions() []string { return []string{".html", ".htm", ".xhtml", ".svg", ".pdf"} }

// NewFiles allows the folder of the project, or without a project that of the trail, and the folders that the user
// allows. Relative ones start at the project's folder.
func NewFiles(session device.Session, allowed []string) *Files {
	base := session.Root
	if base == "" {
		base = session.TrailDir
	}
	a := &Files{pagesOnly: session.RestrictOrigins}
	if session.WorkingDir != "" {
		a.workingDir = ResolvePath(session.WorkingDir)
	}
	if base != "" {
		a.folders = append(a.folders, ResolvePath(base))
	}
	for _, folder := range allowed {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(base, folder)
		}
		a.folders = append(a.folders, ResolvePath(folder))
	}
	return a
}

// ResolvePath returns a path without symbolic links, as far as it exists.
func ResolvePath(path string) string {
	path = filepath.Clean(path)
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		return resolved
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(ResolvePath(parent), filepath.Base(path))
}

// AllowFolderOf allows the folder of a page that a trail or one of its tools names, if it is in the working directory of
// the session. It does nothing in sessions of agents, and for files that are not pages.
func (a *Files) AllowFolderOf(page string) {
	page = ResolvePath(page)
	if a.pagesOnly || a.workingDir == "" || !isBelow(a.workingDir, page) || !IsPage(page) || a.AllowsPath(page) {
		return
	}
	a.allow(filepath.Dir(page))
}

func (a *Files) allow(folder string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.folders = append(a.folders, folder)
}

// AllowApp allows the folder of the file that the first window of an app shows: the archive that it is in, if any.
func (a *Files) AllowApp(address string) {
	path, err := syntax.PathOf(address)
	if err != nil {
		return
	}
	folder := filepath.Dir(ResolvePath(path))
	for above := folder; filepath.Dir(above) != above; above = filepath.Dir(above) {
		if filepath.Ext(above) == ".asar" {
			folder = above
		}
	}
	a.allow(folder)
}

// isBelow reports whether a path is a folder or below it. Both are without symbolic links.
func isBelow(folder, path string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// IsPage reports whether a file has one of [PageExtensions].
func IsPage(path string) bool {
	return slices.Contains(PageExtensions(), strings.ToLower(filepath.Ext(path)))
}

// Allows reports whether the file of a file: URL may be read.
func (a *Files) Allows(address string) bool {
	path, err := syntax.PathOf(address)
	return err == nil && a.AllowsPath(path)
}

// AllowsPath reports whether a file may be read.
func (a *Files) AllowsPath(path string) bool {
	path = ResolvePath(path)
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.folders, func(folder string) bool { return isBelow(folder, path) })
}

// AllowsPage reports whether the file of a file: URL may be shown as a page.
func (a *Files) AllowsPage(address string) bool {
	if !a.pagesOnly {
		return true
	}
	path, err := syntax.PathOf(address)
	return err == nil && IsPage(ResolvePath(path))
}

// String lists the folders.
func (a *Files) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.folders) == 0 {
		return "a folder of a project"
	}
	return strings.Join(a.folders, " or ")
}

// ReadFolders reads the value of the option allowFile: a list of folders in JSON, or folders separated as in PATH.
func ReadFolders(value string) ([]string, error) {
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
