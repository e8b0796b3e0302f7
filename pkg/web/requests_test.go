package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/network"
)

// details calls web_requestDetails.
func (u *testSession) details(args ...any) (d network.Details) {
	u.t.Helper()
	text := u.mustCall("web_requestDetails", args...)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		u.t.Fatal(err)
	}
	return d
}

func TestRequestDetails(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := apiPages(t)
	u.mustCall("navigate", "url", url+"/page")
	u.mustEval(`get("/api/orders", {method: "POST", body: "first", headers: {"X-Own": "1", Authorization: "Bearer secret"}})`)
	u.mustEval(`get("/api/orders", {method: "POST", body: "second"})`)
	u.mustEval(`get("/api/orders")`)
	u.mustEval("1")
	got := u.details("url", "**/api/orders", "method", "post")
	if got.URL != url+"/api/orders" || got.Method != "POST" || got.Status != 200 || got.Failure != "" || got.Request.Body != "second" ||
		got.Response.Body != `{"path": "/api/orders", "got": "second"}` || got.Response.Headers["content-type"] != "application/json" ||
		got.Response.Headers["set-cookie"] == "session=secret" {
		t.Errorf("%+v", got)
	}
	if got := u.details("url", url+"/api/orders"); got.Method != "GET" { // and again: it is not used up
		t.Errorf("the last one: %+v", got)
	}
	u.mustEval(`get("/api/orders", {method: "PUT", headers: {"X-Own": "1", Authorization: "Bearer secret"}, body: "x".repeat(200000)})`)
	got = u.details("url", "**/api/*", "status", 200)
	if len(got.Request.Body) != network.MaxBody || got.Request.BodyBytes != 200000 || got.Request.Headers["x-own"] != "1" ||
		got.Request.Headers["authorization"] != "[secret]" || got.Response.BodyBytes != 200000+len(`{"path": "/api/orders", "got": ""}`) {
		t.Errorf("a large one: %d of %d bytes, %v %v", len(got.Request.Body), got.Request.BodyBytes, got.Request.Headers, got.Response.BodyBytes)
	}
	u.mustEval(`get("http://127.0.0.1:1/refused")`)
	if got := u.details("url", "**/refused"); got.Failure == "" || got.Response != nil {
		t.Errorf("one that failed: %+v", got)
	}
	u.mustFail("web_requestDetails", []any{"url", "**/none", "timeoutMs", 50},
		`no request with url "**/none" was made within 50ms; the last 5 of `, "requests: ", "/refused (net::ERR_")
	u.mustFail("web_requestDetails", []any{"url", "**/api/*", "method", "PATCH", "timeoutMs", 0},
		`no request with method "PATCH" and url "**/api/*"`, "requests: POST "+url+"/api/orders (200), POST ")
	u.mustEval(`setTimeout(() => get("/api/late"), 50); 0`)
	if got := u.details("url", "**/late"); got.Status != 200 {
		t.Errorf("one that was awaited: %+v", got)
	}
}

func TestBodyIsNotCutWithinASecret(t *testing.T) {
	t.Parallel()
	u := openSessionIn(t, sharedBrowser.get(t), device.Session{Redact: strings.NewReplacer("98761234", "{{PIN}}").Replace})
	u.mustCall("navigate", "url", apiPages(t)+"/page")
	before := network.MaxBody - 4
	u.mustEval(fmt.Sprintf(`get("/api/orders", {method: "PUT", body: "x".repeat(%d) + "98761234".repeat(10)})`, before))
	got := u.details("url", "**/api/orders").Request
	if got.Body != strings.Repeat("x", before) || got.BodyBytes != before+80 {
		t.Errorf("%d of %d bytes, which end in %q", len(got.Body), got.BodyBytes, got.Body[max(0, len(got.Body)-8):])
	}
}

func TestDetailsOfARequestThatHasNotEnded(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	answer := make(chan string)
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage("<title>page</title>"),
		"/slow": func(w http.ResponseWriter, _ *http.Request) {
			for part := range answer {
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
		},
	})
	u.mustCall("navigate", "url", url+"/page")
	began := time.Now()
	u.mustEval(`fetch("/slow"); 0`)
	u.mustFail("web_requestDetails", []any{"url", "**/slow", "timeoutMs", 50}, "GET "+url+"/slow (no response yet) has not ended within 50ms")
	answer <- "some"
	u.mustFail("web_requestDetails", []any{"url", "**/slow", "timeoutMs", 50}, "has not ended within 50ms")
	answer <- " more"
	close(answer)
	got := u.details("url", "**/slow")
	if took := time.Since(began).Milliseconds() + 1; got.Response.Body != "some more" || got.DurationMS < 100 || int64(got.DurationMS) > took {
		t.Errorf("after %d ms: %+v", took, got)
	}
}

