package appium

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// This file has what package android shares, which uses the UiAutomator2 server without Appium.

// ServerSettings returns the settings of the UiAutomator2 server: what selectors need, without waiting of the server's
// own.
func ServerSettings() map[string]any {
	return map[string]any{
		"waitForIdleTimeout": 0, "waitForSelectorTimeout": 0, "actionAcknowledgmentTimeout": 0,
		"scrollAcknowledgmentTimeout": 0, "keyInjectionDelay": 0,
		"allowInvisibleElements": true, "simpleBoundsCalculation": true, "enableMultiWindows": true,
		"includeA11yActionsInPageSource": true, "includeExtrasInPageSource": true, "snapshotMaxDepth": maxLevels,
		"enableNotificationListener": true,
	}
}

// KeyCode returns Android's number of a key, or the error of a key that it does not have.
func KeyCode(key mobile.Key) (int, error) {
	code, ok := map[mobile.Key]int{
		mobile.Back: 4, mobile.Enter: 66, mobile.Home: 3, mobile.Backspace: 67, mobile.Tab: 61, mobile.Escape: 111,
		mobile.Paste: 279,
	}[key]
	if !ok {
		return 0, mobile.Unsupported("Android has no key "+string(key), "")
	}
	return code, nil
}

// maxBody is how many bytes the UiAutomator2 server takes in one request, less than its limit of 64 KiB by what is
// beside the text.
const maxBody = 63 << 10

// CheckLength returns the error of a text that is longer than the UiAutomator2 server takes.
func CheckLength(text string) error {
	if encoded, err := json.Marshal(text); err != nil || len(encoded) > maxBody {
		return fault.New(fault.InvalidArguments, "enter it in parts",
			"the text has %d bytes; the UiAutomator2 server takes up to about %d", len(text), maxBody)
	}
	return nil
}

// CutEnter returns a text that the UiAutomator2 server enters as it is, and the rest, which is to be typed: at the end
// of a text, a backslash with an n presses ENTER.
func CutEnter(text string) (whole, rest string) {
	if cut, found := strings.CutSuffix(text, `\n`); found {
		return cut + `\`, "n"
	}
	return text, ""
}

// Packages returns the ids of apps in `pm list packages`, sorted.
func Packages(out string) []string {
	ids := []string{}
	for line := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "package:"); ok && id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Fingers returns fingers as WebDriver has them.
func Fingers(fingers []mobile.Finger) []webdriver.Finger {
	all := make([]webdriver.Finger, len(fingers))
	for i, f := range fingers {
		all[i] = webdriver.Finger{Hold: f.Hold, Move: f.Move, Rest: f.Rest, Taps: f.Taps}
		for _, p := range f.Path {
			all[i].Path = append(all[i].Path, webdriver.Point{X: p.X, Y: p.Y})
		}
	}
	return all
}

// NoFocus returns the error for text without a field that has the focus. ErrNoFocus is its cause.
func NoFocus() error {
	return &fault.Error{Kind: fault.ToolFailed, Cause: ErrNoFocus, Hint: "tap the field first", Message: ErrNoFocus.Error()}
}
