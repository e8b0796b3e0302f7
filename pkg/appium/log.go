package appium

import (
	"context"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// maxKept is how many bytes of a log are kept, the last ones.
const maxKept = 16 << 20

// keptLog is what a server has sent of a log. It sends each entry once.
type keptLog struct {
	entries []string // lines, or crash reports
	bytes   int      // of the entries
	denied  string   // why the server does not send it; empty while that is not known
}

// update adds what the server has logged since it was asked before. kind is what Appium calls the log.
func (k *keptLog) update(ctx context.Context, d *driver, kind string) error {
	if k.denied != "" {
		return nil
	}
	var entries []struct{ Message string }
	what := "reading the log " + kind
	err := d.refusal(what, d.Read(ctx, what, func(ctx context.Context) error {
		body := map[string]any{"type": kind}
		err := d.Post(ctx, "/se/log", body, &entries)
		if webdriver.Unknown(err) { // before Appium 2
			err = d.Post(ctx, "/log", body, &entries)
		}
		return err
	}))
	if Answered(err) || isRefused(err) {
		k.denied = err.Error()
		return nil
	}
	for _, e := range entries {
		k.entries = append(k.entries, e.Message)
		k.bytes += len(e.Message)
	}
	for k.bytes > maxKept {
		k.bytes -= len(k.entries[0])
		k.entries = k.entries[1:]
	}
	return err
}

// text returns the lines.
func (k *keptLog) text() string { return strings.Join(k.entries, "\n") }

// ReadLog implements mobile.LogReader. Appium reads the buffers main, system and crash from the start of the session,
// and first what was there before.
func (d *androidDriver) ReadLog(ctx context.Context, q mobile.LogQuery) (mobile.DeviceLog, error) {
	if err := d.log.update(ctx, d.driver, "logcat"); err != nil || d.log.denied != "" {
		return mobile.DeviceLog{Missing: d.log.denied}, err
	}
	var text string
	asked := time.Now()
	err := d.query(ctx, "mobile: getDeviceTime", args{"format": "YYYY-MM-DD HH:mm:ss"}, &text)
	if isRefused(err) || Answered(err) {
		return mobile.DeviceLog{Missing: "the time of the device is not known: " + err.Error()}, nil
	}
	if err != nil {
		return mobile.DeviceLog{}, err
	}
	now, err := time.Parse(time.DateTime, text)
	if err != nil {
		return mobile.DeviceLog{}, fault.New(fault.ProtocolError, "", "mobile: getDeviceTime: not a time: %q", text)
	}
	lines := since(devicelog.Logcat(d.log.text(), now), now.Add(q.Since.Sub(asked)))
	return q.AnswerOfAndroid(lines, nil, asked, now), nil
}

// since returns the lines from a time on.
func since(lines []devicelog.Line, start time.Time) []devicelog.Line {
	for i, l := range lines {
		if !l.Time.Before(start) {
			return lines[i:]
		}
	}
	return nil
}

// ReadLog implements mobile.LogReader. Appium reads the syslog from the start of the session. Crash reports are asked for
// with the lines only, because a phone may take long to send them.
func (d *iosDriver) ReadLog(ctx context.Context, q mobile.LogQuery) (mobile.DeviceLog, error) {
	state := 0
	if q.Running != "" {
		err := d.query(ctx, "mobile: queryAppState", args{"bundleId": q.Running}, &state)
		if err != nil && !isRefused(err) && !Answered(err) {
			return mobile.DeviceLog{}, err
		}
	}
	err := d.log.update(ctx, d.driver, "syslog")
	if err == nil && !q.Crashes {
		err = d.reports.update(ctx, d.driver, "crashlog")
	}
	log := mobile.DeviceLog{Missing: d.log.denied}
	switch {
	case err != nil:
		log.Missing = err.Error()
	case log.Missing == "" && len(d.log.entries) == 0: // the driver goes on without a log that it cannot read
		log.Missing = d.Server + " has sent no lines of the syslog"
	}
	lines := devicelog.IOS(d.log.text())
	log.Crashes = IOSCrashes(q, state, lines, nil, d.reports.entries)
	if !q.Crashes {
		log.Lines = devicelog.AboutIOS(lines, q.Apps, nil)
	}
	return log, nil
}

// NotRunning is the state of an app that does not run, for WebDriverAgent and Appium.
const NotRunning = 1

// IOSCrashes returns the crashes of apps on iOS: those in the log or in crash reports, and that of the app that should run
// and has the state NotRunning, whose time is now. names are those of the processes, as far as they are known.
//
// A log does not say on which clock its lines are, so that those before the last start of the app are told by its state:
// while it runs, every crash was before that.
func IOSCrashes(q mobile.LogQuery, state int, lines []devicelog.Line, names, reports []string) []devicelog.Crash {
	var all []devicelog.Crash
	for _, app := range q.Apps {
		c, known := devicelog.IOSCrash(lines, app, names)
		for _, report := range reports {
			if reported, ok := devicelog.Report(report, app); ok {
				c, known = reported, true
			}
		}
		c.App, c.Time = app, time.Time{}
		ended := app == q.Running && state == NotRunning
		if ended {
			c.Time, c.Ended = time.Now(), !known
		}
		if known || ended {
			all = append(all, c)
		}
	}
	return all
}

var _, _ mobile.LogReader = (*androidDriver)(nil), (*iosDriver)(nil)
