package engine

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/bundle"
)

// A memoryStore is a Store in memory.
type memoryStore struct {
	mu    sync.Mutex
	blobs map[string][]byte
}

func (s *memoryStore) Load(_ context.Context, key string, create func() ([]byte, error)) ([]byte, error) {
	s.mu.Lock()
	data, ok := s.blobs[key]
	s.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := create()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	if err == nil {
		s.blobs[key] = data
	}
	return data, err
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

func BenchmarkStartTrivialScript(b *testing.B) {
	store := &memoryStore{}
	for b.Loop() {
		r, _ := io.Pipe()
		e := Start(Spec{
			Code: []byte(`(async()=>{process.stdout.write("x")})`), Key: "trivial", Store: store,
			Stdin: r, Stdout: discard{io.Discard}, Stderr: discard{io.Discard},
		})
		if exit := e.Exit(); exit != (Exit{}) {
			b.Fatal(exit)
		}
	}
}

// BenchmarkStartServers starts servers on the MCP SDK at the same time, each of which lists its tools and exits.
func BenchmarkStartServers(b *testing.B) {
	const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` +
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	script, err := filepath.Abs(filepath.Join(servers, "bench-echo.ts"))
	if err != nil {
		b.Fatal(err)
	}
	server, err := bundle.Open("").Bundle(b.Context(), script, bundle.Embedded)
	if err != nil {
		b.Fatal(err)
	}
	spec := Spec{
		Script: script, Dir: filepath.Dir(script), Code: server.Code, Key: server.Key,
		Store: bundle.Open(b.TempDir()), Limiter: &Limiter{}, Stdout: discard{io.Discard}, Stderr: discard{io.Discard},
	}
	start := func(count int) {
		var all sync.WaitGroup
		for range count {
			all.Go(func() {
				own := spec
				own.Stdin = io.NopCloser(strings.NewReader(requests))
				if exit := Start(own).Exit(); exit != (Exit{}) {
					b.Error(exit)
				}
			})
		}
		all.Wait()
	}
	start(1) // compiles the bundle
	for _, count := range []int{1, 8} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			for b.Loop() {
				start(count)
			}
		})
	}
}
