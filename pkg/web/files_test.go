package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/web/access"
)

// project writes a project with a page, beside a secret outside of it, and returns their folders.
func project(t *testing.T) (root, outside string) {
	t.Helper()
	dir := t.TempDir()
	root, outside = filepath.Join(dir, "project"), filepath.Join(dir, "outside")
	for name, content := range map[string]string{
		"outside/secret.html": `<title>secret</title>SECRET`,
		"outside/secret.js":   `window.leaked = "SECRET"`,
		"outside/secret.svg":  `<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>`,
		"project/page.html": `<title>page</title><script src="../outside/secret.js"></script><img src="../outside/secret.svg"
			onload="window.leaked = 'image'"><iframe src="../outside/secret.html"></iframe><iframe src="link.html"></iframe>
			<iframe src="good.html"></iframe><script src="good.js"></script>`,
		"project/good.html": `good <a download href="../outside/secret.html">get</a>`,
		"project/good.js":   `window.good = true`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret.html"), filepath.Join(root, "link.html")); err != nil {
		t.Fatal(err)
	}
	return root, outside
}

func TestOnlyFilesOfProjectAreOpened(t *testing.T) {
	t.Parallel()
	root, outside := project(t)
	b := sharedBrowser.get(t)
	u := openSessionIn(t, b, device.Session{Root: root})
	secret := files.URL(filepath.Join(outside, "secret.html"))
	const refused = "may not be opened: it is not below "
	for _, address := range []string{
		secret, filepath.Join(outside,
			"secret.html"), "../outside/secret.html", "link.html", "FILE:" + strings.TrimPrefix(secret, "file:"),
		"file://localhost" + strings.TrimPrefix(secret, "file://"), strings.Replace(secret, "secret", "%73ecret", 1),
		strings.Replace(secret, "outside", "outside/../outside", 1), files.URL(root) + "/../outside/secret.html",
	} {
		u.mustFail("navigate", []any{"url", address}, refused)
		u.mustFail("web_navigate", []any{"url", address}, refused)
	}
	for _, address := range []string{
		"view-source:" + secret, "fi\tle:" + strings.TrimPrefix(secret, "file:"),
		"filesystem:" + secret,
	} {
		u.mustFail("navigate", []any{"url", address})
	}

	u.mustCall("navigate", "url", "page.html")
	u.waitForNotes("- "+secret+": blocked, because it is not below "+access.ResolvePath(root),
		"- "+strings.Replace(secret, ".html", ".js", 1)+": blocked, because it is not below "+access.ResolvePath(root))
	if got := u.mustEval("[window.good, window.leaked].join()"); got != "true," {
		t.Errorf("the page has loaded %s", got)
	}
	for _, script := range []string{
		"location.href = '" + secret + "'; 0", "open('" + secret + "'); 0", "location.replace('" + secret + "'); 0",
		"document.querySelector('a').click(); 0",
	} {
		u.mustCall("navigate", "url", "good.html")
		blocked := func() int {
			return strings.Count(u.page().notes.String(), "- "+secret+": blocked, because it is not below "+access.ResolvePath(root))
		}
		before := blocked()
		u.mustEval(script)
		waitFor(t, "the note of "+script, func() bool { return blocked() > before })
		for _, a := range u.device.Evidence(t.Context()) {
			if strings.Contains(string(a.Data), "SECRET") {
				t.Errorf("after %s, %s has the secret", script, a.Name)
			}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, data := range u.kept {
		if strings.Contains(string(data), "SECRET") {
			t.Errorf("%s has the secret", name)
		}
	}
}

func TestAgentsOpenOnlyPagesFromFiles(t *testing.T) {
	t.Parallel()
	root, _ := project(t)
	for name, content := range map[string]string{".env": "API_KEY=sk-live-1", "frame.html": `<h1>frame</h1><iframe src=".env"></iframe>`} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, ".env"), filepath.Join(root, "env.html")); err != nil {
		t.Fatal(err)
	}
	env := files.URL(filepath.Join(root, ".env"))
	u := openLive(t, device.Session{Root: root, RestrictOrigins: true})
	for _, address := range []string{".env", ".env?x.html", ".env#x.html", env, "env.html", "good.js", files.URL(root)} {
		u.mustFail("web_navigate", []any{"url", address}, "may not be opened: it is not a page")
	}
	u.mustCall("web_navigate", "url", "frame.html")
	u.waitForNotes("- " + env + ": blocked, because it is not a page")
	u.mustCall("web_navigate", "url", "page.html")
	if got := u.mustEval("window.good"); got != "true" {
		t.Errorf("the script of the page is not loaded: %s", got)
	}

	all := openLive(t, device.Session{Root: root})
	all.mustCall("web_navigate", "url", ".env")
}

