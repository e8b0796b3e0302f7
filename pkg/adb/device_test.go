package adb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
)

// serveHTTP makes port 6790 of a phone an HTTP server, as UiAutomator2's.
func (p *phone) serveHTTP(t *testing.T) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %d", r.URL.Path, len(body))
	}))
	t.Cleanup(s.Close)
	p.dial = func(service string) (net.Conn, error) {
		if service != "tcp:6790" {
			return nil, errors.New("connection refused")
		}
		return net.Dial("tcp", s.Listener.Addr().String())
	}
}

func post(t *testing.T, client *http.Client, url string) {
	t.Helper()
	content := strings.NewReader(strings.Repeat("x", 2<<20))
	request, err := http.NewRequestWithContext(within(t), http.MethodPost, url, content)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "/status 2097152" {
		t.Errorf("%q, %v", body, err)
	}
}

func TestDialConnectsToASocketOfTheDevice(t *testing.T) {
	t.Parallel()
	p, d, _ := connected(t)
	p.serveHTTP(t)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.Dial(ctx, "tcp:6790")
	}}
	for range 3 {
		post(t, &http.Client{Transport: transport}, "http://phone/status")
	}
	transport.CloseIdleConnections()
	if _, err := d.Dial(within(t), "tcp:1"); !errors.Is(err, adb.ErrRefused) || errors.Is(err, adb.ErrMaybeExecuted) {
		t.Errorf("refused: %v", err)
	}
}

func TestDialedConnectionOutlivesItsContext(t *testing.T) {
	t.Parallel()
	p, d, _ := connected(t)
	ours, theirs := net.Pipe()
	p.dial = func(string) (net.Conn, error) { return theirs, nil }
	ctx, cancel := context.WithCancel(within(t))
	c, err := d.Dial(ctx, "localabstract:app")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	go func() { _, _ = io.WriteString(ours, "hello\n") }()
	if line, err := bufio.NewReader(c).ReadString('\n'); line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	_ = c.Close()
	if _, err := io.ReadAll(ours); err != nil { // until the device's end is closed
		t.Error(err)
	}
}

func TestDevicesAreListed(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	info := infoOf(t, d.Serial())
	if info.State != adb.Ready || info.Model != "Pixel 6" {
		t.Errorf("%+v", info)
	}
	features, err := d.Features(within(t))
	if err != nil || !slices.Contains(features, "shell_v2") {
		t.Errorf("features %v, %v", features, err)
	}
}

func infoOf(t *testing.T, serial string) adb.Info {
	t.Helper()
	list, err := found(t).Devices(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range list {
		if info.Serial == serial {
			return info
		}
	}
	return adb.Info{}
}

// awaitState waits until the server knows a device in a state.
func awaitState(t *testing.T, serial string, want adb.State) {
	t.Helper()
	ctx := within(t)
	for state := infoOf(t, serial).State; state != want; state = infoOf(t, serial).State {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s is %q, want %q", serial, state, want)
		}
	}
}

func TestOfflineDevice(t *testing.T) {
	t.Parallel()
	p, d, device := connected(t)
	device.SetSilent(true)
	device.Disconnect()
	awaitState(t, d.Serial(), adb.Offline)
	_, err := d.Shell(within(t), "true")
	check(t, err, fault.Device, adb.ErrOffline, "adb: device offline", "adb reconnect offline")
	if errors.Is(err, adb.ErrMaybeExecuted) {
		t.Error("the error says that the command may have been executed")
	}
	if commands := p.received(); len(commands) != 0 {
		t.Errorf("received %v", commands)
	}
}

func TestUnauthorizedDevice(t *testing.T) {
	t.Parallel()
	_, device := newPhone(t, adbd.Options{Unauthorized: true})
	_, _ = server.Run(within(t), "connect", device.Addr()) // says that it failed to authenticate
	awaitState(t, device.Addr(), adb.Unauthorized)
	d := found(t).Device(device.Addr())
	_, err := d.Shell(within(t), "true")
	check(t, err, fault.Device, adb.ErrUnauthorized, "adb: device unauthorized\n", "accept the prompt")
	device.Authorize()
	awaitState(t, device.Addr(), adb.Ready)
	if _, err := d.Shell(within(t), "true"); err != nil {
		t.Error(err)
	}
}

func TestUnknownSerial(t *testing.T) {
	t.Parallel()
	d := found(t).Device("nobody")
	_, err := d.Exec(within(t), "true")
	if !errors.Is(err, adb.ErrNotFound) || err.Error() != `running "true" on nobody: adb: device 'nobody' not found` {
		t.Errorf("%v", err)
	}
	if _, err := d.Shell(within(t), "true"); !errors.Is(err, adb.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestDeviceThatStopsAnswering(t *testing.T) {
	t.Parallel()
	_, _, device := connected(t)
	device.SetSilent(true)
	d := found(t).WithLimits(100*time.Millisecond, 1).Device(device.Addr())
	_, err := d.Shell(within(t), "true")
	check(t, err, fault.CallTimeout, nil, "timed out waiting for the response")
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, err = d.Shell(expired, "true")
	check(t, err, fault.CallTimeout, context.DeadlineExceeded, "timed out waiting for the response")
}

func TestCommandThatIsNotAnsweredMayHaveBeenExecuted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(within(t))
	s := serverOf(t, func(c net.Conn, request string) {
		if strings.HasSuffix(request, ":features") {
			_, _ = io.WriteString(c, "OKAY0008shell_v2")
			return
		}
		_, _ = io.WriteString(c, "OKAY")
		var service [64]byte
		_, _ = c.Read(service[:])
		cancel()
		_, _ = io.Copy(io.Discard, c)
	})
	_, err := s.Device("d").Shell(ctx, "true")
	check(t, err, fault.Cancelled, adb.ErrMaybeExecuted)
}

// twice is the serial of a phone that was paired over its network twice.
const twice = "adb-R5CT123ABC-x7Yz9K (2)._adb-tls-connect._tcp"

func TestSerialsWithSpaces(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	renamed, err := server.Rename(within(t), d.Serial(), twice)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(renamed.Close)
	s, err := adb.Find([]string{"ANDROID_ADB_SERVER_PORT=" + renamed.Port})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Devices(within(t))
	if want := (adb.Info{Serial: twice, State: adb.Ready, Model: "Pixel 6"}); err != nil || !slices.Contains(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
	if out, err := s.Device(twice).Shell(within(t), "fail"); err != nil || out.Exit != 7 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestLinesOfDevices(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]adb.Info{
		"emulator-5554          device product:p model:Pixel_7 device:d transport_id:1":                         {Serial: "emulator-5554", State: adb.Ready, Model: "Pixel 7"},
		twice + " device product:dm1q model:SM_S911B device:dm1q transport_id:3":                                {Serial: twice, State: adb.Ready, Model: "SM S911B"},
		twice + " offline transport_id:4":                                                                       {Serial: twice, State: adb.Offline},
		"R5CT                   unauthorized usb:1-2 transport_id:1":                                            {Serial: "R5CT", State: adb.Unauthorized},
		"(no serial number)     no permissions (user in plugdev group; are your udev rules wrong?); see [http:": {Serial: "(no serial number)", State: adb.NoPermission},
		"x                      frozen transport_id:1":                                                          {Serial: "x", State: "frozen"},
	} {
		if got := adb.ParseDevices(line + "\n"); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}
