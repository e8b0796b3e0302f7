package android

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
)

// maxLogcat is how many bytes of the log are read, the last ones. Most lines are of other apps.
const maxLogcat = 16 << 20

// ReadLog implements mobile.LogReader. The phone keeps its log, so that the session needs nothing of it at its start.
func (d *driver) ReadLog(ctx context.Context, q mobile.LogQuery) (mobile.DeviceLog, error) {
	words := []string{"date", "+%Y-%m-%d %H:%M:%S.%N"}
	asked := time.Now()
	out, _, err := runAny(ctx, d.Device, words...)
	if err != nil {
		return mobile.DeviceLog{}, d.wrap(err)
	}
	answered := time.Now()
	now, ok := parseClock(out)
	if !ok {
		return mobile.DeviceLog{Missing: "the time of " + d.Serial() + " cannot be read: " + outputText(out)}, nil
	}
	// The phone has read its clock before it answered: rather some lines too many than the first ones too few.
	output, err := d.Device.Shell(ctx, logcatLine(q, now.Add(q.Since.Sub(answered))))
	if err != nil {
		return mobile.DeviceLog{}, d.wrap(err)
	}
	pids, text := cutPIDs(string(output.Stdout))
	if !strings.Contains(text, "\n") && len(output.Stderr) > 0 {
		return mobile.DeviceLog{}, fault.New(fault.ToolFailed, "", "logcat on %s: %s", d.Serial(), outputText(string(output.Stderr)))
	}
	return q.AnswerOfAndroid(devicelog.Logcat(text, now), pids, asked, now), nil
}

// logcatLine returns a command line that writes the processes of the apps that run, and then the log since a time. The
// time has no year, which phones before Android 7 do not know.
func logcatLine(q mobile.LogQuery, since time.Time) string {
	words := []string{"logcat", "-d", "-v", "threadtime", "-T", since.Format("01-02 15:04:05.000")}
	for _, buffer := range []string{"main", "system", "crash", "events"} {
		words = append(words, "-b", buffer)
	}
	if q.Crashes {
		words = append(words, "AndroidRuntime:E", "DEBUG:F", "ActivityManager:E", "am_crash:I", "am_anr:I", "*:S")
	}
	return fmt.Sprintf("%s; %s | tail -c %d", adb.Quote(append([]string{"pidof"}, q.Apps...)...), adb.Quote(words...), maxLogcat)
}

// cutPIDs returns the processes that pidof has written, and what follows.
func cutPIDs(out string) (pids []int, rest string) {
	first, rest, _ := strings.Cut(out, "\n")
	for word := range strings.FieldsSeq(first) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, out // pidof writes nothing without a process
		}
		pids = append(pids, pid)
	}
	return pids, rest
}

var clock = lazyregexp.New(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?`)

// parseClock parses the time of a phone, as if its time zone were UTC. Before Android 9, date knows no parts of a second:
// a crash in the second before the app was started again then counts as one after it, which is said first.
func parseClock(out string) (time.Time, bool) {
	now, err := time.Parse("2006-01-02 15:04:05", clock().FindString(strings.TrimSpace(out)))
	return now, err == nil
}

var _ mobile.LogReader = (*driver)(nil)
