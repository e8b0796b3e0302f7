package cmd

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// hasDisplay reports whether a browser could show something.
func (s System) hasDisplay() bool {
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	default:
		return s.env("DISPLAY") != "" || s.env("WAYLAND_DISPLAY") != ""
	}
}

// browserFile is a file with the address of a page. The zero value is none.
type browserFile struct{ path string }

func (f *browserFile) remove() {
	if f.path != "" {
		_ = os.Remove(f.path)
	}
}

// showPage opens a URL where there is a display.
func (p *program) showPage(url string, opened *browserFile) {
	if !p.hasDisplay() {
		return
	}
	if err := p.openBrowser(url, opened); err != nil {
		p.notice("warning: the browser could not be opened; open the URL yourself: " + err.Error())
	}
}

// openBrowser opens a URL in the user's browser. Other users see the arguments of every process, so a URL with a token is
// none of them: the browser opens a file that only this user can read, which leads to the URL.
func (p *program) openBrowser(url string, file *browserFile) error {
	dir := p.cacheDir()
	if dir == "" {
		return fault.New(fault.IO, "", "the user has no cache folder for the file that it opens")
	}
	dir = filepath.Join(dir, "studio")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "open-*.html") // with mode 0600
	if err != nil {
		return err
	}
	file.path = f.Name()
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>"+
		"<meta http-equiv=refresh content=\"0; url=%s\"><title>trailblaze studio</title>\n", html.EscapeString(url))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	switch runtime.GOOS {
	case "windows":
		return spawn.Launch("rundll32", []string{"url.dll,FileProtocolHandler", file.path}, p.Env)
	case "darwin":
		return spawn.Launch("open", []string{file.path}, p.Env)
	default:
		return spawn.Launch("xdg-open", []string{file.path}, p.Env)
	}
}
