package trail_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestExamplesInDocsParse(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "trail-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	blocks := strings.Split(text, "\n```yaml\n")[1:]
	if len(blocks) < 9 {
		t.Fatalf("%d examples", len(blocks))
	}
	for i, block := range blocks {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			src, _, closed := strings.Cut(block, "\n```\n")
			if !closed {
				t.Fatal("the example has no end")
			}
			if strings.HasPrefix(src, "# args.yaml\n") {
				if _, problems := trail.ParseArgs("args.yaml", []byte(src)); len(problems) > 0 {
					t.Errorf("%s", show(problems))
				}
				return
			}
			file := parse(t, "example.trail.yaml", []byte(src))
			checkRoundTrip(t, file)
			if invalid, isYAML := validate(t, []byte(src)); invalid != nil || !isYAML {
				t.Errorf("the schema rejects it: %v", invalid)
			}
		})
	}
}
