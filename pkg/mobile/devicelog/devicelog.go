// Package devicelog reads what phones log: the lines of apps, and their crashes. It does not depend on devices.
package devicelog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/text"
)

// Line is a line of a log.
type Line struct {
	Text    string    // as the device wrote it
	Time    time.Time // on the clock of the device, as if its time zone were UTC; zero if it is not known
	PID     int       // of the process that wrote it
	Tag     string    // of logcat; the name of the process on iOS
	Message string
}

// Crash is the end of an app by an error, or that it stopped responding.
type Crash struct {
	App    string
	PID    int    // of its process; 0 if it is not known
	ANR    bool   // it did not respond ("application not responding"); it may run on
	Ended  bool   // nothing is known but that it does not run any more
	Reason string // in one line; empty if the log does not say
	Time   time.Time
}

// String says what happened.
func (c Crash) String() string {
	what := "the app " + c.App + " crashed"
	switch {
	case c.ANR:
		what = "the app " + c.App + " did not respond (ANR)"
	case c.Ended:
		what = "the app " + c.App + " does not run any more: it crashed, or the system ended it"
	}
	if c.Reason == "" {
		return what
	}
	return what + ": " + c.Reason
}

// maxReason is the length of the longest text of an exception or a frame in a reason, in characters.
const maxReason = 300

// Text returns the last lines, at most maxBytes of them and a line that says how many others there were.
func Text(lines []Line, maxBytes int) string {
	first, size := len(lines), 0
	for first > 0 && size+len(lines[first-1].Text)+1 <= maxBytes {
		first--
		size += len(lines[first].Text) + 1
	}
	var b strings.Builder
	if first > 0 {
		fmt.Fprintf(&b, "(%s before)\n", text.Count(first, "line"))
	}
	for _, l := range lines[first:] {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// appOf returns the app that a process belongs to; empty for a process of no app in the list. An app may have processes
// of other names: com.example.shop:sync.
func appOf(process string, apps []string) string {
	i := slices.IndexFunc(apps, func(app string) bool { return process == app || strings.HasPrefix(process, app+":") })
	if i < 0 {
		return ""
	}
	return apps[i]
}

// mentions reports whether a text has the id of one of the apps, as a word.
func mentions(s string, apps []string) bool {
	return slices.ContainsFunc(apps, func(app string) bool {
		for rest := s; app != ""; {
			_, after, found := strings.Cut(rest, app)
			if !found {
				return false
			}
			if before := rest[:len(rest)-len(after)-len(app)]; !endsInName(before) && !beginsInName(after) {
				return true
			}
			rest = after
		}
		return false
	})
}

// endsInName and beginsInName report whether the end or the begin of a text would be part of a longer id.
func endsInName(s string) bool { return s != "" && (isNameByte(s[len(s)-1]) || s[len(s)-1] == '.') }

func beginsInName(s string) bool {
	return s != "" && (isNameByte(s[0]) || len(s) > 1 && s[0] == '.' && isNameByte(s[1]) && s[1] >= 'a')
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
