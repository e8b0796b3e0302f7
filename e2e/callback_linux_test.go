package e2e_test

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// listeners returns the addresses on which a process listens, from the kernel.
func listeners(t *testing.T, pid int) []string {
	t.Helper()
	sockets := map[string]bool{}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: process %d has no open files", err, pid)
	}
	for _, file := range files {
		if link, err := os.Readlink(file); err == nil && strings.HasPrefix(link, "socket:[") {
			sockets[strings.Trim(link, "socket:[]")] = true
		}
	}
	var found []string
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); f[3] == "0A" && sockets[f[9]] {
				found = append(found, address(t, f[1]))
			}
		}
	}
	return found
}

// address reads how the kernel writes one: 0100007F:1F90 for 127.0.0.1:8080, on a little-endian machine.
func address(t *testing.T, kernels string) string {
	t.Helper()
	host, port, _ := strings.Cut(kernels, ":")
	bytes, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	for word := range slices.Chunk(bytes, 4) {
		slices.Reverse(word)
	}
	ip, _ := netip.AddrFromSlice(bytes)
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s:%d", ip, n)
}

func TestSessionListensOnOneLoopbackPort(t *testing.T) {
	t.Parallel()
	s := startPendingSession(t, bunPath)
	if diff := cmp.Diff([]string{"127.0.0.1:" + s.port}, listeners(t, s.cmd.Process.Pid)); diff != "" {
		t.Errorf("listeners (-want +got):\n%s", diff)
	}
	s.finish(t, 0)
}

// TestNoCallbackServerWithoutCalls looks for listeners while a server that is listed waits.
func TestNoCallbackServerWithoutCalls(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"toolbox list", "run --dry-run", "doctor --deep"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"list:wait"`), "trails/a.trail.yaml": webTrail("echo: {}")})
			for _, name := range callbackVariables {
				p.env = append(p.env, name+"=stale")
			}
			c := p.command(strings.Fields(args)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			reached(t, p, "list")()
			if found := listeners(t, c.Process.Pid); len(found) > 0 {
				t.Errorf("it listens at %q", found)
			}
			env := serverEnv(t, c.Process.Pid)
			for _, name := range callbackVariables {
				if strings.Contains(env, "\x00"+name+"=") {
					t.Errorf("the server has %s", name)
				}
			}
			p.write("go", "")
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

var callbackVariables = []string{
	"TRAILBLAZE_BASE_URL", "TRAILBLAZE_CALLBACK_URL", "TRAILBLAZE_PORT", "TRAILBLAZE_SESSION_TOKEN", "TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS",
}

// serverEnv is the environment of the one tool server of a process, each entry after a zero byte. A process may have
// other children: doctor asks programs for their versions.
func serverEnv(t *testing.T, pid int) string {
	t.Helper()
	var servers []string
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // threads end
		for child := range strings.FieldsSeq(string(children)) {
			env, _ := os.ReadFile("/proc/" + child + "/environ") // children end
			if entries := "\x00" + string(env); strings.Contains(entries, "\x00TRAILBLAZE_PROCESS_ID=") {
				servers = append(servers, entries)
			}
		}
	}
	if len(servers) != 1 {
		t.Fatalf("%d has %d tool servers, want one", pid, len(servers))
	}
	return servers[0]
}
