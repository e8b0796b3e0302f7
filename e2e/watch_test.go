//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// wordServer has the tools say, which returns the text of a helper two folders deeper, note, which writes a file, and
// hang, which writes a file and never returns.
const wordServer = `
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
import { word } from "./lib/deep/word.ts";

const calls = {
  say: () => word(),
  note: () => (writeFileSync("state.json", String(Date.now())), "noted"),
  hang: () => (writeFileSync("hanging", ""), undefined),
};
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "w", version: "1" } });
  if (method === "tools/list") send(id, { tools: Object.keys(calls).map((name) => ({ name, inputSchema: { type: "object" } })) });
  if (method === "tools/call") {
    const text = calls[params.name]();
    if (text !== undefined) send(id, { content: [{ type: "text", text }] });
  }
}
`

const (
	wordConfig = "target: app\nplatform: web\nmcpServers: [{ name: words, script: ./tools/words.ts }]\n"
	wordHelper = `export const word = () => "hello";`
)

// words is a project with the server of words, on bun, and with trails.
func words(t *testing.T, trails map[string]string) *project {
	t.Helper()
	p := newProject(t, map[string]string{"trailblaze.yaml": wordConfig, "tools/words.ts": wordServer, "tools/lib/deep/word.ts": wordHelper})
	for name, calls := range trails {
		p.write("trails/"+name+".trail.yaml", calls)
	}
	p.env = append(p.env, "PATH="+bin(t, bunPath))
	return p
}

// watched is a run --watch in process, with what it has printed.
type watched struct {
	t       *testing.T
	signals chan<- os.Signal
	code    chan int

	mu   sync.Mutex
	all  strings.Builder
	read int // the number of bytes of it that until has returned
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.Write(b)
}

// watch starts run --watch; the test ends it.
func (p *project) watch(args ...string) *watched {
	p.t.Helper()
	return p.watchWith(cmd.NewSystem("").Devices, args...)
}

func (p *project) watchWith(devices []device.Kind, args ...string) *watched {
	p.t.Helper()
	return p.watchCommand(devices, append([]string{"run", "--watch"}, args...)...)
}

// watchCommand starts a command that watches files.
func (p *project) watchCommand(devices []device.Kind, args ...string) *watched {
	p.t.Helper()
	w := &watched{t: p.t, code: make(chan int, 1)}
	sys := p.system(p.dir, w, w, args...)
	sys.Devices = devices
	hooked := make(chan chan<- os.Signal, 1)
	sys.Notify = func(c chan<- os.Signal, which ...os.Signal) {
		if slices.Contains(which, os.Interrupt) {
			hooked <- c
		}
	}
	go func() { w.code <- cmd.Main(sys) }()
	w.signals = <-hooked
	return w
}

// until waits until something is printed and returns all that was since the last time.
func (w *watched) until(text string) string {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		w.mu.Lock()
		fresh := w.all.String()[w.read:]
		if before, _, ok := strings.Cut(fresh, text); ok {
			w.read += len(before) + len(text)
			w.mu.Unlock()
			return before + text
		}
		w.mu.Unlock()
	}
	w.t.Fatalf("nothing says %q:\n%s", text, w.output())
	return ""
}

const idle = "waiting for changes"

func (w *watched) output() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// end sends a signal and expects an exit code.
func (w *watched) end(signal os.Signal, code int) {
	w.t.Helper()
	w.signals <- signal
	select {
	case got := <-w.code:
		if got != code {
			w.t.Errorf("exit code %d, want %d\n%s", got, code, w.output())
		}
	case <-time.After(time.Minute):
		w.t.Fatalf("does not end\n%s", w.output())
	}
}

// has fails the test unless a part of the output has some texts, and not those with a ! in front.
func (w *watched) has(part string, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		unwanted, not := strings.CutPrefix(text, "!")
		if not && strings.Contains(part, unwanted) || !not && !strings.Contains(part, text) {
			w.t.Errorf("want %q in\n%s", text, part)
		}
	}
}

