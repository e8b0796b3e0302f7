package engine

import (
	"cmp"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
)

// osOps returns the operations of node:os.
func osOps() (syncOps, asyncOps opTable) {
	return opTable{"os.facts": osFacts}, nil
}

// osFacts implements os.facts(). What the system does not provide is 0 or "".
func osFacts(c *call) (any, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	m := machineInfo()
	facts := map[string]any{
		"hostname": name, "cpus": float64(runtime.NumCPU()),
		"release": m.release, "version": m.version, "totalmem": float64(m.total), "freemem": float64(m.free), "uptime": float64(m.uptime),
		"username": "", "uid": -1.0, "gid": -1.0, "home": "", "shell": cmp.Or(shell(os.Getuid(), "/etc/passwd"), lookupEnv(c.spec.Env, "SHELL")),
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

// shell returns the shell of a user in a file in the format of passwd(5), which os/user does not read; "" when it has
// none.
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

// machineFacts describes the machine. Sizes are in bytes, the uptime is in seconds.
type machineFacts struct {
	release, version    string
	total, free, uptime uint64
}
