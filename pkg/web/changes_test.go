package web

import (
	"context"
	"testing"
	"time"
)

func TestChangeBetweenWaitsEndsNextWait(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.mustEval(`document.write("<div id=host></div><div id=place></div><input><iframe srcdoc='<p>a</p>'></iframe>"), document.close(),
		host.attachShadow({mode: "open"}).innerHTML = "<p>a</p>"`)
	p := u.page()
	w := p.newChangeWatcher()
	for _, change := range []string{
		"place.append('a')", "place.style.color = 'red'", "frames[0].document.body.append('a')",
		"host.shadowRoot.append('a')", "document.querySelector('input').focus()",
		"document.querySelector('input').dispatchEvent(new Event('input'))", "history.replaceState(0, '', '#a')",
		"place.append(document.createElement('iframe'))",
	} {
		for settled := false; !settled; { // until nothing changes any more
			short, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
			w.wait(short, 0, time.Hour)
			settled = short.Err() != nil
			cancel()
		}
		u.mustEval(change + "; 1")
		long, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		w.wait(long, 0, time.Hour)
		if long.Err() != nil {
			t.Errorf("%s did not end the wait", change)
		}
		cancel()
	}
}
