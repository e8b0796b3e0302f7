// Package adbserver starts a private server of the real adb program for tests. It uses no USB device and no emulator of
// the machine.
package adbserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/testdata/ports"
)

// Server is a running adb server.
type Server struct {
	Port string
	env  []string
	path string
	hold io.Closer // the input of the process, which ends with it
	done chan struct{}
	log  bytes.Buffer // to be read when done is closed
}

// Start starts a server on a free port. It stores its key in a folder, which serves as its HOME. The caller must call
// Close.
func Start(ctx context.Context, folder string) (*Server, error) {
	path, err := exec.LookPath("adb")
	if err != nil {
		return nil, fmt.Errorf("these tests need the adb program (package adb of Debian): %w", err)
	}
	port, err := ports.Free(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{Port: port, path: path, env: Env(port, folder), done: make(chan struct{})}
	return s, s.start(ctx)
}

// Env returns the environment with which the adb program and package adb use the server at a port.
func Env(port, folder string) []string {
	return []string{
		"ANDROID_ADB_SERVER_PORT=" + port, "HOME=" + folder, "TMPDIR=" + folder, "PATH=/usr/local/bin:/usr/bin:/bin",
		"ADB_LOCAL_TRANSPORT_MAX_PORT=5553", // below the ports of emulators, which are not looked for then
	}
}

// Env returns the environment of programs that use the server.
func (s *Server) Env() []string { return s.env }

// Address returns host and port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", s.Port) }

// untilInputEnds is a shell script that runs the server until its input ends, also because the test was killed.
const untilInputEnds = `exec 3<&0
"$0" nodaemon server </dev/null 3<&- &
server=$!
{ read -r _; kill -9 "$server"; } <&3 2>/dev/null >&2 &
wait "$server"
kill "$!"`

func (s *Server) start(ctx context.Context) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", untilInputEnds, s.path)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env, &s.log, &s.log
	var err error
	if s.hold, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait()
		close(s.done)
	}()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", s.Address())
		if err == nil {
			return c.Close()
		}
		select {
		case <-s.done:
			return fmt.Errorf("the adb server ended: %s", s.log.String())
		case <-ctx.Done():
			s.Close()
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Connect makes the server connect to a device over TCP. Its serial is the address.
func (s *Server) Connect(ctx context.Context, address string) error {
	out, err := s.Run(ctx, "connect", address)
	if err == nil && !strings.HasPrefix(out, "connected to ") {
		err = errors.New(strings.TrimSpace(out))
	}
	return err
}

// Disconnect makes the server forget a device. Call it before closing the device: another one may get its address then.
func (s *Server) Disconnect(ctx context.Context, address string) error {
	_, err := s.Run(ctx, "disconnect", address)
	return err
}

// Run runs the adb program and returns its stdout and stderr.
func (s *Server) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("adb %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// Close ends the server and waits until it has ended.
func (s *Server) Close() {
	_ = s.hold.Close()
	<-s.done
}
