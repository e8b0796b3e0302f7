package device

// Commands are the names of all commands that some kind of device may have (specification, section 15). The error of a
// call to one that a device lacks lists the commands of the device.
func Commands() []string {
	names := []string{
		"adbShell", "grantPermission", "pressBack", "pressHome", "swipe", "scroll", "pinch",
		"navigate", "click", "fill", "waitForSelector", "evaluateJs",
	}
	for _, c := range Core() {
		names = append(names, c.Name)
	}
	return names
}