func TestChangeRunsAffectedTrails(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("say: {}"), "b": webTrail("say: {}")})
	w := p.watch("-v")
	w.has(w.until(idle), "2 passed", "hello")
	for _, change := range []struct {
		about, file, text string
		want              []string
	}{
		{"a trail", "trails/a.trail.yaml", webTrail("say: {}", "say: {}"), []string{"files changed: trails/a.trail.yaml\n", "1 passed", "!running b"}},
		{"a helper", "tools/lib/deep/word.ts", strings.ReplaceAll(wordHelper, "hello", "ahoy"), []string{"word.ts\n", "2 passed", "ahoy", "!hello"}},
		{"the project file", "trailblaze.yaml", "# the same\n" + wordConfig, []string{"files changed: trailblaze.yaml\n", "2 passed"}},
		{"a new target", "trailblaze-config/targets/app.yaml", "id: app\ndisplay_name: App\nplatforms: { web: {} }\n", []string{"2 passed"}},
		{"a new trail", "trails/new/c.trail.yaml", webTrail("say: {}"), []string{"1 passed", "running c"}},
		{"a broken project file", "trailblaze.yaml", "mcpServers: [", []string{"trailblaze: error", "trailblaze.yaml:1", "!passed"}},
		{"a mended one", "trailblaze.yaml", wordConfig, []string{"3 passed"}},
		{"a broken trail", "trails/a.trail.yaml", "trail: [", []string{"a.trail.yaml:1", "1 error", "!passed"}},
		{"a mended trail", "trails/a.trail.yaml", webTrail("say: {}"), []string{"1 passed"}},
		{"a broken helper", "tools/lib/deep/word.ts", "export const", []string{"3 errors"}},
		{"a mended helper", "tools/lib/deep/word.ts", wordHelper, []string{"3 passed"}},
	} {
		p.write(change.file, change.text)
		part := w.until(idle)
		w.has(part, change.want...)
		if t.Failed() {
			t.Fatalf("after a change of %s", change.about)
		}
	}
	w.end(os.Interrupt, 0)
	spawntest.NoSurvivors(t, p.marker)
}

func TestChangeDuringCallRestartsRun(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("say: {}"), "b": webTrail("hang: {}"), "c": webTrail("say: {}")})
	w := p.watch("--junit", "junit.xml", "--html", ".")
	p.awaitFile("tools/hanging")
	p.write("trails/b.trail.yaml", webTrail("say: {}"))
	w.has(w.until("restarting the run"), "note: files changed: trails/b.trail.yaml; restarting the run")
	part := w.until(idle)
	w.has(part, "2 passed", "✓ [1/2] b", "✓ [2/2] c", "!✗", "!error", "!] a (")
	junit, err := os.ReadFile(filepath.Join(p.dir, "junit.xml"))
	if err != nil || !strings.Contains(string(junit), `tests="2"`) || strings.Contains(string(junit), "files changed") {
		t.Errorf("%v\n%s", err, junit)
	}
	w.end(os.Interrupt, 0)
	spawntest.NoSurvivors(t, p.marker)
}

