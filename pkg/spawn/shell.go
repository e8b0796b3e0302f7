package spawn

import (
	"runtime"
	"slices"
	"strings"
)

// Shell returns the program and the arguments that run a command line as the system's shell does.
func Shell(command string) (program string, args []string) { return shellOf(runtime.GOOS, command) }

func shellOf(goos, command string) (program string, args []string) {
	if goos == "windows" {
		return "cmd", append(cmdFlags(), command)
	}
	return "sh", []string{"-c", command}
}

// cmdFlags returns the flags for cmd.exe: no AutoRun commands, and only the outer quotes of the command are removed.
func cmdFlags() []string { return []string{"/d", "/s", "/c"} }

// shellCommandLine returns the command line for arguments that begin with those of Shell on Windows, empty for others.
// The quotes that exec.Cmd would add are escaped in a way that cmd.exe does not understand.
func shellCommandLine(argv []string) string {
	last := len(argv) - 1
	if last < 1 || !slices.Equal(argv[1:last], cmdFlags()) || !strings.HasSuffix(strings.ToLower(argv[0]), "cmd.exe") {
		return ""
	}
	return `cmd.exe ` + strings.Join(cmdFlags(), " ") + ` "` + argv[last] + `"`
}
