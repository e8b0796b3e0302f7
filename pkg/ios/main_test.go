package ios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTestBackend returns a backend that is closed with the test. No program that it starts outlives it.
func newTestBackend(t *testing.T, values map[string]string, env ...string) *backend {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	env = append(append(os.Environ(), "TMPDIR="+t.TempDir()), env...)
	b, err := Kind().New(device.Host{Values: values, Env: env, Programs: local.Programs(supervisor)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
	})
	kind, ok := b.(*backend)
	if !ok {
		t.Fatalf("the backend is a %T", b)
	}
	kind.limits.poll = 5 * time.Millisecond
	return kind
}

// startPhone starts a simulated iPhone. Requests to WebDriverAgent that it does not know fail the test.
func startPhone(t *testing.T) *phones.IPhone {
	t.Helper()
	return startPhoneWith(t, phones.IPhoneOptions{})
}

// startPhoneWith is startPhone for a phone that does not ask for permissions.
func startPhoneWith(t *testing.T, o phones.IPhoneOptions) *phones.IPhone {
	t.Helper()
	o.App.NoPrompt = true
	p, err := phones.StartIPhone(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if unknown := p.UnknownRoutes(); len(unknown) > 0 {
			t.Errorf("requests that the phone does not know: %q", unknown)
		}
	})
	return p
}

// logs are the lines that a session has logged.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) add(level, message, hint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, level+": "+message+"; "+hint)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// openDriver returns the driver of a session that ends with the test.
func openDriver(t *testing.T, b *backend) (mobile.Driver, *logs) {
	t.Helper()
	l := &logs{}
	d, err := b.open(t.Context(), device.Session{Log: l.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return d, l
}

// user makes the calls of a session.
type user struct {
	*testing.T
	device device.Device
}

func newUser(t *testing.T, b *backend) user {
	t.Helper()
	d := b.Open(device.Session{Driver: "ios-host", AppID: app.ShopID, Root: t.TempDir(), Log: (&logs{}).add})
	t.Cleanup(func() {
		if err := d.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return user{t, d}
}

// call makes a call that succeeds.
func (u user) call(name string, args map[string]any) {
	u.Helper()
	r, err := u.device.Call(u.Context(), tool.Call{Tool: name, Args: args})
	if err != nil || !r.OK {
		u.Fatalf("%s %v: %v %s %s", name, args, err, r.Text, r.Hint)
	}
}

// simctl is a program that stands for xcrun.
type simctl struct{ folder string }

const testUDID = "0F1E-BOOTED"

// newSimctl writes a program that notes how it is called, and whose answers are files of its folder. The app is in a folder
// of the simulator while it is installed.
func newSimctl(t *testing.T, booted ...string) simctl {
	t.Helper()
	s := simctl{t.TempDir()}
	var devices []string
	for _, udid := range booted {
		devices = append(devices, fmt.Sprintf(`{"udid": %q, "name": "iPhone 15", "state": "Booted"}`, udid))
	}
	s.write(t, "list", fmt.Sprintf(`{"devices": {"com.apple.CoreSimulator.SimRuntime.iOS-17-2": [%s]}}`, strings.Join(devices, ", ")))
	s.write(t, "listapps", "{\n    \"com.apple.Preferences\" =     {\n        ApplicationType = System;\n    };\n"+
		"    \"com.example.shop\" =     {\n        ApplicationType = User;\n        GroupContainers =         {\n            \"group.x\" = 1;\n        };\n    };\n}\n")
	s.write(t, "pbpaste", "from the clipboard")
	s.write(t, "ui-appearance", "light\n")
	s.write(t, "ui-content_size", "medium\n")
	script := `#!/bin/sh
shift
echo "$@" >>"$FOLDER/calls"
case "$1" in
bootstatus) [ ! -f "$FOLDER/bootstatus-fails" ] || exit 1 ;;
pbcopy) cat >"$FOLDER/clipboard" ;;
privacy) [ "$4" != motion ] || { echo "Operation not permitted" >&2; exit 1; } ;;
get_app_container) [ -d "$BUNDLE" ] || { echo "No such file or directory" >&2; exit 2; }; echo "$BUNDLE" ;;
push) cat >"$FOLDER/push" ;;
spawn) [ "$4" != -g ] || echo "$5 0" ;;
ui) [ -z "$4" ] || echo "$4" >"$FOLDER/ui-$3"; cat "$FOLDER/ui-$3" ;;
uninstall) rm -r "$BUNDLE" ;;
io) shift; exec node -e 'const fs = require("fs"), file = process.argv.at(-1);
	if (fs.existsSync("$FOLDER/norecording")) { console.error("Unable to record"); process.exit(1); }
	process.on("SIGINT", () => { fs.writeFileSync(file, "a video"); process.exit(0); });
	setInterval(() => {}, 1000); console.error("Recording started");' "$@" ;;
install) [ ! -f "$FOLDER/install-fails" ] || exit 1; rm -rf "$BUNDLE"; mkdir -p "${BUNDLE%/*}"; cp -R "$3" "$BUNDLE" ;;
esac
[ ! -f "$FOLDER/$1" ] || cat "$FOLDER/$1"
`
	script = strings.NewReplacer("$FOLDER", s.folder, "$BUNDLE", s.bundle(), "${BUNDLE%/*}", filepath.Dir(s.bundle())).Replace(script)
	if err := spawntest.WriteProgram(filepath.Join(s.folder, "xcrun"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s simctl) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s simctl) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// calls returns how the program was called. KEPT is the copy of an app that is removed and installed anew.
func (s simctl) calls(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`\S+/trailblaze-\d+/Shop\.app`).ReplaceAllString(s.read(t, "calls"), "KEPT")
}

// bundle is where the app is while it is installed.
func (s simctl) bundle() string { return filepath.Join(s.folder, testUDID, "Shop.app") }

// writeApp writes a version of the app with a program, a file and a link to it.
func writeApp(t *testing.T, folder, version string) {
	t.Helper()
	err := errors.Join(
		os.MkdirAll(filepath.Join(folder, "Assets"), 0o700),
		os.WriteFile(filepath.Join(folder, "Shop"), []byte("program "+version), 0o700), //nolint:gosec // a program
		os.WriteFile(filepath.Join(folder, "Assets", "Info.plist"), []byte(version), 0o600),
		os.Symlink("Assets/Info.plist", filepath.Join(folder, "Info.plist")),
	)
	if err != nil {
		t.Fatal(err)
	}
}

func (s simctl) path() string { return "PATH=" + s.folder + ":" + os.Getenv("PATH") }
