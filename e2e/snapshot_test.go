//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSnapshotOfPage(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"site/index.html": "<title>Shop</title><h1>Mugs</h1><nav><a href=/>Home</a></nav>" + strings.Repeat("<button>Pay</button>", 50),
	})
	r := p.run("snapshot", "site/index.html")
	r.want(t, 0, "- heading \"Mugs\" [ref=e1] [level=1]\n- navigation\n  - link \"Home\" [ref=e2]\n- button \"Pay\" [ref=e3]\n")
	if lines := strings.Count(r.stdout, "\n"); lines != 53 {
		t.Errorf("%d lines", lines)
	}

	r = p.run("snapshot", "site/index.html", "--max-bytes", "60")
	r.want(t, 0, "- heading \"Mugs\" [ref=e1] [level=1]\n… 52 more elements; narrow with --within CSS or raise --max-bytes\n")

	var page struct {
		URL, Title, Snapshot string
		More                 int
	}
	r = p.run("snapshot", "site/index.html", "--within", "nav", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &page); err != nil || r.code != 0 {
		t.Fatalf("%v: %s %s", err, r.stdout, r.stderr)
	}
	if page.Title != "Shop" || page.Snapshot != "- navigation\n  - link \"Home\" [ref=e2]" || page.More != 0 || !strings.HasSuffix(page.URL, "/site/index.html") {
		t.Errorf("%+v", page)
	}
}

func TestSnapshotErrors(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"empty": ""})
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{3, "takes one URL, got 0", nil},
		{3, "takes one URL, got 2", []string{"a", "b"}},
		{3, "--max-bytes -1", []string{"about:blank", "--max-bytes", "-1"}},
		{3, "does not exist", []string{"missing.html"}},
		{3, "does not exist", []string{"file://" + p.dir + "/missing.html"}},
		{2, "nowhere", []string{"about:blank", "--browser", "/nowhere"}},
	} {
		p.run(append([]string{"snapshot"}, tc.args...)...).wantErr(t, tc.code, tc.want)
	}
	p.runIn(t.TempDir(), "snapshot", "about:blank").want(t, 0)
	outside := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(outside, []byte("<h1>Outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("snapshot", outside).want(t, 0, `heading "Outside"`)
	spaced := filepath.Join(t.TempDir(), "my page.html")
	if err := os.WriteFile(spaced, []byte("<h1>Spaced"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("snapshot", "file://"+strings.ReplaceAll(spaced, " ", "%20")+"#top").want(t, 0, `heading "Spaced"`)
	p.run("snapshot", "about:blank", "--project", "nowhere").want(t, 3)
}
