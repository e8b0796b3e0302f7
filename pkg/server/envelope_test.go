package server

import (
	"encoding/json"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestCallAlwaysHasArguments(t *testing.T) {
	t.Parallel()
	raw, err := (&contextEncoder{}).callParams(tool.Call{Tool: "t"}, "1", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, string(raw), `"arguments":{}`)
}

func TestStrictToolIsNotSentTheReservedArgument(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		schema string
		sent   bool
	}{
		"open":   {`{"type":"object","properties":{"x":{}}}`, true},
		"closed": {`{"type":"object","properties":{"x":{}},"additionalProperties":false}`, false},
		"closed, names": {
			`{"type":"object","properties":{"_trailblazeContext":{}},"additionalProperties":false}`,
			true,
		},
		"typed":          {`{"type":"object","additionalProperties":{"type":"string"}}`, true},
		"without schema": {``, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strict := strictTools([]tool.Advertised{{Name: "t", InputSchema: json.RawMessage(tc.schema)}})
			raw, err := (&contextEncoder{}).callParams(tool.Call{Tool: "t", Args: map[string]any{"x": 1}}, "1",
				strict["t"], nil)
			if err != nil {
				t.Fatal(err)
			}
			params := args(t, string(raw))
			if _, sent := params["arguments"].(map[string]any)[tool.ReservedArg]; sent != tc.sent {
				t.Errorf("sent: %v, want %v", sent, tc.sent)
			}
			if _, ok := params["_meta"].(map[string]any)["trailblaze"]; !ok {
				t.Error("_meta lacks the context")
			}
		})
	}
}
