package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

const page = ".."

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(page, "node_modules", ".stamp")); err != nil {
		t.Fatalf("the npm packages are missing: run make deps (%v)", err)
	}
	if err := embedded.CheckDist(page, build); err != nil {
		t.Error(err)
	}
}
