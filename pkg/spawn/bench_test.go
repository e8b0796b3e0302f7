//go:build unix

package spawn

import "testing"

// BenchmarkStartStop is a whole life of cat, which ends with its input.
func BenchmarkStartStop(b *testing.B) {
	sup := NewSupervisor(Options{StateDir: b.TempDir()})
	for b.Loop() {
		p, err := sup.Start(b.Context(), Spec{Command: "/bin/cat"})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := sup.Close(); err != nil {
		b.Fatal(err)
	}
}
