package adb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
)

// server is a real adb server that the tests share.
var server *adbserver.Server

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "adb")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if server, err = adbserver.Start(context.Background(), folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	server.Close()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// limit is far longer than anything here takes.
const limit = 30 * time.Second

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// phone is a simulated phone whose shell knows a few commands.
type phone struct {
	features []string
	files    *adbd.Files
	dial     func(service string) (net.Conn, error)
	hanging  chan struct{} // receives when the command hang has started
	stopped  chan struct{} // receives when it was cancelled

	mu       sync.Mutex
	commands []string
}

func (p *phone) Properties() adbd.Properties {
	return adbd.Properties{Product: "oriole", Model: "Pixel 6", Device: "oriole", Features: p.features}
}

func (p *phone) Files() *adbd.Files { return p.files }

func (p *phone) Dial(_ context.Context, service string) (net.Conn, error) {
	if p.dial == nil {
		return nil, io.ErrClosedPipe
	}
	return p.dial(service)
}

// received returns the commands that the phone received.
func (p *phone) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.commands...)
}

// Shell implements adbd.Phone. It understands what package adb adds for a phone without shell_v2.
func (p *phone) Shell(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) int {
	if inner, ok := strings.CutPrefix(command, "("); ok {
		inner, end, _ := strings.Cut(inner, "\n) </dev/null; echo ")
		exit := p.Shell(ctx, inner, strings.NewReader(""), stdout, stderr)
		if inner != "lose" {
			fmt.Fprintf(stdout, "%s%d\n", strings.TrimSuffix(end, "$?"), exit)
		}
		return 0
	}
	p.mu.Lock()
	p.commands = append(p.commands, command)
	p.mu.Unlock()
	switch command {
	case "fail":
		fmt.Fprint(stdout, "to stdout")
		fmt.Fprint(stderr, "to stderr")
		return 7
	case "many":
		_, _ = stdout.Write(manyLines())
	case "cmd package 'install' -S 14":
		data := make([]byte, 14)
		_, _ = io.ReadFull(stdin, data)
		p.files.Write("/installed", data, 0o600, time.Unix(0, 0))
		fmt.Fprintln(stdout, "Success")
	case "cat":
		_, _ = io.Copy(stdout, stdin)
	case "bytes":
		_, _ = stdout.Write(allBytes())
	case "flood":
		for chunk := bytes.Repeat([]byte("x"), 1<<20); ctx.Err() == nil; {
			if _, err := stdout.Write(chunk); err != nil {
				break
			}
		}
	case "hang":
		fmt.Fprintln(stdout, "started")
		p.hanging <- struct{}{}
		<-ctx.Done()
		p.stopped <- struct{}{}
	}
	return 0
}

// manyLines returns more than fits into one message.
func manyLines() []byte { return bytes.Repeat([]byte("a line of output\n"), 100_000) }

func allBytes() []byte {
	all := make([]byte, 0, 3*256)
	for i := range 3 * 256 {
		all = append(all, byte(i))
	}
	return all
}

// newPhone returns a simulated phone and its device, not yet connected to the server.
func newPhone(t testing.TB, o adbd.Options, features ...string) (*phone, *adbd.Device) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &phone{
		features: features, files: adbd.NewFiles(), hanging: make(chan struct{}, 1), stopped: make(chan struct{}, 1),
	}
	d := adbd.Serve(context.WithoutCancel(t.Context()), l, p, o)
	t.Cleanup(func() {
		_ = server.Disconnect(context.WithoutCancel(t.Context()), d.Addr())
		d.Close()
	})
	return p, d
}

// connected returns a simulated phone and its device, connected to the server.
func connected(t testing.TB, features ...string) (*phone, adb.Device, *adbd.Device) {
	t.Helper()
	p, d := newPhone(t, adbd.Options{}, features...)
	if err := server.Connect(within(t), d.Addr()); err != nil {
		t.Fatal(err)
	}
	return p, found(t).Device(d.Addr()), d
}

// check fails the test unless err has a kind and a cause, if that is not nil, and its message and hint contain some
// texts.
func check(t *testing.T, err error, kind fault.Kind, cause error, texts ...string) {
	t.Helper()
	e := fault.As(err)
	if e == nil || e.Kind != kind || cause != nil && !errors.Is(err, cause) {
		t.Errorf("got %v, want an error of kind %q with the cause: %v", err, kind, cause)
		return
	}
	for _, text := range texts {
		if !strings.Contains(e.Message+"\n"+e.Hint, text) {
			t.Errorf("got %s (%s), want %q in it", e.Message, e.Hint, text)
		}
	}
}

// found returns the address of the server.
func found(t testing.TB) adb.Server {
	t.Helper()
	s, err := adb.Find(server.Env())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
