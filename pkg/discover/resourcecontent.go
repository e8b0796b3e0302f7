package discover

// ResourceContent is a registry in the form of the resource trailblaze://registry, as [Build] reads it from servers.
type ResourceContent struct {
	Tools      map[string]ResourceTool  `json:"tools"`  // by name
	Groups     map[string]ResourceGroup `json:"groups"` // toolsets by id
	ServerInfo ResourceServer           `json:"serverInfo"`
}

// ResourceTool is the metadata of a registered tool.
type ResourceTool struct {
	Platforms    []string `json:"platforms"` // empty: all
	Groups       []string `json:"groups"`
	ExposedToLLM bool     `json:"exposedToLlm"` // it is offered, and shown to models
	IsRecordable bool     `json:"isRecordable"`
	IsDelegating bool     `json:"isDelegating"`
}

// ResourceGroup is a toolset.
type ResourceGroup struct {
	Description    string `json:"description"`
	DefaultEnabled bool   `json:"defaultEnabled"` // without naming it in tool_sets
}

// ResourceServer names the program that serves the resource.
type ResourceServer struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ResourceContent returns the registry as a resource that a server of this name and version serves. text returns a text
// as readers may see it. A nil registry has no tools.
func (r *Registry) ResourceContent(server ResourceServer, text func(string) string) ResourceContent {
	c := ResourceContent{Tools: map[string]ResourceTool{}, Groups: map[string]ResourceGroup{}, ServerInfo: server}
	if r == nil {
		return c
	}
	texts := func(list []string) []string {
		out := make([]string, len(list))
		for i, item := range list {
			out[i] = text(item)
		}
		return out
	}
	offered := map[*Tool]bool{}
	for _, t := range r.Offered {
		offered[t] = true
	}
	for _, t := range r.Tools {
		c.Tools[text(t.Name)] = ResourceTool{
			Platforms: texts(t.SupportedPlatforms), Groups: texts(t.Toolsets),
			ExposedToLLM: offered[t] && t.IsForLLM, IsRecordable: t.IsRecordable, IsDelegating: t.IsDelegating,
		}
	}
	for _, ts := range r.Toolsets {
		c.Groups[text(ts.ID)] = ResourceGroup{Description: text(ts.Description), DefaultEnabled: !ts.OffByDefault}
	}
	return c
}
