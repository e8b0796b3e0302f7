package ios

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
)

// noPhoneLog is the reason for which the log of a phone is missing.
const noPhoneLog = "WebDriverAgent does not give the log of a phone; `ios syslog` or the Console of a Mac shows it, and with Appium it is kept"

// ReadLog implements mobile.LogReader. Only a simulator has a log; that an app ended is known of phones, too.
func (d *driver) ReadLog(ctx context.Context, q mobile.LogQuery) (mobile.DeviceLog, error) {
	log := mobile.DeviceLog{Missing: noPhoneLog}
	state := 0
	if q.Running != "" {
		err := d.Session.Read(ctx, "read whether "+q.Running+" runs", func(ctx context.Context) error {
			return d.Post(ctx, "/wda/apps/state", map[string]any{"bundleId": q.Running}, &state)
		})
		if err != nil && !appium.Answered(err) {
			return log, err
		}
	}
	var lines []devicelog.Line
	var names, reports []string
	if d.simulator != nil && (!q.Crashes || state == appium.NotRunning) {
		log.Missing = ""
		reports = d.simulator.reports(q.Since)
		var err error
		if lines, names, err = d.simulator.log(ctx, q); err != nil { // it may take long
			log.Missing = err.Error()
		}
	}
	log.Crashes = appium.IOSCrashes(q, state, lines, names, reports)
	if !q.Crashes {
		log.Lines = devicelog.AboutIOS(lines, q.Apps, names)
	}
	return log, nil
}

// log returns what a simulator has logged of apps, and the names of their processes. The clock of a simulator is that of
// this machine.
func (s *simulator) log(ctx context.Context, q mobile.LogQuery) (lines []devicelog.Line, names []string, err error) {
	var parts []string
	for _, app := range q.Apps {
		parts = append(parts, fmt.Sprintf("eventMessage CONTAINS %q", app))
		folder, err := s.runOn(ctx, "get_app_container", app, "app")
		if err != nil {
			continue // it is not installed
		}
		name := filepath.Base(strings.TrimSpace(folder)) // Shop.app
		names = append(names, strings.TrimSuffix(name, ".app"))
		parts = append(parts, fmt.Sprintf("processImagePath CONTAINS %q", "/"+name+"/"))
	}
	text, err := s.runOn(ctx, "spawn", "log", "show", "--style", "compact", "--info", "--start", q.Since.In(time.Local).Format(time.DateTime),
		"--predicate", strings.Join(parts, " OR "))
	return devicelog.IOS(text), names, err
}

// maxReport is the size of the largest crash report that is read, in bytes.
const maxReport = 8 << 20

// reports returns the crash reports about the simulator since a time, oldest first. macOS writes them a moment after the
// crash.
func (s *simulator) reports(since time.Time) []string {
	folder := filepath.Join(device.Getenv(s.options.env, "HOME"), "Library", "Logs", "DiagnosticReports")
	files, err := filepath.Glob(filepath.Join(folder, "*.ips"))
	if err != nil {
		return nil
	}
	type file struct {
		text string
		at   time.Time
	}
	var found []file
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.Size() > maxReport || info.ModTime().Before(since) {
			continue
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(s.udid)) {
			found = append(found, file{string(data), info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b file) int { return a.at.Compare(b.at) })
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = f.text
	}
	return texts
}

var _ mobile.LogReader = (*driver)(nil)
