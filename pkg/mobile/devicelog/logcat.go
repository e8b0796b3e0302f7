package devicelog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// logcatLine is a line of `logcat -v threadtime`: month, day, time, process, thread, priority, tag and message. Options
// of logcat add a year and a time zone.
var logcatLine = lazyregexp.New(
	`^(?:\d{4}-)?(\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})\d*\s+(?:[+-]\d{4}\s+)?(?:\S+\s+)?(\d+)\s+\d+\s+[VDIWEFS]\s(.*?)\s*:(?: (.*))?$`)

// Logcat reads what `logcat -v threadtime` wrote. now is on the clock of the phone, and says which year it is.
func Logcat(log string, now time.Time) []Line {
	var lines []Line
	for text := range strings.Lines(log) {
		text = strings.TrimRight(text, "\r\n")
		m := logcatLine().FindStringSubmatch(text)
		if m == nil {
			continue // such as: beginning of main
		}
		l := Line{Text: text, Tag: m[3], Message: m[4], Time: inYearOf(m[1], now)}
		l.PID, _ = strconv.Atoi(m[2])
		lines = append(lines, l)
	}
	return lines
}

// inYearOf returns a time without a year: the last one that is not in the future. A line may be a little newer than now.
func inYearOf(monthToSecond string, now time.Time) time.Time {
	const leap = 8 // years between two 29th of February at most
	for year := now.Year(); year > now.Year()-leap; year-- {
		t, err := time.Parse("2006-01-02 15:04:05.000", strconv.Itoa(year)+"-"+monthToSecond)
		if err == nil && !t.After(now.AddDate(0, 0, 1)) {
			return t
		}
	}
	return time.Time{}
}

// About returns the lines of the processes of apps, and those about them. pids are processes that run already.
func About(lines []Line, apps []string, pids []int) []Line {
	own := map[int]bool{}
	for _, pid := range pids {
		own[pid] = true
	}
	kept := map[int]bool{}
	for _, b := range blocks(lines) {
		if c, ok := b.crash(lines, apps); ok {
			own[c.PID] = !c.ANR || own[c.PID]
			for _, i := range b.at {
				kept[i] = true
			}
		}
	}
	var about []Line
	for i, l := range lines {
		if pid := started(l, apps); pid != 0 {
			own[pid] = true
		}
		if kept[i] || own[l.PID] || mentions(l.Message, apps) {
			about = append(about, l)
		}
	}
	return about
}

var startedProcess = lazyregexp.New(`^Start proc (\d+):([^/\s]+)`)

// started returns the process of an app that a line says has started; 0 for any other line.
func started(l Line, apps []string) int {
	pid, process := "", ""
	switch l.Tag {
	case "am_proc_start":
		if f := fields(l.Message, 5); f != nil { // user, process, uid, name
			pid, process = f[1], f[3]
		}
	case "ActivityManager":
		if m := startedProcess().FindStringSubmatch(l.Message); m != nil {
			pid, process = m[1], m[2]
		}
	}
	if appOf(process, apps) == "" {
		return 0
	}
	number, _ := strconv.Atoi(pid)
	return number
}

// fields returns the first n fields of an event, the last one with all that follow; nil if it has fewer.
func fields(message string, n int) []string {
	list, ok := strings.CutPrefix(message, "[")
	f := strings.SplitN(strings.TrimSuffix(list, "]"), ",", n)
	if !ok || len(f) < n {
		return nil
	}
	return f
}

// Crashes returns the crashes of apps, oldest first, each once.
func Crashes(lines []Line, apps []string) []Crash {
	var all []Crash
	add := func(c Crash) {
		same := func(known Crash) bool { return known.PID == c.PID && known.ANR == c.ANR }
		if !slices.ContainsFunc(all, same) {
			all = append(all, c)
		}
	}
	for _, b := range blocks(lines) { // they say more than events do
		if c, ok := b.crash(lines, apps); ok {
			add(c)
		}
	}
	for _, l := range lines {
		if c, ok := crashEvent(l, apps); ok {
			add(c)
		}
	}
	slices.SortStableFunc(all, func(a, b Crash) int { return a.Time.Compare(b.Time) })
	return all
}

// crashEvent returns what a line of the buffer of events says about a crash.
func crashEvent(l Line, apps []string) (Crash, bool) {
	c := Crash{Time: l.Time, ANR: l.Tag == "am_anr"}
	switch l.Tag {
	case "am_anr": // user, process, package, flags, reason
		f := fields(l.Message, 5)
		if f == nil {
			return c, false
		}
		c.App, c.Reason = appOf(f[2], apps), shorten(f[4])
		c.PID, _ = strconv.Atoi(f[1])
	case "am_crash": // user and process, in either order; name, flags, exception; message, file, line, if it recovers
		f := fields(l.Message, 6)
		if f == nil {
			return c, false
		}
		first, _ := strconv.Atoi(f[0])
		second, _ := strconv.Atoi(f[1])
		c.App, c.PID, c.Reason = appOf(f[2], apps), max(first, second), f[4]
		message, at := f[5], ""
		if m := fileAndLine().FindStringSubmatch(message); m != nil {
			message, at = m[1], " at "+m[2]+":"+m[3]
		}
		if message != "" && message != "NULL" {
			c.Reason += ": " + message
		}
		c.Reason = shorten(c.Reason) + at
	}
	return c, c.App != ""
}

var fileAndLine = lazyregexp.New(`^(.*?),([^,]+),(\d+)(?:,[01])?$`)
