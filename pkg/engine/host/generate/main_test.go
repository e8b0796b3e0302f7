package main

import (
	"os"
	"path/filepath"
	"testing"
)

const host = ".."

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(host, "node_modules", ".stamp")); err != nil {
		t.Fatalf("the npm packages are missing: run make deps (%v)", err)
	}
	files, err := build(host)
	if err != nil {
		t.Fatal(err)
	}
	outdated, err := files.Outdated(filepath.Join(host, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range outdated {
		t.Errorf("dist/%s is out of date: run make generate", name)
	}
}
