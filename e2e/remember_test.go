//go:build unix

package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTextOfAnElementIsRemembered(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!doctype html><p id=total>Total: $1,234.50</p><p id=who>Ann</p>"))
	}))
	defer site.Close()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig, "trails/a.trail.yaml": webTrail(
		"web_navigate: { url: "+site.URL+" }", `rememberNumber: { ref: "css=#total", variable: total }`, `rememberText: { ref: "css=#who", variable: who }`,
		`assertMath: { expression: "{{total}} * 2", expected: 2469 }`, `web_verifyTextVisible: { text: "{{who}}" }`,
	)})
	p.run("check").want(t, 0)
	p.run("run", "--record", "trails/a.trail.yaml").want(t, 0, "1 passed")
	if text := p.read(t, "trails/a.trail.yaml"); strings.Count(text, "remember") != 2 || strings.Contains(text, "1234") {
		t.Errorf("recorded:\n%s", text)
	}

	p.write("trails/a.trail.yaml", `trail:
  - verify: The total
    recording:
      web:
        - rememberNumber: { prompt: the total, variable: total }
      android:
        - rememberText: { prompt: the name, variable: who }
      ios:
        - rememberText: { nodeSelector: { iosMaestro: { textRegex: Ann } } }
`)
	p.run("check").wantErr(t, 3, "a.trail.yaml:5:11: rememberNumber: prompt needs a model", "a.trail.yaml:7:11: rememberText: prompt needs a model",
		"name the element, such as with nodeSelector", `a.trail.yaml:9:11: rememberText: missing argument "variable"`)
	p.run("run").want(t, 1, "prompt needs a model")
}
