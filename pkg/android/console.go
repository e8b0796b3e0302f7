package android

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// console is the console of an emulator on this machine, which controls its sensors: a telnet-like protocol of lines,
// in which each command is answered with OK or KO.
type console struct {
	address string
	token   string // path of the file with the token
}

// emulatorPrefix is how the serial of an emulator begins. The port of its console follows.
const emulatorPrefix = "emulator-"

func namesEmulator(serial string) bool { return strings.HasPrefix(serial, emulatorPrefix) }

// consoleOf returns the console of an emulator; false for another phone.
func consoleOf(serial string, env []string) (console, bool) {
	port, isEmulator := strings.CutPrefix(serial, emulatorPrefix)
	home := device.Getenv(env, "HOME")
	if home == "" {
		home = device.Getenv(env, "USERPROFILE")
	}
	return console{net.JoinHostPort("127.0.0.1", port), filepath.Join(home, ".emulator_console_auth_token")}, isEmulator
}

// run runs a command.
func (c console) run(ctx context.Context, command string) error {
	err := c.exchange(ctx, command)
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.ToolFailed, err, "the emulator must run on this machine, for this user",
		fmt.Sprintf("the console of the emulator at %s: %s", c.address, command))
}

func (c console) exchange(ctx context.Context, command string) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	lines := bufio.NewReader(connection)
	if err := readAnswer(lines); err != nil { // of the greeting
		return err
	}
	token, err := os.ReadFile(c.token)
	if err != nil {
		return err
	}
	for _, line := range []string{"auth " + strings.TrimSpace(string(token)), command} {
		if _, err := fmt.Fprintf(connection, "%s\n", line); err != nil {
			return err
		}
		if err := readAnswer(lines); err != nil {
			return err
		}
	}
	return nil
}

// readAnswer reads lines until the last one of an answer.
func readAnswer(lines *bufio.Reader) error {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("it closed the connection: %w", err)
		}
		line = strings.TrimSpace(line)
		if line == "OK" {
			return nil
		}
		if problem, refused := strings.CutPrefix(line, "KO"); refused {
			return fmt.Errorf("%s", strings.TrimPrefix(problem, ": "))
		}
	}
}
