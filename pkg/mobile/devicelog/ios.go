package devicelog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// iosLine has the process of a line of iOS: "2026-03-01 12:00:00.123 E  Shop[4321:1a2b] message" as `log show --style
// compact` writes it, "Mar  1 12:00:00 iPhone Shop(CoreFoundation)[4321] <Error>: message" as phones send it.
var iosLine = lazyregexp.New(`^(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})\d* \S+|\w{3} +\d+ \d\d:\d\d:\d\d(?: \S+)??)\s+` +
	`([^\[\]()]+?)(?:\([^)]*\))?\[(\d+)(?::[0-9a-fA-F]+)?\](?: <\w+>:)? (.*)$`)

// IOS reads what a phone or a simulator with iOS logged. A line without the begin of one belongs to the line before.
func IOS(log string) []Line {
	var lines []Line
	for text := range strings.Lines(log) {
		text = strings.TrimRight(text, "\r\n")
		m := iosLine().FindStringSubmatch(text)
		switch {
		case m != nil:
			l := Line{Text: text, Tag: m[2], Message: m[4]}
			l.PID, _ = strconv.Atoi(m[3])
			l.Time, _ = time.Parse("2006-01-02 15:04:05.000", m[1]) // others have no year
			lines = append(lines, l)
		case len(lines) > 0:
			lines[len(lines)-1].Text += "\n" + text
			lines[len(lines)-1].Message += "\n" + text
		}
	}
	return lines
}

// AboutIOS returns the lines of the processes of apps, and those about them. names are those of the processes, as far as
// they are known: iOS logs them, not the ids of apps. Others are known by what the system logs about the apps.
func AboutIOS(lines []Line, apps, names []string) []Line {
	own := iosProcesses(lines, apps, names)
	var about []Line
	for _, l := range lines {
		if own[l.PID] || mentions(l.Message, apps) {
			about = append(about, l)
		}
	}
	return about
}

// iosProcess is how SpringBoard and runningboardd name the process of an app: app<com.example.shop((null))>:4321.
var iosProcess = lazyregexp.New(`app(?:lication)?<([\w.-]+)[^>]*>:(\d+)`)

// iosProcesses returns the processes of apps.
func iosProcesses(lines []Line, apps, names []string) map[int]bool {
	own := map[int]bool{}
	for _, l := range lines {
		if slices.Contains(names, l.Tag) {
			own[l.PID] = true
		}
		for _, m := range iosProcess().FindAllStringSubmatch(l.Message, -1) {
			if pid, err := strconv.Atoi(m[2]); err == nil && slices.Contains(apps, m[1]) {
				own[pid] = true
			}
		}
	}
	return own
}

var (
	iosException = lazyregexp.New(`\*\*\* Terminating app due to uncaught exception '([^']+)', reason: '((?s:.*?))'(?:\s|$)`)
	swiftError   = lazyregexp.New(`(?:(\S+\.swift:\d+): )?(?:Fatal error|Assertion failed|Precondition failed)(?:: (.*))?$`)
)

// IOSCrash returns the last crash of an app. ok is false if the log has none. Its time is zero when the line has none.
func IOSCrash(lines []Line, app string, names []string) (c Crash, ok bool) {
	own := iosProcesses(lines, []string{app}, names)
	for _, l := range slices.Backward(lines) {
		if !own[l.PID] {
			continue
		}
		if reason := iosReason(l.Message); reason != "" {
			return Crash{App: app, PID: l.PID, Reason: reason, Time: l.Time}, true
		}
	}
	return Crash{}, false
}

// iosReason returns why a process ended; empty for a line that does not say so.
func iosReason(message string) string {
	if m := iosException().FindStringSubmatch(message + " "); m != nil {
		return shorten(m[1] + ": " + strings.Join(strings.Fields(m[2]), " "))
	}
	first, _, _ := strings.Cut(message, "\n")
	if m := swiftError().FindStringSubmatch(first); m != nil {
		reason := first[strings.Index(first, m[0]):]
		if m[1] != "" {
			reason = strings.TrimPrefix(reason, m[1]+": ") + " at " + m[1]
		}
		return shorten(reason)
	}
	return ""
}
