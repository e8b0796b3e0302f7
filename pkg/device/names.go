package device

// Commands are the names of all commands that some kind of device may have (specification, section 15). A call to one that a device
// lacks is told so, with what the device has.
func Commands() []string {
	return []string{
		"tap", "inputText", "launchApp", "clearAppData",
		"isVisible", "hasText", "getElementText", "getElementCount", "captureScreen",
		"assertVisible", "waitUntilVisible",
		"adbShell", "grantPermission", "pressBack", "pressHome", "swipe", "scroll", "pinch",
		"navigate", "click", "fill", "waitForSelector", "evaluateJs",
	}
}
