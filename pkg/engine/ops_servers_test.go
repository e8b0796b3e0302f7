package engine

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/bundle"
)

// startBundled starts a script with its packages.
func startBundled(t *testing.T, script string, env ...string) *testEngine {
	t.Helper()
	b, err := bundle.Open("").Bundle(t.Context(), script, bundle.Embedded)
	if err != nil {
		t.Fatalf("%v\nrun make deps", err)
	}
	return newTestEngine(t, "", func(s *Spec) {
		s.Script, s.Code, s.SourceMap, s.Dir, s.Env = script, b.Code, b.SourceMap, filepath.Dir(script), env
	})
}

const servers = "../../testdata/servers"

// writeScript writes a script to a directory that has the packages of the test servers.
func writeScript(t *testing.T, code string) string {
	t.Helper()
	packages, err := filepath.Abs(servers + "/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "script.mjs")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return script
}

// address waits for the output "listening on PORT".
func (g *testEngine) address(t *testing.T) string {
	t.Helper()
	g.stdout.waitFor(t, "\n")
	var port int
	if _, err := fmt.Sscanf(g.stdout.String(), "listening on %d", &port); err != nil {
		t.Fatalf("%v; stdout %q, stderr %q", err, g.stdout, g.stderr)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// express replaces the prototypes of the objects that node:http passes to it.
func TestExpress(t *testing.T) {
	t.Parallel()
	g := startBundled(t, writeScript(t, `
		import express from "express";
		import cors from "cors";
		const app = express();
		app.use(cors(), express.json());
		app.post("/things/:id", ({ params, body, query }, response) => response.status(201).send({ params, body, query }));
		app.use((error, request, response, next) => response.status(400).json({ error: error.message }));
		const server = app.listen(0, "127.0.0.1", () => console.log("listening on", server.address().port));
	`))
	at := g.address(t)
	answer := post(t, at+"/things/7?q=1", `{"a":["é"]}`)
	got := fmt.Sprint(answer.StatusCode, answer.Header.Get("Access-Control-Allow-Origin"), text(t, answer.Body))
	if want := `201*{"params":{"id":"7"},"body":{"a":["é"]},"query":{"q":"1"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if answer := post(t, at+"/things/7", `{`); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("invalid JSON: %s %s", answer.Status, text(t, answer.Body))
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize",` +
	`"params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func TestMCPSDKStreamableHTTP(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(servers + "/http1.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"stateful", "json"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			answer := post(t, startBundled(t, script, "MODE="+mode).address(t)+"/mcp", initialize)
			if got := text(t, answer.Body); answer.StatusCode != http.StatusOK || !strings.Contains(got, `"serverInfo":{"name":"http1"`) {
				t.Errorf("%s %s", answer.Status, got)
			}
		})
	}
}

func TestMCPSDKServerSentEvents(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(servers + "/http1.ts")
	if err != nil {
		t.Fatal(err)
	}
	at := startBundled(t, script, "MODE=sse").address(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	events, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewReader(events.Body)
	endpoint := nextEventData(t, lines)
	if answer := post(t, at+endpoint, initialize); answer.StatusCode != http.StatusAccepted {
		t.Fatalf("%s %s", answer.Status, text(t, answer.Body))
	}
	if got := nextEventData(t, lines); !strings.Contains(got, `"serverInfo":{"name":"http1"`) {
		t.Errorf("event %s", got)
	}
}

// nextEventData returns the data of the next server-sent event.
func nextEventData(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}
