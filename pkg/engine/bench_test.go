package engine

import (
	"io"
	"sync"
	"testing"
)

// A memoryStore is a Store in memory.
type memoryStore struct {
	mu    sync.Mutex
	blobs map[string][]byte
}

func (s *memoryStore) Get(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.blobs[key]
	return data, ok
}

func (s *memoryStore) Put(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	s.blobs[key] = data
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
