package adb

import (
	"cmp"
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Server is the address of an adb server.
type Server struct {
	network, address string
	// limit is for what the server answers by itself, and for a device to accept a service.
	limit     time.Duration
	maxOutput int // of Shell and Exec, in bytes
}

const (
	defaultLimit     = 30 * time.Second
	defaultMaxOutput = 64 << 20
)

// Find returns the server that the adb program would use in an environment: ADB_SERVER_SOCKET, or
// ANDROID_ADB_SERVER_ADDRESS and ANDROID_ADB_SERVER_PORT, or 127.0.0.1:5037.
func Find(env []string) (Server, error) {
	host := cmp.Or(device.Getenv(env, "ANDROID_ADB_SERVER_ADDRESS"), "127.0.0.1")
	port := cmp.Or(device.Getenv(env, "ANDROID_ADB_SERVER_PORT"), "5037")
	name := "ANDROID_ADB_SERVER_PORT"
	if socket := device.Getenv(env, "ADB_SERVER_SOCKET"); socket != "" {
		name = "ADB_SERVER_SOCKET"
		kind, address, _ := strings.Cut(socket, ":")
		switch {
		case kind == "localfilesystem" && address != "":
			return Server{"unix", address, defaultLimit, defaultMaxOutput}, nil
		case kind != "tcp":
			return Server{}, fault.New(fault.Misuse, "write it like tcp:127.0.0.1:5037",
				"the variable ADB_SERVER_SOCKET is %q; expected tcp:host:port or localfilesystem:path", socket)
		}
		host, port = "127.0.0.1", address
		if i := strings.LastIndex(address, ":"); i >= 0 {
			host, port = strings.Trim(address[:i], "[]"), address[i+1:]
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Server{}, fault.New(fault.Misuse, "the default is 5037",
			"the port %q in the variable %s is not a number from 1 to 65535", port, name)
	}
	return Server{"tcp", net.JoinHostPort(host, port), defaultLimit, defaultMaxOutput}, nil
}

// String returns the address: host and port, or a path.
func (s Server) String() string { return s.address }

// Version returns the version of the server's protocol, such as 41.
func (s Server) Version(ctx context.Context) (int, error) {
	const what = "asking the adb server for its version"
	text, err := s.query(ctx, what, "host:version")
	if err != nil {
		return 0, err
	}
	version, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return 0, s.newFault(ctx, what, errMalformed)
	}
	return int(version), nil
}

// query sends a request that the server answers by itself, and returns its answer.
func (s Server) query(ctx context.Context, what, service string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, errTimeout)
	defer cancel()
	var text string
	c, err := s.connect(ctx)
	if err == nil {
		defer c.Close()
		err = c.request(service)
	}
	if err == nil {
		text, err = c.block()
	}
	if err != nil {
		return "", s.newFault(ctx, what, err)
	}
	return text, nil
}

// EnsureRunning starts the server with the adb program if it is not running. Other programs use the same server, so it
// keeps running after this process.
func (s Server) EnsureRunning(ctx context.Context, programs device.Programs, env []string) error {
	_, err := s.Version(ctx)
	if !errors.Is(err, ErrNotRunning) || !s.isLocal() {
		return err
	}
	path, err := Program(programs, env)
	if err != nil {
		return err
	}
	process, err := programs.Start(ctx, device.Program{
		Name: "adb", Path: path, Args: []string{"start-server"}, Env: env, Daemon: true,
	})
	if err != nil {
		return err
	}
	if process.In != nil {
		_, _ = process.In.Close(), process.Out.Close()
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		_ = process.Stop(ctx) // the error of Version is the one to return
	}
	// It may have failed because another process started the server at the same time.
	_, err = s.Version(ctx)
	if !errors.Is(err, ErrNotRunning) || ctx.Err() != nil {
		return err
	}
	return process.Explain(fault.New(fault.Device, "run `adb start-server` to see why",
		"`%s start-server` did not start a server at %s", path, s))
}

// isLocal reports whether the server is on this machine.
func (s Server) isLocal() bool {
	if s.network == "unix" {
		return true
	}
	host, _, _ := net.SplitHostPort(s.address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Program finds the adb program: on PATH, in ANDROID_HOME and ANDROID_SDK_ROOT, or where the Android SDK is usually
// installed.
func Program(programs device.Programs, env []string) (string, error) {
	found, err := sdkProgram(programs, env, "adb", "platform-tools")
	if err != nil {
		return "", fault.Wrap(fault.CommandNotFound, err, installHint(runtime.GOOS),
			"the program adb was not found on PATH, in ANDROID_HOME or where the Android SDK is usually installed")
	}
	return found, nil
}

// EmulatorProgram finds the emulator of the Android SDK as Program finds adb.
func EmulatorProgram(programs device.Programs, env []string) (string, error) {
	found, err := sdkProgram(programs, env, "emulator", "emulator")
	if err != nil {
		return "", fault.Wrap(fault.CommandNotFound, err, "install it with Android Studio or `sdkmanager emulator`, and set ANDROID_HOME",
			"the program emulator was not found on PATH, in ANDROID_HOME or where the Android SDK is usually installed")
	}
	return found, nil
}

// sdkProgram finds a program on PATH or in a folder of the Android SDK.
func sdkProgram(programs device.Programs, env []string, name, folder string) (string, error) {
	home := cmp.Or(device.Getenv(env, "HOME"), device.Getenv(env, "USERPROFILE"))
	path := []string{device.Getenv(env, "PATH")}
	for _, sdk := range []struct{ base, folder string }{
		{device.Getenv(env, "ANDROID_HOME"), ""},
		{device.Getenv(env, "ANDROID_SDK_ROOT"), ""},
		{home, "Android/Sdk"},
		{home, "Library/Android/sdk"},
		{device.Getenv(env, "LOCALAPPDATA"), "Android/Sdk"},
		{"/usr/lib", "android-sdk"},
		{"/opt", "android-sdk"},
	} {
		if sdk.base != "" {
			path = append(path, filepath.Join(sdk.base, sdk.folder, folder))
		}
	}
	list := "PATH=" + strings.Join(path, string(filepath.ListSeparator))
	return programs.LookPath(name, append(slices.Clip(env), list))
}

// installHint says how to get adb on a system.
func installHint(system string) string {
	install := map[string]string{
		"linux":   " (Debian and Ubuntu: apt-get install adb)",
		"darwin":  " (brew install --cask android-platform-tools)",
		"windows": " (winget install Google.PlatformTools)",
	}
	return "install Android's platform-tools" + install[system] + ", and put adb on PATH or set ANDROID_HOME"
}
