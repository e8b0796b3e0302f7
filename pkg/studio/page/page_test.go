package page_test

import (
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/studio/page"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"index.html.gz", "app.js.gz", "app.css.gz"} {
		if text, err := fs.ReadFile(page.Files(), name); err != nil || len(text) == 0 {
			t.Errorf("%s has %d bytes (%v)", name, len(text), err)
		}
	}
}

// TestPage tests the page in a browser, without a server: test/studio.ts answers its requests.
func TestPage(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/@playwright/test/cli.js", "test")
	cmd.Env = append(os.Environ(), "TRAILBLAZE_BROWSER="+browser(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v (run make deps, and make generate after changes in src):\n%s", err, out)
	}
}

func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("TRAILBLAZE_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	t.Fatal("Chromium is missing: run make deps")
	return ""
}
