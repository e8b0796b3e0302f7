package android

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// shell runs commands on a phone, and writes files.
type shell interface {
	// Run runs a command line and returns its stdout, its stderr and its status. The error is a *fault.Error about the
	// connection.
	Run(ctx context.Context, line string) (stdout, stderr string, status int, err error)
	// Push writes a file that only the user of the shell may write.
	Push(ctx context.Context, path string, content io.Reader) error
}

// run runs a command and returns what it wrote. A status other than 0 is an error.
func run(ctx context.Context, sh shell, words ...string) (string, error) {
	line := commandLine(words...)
	stdout, stderr, status, err := sh.Run(ctx, line)
	if err != nil {
		return "", err
	}
	out := join(stdout, stderr)
	if status != 0 {
		return out, fault.New(fault.ToolFailed, "", "%s: exit status %d: %s", shorten(line, 200), status, said(out))
	}
	return out, nil
}

// runAny is [run] for commands that report errors in what they write, and whose status differs between versions.
func runAny(ctx context.Context, sh shell, words ...string) (string, error) {
	stdout, stderr, _, err := sh.Run(ctx, commandLine(words...))
	return join(stdout, stderr), err
}

func join(stdout, stderr string) string {
	if stdout != "" && stderr != "" && !strings.HasSuffix(stdout, "\n") {
		stdout += "\n"
	}
	return stdout + stderr
}

// said returns the output of a command for a message.
func said(out string) string {
	out = strings.TrimSpace(out)
	if out == "" {
		return "no output"
	}
	return shorten(out, 500)
}

// shorten returns a text of at most this many characters, and how many were left out.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return fmt.Sprintf("%s … (%d more characters)", string(runes[:most]), len(runes)-most)
}
