//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// In these tests Playwright is the person at the page of a studio, which finds everything by its role and name.

// readStudioProject reads a file of the project whose trail works in a studio.
func readStudioProject(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../testdata/projects/studio", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// taskShop is a shop in one page.
func taskShop(t *testing.T) string {
	t.Helper()
	return readStudioProject(t, "shop.html")
}

// person does a task at the page, and returns what it found. It fails the test if the page complained.
func (s *studio) person(task string, args ...string) (found json.RawMessage) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 5*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", append([]string{"studio-tasks.mjs", task, spawntest.Chromium(s.T), s.url}, args...)...)
	node.Dir, node.WaitDelay = filepath.Join("..", "testdata", "web", "playwright"), 30*time.Second
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	var answer struct {
		Found      json.RawMessage
		Complaints []string
	}
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil {
		s.end(syscall.SIGINT) // so that nothing writes to its stderr
		s.Fatalf("%v: %s%s\nstudio: %s", err, out, &stderr, &s.stderr)
	}
	if len(answer.Complaints) > 0 {
		s.Errorf("the page complained: %q", answer.Complaints)
	}
	return answer.Found
}

// newStudio starts a studio on the web for a task.
func newStudio(t *testing.T, files map[string]string, args ...string) *studio {
	t.Helper()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig})
	for name, text := range files {
		p.write(name, text)
	}
	return p.studio(t, append([]string{"--no-open"}, args...)...)
}

func TestNewcomerRecordsOnTheWeb(t *testing.T) {
	t.Parallel()
	for _, task := range []string{"shop", "keyboard"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			s := newStudio(t, nil)
			s.person(task, pageSite(t, taskShop(t)))
			s.project.run("run", "trails/newcomer.trail.yaml").want(t, 0)
			if text := s.project.read(t, "trails/newcomer.trail.yaml"); strings.Count(text, "web_type") != 2 || !strings.Contains(text, "Total 15.50") {
				t.Errorf("the trail:\n%s", text)
			}
		})
	}
}

// TestNewcomerRecordsOnPhones saves with the replay that comes first, which finds the app as the person left it, and
// replays the trail once more.
func TestNewcomerRecordsOnPhones(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"android", "ios"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			d := newPhoneDesk(t)
			phone := &app.Device{}
			if platform == "android" {
				phone = d.android().App
			} else {
				p := d.iPhone()
				phone = p.App
				d.env = append(d.env, "TRAILBLAZE_WDA_URL="+p.URL())
				phone.SetPermission(app.ShopID, app.Notifications, true) // which an iPhone asks for only once
			}
			s := d.studio(t, "--no-open", "--platform", platform)
			s.person(platform)
			if note := phone.Note(1148); platform == "android" && note != "Ring twice" {
				t.Errorf("the note is %q", note)
			}
			s.end(syscall.SIGINT) // one session at a time can use the phone
			d.run("run", "trails/newcomer.trail.yaml", "--platform", platform).want(t, 0)
		})
	}
}

// TestRepairInTheStudio picks another element for a call that fails. No other line changes.
func TestRepairInTheStudio(t *testing.T) {
	t.Parallel()
	site := pageSite(t, `<title>Shop</title><button onclick="document.body.append('Bought')">Order</button>`)
	before := `# Kept by hand.
config: { title:   Repair }
trail:
  - step: Buy it   # with money
    recording:
      web:
        - web_navigate: { url: ` + site + ` }
        - web_click: { ref: button "Buy" }
          timeout: 1s
      android:
        - tap: { text: Buy }
  - verify: "It is bought"
    recording: { web: [ web_verifyTextVisible: { text: Bought } ] }
`
	s := newStudio(t, map[string]string{"trails/repair.trail.yaml": before}, "trails/repair.trail.yaml")
	s.person("repair")
	after := s.project.read(t, "trails/repair.trail.yaml")
	head, tail, _ := strings.Cut(before, "- web_click: { ref: button \"Buy\" }\n")
	middle, found := strings.CutPrefix(after, head)
	middle, ends := strings.CutSuffix(middle, tail)
	if !found || !ends || strings.Count(middle, "web_click") != 1 || !strings.Contains(middle, "Order") || strings.Count(middle, "- ") != 1 {
		t.Errorf("other lines than those of the call changed:\n%s", after)
	}
}

