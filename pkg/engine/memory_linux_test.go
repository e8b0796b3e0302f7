package engine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// memoryAttacks returns scripts that make the engine allocate as much as they can, where possible outside of the heap
// of QuickJS. LIMIT is the memory limit of the engine in bytes, BOMB a gzip file of LIMIT / 2 bytes, NESTED a gzip file
// of BOMB, and AT the URL of a server that sends without end, or never below /wait.
func memoryAttacks() map[string]string {
	return map[string]string{
		"invalid text":         `const b = new Uint8Array(LIMIT / 6).fill(255); for (let i = 0; i < 8; i++) new TextDecoder().decode(b);`,
		"invalid text, kept":   `const b = new Uint8Array(LIMIT / 12).fill(255), kept = []; for (let i = 0; i < 8; i++) kept.push(new TextDecoder().decode(b));`,
		"text":                 `const b = new Uint8Array(LIMIT / 5).fill(65); for (let i = 0; i < 8; i++) new TextDecoder().decode(b);`,
		"text of two bytes":    `const b = Buffer.alloc(LIMIT / 5, "é"); for (let i = 0; i < 8; i++) b.toString();`,
		"UTF-16":               `const b = new Uint8Array(LIMIT / 5).fill(48); for (let i = 0; i < 4; i++) new TextDecoder("utf-16le").decode(b);`,
		"windows-1252":         `const b = new Uint8Array(LIMIT / 8).fill(128); for (let i = 0; i < 4; i++) new TextDecoder("windows-1252").decode(b);`,
		"encoding":             `const s = "é".repeat(LIMIT / 8); for (let i = 0; i < 8; i++) new TextEncoder().encode(s);`,
		"base64":               `const b = Buffer.alloc(LIMIT / 8, 1); for (let i = 0; i < 8; i++) Buffer.from(b.toString("base64"), "base64");`,
		"hex":                  `const b = Buffer.alloc(LIMIT / 12, 1); for (let i = 0; i < 8; i++) Buffer.from(b.toString("hex"), "hex");`,
		"latin1":               `const b = Buffer.alloc(LIMIT / 12, 200); for (let i = 0; i < 8; i++) Buffer.from(b.toString("latin1"), "latin1");`,
		"nested gunzip":        `require("zlib").gunzipSync(require("zlib").gunzipSync(NESTED));`,
		"repeated gunzip":      `for (let i = 0; i < 4; i++) require("zlib").gunzipSync(BOMB);`,
		"parallel gunzip":      `for (let i = 0; i < 16; i++) require("zlib").gunzip(BOMB, () => {});`,
		"gunzip streams":       `for (let i = 0; i < 100; i++) { const s = require("zlib").createGunzip(); s.on("data", () => s.pause()).write(BOMB) }`,
		"gzip":                 `const b = require("crypto").randomBytes(LIMIT / 4); for (let i = 0; i < 2; i++) require("zlib").gzipSync(b, { level: 1 });`,
		"a body":               `await (await fetch(AT)).arrayBuffer();`,
		"bodies":               `await Promise.allSettled(Array.from({ length: 8 }, async () => (await fetch(AT)).text()));`,
		"requests":             `for (let i = 0; i < 40; i++) fetch(AT + "/wait", { method: "POST", body: new Uint8Array(LIMIT / 12) }).catch(() => {});`,
		"fill":                 `const a = []; a.length = 2 ** 32 - 1; a.fill(0);`,
		"push":                 `const a = []; for (;;) a.push(0);`,
		"a long URL":           `try { new URL("http://a/" + "é".repeat(LIMIT / 6)) } catch (e) { if (e.code !== "ERR_OUT_OF_RANGE") throw e }`,
		"URLs":                 `for (let i = 0; i < 4; i++) new URL("http://a/" + "é".repeat(1 << 17));`,
		"parts of a URL":       `const u = new URL("http://a/"); for (let i = 0; i < 4; i++) u.pathname = u.search = u.hash = "é".repeat(1 << 16);`,
		"pending operations":   `for (let i = 0; i < 1e5; i++) require("zlib").gzip("x", () => {});`,
		"arguments":            `const b = Buffer.alloc(LIMIT / 30); for (let i = 0; i < 100; i++) require("zlib").gzip(b, () => {});`,
		"random bytes":         `for (let i = 0; i < 16; i++) require("crypto").randomBytes(LIMIT / 4);`,
		"structuredClone":      `const b = new Uint8Array(LIMIT / 8), kept = []; for (;;) kept.push(structuredClone(b));`,
		"comparison":           `const s = "é".repeat(LIMIT / 240); for (let i = 0; i < 4; i++) s.localeCompare(s + "a", "de", { sensitivity: "case" });`,
		"formats":              `for (let i = 0; i < 100; i++) try { new Intl.NumberFormat("en", { unit: "x".repeat(60000) + i }) } catch {}`,
		"collators":            `for (let i = 0; ; i++) new Intl.Collator("en-x-" + i.toString(36).padStart(8, "0"));`,
		"output":               `const s = "x".repeat(LIMIT / 5); for (let i = 0; i < 8; i++) console.log(s);`,
		"a file":               `require("fs").readFileSync("/dev/zero", "utf8")`,
		"files":                `await Promise.allSettled(Array.from({ length: 8 }, () => require("fs/promises").readFile("/dev/zero")));`,
		"parts of files":       `const fs = require("fs"), fd = fs.openSync("/dev/zero"), b = Buffer.alloc(LIMIT / 4); for (let i = 0; i < 100; i++) fs.read(fd, b, () => {});`,
		"a response":           `const server = require("http").createServer((_, r) => { for (;;) r.write(Buffer.alloc(1 << 20)) }).listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + server.address().port).catch(() => {}));`,
		"names of functions":   `const f = { ["x".repeat(LIMIT / 60)]() { return new Error().stack } }; for (const k in f) f[k]();`,
		"paths":                `for (let i = 0; i < 4; i++) try { require("fs").statSync("x".repeat(LIMIT / 12)) } catch {}`,
		"headers":              `for (let i = 0; i < 200; i++) fetch(AT + "/wait", { headers: { a: "x".repeat(LIMIT / 200) } }).catch(() => {});`,
		"strings of two bytes": `const a = []; for (;;) a.push(("\u4e00" + a.length).repeat(1 << 18));`,
		"exceptions":           `const a = []; for (;;) try { a.push(new Uint8Array(1 << 18)) } catch {}`,
	}
}

