//go:build unix

package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// TestSandboxReadsNoFilesAndOriginsThroughTheBrowser has a script in the sandbox call the commands of the browser.
func TestSandboxReadsNoFilesAndOriginsThroughTheBrowser(t *testing.T) {
	t.Parallel()
	sdk, err := filepath.Abs("../sdks/typescript/src/index.js")
	if err != nil {
		t.Fatal(err)
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<h1>hello</h1>"))
	})
	shop, internal := httptest.NewServer(page), httptest.NewServer(page)
	t.Cleanup(shop.Close)
	t.Cleanup(internal.Close)
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nagent: on-device\nmcpServers: [{ script: tools.ts }]\n",
		"tools.ts": `import { trailblaze } from "` + sdk + `";
trailblaze.tool("read", { inputSchema: { type: "object", properties: { url: { type: "string" } } } }, async ({ url }, ctx, client) => {
  if (url) await client.callTool("web_navigate", { url });
  return (await client.callTool("web_evaluate", { script: "document.body.textContent" })).text;
});
await trailblaze.run();
`,
		"trails/a.trail.yaml": webTrail("web_navigate: { url: "+shop.URL+" }", "read: {}", "read: { url: "+shop.URL+"/2 }"),
		"trails/b.trail.yaml": webTrail("read: { url: 'file:///etc/passwd' }"),
		"trails/c.trail.yaml": webTrail("web_navigate: { url: "+shop.URL+" }", "read: { url: "+internal.URL+" }"),
	})
	p.run("run").want(t, 1, "file:///etc/passwd may not be opened: it is not below "+p.dir,
		"a script in the sandbox may not use "+internal.URL, "--allow-origin "+internal.URL, "2 failed, 1 passed")
	p.run("run", "trails/c.trail.yaml", "--allow-origin", internal.URL).want(t, 0)
}
