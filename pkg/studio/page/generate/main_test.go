package main

import (
	"os"
	"path/filepath"
	"testing"
)

const page = ".."

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(page, "node_modules", ".stamp")); err != nil {
		t.Fatalf("the npm packages are missing: run make deps (%v)", err)
	}
	files, err := build(page)
	if err != nil {
		t.Fatal(err)
	}
	outdated, err := files.Outdated(filepath.Join(page, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range outdated {
		t.Errorf("dist/%s is out of date: run make generate", name)
	}
}
