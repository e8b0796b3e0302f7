package trail_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Every style of file is merged as its golden file shows, whatever its line ends.
func TestMergeChangesOnlyTheRecording(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			classifier := strings.TrimSpace(string(archive.Comment))
			in, recorded := archive.Files[0].Data, parse(t, "recorded.yaml", archive.Files[1].Data)
			out := merge(t, in, classifier, recorded)
			archive.Files = append(archive.Files[:2], txtar.File{Name: "out.yaml", Data: out})
			golden(t, path, string(txtar.Format(archive)))
			for style, change := range styles() {
				if got, want := merge(t, change(in), classifier, recorded), change(out); !bytes.Equal(got, want) {
					t.Errorf("with %s:\n%q\nwant:\n%q", style, got, want)
				}
			}
		})
	}
}

func styles() map[string]func([]byte) []byte {
	crlf := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }
	return map[string]func([]byte) []byte{
		"CRLF":                   crlf,
		"a byte order mark":      func(data []byte) []byte { return slices.Concat([]byte("\ufeff"), data) },
		"both":                   func(data []byte) []byte { return slices.Concat([]byte("\ufeff"), crlf(data)) },
		"no line end":            func(data []byte) []byte { return bytes.TrimSuffix(data, []byte("\n")) },
		"empty lines at the end": func(data []byte) []byte { return slices.Concat(data, []byte("\n \n")) },
	}
}

// merge merges and checks what always holds: merging again, or what is there, changes nothing.
func merge(t *testing.T, data []byte, classifier string, recorded *trail.File) []byte {
	t.Helper()
	out, err := trail.Merge("f.trail.yaml", data, classifier, recorded)
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, data)
	}
	for _, again := range []*trail.File{recorded, parse(t, "f.trail.yaml", out)} {
		if twice, err := trail.Merge("f.trail.yaml", out, classifier, again); err != nil || !bytes.Equal(out, twice) {
			t.Errorf("merged again: %v\n%s\nwas:\n%s", err, twice, out)
		}
	}
	return out
}
