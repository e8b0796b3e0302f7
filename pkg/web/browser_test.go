package web

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

func TestNewValidatesOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, value, want string
	}{
		{"viewport", "1280x800", ""},
		{"viewport", "400X900", ""},
		{"viewport", "1280", `"1280" is not a size in pixels; write it like 1280x800`},
		{"viewport", "0x5", "is not a size"},
		{"viewport", "1x2x3", "is not a size"},
		{"allowFile", `["../shared", "/srv"]`, ""},
		{"allowFile", `[1]`, "allowFile: [1] is not a list of folders"},
		{"cdpUrl", "http://127.0.0.1:9222", ""},
		{"cdpUrl", "wss://grid.example/?token=x", ""},
		{"cdpUrl", "127.0.0.1:9222", "is not a URL with one of the schemes http://, https://, ws://, wss://"},
	} {
		_, err := Kind().New(device.Host{Values: map[string]string{c.key: c.value}})
		if c.want == "" && err == nil {
			continue
		}
		if c.want == "" || fault.KindOf(err) != fault.Misuse || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %q", c.key, c.value, err, c.want)
		}
	}
	u := openSessionIn(t, newTestBackend(t, map[string]string{"viewport": "500x600"}), device.Session{})
	if w, h := u.device.Size(); w != 500 || h != 600 {
		t.Errorf("the size is %d, %d", w, h)
	}
	u = openSessionIn(t, newTestBackend(t, nil), device.Session{Width: 300, Height: 200})
	if w, h := u.device.Size(); w != 300 || h != 200 {
		t.Errorf("the size is %d, %d", w, h)
	}
}

func TestSessionWithoutCallsStartsNothing(t *testing.T) {
	t.Parallel()
	b := newTestBackend(t, map[string]string{"browser": "/nowhere/chrome"})
	u := openSessionIn(t, b, device.Session{})
	if shown := u.device.Evidence(t.Context()); shown != nil {
		t.Errorf("it shows %v", shown)
	}
	if product := u.device.(device.Producer).Product(); product != "" {
		t.Errorf("the product is %s", product)
	}
	if err := u.device.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if b.(*backend).current != nil {
		t.Error("a browser was started")
	}
}

// fakeBrowser writes a script that plays a browser.
func fakeBrowser(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnusableBrowserIsExplained(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		values map[string]string
		kind   fault.Kind
		want   []string
	}{
		"missing file": {
			map[string]string{"browser": "/nowhere/chrome"},
			fault.CommandNotFound,
			[]string{`"/nowhere/chrome"`, "TRAILBLAZE_BROWSER"},
		},
		"missing name": {
			map[string]string{"browser": "no-such-chrome"},
			fault.CommandNotFound,
			[]string{`"no-such-chrome"`},
		},
		"not executable": {map[string]string{"browser": plain}, fault.PermissionDenied, []string{plain}},
		"dies": {
			map[string]string{"browser": fakeBrowser(t, "echo cannot open display >&2; exit 3")},
			fault.Crashed,
			[]string{"exited during its start: exited with code 3", "cannot open display"},
		},
		"no server": {
			map[string]string{"cdpUrl": "http://127.0.0.1:1"},
			fault.Device,
			[]string{"cannot connect to a browser at http://127.0.0.1:1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestBackend(t, c.values)
			u := openSessionIn(t, b, device.Session{})
			_, called := u.call("web_currentUrl")
			_, checked := b.Check(t.Context())
			for _, err := range []error{called, checked} {
				if fault.KindOf(err) != c.kind || fault.As(err).Hint == "" {
					t.Fatalf("got %v with kind %q", err, fault.KindOf(err))
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %q, which does not contain %q", err, want)
					}
				}
			}
		})
	}
}

func TestMissingBrowserErrorListsNames(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		if list := installPaths(goos, func(name string) string { return "/env/" + name }); len(list) < 3 {
			t.Errorf("%s: %q", goos, list)
		}
	}
	o := options{programs: local.Programs(nil), env: []string{"PATH=" + t.TempDir()}}
	path, err := o.find()
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
		o := options{programs: local.Programs(nil), env: []string{"PATH=" + dir}, browser: c.named, headed: c.headed}
		if path, err := o.find(); err != nil || path != filepath.Join(dir, c.want) {
			t.Errorf("%+v: %s, %v", c, path, err)
		}
	}
	o := options{programs: local.Programs(nil), env: []string{"PATH=" + dir}, browser: "chromium-headless-shell", headed: true}
	if path, err := o.find(); err == nil || !strings.Contains(err.Error(), "has no window") {
		t.Errorf("got %s, %v", path, err)
	}
}

// What Chromium 156 prints as a user other than root where the kernel refuses user namespaces.
func TestStartsWithoutSandboxWhereUnavailable(t *testing.T) {
	t.Parallel()
	const log = "[1123/145227.762996:ERROR:content/browser/zygote_host/zygote_host_impl_linux.cc:130] "
	const setuid = "Failed to move to new namespace: PID namespaces supported, Network namespace supported, but failed: errno = Operation not permitted"
	for name, end := range map[string]string{
		"headless shell": `echo "` + log + `No usable sandbox! If this is a Debian system, please install the chromium-sandbox package" >&2; exit 1`,
		"setuid helper":  `echo "` + setuid + `" >&2; exit 134`, // also where the process may not get more privileges
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picky := fakeBrowser(t, `case "$*" in *--no-sandbox*) exec `+spawntest.Chromium(t)+` "$@";; esac; `+end)
			b := newTestBackend(t, map[string]string{"browser": picky}).(*backend)
			b.options.root = false
			u := openSessionIn(t, b, device.Session{})
			u.mustCall("navigate", "url", "about:blank")
			want := []string{"info: the browser runs without its sandbox, which this machine or container does not allow"}
			if diff := cmp.Diff(want, u.logs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckNamesBrowser(t *testing.T) {
	t.Parallel()
	b := newTestBackend(t, nil)
	if got, err := b.Check(t.Context()); err != nil || !strings.Contains(got, " (/") ||
		!strings.HasPrefix(got, "Chrome ") {
		t.Errorf("got %q, %v", got, err)
	}
}

// shortDir is a folder for temporary files whose path is short enough for sockets in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tab") //nolint:usetesting // the path of t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestLongTemporaryPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b := newTestBackend(t, nil).(*backend)
	b.options.env = append(os.Environ(), "TMPDIR="+dir)
	if _, err := b.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCloseDuringStartLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	hangs := fakeBrowser(t, "exec sleep 60")
	supervisor := spawn.NewSupervisor(spawn.Options{})
	b, err := Kind().New(device.Host{
		Values: map[string]string{"browser": hangs}, Env: append(os.Environ(), "TMPDIR="+dir), Programs: local.Programs(supervisor),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := b.Open(device.Session{Log: func(string, string, string) {}, Broken: func(error) {}})
	d.Prepare()
	waitFor(t, "the profile", func() bool { files, _ := os.ReadDir(dir); return len(files) > 0 })
	began := time.Now()
	if err := errors.Join(d.Close(t.Context()), b.Close(t.Context()), supervisor.Close()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > testLimit {
		t.Errorf("it took %s", took)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("left: %v", files)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Error("too much was removed")
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
