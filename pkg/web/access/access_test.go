package access_test

import (
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/web/access"
)

func TestSchemeOfAppIsAllowed(t *testing.T) {
	t.Parallel()
	for first, allowed := range map[string]bool{
		"app://./index.html": true, "APP://./index.html": true, "about:blank": false, "https://notes.example/": false, "": false,
	} {
		origins := access.NewOrigins(device.Session{RestrictOrigins: true}, nil)
		origins.AllowApp(first)
		script := origins.CheckSandbox(access.FromSandbox(t.Context()), "app://./other.html") == nil
		if got := origins.Allows("app://./other.html"); got != allowed || script != allowed {
			t.Errorf("after %q: agents may open a page of the app: %v, scripts may use it: %v", first, got, script)
		}
		for _, other := range []string{"mailto:a@notes.example", "other://./index.html", "https://other.example/"} {
			if origins.Allows(other) {
				t.Errorf("after %q, %s may be opened", first, other)
			}
		}
	}
}

func TestFolderOfAppIsAllowed(t *testing.T) {
	t.Parallel()
	dir := filepath.ToSlash(access.ResolvePath(t.TempDir()))
	if dir[0] != '/' {
		dir = "/" + dir
	}
	for first, allowed := range map[string]string{
		"/app/index.html":                         "/app/about.html",
		"/resources/app.asar/dist/www/index.html": "/resources/app.asar/assets/style.css",
	} {
		files := access.NewFiles(device.Session{RestrictOrigins: true}, nil)
		files.AllowApp("app://./index.html")
		files.AllowApp("file://" + dir + first)
		if !files.Allows("file://"+dir+allowed) || files.Allows("file://"+dir+"/secret.html") {
			t.Errorf("after %s, files in %s may be read", first, files)
		}
	}
}
