package device

import (
	"runtime"
	"strings"
)

// Getenv returns the last value of a variable in an environment such as Host.Env, "" if it has none.
func Getenv(env []string, name string) string {
	value := ""
	for _, entry := range env {
		key, v, ok := strings.Cut(entry, "=")
		if ok && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			value = v
		}
	}
	return value
}
