package android

import "strings"

// allowDebugging is what makes phones of some makers, such as Xiaomi, Oppo, Vivo and Realme, obey adb.
const allowDebugging = "some phones allow it only with the developer option USB debugging (Security settings), " +
	"or Disable permission monitoring"

// refused reports whether a command was refused to adb, in what it wrote.
func refused(out string) bool {
	return strings.Contains(out, "java.lang.SecurityException") || strings.Contains(out, "INJECT_EVENTS")
}
