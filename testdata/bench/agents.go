package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// agentUse is what testdata/agents/tokens.mjs measures of one server.
type agentUse struct {
	Tools, Calls int
	Tokens       struct{ Definitions, Calls, Answers, All int }
}

// agents compares what a model reads and writes to author one test.
func (b *bench) agents() error {
	clients := filepath.Join(b.root, "testdata/agents")
	if _, err := os.Stat(filepath.Join(clients, "node_modules")); err != nil {
		return fmt.Errorf("%w: run make deps", err)
	}
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	dir, err := b.agentProject()
	if err != nil {
		return err
	}
	cmd := b.command(dir, "node", filepath.Join(clients, "tokens.mjs"), b.trailblaze, browser, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var used struct{ Trailblaze, Playwright agentUse }
	if err := json.Unmarshal(out, &used); err != nil {
		return err
	}
	ours, theirs := used.Trailblaze, used.Playwright
	r := float64(ours.Tokens.All) / float64(theirs.Tokens.All)
	b.row("tokens of a task in the example shop, definitions included ÷ @playwright/mcp",
		fmt.Sprintf("%.2f (%d ÷ %d)", r, ours.Tokens.All, theirs.Tokens.All), "≤ 0.35", r <= 0.35)
	b.row("tokens of the definitions and instructions of `mcp`",
		fmt.Sprint(ours.Tokens.Definitions), "≤ 1300", ours.Tokens.Definitions <= 1300)
	return b.handshake(dir)
}

func (b *bench) agentProject() (dir string, err error) {
	dir = filepath.Join(b.dir, "agents")
	for name, content := range map[string]string{
		"trailblaze.yaml":                     "target: shop\ndriver: playwright-native\n",
		"trailblaze-config/targets/shop.yaml": "id: shop\nplatforms:\n  web: {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// handshake measures the time from the start of `mcp` to its list of tools.
func (b *bench) handshake(dir string) error {
	var took []time.Duration
	for range b.runs {
		cmd := b.command(dir, b.trailblaze, "mcp")
		one, err := untilListed(cmd)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	median := took[len(took)/2]
	b.row("from the start of `mcp` to its list of tools", round(median).String(), "≤ 300ms", median <= 300*time.Millisecond)
	return nil
}

func untilListed(cmd *exec.Cmd) (time.Duration, error) {
	requests := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"bench","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := in.Write([]byte(strings.Join(requests, "\n") + "\n")); err != nil {
		return 0, err
	}
	answers := json.NewDecoder(out)
	for id := 0; id != 2; {
		var answer struct{ ID int }
		if err := answers.Decode(&answer); err != nil {
			return 0, err
		}
		id = answer.ID
	}
	took := time.Since(begun)
	_ = in.Close()
	return took, cmd.Wait()
}
