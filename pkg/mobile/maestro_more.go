package mobile

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// maestroInstead returns what to use in place of commands of Maestro that are not supported.
func maestroInstead() map[string]string {
	const script = "a tool of your own runs code; its result is a value of the trail"
	return map[string]string{
		"assertScreenshot": "verifyScreenshot compares the screen with a picture", "takeScreenshot": "takeSnapshot keeps a screenshot",
		"evalScript": script, "runScript": script, "travel": "mobile_setLocation, once for each place",
		"assertWithAI": "assertVisible with a text", "assertNoDefectsWithAI": "verifyScreenshot", "extractTextWithAI": "mobile_getText",
		"inputRandomNumber": "inputTextRandom", "inputRandomText": "inputTextRandom", "inputRandomEmail": "inputTextRandom",
		"inputRandomPersonName": "inputTextRandom", "toggleAirplaneMode": "setAirplaneMode: enabled or disabled",
		"startRecording": "the tool mobile_startRecording", "stopRecording": "the tool mobile_stopRecording",
		"addMedia": "the tool mobile_addMedia", "setClipboard": "the tool mobile_setClipboard", "setPermissions": "permissions of launchApp",
	}
}

// maestroMore are the commands of Maestro for the device, and for what is not one element.
func maestroMore() []maestroCommand {
	action := func(l Limits, _ device.Arguments) time.Duration { return l.Action }
	return []maestroCommand{
		{name: "assertTrue", alone: "condition", keys: []string{"condition"}, needs: "condition", run: maestroTrue, check: checkMaestroTrue, limits: action},
		{name: "clearKeychain", run: clearKeychain, limits: action},
		{name: "copyTextFrom", alone: "text", keys: elementKeys(), run: maestroElement(copyText), check: checkMaestroElement, limits: action},
		{name: "doubleTapOn", alone: "text", keys: elementKeys(), run: maestroElement(doubleTapElement), check: checkMaestroElement, limits: action},
		{name: "pasteText", run: pasteText, limits: action},
		{
			name: "scrollUntilVisible", keys: []string{"element", "direction", "timeout", "speed", "visibilityPercentage", "centerElement"}, needs: "element",
			run: maestroScroll, check: checkMaestroScroll,
			limits: func(_ Limits, a device.Arguments) time.Duration { return maestroTime(a, "timeout", scrollLimit) },
		},
		{name: "setAirplaneMode", alone: "mode", keys: []string{"mode"}, needs: "mode", run: airplaneMode, check: checkAirplaneMode, limits: action},
		{name: "setLocation", keys: []string{"latitude", "longitude"}, run: maestroLocation, check: checkMaestroLocation, limits: action},
		{
			name: "setOrientation", alone: "orientation", keys: []string{"orientation"}, run: maestroOrientation, check: checkMaestroOrientation,
			limits: func(l Limits, _ device.Arguments) time.Duration { return l.Turn + l.Response },
		},
		{
			name: "waitForAnimationToEnd", keys: []string{"timeout"}, run: waitForAnimation, check: checkTimeout,
			limits: func(_ Limits, a device.Arguments) time.Duration { return maestroTime(a, "timeout", animationTime) },
		},
	}
}

func checkMaestroTrue(_ Platform, a device.Arguments) error {
	return checkExpression("condition", maestroText(a, "condition"))
}

// checkExpression rejects a value that would have to be evaluated.
func checkExpression(key, text string) error {
	if strings.Contains(text, "${") {
		return invalid("compare with assertVisible, or let a tool of your own decide: its result is {{name}}",
			"%s: %q is an expression of JavaScript, which is not evaluated", key, text)
	}
	return nil
}

func maestroTrue(_ context.Context, _ *phone, a device.Arguments) (tool.Result, error) {
	text := maestroText(a, "condition")
	if !isTrue(text) {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%q is not true", text)
	}
	return success("%q is true", text), nil
}

// copyText keeps the text of an element for pasteText.
func copyText(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	result, err := getText(ctx, d, t, a)
	if err == nil && result.OK {
		d.copied = result.Text
		result = success("copied %q", result.Text)
	}
	return result, err
}

func pasteText(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	if d.copied == "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "copyTextFrom copies one", "no text was copied")
	}
	return d.enter(ctx, d.copied, device.Arguments{"hideKeyboardAfter": false})
}

