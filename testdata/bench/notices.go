package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// noticingPage changes in the ways that assertions wait for.
const noticingPage = `<!doctype html><title>Late</title><h1>Late</h1><input id=box type=checkbox><div id=place></div>
<iframe srcdoc='<div id=inner></div>'></iframe>`

// lateChanges are assertions, each with the scripts that make it true and false.
var lateChanges = []struct{ assertion, change, undo string }{
	{`web_verifyTextVisible: { text: Here }`, `place.innerHTML = "<p>Here</p>"`, `place.innerHTML = ""`},
	{`web_verifyTextNotVisible: { text: Here }`, `place.innerHTML = ""`, `place.innerHTML = "<p>Here</p>"`},
	{`web_verifyElementVisible: { ref: 'button "Here"' }`, `place.innerHTML = "<button>Here</button>"`, `place.innerHTML = ""`},
	{`web_verifyState: { ref: "css=#box", state: checked }`, `box.checked = true`, `box.checked = false`},
	{`web_verifyCount: { ref: css=i, count: 2 }`, `place.innerHTML = "<i>a</i><i>b</i>"`, `place.innerHTML = ""`},
	{`web_verifyTitle: { pattern: here }`, `document.title = "here"`, `document.title = ""`},
	{`web_verifyUrl: { pattern: here }`, `history.replaceState(0, "", "#here")`, `history.replaceState(0, "", "#")`},
	{`web_verifyAriaSnapshot: { snapshot: "- paragraph: Here" }`, `place.innerHTML = "<p>Here</p>"`, `place.innerHTML = ""`},
	{`web_verifyTextVisible: { text: There }`, `frames[0].inner.innerHTML = "<p>There</p>"`, `frames[0].inner.innerHTML = ""`},
	{`web_verifyElementNotVisible: { ref: css=b }`, `frames[0].inner.innerHTML = ""`, `frames[0].inner.innerHTML = "<b>x</b>"`},
}

// notices measures the time from the change that makes an assertion true to the end of its call. The worst kind of
// assertion counts.
func (b *bench) notices() error {
	const rounds = 40
	w, err := b.browsing(0)
	if err != nil {
		return err
	}
	defer w.stop()
	calls := []string{w.navigate(), fmt.Sprintf("web_evaluate: { script: %q }",
		fmt.Sprintf("document.write(%q), document.close()", noticingPage))}
	for _, c := range lateChanges {
		for i := range rounds {
			script := fmt.Sprintf("%s; window.at = 0; setTimeout(() => { at = Date.now(); %s }, %d); 1", c.undo, c.change, 60+i*7%50)
			calls = append(calls, fmt.Sprintf("web_evaluate: { script: %q }", script), c.assertion, "web_evaluate: { script: at }")
		}
	}
	dir, err := b.project("notices", "", 0, map[string]string{"notices": trailOf(calls...)})
	if err != nil {
		return err
	}
	if _, err := measure(b.browse(w, dir)); err != nil {
		return err
	}
	delays, err := noticeDelays(filepath.Join(dir, "logs", "latest", "events.ndjson"))
	if err != nil {
		return err
	}
	var worst time.Duration
	for kind := range slices.Chunk(delays, rounds) {
		slices.Sort(kind)
		worst = max(worst, kind[len(kind)*95/100])
	}
	b.row("an assertion notices what became true, 95th percentile of the slowest kind", worst.String(), "≤ 50 ms", worst <= 50*time.Millisecond)
	return nil
}

// noticeDelays returns for each assertion of a log how long after the change its call ended. The call after it returns
// the time of the change, in milliseconds.
func noticeDelays(log string) (delays []time.Duration, err error) {
	data, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	var asserted time.Time
	for line := range bytes.Lines(data) {
		var e struct {
			Type, Tool, Text string
			Time             time.Time
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		switch {
		case e.Type != "call.finished":
		case e.Tool != "web_evaluate":
			asserted = e.Time
		case len(e.Text) > 1:
			at, err := strconv.ParseInt(e.Text, 10, 64)
			if err != nil {
				continue // it wrote the page
			}
			delays = append(delays, asserted.Sub(time.UnixMilli(at)).Round(time.Millisecond))
		}
	}
	return delays, nil
}
