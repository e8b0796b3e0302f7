//go:build unix

package e2e_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
)

// browser is used by the projects that share it. It starts with the first of them.
var browser sharedBrowser

// sharedBrowser is a browser with a port for DevTools. To start one for each command takes longer than most trails do.
type sharedBrowser struct {
	once    sync.Once
	running *chromium.Browser
	url     string
	err     error
}

// shareBrowser lets a project use a browser that runs already, in contexts of its own. It is not for tests about how
// browsers start and end.
func (p *project) shareBrowser() {
	p.t.Helper()
	browser.once.Do(browser.start)
	if browser.err != nil {
		p.t.Fatal(browser.err)
	}
	p.env = append(p.env, "TRAILBLAZE_CDP_URL="+browser.url)
}

// ownBrowser lets a project start its browsers, which is the default.
func (p *project) ownBrowser() { p.env = append(p.env, "TRAILBLAZE_CDP_URL=") }

func (b *sharedBrowser) start() {
	o := chromium.Options{
		Browser: os.Getenv("TRAILBLAZE_BROWSER"), Root: os.Geteuid() == 0, Env: os.Environ(),
		Programs: withPort{local.Programs(spawn.NewSupervisor(spawn.Options{}))},
	}
	if b.running, b.err = o.Start(context.Background(), func(string, string, string) {}, func(*cdp.Conn, cdp.Event) {}); b.err != nil {
		return
	}
	_ = b.running.Conn.Close() // which is attached to all pages
	data, err := os.ReadFile(filepath.Join(b.running.Folder, "DevToolsActivePort"))
	port, _, _ := strings.Cut(string(data), "\n")
	b.url, b.err = "http://127.0.0.1:"+port, err
}

func (b *sharedBrowser) close() error {
	if b.running == nil {
		return nil
	}
	return b.running.Close()
}

// withPort are programs that get no pipes, so that a browser has a port instead.
type withPort struct{ device.Programs }

func (withPort) CanPipe() bool { return false }

// untilClosed runs tests, and closes the shared browser before anybody looks for what they have left.
type untilClosed struct{ tests *testing.M }

func (u untilClosed) Run() int {
	code := u.tests.Run()
	if err := browser.close(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return cmp.Or(code, 1)
	}
	return code
}
