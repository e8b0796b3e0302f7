package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// noted are the events of a session.
type noted struct {
	mu     sync.Mutex
	events []string
}

func (n *noted) add(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, kind+": "+text)
}

func (n *noted) has(event string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.events, func(e string) bool { return strings.HasPrefix(e, event) })
}

// openNoted opens a session whose events are noted.
func openNoted(t *testing.T) (*testSession, *noted) {
	t.Helper()
	b := sharedBrowser.get(t)
	n := &noted{}
	return openSessionIn(t, b, device.Session{Noted: n.add}), n
}

func TestEventsOfPages(t *testing.T) {
	t.Parallel()
	u, events := openNoted(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<script>alert("hi"); console.error("bad"); console.warn("hm"); console.log("x")</script><a target=_blank href="/tab">tab</a>`),
		"/tab":  htmlPage(`<a download="a.txt" href="/file">file</a><script>throw new Error("thrown")</script>`),
		"/file": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("content")) },
	})
	u.mustCall("navigate", "url", url+"/page")
	u.mustCall("web_click", "ref", "css=a")
	u.mustCall("web_waitForTab")
	u.mustCall("web_click", "ref", "file")
	u.mustCall("web_waitForDownload")
	u.page().target.Send("Page.crash", nil)
	for _, want := range []string{
		`dialog: alert "hi", dismissed`, "console: console.error: bad", "tab: " + url + "/tab", "console: Error: thrown",
		"download: a.txt from " + url + "/file", "download: a.txt is completed, 7 bytes", "crash: the page " + url + "/tab crashed",
	} {
		waitFor(t, want, func() bool { return events.has(want) })
	}
	if events.has("console: console.warning: hm") || events.has("console: console.log: x") {
		t.Errorf("events: %q", events.events)
	}
}

func TestWaitForDownload(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	release := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{
		"/list": htmlPage(`<a href="/a.csv">a</a> <a href="/b.csv" target=_blank>b</a> <a href="/slow.csv">slow</a>`),
		"/{name}": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			w.Header().Set("X-Content-Type-Options", "nosniff") // otherwise the browser waits for more of it
			w.Header().Set("Content-Disposition", `attachment; filename="`+r.URL.Path[1:]+`"`)
			_, _ = w.Write([]byte("x,y\n"))
			if r.URL.Path == "/slow.csv" {
				w.(http.Flusher).Flush()
				select {
				case <-release:
				case <-r.Context().Done():
				}
				_, _ = w.Write([]byte("1,2\n"))
			}
		},
	})
	sum := sha256.Sum256([]byte("x,y\n"))
	hash := hex.EncodeToString(sum[:])
	u.mustCall("navigate", "url", url+"/list")
	u.mustCall("web_click", "ref", "a")
	u.mustCall("web_click", "ref", "b")
	for name, args := range map[string][]any{"b.csv": {"urlPattern", `b\.csv$`}, "a.csv": {"fileName", "a.csv"}} {
		var file struct {
			Path, FileName, SHA256 string
			Bytes                  int
		}
		if err := json.Unmarshal([]byte(u.mustCall("web_waitForDownload", args...)), &file); err != nil {
			t.Fatal(err)
		}
		if file.Path != "kept/"+name || file.FileName != name || file.Bytes != 4 || file.SHA256 != hash {
			t.Errorf("%s: %+v", name, file)
		}
		if !u.foreign[name] {
			t.Errorf("%s is kept without a search for secrets", name)
		}
	}
	u.mustFail("web_waitForDownload", []any{"fileName", "a.csv", "timeoutMs", 50}, `timed out after 50ms waiting for a download with fileName "a.csv"`,
		"a.csv from "+url+"/a.csv (returned before)")
	u.mustFail("web_waitForDownload", []any{"urlPattern", "("}, "urlPattern")

	u.mustCall("web_click", "ref", "slow")
	u.waitForNotes("- slow.csv from " + url + "/slow.csv")
	closed := make(chan error, 1)
	go func() { closed <- u.device.Close(t.Context()) }()
	close(release)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got := string(u.kept["slow.csv"]); got != "x,y\n1,2\n" {
		t.Errorf("a download that was running at the end is %q", got)
	}
}

func TestVerifyDialog(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	u.mustEval(`alert("one"); confirm("two"); alert("three"); 0`)
	u.mustFail("web_verifyDialog", []any{"message", "on", "timeoutMs", 20}, `no dialog with message "on" was opened within 20ms; dialogs: alert "one", confirm "two"`)
	u.mustFail("web_verifyDialog", []any{"message", "one", "type", "confirm", "timeoutMs", 20}, `with type "confirm" and message "one"`)
	if got := u.mustCall("web_verifyDialog", "message", "two", "type", "CONFIRM"); got != `the page opened the confirm "two"` {
		t.Error(got)
	}
	u.mustFail("web_verifyDialog", []any{"message", "one", "timeoutMs", 20}, `dialogs: alert "three"`)
	u.mustCall("web_verifyDialog", "message", "three")
	u.mustFail("web_verifyDialog", []any{"timeoutMs", 20}, "dialogs: none")
	u.mustEval(`setTimeout(() => alert("late"), 20); 0`)
	u.mustCall("web_verifyDialog", "message", "late")
	if failed := u.mustFail("web_verifyDialog", []any{"timeoutMs", 20}); !strings.Contains(failed.Text, "no dialog was opened") {
		t.Error(failed.Text)
	}
}

// A download that does not end is awaited for a limited time.
func TestDownloadThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	u, events := openNoted(t)
	u.device.(*webDevice).limits.download = time.Millisecond
	url := serve(t, map[string]http.HandlerFunc{
		"/list": htmlPage(`<a href="/endless.csv">a</a>`),
		"/endless.csv": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			w.Header().Set("Content-Disposition", "attachment")
			_, _ = w.Write([]byte(strings.Repeat("x,y\n", 1000)))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	})
	u.mustCall("navigate", "url", url+"/list")
	u.mustEval(`document.querySelector("a").click(); 0`)
	waitFor(t, "the download", func() bool { return events.has("download: endless.csv from") })
	if err := u.device.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !events.has("download: endless.csv was not kept: it was still running at the end") {
		t.Errorf("events: %q", events.events)
	}
}
