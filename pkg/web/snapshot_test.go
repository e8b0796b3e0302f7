package web

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The golden files are Playwright's, see pkg/web/aria.
func TestTreeMatchesPlaywright(t *testing.T) {
	t.Parallel()
	goldens, err := filepath.Glob(filepath.Join("..", "..", "testdata", "web", "aria", "*.aria.yml"))
	if err != nil || len(goldens) < 10 {
		t.Fatalf("%d golden files, %v", len(goldens), err)
	}
	u := openSession(t)
	site := serve(t, nil)
	for _, file := range goldens {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		u.mustCall("navigate", "url", site+"/aria/"+strings.TrimSuffix(filepath.Base(file), ".aria.yml")+".html")
		tree, err := u.page().tree(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(tree.String()+"\n", "\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
	}
}

func TestSnapshotIsBoundedAndOfElement(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/x": htmlPage("<title>X</title><h1>Hello</h1><nav aria-label=Main><a href=/>Home</a></nav>" + strings.Repeat("<button>Pay</button>",
			1000)),
	}) + "/x"
	u.mustCall("navigate", "url", url)
	whole := u.mustCall("web_snapshot")
	if len(whole) > 7000 || !strings.Contains(whole, "\n  - link \"Home\" [ref=e3]\n") ||
		!strings.HasSuffix(whole, " more elements; narrow with within, or raise maxBytes") {
		t.Errorf("%d bytes: %.200s", len(whole), whole)
	}
	want := "kept screen.png and screen.txt of " + url + "\n- navigation \"Main\" [ref=e2]\n  - link \"Home\" [ref=e3]"
	if got := u.mustCall("web_snapshot", "within", "nav"); got != want {
		t.Errorf("got %s", got)
	}
	u.mustFail("web_snapshot", []any{"within", "table"}, "no element matches table")
	if r := u.mustFail("web_snapshot", []any{"within", "[["},
		"is not a CSS selector"); r.Kind != fault.InvalidArguments {
		t.Errorf("kind %s", r.Kind)
	}
}
