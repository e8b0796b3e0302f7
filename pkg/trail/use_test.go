package trail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// load loads main.trail.yaml of a project with files.
func load(t *testing.T, files map[string]string) (*trail.File, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, problems := trail.Loader{Root: root, Cwd: root}.Load("trails/main.trail.yaml", filepath.Join(root, "trails/main.trail.yaml"))
	var lines []string
	for _, p := range problems {
		lines = append(lines, strings.TrimSpace(p.Error()+"; "+p.Hint))
	}
	return file, strings.Join(lines, "\n")
}

const someStep = "trail:\n  - step: s\n    recording: { web: [ { a: {} } ] }\n"

func TestUsedTrailsAreFoundFromTheFileAndFromTheRoot(t *testing.T) {
	t.Parallel()
	file, problems := load(t, map[string]string{
		"trails/main.trail.yaml":       "trail:\n  - use: parts/a.yaml\n  - use: shared/b.yaml\n",
		"trails/parts/a.yaml":          "config: { title: A }\ntrail:\n  - use: ../c.trail.yaml\n",
		"shared/b.yaml":                "config: { title: B }\n" + someStep,
		"trails/c.trail.yaml":          "config: { title: C }\n" + someStep,
		"trails/shared/b.yaml/x.trail": "a folder with the name is not the file",
	})
	if problems != "" {
		t.Fatal(problems)
	}
	a, b := file.Steps[0].Use.File, file.Steps[1].Use.File
	if got := a.Title() + b.Title() + a.Steps[0].Use.File.Title(); got != "ABC" || a.Name != "trails/parts/a.yaml" {
		t.Errorf("loaded %s, %s", got, a.Name)
	}
	if platforms := file.RecordedPlatforms(); len(platforms) != 1 {
		t.Errorf("platforms of used trails: %v", platforms)
	}
}

// TestUsedTrailsAreInTheProject: the message about a file that is not a trail would show what is in it.
func TestUsedTrailsAreInTheProject(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(outside, []byte("root:secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, problems := load(t, map[string]string{"trails/main.trail.yaml": "trail:\n  - use: " + outside + "\n"})
	if !strings.Contains(problems, "is outside the project; copy it into the project") || strings.Contains(problems, "secret") {
		t.Error(problems)
	}
	root := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "linked")); err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(root, "a.trail.yaml")
	if err := os.WriteFile(main, []byte("trail:\n  - use: linked\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, list := trail.Loader{Root: root, Cwd: root}.Load("a.trail.yaml", main)
	if len(list) != 1 || !strings.Contains(list[0].Message, "is outside the project") {
		t.Error(list)
	}
}

func TestProblemsOfUsedTrails(t *testing.T) {
	t.Parallel()
	const declares = "config: { args: { user: {}, times: { type: integer, default: 1 } } }\n" + someStep
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"missing": {
			map[string]string{"trails/main.trail.yaml": "trail:\n  - use: nobody.yaml\n"},
			`trails/main.trail.yaml:2:10: trail "nobody.yaml" does not exist; the path is relative to this file, or else to the project root`,
		},
		"cycle": {
			map[string]string{
				"trails/main.trail.yaml": "trail:\n  - use: a.yaml\n", "trails/a.yaml": "trail:\n  - use: b.yaml\n",
				"trails/b.yaml": "config: { teardown: [ { use: a.yaml } ] }\n" + someStep,
			},
			"the trail uses itself: trails/a.yaml uses trails/b.yaml uses trails/a.yaml",
		},
		"itself": {
			map[string]string{"trails/main.trail.yaml": "trail:\n  - use: main.trail.yaml\n"},
			"the trail uses itself: trails/main.trail.yaml uses trails/main.trail.yaml",
		},
		"invalid": {
			map[string]string{"trails/main.trail.yaml": "trail:\n  - use: a.yaml\n", "trails/a.yaml": "trial: []\n"},
			`trails/a.yaml:1:1: unknown key "trial"`,
		},
		"without steps": {
			map[string]string{"trails/main.trail.yaml": "trail:\n  - use: a.yaml\n", "trails/a.yaml": "config: {}\n"},
			"trails/a.yaml: the trail has no steps",
		},
		"unknown argument": {
			map[string]string{"trails/main.trail.yaml": "trail:\n  - use: a.yaml\n    args: { usr: x, user: y }\n", "trails/a.yaml": declares},
			`trails/main.trail.yaml:3:13: trails/a.yaml declares no argument "usr"; did you mean "user"?`,
		},
		"missing argument": {
			map[string]string{"trails/main.trail.yaml": "trail:\n  - use: a.yaml\n", "trails/a.yaml": declares},
			"trails/main.trail.yaml:2:10: argument user (string) of trails/a.yaml is missing; write args: { user: … } below use:",
		},
		"type of an argument": {
			map[string]string{
				"trails/main.trail.yaml": "trail:\n  - use: a.yaml\n    args: { user: \"{{x}}\", times: many }\n", "trails/a.yaml": declares,
			},
			"argument times of trails/a.yaml is text, expected a whole number",
		},
		"too many": {
			map[string]string{
				"trails/main.trail.yaml": "trail:\n" + strings.Repeat("  - use: a.yaml\n", 40),
				"trails/a.yaml":          "trail:\n" + strings.Repeat("  - use: b.yaml\n", 40), "trails/b.yaml": someStep,
			},
			"the trail uses more than 1000 others",
		},
	} {
		file, problems := load(t, tt.files)
		if file != nil || !strings.Contains(problems, tt.want) {
			t.Errorf("%s: problems\n%s\nlack %s", name, problems, tt.want)
		}
	}
}

func TestUndefinedValuesInUsedTrails(t *testing.T) {
	t.Parallel()
	file, problems := load(t, map[string]string{
		"trails/main.trail.yaml": "config: { args: { outer: {} } }\ntrail:\n  - use: a.yaml\n    args: { user: \"{{nobody}}\" }\n" +
			"  - step: s\n    recording: { web: [ { a: { text: \"{{saved}} {{email}} {{args.outer}} {{lost}}\" } } ] }\n",
		"trails/a.yaml": "config: { memory: { email: x }, args: { user: {} } }\n" +
			"trail:\n  - step: s\n    recording: { web: [ { a: { text: \"{{args.user}} {{gone}}\" }, saveAs: saved } ] }\n",
	})
	if problems != "" {
		t.Fatal(problems)
	}
	var got []string
	for _, p := range file.CheckReplay(nil, trail.Tools{
		FromServer: func(string) bool { return false },
		CheckCall:  func(scope.Platform, trail.Call) []fault.Problem { return nil },
	}) {
		got = append(got, filepath.Base(p.File)+" "+p.Message)
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{"main.trail.yaml use: unknown value {{nobody}}", "main.trail.yaml a: unknown value {{lost}}", "a.yaml a: unknown value {{gone}}"} {
		if !strings.Contains(text, want) || len(got) != 3 {
			t.Errorf("problems\n%s\nlack %s", text, want)
		}
	}
}
