// Command gosdk is a test server on the Go SDK. REGISTRY is the text of its registry, or "elsewhere" for another
// resource.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, nil)
	server.AddTool(&mcp.Tool{
		Name: "echo", Description: "answers what it was sent",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		Meta:        mcp.Meta{"trailblaze/toolset": "sdk"},
	}, echo)
	server.AddTool(&mcp.Tool{Name: "fail", Description: "says no", InputSchema: json.RawMessage(`{"type":"object"}`)}, fail)
	server.AddTool(&mcp.Tool{
		Name: "crawl", Description: "reports progress before it answers", InputSchema: json.RawMessage(`{"type":"object"}`),
	}, crawl)
	if text := os.Getenv("REGISTRY"); text == "elsewhere" {
		addResource(server, "trailblaze://other", "{}")
	} else if text != "" {
		addResource(server, "trailblaze://registry", text)
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func addResource(server *mcp.Server, uri, text string) {
	server.AddResource(&mcp.Resource{URI: uri, Name: "registry", MIMEType: "application/json"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: text}}}, nil
		})
}

func echo(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct {
		Text    string         `json:"text"`
		Context map[string]any `json:"_trailblazeContext"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: args.Text}},
		StructuredContent: map[string]any{"context": args.Context, "meta": req.Params.Meta},
	}, nil
}

func fail(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "no, on purpose"}}, IsError: true}, nil
}

func crawl(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for step := 1; step <= 3; step++ {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: req.Params.GetProgressToken(), Progress: float64(step), Total: 3, Message: fmt.Sprintf("step %d", step),
		})
		if err != nil {
			return nil, err
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
}
