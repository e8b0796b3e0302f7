package callback

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// strangerURL makes the test binary ask, as the user it runs as: a request to this address, which it prints the answer to.
const strangerURL = "TRAILBLAZE_TEST_STRANGER"

func TestWithoutAnIdAndATokenOnlyTheSameUserIsHeard(t *testing.T) {
	t.Parallel()
	s := open(t)
	begin(t, s, echo)
	request := strings.Replace(body("ID", "greet", 5), `"invocation_id":"ID",`, "", 1)
	if got := mustAsk(t, s, request); got.Result.Text != "greet 5" {
		t.Errorf("ourselves: %s", got.text)
	}
	if os.Getuid() != 0 { // only root can become somebody else; the look-up itself is tested below
		return
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // somebody else has to enter it
		t.Fatal(err)
	}
	program := filepath.Join(dir, "stranger")
	if err := os.WriteFile(program, self, 0o755); err != nil { //nolint:gosec // somebody else has to run it
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program)
	c.Dir, c.Env = "/", []string{strangerURL + "=" + s.hosts[0] + "\n" + good(s, request).String()}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the session's token is needed") {
		t.Errorf("somebody else: %v\n%s", err, out)
	}
}

// askAsStranger sends the request that the environment holds, when there is one.
func askAsStranger() (asked bool) {
	address, request, asked := strings.Cut(os.Getenv(strangerURL), "\n")
	if !asked {
		return false
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, strings.Replace(request, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
	_, _ = io.Copy(os.Stdout, c)
	return true
}

func TestTheOwnerOfASocketIsFoundInTheKernelsTables(t *testing.T) {
	t.Parallel()
	own, peer := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 0x1234}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2), Port: 0xABCD}
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	line := func(local, remote, uid string) string {
		return "   0: " + local + " " + remote + " 01 00000000:00000000 00:00000000 00000000  " + uid + "        0 1 1\n"
	}
	mine, theirs := inTable(own), inTable(peer)
	const mapped = "0000000000000000FFFF0000"
	for name, tt := range map[string]struct {
		table string
		uid   string
		found bool
	}{
		"theirs":        {head + line(theirs, mine, "7") + line(mine, theirs, "1000"), "1000", true},
		"mapped":        {head + line(mapped+mine, mapped+theirs, "0"), "0", true},
		"the other end": {head + line(theirs, mine, "0"), "", false},
		"none":          {head, "", false},
	} {
		path := filepath.Join(t.TempDir(), "tcp")
		if err := os.WriteFile(path, []byte(tt.table), 0o600); err != nil {
			t.Fatal(err)
		}
		if uid, found := owner(path, own, peer); uid != tt.uid || found != tt.found {
			t.Errorf("%s: %q, %v", name, uid, found)
		}
	}
}
