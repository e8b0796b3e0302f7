//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const agents = "../testdata/agents"

// program returns the path of a script that runs trailblaze in the project.
func (p *project) program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trailblaze")
	script := "#!/bin/sh\ncd '" + p.dir + "' && E2E_MAIN=1 exec '" + self + "' \"$@\"\n"
	if err := spawntest.WriteProgram(path, []byte(script)); err != nil {
		t.Fatal(err)
	}
	return path
}

// node returns a command that runs a script of npm packages that are clients of MCP servers.
func (p *project) node(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := os.Stat(filepath.Join(agents, "node_modules")); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	c := exec.Command("node", args...)
	c.Dir = agents
	c.Env = append(append([]string{}, p.env...), "HOME="+t.TempDir())
	return c
}

func output(t *testing.T, c *exec.Cmd, texts ...string) {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	for _, want := range texts {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestGoSDKIsClientOfMCP(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: p.command("mcp", "--tools", "all")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, args any) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil || result.IsError || len(result.Content) != 1 {
			t.Fatalf("%v %+v", err, result)
		}
		return result.Content[0].(*mcp.TextContent).Text //nolint:forcetypeassert // a panic fails the test
	}
	site := pageSite(t, buttonPage)
	call("session", map[string]any{"action": "start"})
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) < 40 {
		t.Fatalf("%v: %d tools", err, len(tools.Tools))
	}
	if text := call("web_navigate", map[string]any{"step": "Open", "url": site}); !strings.Contains(text, `button "Pay"`) {
		t.Error(text)
	}
	if text := call("snapshot", nil); !strings.Contains(text, `button "Pay"`) {
		t.Error(text)
	}
	if text := call("recording", nil); !strings.Contains(text, "step: Open") || strings.Contains(text, "kind:") {
		t.Error(text)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// A short run leaves out the inspector.
func TestOtherClientsOfMCP(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(t *testing.T, p *project, site string){
		"TypeScript SDK": func(t *testing.T, p *project, site string) {
			c := p.node(t, "client.mjs", p.program(t), "mcp")
			c.Env = append(c.Env, "PAGE="+site)
			output(t, c, "recording run_trail save_trail session snapshot step toolbox", "ok: 1 web_navigate", `button "Pay" [ref=e1]`)
		},
		"inspector": func(t *testing.T, p *project, site string) {
			cli := func(args ...string) *exec.Cmd {
				return p.node(t, append([]string{"node_modules/.bin/mcp-inspector", "--cli", p.program(t), "mcp"}, args...)...)
			}
			output(t, cli("--method", "tools/list"), `"save_trail"`)
			output(t, cli("--method", "tools/call", "--tool-name", "step", "--tool-arg", "step=Open",
				"--tool-arg", `calls=[{"web_navigate":{"url":"`+site+`"}}]`), "ok: 1 web_navigate")
			output(t, cli("--method", "tools/call", "--tool-name", "snapshot"), "about:blank")
		},
		"mcporter": func(t *testing.T, p *project, site string) {
			cli := func(args ...string) *exec.Cmd {
				return p.node(t, append([]string{"node_modules/.bin/mcporter"}, args...)...)
			}
			stdio := []string{"--stdio", p.program(t) + " mcp", "--name", "tb"}
			output(t, cli(append([]string{"list"}, append(stdio, "--schema")...)...), "save_trail")
			args, _ := json.Marshal(map[string]any{"step": "Open", "calls": []any{map[string]any{"web_navigate": map[string]any{"url": site}}}})
			output(t, cli(append([]string{"call"}, append(stdio, "step", "--args", string(args))...)...), "ok: 1 web_navigate")
			output(t, cli(append([]string{"call"}, append(stdio, "snapshot")...)...), "about:blank")
		},
	} {
		if testing.Short() && name == "inspector" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
			run(t, p, pageSite(t, buttonPage))
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestClientOfMCPIsKilledInStep(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	c := p.node(t, "client.mjs", p.program(t), "mcp")
	c.Env = append(c.Env, "PAGE="+pageSite(t, buttonPage), "HANG=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "hanging\n" {
			break
		}
	}
	_ = c.Process.Kill()
	_, _ = io.Copy(io.Discard, lines)
	_ = c.Wait()
	spawntest.NoSurvivors(t, p.marker)
}

// TestSkillIsFollowed does what the skill for agents says, to the letter.
func TestSkillIsFollowed(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	p.env = append(p.env, "PASSWORD=correct horse battery")
	p.run("init", "--agent", "claude").want(t, 0, ".mcp.json", "SKILL.md")
	skill := p.read(t, ".claude/skills/trailblaze/SKILL.md")
	if n := strings.Count(skill, "\n"); n > 60 {
		t.Errorf("the skill has %d lines", n)
	}
	site := pageSite(t, `<title>Shop</title><h1>Sign in</h1><input aria-label="Email"><input aria-label="Password" type="password">
		<button onclick="document.body.innerHTML = '<p>Welcome back</p>'">Sign in</button>`)
	_, example, _ := strings.Cut(skill, "```\n")
	example, _, _ = strings.Cut(example, "```")
	example = strings.ReplaceAll(example, "http://localhost:3000", site)
	a := p.agent(t, "--secret", "PASSWORD")
	steps := 0
	for line := range strings.Lines(example) {
		name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		a.does(name, args)
		steps++
	}
	if steps < 8 {
		t.Errorf("the skill has %d examples", steps)
	}
	a.end()
	p.run("run", "--secret", "PASSWORD").want(t, 0, "1 passed")
	a = p.agent(t, "--secret", "PASSWORD")
	a.does("run_trail", `{"file": "trails/sign-in.trail.yaml", "keep": true}`, "passed")
	a.does("session", `{"action": "status"}`, "secrets: {{PASSWORD}}")
}

func TestInitForAgents(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":    webConfig,
		".mcp.json":          "{\n\t\"other\": [1, 2],\n\t\"mcpServers\": {\n\t\t\"x\": { \"command\": \"y\" }\n\t}\n}\n",
		".codex/config.toml": "model = \"m\" # mine\n[mcp_servers.x]\ncommand = 'y'",
		".cursor/mcp.json":   `{"mcpServers": {}}`,
		".vscode/mcp.json":   `{"servers": {}, "inputs": []}`,
		"opencode.json":      `{"model": "m"}`,
		"AGENTS.md":          "# Mine\n\nRules.",
	})
	before := map[string]string{}
	for _, name := range []string{".mcp.json", ".codex/config.toml", ".cursor/mcp.json", "AGENTS.md"} {
		before[name] = p.read(t, name)
	}
	for _, agent := range []string{"claude", "codex", "cursor", "gemini", "goose", "opencode", "vscode"} {
		p.run("init", "--agent", agent).want(t, 0, "next: start "+agent)
		p.run("init", "--agent", agent).want(t, 0, "everything is there already")
	}
	for name, want := range map[string]string{
		".mcp.json":             "{\n\t\"other\": [1, 2],\n\t\"mcpServers\": {\n\t\t\"x\": { \"command\": \"y\" },\n\t\t\"trailblaze\": {\"command\": \"trailblaze\", \"args\": [\"mcp\"]}\n\t}\n}\n",
		".codex/config.toml":    before[".codex/config.toml"] + "\n\n[mcp_servers.trailblaze]\ncommand = \"trailblaze\"\nargs = [\"mcp\"]\n",
		".cursor/mcp.json":      `{"mcpServers": {"trailblaze": {"command": "trailblaze", "args": ["mcp"]}}}`,
		".vscode/mcp.json":      `{"servers": {"trailblaze": {"type": "stdio", "command": "trailblaze", "args": ["mcp"]}}, "inputs": []}`,
		"opencode.json":         `{"model": "m", "mcp": {"trailblaze": {"type": "local", "command": ["trailblaze", "mcp"], "enabled": true}}}`,
		".gemini/settings.json": "{\n  \"mcpServers\": {\n    \"trailblaze\": {\"command\": \"trailblaze\", \"args\": [\"mcp\"]}\n  }\n}\n",
	} {
		if got := p.read(t, name); got != want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if got := p.read(t, "AGENTS.md"); !strings.HasPrefix(got, "# Mine\n\nRules.\n\n# UI tests with trailblaze\n") || strings.Count(got, "# UI tests") != 1 {
		t.Errorf("AGENTS.md:\n%s", got)
	}
	if got := p.read(t, "GEMINI.md"); !strings.HasPrefix(got, "# UI tests with trailblaze\n") {
		t.Errorf("GEMINI.md:\n%s", got)
	}
	p.run("init", "--agent", "goose").want(t, 0, "cmd: trailblaze\n    args: [mcp]\n")
	npx := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	npx.env = append(npx.env, "TRAILBLAZE_PROGRAM=npx trailblaze")
	for agent, want := range map[string][2]string{
		"claude":   {".mcp.json", `{"command": "npx", "args": ["trailblaze", "mcp"]}`},
		"codex":    {".codex/config.toml", "command = \"npx\"\nargs = [\"trailblaze\", \"mcp\"]\n"},
		"opencode": {"opencode.json", `"command": ["npx", "trailblaze", "mcp"]`},
		"vscode":   {".vscode/mcp.json", `{"type": "stdio", "command": "npx", "args": ["trailblaze", "mcp"]}`},
	} {
		npx.run("init", "--agent", agent).want(t, 0)
		if got := npx.read(t, want[0]); !strings.Contains(got, want[1]) {
			t.Errorf("%s of npx:\n%s", want[0], got)
		}
	}
	p.run("init", "--agent", "other").wantErr(t, 3, `unknown client "other"`, "claude, codex, cursor, gemini, goose, opencode, vscode")
	for name, damaged := range map[string]string{".mcp.json": `{"mcpServers": {} // mine`, ".codex/config.toml": "a = ", ".cursor/mcp.json": `{"mcpServers": []}`} {
		p.write(name, damaged)
		agent := map[string]string{".mcp.json": "claude", ".codex/config.toml": "codex", ".cursor/mcp.json": "cursor"}[name]
		p.run("init", "--agent", agent).wantErr(t, 3, name+" cannot be changed", "by hand")
		if got := p.read(t, name); got != damaged {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	for name, text := range map[string]string{"": `"mcpServers": {`, "{}": `{"mcpServers": {`, `{"a": 1}`: `"a": 1, "mcpServers": {"trailblaze"`} {
		q := newProject(t, map[string]string{".mcp.json": name})
		q.run("init", "--agent", "claude").want(t, 0, "trailblaze.yaml")
		if got := q.read(t, ".mcp.json"); !strings.Contains(got, text) || !json.Valid([]byte(got)) {
			t.Errorf("%q: %s", name, got)
		}
	}
}
