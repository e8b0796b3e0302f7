package fault

import "strings"

// The beginnings of the parts of messages that have what a program wrote, and of the line that says where all of it is.
const (
	stderrTitle = "\n  the end of its stderr:"
	stdoutTitle = "\n  on its stdout"
	outputLine  = "\n    "
	logTitle    = "\n  log: "
)

// StderrPart returns the end of what a program wrote to stderr as a part of a message.
func StderrPart(lines string) string { return stderrTitle + outputPart(lines) }

// StdoutPart returns what a program wrote to stdout as a part of a message. what says in place of what; it may be empty.
func StdoutPart(what, lines string) string { return stdoutTitle + what + ":" + outputPart(lines) }

func outputPart(lines string) string { return outputLine + strings.ReplaceAll(lines, "\n", outputLine) }

// LogPart returns the path of a log as the last part of a message.
func LogPart(path string) string { return logTitle + path }

// WithoutOutput returns a message without what a program wrote, if it says in which log that is: agents and models read
// the log only when they are asked to.
func WithoutOutput(message string) string {
	if !strings.Contains(message, logTitle) {
		return message
	}
	var kept strings.Builder
	written := false // the lines before are what a program wrote
	for line := range strings.SplitAfterSeq(message, "\n") {
		asPart := "\n" + line
		isTitle := strings.HasPrefix(asPart, stderrTitle) || strings.HasPrefix(asPart, stdoutTitle)
		if written = isTitle || written && strings.HasPrefix(asPart, outputLine); !written {
			kept.WriteString(line)
		}
	}
	return strings.TrimSuffix(kept.String(), "\n")
}
