package bundle

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEntryIsCached says that a generated script is bundled once, until one of its files changes, and that one with a
// file that cannot be bundled is not kept.
func TestEntryIsCached(t *testing.T) {
	t.Parallel()
	for _, target := range []Target{Embedded, Node, Bun} {
		dir := t.TempDir()
		file := filepath.Join(dir, "a.ts")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(`import { x } from "made"; export const a = x;`)
		c := Open(t.TempDir())
		e := &Entry{
			Path: filepath.Join(dir, "entry"), Code: "await import(" + quote(file) + ");", Files: []string{file},
			Modules: map[string]string{"made": "export const x = 1;"},
		}
		src := source{path: e.Path, entry: e}
		bundled := func() bool {
			t.Helper()
			if _, err := c.BundleEntry(t.Context(), e, target); err != nil {
				t.Fatal(err)
			}
			return c.lookup(src, target) != nil
		}
		if !bundled() {
			t.Errorf("%s: it is not cached", target)
		}
		write("export const a = 2;")
		if c.lookup(src, target) != nil {
			t.Errorf("%s: a change is not noticed", target)
		}
		write("export const a = ;")
		if bundled() {
			t.Errorf("%s: a bundle that lacks a file is cached", target)
		}
		if broken, err := c.Broken(t.Context(), e, target); err != nil || broken[file].Line != 1 || broken[file].Column != 18 {
			t.Errorf("%s: %v %v", target, broken, err)
		}
	}
}
