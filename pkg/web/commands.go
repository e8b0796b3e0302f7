package web

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// commands are all that the web can do: those of every device, those that sections 15 and 15.1 of the specification name for it, and how
// to answer a dialog. Agents' recordings hold the ones that begin with web_.
func commands() []command {
	return slices.Concat(core(), pageCommands(), webCommands(), recorded())
}

// core are the commands of every device.
func core() []command {
	run := map[string]handler{
		"tap": tap, "inputText": inputText, "isVisible": isVisible, "hasText": hasText, "getElementText": getElementText,
		"getElementCount": getElementCount, "assertVisible": assertVisible, "waitUntilVisible": assertVisible,
		"launchApp": launchApp, "clearAppData": clearAppData, "captureScreen": captureScreen,
	}
	var list []command
	for _, c := range device.Core() {
		if run[c.Name] == nil {
			continue
		}
		list = append(list, command{c, run[c.Name]})
	}
	return list
}

const (
	timeoutProperty = `"timeoutMs": {"type": "integer", "minimum": 0, "maximum": 600000, "description": "How long to wait"`
	textProperty    = `"text": {"type": "string"}`
	valueProperty   = `"value": {"type": "string"}`
)

// webCommands are those that tools for the web call.
func webCommands() []command {
	return []command{
		{device.Command("click", "Clicks the first element that fits a CSS selector, once it is ready.", cssProperty, "selector"), clickSelector},
		{
			device.Command("fill", "Replaces what is in the only field that fits a CSS selector.", cssProperty+", "+valueProperty, "selector", "value"),
			fillSelector,
		},
		{device.Command("waitForSelector", "Waits until the first element that fits a CSS selector can be seen.",
			cssProperty+", "+timeoutProperty+`, "default": 10000}`, "selector"), waitForSelector},
	}
}

// recorded are those that agents use and recordings hold.
func recorded() []command {
	seen := `"text": {"type": "string", "minLength": 1}`
	key := `"key": {"type": "string", "minLength": 1, "description": "Enter, Tab, ArrowDown, a, Control+A …"}`
	direction := enum("direction", "Where to", "DOWN", "UP", "LEFT", "RIGHT")
	values := `"values": {"type": ["array", "string"], "items": {"type": ["string", "number"]}, "description": "Values of options, or what they say"}`
	list := `"items": {"type": ["array", "string"], "minItems": 1, "items": {"type": ["string", "number"]}, "description": "Texts that have to be visible"}`
	expected := `"expected": {"type": "string"}, ` + enum("type", "What is compared", "TEXT", "VALUE", "ATTRIBUTE") +
		`, "attribute": {"type": "string", "description": "Its name, for type ATTRIBUTE"}`
	return []command{
		{device.Command("web_click", "Clicks an element once, when it is ready.", elementProperties), webClick},
		{device.Command("web_hover", "Moves the mouse over the only element that fits.", elementProperties), webHover},
		{device.Command("web_type", "Writes into the only field that fits.", textProperty+", "+elementProperties+
			`, "clearFirst": {"type": "boolean", "default": true, "description": "Replace what is in it; false types at its end, key by key"}`,
			"text"), webType},
		{device.Command("web_fillSecret", "Replaces what is in the only field that fits; no log shows the value.", refProperty+
			`, "value": {"type": "string", "writeOnly": true}`, "ref", "value"), webFillSecret},
		{
			device.Command("web_selectOption", "Chooses options of the only drop-down list that fits.", values+", "+elementProperties, "values"),
			webSelectOption,
		},
		{device.Command("web_scroll", "Scrolls the page, or inside an element.", direction+
			`, "amount": {"type": "number", "minimum": 0, "default": 500, "description": "Pixels"}, `+elementProperties), webScroll},
		{device.Command("web_pressKey", "Presses a key, with modifiers held down if it names any.", key, "key"), webPressKey},
		{
			device.Command("web_verifyTextVisible", "Fails unless a text can be seen, as any part of another and in any case.", seen, "text"),
			webVerifyTextVisible,
		},
		{
			device.Command("web_verifyElementVisible", "Fails unless the first element that fits can be seen.", elementProperties),
			webVerifyElementVisible,
		},
		{device.Command("web_verifyValue", "Fails unless the first element that fits has a text, a value or an attribute.",
			expected+", "+elementProperties, "expected"), webVerifyValue},
		{
			device.Command("web_verifyListVisible", "Fails unless the first element that fits shows every item.", list+", "+elementProperties, "items"),
			webVerifyListVisible,
		},
	}
}
