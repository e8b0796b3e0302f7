package cmd

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// commitID matches the id of a commit in git.
var commitID = lazyregexp.New(`^[0-9a-f]{40,64}$`)

// commit returns the id of the commit that a folder is at in git, empty when it is not known. It only reads files.
func (s System) commit(dir string) string {
	for _, name := range []string{"GITHUB_SHA", "CI_COMMIT_SHA"} {
		if id := s.env(name); commitID().MatchString(id) {
			return id
		}
	}
	for parent := filepath.Dir(dir); !exists(filepath.Join(dir, ".git")); dir, parent = parent, filepath.Dir(parent) {
		if parent == dir {
			return ""
		}
	}
	git := filepath.Join(dir, ".git")
	if link, ok := strings.CutPrefix(readLine(git), "gitdir: "); ok { // of a worktree or a submodule
		git = link
		if !filepath.IsAbs(git) {
			git = filepath.Join(dir, git)
		}
	}
	return commitOf(git)
}

// commitOf returns the id of the commit that HEAD in a git folder names.
func commitOf(git string) string {
	head := readLine(filepath.Join(git, "HEAD"))
	ref, isRef := strings.CutPrefix(head, "ref: ")
	if !isRef {
		return commitID().FindString(head)
	}
	common := cmp.Or(readLine(filepath.Join(git, "commondir")), ".")
	if !filepath.IsAbs(common) {
		common = filepath.Join(git, common)
	}
	if id := readLine(filepath.Join(common, filepath.FromSlash(ref))); commitID().MatchString(id) {
		return id
	}
	packed, _ := files.Read(filepath.Join(common, "packed-refs"), maxRefs) // without it the commit is not known
	for line := range strings.Lines(string(packed)) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commitID().FindString(id)
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// maxRefs is the size in bytes of the largest file of git that is read.
const maxRefs = 64 << 20

// readLine returns the first line of a file, empty when it cannot be read.
func readLine(path string) string {
	data, _ := files.Read(path, maxRefs)
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
