//go:build unix

package e2e_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestGuideToShardsHasValidYAMLAndCommands parses every block, and looks for each flag in the help of its command.
func TestGuideToShardsHasValidYAMLAndCommands(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/ci-sharding.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(blocks) != 4 {
		t.Errorf("%d blocks of YAML, want 4", len(blocks))
	}
	shards := 0
	for _, b := range blocks {
		var v map[string]any
		if err := yaml.UnmarshalWithOptions([]byte(b[1]), &v, yaml.Strict()); err != nil || len(v) == 0 {
			t.Errorf("%v\n%s", err, b[1])
		}
		shards += strings.Count(b[1], "run --shard")
	}
	if shards != 3 {
		t.Errorf("%d examples run a shard, want one for each of three engines", shards)
	}
	p := newProject(t, nil)
	text := regexp.MustCompile(`\[trailblaze, .*\]`).ReplaceAllStringFunc(string(data), func(list string) string {
		return strings.NewReplacer(",", "", "[", "", "]", "").Replace(list)
	})
	commands := regexp.MustCompile("trailblaze ((?:run|report merge)\\b)([^\n`]*)").FindAllStringSubmatch(text, -1)
	if len(commands) < 10 {
		t.Errorf("only %d commands are found", len(commands))
	}
	for _, c := range commands {
		help := p.run(append(strings.Fields(c[1]), "--help")...).stdout
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(c[2], -1) {
			if !regexp.MustCompile(flag + `\b`).MatchString(help) {
				t.Errorf("trailblaze %s has no %s", c[1], flag)
			}
		}
	}
}