// TestPagesInTheWorkingDirectory opens a page of a workspace of the JVM Trailblaze outside of its folder. It and its
// scripts may read its own folder, and nothing else of the working directory.
func TestPagesInTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	root, outside := project(t)
	dir := filepath.Dir(root)
	for name, content := range map[string]string{
		"pages/app.html":     `<script src="app.js"></script><script src="../outside/secret.js"></script><iframe src="../outside/secret.html"></iframe>`,
		"pages/app.js":       `window.own = true`,
		"pages/.env":         "SECRET",
		"pages/deep/in.html": "in",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret.html"), filepath.Join(dir, "pages", "link.html")); err != nil {
		t.Fatal(err)
	}
	const refused = "may not be opened: it is not below "
	session := device.Session{Root: root, WorkingDir: filepath.Join(dir, "pages")}
	u := openSessionIn(t, sharedBrowser.get(t), session)
	for _, address := range []string{".env", "link.html", "../outside/secret.html", files.URL(filepath.Join(dir, "pages", "app.html"))} {
		u.mustFail("web_navigate", []any{"url", address}, refused)
	}
	u.mustCall("web_navigate", "url", "deep/in.html")
	u.mustFail("web_navigate", []any{"url", files.URL(filepath.Join(dir, "pages", "app.html"))}, refused)

	session.WorkingDir = dir
	u = openSessionIn(t, sharedBrowser.get(t), session)
	u.mustCall("web_navigate", "url", "pages/app.html")
	secret := files.URL(filepath.Join(outside, "secret"))
	blocked := ": blocked, because it is not below " + access.ResolvePath(root) + " or " + access.ResolvePath(filepath.Join(dir, "pages"))
	u.waitForNotes("- "+secret+".js"+blocked, "- "+secret+".html"+blocked)
	if got := u.mustEval("[window.own, window.leaked].join()"); got != "true," {
		t.Errorf("the page has loaded %s", got)
	}

	session.RestrictOrigins = true
	openLive(t, session).mustFail("web_navigate", []any{"url", "pages/app.html"}, refused)
}

func TestPagesCannotOpenFiles(t *testing.T) {
	t.Parallel()
	root, outside := project(t)
	b := sharedBrowser.get(t)
	u := openSessionIn(t, b, device.Session{Root: root})
	for _, address := range []string{"about:blank", "data:text/html,x", serve(t, nil) + "/page-store.html"} {
		u.mustCall("navigate", "url", address)
		at := u.mustCall("web_currentUrl")
		u.mustEval("location.href = '" + files.URL(filepath.Join(outside, "secret.html")) + "'; open(location.href); 0")
		u.waitForNotes("- security: Not allowed to load local resource: " + files.URL(filepath.Join(outside,
			"secret.html")) + " ()")
		if got := u.mustCall("web_currentUrl"); got != at {
			t.Errorf("%s opened %s", at, got)
		}
	}
}

func TestAllowFileAllowsOtherFolders(t *testing.T) {
	t.Parallel()
	root, outside := project(t)
	for _, allowed := range []string{
		outside, filepath.Join("..", "outside"),
		strings.Join([]string{root, outside}, string(os.PathListSeparator)),
		`["../outside"]`,
	} {
		folders, err := access.ReadFolders(allowed)
		readable := access.NewFiles(device.Session{Root: root}, folders)
		if err != nil || !readable.Allows(files.URL(filepath.Join(outside, "secret.html"))) ||
			readable.Allows(files.URL(filepath.Dir(root))) {
			t.Errorf("with %s: %v", allowed, readable)
		}
	}
	for name, tt := range map[string]struct {
		session device.Session
		file    string
		want    bool
	}{
		"the project's folder":   {device.Session{Root: root}, root, true},
		"a file that is missing": {device.Session{Root: root}, filepath.Join(root, "x", "y.html"), true},
		"a name with a prefix":   {device.Session{Root: root}, root + "2/x.html", false},
		"without a project":      {device.Session{TrailDir: root}, filepath.Join(root, "page.html"), true},
		"a trail outside": {
			device.Session{Root: root, TrailDir: outside},
			filepath.Join(outside, "secret.html"), false,
		},
		"without folders":         {device.Session{}, filepath.Join(root, "page.html"), false},
		"missing below a symlink": {device.Session{Root: root}, filepath.Join(root, "link.html", "x"), false},
	} {
		if got := access.NewFiles(tt.session, nil).Allows(files.URL(tt.file)); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
