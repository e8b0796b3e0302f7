package adb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestServerIsFoundAsTheAdbProgramFindsIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  string
		want string // address, or the error
	}{
		{"", "127.0.0.1:5037"},
		{"ANDROID_ADB_SERVER_PORT=1 ANDROID_ADB_SERVER_PORT=6000", "127.0.0.1:6000"},
		{"ANDROID_ADB_SERVER_ADDRESS=host ANDROID_ADB_SERVER_PORT=6000", "host:6000"},
		{"ADB_SERVER_SOCKET=tcp:host:6001 ANDROID_ADB_SERVER_PORT=6000", "host:6001"},
		{"ADB_SERVER_SOCKET=tcp:6001 ANDROID_ADB_SERVER_ADDRESS=host", "127.0.0.1:6001"},
		{"ADB_SERVER_SOCKET=tcp:[::1]:6001", "[::1]:6001"},
		{"ADB_SERVER_SOCKET=localfilesystem:/run/adb", "/run/adb"},
		{"ADB_SERVER_SOCKET=vsock:1:2", `the variable ADB_SERVER_SOCKET is "vsock:1:2"; expected tcp:host:port or localfilesystem:path`},
		{"ADB_SERVER_SOCKET=tcp:host", `the port "host" in the variable ADB_SERVER_SOCKET is not a number from 1 to 65535`},
		{"ANDROID_ADB_SERVER_PORT=65536", `the port "65536" in the variable ANDROID_ADB_SERVER_PORT is not a number from 1 to 65535`},
	} {
		s, err := adb.Find(strings.Fields(tt.env))
		got := s.String()
		if err != nil {
			got = err.Error()
			if fault.KindOf(err) != fault.Misuse {
				t.Errorf("%s: kind %s", tt.env, fault.KindOf(err))
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.env, got, tt.want)
		}
	}
}

func TestServerOnAUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "adb")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	listen(t, l, answer("OKAY00040029"))
	s, err := adb.Find([]string{"ADB_SERVER_SOCKET=localfilesystem:" + path})
	if err != nil {
		t.Fatal(err)
	}
	if version, err := s.Version(within(t)); version != 41 || err != nil {
		t.Errorf("%d, %v", version, err)
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refusal string
		want    error
	}{
		{"device 'closed-offline' not found", adb.ErrNotFound},
		{"no devices/emulators found", adb.ErrNotFound},
		{"device offline", adb.ErrOffline},
		{"device still connecting", adb.ErrOffline},
		{"device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\nTry 'adb kill-server'", adb.ErrUnauthorized},
		{"device still authorizing", adb.ErrUnauthorized},
		{"insufficient permissions for device: user in plugdev group; are your udev rules wrong?", adb.ErrNoPermission},
		{"more than one device/emulator", adb.ErrAmbiguous},
	} {
		_, err := fakeServer(t, fmt.Sprintf("FAIL%04x%s", len(tt.refusal), tt.refusal)).Device("d").Exec(within(t), "ls -l")
		first, _, _ := strings.Cut(tt.refusal, "\n")
		want := `running "ls" on d: adb: ` + strings.TrimSuffix(first, ".")
		check(t, err, fault.Device, tt.want)
		if errors.Is(err, adb.ErrMaybeExecuted) || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestCommandWhoseDeviceIsLostMayHaveBeenExecuted(t *testing.T) {
	t.Parallel()
	d := fakeServer(t, "OKAYFAIL0006closed").Device("d")
	_, err := d.Shell(within(t), "ls")
	check(t, err, fault.Device, adb.ErrMaybeExecuted, "the connection ended before the response did")
	_, err = d.Dial(within(t), "tcp:1")
	check(t, err, fault.Device, adb.ErrRefused, "connecting to tcp:1 on d: adb: closed")
}

func TestUnexpectedAnswersAreErrors(t *testing.T) {
	t.Parallel()
	calls := callsToEverything()
	for _, text := range []string{
		"", "OK", "OKAYzzzz", "OKAY0010short", "FAIL", "FAIL00", "FAIL-001", "FAILffffshort", "HTTP/1.1 400 Bad Request",
		"OKAYFAIL0003no", "OKAYFAILzzzz", "OKAYOKAYDATA\xff\xff\xff\xff", "OKAYOKAYDATA\x05\x00\x00\x00abc",
		"OKAYOKAYFAIL\xff\xff\xff\xff", "OKAYOKAYFAIL\x09\x00\x00\x00abc", "OKAYOKAYOKAY\x01",
		"OKAYOKAY\x01\xff\xff\xff\xffabc", "OKAYOKAY\x03\x01\x00\x00\x00",
		"OKAYOKAY\x63\x00\x00", "OKAYOKAYffff", "OKAYOKAY0002xx",
	} {
		s := fakeServer(t, text)
		for name, call := range calls {
			err := call(within(t), s)
			accepted := strings.HasPrefix(text, "OKAYOKAY") && (name == "exec" || name == "dial")
			if err == nil && !accepted || err != nil && (fault.As(err) == nil || fault.KindOf(err) == fault.CallTimeout) {
				t.Errorf("%s, answer %q: %v", name, text, err)
			}
		}
	}
}

func TestRandomAnswersEndEveryCall(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		"OKAY", "OKAY", "FAIL", "DATA", "0004", "ffff",
		"\x01\x02\x00\x00\x00", "\x03", "\xff\xff\xff\x7f", "\x00", "serial device", "\n",
	}
	for range 60 {
		var text strings.Builder
		for range random.IntN(7) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		s := fakeServer(t, text.String())
		for name, call := range callsToEverything() {
			if err := call(within(t), s); err != nil && (fault.As(err) == nil || fault.KindOf(err) == fault.CallTimeout) {
				t.Errorf("%s, answer %q: %v", name, text.String(), err)
			}
		}
	}
}

