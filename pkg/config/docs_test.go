package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// block matches a YAML block of the reference, whose first line names its file.
var block = regexp.MustCompile("(?s)```yaml\n# (trailblaze[^\n, ]*)\n(.*?)```")

func reference(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "config-reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExamplesOfReferenceLoad(t *testing.T) {
	t.Parallel()
	doc := reference(t)
	blocks := block.FindAllStringSubmatch(doc, -1)
	if all := strings.Count(doc, "```yaml"); len(blocks) != all || all == 0 {
		t.Fatalf("%d of %d YAML blocks say which file they are", len(blocks), all)
	}
	for _, b := range blocks {
		file, content := b[1], b[2]
		root := t.TempDir()
		write(t, filepath.Join(root, filepath.FromSlash(file)), []byte(content))
		for _, script := range []string{"common.ts", "shop/login.ts"} {
			write(t, filepath.Join(root, "tools", filepath.FromSlash(script)), nil)
		}
		project, problems := config.Load(root, environment)
		if got := render(root, problems, project.Warnings); got != "" {
			t.Errorf("%s\n%s", content, got)
		}
		if err := validate(t, kindOf(file), []byte(content)); err != nil {
			t.Errorf("%s\nthe schema rejects it: %v", content, err)
		}
	}
}

func TestReferenceNamesEveryKeyAndDriver(t *testing.T) {
	t.Parallel()
	doc := reference(t)
	for _, kind := range config.SchemaNames() {
		for key := range properties(schema(t, kind)) {
			if !strings.Contains(key, "_") && !strings.Contains(doc, "`"+key+"`") {
				t.Errorf("the reference does not name %s", key)
			}
		}
	}
	for _, driver := range scope.DriverKeys() {
		if !strings.Contains(doc, "`"+driver+"`") {
			t.Errorf("the reference does not name %s", driver)
		}
	}
}
