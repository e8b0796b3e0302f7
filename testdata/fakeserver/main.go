//go:build unix

// Command fakeserver is an MCP server that misbehaves on demand.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// main serves MCP on stdin and stdout. The variable FAKE_SERVER is a comma-separated list of words, each a phase and
// what goes wrong there, such as "call:exit3" or "list:hang"; words without a phase hold for its whole life. The file
// reached-<phase> in its working directory, the project, says that it is about to misbehave.
func main() {
	f := &fake{words: strings.Split(os.Getenv("FAKE_SERVER"), ","), in: bufio.NewReaderSize(os.Stdin, 1<<20)}
	if f.has("ignore-term") {
		f.ignoreTerm()
	}
	if f.has("grandchild") {
		f.grandchild()
	}
	if f.has("daemon") {
		startDaemon()
	}
	if f.has("noisy") {
		fmt.Println("starting up {not json")
		fmt.Fprintln(os.Stderr, "fake: a line on stderr")
	}
	f.misbehave("start")
	for {
		line, err := f.in.ReadString('\n')
		if err != nil {
			break
		}
		f.answer(line)
	}
	f.end()
}

// end is what the server does at the end of its input.
func (f *fake) end() {
	f.misbehave("eof")
	if f.has("ignore-eof") {
		<-time.After(time.Hour) // an empty select would end a program without other goroutines
	}
}

type fake struct {
	words []string
	in    *bufio.Reader
}

// startDaemon starts a process in a session of its own, without the pipes of the server.
func startDaemon() {
	c := exec.Command("sleep", "3600")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		panic(err)
	}
}

func (f *fake) has(word string) bool { return slices.Contains(f.words, word) }

// ignoreTerm logs every SIGTERM and ignores it.
func (f *fake) ignoreTerm() {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go func() {
		for range terms {
			fmt.Fprintln(os.Stderr, "fake: SIGTERM is ignored")
		}
	}()
}

// grandchild leaves a process that ignores SIGTERM and holds our pipes.
func (f *fake) grandchild() {
	c := exec.Command("/bin/sh", "-c", `trap "" TERM HUP INT; while :; do sleep 1; done`)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
}

// misbehave does what the words say for a phase.
func (f *fake) misbehave(phase string) {
	for _, word := range f.words {
		what, ok := strings.CutPrefix(word, phase+":")
		if !ok {
			continue
		}
		fmt.Fprintf(os.Stderr, "fake: about to %s in %s\n", what, phase)
		_ = os.WriteFile("reached-"+phase, nil, 0o644)
		switch what {
		case "exit3":
			os.Exit(3)
		case "exit0":
			os.Exit(0)
		case "KILL", "SEGV", "ABRT":
			dieOf(what)
		case "hang": // until the end of input
			_, _ = io.Copy(io.Discard, f.in)
			f.end()
			os.Exit(0)
		case "slow":
			time.Sleep(300 * time.Millisecond) //nolint:forbidigo // the fake is slow on purpose
		case "wait":
			await(func() bool { _, err := os.Stat("go"); return err == nil })
		case "up": // trailblaze knows of the server
			awaitLog(`"type":"server.started"`)
		}
	}
}

// dieOf ends the process by a signal. A Go program would catch most of them, a shell in its place does not.
func dieOf(name string) {
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -" + name + " $$"}, os.Environ())
}

// await waits for something that a test is sure to bring about.
func await(happened func() bool) {
	for deadline := time.Now().Add(time.Minute); !happened() && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
}

// awaitLog waits until the log of the newest session has something that fits a pattern. The log has the arguments of
// calls too: a pattern that came in one must not fit itself.
func awaitLog(pattern string) {
	wanted := regexp.MustCompile(pattern)
	await(func() bool {
		data, _ := os.ReadFile("logs/latest/events.ndjson")
		return wanted.Match(data)
	})
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string         `json:"name"`
		ProtocolVersion string         `json:"protocolVersion"`
		Arguments       map[string]any `json:"arguments"`
		Meta            map[string]any `json:"_meta"`
	} `json:"params"`
}

