package live

import (
	"encoding/json"
	"reflect"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// ShownSchema returns the input schema of a tool without what says nothing to a reader: in nodeSelector, the blocks of
// drivers that the device does not have, which match nothing.
func ShownSchema(schema json.RawMessage) json.RawMessage {
	var whole map[string]any
	if json.Unmarshal(schema, &whole) != nil {
		return schema
	}
	properties, _ := whole["properties"].(map[string]any)
	selector, _ := properties["nodeSelector"].(map[string]any)
	blocks, _ := selector["properties"].(map[string]any)
	for _, d := range screen.Dialects() {
		if reflect.DeepEqual(blocks[string(d)], map[string]any{"type": "object"}) {
			delete(blocks, string(d))
		}
	}
	shown, err := json.Marshal(whole)
	if err != nil {
		return schema
	}
	return shown
}
