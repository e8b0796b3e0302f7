package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestFirst(t *testing.T) {
	srv := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
	srv.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hi"}}}, nil
	})
	for _, h := range []http.Handler{
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil),
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true}),
		mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return srv }, nil),
	} {
		s := listen(t, h)
		r := connect(t, Spec{URL: s.URL}, nil)
		if got := r.call(t, "echo", map[string]any{}); got.Text != "hi" {
			t.Errorf("%+v", got)
		}
		t.Log(r)
	}
}
