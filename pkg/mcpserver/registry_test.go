package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live/livetest"
)

const readRegistryParams = `{"uri":"trailblaze://registry"}`

// registry reads the registry.
func (c *client) registry() string {
	c.Helper()
	a, _ := c.answer(c.request("resources/read", json.RawMessage(readRegistryParams)))
	result, _ := a["result"].(map[string]any)
	contents, _ := result["contents"].([]any)
	if len(contents) != 1 {
		c.Fatalf("%v", a)
	}
	first, _ := contents[0].(map[string]any)
	text, _ := first["text"].(string)
	return text
}

// updated waits for the notification that the registry has changed.
func (c *client) updated(others []map[string]any) {
	c.Helper()
	for _, m := range others {
		if m["method"] == "notifications/resources/updated" {
			return
		}
	}
	for {
		if m := c.receive(); m["method"] == "notifications/resources/updated" {
			return
		}
	}
}

func TestRegistryIsServed(t *testing.T) {
	t.Parallel()
	c := started(t, Options{Version: "7"}, func(f *livetest.Session) { f.Registry = livetest.Registry(t, "hunter2 \u202e") })
	const empty = `{"tools":{},"groups":{},"serverInfo":{"name":"trailblaze","version":"7"}}`
	if text := c.registry(); text != empty {
		t.Errorf("without a session: %s", text)
	}
	if a, _ := c.answer(c.request("resources/subscribe", json.RawMessage(readRegistryParams))); a["error"] != nil {
		t.Fatal(a)
	}
	_, others := c.answer(c.request("tools/call", toolParams("session", map[string]any{"action": "start"})))
	c.updated(others)
	text := c.registry()
	if !strings.Contains(text, `"buy":{"platforms":[],"groups":["shop"],"exposedToLlm":false,"isRecordable":false,"isDelegating":false}`) ||
		!strings.Contains(text, `"shop":{"description":"","defaultEnabled":false}`) || strings.Contains(text, "hunter2") {
		t.Error(text)
	}
	_, others = c.answer(c.request("tools/call", toolParams("session", map[string]any{"action": "end"})))
	c.updated(others)
	if text := c.registry(); text != empty {
		t.Errorf("after the session: %s", text)
	}
}

func TestOnlyRegistryIsAResource(t *testing.T) {
	t.Parallel()
	c := started(t, Options{}, nil)
	for _, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe"} {
		if a, _ := c.answer(c.request(method, map[string]any{"uri": "file:///etc/passwd"})); a["error"] == nil {
			t.Errorf("%s: %v", method, a)
		}
	}
	a, _ := c.answer(c.request("resources/list", nil))
	if data, _ := json.Marshal(a); strings.Count(string(data), `"uri"`) != 1 || !strings.Contains(string(data), `"uri":"trailblaze://registry"`) {
		t.Errorf("%s", data)
	}
}

// A client of the newer protocol gets notifications only after subscriptions/listen.
func TestRegistryInNewerProtocol(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{}, nil)
	c.send(`{"jsonrpc":"2.0","id":101,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["trailblaze://registry"]},` + newProtocol + `}}`)
	if m := c.receive(); m["method"] != "notifications/subscriptions/acknowledged" {
		t.Fatal(m)
	}
	c.send(`{"jsonrpc":"2.0","id":102,"method":"tools/call","params":{"name":"session","arguments":{"action":"start"},` + newProtocol + `}}`)
	_, others := c.answer(102)
	c.updated(others)
}