func (f *fake) answer(line string) {
	var r request
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID == nil {
		return
	}
	switch r.Method {
	case "initialize":
		f.misbehave("initialize")
		if f.has("refuse") {
			f.send(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": map[string]any{"code": -32603, "message": "not today"}})
			return
		}
		capabilities := map[string]any{"tools": map[string]any{}}
		if f.has("registry") {
			capabilities["resources"] = map[string]any{}
		}
		f.reply(r, map[string]any{
			"protocolVersion": r.Params.ProtocolVersion, "capabilities": capabilities, "serverInfo": map[string]any{"name": "fake", "version": "1"},
		})
	case "tools/list":
		f.misbehave("list")
		page := map[string]any{"tools": f.tools()}
		if f.has("same-cursor") {
			page["nextCursor"] = "again"
		}
		f.reply(r, page)
		f.misbehave("listed")
	case "resources/read": // of the file registry.json beside the project
		registry, _ := os.ReadFile("registry.json")
		f.reply(r, map[string]any{"contents": []any{map[string]any{"uri": "trailblaze://registry", "text": string(registry)}}})
	case "tools/call":
		f.call(r)
	default:
		f.reply(r, map[string]any{})
	}
}

var fakeTools = []map[string]any{
	fakeTool("echo", map[string]any{"text": map[string]any{"type": "string"}}),
	fakeTool("fail", map[string]any{"text": map[string]any{"type": "string"}}),
	fakeTool("fatal", nil), fakeTool("bad", nil), fakeTool("context", nil), fakeTool("exitAfter", nil), fakeTool("count", nil),
	fakeTool("sleep", map[string]any{"ms": map[string]any{"type": "integer"}}),
	fakeTool("remember", map[string]any{"name": map[string]any{"type": "string"}, "value": map[string]any{"type": "string"}}),
	fakeTool("awaitLog", map[string]any{"text": map[string]any{"type": "string"}}),
	fakeTool("leak", map[string]any{"text": map[string]any{"type": "string"}}),
	fakeTool("structured", nil), fakeTool("progress", nil), fakeTool("tick", map[string]any{"ms": map[string]any{"type": "integer"}}),
	{"name": "needsContext", "inputSchema": map[string]any{
		"type": "object", "required": []any{"_trailblazeContext"}, "additionalProperties": false,
		"properties": map[string]any{"_trailblazeContext": map[string]any{"type": "object"}},
	}},
}

// tools are the fake tools; with "prefix" under names that do not collide with those of another fake server.
func (f *fake) tools() []map[string]any {
	if !f.has("prefix") {
		return fakeTools
	}
	var renamed []map[string]any
	for _, t := range fakeTools {
		t = maps.Clone(t)
		t["name"] = "my_" + t["name"].(string)
		renamed = append(renamed, t)
	}
	return renamed
}

func fakeTool(name string, properties map[string]any) map[string]any {
	if properties == nil {
		properties = map[string]any{}
	}
	return map[string]any{"name": name, "description": "the tool " + name, "inputSchema": map[string]any{"type": "object", "properties": properties}}
}

func text(s string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
}

func (f *fake) call(r request) {
	if f.has("noisy") {
		fmt.Println("noise in the middle of a call")
	}
	args := r.Params.Arguments
	asText, _ := args["text"].(string)
	answer := text(asText)
	switch name := strings.TrimPrefix(r.Params.Name, "my_"); name {
	case "bad":
		f.misbehave("call")
	case "fail":
		answer["isError"] = asText != "pass"
	case "fatal":
		answer = text("the session cannot go on")
		answer["isError"], answer["_meta"] = true, map[string]any{"trailblaze": map[string]any{"variant": "FatalError"}}
	case "context":
		both, _ := json.Marshal(map[string]any{"arguments": args, "meta": r.Params.Meta, "env": os.Environ()})
		answer = text(string(both))
	case "sleep", "tick":
		ms, _ := args["ms"].(float64)
		for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end); {
			time.Sleep(min(100*time.Millisecond, time.Until(end))) //nolint:forbidigo // the tool sleeps
			if name == "tick" {
				f.notify(r, "tick")
			}
		}
	case "remember":
		key, _ := args["name"].(string)
		answer["_meta"] = map[string]any{"trailblaze": map[string]any{"memoryDelta": map[string]any{key: args["value"]}}}
	case "awaitLog":
		awaitLog(asText)
	case "leak":
		leak(asText)
	case "structured":
		answer["structuredContent"] = map[string]any{"user": map[string]any{"name": "Ada", "pin": 123456, "tags": []any{"x", "y"}}}
	case "progress":
		f.progress(r)
	case "needsContext":
		seen, _ := json.Marshal(args)
		answer = text(string(seen))
	case "exitAfter":
		f.reply(r, answer)
		f.misbehave("after")
		return
	case "count": // fails until it was called often enough by earlier processes; the count is kept beside the project
		answer = f.count()
	}
	f.reply(r, answer)
}

// leak writes every form of a text to stderr and, as noise, to stdout, a few bytes at a time.
func leak(secret string) {
	var all strings.Builder
	for name, form := range encodings.Of(secret) {
		fmt.Fprintf(&all, "%s: <%s>\n", name, form)
	}
	for piece := range slices.Chunk([]byte(all.String()), 3) {
		_, _ = os.Stderr.Write(piece)
		_, _ = os.Stdout.Write(piece)
	}
}

// progress says that a call is half-way, and goes on when the session's log has it.
func (f *fake) progress(r request) {
	f.notify(r, "half-way there")
	awaitLog("half-way there")
	time.Sleep(300 * time.Millisecond) //nolint:forbidigo // long enough to be drawn on a terminal
}

func (f *fake) notify(r request, progress string) {
	f.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{
		"progressToken": r.Params.Meta["progressToken"], "progress": 1, "message": progress,
	}})
}

// count passes from the second process on.
func (f *fake) count() map[string]any {
	if _, err := os.Stat("attempted"); err == nil {
		return text("second")
	}
	_ = os.WriteFile("attempted", nil, 0o644)
	answer := text("not yet")
	answer["isError"] = true
	return answer
}

func (f *fake) reply(r request, result any) {
	f.send(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": result})
}

func (f *fake) send(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
