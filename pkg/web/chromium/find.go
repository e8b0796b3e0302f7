package chromium

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// installHint says how to get a browser on a system.
func installHint(system string) string {
	install := map[string]string{
		"linux":   "install Chrome, Chromium or Edge (Debian: apt-get install chromium; without root: npx @puppeteer/browsers install chrome-headless-shell@stable)",
		"darwin":  "install Chrome, Chromium or Edge (brew install --cask google-chrome)",
		"windows": "install Chrome, Chromium or Edge (winget install Google.Chrome)",
	}
	return cmp.Or(install[system], "install Chrome or Chromium") + ", give its path with --browser or TRAILBLAZE_BROWSER, or the URL of " +
		"one that runs elsewhere with --cdp-url"
}

// executableNames are the names of browsers on PATH, the preferred one first. A headless shell has no window. It starts
// in less than half the time, and plays a short trail in two thirds.
func (o Options) executableNames() []string {
	browsers := []string{
		"google-chrome-stable",
		"google-chrome",
		"chromium",
		"chromium-browser",
		"chrome",
		"microsoft-edge-stable",
		"microsoft-edge",
		"msedge",
	}
	if o.Headed {
		return browsers
	}
	return append([]string{"chrome-headless-shell", "chromium-headless-shell"}, browsers...)
}

// installPaths are the usual paths of browsers that are not on PATH.
func installPaths(goos string, getenv func(string) string) []string {
	switch goos {
	case "darwin":
		var found []string
		for _, folder := range []string{"/Applications", getenv("HOME") + "/Applications"} {
			for _, app := range []string{"Google Chrome", "Chromium", "Microsoft Edge"} {
				found = append(found, folder+"/"+app+".app/Contents/MacOS/"+app)
			}
		}
		return found
	case "windows":
		var found []string
		for _, folder := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			for _, app := range []string{
				`Google\Chrome\Application\chrome`, `Chromium\Application\chrome`,
				`Microsoft\Edge\Application\msedge`,
			} {
				if dir := getenv(folder); dir != "" {
					found = append(found, dir+`\`+app+".exe")
				}
			}
		}
		return found
	}
	return []string{
		"/opt/google/chrome/chrome",
		"/usr/lib/chromium/chromium",
		"/usr/lib/chromium-browser/chromium-browser",
		"/snap/bin/chromium",
		"/opt/microsoft/msedge/msedge",
	}
}

// Find returns the path of the browser to start.
func (o Options) Find() (string, error) {
	if o.Browser != "" {
		return o.lookUp()
	}
	for _, name := range o.executableNames() {
		path, err := o.Programs.LookPath(name, o.Env)
		if err == nil {
			return filepath.Abs(path)
		}
		if errors.Is(err, fs.ErrPermission) {
			return "", fault.New(fault.PermissionDenied, "make it executable, or remove it from PATH",
				"the browser %s is on PATH but is not executable", name)
		}
	}
	paths := installPaths(runtime.GOOS, func(name string) string { return device.Getenv(o.Env, name) })
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fault.New(fault.CommandNotFound, installHint(runtime.GOOS), "no browser was found: looked for %s on PATH, and for %s",
		strings.Join(o.executableNames(), ", "), strings.Join(paths, ", "))
}

// lookUp finds the browser that the user configured, by a path or a name on PATH.
func (o Options) lookUp() (string, error) {
	path, err := o.Programs.LookPath(o.Browser, o.Env)
	if strings.ContainsAny(o.Browser, `/\`) {
		path = o.Browser
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", &fault.Error{
			Kind:    fault.CommandNotFound,
			Hint:    "write its path, or leave it out to use the browser that is installed",
			Cause:   err,
			Message: fmt.Sprintf("the browser %q of --browser or TRAILBLAZE_BROWSER was not found", o.Browser),
		}
	}
	if o.Headed && strings.Contains(filepath.Base(path), "headless-shell") {
		return "", fault.New(fault.Misuse, "leave out --headed, or choose another browser with --browser",
			"the browser %q has no window to show", o.Browser)
	}
	return filepath.Abs(path)
}
