//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// SECURITY.md says which commands start nothing of a project, so that one can look at it first.
func TestCommandsThatStartNothingOfAProject(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": `platform: web
mcpServers:
  - { name: a, command: sh, args: [-c, "touch started; exit 1"] }
webServer: { command: touch started, url: "http://127.0.0.1:1/" }
reset: touch started
llm: { model: p/m, heal: write, providers: { p: { protocol: openai-chat, baseUrl: "http://127.0.0.1:1", apiKeyCommand: [touch, started] } } }
`,
		"trailblaze-config/targets/shop.yaml": "id: shop\n",
		"trails/a.trail.yaml":                 "trail:\n  - step: x\n    recording: { web: [ { web_wait: { seconds: 0 } } ] }\n",
	})
	started := filepath.Join(p.dir, "started")
	for _, args := range [][]string{
		{"check"}, {"run", "--list"}, {"schema", "trail"}, {"device", "list"}, {"logs"}, {"doctor"}, {"session", "list"},
	} {
		r := p.runWith(nil, args...)
		if _, err := os.Stat(started); err == nil {
			t.Fatalf("%v started something: %s%s", args, r.stdout, r.stderr)
		}
	}
	p.runWith(nil, "toolbox", "list")
	if _, err := os.Stat(started); err != nil {
		t.Errorf("the server leaves no trace when it is started: %v", err)
	}
}
