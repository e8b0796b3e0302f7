package adb_test

import (
	"bytes"
	"testing"
)

func TestShellSeparatesOutputAndReturnsTheExitStatus(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	out, err := d.Shell(within(t), "fail")
	if err != nil || out.Exit != 7 || string(out.Stdout) != "to stdout" || string(out.Stderr) != "to stderr" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestExecReturnsTheBytes(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	out, err := d.Exec(within(t), "bytes")
	if err != nil || !bytes.Equal(out, allBytes()) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
