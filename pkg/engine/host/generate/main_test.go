package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

const host = ".."

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(host, "node_modules", ".stamp")); err != nil {
		t.Fatalf("the npm packages are missing: run make deps (%v)", err)
	}
	if err := embedded.CheckDist(host, build); err != nil {
		t.Error(err)
	}
}
