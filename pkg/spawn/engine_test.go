//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScriptRunsInTheEngineAsInNode(t *testing.T) {
	t.Parallel()
	const script = `
async function* numbers() { try { yield 1; yield 2 } finally { await null; console.error("cleanup") } }
for await (const n of numbers()) { console.error(n); break }
console.error("after break", import.meta.filename === process.argv[1], process.argv.slice(2).join());
`
	for name, runtimes := range map[string][]string{"embedded": nil, "node": {"node"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "script.mts")
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			c := launch(t, finder(t, runtimes...), Spec{Script: file, Args: []string{"a", "b"}, Env: os.Environ()})
			c.waitDone()
			if got, want := strings.TrimSpace(c.output.String()), "1\ncleanup\nafter break true a,b"; got != want {
				t.Errorf("it wrote\n%s\nwant\n%s", got, want)
			}
		})
	}
}
