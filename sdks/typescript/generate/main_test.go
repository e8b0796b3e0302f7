package main

import (
	"testing"
)

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	files, err := build("..")
	if err != nil {
		t.Fatal(err)
	}
	outdated, err := files.Outdated("../dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range outdated {
		t.Errorf("dist/%s is out of date: run make generate", name)
	}
}
