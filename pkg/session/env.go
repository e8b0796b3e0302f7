package session

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
)

// clientMargin is how much longer than the callback server's limit a client waits for a callback, so that it receives
// the error of the limit (specification, section 5.1).
const clientMargin = 2 * time.Second

// serverEnv returns the environment of a server process of this session.
func (s *Session) serverEnv(entry config.Server) []string {
	d, driver := s.opts.Device, s.opts.Scope.Driver
	vars := []string{
		"TRAILBLAZE_DEVICE_PLATFORM=" + string(driver.Platform),
		"TRAILBLAZE_DEVICE_DRIVER=" + driver.Key,
		"TRAILBLAZE_DEVICE_WIDTH_PX=" + strconv.Itoa(s.identity.Width),
		"TRAILBLAZE_DEVICE_HEIGHT_PX=" + strconv.Itoa(s.identity.Height),
	}
	if d.Name != "" {
		vars = append(vars, "TRAILBLAZE_DEVICE_NAME="+d.Name)
	}
	if s.identity.ID != "" {
		vars = append(vars, "TRAILBLAZE_DEVICE_ID="+s.identity.ID)
	}
	return serverEnv(s.opts.Env, entry, s.opts.ID, s.callbacks, append(vars, pairs(d.Env)...)...)
}

// serverEnv returns the environment of a server process: own, which is that of this process, then the variables of the
// device, then those of section 5.1 of the specification, then those of the entry. The last value of a variable counts.
// callbacks may be nil.
func serverEnv(
	own []string, entry config.Server, sessionID string, callbacks *callback.Server, device ...string,
) []string {
	env := slices.DeleteFunc(slices.Clone(own), isSessionVariable)
	direct := noProxy(own)
	env = append(append(env, device...), "TRAILBLAZE_SESSION_ID="+sessionID, "NO_PROXY="+direct, "no_proxy="+direct)
	if callbacks != nil {
		fetchTimeout := callbackLimit(entry) + clientMargin
		env = append(env,
			"TRAILBLAZE_BASE_URL="+callbacks.URL(),
			"TRAILBLAZE_CALLBACK_URL="+callbacks.CallbackURL(),
			"TRAILBLAZE_PORT="+strconv.Itoa(callbacks.Port()),
			"TRAILBLAZE_SESSION_TOKEN="+callbacks.Token(),
			"TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS="+strconv.FormatInt(fetchTimeout.Milliseconds(), 10),
		)
	}
	if entry.Script != "" {
		env = append(env, "TRAILBLAZE_TOOLSET_FILE="+entry.Script)
	}
	return append(env, pairs(entry.Env)...)
}

// pairs returns variables as NAME=VALUE, sorted.
func pairs(vars map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}

// isSessionVariable reports whether a variable describes a session. Such a variable in the environment of this process
// describes the session of a trailblaze process that started this one.
func isSessionVariable(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return strings.HasPrefix(name, "TRAILBLAZE_DEVICE_") || slices.Contains([]string{
		"TRAILBLAZE_SESSION_ID", "TRAILBLAZE_SESSION_TOKEN", "TRAILBLAZE_TOOLSET_FILE", "TRAILBLAZE_BASE_URL",
		"TRAILBLAZE_CALLBACK_URL", "TRAILBLAZE_PORT", "TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS",
	}, name)
}

// noProxy returns the value of NO_PROXY that keeps requests to this machine away from a proxy: bun sends them there
// otherwise. Programs differ in which spelling they read first, so both get this value.
func noProxy(env []string) string {
	const loopback = "127.0.0.1,localhost,::1"
	for _, kv := range slices.Backward(env) {
		if key, value, _ := strings.Cut(kv, "="); strings.EqualFold(key, "NO_PROXY") && value != "" {
			return value + "," + loopback
		}
	}
	return loopback
}
