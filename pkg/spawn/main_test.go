//go:build unix

package spawn

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleVariable makes the test binary one of the processes below, most of which behave badly.
const roleVariable = "SPAWN_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := roles()[os.Getenv(roleVariable)]; ok {
		role(os.Args[1:])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func roles() map[string]func(args []string) {
	return map[string]func([]string){
		"supervisor":      supervisor,
		"launcher":        launcher,
		"echo":            func([]string) { echo(); fmt.Fprintln(os.Stderr, "cleaned up") },
		"exits at start":  func([]string) { fmt.Fprintln(os.Stderr, "cannot open the database"); os.Exit(3) },
		"does not read":   func([]string) { fmt.Println("ready"); untilKilled() },
		"ignores the end": func([]string) { echo(); untilKilled() },
		"ignores SIGTERM": func([]string) { signal.Ignore(syscall.SIGTERM); echo(); untilKilled() },
		"daemon":          func([]string) { startGrandchild("daemon"); echo() },
		"fork storm":      func([]string) { startGrandchild("storm"); echo() },
		"storm":           func([]string) { storm() },
		"grandchild":      func(args []string) { startGrandchild(args[0]); echo() },
		"many grandchildren": func([]string) {
			signal.Ignore(syscall.SIGTERM)
			for range 20 {
				startGrandchild("new session")
			}
			echo()
			for { // until killed
				startGrandchild("new session")
				<-time.After(time.Millisecond)
			}
		},
		"owner":              owner,
		"owner of a program": programOwner,
		"closes its output":  func([]string) { _ = os.Stdout.Close(); untilKilled() },
	}
}

// echo repeats its input line by line until it ends.
func echo() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Print(line)
	}
}

// ignoreSignals is a shell script that ends by itself only after an hour. Before, it writes a line to stderr.
const ignoreSignals = `trap "" TERM HUP INT; echo ready >&2; while :; do sleep 3600 & wait; done`

// storm starts daemons until it is killed, at most as many as a test can have left running.
func storm() {
	for range 500 {
		startGrandchild("daemon")
		<-time.After(time.Millisecond)
	}
	untilKilled()
}

// startGrandchild starts a process that runs until it is killed: in the "same group", in a "new group" or a "new
// session", with the streams of its parent, or as a "daemon" without them. A "storm" is a daemon that starts others.
func startGrandchild(kind string) {
	cmd := exec.Command("sh", "-c", ignoreSignals)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	switch kind {
	case "new group":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	case "new session":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "daemon":
		cmd = exec.Command("sleep", "3600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "storm":
		cmd = exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=storm")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func untilKilled() {
	<-time.After(time.Hour)
	os.Exit(99)
}
