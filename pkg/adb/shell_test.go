package adb_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
)

func TestShellReturnsOutputAndExitStatus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		features []string
		want     adb.Output
	}{
		"shell_v2": {adbd.DefaultFeatures(), adb.Output{Stdout: []byte("to stdout"), Stderr: []byte("to stderr"), Exit: 7}},
		"before":   {[]string{"cmd"}, adb.Output{Stdout: []byte("to stdoutto stderr"), Exit: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, d, _ := connected(t, tt.features...)
			out, err := d.Shell(within(t), "fail")
			if diff := cmp.Diff(tt.want, out); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			out, err = d.Shell(within(t), "cat") // ends because its input is empty
			if diff := cmp.Diff(adb.Output{}, out); err != nil || diff != "" {
				t.Errorf("cat: %v (-want +got):\n%s", err, diff)
			}
			out, err = d.Shell(within(t), "many")
			if err != nil || !bytes.Equal(out.Stdout, manyLines()) {
				t.Errorf("many: %d bytes, %v", len(out.Stdout), err)
			}
		})
	}
}

func TestShellWithoutTheSentinelIsNotASuccess(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t, "cmd")
	out, err := d.Shell(within(t), "lose")
	if !errors.Is(err, adb.ErrMaybeExecuted) || fault.As(err) == nil {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestExecReturnsTheBytes(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	out, err := d.Exec(within(t), "bytes")
	if err != nil || !bytes.Equal(out, allBytes()) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestOutputIsLimited(t *testing.T) {
	t.Parallel()
	p, _, device := connected(t)
	d := found(t).WithLimits(limit, 1<<20).Device(device.Addr())
	for name, call := range map[string]func() error{
		"flood":      func() error { _, err := d.Exec(within(t), "flood"); return err },
		"flood\" on": func() error { _, err := d.Shell(within(t), "flood"); return err },
	} {
		check(t, call(), fault.TooLarge, adb.ErrMaybeExecuted, name)
	}
	if diff := cmp.Diff([]string{"flood", "flood"}, p.received()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestCommandEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, adb.Device) error{
		"shell": func(ctx context.Context, d adb.Device) error { _, err := d.Shell(ctx, "hang"); return err },
		"exec":  func(ctx context.Context, d adb.Device) error { _, err := d.Exec(ctx, "hang"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, d, _ := connected(t)
			ctx, cancel := context.WithCancelCause(within(t))
			go func() {
				<-p.hanging
				cancel(errors.New("stopped by the test"))
			}()
			err := call(ctx, d)
			<-p.stopped // the device was told
			check(t, err, fault.Cancelled, adb.ErrMaybeExecuted, ": stopped by the test")
			if diff := cmp.Diff([]string{"hang"}, p.received()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLostConnectionIsReported(t *testing.T) {
	t.Parallel()
	p, d, device := connected(t)
	go func() {
		<-p.hanging
		device.Disconnect()
	}()
	_, err := d.Shell(within(t), "hang")
	if !errors.Is(err, adb.ErrMaybeExecuted) || fault.KindOf(err) != fault.Device ||
		err.Error() != `running "hang" on `+d.Serial()+": the connection ended before the response did" {
		t.Errorf("%v", err)
	}
}

func TestProcessReportsOutputAndEnd(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	var output bytes.Buffer
	ctx, cancel := context.WithCancel(within(t))
	p, err := d.Start(ctx, "fail", &output)
	if err != nil {
		t.Fatal(err)
	}
	cancel() // it limits the start only
	exit, err := p.Exit()
	p.Close()
	wrote := output.String() // in any order
	if err != nil || exit != 7 || !strings.Contains(wrote, "to stdout") || !strings.Contains(wrote, "to stderr") {
		t.Errorf("exit %d, %v, output %q", exit, err, output.String())
	}
}

func TestProcessIsClosed(t *testing.T) {
	t.Parallel()
	phone, d, _ := connected(t)
	p, err := d.Start(within(t), "hang", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-phone.hanging
	select {
	case <-p.Done():
		t.Error("it ended by itself")
	default:
	}
	p.Close()
	<-phone.stopped
	if _, err := p.Exit(); !errors.Is(err, adb.ErrMaybeExecuted) {
		t.Errorf("%v", err)
	}
}

func TestProcessEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	phone, d, device := connected(t)
	p, err := d.Start(within(t), "hang", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	<-phone.hanging
	device.Disconnect()
	select {
	case <-p.Done():
	case <-time.After(limit):
		t.Fatal("the end of the connection was not noticed")
	}
	if _, err := p.Exit(); !errors.Is(err, adb.ErrMaybeExecuted) {
		t.Errorf("%v", err)
	}
}

func TestTooLongCommandIsRefused(t *testing.T) {
	t.Parallel()
	p, d, _ := connected(t)
	_, err := d.Shell(within(t), strings.Repeat("x", 1<<16))
	if err == nil || errors.Is(err, adb.ErrMaybeExecuted) || len(p.received()) != 0 {
		t.Errorf("%v, received %d commands", err, len(p.received()))
	}
}

func TestQuoteIsReadByAShell(t *testing.T) {
	t.Parallel()
	words := []string{
		"plain", "", "two words", "it's", `"$HOME"`, "`id`", "a\nb", "*", "#x", "~", "é😀", "-n", "a=b", `\`, "!", "{a,b}",
	}
	out, err := exec.Command("sh", "-c", "printf '%s\\0' "+adb.Quote(words...)).Output()
	if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got := adb.Quote("am", "start", "-n", "com.example/.Main"); got != "am start -n com.example/.Main" {
		t.Errorf("quoted without need: %s", got)
	}
}

func BenchmarkShell(b *testing.B) {
	_, d, _ := connected(b)
	b.Run("package", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.Shell(b.Context(), "true"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("program", func(b *testing.B) {
		for b.Loop() {
			if _, err := server.Run(b.Context(), "-s", d.Serial(), "shell", "true"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
