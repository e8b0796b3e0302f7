//go:build unix

package stdio

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// BenchmarkRoundTrip compares a call through a Link with the same bytes over bare pipes, and with the SDK's own
// framing.
func BenchmarkRoundTrip(b *testing.B) {
	id, _ := jsonrpc.MakeID(1.0)
	req := &jsonrpc.Request{ID: id, Method: "hello", Params: []byte(`{"name":"x","arguments":{"a":1}}`)}
	self := selfPath(b)
	env := []string{roleVariable + "=answers"}
	b.Run("bare", func(b *testing.B) {
		in, out, stop := bare(b, self, env)
		defer stop()
		r := bufio.NewReader(out)
		line, _ := jsonrpc.EncodeMessage(req)
		line = append(line, '\n')
		for b.Loop() {
			if _, err := in.Write(line); err != nil {
				b.Fatal(err)
			}
			if _, err := r.ReadBytes('\n'); err != nil {
				b.Fatal(err)
			}
		}
	})
	exchange := func(b *testing.B, conn mcp.Connection) {
		b.Helper()
		for b.Loop() {
			if err := conn.Write(b.Context(), req); err != nil {
				b.Fatal(err)
			}
			if _, err := conn.Read(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("sdk", func(b *testing.B) {
		in, out, stop := bare(b, self, env)
		defer stop()
		conn, _ := (&mcp.IOTransport{Reader: out, Writer: in}).Connect(b.Context())
		defer conn.Close()
		exchange(b, conn)
	})
	b.Run("link", func(b *testing.B) {
		p := benchLink(b, Spec{Spec: spawn.Spec{Command: self, Env: env}})
		conn, _ := p.Transport().Connect(b.Context())
		exchange(b, conn)
	})
}

// BenchmarkBigResult reads an answer of 20 MB.
func BenchmarkBigResult(b *testing.B) {
	const size = 20 << 20
	id, _ := jsonrpc.MakeID(1.0)
	req := &jsonrpc.Request{ID: id, Method: "big", Params: []byte(fmt.Sprint(size))}
	p := benchLink(b, roleSpec(b, "big"))
	conn, _ := p.Transport().Connect(b.Context())
	b.SetBytes(size)
	for b.Loop() {
		if err := conn.Write(b.Context(), req); err != nil {
			b.Fatal(err)
		}
		if _, err := conn.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFraming is the cost of a line without a process.
func BenchmarkFraming(b *testing.B) {
	text := func(n int) string { return strings.Repeat(`hello \"world\"\n`, n/16) }
	for name, line := range map[string]string{
		"screen":  `{"result":{"content":[{"type":"text","text":"` + text(20<<10) + `"}]},"jsonrpc":"2.0","id":12}`,
		"small":   `{"result":{"content":[{"type":"text","text":"hello"}]},"jsonrpc":"2.0","id":12}`,
		"text":    `{"result":{"content":[{"type":"text","text":"` + text(20<<20) + `"}]},"jsonrpc":"2.0","id":12}`,
		"numbers": `{"result":[` + strings.Repeat("1,2,{\"a\":3},", 20<<20/12) + `1],"jsonrpc":"2.0","id":12}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				f := framer{maxLine: maxLine, message: func(jsonrpc.Message) {}, stray: func([]byte) { b.Error("stray text") }}
				f.accept([]byte(line))
			}
		})
	}
}

func selfPath(b *testing.B) string {
	b.Helper()
	path, err := exec.LookPath("/proc/self/exe")
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func bare(b *testing.B, path string, env []string) (io.WriteCloser, io.ReadCloser, func()) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), path)
	cmd.Env = env
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return in, out, func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
}

func benchLink(b *testing.B, spec Spec) *Link {
	b.Helper()
	p, err := Start(b.Context(), spawn.NewSupervisor(spawn.Options{}), spec)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Stop(b.Context()) })
	return p
}
