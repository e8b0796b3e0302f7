package trail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

func BenchmarkParse(b *testing.B) {
	step := "  - step: Type the address\n    recording:\n      android:\n" +
		"        - inputText: { text: \"{{email}}\" }\n          timeout: 10s\n"
	data := []byte("config: { id: a, memory: { email: a@example.com } }\ntrail:\n" + strings.Repeat(step, 20))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := trail.Parse("a.trail.yaml", data); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	root := b.TempDir()
	for i := range 50 {
		dir := filepath.Join(root, "trails", "", strings.Repeat("x", i+1))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, strings.Repeat("y", j+1)+".trail.yaml"), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if found, err := trail.Find(root, "trails", "", nil); len(found) != 5000 || err != nil {
			b.Fatal(len(found), err)
		}
	}
}
