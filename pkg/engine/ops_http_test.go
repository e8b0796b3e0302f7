package engine

import "testing"

func TestUpgradeIsUnavailable(t *testing.T) {
	t.Parallel()
	got := run(t, bundledImports(`
		import http from "node:http";
		try { http.get("http://127.0.0.1:9/", { headers: { Connection: "Upgrade", Upgrade: "websocket" } }) } catch (error) { console.log(error.message) }
	`))
	want := "WebSockets and other upgrades of a connection are not available in the embedded engine; install bun (https://bun.sh) or node\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
