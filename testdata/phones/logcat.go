package phones

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// clockAhead is how far the clock of a simulated phone is ahead of that of the machine: that of a real one differs, too.
const clockAhead = 3*time.Hour + 7*time.Minute

// Now returns the time on the clock of the phone, as if its time zone were UTC.
func (p *Android) Now() time.Time { return time.Now().UTC().Add(clockAhead) }

// androidLog is the log of a phone, and the processes of its apps.
type androidLog struct {
	mu      sync.Mutex
	now     func() time.Time
	lines   []logLine
	added   chan struct{} // is closed when a line is added
	pids    map[string]int
	lastPID int
}

// logLine is a message of one line.
type logLine struct {
	buffer   string
	time     time.Time
	pid      int
	priority byte
	tag, msg string
}

// The buffers of the log.
const (
	mainBuffer   = "main"
	systemBuffer = "system"
	crashBuffer  = "crash"
	eventsBuffer = "events"
)

// firstPID and systemPID are processes.
const (
	systemPID = 1200
	firstPID  = 4200
)

func newAndroidLog(now func() time.Time) *androidLog {
	l := &androidLog{now: now, added: make(chan struct{}), pids: map[string]int{}, lastPID: firstPID}
	l.add(systemBuffer, systemPID, 'I', "SystemServer", "this phone is simulated")
	return l
}

// add adds a message, which may have several lines.
func (l *androidLog) add(buffer string, pid int, priority byte, tag, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.now()
	for line := range strings.SplitSeq(message, "\n") {
		l.lines = append(l.lines, logLine{buffer, at, pid, priority, tag, line})
	}
	close(l.added)
	l.added = make(chan struct{})
}

// pid returns the process of an app; 0 if it does not run.
func (l *androidLog) pid(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pids[name]
}

// Log adds a message of an app to the log of the phone.
func (p *Android) Log(name, tag, message string) {
	p.log.add(mainBuffer, p.log.pid(name), 'I', tag, message)
}

// AgeLog makes all messages of the log older.
func (p *Android) AgeLog(by time.Duration) {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	p.log.lines = slices.Clone(p.log.lines) // a logcat may be reading them
	for i := range p.log.lines {
		p.log.lines[i].time = p.log.lines[i].time.Add(-by)
	}
}

// processChanged logs what happens to the process of an app, as Android does.
func (l *androidLog) processChanged(name string, change app.ProcessChange) {
	l.mu.Lock()
	if change == app.ProcessStarted {
		l.lastPID += 7
		l.pids[name] = l.lastPID
	}
	pid := l.pids[name]
	if change != app.ProcessStarted && change != app.ProcessHung {
		delete(l.pids, name)
	}
	l.mu.Unlock()
	activity := name + "/" + activities()[name]
	switch change {
	case app.ProcessStarted:
		l.add(eventsBuffer, systemPID, 'I', "am_proc_start", fmt.Sprintf("[0,%d,10123,%s,next-top-activity,{%s}]", pid, name, activity))
		l.add(systemBuffer, systemPID, 'I', "ActivityManager", fmt.Sprintf("Start proc %d:%s/u0a123 for next-top-activity {%s}", pid, name, activity))
		l.add(mainBuffer, pid, 'D', "Shop", "onCreate")
	case app.ProcessCrashed:
		l.crashed(name, pid)
	case app.ProcessHung:
		const reason = "Input dispatching timed out (4d5e6f %s (server) is not responding. Waited 5001ms for MotionEvent)"
		why := fmt.Sprintf(reason, activity)
		l.add(eventsBuffer, systemPID, 'I', "am_anr", fmt.Sprintf("[0,%d,%s,948452932,%s]", pid, name, why))
		l.add(systemBuffer, systemPID, 'E', "ActivityManager", fmt.Sprintf("ANR in %s (%s)\nPID: %d\nReason: %s\nLoad: 0.1 / 0.2 / 0.3", name, activity, pid, why))
	case app.ProcessEnded:
		l.add(eventsBuffer, systemPID, 'I', "am_kill", fmt.Sprintf("[0,%d,%s,0,stop %s]", pid, name, name))
	}
}

// crashed logs an exception in the code of an app.
func (l *androidLog) crashed(name string, pid int) {
	l.add(crashBuffer, pid, 'E', "AndroidRuntime", fmt.Sprintf("FATAL EXCEPTION: main\nProcess: %s, PID: %d\n"+
		"java.lang.NullPointerException: Attempt to invoke virtual method 'int java.lang.String.length()' on a null object reference\n"+
		"\tat com.example.shop.Orders.open(Orders.kt:12)\n\tat android.view.View.performClick(View.java:7506)\n"+
		"\tat android.os.Handler.dispatchMessage(Handler.java:99)", name, pid))
	l.add(eventsBuffer, systemPID, 'I', "am_crash", fmt.Sprintf(
		"[%d,0,%s,948452932,java.lang.NullPointerException,Attempt to invoke virtual method,Orders.kt,12]", pid, name))
	l.add(mainBuffer, pid, 'I', "Process", fmt.Sprintf("Sending signal. PID: %d SIG: 9", pid))
	l.add(eventsBuffer, systemPID, 'I', "am_proc_died", fmt.Sprintf("[0,%d,%s,0,2]", pid, name))
}

