package gesture

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// KeyCall returns the call for a key that is not text of a field, by its name of KeyboardEvent.key, with modifiers such as
// Control. The error says which keys a phone has.
func KeyCall(d Device, key string, modifiers []string) (trail.Call, error) {
	name := strings.Join(append(slices.Clip(modifiers), key), "+")
	if d.isWeb() {
		return call("web_pressKey", map[string]any{"key": name}), nil
	}
	code := map[string]string{
		"Enter": "ENTER", "Backspace": "BACKSPACE", "Tab": "TAB", "Escape": "ESCAPE", "Home": "HOME",
	}[name]
	switch {
	case name == "BrowserBack" || name == "GoBack":
		return call("pressBack", map[string]any{}), nil
	case code == "":
		return trail.Call{}, fault.New(fault.InvalidArguments, "use Enter, Backspace, Tab, Escape or Home, or tap what the key would do",
			"phones do not have the key %s", name)
	}
	return call("pressKey", map[string]any{"keyCode": code}), nil
}
