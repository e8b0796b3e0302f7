package run

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// childEnv is the environment of a server process: ours, then the contract of section 5.1, then the entry's own; last wins.
func (s Setup) childEnv(entry config.Server, sc scope.Scope, sessionID string) []string {
	env := slices.DeleteFunc(slices.Clone(s.Env), inherited)
	direct := noProxy(s.Env)
	env = append(env,
		"TRAILBLAZE_DEVICE_PLATFORM="+string(sc.Driver.Platform),
		"TRAILBLAZE_DEVICE_DRIVER="+sc.Driver.Key,
		"TRAILBLAZE_DEVICE_WIDTH_PX="+strconv.Itoa(s.Width),
		"TRAILBLAZE_DEVICE_HEIGHT_PX="+strconv.Itoa(s.Height),
		"TRAILBLAZE_SESSION_ID="+sessionID,
		"NO_PROXY="+direct,
		"no_proxy="+direct,
	)
	if entry.Script != "" {
		env = append(env, "TRAILBLAZE_TOOLSET_FILE="+entry.Script)
	}
	for _, name := range slices.Sorted(maps.Keys(entry.Env)) {
		env = append(env, name+"="+entry.Env[name])
	}
	return env
}

// inherited reports whether a variable was set for us by a trailblaze that started us; it says nothing of this session.
func inherited(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return strings.HasPrefix(name, "TRAILBLAZE_DEVICE_") || slices.Contains([]string{
		"TRAILBLAZE_SESSION_ID", "TRAILBLAZE_SESSION_TOKEN", "TRAILBLAZE_TOOLSET_FILE", "TRAILBLAZE_BASE_URL",
		"TRAILBLAZE_CALLBACK_URL", "TRAILBLAZE_PORT", "TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS",
	}, name)
}

// noProxy keeps loopback traffic of servers away from a corporate proxy: bun sends it there unless told not to. Both spellings
// get the same value, because programs differ in which they read first.
func noProxy(env []string) string {
	const loopback = "127.0.0.1,localhost,::1"
	for _, kv := range slices.Backward(env) {
		if key, value, _ := strings.Cut(kv, "="); strings.EqualFold(key, "NO_PROXY") && value != "" {
			return value + "," + loopback
		}
	}
	return loopback
}
