package server

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// BenchmarkCall compares a call with the least that a round trip to the same server can cost: a line written, a line
// read.
func BenchmarkCall(b *testing.B) {
	servers := []struct {
		name string
		argv []string
	}{
		{"go-sdk", []string{buildGoSDK(b)}},
		{"sdk1-bun", realArgv(b, "bun", "sdk1.ts")},
		{"hand-bun", realArgv(b, "bun", "hand.mjs")},
	}
	for _, server := range servers {
		b.Run(server.name+"/bare", func(b *testing.B) { benchmarkBare(b, server.argv) })
		b.Run(server.name+"/server", func(b *testing.B) { benchmarkServer(b, server.argv) })
	}
}

// BenchmarkCallOverhead measures a call without a process: encoding, correlation and decoding. The server responds
// within the write, so that no time is spent on pipes.
func BenchmarkCallOverhead(b *testing.B) {
	m := &memoryServer{echo: true}
	s, err := Start(b.Context(), Config{Name: "memory", Launch: m.launch})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Stop(b.Context())
	c := tool.Call{
		Tool: "echo", InvocationID: tool.NewCapability(), Context: fullContext(),
		Args: map[string]any{"text": "hello"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if result, err := s.Call(b.Context(), c); err != nil || result.Text != "hello" {
			b.Fatal(result, err)
		}
	}
}

func benchmarkServer(b *testing.B, argv []string) {
	s, err := Start(b.Context(), Config{Name: "bench", Launch: launcher(b, nil, argv...)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Stop(b.Context())
	c := tool.Call{Tool: "fail", InvocationID: "i-1", Context: fullContext()}
	for b.Loop() {
		if result, err := s.Call(b.Context(), c); err != nil || result.Text != "no, on purpose" {
			b.Fatal(result, err)
		}
	}
}

func benchmarkBare(b *testing.B, argv []string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	out := bufio.NewReaderSize(stdout, 64<<10)
	exchange := func(id int, method, params string) string {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method,
			params); err != nil {
			b.Fatal(err)
		}
		line, err := out.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		return line
	}
	exchange(1, "initialize",
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	const params = `{"name":"fail","arguments":{"_trailblazeContext":{"memory":{"n":1,"who":"ada"},"device":{"platform":"ANDROID",` +
		`"widthPixels":1080,"heightPixels":2400,"driverType":"android-ondevice-accessibility"}}},"_meta":{"progressToken":"1",` +
		`"trailblazeInvocationId":"i-1","trailblaze":{"sessionId":"s-1","invocationId":"i-1","memory":{"n":1,"who":"ada"},` +
		`"device":{"platform":"android","widthPixels":1080,"heightPixels":2400,"driverType":"android-ondevice-accessibility"},` +
		`"target":{"id":"shop","displayName":"Shop","appIds":["com.shop"],"appId":"com.shop"}}}}`
	id := 1
	for b.Loop() {
		id++
		if line := exchange(id, "tools/call", params); !strings.Contains(line, `on purpose`) {
			b.Fatal(line)
		}
	}
}
