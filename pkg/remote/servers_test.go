package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// program is a server in its own process.
type program struct {
	*logRecorder
	url    string
	port   string
	cmd    *exec.Cmd
	once   sync.Once
	exited chan struct{}
}

// serve starts a server of testdata/servers on bun and waits until it listens. It is killed at the end of the test.
func serve(t *testing.T, file, path string, env ...string) *program {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "servers")
	bun, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin", "bun"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bun); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	p := &program{
		logRecorder: &logRecorder{},
		cmd:         exec.CommandContext(context.WithoutCancel(t.Context()), bun, "run", "--no-install", file),
		exited:      make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), env...)
	p.cmd.Stderr = p
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	listening := make(chan string, 1)
	go func() {
		defer close(p.exited)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if port, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				listening <- port
			}
			p.add("stdout", lines.Text(), "")
		}
		_ = p.cmd.Wait()
	}()
	select {
	case p.port = <-listening:
	case <-p.exited:
		t.Fatalf("%s exited: %s", file, p)
	case <-time.After(testTimeout):
		t.Fatalf("%s does not listen: %s", file, p)
	}
	p.url = "http://127.0.0.1:" + p.port + path
	return p
}

// Write records stderr.
func (p *program) Write(b []byte) (int, error) {
	p.add("stderr", string(b), "")
	return len(b), nil
}

func (p *program) kill() {
	p.once.Do(func() { _ = p.cmd.Process.Kill() })
	<-p.exited
}

// goTools returns a server on the Go SDK with the tools of http1.ts.
func goTools(t *testing.T) *mcp.Server {
	t.Helper()
	srv := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, nil)
	t.Cleanup(func() { // of clients that did not end their session
		for session := range srv.Sessions() {
			_ = session.Close()
		}
	})
	add := func(name string, run func(ctx context.Context, req *mcp.CallToolRequest,
		args map[string]any) (*mcp.CallToolResult, error),
	) {
		advertised := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		srv.AddTool(advertised, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args map[string]any
			if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
				return nil, err
			}
			return run(ctx, req, args)
		})
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add("echo", func(_ context.Context, req *mcp.CallToolRequest, args map[string]any) (*mcp.CallToolResult, error) {
		out := text(fmt.Sprint(args["text"]))
		headers := map[string]string{}
		if req.Extra != nil { // nil with SSE
			for name, values := range req.Extra.Header {
				headers[strings.ToLower(name)] = values[0]
			}
		}
		out.StructuredContent = map[string]any{
			"context": args["_trailblazeContext"], "meta": req.Params.Meta,
			"headers": headers,
		}
		return out, nil
	})
	add("fail", func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
		out := text("no, on purpose")
		out.IsError = true
		return out, nil
	})
	add("crawl", func(ctx context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, error) {
		for step := 1; step <= 3; step++ {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(step), Total: 3,
				Message: fmt.Sprintf("step %d", step),
			})
			if err != nil {
				return nil, err
			}
		}
		return text("done"), nil
	})
	add("remember", func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
		out := text("kept")
		out.Meta = mcp.Meta{"trailblaze": map[string]any{"memoryDelta": map[string]any{"code": "4711"}}}
		return out, nil
	})
	add("big", func(_ context.Context, _ *mcp.CallToolRequest, args map[string]any) (*mcp.CallToolResult, error) {
		size, _ := args["size"].(float64)
		return text(strings.Repeat("x", int(size))), nil
	})
	add("hang", func(ctx context.Context, _ *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
		case <-t.Context().Done(): // without a session it cannot be cancelled
		}
		return text("cancelled"), nil
	})
	return srv
}

func always(s *mcp.Server) func(*http.Request) *mcp.Server {
	return func(*http.Request) *mcp.Server { return s }
}