func TestAssertNetworkEvent(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := apiPages(t)
	u.mustCall("navigate", "url", url+"/page")
	u.mustEval(`get("/api/cart", {method: "POST", body: "one mug"})`)
	u.mustEval(`get("/api/cart", {method: "POST", body: "two pans"})`)
	u.mustEval(`get("/missing")`)
	u.mustCall("navigate", "url", url+"/frame") // another document
	for want, args := range map[string][]any{
		"requests: POST " + url + "/api/cart (200), POST " + url + "/api/cart (200)": {"url", "**/cart", "minCount", 2},
		"requests: POST " + url + "/api/cart (200)":                                  {"url", "**/cart", "contains", "two p", "method", "POST"},
		"requests: GET " + url + "/missing (404)":                                    {"url", "**/{missing,other}", "status", 404},
	} {
		if got := u.mustCall("web_assertNetworkEvent", args...); got != want {
			t.Errorf("%v: %s, want %s", args, got, want)
		}
	}
	for want, args := range map[string][]any{
		`2 requests with url "**/cart", not at least 3, within `:             {"url", "**/cart", "minCount", 3},
		`no request with url "**/cart" and contains "Mug" was made within `:  {"url", "**/cart", "contains", "Mug"},
		`no request with status "500" and url "**/missing" was made within `: {"url", "**/missing", "status", 500},
		`"/cart" is neither a URL nor a pattern`:                             {"url", "/cart"},
		"contains is empty":                                                  {"url", "**", "contains", "\u200b "},
	} {
		u.mustFail("web_assertNetworkEvent", args, want)
	}
	u.mustEval(`setTimeout(() => fetch("/api/late"), 50); 0`)
	u.mustCall("web_assertNetworkEvent", "url", "**/late", "status", 200)
	u.mustEval(`fetch("/api/large", {method: "POST", body: "x".repeat(100000)}).then(() => 0)`)
	failed := u.mustFail("web_assertNetworkEvent", []any{"url", "**/large", "contains", "x"}, "no request")
	if want := "POST " + url + "/api/large has a body that is too large to be searched, or files"; failed.Hint != want {
		t.Errorf("hint: %s, want %s", failed.Hint, want)
	}
}

// TestDetailsAreThoseOfPlaywright compares what was sent and what came with what Playwright says of the same page.
func TestDetailsAreThoseOfPlaywright(t *testing.T) {
	t.Parallel()
	const script = `<title>page</title><script>
		fetch("/api/a", {method: "PUT", headers: {"x-own": "ü".length + ""}, body: '{"a": "é"}'})
		  .then(() => fetch("/api/moved")).then(() => fetch("/api/none")).then(() => fetch("/api/text")).then(() => document.title = "done")
		</script>`
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(script),
		"/api/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Answer", r.Method)
			switch strings.TrimPrefix(r.URL.Path, "/api/") {
			case "moved":
				http.Redirect(w, r, "/api/here", http.StatusFound)
			case "none":
				w.WriteHeader(http.StatusNoContent)
			default:
				_, _ = io.WriteString(w, "said "+r.URL.Path+" grüße")
			}
		},
	})
	paths := []string{"/api/a", "/api/moved", "/api/here", "/api/none", "/api/text", "/page"}
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	type seen struct {
		Method, Sent, Got, Own, Answer string
		Status                         int
	}
	var want map[string]seen
	if err := json.Unmarshal(runPlaywright(ctx, t, "requests.mjs", url+"/page"), &want); err != nil {
		t.Fatal(err)
	}
	u := openSession(t)
	u.mustCall("navigate", "url", url+"/page")
	u.mustCall("web_verifyTitle", "pattern", "done")
	got := map[string]seen{}
	for _, path := range paths {
		d := u.details("url", url+path)
		if d.Response.NoBody != "" {
			t.Errorf("%s: %s", path, d.Response.NoBody)
		}
		got[path] = seen{
			Method: d.Method, Status: d.Status, Sent: d.Request.Body, Got: d.Response.Body, Own: d.Request.Headers["x-own"],
			Answer: d.Response.Headers["x-answer"],
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-Playwright +trailblaze):\n%s", diff)
	}
	if failed := u.mustFail("web_requestDetails", []any{"url", "**/{a"}, "a { without"); failed.Kind != fault.InvalidArguments {
		t.Errorf("%+v", failed)
	}
}
