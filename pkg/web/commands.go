package web

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// commands are all commands of the web: those of every device, and those of sections 15 and 15.1 of the specification.
// Recordings contain those that begin with web_.
func commands() []command {
	return slices.Concat(core(), pageCommands(), selectorCommands(), elementCommands(), rememberCommands(), verifications(),
		tabCommands(), downloadCommands(), dialogCommands(), networkCommands(), stateCommands(), clockCommands())
}

func commandsByName() map[string]command {
	byName := map[string]command{}
	for _, c := range commands() {
		byName[c.Name] = c
	}
	return byName
}

// core are the commands that every kind of device has.
func core() []command {
	run := map[string]handler{
		"tap": tap, "inputText": inputText, "isVisible": isVisible, "hasText": hasText, "getElementText": getElementText,
		"getElementCount": getElementCount, "assertVisible": assertVisible, "waitUntilVisible": assertVisible,
		"launchApp": launchApp, "clearAppData": clearAppData, "captureScreen": captureScreen,
	}
	checks := map[string]func(syntax.Arguments) error{
		"tap": checkCore, "isVisible": checkCore, "hasText": checkText, "getElementText": checkCore,
		"getElementCount": checkCore, "assertVisible": checkCore, "waitUntilVisible": checkCore,
	}
	var list []command
	for _, c := range device.Core() {
		if run[c.Name] == nil {
			continue
		}
		own := command{Advertised: c, run: run[c.Name]}
		if checks[c.Name] != nil {
			own = own.checkedBy(checks[c.Name])
		}
		list = append(list, own)
	}
	return list
}

// newCommand returns a command with its input schema; properties are as in device.Command.
func newCommand(name, description, properties string, run handler, required ...string) command {
	return command{Advertised: device.Command(name, description, properties, required...), run: run}
}

// checkedBy returns the command with a check of its arguments.
func (c command) checkedBy(check func(args syntax.Arguments) error) command {
	c.Check = func(args map[string]any) error { return check(args) }
	return c
}

// checkElement checks the arguments that say which element is meant.
func checkElement(args syntax.Arguments) error {
	_, err := syntax.ElementOf(args)
	return err
}

// checkVerified checks the arguments of an assertion that say which element is meant.
func checkVerified(args syntax.Arguments) error {
	_, err := syntax.VerifiedElementOf(args)
	return err
}

// checkAbsent is checkVerified for an element that is not there.
func checkAbsent(args syntax.Arguments) error {
	_, err := syntax.AbsentElementOf(args)
	return err
}

// checkCore checks the arguments text and id.
func checkCore(args syntax.Arguments) error {
	_, err := syntax.CoreTarget(args)
	return err
}

// checkSelector checks the argument selector.
func checkSelector(args syntax.Arguments) error { return syntax.CheckCSS(args.Text("selector")) }

// checkOptionalElement checks the arguments of a command that may name no element.
func checkOptionalElement(args syntax.Arguments) error {
	if !args.Has("ref") && !args.Has("nodeSelector") {
		return nil
	}
	return checkElement(args)
}

// pageCommands are the commands for a page as a whole.
func pageCommands() []command {
	const width = `"width": {"type": "integer", "minimum": 1, "maximum": 10000000}`
	const height = `"height": {"type": "integer", "minimum": 1, "maximum": 10000000}`
	return slices.Concat(navigationCommands(), []command{
		newCommand("web_wait", "Waits.",
			`"seconds": {"type": "number", "minimum": 0, "default": 1, "description": "At most 30"}`, webWait),
		newCommand("web_snapshot",
			"Keeps a screenshot and the elements of the page as text, and returns a list of the elements.",
			`"screenName": {"type": "string"},
			"within": {"type": "string", "description": "CSS selector of an element; only what is in it is listed"},
			"maxBytes": {"type": "integer", "minimum": 0, "default": 6000, "description": "The size of the list"}`,
			webSnapshot),
		newCommand("web_resize", "Changes the size of the page.", width+", "+height, webResize, "width", "height"),
		newCommand("web_currentUrl", "Returns the URL of the page.", "", webCurrentURL),
		newCommand("evaluateJs", "Runs JavaScript in the page and returns its result as JSON.",
			syntax.ScriptProperty+", "+syntax.TimeoutProperty+"}", limited(webEvaluate), "script"),
		newCommand("web_evaluate", "Runs JavaScript in the page and returns its result as JSON.",
			syntax.ScriptProperty+", "+syntax.TimeoutProperty+"}", limited(webEvaluate), "script"),
	})
}

func navigationCommands() []command {
	const url = `"url": {"type": "string", "minLength": 1,
		"description": "A URL with a scheme, or the path of a file beside the trail or in the project"}`
	return []command{
		newCommand("navigate", "Opens a page and waits until it has loaded.", url+", "+syntax.TimeoutProperty+`, "default": 30000}`, limited(navigate), "url"),
		newCommand("web_navigate", "Opens a page, or goes back or forward, and waits until it has loaded.",
			syntax.Enum("action", "What to do", "GOTO", "BACK", "FORWARD")+", "+
				syntax.Enum("waitUntil", "What is awaited: everything that the page loads, or only its document", "LOAD", "DOMCONTENTLOADED")+", "+
				url+", "+syntax.TimeoutProperty+`, "default": 30000}`, limited(webNavigate)),
		newCommand("web_waitForUrl", "Waits until a regular expression is found in the URL.",
			`"pattern": {"type": "string"}, `+syntax.TimeoutProperty+`, "default": 30000}`, webWaitForURL, "pattern"),
	}
}

