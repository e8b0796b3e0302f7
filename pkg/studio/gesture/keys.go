package gesture

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// KeyCall returns the call for a key that is not text of a field. The error says which keys a phone has.
func KeyCall(d Device, key string, modifiers []string) (trail.Call, error) {
	if d.isWeb() {
		return call("web_pressKey", map[string]any{"key": strings.Join(append(modifiers[:len(modifiers):len(modifiers)], key), "+")}), nil
	}
	code, known := map[string]string{
		"Enter": "ENTER", "Backspace": "BACKSPACE", "Tab": "TAB", "Escape": "ESCAPE", "Home": "HOME",
	}[key]
	switch {
	case (key == "GoBack" || key == "BrowserBack") && len(modifiers) == 0:
		return call("pressBack", map[string]any{}), nil
	case !known || len(modifiers) > 0:
		return trail.Call{}, fault.New(fault.InvalidArguments, "use Enter, Backspace, Tab, Escape or Home, or tap what the key would do",
			"phones do not have the key %s", strings.Join(append(modifiers[:len(modifiers):len(modifiers)], key), "+"))
	}
	return call("pressKey", map[string]any{"keyCode": code}), nil
}
