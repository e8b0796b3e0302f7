package web

import (
	"errors"
	"io/fs"
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
	if product := u.device.(device.ProductReporter).Product(); product != "" {
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
	if err := spawntest.WriteProgram(path, []byte("#!/bin/sh\n"+lines+"\n")); err != nil {
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
		"dies with its temporary files beside its profile": {
			map[string]string{"browser": fakeBrowser(t, `case "$* " in
				*"--user-data-dir=$TMPDIR "*) [ "$TMPDIR" = "$TEMP" ] && [ "$TMPDIR" = "$TMP" ] && echo one folder >&2;;
				esac; exit 3`)},
			fault.Crashed,
			[]string{"one folder"},
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
			b.options.browser.Root = false
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
	b.options.browser.Env = append(os.Environ(), "TMPDIR="+dir)
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