func TestChangeOfSourceDuringCallRunsEverything(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("say: {}"), "b": webTrail("hang: {}")})
	w := p.watch("--json")
	p.awaitFile("tools/hanging")
	p.write("tools/words.ts", strings.ReplaceAll(wordServer, "undefined),", "'done'),"))
	w.until(`"type":"run.finished"`)
	w.until(`"type":"run.finished"`)
	w.until("\n")
	w.end(os.Interrupt, 0)
	events := result{stdout: w.output()}.events(t)
	var got []string
	for _, e := range ofType(events, "trail.finished") {
		reason, _ := e["reason"].(string)
		got = append(got, strings.TrimSpace(e["title"].(string)+" "+e["outcome"].(string)+" "+reason))
	}
	if text, _ := json.Marshal(got); string(text) != `["a passed","b error trails/b.trail.yaml:5: files changed: tools/words.ts","a passed","b passed"]` {
		t.Errorf("trails: %s", text)
	}
	done := ofType(events, "run.finished")
	if len(done) != 2 || done[0]["exitCode"] != 130.0 || done[1]["exitCode"] != 0.0 {
		t.Errorf("runs: %v", done)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestFilesWrittenByToolsStartNoRun(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("note: {}", "say: {}")})
	w := p.watch()
	w.until(idle)
	p.write("trails/a.trail.yaml", webTrail("say: {}", "note: {}"))
	w.until(idle)
	if n := strings.Count(w.output(), "1 passed"); n != 2 || strings.Contains(w.output(), "state.json") {
		t.Errorf("%d runs\n%s", n, w.output())
	}
	for ; !strings.Contains(w.output(), "state.json"); <-time.After(10 * time.Millisecond) { // while nothing runs, it is one
		p.write("tools/state.json", time.Now().String())
	}
	w.until(idle)
	w.end(os.Interrupt, 0)
}

func TestServersOutsideProjectAreWatched(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("say: {}")})
	elsewhere := t.TempDir()
	if err := os.Rename(filepath.Join(p.dir, "tools"), filepath.Join(elsewhere, "tools")); err != nil {
		t.Fatal(err)
	}
	p.write("trailblaze.yaml", strings.ReplaceAll(wordConfig, "./tools", elsewhere+"/tools"))
	w := p.watch("-v")
	w.has(w.until(idle), "hello")
	if err := os.WriteFile(filepath.Join(elsewhere, "tools/lib/deep/word.ts"), []byte(strings.ReplaceAll(wordHelper, "hello", "ahoy")), 0o644); err != nil {
		t.Fatal(err)
	}
	w.has(w.until(idle), "ahoy")
	w.end(os.Interrupt, 0)
}

func TestFilesNamedByCommandAreWatched(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("say: {}"), "b": webTrail("hang: {}")})
	p.write("trailblaze.yaml", "target: app\nplatform: web\nmcpServers: [{ name: words, command: bun, args: [run, dist/words] }]\n")
	p.write("dist/words", strings.ReplaceAll(wordServer, "./lib", "../tools/lib")) // as a compiler writes it, to a separate folder
	w := p.watch()
	p.awaitFile("hanging")
	p.write("dist/words", strings.ReplaceAll(strings.ReplaceAll(wordServer, "./lib", "../tools/lib"), "undefined),", "'done'),"))
	w.has(w.until(idle), "files changed: dist/words; restarting the run", "2 passed")
	w.end(os.Interrupt, 0)
}

func TestWatchRunsOnlySelectedTrails(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"in/a": webTrail("say: {}"), "out/b": webTrail("say: {}"), "in/tagged": "config: { tags: [x] }\n" + webTrail("say: {}")})
	w := p.watch("trails/in", "--tags", "x")
	w.has(w.until(idle), "1 passed")
	p.write("trails/out/b.trail.yaml", webTrail("say: {}", "say: {}")) // not selected
	p.write("trails/in/a.trail.yaml", webTrail("say: {}", "say: {}"))  // does not have the tag
	w.has(w.until(idle), "!running", "!error")
	p.write("trails/in/tagged.trail.yaml", "config: { tags: [x] }\n"+webTrail("say: {}", "say: {}"))
	w.has(w.until(idle), "1 passed", "running tagged")
	w.end(os.Interrupt, 0)
}

func TestExitCodeIgnoresRestartedRun(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": "config: { tags: [x] }\n" + webTrail("hang: {}")})
	w := p.watch("--tags", "x")
	p.awaitFile("tools/hanging")
	p.write("trails/a.trail.yaml", "config: { tags: [y] }\n"+webTrail("hang: {}"))
	w.has(w.until(idle), "restarting the run", "!error", "!passed")
	w.end(os.Interrupt, 0)
}