// logcatRequest is what logcat was asked for.
type logcatRequest struct {
	buffers []string
	since   time.Time
	tags    map[string]byte // with their lowest priority; empty for all
	ends    bool
}

func readLogcat(args []string, now time.Time) (r logcatRequest, problem string) {
	r.tags = map[string]byte{}
	for i := 0; i < len(args); i++ {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch a := args[i]; a {
		case "-d":
			r.ends = true
		case "-b":
			r.buffers = append(r.buffers, strings.Split(next, ",")...)
			i++
		case "-v":
			if next != "threadtime" {
				return r, "the simulation knows the format threadtime only"
			}
			i++
		case "-T":
			t, err := time.Parse("2006-01-02 15:04:05.000", strconv.Itoa(now.Year())+"-"+next)
			if err != nil {
				return r, "logcat: -T '" + next + "' not in time format"
			}
			r.since = t
			i++
		default:
			tag, priority, ok := strings.Cut(a, ":")
			if !ok || len(priority) != 1 {
				return r, "logcat: Invalid filter expression '" + a + "'"
			}
			r.tags[tag] = priority[0]
		}
	}
	if r.buffers == nil {
		r.buffers = []string{mainBuffer, systemBuffer, crashBuffer}
	}
	return r, ""
}

// priorities of lines, the lowest first.
const priorities = "VDIWEFS"

func (r logcatRequest) has(l logLine) bool {
	lowest, known := r.tags[l.tag]
	if !known {
		if lowest, known = r.tags["*"]; !known {
			lowest = 'V'
		}
	}
	return slices.Contains(r.buffers, l.buffer) && !l.time.Before(r.since) &&
		strings.IndexByte(priorities, l.priority) >= strings.IndexByte(priorities, lowest)
}

// logcat writes the log. Without -d it waits for more, until it is ended.
func logcat(c *call) int {
	if c.phone.options.NoLog {
		c.errorf("Unable to open log device '/dev/log/main': No such file or directory\n")
		return 1
	}
	log := c.phone.log
	if c.has("-c") {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.lines = nil
		return 0
	}
	r, problem := readLogcat(c.args[1:], c.phone.Now())
	if problem != "" {
		c.errorf("%s\n", problem)
		return 1
	}
	begun := map[string]bool{}
	for written := 0; ; {
		log.mu.Lock()
		lines, added := log.lines[min(written, len(log.lines)):], log.added
		written = len(log.lines)
		log.mu.Unlock()
		for _, l := range lines {
			if !r.has(l) {
				continue
			}
			if !begun[l.buffer] {
				begun[l.buffer] = true
				c.printf("--------- beginning of %s\n", l.buffer)
			}
			c.printf("%s %5d %5d %c %-8s: %s\n", l.time.Format("01-02 15:04:05.000"), l.pid, l.pid, l.priority, l.tag, l.msg)
		}
		if r.ends {
			return 0
		}
		select {
		case <-added:
		case <-c.ctx.Done():
			return 0
		}
	}
}

// firstNanoseconds is the first API level whose date knows %N. Earlier ones write the letter.
const firstNanoseconds = 28

// date writes the time of the phone in a format of strftime.
func date(c *call) int {
	now := c.phone.Now()
	fraction := "N"
	if c.phone.options.Level >= firstNanoseconds {
		fraction = fmt.Sprintf("%09d", now.Nanosecond())
	}
	format, ok := strings.CutPrefix(c.last(), "+")
	if !ok {
		format = "%a %b %d %T UTC %Y"
	}
	c.printf("%s\n", strings.NewReplacer(
		"%Y", now.Format("2006"), "%m", now.Format("01"), "%d", now.Format("02"), "%H", now.Format("15"), "%M", now.Format("04"),
		"%S", now.Format("05"), "%T", now.Format("15:04:05"), "%z", "+0000", "%s", strconv.FormatInt(now.Unix(), 10), "%N", fraction,
		"%a", now.Format("Mon"), "%b", now.Format("Jan"),
	).Replace(format))
	return 0
}

// tail writes the last bytes of its standard input.
func tail(c *call) int {
	data, err := io.ReadAll(c.stdin)
	n, numberErr := strconv.Atoi(c.after("-c"))
	if err != nil || numberErr != nil {
		c.unknown()
		return 1
	}
	c.printf("%s", data[max(0, len(data)-n):])
	return 0
}
