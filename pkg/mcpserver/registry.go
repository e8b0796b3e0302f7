package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/discover"
)

// registryURI is the resource with the tools of the open session.
const registryURI = "trailblaze://registry"

func registryResource() *mcp.Resource {
	return &mcp.Resource{
		URI: registryURI, Name: "registry", MIMEType: "application/json",
		Description: "The tools of the open session: platforms, groups, and what is recorded. Empty without a session.",
	}
}

// readRegistry is the SDK's handler of the resource.
func (s *server) readRegistry(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	content, err := s.tools.Registry(ctx, discover.ResourceServer{Name: "trailblaze", Version: s.opts.Version})
	if err != nil {
		return nil, s.internalError(err.Error())
	}
	data, err := json.Marshal(content)
	if err != nil {
		return nil, s.internalError(err.Error())
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: "application/json", Text: string(data)},
	}}, nil
}

// onlyRegistry refuses subscriptions to other resources.
func onlyRegistry(uri string) error {
	if uri != registryURI {
		return mcp.ResourceNotFoundError(uri)
	}
	return nil
}

// toolsChanged lists the tools again, and notifies clients that subscribed to the registry.
func (s *server) toolsChanged() {
	s.listTools()
	_ = s.mcp.ResourceUpdated(s.ctx, &mcp.ResourceUpdatedNotificationParams{URI: registryURI}) // always nil
}
