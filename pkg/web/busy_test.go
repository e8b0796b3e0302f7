package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// busyTime is the limit of calls that must time out.
const busyTime = 3 * time.Second

// busyPages are pages whose scripts do not end, or that do not rest.
func busyPages(t *testing.T) string {
	t.Helper()
	return serve(t, map[string]http.HandlerFunc{
		"/busy": htmlPage(`<title>busy</title><script>const spin = () => { for (;;); }</script>
			<button onclick="spin()">Spin</button><div id=hover onmouseenter="spin()">Hover</div>
			<input id=field onkeydown="spin()" onbeforeinput="spin()">
			<select id=list onchange="spin()"><option>a<option>b</select>
			<div id=box style="height:50px;overflow:auto"><p style="height:900px">Inner</div>`),
		"/refresh": htmlPage(`<title>refresh</title><meta http-equiv=refresh content=0>`),
		"/always":  htmlPage(`<title>always</title><script>setInterval(() => { for (;;); })</script>`),
	})
}

func TestCallsOnBusyPagesTimeOut(t *testing.T) {
	t.Parallel()
	url := busyPages(t)
	const busy, sent = "busy", "the action was sent and may have happened"
	for name, tt := range map[string]struct {
		page, tool string
		args       []any
		says       []string
	}{
		"click": {"/busy", "web_click", []any{"ref", "Spin"}, []string{busy, `button "Spin"`, sent}},
		"tap":   {"/busy", "tap", []any{"text", "Spin"}, []string{busy, sent}},
		"hover": {"/busy", "web_hover", []any{"ref", "css=#hover"}, []string{busy, sent}},
		"type":  {"/busy", "web_type", []any{"ref", "css=#field", "text", "x"}, []string{busy, sent}},
		"type keys": {
			"/busy", "web_type",
			[]any{"ref", "css=#field", "text", "x", "clearFirst", false},
			[]string{busy, sent},
		},
		"select":   {"/busy", "web_selectOption", []any{"ref", "css=#list", "values", "b"}, []string{busy, sent}},
		"evaluate": {"/busy", "web_evaluate", []any{"script", "for (;;);"}, []string{busy}},
		"promise": {
			"/busy", "web_evaluate",
			[]any{"script", "new Promise(() => {})"},
			[]string{"it was waiting for a promise of the script to settle"},
		},
		"await": {
			"/busy", "evaluateJs",
			[]any{"script", "await new Promise(() => {})"},
			[]string{"it was waiting for a promise of the script to settle"},
		},
		"storage": {"/always", "web_getStorageState", nil, []string{busy}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.device.(*webDevice).limits.call = busyTime
			u.device.(*webDevice).limits.probe = time.Second
			if _, err := u.call("navigate", "url", url+tt.page); err != nil {
				t.Fatal(err)
			}
			result, err := u.call(tt.tool, tt.args...)
			if err != nil || result.OK || result.Kind != fault.CallTimeout {
				t.Fatalf("got %+v, %v", result, err)
			}
			for _, want := range append(tt.says, tt.tool+" timed out after 3s: ") {
				if !strings.Contains(result.Text, want) {
					t.Errorf("got %q, which does not contain %q", result.Text, want)
				}
			}
		})
	}
}

func TestScreenshotOfPageThatIsReplaced(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", busyPages(t)+"/refresh")
	for range 3 {
		if got := u.mustCall("captureScreen"); !strings.HasSuffix(got, "screenshot.png") {
			t.Error(got)
		}
	}
}

func TestTimeoutsNamePopupsAndNavigations(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.device.(*webDevice).limits.call = busyTime
	u.mustCall("navigate", "url", "about:blank")
	result, err := u.call("web_evaluate", "script",
		"for (let i = 0; i < 7; i++) open('about:blank'); new Promise(() => {})")
	if err != nil || !strings.Contains(result.Text, "7 popups were opened") {
		t.Errorf("got %q, %v", result.Text, err)
	}
	u.mustCall("navigate", "url", busyPages(t)+"/refresh")
	result, err = u.callWithin(busyTime, "web_wait", map[string]any{"seconds": 30})
	if err != nil || !strings.Contains(result.Text, "web_wait timed out after 3s: the page keeps navigating (") {
		t.Errorf("got %q, %v", result.Text, err)
	}
}

func TestPopupsAreLimited(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	p := u.page()
	p.update(func() { p.activity.popups = maxPopups - 1 })
	u.mustCall("navigate", "url", "about:blank")
	u.mustEval("window.a = open('about:blank'); window.b = open('about:blank'); 0")
	waitFor(t, "the end of the second page",
		func() bool { return u.mustEval("[a.closed, b.closed].join()") == "false,true" })
	u.waitForNotes("- closed, because the page had opened 100 others")
}

func TestSessionEndsSoonAfterTimeout(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", busyPages(t)+"/busy")
	d := u.device.(*webDevice)
	d.limits.evidence, d.limits.late = 2*testLimit, 100*time.Millisecond
	if result, err := u.callWithin(busyTime, "web_evaluate", map[string]any{"script": "for (;;);"}); err != nil ||
		result.OK {
		t.Fatalf("got %+v, %v", result, err)
	}
	u.page().target.Send("Runtime.evaluate", map[string]any{"expression": "for (;;);"}) // nothing stops this one
	start := time.Now()
	if shown := d.Evidence(t.Context()); len(shown) == 0 {
		t.Error("there is no evidence")
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > testLimit {
		t.Errorf("it took %s", took)
	}
}

func TestPageWorksAfterTimeout(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := busyPages(t)
	u.mustCall("navigate", "url", url+"/busy")
	for range 2 {
		result, err := u.callWithin(busyTime, "web_click", map[string]any{"ref": "Spin"})
		if err != nil || result.Kind != fault.CallTimeout {
			t.Fatalf("got %+v, %v", result, err)
		}
		if got := u.mustEval("document.title"); got != "busy" {
			t.Errorf("the title is %s", got)
		}
	}
}
