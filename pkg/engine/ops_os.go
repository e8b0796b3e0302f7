package engine

import (
	"cmp"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
)

func osOps() (map[string]op, map[string]job) {
	return map[string]op{"os.facts": osFacts}, nil
}

// osFacts are what node:os tells about the machine and its user. What a system does not tell is 0 or "".
func osFacts(e *Engine, _ []any) (any, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	m := about()
	facts := map[string]any{
		"hostname": name, "cpus": float64(runtime.NumCPU()),
		"release": m.release, "version": m.version, "totalmem": float64(m.total), "freemem": float64(m.free), "uptime": float64(m.uptime),
		"username": "", "uid": -1.0, "gid": -1.0, "home": "", "shell": cmp.Or(shell(os.Getuid(), "/etc/passwd"), lookup(e.spec.Env, "SHELL")),
	}
	if u, err := user.Current(); err == nil {
		facts["username"], facts["home"] = u.Username, u.HomeDir
		if uid, err := strconv.Atoi(u.Uid); err == nil {
			facts["uid"] = float64(uid)
		}
		if gid, err := strconv.Atoi(u.Gid); err == nil {
			facts["gid"] = float64(gid)
		}
	}
	return facts, nil
}

// shell is a user's in a file as passwd(5) describes it, "" when the file names none; os/user reads everything but that.
func shell(uid int, passwd string) string {
	users, err := os.ReadFile(passwd)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(users)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}

// A machine is its system and its memory, in bytes and seconds.
type machine struct {
	release, version    string
	total, free, uptime uint64
}
