package mobile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// LogReader is a Driver that can read what the device has logged.
type LogReader interface {
	// ReadLog returns what the device has logged of apps. Nothing of it is lost for a later call.
	ReadLog(ctx context.Context, q LogQuery) (DeviceLog, error)
}

// LogQuery says which lines of the log are meant.
type LogQuery struct {
	Apps []string
	// Since is when the first line was written, on the clock of this machine.
	Since time.Time
	// Running is the app that should run: the trail has started it and not ended it. Empty for none.
	Running string
	// Crashes asks for the crashes only, which takes less time.
	Crashes bool
}

// DeviceLog is what a device has logged of apps.
type DeviceLog struct {
	Lines   []devicelog.Line  // oldest first; those of the apps and those about them
	Missing string            // the reason for which lines are missing; empty if they were read
	Crashes []devicelog.Crash // oldest first. Their times are on the clock of this machine.
}

// AnswerOfAndroid returns what lines of Android have for a query. pids are processes of the apps that are known without
// the lines. When the clock of the lines was asked, it said now.
func (q LogQuery) AnswerOfAndroid(lines []devicelog.Line, pids []int, asked, now time.Time) DeviceLog {
	log := DeviceLog{Crashes: devicelog.Crashes(lines, q.Apps)}
	for i, c := range log.Crashes {
		log.Crashes[i].Time = asked.Add(c.Time.Sub(now))
	}
	if !q.Crashes {
		log.Lines = devicelog.About(lines, q.Apps, pids)
	}
	return log
}

// maxLog is the size in bytes of the longest log that is kept.
const maxLog = 4 << 20

// crashes are what a session knows of the crashes of its apps.
type crashes struct {
	mu      sync.Mutex
	apps    []string  // that calls have started
	running string    // what should run; empty for no app
	started time.Time // when that was started
	starts  int       // number of starts
	noted   map[string]bool
}

// willStart notes that an app is about to be started.
func (c *crashes) willStart(app string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.started = "", time.Now()
	c.starts++
	if !slices.Contains(c.apps, app) {
		c.apps = append(c.apps, app)
	}
}

// hasStarted notes that an app was started.
func (c *crashes) hasStarted(app string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = app
}

// mayEnd notes that an app is about to be ended.
func (c *crashes) mayEnd(app string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == app {
		c.running = ""
	}
}

// shouldRun reports whether the trail has started an app and not ended it.
func (c *crashes) shouldRun(app string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running == app
}

// isNew reports whether a crash was not known, and notes it. A device may not say which process it was; then an app
// crashes once after each start.
func (c *crashes) isNew(crash devicelog.Crash) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	process := fmt.Sprint(crash.App, crash.ANR, crash.PID)
	start := fmt.Sprint(crash.App, crash.ANR, " after start ", c.starts)
	known := c.noted[process] || c.noted[start] && !crash.Time.Before(c.started)
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	if crash.PID != 0 {
		c.noted[process] = true
	} else {
		c.noted[start] = true
	}
	return !known
}

// query returns what is asked for: the apps of a session.
func (c *crashes) query(s device.Session, since time.Time) LogQuery {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := LogQuery{Apps: slices.Clone(c.apps), Since: since, Running: c.running}
	for _, app := range append(slices.Clip(s.AppIDs), s.AppID) {
		if app != "" && !slices.Contains(q.Apps, app) {
			q.Apps = append(q.Apps, app)
		}
	}
	return q
}

// wasStartedAgain reports whether an app was started after a crash.
func (c *crashes) wasStartedAgain(crash devicelog.Crash) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return crash.Time.Before(c.started)
}

// readLog reads what the device has logged since it was connected, and notes crashes that were not known. Without apps
// nothing is read. It is not an error if the device has no log.
func (d *phone) readLog(ctx context.Context, driver *serial, onlyCrashes bool) (DeviceLog, error) {
	q := d.crashes.query(d.session, driver.connected)
	q.Crashes = onlyCrashes
	if len(q.Apps) == 0 {
		return DeviceLog{Missing: "it is not known which app is under test"}, nil
	}
	log, err := driver.ReadLog(ctx, q)
	for _, crash := range log.Crashes {
		if d.crashes.isNew(crash) && d.session.Noted != nil {
			d.session.Noted(map[bool]string{true: "anr", false: "crash"}[crash.ANR], crash.String())
		}
	}
	return log, err
}

// noteCrash notes a crash of an app that the trail has started, that is not in front any more, and that it is about to
// start again.
func (d *phone) noteCrash(ctx context.Context, app string) {
	if !d.crashes.shouldRun(app) {
		return
	}
	if last, ok := d.lastCrash(ctx); ok && last.App == app && !d.crashes.wasStartedAgain(last) {
		d.notes = append(d.notes, last.String()+"; it was started again")
	}
}

// lastCrash returns the last crash in the log. ok is false without one, and if that is not known soon.
func (d *phone) lastCrash(ctx context.Context) (c devicelog.Crash, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.Response)
	defer cancel()
	log, err := d.readLog(ctx, d.driver, true)
	if err != nil || len(log.Crashes) == 0 {
		return c, false // that the log cannot be read is part of the evidence
	}
	return log.Crashes[len(log.Crashes)-1], true
}

// explainCrash returns the result of a call that failed with a crash of the app: first, because it is the reason, or
// last if the app was started again since.
func (d *phone) explainCrash(ctx context.Context, r tool.Result) tool.Result {
	if r.Kind == fault.InvalidArguments || d.driver == nil {
		return r
	}
	last, ok := d.lastCrash(ctx)
	switch {
	case !ok:
	case d.crashes.wasStartedAgain(last):
		r.Text += "\nearlier in the session " + last.String() + "; it was started again"
	default:
		r.Text = last.String() + "\n" + r.Text
	}
	return r
}
