package run

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
)

// clientPatience is how much longer than the runner a client waits for a callback, so that it hears the runner's reason.
const clientPatience = 2 * time.Second

// childEnv is the environment of a server process of the session.
func (s *session) childEnv(entry config.Server) []string {
	return serverEnv(s.setup.Env, entry, s.id, s.door,
		"TRAILBLAZE_DEVICE_PLATFORM="+string(s.scope.Driver.Platform),
		"TRAILBLAZE_DEVICE_DRIVER="+s.scope.Driver.Key,
		"TRAILBLAZE_DEVICE_WIDTH_PX="+strconv.Itoa(s.setup.Width),
		"TRAILBLAZE_DEVICE_HEIGHT_PX="+strconv.Itoa(s.setup.Height),
	)
}

// serverEnv is the environment of a server process: ours, then the contract of section 5.1, then the entry's own; last wins. door may be
// nil.
func serverEnv(ours []string, entry config.Server, id string, door *callback.Server, device ...string) []string {
	env := slices.DeleteFunc(slices.Clone(ours), inherited)
	direct := noProxy(ours)
	env = append(append(env, device...), "TRAILBLAZE_SESSION_ID="+id, "NO_PROXY="+direct, "no_proxy="+direct)
	if door != nil {
		patience := callbackLimit(entry) + clientPatience
		env = append(env,
			"TRAILBLAZE_BASE_URL="+door.URL(),
			"TRAILBLAZE_CALLBACK_URL="+door.CallbackURL(),
			"TRAILBLAZE_PORT="+strconv.Itoa(door.Port()),
			"TRAILBLAZE_SESSION_TOKEN="+door.Token(),
			"TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS="+strconv.FormatInt(patience.Milliseconds(), 10),
		)
	}
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