func TestUndoAndRedoInTheStudio(t *testing.T) {
	t.Parallel()
	s := newStudio(t, map[string]string{"trails/a.trail.yaml": `# Opens pages.
trail:
  - step: Open the first
    recording:
      web:
        - web_navigate: { url: "data:text/html,one.example" } # a comment
        - web_navigate: { url: "data:text/html,two.example" }
  - step: Open the others
    recording:
      web:
        - web_navigate: { url: "data:text/html,three.example" }
        - web_navigate: { url: "data:text/html,four.example" }
`}, "trails/a.trail.yaml")
	if texts := string(s.person("undo")); texts != "10" {
		t.Errorf("the trail had %s texts, want 10", texts)
	}
}

func TestPagesOfTheStudioTakeOver(t *testing.T) {
	t.Parallel()
	newStudio(t, nil).person("takeOver")
}

// TestStudioThatWasKilled leaves a browser, which the next studio ends, and a recording, which the next studio offers.
func TestStudioThatWasKilled(t *testing.T) {
	t.Parallel()
	site := pageSite(t, `<title>Shop</title><button>Add tea</button>`)
	killed := newStudio(t, nil)
	killed.person("begin", site)
	killed.end(syscall.SIGKILL)
	next := killed.project.studio(t, "--no-open")
	next.person("restore")
	next.end(syscall.SIGTERM)
	killed.project.run("run", "trails/restored.trail.yaml").want(t, 0)
}

func TestStudioAsksForWhatAPictureDoesNotHave(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	page := func(html string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<!doctype html><title>Shop</title>"+html)
		}
	}
	mux.HandleFunc("/{$}", page(`<label>Colour <select><option>Red<option>Blue</select></label>
<button onclick="if (confirm('Delete it?')) document.querySelector('p').textContent = 'Deleted ' + document.querySelector('select').value">Delete</button>
<p role="status"></p><button onclick="file.click()">Attach</button> <input id="file" type="file" hidden>
<a href="/order.txt" download>Save it</a> <label>Day <input type="date"></label> <a href="/terms" target="_blank">Terms</a>`))
	mux.HandleFunc("/terms", page(`<h1>The terms</h1>`))
	mux.HandleFunc("/order.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment")
		_, _ = io.WriteString(w, "two mugs")
	})
	s := newStudio(t, map[string]string{"trails/photo.txt": "a photo"})
	s.person("asks", serveSite(t, mux))
	s.project.run("run", "trails/asks.trail.yaml").want(t, 0)
}

// TestSecretOfTheStudio gives the session a secret, which the page of the device shows, too.
func TestSecretOfTheStudio(t *testing.T) {
	t.Parallel()
	const secret = "hunter-2-secret"
	site := pageSite(t, `<title>Shop</title><label>Password <input></label><p></p>
<script>document.querySelector("input").oninput = (e) => { document.querySelector("p").textContent = "Hello " + e.target.value }</script>`)
	s := newStudio(t, nil)
	found := s.person("secret", site, secret)
	if string(found) != `{"received":[],"shown":false}` {
		t.Errorf("the page has the secret: %s", found)
	}
	s.end(syscall.SIGINT)
	if strings.Contains(s.stderr.String(), secret) {
		t.Errorf("stderr has the secret: %s", &s.stderr)
	}
	err := filepath.WalkDir(s.project.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if text := s.project.read(t, "trails/secret.trail.yaml"); !strings.Contains(text, "{{PASSWORD}}") {
		t.Errorf("the trail:\n%s", text)
	}
}

// TestIdleStudio says that a studio whose page shows a screen that does not change sends nothing and uses no processor.
func TestIdleStudio(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // the task reads /proc
	}
	s := newStudio(t, nil)
	t.Logf("%s", s.person("idle", pageSite(t, taskShop(t)+`<button>Add tea</button>`), strconv.Itoa(s.cmd.Process.Pid)))
}

func TestLargeStudio(t *testing.T) {
	t.Parallel()
	var items, steps strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&items, "<button>Item %d</button>", i)
	}
	for i := range 1000 {
		fmt.Fprintf(&steps, "  - step: Step %d\n    recording:\n      web:\n        - web_click: { ref: button \"Item %d\" }\n", i+1, i)
	}
	s := newStudio(t, map[string]string{"trails/large.trail.yaml": "trail:\n" + steps.String()}, "trails/large.trail.yaml")
	var measured struct{ Loop, Find, Select, Scroll, Megabytes float64 }
	if err := json.Unmarshal(s.person("large", pageSite(t, "<title>Shop</title>"+items.String())), &measured); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", measured)
	if measured.Megabytes > 200 {
		t.Errorf("the page uses %.0f MB", measured.Megabytes)
	}
	for name, took := range map[string]float64{"find": measured.Find, "select": measured.Select, "scroll": measured.Scroll} {
		if took > 5*measured.Loop {
			t.Errorf("%s takes %.0f ms, the loop %.0f ms", name, took, measured.Loop)
		}
	}
}
