package syntax

// editingCommand is what a key does in a text on macOS, where the system, not the browser, turns keys into commands. Keys
// that are pressed over the protocol do not reach the system. The names are those of AppKit.
func editingCommand(code string, modifiers int) string {
	commands := map[string]string{
		"Alt+ArrowLeft": "moveWordLeft", "Alt+ArrowRight": "moveWordRight", "Alt+Backspace": "deleteWordBackward",
		"Alt+Delete": "deleteWordForward", "Meta+ArrowDown": "moveToEndOfDocument", "Meta+ArrowLeft": "moveToLeftEndOfLine",
		"Meta+ArrowRight": "moveToRightEndOfLine", "Meta+ArrowUp": "moveToBeginningOfDocument",
		"Meta+Backspace": "deleteToBeginningOfLine", "Meta+KeyA": "selectAll", "Meta+KeyC": "copy", "Meta+KeyV": "paste",
		"Meta+KeyX": "cut", "Meta+KeyZ": "undo",
		"Shift+Alt+ArrowLeft": "moveWordLeftAndModifySelection", "Shift+Alt+ArrowRight": "moveWordRightAndModifySelection",
		"Shift+Meta+ArrowDown":  "moveToEndOfDocumentAndModifySelection",
		"Shift+Meta+ArrowLeft":  "moveToLeftEndOfLineAndModifySelection",
		"Shift+Meta+ArrowRight": "moveToRightEndOfLineAndModifySelection",
		"Shift+Meta+ArrowUp":    "moveToBeginningOfDocumentAndModifySelection",
		"Shift+Meta+Backspace":  "deleteToBeginningOfLine", "Shift+Meta+KeyZ": "redo",
	}
	shortcut := code
	for _, held := range []struct {
		bit  int
		name string
	}{{meta, "Meta+"}, {alt, "Alt+"}, {control, "Control+"}, {shift, "Shift+"}} {
		if modifiers&held.bit != 0 {
			shortcut = held.name + shortcut
		}
	}
	return commands[shortcut]
}
