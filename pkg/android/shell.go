package android

import (
	"context"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// run runs a command on a phone and returns what it wrote. A status other than 0 is an error.
func run(ctx context.Context, phone adb.Device, words ...string) (string, error) {
	out, status, err := runAny(ctx, phone, words...)
	if err == nil && status != 0 {
		err = fault.New(fault.ToolFailed, "", "%s: exit status %d: %s", shorten(strings.Join(words, " "), 200), status, outputText(out))
	}
	return out, err
}

// runLine is [run] for a command line.
func runLine(ctx context.Context, phone adb.Device, line string) (string, error) {
	output, err := phone.Shell(ctx, line)
	if err == nil && output.Exit != 0 {
		err = exitFailure(line, output)
	}
	return string(output.Stdout), err
}

// exitFailure returns the error of a command line whose status is not 0.
func exitFailure(line string, output adb.Output) error {
	return fault.New(fault.ToolFailed, "", "%s: exit status %d: %s", shorten(line, 200), output.Exit, outputText(string(output.Stderr)))
}

// runAny is [run] for commands whose status means something else than an error, or differs between versions.
func runAny(ctx context.Context, phone adb.Device, words ...string) (string, int, error) {
	output, err := phone.Shell(ctx, adb.Quote(words...))
	if err != nil {
		return "", 0, err
	}
	out := string(output.Stdout)
	if out != "" && len(output.Stderr) > 0 && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out + string(output.Stderr), output.Exit, nil
}

// linesOf returns the lines of the output of a command, and empty ones if it has fewer than atLeast.
func linesOf(out string, atLeast int) []string {
	lines := strings.Split(strings.ReplaceAll(out, "\r", ""), "\n")
	return append(lines, make([]string, max(0, atLeast-len(lines)))...)
}

// outputText returns the output of a command for a message.
func outputText(out string) string {
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