func callsToEverything() map[string]func(context.Context, adb.Server) error {
	return map[string]func(context.Context, adb.Server) error{
		"version": func(ctx context.Context, s adb.Server) error { _, err := s.Version(ctx); return err },
		"devices": func(ctx context.Context, s adb.Server) error { _, err := s.Devices(ctx); return err },
		"shell":   func(ctx context.Context, s adb.Server) error { _, err := s.Device("d").Shell(ctx, "true"); return err },
		"exec":    func(ctx context.Context, s adb.Server) error { _, err := s.Device("d").Exec(ctx, "true"); return err },
		"push": func(ctx context.Context, s adb.Server) error {
			return s.Device("d").Push(ctx, strings.NewReader("x"), "/f", 0o600)
		},
		"dial": func(ctx context.Context, s adb.Server) error {
			c, err := s.Device("d").Dial(ctx, "tcp:1")
			if err == nil {
				_ = c.Close()
			}
			return err
		},
		"start": func(ctx context.Context, s adb.Server) error {
			p, err := s.Device("d").Start(ctx, "true", nil)
			if err != nil {
				return err
			}
			defer p.Close()
			_, err = p.Exit()
			return err
		},
	}
}

// fakeServer returns a server that answers every request but the one for features with a text, and then nothing more.
func fakeServer(t *testing.T, text string) adb.Server {
	t.Helper()
	return serverOf(t, answer(text))
}

// answer answers the first request of a connection, and reads the others.
func answer(text string) func(net.Conn, string) {
	return func(c net.Conn, request string) {
		reply := text
		if strings.HasSuffix(request, ":features") {
			reply = "OKAY0008shell_v2"
		}
		_, _ = io.WriteString(c, reply)
		_ = c.(interface{ CloseWrite() error }).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}
}

// serverOf returns a server that calls serve with each connection and its first request.
func serverOf(t *testing.T, serve func(c net.Conn, request string)) adb.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen(t, l, serve)
	s, err := adb.Find([]string{"ADB_SERVER_SOCKET=tcp:" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listen calls serve with one connection after another until the test ends.
func listen(t *testing.T, l net.Listener, serve func(c net.Conn, request string)) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var request [64]byte
			n, _ := c.Read(request[:])
			serve(c, string(request[:n]))
			_ = c.Close()
		}
	}()
}
