package host_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/engine"
	"github.com/trailblaze/trailblaze/pkg/engine/host"
)

var update = flag.Bool("update", false, "write the golden files with node's output")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// nodeRelease is the release of node that the golden files are made with.
const nodeRelease = "v20."

func TestModulesMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/*.js")
	if err != nil || len(scripts) < 2 {
		t.Fatalf("found %q (%v)", scripts, err)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".js")
		if name == "prelude" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, golden := read(t, "testdata/prelude.js")+read(t, script), filepath.Join("testdata", name+".golden")
			if *update {
				write(t, golden, inNode(t, code, nodeRelease))
			}
			compare(t, read(t, golden), inEngine(t, code, false))
		})
	}
}

func TestOSMatchesNode(t *testing.T) {
	t.Parallel()
	code := read(t, "testdata/prelude.js") + read(t, "testdata/machine/os.js")
	compare(t, inNode(t, code, "v"), inEngine(t, code, false))
}

func TestAllModulesLoad(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, name := range host.Names() {
		if module, isNode := strings.CutPrefix(name, "node:"); isNode {
			code.WriteString("{ const m = require('" + module + "'); if (m !== require('" + name + "') || !['object', 'function'].includes(typeof m) ||" +
				" '__esModule' in m) console.log('" + name + "', m); }\n")
		}
	}
	if out := inEngine(t, code.String(), false); out != "" {
		t.Errorf("%s", out)
	}
}

func TestModulesInSandbox(t *testing.T) {
	t.Parallel()
	code := read(t, "testdata/prelude.js") + `
		for (const name of ["assert", "buffer", "events", "path", "stream", "util", "url", "querystring", "string_decoder", "readline"]) require(name);
		await show("works", async () => [Buffer.from("aGk=", "base64").toString(), new URL("x", "http://a/").href, await new Response("r").text()]);
		await show("hostname", () => { try { require("os").hostname(); } catch (e) { return e.code; } });
		await show("EOL", () => typeof require("os").EOL);`
	want := "works: [\"hi\",\"http://a/x\",\"r\"]\n" +
		"hostname: \"ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\"\n" +
		"EOL: \"string\"\n"
	compare(t, want, inEngine(t, code, true))
}

func TestUnknownChunks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fs", "node:internal/abort", "internal/../buffer", "node:../dist/buffer", "", "node:", "node:nope", "LICENSES.txt", "node:LICENSES"} {
		if _, ok := host.Chunk(name); ok || host.Has(name) {
			t.Errorf("Chunk(%q) exists", name)
		}
	}
	for _, name := range host.Names() {
		if text, ok := host.Chunk(name); !ok || text == "" || !host.Has(name) {
			t.Errorf("Chunk(%q) is missing or empty", name)
		}
	}
}

func TestLicenses(t *testing.T) {
	t.Parallel()
	licences := read(t, "dist/LICENSES.txt")
	for _, name := range []string{"buffer 6.0.3 (MIT)", "readable-stream 4.8.0 (MIT)", "web-streams-polyfill 4.3.0 (MIT)"} {
		if !strings.Contains(licences, name) {
			t.Errorf("the license of %s is missing", name)
		}
	}
}

func compare(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-node +engine):\n%s", diff)
	}
}

// memoryStore is the engine.Store that the tests share, because compiling chunks takes longer than running them.
type memoryStore struct{ blobs sync.Map }

func (m *memoryStore) Load(_ context.Context, key string, create func() ([]byte, error)) ([]byte, error) {
	if blob, ok := m.blobs.Load(key); ok {
		return blob.([]byte), nil
	}
	blob, err := create()
	if err == nil {
		m.blobs.Store(key, blob)
	}
	return blob, err
}

var chunks memoryStore

// inEngine runs the body of an async function in the engine and returns its output.
func inEngine(t *testing.T, code string, sandbox bool) string {
	t.Helper()
	var out, errs outputPipe
	e := engine.Start(engine.Spec{
		Script: "/project/test.js", Dir: t.TempDir(), Env: os.Environ(), Sandbox: sandbox, Store: &chunks,
		Code:  []byte("(async(require)=>{\"use strict\";" + code + "\n})"),
		Stdin: io.NopCloser(strings.NewReader("")), Stdout: &out, Stderr: &errs,
	})
	select {
	case <-e.Done():
	case <-time.After(2 * time.Minute):
		e.Kill()
		t.Fatalf("the engine did not exit; it printed %s%s", out.String(), errs.String())
	}
	if exit := e.Exit(); exit != (engine.Exit{}) {
		t.Errorf("exit %+v; stderr: %s", exit, errs.String())
	}
	return out.String()
}

type outputPipe struct{ bytes.Buffer }

func (*outputPipe) Close() error { return nil }

// inNode runs the body of an async function in node and returns its output. release is a prefix of the required
// version.
func inNode(t *testing.T, code, release string) string {
	t.Helper()
	version, err := exec.Command("node", "--version").Output()
	if err != nil || !strings.HasPrefix(string(version), release) {
		t.Fatalf("node --version says %q (%v); install node %s", version, err, release)
	}
	script := filepath.Join(t.TempDir(), "test.cjs")
	write(t, script, "(async(require)=>{\"use strict\";"+code+"\n})(require)")
	cmd := exec.CommandContext(t.Context(), "node", "--no-warnings", script)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	return string(out)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
