package appium_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
)

const shop = "com.example.shop"

// entries is a log as Appium sends it.
func entries(lines ...string) reply {
	parts := make([]string, len(lines))
	for i, line := range lines {
		parts[i] = fmt.Sprintf(`{"timestamp": 1, "level": "ALL", "message": %q}`, line)
	}
	return value("[" + strings.Join(parts, ", ") + "]")
}

func readLog(t *testing.T, d mobile.Driver, q mobile.LogQuery) mobile.DeviceLog {
	t.Helper()
	q.Apps = []string{shop}
	log, err := d.(mobile.LogReader).ReadLog(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func texts(log mobile.DeviceLog) string { return devicelog.Text(log.Lines, 1<<20) }

// Appium sends each line once, and first those from before the session.
func TestLogcatOfAppium(t *testing.T) {
	t.Parallel()
	const crash = "03-01 12:00:%02d.000  4321  4321 E AndroidRuntime: "
	report := func(second int) []string {
		start := fmt.Sprintf(crash, second)
		return []string{start + "FATAL EXCEPTION: main", start + "Process: com.example.shop, PID: 4321", start + "java.lang.Error: why"}
	}
	s := startServer(t, map[string]reply{
		"POST /se/log":          entries(report(1)...),
		"mobile: getDeviceTime": value(`"2026-03-01 12:01:00"`),
	})
	d := s.open(mobile.Android)
	since := time.Now().Add(-30 * time.Second) // 12:00:30 on the device
	if log := readLog(t, d, mobile.LogQuery{Since: since, Crashes: true}); len(log.Crashes) != 0 || log.Missing != "" {
		t.Errorf("before the session: %+v", log)
	}
	s.set("POST /se/log", entries(report(40)...))
	log := readLog(t, d, mobile.LogQuery{Since: since, Crashes: true})
	if len(log.Crashes) != 1 || log.Crashes[0].Reason != "java.lang.Error: why" || time.Since(log.Crashes[0].Time).Round(time.Second) != 20*time.Second {
		t.Errorf("%+v", log)
	}
	s.set("POST /se/log", value("[]"))
	if log := readLog(t, d, mobile.LogQuery{Since: since}); len(log.Crashes) != 1 || strings.Count(texts(log), "\n") != 3 {
		t.Errorf("%+v", log)
	}
	want := []string{`POST /se/log {"type":"logcat"}`, `mobile: getDeviceTime {"format":"YYYY-MM-DD HH:mm:ss"}`}
	if diff := cmp.Diff(append(append(want, want...), want...), s.take()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A cloud may refuse its log. It is asked once.
func TestLogThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]reply{
		"unknown": failure(http.StatusNotFound, "unknown command", "The requested resource could not be found"),
		"refused": failure(http.StatusForbidden, "unknown error", "logs are not available in your plan"),
		"fails":   failure(http.StatusInternalServerError, "unknown error", "Can't get logcat logs since logcat hasn't started"),
	} {
		for _, platform := range []mobile.Platform{mobile.Android, mobile.IOS} {
			s := startServer(t, map[string]reply{"POST /se/log": r})
			d := s.open(platform)
			for range 2 {
				if log := readLog(t, d, mobile.LogQuery{Since: time.Now()}); log.Missing == "" || len(log.Lines) > 0 {
					t.Errorf("%s on %s: %+v", name, platform, log)
				}
			}
			asked := strings.Count(strings.Join(s.take(), "\n"), "/log")
			want := map[bool]int{true: 2, false: 1}[name == "unknown"]
			if platform == mobile.IOS {
				want *= 2 // crash reports are a log of their own
			}
			if asked != want {
				t.Errorf("%s on %s: asked %d times", name, platform, asked)
			}
		}
	}
}

func TestSyslogOfAppium(t *testing.T) {
	t.Parallel()
	s := startServer(t, map[string]reply{
		"POST /se/log": entries(
			"Mar  1 12:00:00 iPhone runningboardd(RunningBoard)[60] <Notice>: [app<com.example.shop((null))>:4321] Setting jetsam",
			"Mar  1 12:00:01 iPhone Shop(CoreFoundation)[4321] <Error>: *** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3 beyond bounds'",
			"Mar  1 12:00:01 iPhone SpringBoard[61] <Notice>: other"),
		"mobile: queryAppState": value("1"),
	})
	d := s.open(mobile.IOS)
	log := readLog(t, d, mobile.LogQuery{Since: time.Now(), Running: shop, Crashes: true})
	if len(log.Crashes) != 1 || log.Crashes[0].PID != 4321 || len(log.Lines) > 0 {
		t.Errorf("%+v", log)
	}
	s.set("POST /se/log", entries(`{"bundleID":"com.example.shop"}`+"\n"+`{"pid":4321,"exception":{"type":"EXC_CRASH","signal":"SIGABRT"}}`))
	if log = readLog(t, d, mobile.LogQuery{Since: time.Now(), Running: shop}); log.Crashes[0].Reason != "EXC_CRASH (SIGABRT)" {
		t.Errorf("%+v", log)
	}
	if asked := s.take(); len(asked) != 5 || asked[4] != `POST /se/log {"type":"crashlog"}` {
		t.Errorf("asked %q", asked)
	}
}

func TestSyslogWithoutReports(t *testing.T) {
	t.Parallel()
	s := startServer(t, map[string]reply{
		"POST /se/log": entries(
			"Mar  1 12:00:00 iPhone runningboardd(RunningBoard)[60] <Notice>: [app<com.example.shop((null))>:4321] Setting jetsam",
			"Mar  1 12:00:01 iPhone Shop(CoreFoundation)[4321] <Error>: *** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 3 beyond bounds'",
			"Mar  1 12:00:01 iPhone SpringBoard[61] <Notice>: other"),
		"mobile: queryAppState": value("1"),
	})
	d := s.open(mobile.IOS)
	log := readLog(t, d, mobile.LogQuery{Since: time.Now(), Running: shop})
	const crash = "the app com.example.shop crashed: NSRangeException: index 3 beyond bounds"
	if len(log.Crashes) != 1 || log.Crashes[0].String() != crash || time.Since(log.Crashes[0].Time) > time.Minute || strings.Count(texts(log), "\n") != 2 {
		t.Errorf("%+v", log)
	}
	s.set("mobile: queryAppState", value("4"))
	s.set("POST /se/log", value("[]"))
	log = readLog(t, d, mobile.LogQuery{Since: time.Now(), Running: shop, Crashes: true})
	if len(log.Crashes) != 1 || !log.Crashes[0].Time.IsZero() {
		t.Errorf("an app that was started again: %+v", log)
	}
}
