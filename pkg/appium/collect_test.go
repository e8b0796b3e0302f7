package appium_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

func TestCollectThroughAppium(t *testing.T) {
	t.Parallel()
	s := startServer(t, map[string]reply{
		"GET /source":           value(`"<hierarchy><android.widget.TextView text=\"Ada\" /></hierarchy>"`),
		"GET /appium/settings":  value(`{"waitForIdleTimeout": 0}`),
		"GET /screenshot":       failure(http.StatusInternalServerError, "unknown error", "a secure window"),
		"POST /appium/settings": {},
	})
	c, err := appium.Collect(t.Context(), s.options(mobile.Android), device.CollectOptions{})
	if err != nil || c.Product != "Google Pixel 7, Android 14" || c.Replace["emulator-5554"] == "" {
		t.Errorf("%v %+v", err, c)
	}
	got := map[string]string{}
	for _, a := range c.Answers {
		got[a.File] = string(a.Data)
		if a.Err != nil {
			got[a.File] = a.Err.Error()
		}
	}
	for file, want := range map[string]string{
		"source.xml": `text="Xxx"`, "server-settings.json": "waitForIdleTimeout", "screenshot.txt": "a secure window", "capabilities.json": "deviceModel",
	} {
		if !strings.Contains(got[file], want) {
			t.Errorf("%s: %s", file, got[file])
		}
	}
	s.set("POST /session", failure(http.StatusInternalServerError, "session not created", "no device"))
	c, err = appium.Collect(t.Context(), s.options(mobile.Android), device.CollectOptions{})
	if err != nil || len(c.Answers) != 1 || c.Answers[0].Err == nil {
		t.Errorf("without a session: %v %+v", err, c)
	}
}
