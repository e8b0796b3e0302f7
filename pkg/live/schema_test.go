package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestShownSchemaHasOnlyBlocksOfTheDevice(t *testing.T) {
	t.Parallel()
	schema := `{"type": "object", "properties": {"nodeSelector": ` + screen.SelectorSchema(screen.Web) + `, "text": {"type": "object"}}}`
	shown := string(live.ShownSchema(json.RawMessage(schema)))
	for text, want := range map[string]bool{
		`"ariaRole"`: true, `"below"`: true, `"text"`: true, "androidAccessibility": false, "iosMaestro": false, "compose": false,
	} {
		if strings.Contains(shown, text) != want {
			t.Errorf("%s is shown: %t, want %t:\n%s", text, !want, want, shown)
		}
	}
	for _, other := range []string{"", "7", `{"type":"object"}`} {
		if got := string(live.ShownSchema(json.RawMessage(other))); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}
