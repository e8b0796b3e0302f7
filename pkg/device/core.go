package device

import (
	"encoding/json"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Toolset is the toolset that the commands of a device belong to.
const Toolset = "device"

// Command describes a command. properties are the members of "properties" in its input schema, as JSON without the
// braces. The command also accepts reasoning, which agents record with every command and which is ignored.
func Command(name, description, properties string, required ...string) tool.Advertised {
	if properties != "" {
		properties += ", "
	}
	schema := `{"type": "object", "properties": {` + properties +
		`"reasoning": {"type": "string", "description": "Why the call is made, for people; ignored"}}, "additionalProperties": false`
	if len(required) > 0 {
		names, _ := json.Marshal(required) // strings can always be encoded
		schema += `, "required": ` + string(names)
	}
	return tool.Advertised{
		Name: name, Description: description, InputSchema: json.RawMessage(schema + "}"), Meta: map[string]any{"trailblaze/toolset": Toolset},
	}
}

// Parts of input schemas.
const (
	byText    = `"text": {"type": "string", "minLength": 1, "description": "What it is called, or the text on it"}`
	byID      = `"id": {"type": "string", "minLength": 1, "description": "Its id"}`
	seenText  = `"text": {"type": "string", "minLength": 1, "description": "Any part of a text that can be seen, in any case"}`
	timeLimit = `"timeoutMs": {"type": "integer", "minimum": 0, "maximum": 600000, "description": "How long to wait for it"`
	waits     = timeLimit + `, "default": 5000}`
	looksOnce = timeLimit + `, "default": 0}`
)

// Core describes the commands that every kind of device has (specification, section 15): actions, queries, which do not
// fail if an element is missing, and assertions, which fail if their condition does not hold in time.
func Core() []tool.Advertised {
	return []tool.Advertised{
		Command("tap", "Taps the first element with a text or an id, or with index the one at that place among them, from 0.",
			byText+", "+byID+`, "index": {"type": "integer", "minimum": 0, "description": "Which of several, from 0"}, `+timeLimit+"}"),
		Command("inputText", "Types text into the field that has the focus.", `"text": {"type": "string"}, `+timeLimit+"}", "text"),
		Command("launchApp", "Opens the app under test at its start.", `"appId": {"type": "string", "description": "Of the target when absent"}`),
		Command("clearAppData", "Forgets everything that the app has stored on the device.",
			`"appId": {"type": "string", "description": "Of the target when absent"}`),
		Command("isVisible", "Returns true if an element with a text or an id is visible now or within timeoutMs, else false.",
			byText+", "+byID+", "+looksOnce),
		Command("hasText", "Returns true if a text is visible, else false.", seenText, "text"),
		Command("getElementText", "Returns the text of the element with an id, null if there is none.", byID, "id"),
		Command("getElementCount", "Returns the number of elements with a text or an id.", byText+", "+byID),
		Command("captureScreen", "Takes a screenshot.", ""),
		Command("assertVisible", "Fails unless an element with a text or an id can be seen within timeoutMs.", byText+", "+byID+", "+waits),
		Command("waitUntilVisible", "Waits until an element with a text can be seen, and fails after timeoutMs.", byText+", "+waits, "text"),
	}
}

// CoreChecks and CoreStartCommands are what a kind has in Checks and StartCommands of the commands of [Core].
func CoreChecks() []string { return []string{"assertVisible", "waitUntilVisible"} }

// CoreReads are what a kind has in Reads of the commands of [Core].
func CoreReads() []string {
	return []string{"isVisible", "hasText", "getElementText", "getElementCount", "captureScreen"}
}

// CoreStartCommands is described at [CoreChecks].
func CoreStartCommands() []string { return []string{"launchApp", "clearAppData"} }
