package config_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

var update = flag.Bool("update", false, "rewrite the golden sections")

// golden is the file of a txtar archive with the expected problems.
const golden = "want"

func environment(name string) (string, bool) {
	value, ok := map[string]string{
		"SET": "$" + "{NOT_AGAIN}", "EMPTY": "", "TEAM_TOKEN": "secret", "SENTENCE": "a b c",
		"WHOLE": "https://h/s/k%2Fey/mcp?k=v",
	}[name]
	return value, ok
}

// unpack writes an archive's files into a new folder; a file that is only a folder ends in /.
func unpack(t testing.TB, archive *txtar.Archive) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range archive.Files {
		if f.Name != golden {
			write(t, filepath.Join(root, f.Name), f.Data)
		}
	}
	return root
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func render(root string, problems, warnings fault.Problems) string {
	var b strings.Builder
	section := func(title string, ps fault.Problems) {
		for _, p := range ps {
			p.File = filepath.ToSlash(strings.TrimPrefix(p.File, root+string(filepath.Separator)))
			fmt.Fprintf(&b, "%s: %s\n", title, p.Error())
			if p.Snippet != "" {
				fmt.Fprintln(&b, p.Snippet)
			}
			if p.Hint != "" {
				fmt.Fprintf(&b, "hint: %s\n", p.Hint)
			}
			fmt.Fprintln(&b)
		}
	}
	for _, p := range problems {
		section(string(p.Kind), fault.Problems{p})
	}
	section("warning", warnings)
	return b.String()
}

func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root := unpack(t, archive)
			project, problems := config.Load(root, environment)
			got := render(root, problems, project.Warnings)
			last := &archive.Files[len(archive.Files)-1]
			if *update {
				if last.Name != golden {
					archive.Files = append(archive.Files, txtar.File{Name: golden})
					last = &archive.Files[len(archive.Files)-1]
				}
				last.Data = []byte(got)
				write(t, file, txtar.Format(archive))
			}
			if last.Name != golden {
				t.Fatal("no want section; go test -update writes it")
			}
			if diff := cmp.Diff(string(bytes.TrimSpace(last.Data)), strings.TrimSpace(got)); diff != "" {
				t.Errorf("problems (-want +got); go test -update rewrites them:\n%s", diff)
			}
		})
	}
}