const (
	attackVariable = "TRAILBLAZE_TEST_MEMORY_ATTACKS" // makes the test binary run attackMain
	limitVariable  = "TRAILBLAZE_TEST_DATA_LIMIT"     // limits the writable memory of attackMain in bytes

	attackLimit = 64 << 20 // MemoryLimit of the engines
	// attackPeak is what the process may need besides what it needs without a script: the limit, what Go may hold
	// without being asked to collect it (see maxGarbage), and a quarter of both for pages that the allocators cannot
	// use.
	attackPeak = (attackLimit + maxGarbage) / 4 * 5
)

// attackReport is what attackMain prints for each script.
type attackReport struct {
	Exit   Exit
	Stderr string
	Peak   int // bytes of resident memory, besides those before the script
}

// attackMain runs the scripts in stdin, one after another.
func attackMain() {
	if limit, err := strconv.ParseUint(os.Getenv(limitVariable), 10, 64); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			panic(err)
		}
	}
	scripts, reports := map[string]string{}, map[string]attackReport{}
	if err := json.NewDecoder(os.Stdin).Decode(&scripts); err != nil {
		panic(err)
	}
	for name, script := range scripts {
		debug.FreeOSMemory()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets VmHWM
			panic(err)
		}
		before := statusField("VmRSS")
		report := runAttack(script)
		report.Peak = statusField("VmHWM") - before
		reports[name] = report
	}
	if err := json.NewEncoder(os.Stdout).Encode(reports); err != nil {
		panic(err)
	}
}

func runAttack(script string) attackReport {
	var stderr bytes.Buffer
	stdin, _ := io.Pipe()
	e := Start(Spec{
		Script: "/project/script.js", Dir: os.TempDir(), MemoryLimit: attackLimit, Store: sharedStore,
		Code:  []byte("(async(require)=>{" + script + "})"),
		Stdin: stdin, Stdout: discard{io.Discard}, Stderr: discard{&stderr},
		Callback: http.HandlerFunc(sendEndlessly), CallbackURL: "http://127.0.0.1:9/callback",
	})
	return attackReport{Exit: e.Exit(), Stderr: stderr.String()}
}

func sendEndlessly(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/wait" {
		<-r.Context().Done()
	}
	for block := make([]byte, 1<<20); ; {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// statusField returns a size in /proc/self/status in bytes.
func statusField(name string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	n, err := strconv.Atoi(string(match[1]))
	if err != nil {
		panic(err)
	}
	return n << 10
}

// runAttacks runs scripts in a process of their own.
func runAttacks(t *testing.T, scripts map[string]string, env ...string) map[string]attackReport {
	t.Helper()
	data := make([]byte, attackLimit/2)
	constants := []string{"AT", "'http://127.0.0.1:9'", "LIMIT", strconv.Itoa(attackLimit)}
	for _, name := range []string{"BOMB", "NESTED"} {
		data = pack(t, data)
		constants = append(constants, name, base64Buffer(data))
	}
	replaced := map[string]string{}
	for name, script := range scripts {
		replaced[name] = strings.NewReplacer(constants...).Replace(script)
	}
	stdin, err := json.Marshal(replaced)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), env...), attackVariable+"=1")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	reports := map[string]attackReport{}
	if err == nil {
		err = json.Unmarshal(out, &reports)
	}
	if err != nil {
		t.Fatalf("%v: %s\n%.2000s", err, out, stderr.String())
	}
	return reports
}

func TestMemoryLimitCountsWhatGoHolds(t *testing.T) {
	t.Parallel()
	for name, report := range runAttacks(t, memoryAttacks()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if report.Peak > attackPeak*peakFactor {
				t.Errorf("the peak is %d MiB with a limit of %d MiB; exit %+v", report.Peak>>20, attackLimit>>20, report.Exit)
			}
			if report.Exit != (Exit{}) && !strings.Contains(report.Exit.Panic, "out of memory") {
				t.Errorf("exit %+v, stderr %s", report.Exit, report.Stderr)
			}
			if strings.Count(report.Stderr, "FATAL ERROR") > 1 {
				t.Errorf("stderr %s", report.Stderr)
			}
		})
	}
}
