//go:build unix

package adb_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/ports"
)

// unusedServer returns the environment of a server that is not running.
func unusedServer(t *testing.T) []string {
	t.Helper()
	port, err := ports.Free(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return adbserver.Env(port, t.TempDir())
}

func programs(t *testing.T) (device.Programs, *spawn.Supervisor) {
	t.Helper()
	s := spawn.NewSupervisor(spawn.Options{StateDir: t.TempDir()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return local.Programs(s), s
}

func TestServerIsStartedAndKeepsRunning(t *testing.T) {
	t.Parallel()
	env := unusedServer(t)
	s, err := adb.Find(env)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Devices(within(t))
	check(t, err, fault.Device, adb.ErrNotRunning, "adb start-server",
		"listing the Android devices: no adb server is running at "+s.String()+" (connect: connection refused)")
	p, supervisor := programs(t)
	path, err := adb.Program(p, env)
	if err != nil {
		t.Fatal(err)
	}
	defer endServer(t, path, env)
	for range 2 { // the second time it is running
		if err := s.EnsureRunning(within(t), p, env); err != nil {
			t.Fatal(err)
		}
	}
	supervisor.KillAll()
	if err := supervisor.Close(); err != nil {
		t.Error(err)
	}
	if version, err := s.Version(within(t)); err != nil || version < 30 {
		t.Errorf("after the run: version %d, %v", version, err)
	}
}

// endServer ends the server that a test started, as package adb never does.
func endServer(t *testing.T, path string, env []string) {
	t.Helper()
	p, _ := programs(t)
	process, err := p.Start(within(t), device.Program{Name: "adb", Path: path, Args: []string{"kill-server"}, Env: env})
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = process.In.Close(), process.Out.Close()
	<-process.Done()
}

func TestServerThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	env := unusedServer(t)
	home := t.TempDir()
	tools := filepath.Join(home, "Android/Sdk/platform-tools")
	env = append(env, "PATH=/nowhere", "HOME="+home)
	s, err := adb.Find(env)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := programs(t)
	absent := withoutSystemSDK{p}
	check(t, s.EnsureRunning(within(t), absent, env), fault.CommandNotFound, fs.ErrNotExist, "set ANDROID_HOME")
	writeProgram(t, tools, "echo \"cannot open $1\" >&2\nexit 3\n")
	check(t, s.EnsureRunning(within(t), absent, env), fault.Device, nil, "cannot open start-server", "exited with code 3")
	remote, err := adb.Find(append(env, "ADB_SERVER_SOCKET=tcp:192.0.2.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	cancel()
	if err := remote.EnsureRunning(ctx, nil, env); err == nil {
		t.Error("a server on another machine was started")
	}
}

// writeProgram writes a shell script as the adb program of a folder.
func writeProgram(t *testing.T, folder, script string) {
	t.Helper()
	err := os.MkdirAll(folder, 0o700)
	err = errors.Join(err, spawntest.WriteProgram(filepath.Join(folder, "adb"), []byte("#!/bin/sh\n"+script)))
	if err != nil {
		t.Fatal(err)
	}
}

// withoutSystemSDK finds no program that the machine has.
type withoutSystemSDK struct{ device.Programs }

func (p withoutSystemSDK) LookPath(name string, env []string) (string, error) {
	path := strings.TrimPrefix(env[len(env)-1], "PATH=")
	folders := slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool {
		return strings.HasPrefix(folder, "/usr/") || strings.HasPrefix(folder, "/opt/")
	})
	return p.Programs.LookPath(name, append(slices.Clip(env), "PATH="+strings.Join(folders, ":")))
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	sdk := t.TempDir()
	tools, started := filepath.Join(sdk, "platform-tools"), filepath.Join(sdk, "started")
	env := append(unusedServer(t), "ANDROID_HOME="+sdk, "PATH=/nowhere")
	s, err := adb.Find(env)
	writeProgram(t, tools, ": > "+started+"\nexec /bin/sleep 3600\n")
	if err = errors.Join(err, syscall.Mkfifo(started, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		_, _ = os.ReadFile(started) // until the program has opened it
		cancel()
	}()
	p, _ := programs(t)
	if err := s.EnsureRunning(ctx, p, env); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("%v", err)
	}
	<-opened
}
