package web

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const playwrightFolder = "../../testdata/web/playwright"

// runPlaywright runs a script of playwrightFolder with Chromium, and returns what it prints.
func runPlaywright(ctx context.Context, t *testing.T, script string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	node := exec.CommandContext(ctx, "node", append([]string{script, spawntest.Chromium(t)}, args...)...)
	node.Dir = playwrightFolder
	node.Cancel = func() error { return node.Process.Signal(os.Interrupt) }
	node.WaitDelay = 10 * time.Second
	var said bytes.Buffer
	node.Stderr = &said
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node %s: %v %s %s", script, err, &said, out)
	}
	return out
}