func TestOnlyLogsFolderIsNotWatched(t *testing.T) {
	t.Parallel()
	p := words(t, map[string]string{"a": webTrail("say: {}")})
	if err := os.Rename(filepath.Join(p.dir, "tools"), filepath.Join(p.dir, "logs")); err != nil {
		t.Fatal(err)
	}
	p.write("trailblaze.yaml", "logsDir: out\n"+strings.ReplaceAll(wordConfig, "./tools", "./logs"))
	w := p.watch("-v")
	w.has(w.until(idle), "hello")
	p.write("logs/lib/deep/word.ts", strings.ReplaceAll(wordHelper, "hello", "ahoy"))
	w.has(w.until(idle), "files changed: logs/lib/deep/word.ts\n", "ahoy")
	w.end(os.Interrupt, 0)
}

func TestUnusedDevicesAreClosed(t *testing.T) {
	t.Parallel()
	var kept phones
	p := newProject(t, phoneTrail("tap: { text: Buy }"))
	w := p.watchWith([]device.Kind{kept.kind()})
	w.has(w.until(idle), "1 passed")
	for i, change := range []struct {
		name   string
		closed int
	}{{"one", 1}, {"two", 2}, {"two", 2}} {
		p.write("trailblaze.yaml", fmt.Sprintf("# %d\n%sdevice: { ios: { phoneName: %s } }\n", i, phoneTrail()["trailblaze.yaml"], change.name))
		w.has(w.until(idle), "1 passed")
		if got := kept.count("close all"); got != change.closed {
			t.Errorf("%d are closed, want %d", got, change.closed)
		}
	}
	w.end(os.Interrupt, 0)
	if got := kept.count("close all"); got != 3 {
		t.Errorf("in the end %d are closed", got)
	}
}

func TestEndOfWatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trail, ready string
		args         []string
		signal       os.Signal
		code         int
	}{
		"idle after a pass":       {webTrail("say: {}"), idle, nil, os.Interrupt, 0},
		"idle after a failure":    {webTrail("assertEquals: { actual: 1, expected: 2 }"), idle, nil, os.Interrupt, 1},
		"idle after a mistake":    {"trail: [", idle, nil, os.Interrupt, 3},
		"idle after the timeout":  {webTrail("hang: {}"), idle, []string{"--timeout", "2s"}, os.Interrupt, 124},
		"idle, terminated":        {webTrail("say: {}"), idle, nil, syscall.SIGTERM, 143},
		"running":                 {webTrail("hang: {}"), "", nil, os.Interrupt, 130},
		"running, terminated":     {webTrail("hang: {}"), "", nil, syscall.SIGTERM, 143},
		"idle, nothing to run":    {webTrail("say: {}"), idle, []string{"trails/none.trail.yaml"}, os.Interrupt, 4},
		"idle after a dry run":    {webTrail("hang: {}"), idle, []string{"--dry-run"}, os.Interrupt, 0},
		"idle, nothing of a name": {webTrail("say: {}"), idle, []string{"--tags", "x"}, os.Interrupt, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := words(t, map[string]string{"a": tc.trail})
			w := p.watch(tc.args...)
			if tc.ready == "" {
				p.awaitFile("tools/hanging")
			} else {
				w.until(tc.ready)
			}
			w.end(tc.signal, tc.code)
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestWatchErrors(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig("ok"), "trails/a.trail.yaml": webTrail("echo: {}")})
	for args, want := range map[string]string{
		"--record x.trail.yaml": "watch", "--shard 1/2": "watch", "--unrecorded maybe": "--unrecorded", "--junit trails": "--junit",
	} {
		p.run(append([]string{"run", "--watch"}, strings.Fields(args)...)...).wantErr(t, 3, want)
	}
	p.runIn(t.TempDir(), "run", "--watch").wantErr(t, 3, "no project")
}

// awaitFile waits for a file that a tool writes.
func (p *project) awaitFile(name string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	await(func() bool { _, err := os.Stat(path); return err == nil })
	if _, err := os.Stat(path); err != nil {
		p.t.Fatal(err)
	}
}
