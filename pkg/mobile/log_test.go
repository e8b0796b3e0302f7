package mobile

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

const orders = "com.example.orders"

// shown returns a screen with a text.
func shown() func(*fake, time.Duration) []*screen.Node {
	return always(node("TextView", "Orders", rect(0, 0, 100, 100)))
}

// evidence returns the text of a file of the evidence.
func (p *phoneTest) evidence(name string) string {
	for _, a := range p.device.Evidence(p.Context()) {
		if a.Name == name {
			return string(a.Data)
		}
	}
	return ""
}

// What is asked of the log, and what a call says of a crash: first if it was after the last start of the app.
func TestCrashesInResults(t *testing.T) {
	t.Parallel()
	var asked []LogQuery
	var noted []string
	crash := devicelog.Crash{App: orders, PID: 7, Reason: "why"}
	f := &fake{nodes: shown()}
	f.readLog = func(_ context.Context, q LogQuery) (DeviceLog, error) {
		asked = append(asked, q)
		log := DeviceLog{}
		if !crash.Time.IsZero() {
			log.Crashes = []devicelog.Crash{crash}
		}
		return log, nil
	}
	session := device.Session{AppIDs: []string{orders, "com.example.notes"}, Noted: func(kind, text string) { noted = append(noted, kind+": "+text) }}
	onPhone(t, f, session, func(p *phoneTest) {
		const missing = `text "Save" was not found (within 1ms; app com.example.orders)`
		save := map[string]any{"text": "Save", "timeoutMs": 1}
		p.does("launchApp", map[string]any{"appId": orders}, "started com.example.orders", "launch com.example.orders clear stop")
		p.fails("tap", save, missing)
		if err := act.Pause(p.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		crash.Time = time.Now()
		p.fails("tap", save, "the app com.example.orders crashed: why\n"+missing)
		p.fails("tap", save, "the app com.example.orders crashed: why\n"+missing)
		f.front = "com.example.launcher"
		f.opens = orders
		r := p.call("launchApp", map[string]any{"appId": orders})
		if diff := cmp.Diff([]string{"the app com.example.orders crashed: why; it was started again"}, r.Notes); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		p.fails("tap", save, missing+"\nearlier in the session the app com.example.orders crashed: why; it was started again")
		p.call("stopApp", map[string]any{"appId": orders})
		p.fails("tap", save, missing+"\nearlier in the session the app com.example.orders crashed: why; it was started again")
	})
	if len(noted) != 1 || noted[0] != "crash: the app com.example.orders crashed: why" {
		t.Errorf("noted %q", noted)
	}
	if len(asked) != 6 {
		t.Fatalf("asked %d times", len(asked))
	}
	for i, q := range asked {
		running := map[bool]string{true: orders}[i < 5]
		if !q.Crashes || q.Running != running || !q.Since.Equal(f.start) || !cmp.Equal(q.Apps, []string{orders, "com.example.notes"}) {
			t.Errorf("%d: %+v", i, q)
		}
	}
}

// An app whose process is not known crashes once after each start.
func TestCrashOfUnknownProcess(t *testing.T) {
	t.Parallel()
	noted := 0
	f := &fake{readLog: func(context.Context, LogQuery) (DeviceLog, error) {
		return DeviceLog{Crashes: []devicelog.Crash{{App: orders, Ended: true, Time: time.Now()}}}, nil
	}}
	onPhone(t, f, device.Session{Noted: func(string, string) { noted++ }}, func(p *phoneTest) {
		for range 2 {
			p.call("launchApp", nil)
			for range 2 {
				p.call("tap", map[string]any{"text": "Save", "timeoutMs": 1})
			}
		}
	})
	if noted != 2 {
		t.Errorf("noted %d times", noted)
	}
}

// A log that is not read in time, or cannot be read, changes nothing of a result. The evidence says why it is missing.
func TestLogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const missing = `text "Save" was not found (within 1ms; app com.example.orders)`
	for name, tc := range map[string]struct {
		read func(ctx context.Context, q LogQuery) (DeviceLog, error)
		want string
	}{
		"slow": {func(ctx context.Context, _ LogQuery) (DeviceLog, error) {
			<-ctx.Done()
			return DeviceLog{}, context.Cause(ctx)
		}, "No log of the app: context deadline exceeded"},
		"unsupported": {func(context.Context, LogQuery) (DeviceLog, error) {
			return DeviceLog{}, Unsupported("the device has no logcat", "")
		}, "No log of the app: the device has no logcat"},
		"missing": {func(context.Context, LogQuery) (DeviceLog, error) {
			return DeviceLog{Missing: "the cloud refuses it"}, nil
		}, "No log of the app: the cloud refuses it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onPhone(t, &fake{nodes: shown(), readLog: tc.read}, device.Session{}, func(p *phoneTest) {
				began := time.Now()
				p.fails("tap", map[string]any{"text": "Save", "timeoutMs": 1}, missing)
				if took := time.Since(began); took > DefaultLimits("").Response+time.Second {
					t.Errorf("the call took %s", took)
				}
				if about := p.evidence("device.txt"); !strings.Contains(about, tc.want) {
					t.Error(about)
				}
				if log := p.evidence("device.log"); log != "" {
					t.Error(log)
				}
			})
		})
	}
}

func TestLogIsEvidence(t *testing.T) {
	t.Parallel()
	f := &fake{readLog: func(_ context.Context, q LogQuery) (DeviceLog, error) {
		log := DeviceLog{Crashes: []devicelog.Crash{{App: orders, ANR: true, Reason: "why", Time: time.Now()}}}
		if !q.Crashes {
			log.Lines = []devicelog.Line{{Text: "first"}, {Text: "second"}}
		}
		return log, nil
	}}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.call("hasText", map[string]any{"text": "Save"}) // connects
		if log := p.evidence("device.log"); log != "first\nsecond\n" {
			t.Error(log)
		}
		if about := p.evidence("device.txt"); !strings.Contains(about, "the app com.example.orders did not respond (ANR): why\n") {
			t.Error(about)
		}
	})
}

// After a command that ends an app, it is not a crash that the app does not run.
func TestAppsThatTrailsEnd(t *testing.T) {
	t.Parallel()
	for command, args := range map[string]map[string]any{
		"stopApp": {}, "clearAppData": {}, "mobile_uninstallApp": {}, "grantPermission": {"permission": "camera"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			var running []string
			f := &fake{nodes: shown(), readLog: func(_ context.Context, q LogQuery) (DeviceLog, error) {
				running = append(running, q.Running)
				return DeviceLog{}, nil
			}}
			onPhone(t, f, device.Session{}, func(p *phoneTest) {
				p.call("launchApp", map[string]any{"appId": orders})
				p.call("tap", map[string]any{"text": "Save", "timeoutMs": 1})
				p.call(command, args)
				p.call("tap", map[string]any{"text": "Save", "timeoutMs": 1})
			})
			if running[0] != orders || running[len(running)-1] != "" {
				t.Errorf("should run: %q", running)
			}
		})
	}
}
