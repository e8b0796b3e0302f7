package host_test

import (
	"bytes"
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

var update = flag.Bool("update", false, "write the golden files from what node says")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Of node's releases the golden files are from this one.
const nodeRelease = "v20."

func TestModulesSayWhatNodeSays(t *testing.T) {
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

func TestTheMachineIsTheOneThatNodeSees(t *testing.T) {
	t.Parallel()
	code := read(t, "testdata/prelude.js") + read(t, "testdata/machine/os.js")
	compare(t, inNode(t, code, "v"), inEngine(t, code, false))
}

func TestEveryModuleLoads(t *testing.T) {
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

func TestTheSandboxHasWhatNeedsNoMachine(t *testing.T) {
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

func TestNoChunkIsForAnotherName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fs", "node:internal/abort", "internal/../buffer", "node:../dist/buffer", "", "node:", "node:nope", "LICENSES.txt", "node:LICENSES"} {
		if _, ok := host.Chunk(name); ok || host.Has(name) {
			t.Errorf("Chunk(%q) gives something", name)
		}
	}
	for _, name := range host.Names() {
		if text, ok := host.Chunk(name); !ok || text == "" || !host.Has(name) {
			t.Errorf("Chunk(%q) gives nothing", name)
		}
	}
}

func TestLicencesNameWhatChunksAreMadeOf(t *testing.T) {
	t.Parallel()
	licences := read(t, "dist/LICENSES.txt")
	for _, name := range []string{"buffer 6.0.3 (MIT)", "readable-stream 4.8.0 (MIT)", "web-streams-polyfill 4.3.0 (MIT)"} {
		if !strings.Contains(licences, name) {
			t.Errorf("no licence of %s", name)
		}
	}
}

func compare(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-node +engine):\n%s", diff)
	}
}

// memory is a store for the chunks that tests share: to compile them takes longer than to run them.
type memory struct{ blobs sync.Map }

func (m *memory) Get(key string) ([]byte, bool) {
	blob, ok := m.blobs.Load(key)
	if !ok {
		return nil, false
	}
	return blob.([]byte), true
}

func (m *memory) Put(key string, blob []byte) { m.blobs.Store(key, blob) }

var chunks memory

// inEngine runs the body of an async function and returns what it prints.
func inEngine(t *testing.T, code string, sandbox bool) string {
	t.Helper()
	var out, errs pipe
	e := engine.Start(engine.Spec{
		Script: "/project/test.js", Dir: t.TempDir(), Env: os.Environ(), Sandbox: sandbox, Store: &chunks,
		Code:  []byte("(async(require)=>{\"use strict\";" + code + "\n})"),
		Stdin: io.NopCloser(strings.NewReader("")), Stdout: &out, Stderr: &errs,
	})
	select {
	case <-e.Done():
	case <-time.After(2 * time.Minute):
		e.Kill()
		t.Fatalf("the engine has not ended; it printed %s%s", out.String(), errs.String())
	}
	if exit := e.Exit(); exit != (engine.Exit{}) {
		t.Errorf("exit %+v; stderr: %s", exit, errs.String())
	}
	return out.String()
}

type pipe struct{ bytes.Buffer }

func (*pipe) Close() error { return nil }

// inNode runs the body of an async function by a node of a release and returns what it prints.
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
