package devicelog

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// block is a report of several lines by one process.
type block struct {
	tag string
	at  []int // indexes of the lines
}

// Tags of reports.
const (
	javaTag   = "AndroidRuntime"
	nativeTag = "DEBUG"
	anrTag    = "ActivityManager"
)

// blockStarts are how the first line of a report begins, by tag.
func blockStarts() map[string]string {
	return map[string]string{javaTag: "FATAL EXCEPTION", nativeTag: "*** *** ***", anrTag: "ANR in "}
}

// blocks returns the reports of crashes in a log.
func blocks(lines []Line) []block {
	type writer struct {
		tag string
		pid int
	}
	var all []*block
	open := map[writer]*block{}
	starts := blockStarts()
	for i, l := range lines {
		start, known := starts[l.Tag]
		if !known {
			continue
		}
		by := writer{l.Tag, l.PID}
		if strings.HasPrefix(l.Message, start) {
			open[by] = &block{tag: l.Tag}
			all = append(all, open[by])
		}
		b := open[by]
		if b != nil && l.Tag == anrTag && !l.Time.Equal(lines[append(b.at, i)[0]].Time) {
			delete(open, by) // the report is one message, and the process has others
			b = nil
		}
		if b != nil {
			b.at = append(b.at, i)
		}
	}
	out := make([]block, len(all))
	for i, b := range all {
		out[i] = *b
	}
	return out
}

// crash returns the crash that a report is about, if that is of one of the apps.
func (b block) crash(lines []Line, apps []string) (Crash, bool) {
	messages := make([]string, len(b.at))
	for i, at := range b.at {
		messages[i] = strings.TrimSpace(lines[at].Message)
	}
	c := Crash{Time: lines[b.at[0]].Time, PID: lines[b.at[0]].PID}
	switch b.tag {
	case javaTag:
		c.App, c.Reason = java(messages, apps)
	case nativeTag:
		c.App, c.PID, c.Reason = native(messages, apps)
	case anrTag:
		c.App, c.PID, c.Reason = anr(messages, apps)
		c.ANR = true
	}
	return c, c.App != ""
}

var (
	javaProcess   = lazyregexp.New(`^Process: ([^,\s]+)`)
	nativeProcess = lazyregexp.New(`^pid: (\d+), tid: .*>>> (\S+).* <<<`)
	nativeSignal  = lazyregexp.New(`^signal \d+ `)
	nativeFrame   = lazyregexp.New(`^#\d+ pc [0-9a-f]+\s+(\S+)(?: \(offset \S+\))?(?: \(((?:[^()]|\([^()]*\))*)\))?`)
	anrProcess    = lazyregexp.New(`^ANR in ([^\s(]+)`)
)

// java reads the report of an exception that nothing has caught. The reason is the last of the exceptions that caused
// each other, with the first line of the app's own code.
func java(messages, apps []string) (app, reason string) {
	from := slices.IndexFunc(messages, javaProcess().MatchString)
	if from < 0 {
		return "", ""
	}
	app = appOf(javaProcess().FindStringSubmatch(messages[from])[1], apps)
	rest := messages[from+1:]
	if app == "" || len(rest) == 0 {
		return app, ""
	}
	cause := 0
	for i, m := range rest {
		if strings.HasPrefix(m, "Caused by: ") {
			cause = i
		}
	}
	reason = shorten(strings.TrimPrefix(rest[cause], "Caused by: "))
	if frame := cmp.Or(javaFrame(rest[cause:], true), javaFrame(rest, true), javaFrame(rest[cause:], false)); frame != "" {
		reason += " " + frame
	}
	return app, reason
}

// javaFrame returns the first frame, or the first one of the app's own code.
func javaFrame(messages []string, own bool) string {
	for _, m := range messages {
		code, isFrame := strings.CutPrefix(m, "at ")
		if isFrame && (!own || !isLibrary(code)) {
			return shorten(m)
		}
	}
	return ""
}

// isLibrary reports whether a frame is of Android, Java or Kotlin.
func isLibrary(code string) bool {
	return slices.ContainsFunc([]string{
		"android.", "androidx.", "com.android.", "com.google.android.", "dalvik.", "java.", "javax.", "jdk.", "kotlin.", "kotlinx.", "libcore.", "sun.",
	}, func(prefix string) bool { return strings.HasPrefix(code, prefix) })
}

// native reads a tombstone: the report of a process that a signal has ended. The reason is the signal, what was said
// about it, and the first frame in the app's own code.
func native(messages, apps []string) (app string, pid int, reason string) {
	var signal, said, frame string
	own := false // frame is in the app's code
	for _, m := range messages {
		if process := nativeProcess().FindStringSubmatch(m); process != nil && app == "" {
			app = appOf(process[2], apps)
			pid, _ = strconv.Atoi(process[1])
		}
		switch f := nativeFrame().FindStringSubmatch(m); {
		case signal == "" && nativeSignal().MatchString(m):
			signal = m
		case said == "" && (strings.HasPrefix(m, "Abort message: ") || strings.HasPrefix(m, "Cause: ")):
			said = "; " + shorten(m)
		case f != nil && (frame == "" || !own && isOwnLibrary(f[1])):
			own = isOwnLibrary(f[1])
			frame = strings.TrimSuffix("; at "+path.Base(f[1])+" ("+shorten(f[2])+")", " ()")
		}
	}
	return app, pid, cmp.Or(signal, "a signal") + said + frame
}

// isOwnLibrary reports whether native code is part of an app, and not of the system.
func isOwnLibrary(file string) bool { return strings.HasPrefix(file, "/data/") }

// anr reads the report of an app that did not respond.
func anr(messages, apps []string) (app string, pid int, reason string) {
	if m := anrProcess().FindStringSubmatch(messages[0]); m != nil {
		app = appOf(m[1], apps)
	}
	for _, m := range messages {
		if number, ok := strings.CutPrefix(m, "PID: "); ok {
			pid, _ = strconv.Atoi(number)
		}
		if said, ok := strings.CutPrefix(m, "Reason: "); ok && reason == "" {
			reason = shorten(said)
		}
	}
	return app, pid, reason
}

func shorten(s string) string { return text.Head(s, maxReason) }
