package run_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// cloud is a device that notes what it is told of its sessions. Calls fail in sessions of the trail with this title.
type cloud struct {
	*phone
	fails string

	mu    sync.Mutex
	noted []string
}

func (c *cloud) Open(s device.Session) device.Device { return cloudDevice{handset{c.phone}, c, s} }

type cloudDevice struct {
	handset
	cloud   *cloud
	session device.Session
}

func (d cloudDevice) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{OK: d.session.Title != d.cloud.fails, Kind: fault.ToolFailed, Text: "not hunter2"}, nil
}

func (d cloudDevice) Close(context.Context) error {
	d.cloud.mu.Lock()
	defer d.cloud.mu.Unlock()
	d.cloud.noted = append(d.cloud.noted, fmt.Sprintf("%s %+v", d.session.Title, *d.session.Outcome()))
	return nil
}

func TestDeviceIsToldTitleAndOutcome(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 2, "tap")
	o.Redactor = redact.New(map[string]string{"PASSWORD": "hunter2"})
	c := &cloud{phone: &phone{}, fails: "1"}
	o.Devices = devices(o, "a")
	o.Devices[0].Backends = []session.Backend{{
		Kind: device.Kind{Name: "phone", Drivers: []string{"playwright-native"}, Commands: func() []tool.Advertised { return []tool.Advertised{{Name: "tap"}} }}, Backend: c,
	}}
	if _, err := run.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.noted)
	want := []string{"0 {Passed:true Reason:}", "1 {Passed:false Reason:not {{PASSWORD}}}"}
	if diff := cmp.Diff(want, c.noted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
