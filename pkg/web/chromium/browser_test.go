package chromium

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestMissingBrowserErrorListsNames(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		if list := installPaths(goos, func(name string) string { return "/env/" + name }); len(list) < 3 {
			t.Errorf("%s: %q", goos, list)
		}
	}
	o := Options{Programs: local.Programs(nil), Env: []string{"PATH=" + t.TempDir()}}
	path, err := o.Find()
	if err == nil { // this machine has a browser at a usual path
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		return
	}
	if !strings.Contains(err.Error(), "looked for chrome-headless-shell, ") ||
		!strings.Contains(fault.As(err).Hint, "install") {
		t.Errorf("got %v", err)
	}
}

func TestFindBrowserOnPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"msedge", "chromium", "chromium-headless-shell"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		named  string
		headed bool
		want   string
	}{
		{"", false, "chromium-headless-shell"},
		{"", true, "chromium"},
		{"msedge", false, "msedge"},
		{filepath.Join(dir, "msedge"), true, "msedge"},
	} {
		o := Options{Programs: local.Programs(nil), Env: []string{"PATH=" + dir}, Browser: c.named, Headed: c.headed}
		if path, err := o.Find(); err != nil || path != filepath.Join(dir, c.want) {
			t.Errorf("%+v: %s, %v", c, path, err)
		}
	}
	o := Options{Programs: local.Programs(nil), Env: []string{"PATH=" + dir}, Browser: "chromium-headless-shell", Headed: true}
	if path, err := o.Find(); err == nil || !strings.Contains(err.Error(), "has no window") {
		t.Errorf("got %s, %v", path, err)
	}
}

func TestWebSocketURLReplacesHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string // of the socket, or in the error
	}{
		"renamed host": {func(w http.ResponseWriter, r *http.Request) {
			if r.Host != "localhost" {
				http.Error(w, "Host header is specified and is not an IP address or localhost.",
					http.StatusInternalServerError)
				return
			}
			_, _ = w.Write([]byte(`{"Browser": "x", "webSocketDebuggerUrl": "ws://localhost/devtools/browser/1"}`))
		}, "ws://HOST/devtools/browser/1"},
		"refuses": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "500"},
		"no browser": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<html>`)) },
			"is not the debugging port of a browser",
		},
		"another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "other")
			w.WriteHeader(http.StatusSwitchingProtocols)
			_, _, _ = http.NewResponseController(w).Hijack() // the connection stays open
		}, "101 Switching Protocols"},
		"not allowed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "answers 401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(c.answer))
			defer server.Close()
			got, err := webSocketURL(t.Context(), server.URL)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, strings.ReplaceAll(c.want, "HOST", strings.TrimPrefix(server.URL, "http://"))) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestBrowserNoise(t *testing.T) {
	t.Parallel()
	for line, noise := range map[string]bool{
		`[71:71:1122/190712.123456:ERROR:dbus/bus.cc(406)] Failed to connect to the bus: Could not parse server address`: true,
		`[71:93:1122/190712.123456:WARNING:gpu/vulkan.cc(1)] nothing`:                                                    true,
		`DevTools listening on ws://127.0.0.1:4711/devtools/browser/1`:                                                   true,
		`#3 0x55d0c8f5e0a1 <unknown>`: true,
		``:                            true,
		`Warning: vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER`:                                             true,
		`    at CheckVkSuccessImpl (../../third_party/dawn/src/dawn/native/vulkan/VulkanError.cpp:106)`:                  true,
		`[71:71:1122/190712.123456:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox!`:                             false,
		`[71:71:1122/190712.123456:ERROR:ui/ozone/platform/x11/ozone_platform_x11.cc(240)] Missing X server or $DISPLAY`: false,
		`chromium: error while loading shared libraries: libnss3.so`:                                                     false,
		`Received signal 11 SEGV_MAPERR 000000000000`:                                                                    false,
	} {
		if got := isBrowserNoise(line); got != noise {
			t.Errorf("%s: %t, want %t", line, got, noise)
		}
	}
}

func TestHintsAreForTheSystem(t *testing.T) {
	t.Parallel()
	tools := map[string]string{"linux": "apt-get", "darwin": "brew", "windows": "winget"}
	for system := range tools {
		for of, tool := range tools {
			if hint := installHint(system); strings.Contains(hint, tool) != (of == system) {
				t.Errorf("%s: %s", system, hint)
			}
		}
	}
}
