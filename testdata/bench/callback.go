package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// callback compares a callback to a built-in with a bare POST of the same bytes, both from the same tool.
func (b *bench) callback() error {
	url, stop, err := serveNothing()
	if err != nil {
		return err
	}
	defer stop()
	dir, err := b.project("callback", b.asking, 1, map[string]string{"compare": trailOf(fmt.Sprintf("compare: { url: %q, rounds: 4000 }", url))})
	if err != nil {
		return err
	}
	var medians struct{ plain, client [2][]time.Duration }
	for range b.runs {
		if err := quiet(b.command(dir, b.trailblaze, "run")); err != nil {
			return err
		}
		var took struct{ Plain, Client [2]time.Duration }
		if err := lastResult(filepath.Join(dir, "logs", "latest", "events.ndjson"), &took); err != nil {
			return err
		}
		for i := range 2 {
			medians.plain[i] = append(medians.plain[i], took.Plain[i])
			medians.client[i] = append(medians.client[i], took.Client[i])
		}
	}
	b.ratio("a callback to a built-in ÷ bare POST from the same tool", median(medians.plain[0]), median(medians.plain[1]), 1.3)
	b.add("the same through `@trailblaze/scripting` ÷ bare POST", division(median(medians.client[0]), median(medians.client[1])), "", "")
	return nil
}

// serveNothing answers every POST as if it were a callback that succeeded.
func serveNothing() (url string, stop func(), err error) {
	const answer = `{"result":{"type":"call_tool_result","success":true,"text_content":"equal","error_message":""}}` + "\n"
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

// quiet runs a command without watching it, which takes time from what is measured inside.
func quiet(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// lastResult reads what the last call of a session answered, from its log.
func lastResult(log string, into any) error {
	data, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	var text string
	for line := range bytes.Lines(data) {
		var e struct{ Type, Text string }
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if e.Type == "call.finished" {
			text = e.Text
		}
	}
	return json.Unmarshal([]byte(text), into)
}

// crowd lets eight tools, each in a server of its own, ask at once; one callback that fails would fail the run. More
// callbacks may take no more memory.
func (b *bench) crowd() error {
	const few, many, tools = 1000, 8000, 8
	names := make([]string, tools)
	for i := range names {
		names[i] = "ask" + suffix(i)
	}
	var commands []func() *exec.Cmd
	for _, callbacks := range []int{many, few} {
		call := fmt.Sprintf("crowd: { tools: [%s], callbacks: %d }", strings.Join(names, ", "), callbacks/tools)
		dir, err := b.project(fmt.Sprint("crowd", callbacks), b.asking, tools, map[string]string{"crowd": trailOf(call)})
		if err != nil {
			return err
		}
		commands = append(commands, func() *exec.Cmd { return b.command(dir, b.trailblaze, "run") })
	}
	m, err := interleave(max(3, b.runs/3), commands...)
	if err == nil {
		b.growth("peak memory, 8,000 ÷ 1,000 callbacks of eight tools at once, no error", m[0], m[1], 1.1)
	}
	return err
}
