package mobile

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestCommandsOfBothPlatforms(t *testing.T) {
	t.Parallel()
	android, ios := names(t, Android), names(t, IOS)
	for _, name := range ios {
		if !slices.Contains(android, name) {
			t.Errorf("Android has no %s", name)
		}
	}
	for _, name := range android {
		if !slices.Contains(ios, name) && !strings.HasPrefix(name, "android_") && name != "adbShell" && name != "tapOnAccessibilityNode" {
			t.Errorf("iOS has no %s", name)
		}
	}
	for _, c := range device.Core() {
		if !slices.Contains(ios, c.Name) {
			t.Errorf("no %s", c.Name)
		}
	}
	for platform, list := range map[Platform][]string{Android: android, IOS: ios} {
		for name, use := range instead(platform) {
			if slices.Contains(list, name) || use == "" {
				t.Errorf("%s has %s, or it does not say what to use instead: %q", platform, name, use)
			}
		}
	}
	for _, name := range slices.Concat(Kind(Android).Checks, Kind(Android).Reads, Kind(Android).StartCommands, Kind(Android).Restricted) {
		if !slices.Contains(android, name) {
			t.Errorf("no %s", name)
		}
	}
}

func names(t *testing.T, p Platform) []string {
	t.Helper()
	var list []string
	for _, c := range advertisedTools(p) {
		var schema struct {
			AdditionalProperties *bool
			Properties           map[string]any
			Required             []string
		}
		if err := json.Unmarshal(c.InputSchema, &schema); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if schema.AdditionalProperties == nil || *schema.AdditionalProperties {
			t.Errorf("%s accepts unknown keys", c.Name)
		}
		for _, key := range append(schema.Required, "reason", "reasoning") {
			if schema.Properties[key] == nil {
				t.Errorf("%s has no %s", c.Name, key)
			}
		}
		if slices.Contains(list, c.Name) {
			t.Errorf("%s is defined twice", c.Name)
		}
		list = append(list, c.Name)
	}
	return list
}

func TestSettings(t *testing.T) {
	t.Parallel()
	l, err := ReadLimits(map[string]string{"actionTimeout": "2m"}, "ios-host")
	if err != nil || l.Action != 2*time.Minute || l.Assertion != 17*time.Second || l.Call <= l.Action {
		t.Error(l, err)
	}
	for _, value := range []string{"5", "-1s", "11m"} {
		if err := CheckSettings(map[string]string{"assertionTimeout": value}); fault.KindOf(err) != fault.Misuse {
			t.Error(value, err)
		}
	}
}

func TestDeviceThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	broken := fault.New(fault.Device, "start it", "no device")
	d := NewDevice(Options{
		Platform: Android, Limits: DefaultLimits(""),
		Open: func(context.Context) (Driver, error) { return nil, broken },
	}, device.Session{})
	d.Prepare()
	if _, err := d.Call(t.Context(), tool.Call{Tool: "pressBack"}); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReleasedDeviceConnectsAgain(t *testing.T) {
	t.Parallel()
	var opened []*fake
	d := NewDevice(Options{
		Platform: Android, Limits: DefaultLimits(""),
		Open: func(context.Context) (Driver, error) {
			f := &fake{nodes: always(node("Button", "Save", rect(0, 0, 100, 100)))}
			opened = append(opened, f)
			return f, nil
		},
	}, device.Session{Live: true})
	releaser, _ := d.(device.Releaser)
	viewer, _ := d.(device.Viewer)
	release := func() {
		t.Helper()
		if err := releaser.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
	view := func() device.View {
		t.Helper()
		v, err := viewer.View(t.Context(), device.ViewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	release() // nothing is connected
	before := refs(t, view())
	release()
	if len(opened) != 1 || !opened[0].closed {
		t.Fatalf("%d connections", len(opened))
	}
	if after := refs(t, view()); len(after) != 1 || !maps.Equal(before, after) {
		t.Errorf("references %v, before %v", after, before)
	}
	r, err := d.Call(t.Context(), tool.Call{Tool: "tap", Args: map[string]any{"ref": before[`button "Save"`]}})
	if err != nil || !r.OK || len(opened) != 2 || len(opened[1].touched) != 1 || opened[1].closed {
		t.Errorf("%v %v, %d connections", r, err, len(opened))
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	p, _ := d.(*phone)
	p.callSlot <- struct{}{} // as a call that runs
	if err := releaser.Release(cancelled); fault.KindOf(err) != fault.Cancelled || opened[1].closed {
		t.Error(err)
	}
	<-p.callSlot
	if err := d.Close(t.Context()); err != nil || !opened[1].closed {
		t.Error(err)
	}
	release() // it is closed
}

func TestLimitsAndEndOfSession(t *testing.T) {
	t.Parallel()
	f := &fake{slow: time.Hour}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.fails("tap", map[string]any{"text": "Save"}, `text "Save": the screen did not respond within 15s`)
		r, err := p.device.Call(p.Context(), tool.Call{Tool: "tap", Args: map[string]any{"text": "Save"}, Timeout: 2 * time.Second})
		if err != nil || r.Kind != fault.CallTimeout || r.Text != `text "Save": the screen did not respond within 2s` {
			t.Error(r, err)
		}
		p.fails("hasText", map[string]any{"text": "Save"}, "hasText timed out after 30s: the device did not respond")
		ctx, cancel := context.WithCancel(p.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := p.device.Call(ctx, tool.Call{Tool: "hasText", Args: map[string]any{"text": "a"}}); fault.KindOf(err) != fault.Cancelled {
			t.Error(err)
		}
		ended := make(chan error)
		go func() {
			_, err := p.device.Call(p.Context(), tool.Call{Tool: "tap", Args: map[string]any{"text": "Save"}})
			ended <- err
		}()
		synctest.Wait()
		waiting := make(chan tool.Result)
		go func() {
			r, _ := p.device.Call(p.Context(), tool.Call{Tool: "pressBack", Timeout: time.Second})
			waiting <- r
		}()
		if r := <-waiting; r.Text != "pressBack timed out after 1s: an earlier call of the session is still running" {
			t.Error(r)
		}
		synctest.Wait()
		if err := p.device.Close(p.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; fault.KindOf(err) != fault.Cancelled {
			t.Error(err)
		}
		if _, err := p.device.Call(p.Context(), tool.Call{Tool: "pressBack"}); fault.KindOf(err) != fault.Cancelled {
			t.Error("a call after the end:", err)
		}
	})
}

func TestCloseEndsTheOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := NewDevice(Options{
			Platform: Android, Limits: DefaultLimits(""),
			Open: func(ctx context.Context) (Driver, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		}, device.Session{})
		d.Prepare()
		r, err := d.Call(t.Context(), tool.Call{Tool: "pressBack", Timeout: time.Second})
		if err != nil || r.Text != "pressBack timed out after 1s: the device is still being connected" {
			t.Error(r, err)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestCrashEndsTheSession(t *testing.T) {
	t.Parallel()
	gone := fault.New(fault.Crashed, "", "the device was disconnected")
	onPhone(t, &fake{fail: map[string]error{"Read": gone, "Press": gone}}, device.Session{}, func(p *phoneTest) {
		for _, name := range []string{"pressBack", "eraseText"} {
			if _, err := p.device.Call(p.Context(), tool.Call{Tool: name}); !errors.Is(err, gone) {
				t.Error(name, err)
			}
		}
	})
}
