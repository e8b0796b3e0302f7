//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracedPage shows a secret until somebody clicks, and requests and logs something at each click.
const tracedPage = `<!doctype html><title>Traced</title><p id=secret></p><button>Count</button><p role=status>none</p><script>
let n = 0;
document.querySelector("#secret").textContent = new URL(location).searchParams.get("show") ?? "";
document.querySelector("button").onclick = async () => {
	await fetch("/clicked?token=" + new URL(location).searchParams.get("token"));
	console.log("clicked", ++n, new URL(location).searchParams.get("token"));
	document.querySelector("#secret").textContent = "";
	document.querySelector("[role=status]").textContent = "counted " + n;
}</script>`

// traceFile is what a session has kept of the calls of its device.
type traceFile struct {
	Calls []struct {
		Call, URL, Before, After, NoPicture, Tree string
		Requests, Console                         []string
	}
}

// trace returns the trace of the only session of a trail since the logs were removed, with the names of its files.
func (p *project) trace(trail string) (trace traceFile, files []string) {
	p.t.Helper()
	folders, _ := filepath.Glob(filepath.Join(p.dir, "logs", trail+"_*", "trace"))
	if len(folders) == 0 {
		return trace, nil
	}
	_ = filepath.WalkDir(folders[0], func(path string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			files = append(files, filepath.Base(path))
		}
		return nil
	})
	data, err := os.ReadFile(filepath.Join(folders[0], "trace.json"))
	if err == nil {
		err = json.Unmarshal(data, &trace)
	}
	if err != nil || len(folders) > 1 {
		p.t.Fatalf("the trace of %s in %q: %v", trail, folders, err)
	}
	return trace, files
}

// pictures returns how many of the files are pictures.
func pictures(files []string) (count int) {
	for _, name := range files {
		if filepath.Ext(name) == ".jpg" {
			count++
		}
	}
	return count
}

// tracedProject returns a project with trails on the traced page: one that passes, one that fails, and one that fails
// on a page that was given a secret, and then another one.
func tracedProject(t *testing.T) *project {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			fmt.Fprint(w, tracedPage)
		}
	}))
	t.Cleanup(server.Close)
	trail := func(query string, more ...string) string {
		return webTrail(append([]string{
			fmt.Sprintf("web_navigate: { url: %q }", server.URL+"/?"+query), "web_click: { ref: Count }",
			"web_verifyTextVisible: { text: counted 1 }",
		}, more...)...)
	}
	const failing = "web_verifyTextVisible: { text: counted 9, timeoutMs: 100 }"
	return newProject(t, map[string]string{
		"trailblaze.yaml": "platform: web\ntarget: shop\nrun: { trace: \"off\" }\n",
		"passes.yaml":     trail(""), "fails.yaml": trail("", failing),
		"secret.yaml": trail("show={{SECRET}}&token={{SECRET}}", fmt.Sprintf("web_navigate: { url: %q }", server.URL), failing),
	})
}

func TestTraceIsRetainedOnFailure(t *testing.T) {
	t.Parallel()
	p := tracedProject(t)
	p.write("trailblaze.yaml", "platform: web\ntarget: shop\n")
	p.run("run", "passes.yaml", "fails.yaml", "--html", "report").want(t, 1, "1 passed", "1 failed", ", trace/")
	if _, files := p.trace("passes"); files != nil {
		t.Errorf("a trail that passed kept %q", files)
	}
	trace, files := p.trace("fails")
	if len(trace.Calls) != 4 || pictures(files) < 2 || trace.Calls[3].After == "" || trace.Calls[3].Tree == "" {
		t.Fatalf("files %q, trace %+v", files, trace)
	}
	for i, c := range trace.Calls[1:] {
		if before := trace.Calls[i].After; c.Before != before {
			t.Errorf("call %s: the picture before it is %q, that after the call before is %q", c.Call, c.Before, before)
		}
	}
	for _, want := range []string{"/clicked?token=null 200 fetch", "log: clicked 1"} {
		if text := fmt.Sprint(trace.Calls); !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
	page, err := os.ReadFile(filepath.Join(p.dir, "report", "index.html"))
	if n := strings.Count(string(page), `class="film"`); err != nil || n != 4 { // one for each step of the trail that failed
		t.Errorf("the report has %d film strips, %v", n, err)
	}
}

func TestTraceWithSecrets(t *testing.T) {
	t.Parallel()
	p := tracedProject(t)
	p.env = append(p.env, "SECRET=hunter2hunter2")
	p.run("run", "secret.yaml", "--trace", "on", "--secret", "SECRET").want(t, 1, "1 failed")
	trace, files := p.trace("secret")
	if len(trace.Calls) != 5 || !slices.Contains(files, "screen-1.txt") {
		t.Fatalf("files %q, trace %+v", files, trace)
	}
	for _, c := range trace.Calls[:3] {
		if c.After != "" || c.NoPicture != "a secret was given to this page" {
			t.Errorf("the page was given a secret: %+v", c)
		}
	}
	if c := trace.Calls[4]; c.After == "" {
		t.Errorf("the last page was given none: %+v", c)
	}
	_ = filepath.WalkDir(filepath.Join(p.dir, "logs"), func(path string, _ fs.DirEntry, _ error) error {
		if data, _ := os.ReadFile(path); strings.Contains(string(data), "hunter2") {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
	if text := fmt.Sprint(trace.Calls); !strings.Contains(text, "/clicked?token={{SECRET}} 200") {
		t.Errorf("the request is missing in %s", text)
	}
}

func TestTraceOnAndOff(t *testing.T) {
	t.Parallel()
	p := tracedProject(t)
	p.run("run", "passes.yaml", "--trace", "on").want(t, 0)
	if trace, files := p.trace("passes"); len(trace.Calls) != 3 || !slices.Contains(files, "screen-3.txt") {
		t.Errorf("files %q, trace %+v", files, trace)
	}
	p.run("run", "fails.yaml").want(t, 1)
	if _, files := p.trace("fails"); files != nil {
		t.Errorf("there is a trace: %q", files)
	}
	p.run("run", "--trace", "always").wantErr(t, 3, `--trace: unknown value "always"`, "write --trace on, or")
}