// selectorCommands are the commands for tools that call back.
func selectorCommands() []command {
	return []command{
		newCommand("click", "Clicks the first element that matches a CSS selector, when it is ready.",
			syntax.CSSProperty+", "+syntax.TimeoutProperty+"}", clickSelector, "selector").checkedBy(checkSelector),
		newCommand("fill", "Replaces the content of the only field that matches a CSS selector.",
			syntax.CSSProperty+`, "value": {"type": "string"}, `+syntax.TimeoutProperty+"}", fillSelector, "selector", "value").
			checkedBy(checkSelector),
		newCommand("waitForSelector", "Waits until the first element that matches a CSS selector is visible.",
			syntax.CSSProperty+", "+syntax.TimeoutProperty+`, "default": 10000}`, waitForSelector, "selector").checkedBy(checkSelector),
	}
}

// elementCommands are the recorded commands that act on an element.
func elementCommands() []command {
	element := syntax.ElementProperties()
	return []command{
		clickCommand(),
		checkedCommand(),
		uploadCommand(),
		dragCommand(),
		getTextCommand(),
		matchesCommand(),
		newCommand("web_hover", "Moves the mouse over the only element that matches.", element, webHover).
			checkedBy(checkElement),
		newCommand("web_type", "Enters text into the only field that matches.",
			`"text": {"type": "string"}, "clearFirst": {"type": "boolean", "default": true,
			"description": "Replace the content; false types at its end, key by key"}, `+element,
			webType, "text").checkedBy(checkElement),
		newCommand("web_fillSecret",
			"Replaces the content of the only field that matches; the value is never logged.",
			`"value": {"type": "string", "writeOnly": true}, `+element, webFillSecret, "value").checkedBy(checkElement),
		newCommand("web_selectOption", "Selects options of the only drop-down list that matches.",
			`"values": {"type": ["array", "string"], "items": {"type": ["string", "number"]},
			"description": "Values or labels of options"}, `+element, webSelectOption, "values").checkedBy(checkElement),
		newCommand("web_scroll", "Scrolls the page, or inside an element.",
			syntax.Enum("direction", "The direction", "DOWN", "UP", "LEFT", "RIGHT")+
				`, "amount": {"type": "number", "minimum": 0, "default": 500, "description": "Pixels"}, `+
				element,
			webScroll).checkedBy(checkOptionalElement),
		newCommand("web_pressKey", "Presses a key, with modifiers held down, as in Control+A, or the keys of a text, wherever the focus is.",
			`"key": {"type": "string", "minLength": 1, "description": "Enter, Tab, ArrowDown, a, Control+A …"},
			"text": {"type": "string", "minLength": 1, "description": "In place of key: characters, typed one after another; for a field, use web_type"}, `+
				syntax.TimeoutProperty+"}",
			webPressKey).checkedBy(checkKey),
	}
}

// verifications are the recorded commands that fail unless something holds.
func verifications() []command {
	element := syntax.ElementProperties()
	textProperties := `"text": {"type": "string", "minLength": 1},
		"pattern": {"type": "string", "minLength": 1, "description": "In place of text: a regular expression that the text of an element matches"}, ` +
		syntax.ExactProperty + ", " + syntax.WithinProperty() + ", " + syntax.TimeoutProperty + "}"
	return append(addressCommands(), []command{
		newCommand("web_verifyTextVisible",
			"Fails unless the page, or one element, shows a text, as part of another and in any case.",
			textProperties, webVerifyTextVisible).checkedBy(checkText),
		newCommand("web_verifyTextNotVisible", "Fails unless nothing on the page, or in one element, shows a text, as part of another and in any case.",
			textProperties, webVerifyTextNotVisible).checkedBy(checkText),
		newCommand("web_verifyElementNotVisible", "Fails unless no element that matches is visible.",
			element, webVerifyElementNotVisible).checkedBy(checkAbsent),
		countCommand(),
		waypointCommand(),
		pictureCommand(),
		stateCommand(),
		ariaSnapshotCommand(),
		accessibilityCommand(),
		newCommand("web_verifyElementVisible", "Fails unless the first element that matches is visible.",
			element, webVerifyElementVisible).checkedBy(checkVerified),
		newCommand("web_verifyValue",
			"Fails unless the first element that matches has a text, a value or an attribute.",
			`"expected": {"type": "string", "description": "The whole text"},
			"contains": {"type": "string", "minLength": 1, "description": "A part of the text, with case"},
			"pattern": {"type": "string", "minLength": 1, "description": "A regular expression that is found in the text"}, `+syntax.Enum("type", "What to compare", "TEXT", "VALUE", "ATTRIBUTE")+
				`, "attribute": {"type": "string", "description": "The name of the attribute, for type ATTRIBUTE"}, `+
				element,
			webVerifyValue).checkedBy(checkValue),
		newCommand("web_verifyListVisible", "Fails unless the first element that matches shows every item.",
			`"items": {"type": ["array", "string"], "minItems": 1, "items": {"type": ["string", "number"]},
			"description": "Texts that must be visible"}, `+syntax.ExactProperty+
				`, "ordered": {"type": "boolean", "default": false, "description": "In the order of items"},
			"only": {"type": "boolean", "default": false, "description": "The list has no other item"}, `+
				element, webVerifyListVisible, "items").checkedBy(checkList),
	}...)
}
