package trail_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

var update = flag.Bool("update", false, "write the golden files")

// files reads the YAML files of a folder of testdata.
func files(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata/%s: %v", folder, err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".yaml")] = data
	}
	return out
}

func show(problems fault.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&b, p.Error())
		if p.Hint != "" {
			fmt.Fprintln(&b, "  hint: "+p.Hint)
		}
		if p.Snippet != "" {
			fmt.Fprintln(&b, p.Snippet)
		}
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nrun with -update to accept", path, diff)
	}
}

func TestMessagesOfBadFiles(t *testing.T) {
	t.Parallel()
	for name, data := range files(t, "bad") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, problems := trail.Parse(name+".yaml", data)
			if len(problems) == 0 || file != nil {
				t.Fatalf("parsed to %+v", file)
			}
			if code := fault.ExitCode(problems); code != fault.ExitMisuse {
				t.Errorf("exit code %d", code)
			}
			for _, p := range problems {
				if p.Line == 0 && len(data) > 40 {
					t.Errorf("no place: %v", p)
				}
			}
			golden(t, filepath.Join("testdata", "bad", name+".golden"), show(problems))
		})
	}
}

// sameFile compares files without positions.
var sameFile = cmp.Options{
	cmpopts.IgnoreUnexported(trail.File{}),
	cmpopts.IgnoreFields(trail.Step{}, "Line", "Column"),
	cmpopts.IgnoreFields(trail.Call{}, "Line", "Column", "Positions"),
	cmpopts.IgnoreFields(trail.Use{}, "Line", "Column", "Positions"),
}

func parse(t testing.TB, name string, data []byte) *trail.File {
	t.Helper()
	file, problems := trail.Parse(name, data)
	if len(problems) > 0 {
		t.Fatalf("%s", show(problems))
	}
	return file
}

func checkRoundTrip(t *testing.T, file *trail.File) {
	t.Helper()
	out, err := trail.Format(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, parse(t, file.Name, out), sameFile); diff != "" {
		t.Errorf("parsed again (-want +got):\n%s\nfrom:\n%s", diff, out)
	}
}

func TestGoodFilesRoundTrip(t *testing.T) {
	t.Parallel()
	for name, data := range files(t, "good") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := parse(t, name+".yaml", data)
			checkRoundTrip(t, file)
			out, err := trail.Format(file)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "good", name+".golden"), string(out)+"--- warnings\n"+show(file.Warnings()))
		})
	}
}
