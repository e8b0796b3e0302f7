package android

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// emulator is an emulator that the backend has started.
type emulator struct {
	process device.PipedProcess
	serial  string
}

// chooseEmulator returns the emulator of the virtual device that the user names, and starts it if it does not run.
func (b *backend) chooseEmulator(ctx context.Context, server adb.Server, devices []adb.Info) (adb.Device, error) {
	if b.serial = b.runningEmulator(ctx, server, devices); b.serial != "" {
		return server.Device(b.serial), nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.limits.boot)
	defer cancel()
	started, err := b.startEmulator(ctx)
	if err != nil {
		return adb.Device{}, err
	}
	b.emulator, b.serial = started, started.serial
	if err := b.awaitBoot(ctx, server); err != nil {
		return adb.Device{}, errors.Join(err, b.stopLocked(ctx))
	}
	return server.Device(started.serial), nil
}

// runningEmulator returns the serial of the emulator of that virtual device; empty if it does not run.
func (b *backend) runningEmulator(ctx context.Context, server adb.Server, devices []adb.Info) string {
	for _, d := range devices {
		if d.State == adb.Ready && namesEmulator(d.Serial) && avdOf(ctx, server.Device(d.Serial)) == b.options.start {
			return d.Serial
		}
	}
	return ""
}

// avdOf returns the name of the virtual device of an emulator; empty if it does not say so.
func avdOf(ctx context.Context, d adb.Device) string {
	out, err := runLine(ctx, d, "getprop ro.boot.qemu.avd_name; getprop ro.kernel.qemu.avd_name") // from Android 11 on, and before
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.SplitN(strings.TrimSpace(out), "\n", 2)[0])
}

// startEmulator starts an emulator at ports that are free. Without a screen it has no window.
func (b *backend) startEmulator(ctx context.Context) (*emulator, error) {
	path, err := adb.EmulatorProgram(b.options.programs, b.options.env)
	if err != nil {
		return nil, err
	}
	port, err := consolePort(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"-avd", b.options.start, "-port", strconv.Itoa(port)}
	hasScreen := device.Getenv(b.options.env, "DISPLAY") != "" || device.Getenv(b.options.env, "WAYLAND_DISPLAY") != ""
	if runtime.GOOS == "linux" && !hasScreen {
		args = append(args, "-no-window")
	}
	process, err := b.options.programs.Start(ctx, device.Program{
		Name: "emulator " + b.options.start, Path: path, Args: args, Env: b.options.env,
	})
	if err != nil {
		return nil, err
	}
	if process.In != nil {
		_, _ = process.In.Close(), process.Out.Close()
	}
	return &emulator{process, fmt.Sprint(emulatorPrefix, port)}, nil
}

// consolePort returns a free port for the console of an emulator, which is one from 5554 to 5682. That of adb is the next
// one. Below 5586 the emulators of people run, and every adb server of the machine looks for them; above, an emulator tells
// its adb server.
func consolePort(ctx context.Context) (int, error) {
	const first, last = 5586, 5682
	for port := first; port <= last; port += 2 {
		if isFree(ctx, port) && isFree(ctx, port+1) {
			return port, nil
		}
	}
	return 0, fault.New(fault.IO, "end an emulator", "no port from %d to %d is free for an emulator", first, last)
}

func isFree(ctx context.Context, port int) bool {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}

// awaitBoot waits until Android has started on the emulator.
func (b *backend) awaitBoot(ctx context.Context, server adb.Server) error {
	for {
		out, err := runLine(ctx, server.Device(b.emulator.serial), "getprop sys.boot_completed")
		if err == nil && strings.TrimSpace(out) == "1" {
			return nil
		}
		timer := time.NewTimer(b.limits.poll)
		select {
		case <-timer.C:
		case <-b.emulator.process.Done():
			timer.Stop()
			return b.emulator.process.Explain(fault.New(fault.Device, "`emulator -list-avds` lists the names of those that can be started",
				"the emulator %s ended before Android had started", b.options.start))
		case <-ctx.Done():
			timer.Stop()
			kind := fault.Cancelled
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				kind = fault.Device
			}
			return fault.Wrap(kind, context.Cause(ctx), "start it by hand to see what it does", "waiting for the start of the emulator "+b.options.start)
		}
	}
}

// stopEmulator ends the emulator that was started, if there is one.
func (b *backend) stopEmulator(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopLocked(ctx)
}

// stopLocked is stopEmulator for a caller that holds mu. The console ends an emulator in order; what does not follow is
// killed.
func (b *backend) stopLocked(ctx context.Context) error {
	e := b.emulator
	if e == nil {
		return nil
	}
	b.emulator, b.serial = nil, ""
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.limits.close)
	defer cancel()
	if c, ok := consoleOf(e.serial, b.options.env); ok && c.run(ctx, "kill") == nil {
		select {
		case <-e.process.Done():
			return nil
		case <-ctx.Done():
		}
	}
	cancel() // an emulator does not end because its input does
	return e.process.Stop(ctx)
}
