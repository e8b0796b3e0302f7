package appium_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// A server without the commands for the clipboard has paths for it, and one with neither refuses.
func TestClipboardOfOldServers(t *testing.T) {
	t.Parallel()
	const text64 = "R3LDvMOfZQ=="
	unknown := failure(404, "unknown method", `Unknown mobile command "getClipboard". Only shell, scroll commands are supported.`)
	s := startServer(t, map[string]reply{
		"mobile: getClipboard": unknown, "mobile: setClipboard": unknown,
		"POST /appium/device/get_clipboard": value(`"` + text64 + `"`), "POST /appium/device/set_clipboard": {},
	})
	d := s.open(mobile.Android)
	if text, err := d.Clipboard(t.Context()); err != nil || text != "Grüße" {
		t.Errorf("clipboard: %q %v", text, err)
	}
	if err := d.SetClipboard(t.Context(), "Grüße"); err != nil {
		t.Error(err)
	}
	want := []string{
		"mobile: getClipboard", `POST /appium/device/get_clipboard {"contentType":"plaintext"}`,
		`mobile: setClipboard {"content":"` + text64 + `","contentType":"plaintext"}`,
		`POST /appium/device/set_clipboard {"content":"` + text64 + `","contentType":"plaintext"}`,
	}
	if diff := cmp.Diff(want, s.take()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	s.set("POST /appium/device/set_clipboard", failure(404, "unknown command", "The requested resource could not be found"))
	if err := d.SetClipboard(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "refuses setting the clipboard") {
		t.Errorf("got %v", err)
	}
}

// A session of an Appium before version 2 is warned of, whether the capabilities or the server say the version.
func TestOldServersAreWarnedOf(t *testing.T) {
	t.Parallel()
	session := func(capabilities string) reply {
		return value(`{"sessionId": "s1", "capabilities": {` + capabilities + `}}`)
	}
	for name, tt := range map[string]struct {
		session, status reply
		requested       map[string]any
		want            string // in the log; empty for no warning
		asked           bool   // for /status
	}{
		"1 by its status":       {session(""), value(`{"build": {"version": "1.22.3"}}`), nil, "is Appium 1.22.3; calls may need commands that Appium has from version 2 on; update it", true},
		"3 by its status":       {session(""), value(`{"build": {"version": "3.8.0"}}`), nil, "", true},
		"an unknown one":        {session(""), failure(404, "unknown command", ""), nil, "", true},
		"one without a version": {session(""), value(`{"ready": true}`), nil, "", true},
		"1 by its capabilities": {session(`"appium:appiumVersion": "1.21.0"`), value(`{"build": {"version": "3.8.0"}}`), nil, "is Appium 1.21.0;", false},
		"2 by its capabilities": {session(`"appiumVersion": "2.11.0"`), value(`{"build": {"version": "1.0"}}`), nil, "", false},
		"1 of a cloud": {
			session(`"bstack:options": {"appiumVersion": "1.22.0"}`),
			reply{},
			map[string]any{"bstack:options": map[string]any{}},
			"request another one in device: {capabilities: {bstack:options: {appiumVersion: …}}}", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, map[string]reply{"POST /session": tt.session, "GET /status": tt.status})
			o := s.options(mobile.Android)
			o.Capabilities = tt.requested
			d, err := appium.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close(t.Context()) })
			if log := s.logs(); !strings.Contains(log, tt.want) || tt.want == "" && log != "" {
				t.Errorf("log: %q, want %q", log, tt.want)
			}
			if asked := slices.Contains(s.take(), "GET /status"); asked != tt.asked {
				t.Errorf("the server was asked: %t", asked)
			}
		})
	}
}
