//go:build unix

package spawn

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleVariable turns the test binary into one of the badly behaved servers below.
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
		"polite":            politeServer,
		"script":            scriptedServer,
		"exits at start":    func([]string) { fmt.Fprintln(os.Stderr, "cannot open the database"); os.Exit(3) },
		"deaf":              func([]string) { untilKilled() },
		"ignores the end":   func([]string) { serve(reply); untilKilled() },
		"ignores SIGTERM":   func([]string) { signal.Ignore(syscall.SIGTERM); serve(reply); untilKilled() },
		"grandchild":        func(args []string) { leaveGrandchild(args[0]); serve(reply) },
		"screams":           screamingServer,
		"big":               bigServer,
		"owner":             owner,
		"program's owner":   programOwner,
		"closes its output": func([]string) { _ = os.Stdout.Close(); untilKilled() },
	}
}

// request is what comes in.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// serve answers line by line until its input ends.
func serve(handle func(request)) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		var r request
		if len(line) > 1 && json.Unmarshal(line, &r) == nil {
			handle(r)
		}
		if err != nil {
			return
		}
	}
}

func reply(r request) { fmt.Println(answerTo(r, `{}`)) }

func answerTo(r request, result string) string {
	return fmt.Sprintf(`{"result":%s,"jsonrpc":"2.0","id":%s}`, result, r.ID)
}

func politeServer([]string) {
	serve(func(r request) { fmt.Println(answerTo(r, strconv.Quote(r.Method))) })
	fmt.Fprintln(os.Stderr, "cleaned up")
}

// scriptedServer writes the file of its first argument at once, and that of its second in place of every answer, where ANSWER
// stands for it.
func scriptedServer(args []string) {
	first, _ := os.ReadFile(args[0])
	each, _ := os.ReadFile(args[1])
	_, _ = os.Stdout.Write(first)
	serve(func(r request) {
		_, _ = io.WriteString(os.Stdout, strings.ReplaceAll(string(each), "ANSWER", answerTo(r, `"ok"`)))
	})
}

// screamingServer fills stderr before it answers: lines or bytes, and how many.
func screamingServer(args []string) {
	n, _ := strconv.Atoi(args[1])
	serve(func(r request) {
		line := strings.Repeat("e", 99)
		if args[0] == "lines" {
			line += "\n"
		}
		block := strings.Repeat(line, 1000)
		for written := 0; written < n; written += len(block) {
			_, _ = io.WriteString(os.Stderr, block)
		}
		_, _ = io.WriteString(os.Stderr, "\nthe last line\n")
		reply(r)
	})
}

// bigServer answers with as many bytes as the parameters say.
func bigServer([]string) {
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	serve(func(r request) {
		n, _ := strconv.Atoi(string(r.Params))
		_, _ = out.WriteString(`{"result":"`)
		block := strings.Repeat("0123456789", 1000)
		for ; n > 0; n -= len(block) {
			_, _ = out.WriteString(block[:min(n, len(block))])
		}
		fmt.Fprintf(out, `","jsonrpc":"2.0","id":%s}`+"\n", r.ID)
		_ = out.Flush()
	})
}

// leaveGrandchild starts a process that ends by itself only after an hour. A "clinging" one holds all our streams and shrugs
// SIGTERM off; a "daemon" lets go of everything.
func leaveGrandchild(kind string) {
	cmd := exec.Command("sh", "-c", `trap "" TERM HUP INT; echo ready >&2; while :; do sleep 3600 & wait; done`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if kind == "daemon" {
		cmd = exec.Command("sleep", "3600")
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
