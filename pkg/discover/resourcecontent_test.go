package discover_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// described is what a registry says of a tool.
type described struct {
	ForLLM, Recordable, Delegating bool
	Platforms, Toolsets            []string
}

func describe(r *discover.Registry) (tools map[string]described, offByDefault map[string]bool) {
	tools, offByDefault = map[string]described{}, map[string]bool{}
	for _, t := range r.Tools {
		tools[t.Name] = described{t.IsForLLM, t.IsRecordable, t.IsDelegating, t.SupportedPlatforms, t.Toolsets}
	}
	for _, ts := range r.Toolsets {
		offByDefault[ts.ID+": "+ts.Description] = ts.OffByDefault
	}
	return tools, offByDefault
}

// TestResourceContentIsRead reads what a registry writes as the resource of a server with the same tools.
func TestResourceContentIsRead(t *testing.T) {
	t.Parallel()
	android := discover.Scope{Driver: "android", Platform: scope.Android, AgentMode: scope.Host}
	advertised := []tool.Advertised{
		{Name: "plain"},
		{Name: "hidden", Meta: map[string]any{"trailblaze/isForLlm": false, "trailblaze/toolset": "inner"}},
		{Name: "helper", Meta: map[string]any{"trailblaze/isRecordable": false, "trailblaze/supportedPlatforms": []any{"ANDROID", "IOS"}}},
		{Name: "outer", Meta: map[string]any{"trailblaze/isDelegating": true, "trailblaze/toolset": "PIN hunter2"}},
	}
	own := []discover.Toolset{{ID: "inner", Description: "inner tools", Tools: []string{"plain"}}}
	r, err := discover.Build(android, []discover.Source{withRegistry("s", `{"groups":{"PIN hunter2":{"defaultEnabled":false}}}`, advertised...)},
		own, discover.Selection{Tools: []string{"outer"}})
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	content := r.ResourceContent(discover.ResourceServer{Name: "trailblaze", Version: "1"},
		func(text string) string { return strings.ReplaceAll(text, "hunter2", "*") })
	data, err := json.Marshal(content)
	if err != nil || strings.Contains(string(data), "hunter2") || strings.Contains(string(data), "null") {
		t.Fatalf("%v %s", err, data)
	}
	bare := make([]tool.Advertised, len(advertised))
	for i, adv := range advertised {
		bare[i].Name = adv.Name
	}
	again, err := discover.Build(android, []discover.Source{withRegistry("s", string(data), bare...)}, nil, discover.Selection{})
	if err != nil || len(again.Warnings) > 0 {
		t.Fatal(err, again.Warnings)
	}
	tools, groups := describe(r)
	readTools, readGroups := describe(again)
	for name, d := range tools {
		if d.Toolsets == nil {
			d.Toolsets = readTools[name].Toolsets[:0]
		}
		if d.Platforms == nil {
			d.Platforms = []string{}
		}
		for i := range d.Toolsets {
			d.Toolsets[i] = strings.ReplaceAll(d.Toolsets[i], "hunter2", "*")
		}
		tools[name] = d
	}
	if diff := cmp.Diff(tools, readTools); diff != "" {
		t.Error(diff)
	}
	delete(groups, "PIN hunter2: ")
	groups["PIN *: "] = true
	if diff := cmp.Diff(groups, readGroups); diff != "" {
		t.Error(diff)
	}
}

func TestResourceContentOfNothing(t *testing.T) {
	t.Parallel()
	var none *discover.Registry
	data, err := json.Marshal(none.ResourceContent(discover.ResourceServer{Name: "trailblaze", Version: "1"}, nil))
	if want := `{"tools":{},"groups":{},"serverInfo":{"name":"trailblaze","version":"1"}}`; err != nil || string(data) != want {
		t.Errorf("%v %s", err, data)
	}
}

// A tool that the scope does not offer is there for trails, and not for models.
func TestResourceContentHidesWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	r, err := discover.Build(discover.Scope{Driver: "android", Platform: scope.Android}, []discover.Source{server("s", tool.Advertised{Name: "a"})}, nil,
		discover.Selection{Excluded: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	content := r.ResourceContent(discover.ResourceServer{}, func(text string) string { return text })
	if a := content.Tools["a"]; a.ExposedToLLM || !a.IsRecordable {
		t.Errorf("%+v", a)
	}
}
