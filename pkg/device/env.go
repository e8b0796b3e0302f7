package device

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// WithVariables returns an environment with more variables, which win over those in it.
func WithVariables(env []string, more map[string]string) []string {
	out := slices.Clone(env)
	for _, name := range slices.Sorted(maps.Keys(more)) {
		out = append(out, name+"="+more[name])
	}
	return out
}

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
