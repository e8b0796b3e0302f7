package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/livetool"
)

// addTool makes a tool one of the SDK's server.
func (s *server) addTool(m *mcp.Server, d livetool.Definition) {
	t := &mcp.Tool{Name: d.Name, Description: d.Description, InputSchema: d.InputSchema}
	if d.ReadOnly {
		t.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}
	}
	m.AddTool(t, s.call)
}

// call is the SDK's handler of every tool.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	defer s.reportProgress(ctx, req)()
	a := s.tools.Call(ctx, req.Params.Name, req.Params.Arguments)
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}, IsError: a.Failed}
	for _, p := range a.Pictures {
		result.Content = append(result.Content, &mcp.ImageContent{Data: p.Data, MIMEType: p.MIME})
	}
	return result, nil
}

// reportProgress sends notifications until the returned function is called, if the client asked for them.
func (s *server) reportProgress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	started := time.Now()
	go func() {
		defer close(done)
		ticker := time.NewTicker(s.opts.Progress)
		defer ticker.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-quit:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: token, Progress: n,
					Message: fmt.Sprintf("%s runs for %s", req.Params.Name, time.Since(started).Round(time.Second)),
				}) // the answer itself reports that the client does not read
			}
		}
	}()
	return func() { close(quit); <-done }
}