// scrolledTo returns the arguments of scrollUntilTextIsVisible for scrollUntilVisible.
func scrolledTo(a device.Arguments) (device.Arguments, error) {
	visible, err := maestroNumber(a, "visibilityPercentage", 100)
	if err != nil {
		return nil, err
	}
	centre, err := maestroFlag(a, "centerElement", false)
	if err != nil {
		return nil, err
	}
	if _, err := maestroNumber(a, "timeout", 0); err != nil {
		return nil, err
	}
	out := device.Arguments{
		"visibilityPercentage": visible, "centerElement": centre, "timeoutMs": maestroTime(a, "timeout", scrollLimit).Milliseconds(),
	}
	if a.Has("direction") {
		out["direction"] = maestroText(a, "direction")
	}
	_, err = out.Word("direction", "DOWN", "UP", "LEFT", "RIGHT")
	return out, err
}

func checkMaestroScroll(p Platform, a device.Arguments) error {
	if _, err := scrolledTo(a); err != nil {
		return err
	}
	_, err := elements{platform: p}.maestroTarget(a, "element")
	return err
}

func maestroScroll(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	t, err := d.elements().maestroTarget(a, "element")
	if err != nil {
		return tool.Result{}, err
	}
	options, err := scrolledTo(a)
	if err != nil {
		return tool.Result{}, err
	}
	return d.scrollTo(ctx, t, options)
}

func checkAirplaneMode(_ Platform, a device.Arguments) error {
	_, err := device.Arguments{"mode": maestroText(a, "mode")}.Word("mode", "ENABLED", "DISABLED")
	return err
}

func airplaneMode(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return networkConnection(ctx, d, device.Arguments{"connected": strings.EqualFold(maestroText(a, "mode"), "disabled")})
}

// maestroPlace reads latitude and longitude, perhaps as texts.
func maestroPlace(a device.Arguments) (device.Arguments, error) {
	out := device.Arguments{}
	for key, most := range map[string]float64{"latitude": 90, "longitude": 180} {
		number, err := strconv.ParseFloat(maestroText(a, key), 64)
		if err != nil || number < -most || number > most {
			return nil, invalid("", "%s: expected degrees from -%v to %v, found %q", key, most, most, maestroText(a, key))
		}
		out[key] = number
	}
	return out, nil
}

func checkMaestroLocation(_ Platform, a device.Arguments) error {
	_, err := maestroPlace(a)
	return err
}

func maestroLocation(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	place, err := maestroPlace(a)
	if err != nil {
		return tool.Result{}, err
	}
	return setLocation(ctx, d, place)
}

// maestroTurned reads an orientation. What is on the screen is the same for both sides of landscape.
func maestroTurned(a device.Arguments) (Orientation, error) {
	switch word := strings.ToUpper(maestroText(a, "orientation")); word {
	case "PORTRAIT":
		return Portrait, nil
	case "LANDSCAPE", "LANDSCAPE_LEFT", "LANDSCAPE_RIGHT":
		return Landscape, nil
	default:
		return "", invalid("use PORTRAIT, which shows the same", "orientation: %q is not one of PORTRAIT, LANDSCAPE_LEFT, LANDSCAPE_RIGHT", word)
	}
}

func checkMaestroOrientation(_ Platform, a device.Arguments) error {
	_, err := maestroTurned(a)
	return err
}

func maestroOrientation(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	o, err := maestroTurned(a)
	if err != nil {
		return tool.Result{}, err
	}
	return setOrientation(ctx, d, device.Arguments{"orientation": string(o)})
}

// animationTime is how long waitForAnimationToEnd waits at most, as in Maestro.
const animationTime = 15 * time.Second

func checkTimeout(_ Platform, a device.Arguments) error {
	_, err := maestroNumber(a, "timeout", 0)
	return err
}

// waitForAnimation waits until the screen is at rest, but not for long. As in Maestro, one that moves on is not an error.
func waitForAnimation(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	limit := maestroTime(a, "timeout", animationTime)
	result, err := waitForChange(ctx, d, device.Arguments{"timeoutMs": float64(limit.Milliseconds()), "requireChange": false})
	if err != nil && failed(ctx, err) {
		d.notes = append(d.notes, "the screen still moves after "+limit.String())
		return success("the screen still moves after %s", limit), nil
	}
	return result, err
}
