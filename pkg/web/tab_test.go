package web

import (
	"net/http"
	"testing"
)

// roleVariable turns the test binary into a trailblaze that is killed.
const roleVariable = "WEB_TEST_ROLE"

func play(string) {}

func TestSmoke(t *testing.T) {
	t.Parallel()
	u := open(t)
	url := pages(t, map[string]http.HandlerFunc{"/hello": html("<title>Hello</title><h1>Hi</h1><iframe src='/hello2'></iframe>"), "/hello2": html("<p>inner")})
	t.Log(u.do("web_navigate", "url", url+"/hello"))
	t.Log(u.js("document.title"))
	t.Log(u.js("() => ({a: 1})"))
	t.Log(u.js("return 5"))
	t.Log(u.do("web_currentUrl"))
	for _, a := range u.device.Evidence(t.Context()) {
		t.Log(a.Name, len(a.Data))
		if a.Text {
			t.Log(string(a.Data))
		}
	}
}
