package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/live/livetest"
	"github.com/trailblaze/trailblaze/pkg/livetool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is the other end of a server, which sends and receives lines.
type client struct {
	*testing.T
	in    *io.PipeWriter
	lines chan map[string]any
	ended chan error
	next  int
	once  sync.Once

	mu     sync.Mutex
	opened []*livetest.Session
	starts []livetool.Start
}

// serve starts a server with fake sessions, which edit may change.
func serve(t *testing.T, o Options, edit func(*livetest.Session)) *client {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &client{T: t, in: inWrite, lines: make(chan map[string]any, 100), ended: make(chan error, 1)}
	if o.Tools.Open == nil {
		o.Tools.Open = func(_ context.Context, s livetool.Start) (livetool.Opened, error) {
			f := &livetest.Session{YAML: "trail: []\n"}
			if edit != nil {
				edit(f)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.opened, c.starts = append(c.opened, f), append(c.starts, s)
			return livetool.Opened{Session: f, Notes: []string{"a note"}}, nil
		}
	}
	o.Tools.Output = func(text string) string { return strings.ReplaceAll(text, "hunter2", "{{PIN}}") }
	go func() {
		err := Serve(t.Context(), inRead, outWrite, o)
		_ = outWrite.Close()
		_ = inRead.Close()
		c.ended <- err
	}()
	go func() {
		defer close(c.lines)
		scanner := bufio.NewReader(outRead)
		for {
			line, err := scanner.ReadBytes('\n')
			if err != nil {
				return
			}
			var m any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Errorf("not JSON: %s", line)
			}
			object, ok := m.(map[string]any)
			if !ok {
				object = map[string]any{"batch": m}
			}
			c.lines <- object
		}
	}()
	t.Cleanup(func() { c.end() })
	return c
}

// end closes the input and waits for the server.
func (c *client) end() error {
	var err error
	c.once.Do(func() {
		_ = c.in.Close()
		err = <-c.ended
		for range c.lines { // until the reader has ended
		}
	})
	return err
}

func (c *client) send(text string) {
	c.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.Fatal(err)
	}
}

func (c *client) receive() map[string]any {
	c.Helper()
	m, ok := <-c.lines
	if !ok {
		c.Fatal("the server ended")
	}
	return m
}

// request sends a request and returns its id.
func (c *client) request(method string, params any) int {
	c.Helper()
	c.next++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err != nil {
		c.Fatal(err)
	}
	c.send(string(data))
	return c.next
}

// answer waits for the answer to a request; notifications before it are returned, too.
func (c *client) answer(id int) (answer map[string]any, others []map[string]any) {
	c.Helper()
	for {
		m := c.receive()
		if m["id"] == float64(id) {
			return m, others
		}
		others = append(others, m)
	}
}

func (c *client) initialize(version string) map[string]any {
	c.Helper()
	a, _ := c.answer(c.request("initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"},
	}))
	return a
}

func toolParams(name string, args map[string]any) map[string]any {
	return map[string]any{"name": name, "arguments": args}
}

// call calls a tool and returns its text.
func (c *client) call(name string, args map[string]any) (text string, failed bool) {
	c.Helper()
	a, _ := c.answer(c.request("tools/call", toolParams(name, args)))
	return textOf(c.T, a)
}

func textOf(t *testing.T, a map[string]any) (text string, failed bool) {
	t.Helper()
	result, _ := a["result"].(map[string]any)
	content, _ := result["content"].([]any)
	if len(content) == 0 || result["structuredContent"] != nil {
		t.Fatalf("not one text: %v", a)
	}
	first, _ := content[0].(map[string]any)
	text, _ = first["text"].(string)
	failed, _ = result["isError"].(bool)
	return text, failed
}

func (c *client) wants(name string, args map[string]any, failed bool, texts ...string) {
	c.Helper()
	text, isError := c.call(name, args)
	livetest.CheckAnswer(c, name, text, isError, failed, texts...)
}

func started(t *testing.T, o Options, edit func(*livetest.Session)) *client {
	t.Helper()
	c := serve(t, o, edit)
	c.initialize("2025-06-18")
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func errorCode(m map[string]any) any {
	e, _ := m["error"].(map[string]any)
	return e["code"]
}

const newProtocol = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func TestBothVersionsOfProtocol(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{}, nil)
	c.send(`{"jsonrpc":"2.0","id":101,"method":"server/discover","params":{` + newProtocol + `}}`)
	if a, _ := c.answer(101); a["result"] == nil {
		t.Fatalf("server/discover: %v", a)
	}
	c.send(`{"jsonrpc":"2.0","id":102,"method":"tools/call","params":{"name":"session","arguments":{"action":"status"},` + newProtocol + `}}`)
	if a, _ := c.answer(102); a["result"] == nil {
		t.Fatalf("tools/call: %v", a)
	}
	for range 2 { // a client that falls back, and one that starts anew
		if a := c.initialize("2025-06-18"); a["result"] == nil {
			t.Fatalf("initialize: %v", a)
		}
		a, _ := c.answer(c.request("tools/list", map[string]any{}))
		result, _ := a["result"].(map[string]any)
		if tools, _ := result["tools"].([]any); len(tools) != 7 {
			t.Errorf("%d tools", len(tools))
		}
	}
	if len(c.opened) > 0 {
		t.Error("a session was opened")
	}
}

func TestInitializeEndsTheSessionBeforeIt(t *testing.T) {
	t.Parallel()
	c := started(t, Options{}, nil)
	c.wants("step", map[string]any{"step": "Pay", "calls": []any{map[string]any{"tap": map[string]any{"text": "Pay"}}}}, false)
	c.initialize("2025-06-18")
	c.wants("recording", nil, false, "nothing was recorded")
	if err := c.end(); err != nil {
		t.Error(err)
	}
	if !c.opened[0].IsClosed() {
		t.Error("the session is open")
	}
}

func TestLinesThatAreNotMessages(t *testing.T) {
	t.Parallel()
	c := started(t, Options{MaxLine: 4096}, nil)
	long := strings.Repeat("x", 5000)
	for _, tc := range []struct {
		line string
		code float64
		id   any
	}{
		{"garbage", -32700, nil},
		{`{"jsonrpc":"2.0","id":5`, -32700, nil},
		{"\xff\xfe\x00", -32700, nil},
		{`5`, -32600, nil},
		{`{"id":7}`, -32600, 7.0},
		{`{"jsonrpc":"1.0","id":"a","method":"ping"}`, -32600, "a"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, nil},
		{`[]`, -32600, nil},
		{`[{"jsonrpc":"2.0","id":8,"method":"ping"}]`, -32600, nil},
		{`{"method":"tools/call","params":{"id":1,"a":"` + long + `,\"id\":2"},"jsonrpc":"2.0","id":9}`, -32600, 9.0},
		{`{"jsonrpc":"2.0","id":"nine","method":"tools/call","params":{"a":["` + long + `"]}}`, -32600, "nine"},
		{`{"a":"` + long + `"}`, -32600, nil},
	} {
		c.send(tc.line)
		if m := c.receive(); errorCode(m) != tc.code || m["id"] != tc.id {
			t.Errorf("%.60s: %v", tc.line, m)
		}
	}
	c.send("\n   \n")
	c.wants("session", map[string]any{"action": "status"}, false, "no session is open")
}

func TestBatches(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{}, nil)
	c.initialize("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":11,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"id":12},{"jsonrpc":"2.0","id":13,"method":"ping"},{"jsonrpc":"2.0","id":14,"method":"initialize"}]`)
	m := c.receive()
	answers, _ := m["batch"].([]any)
	if len(answers) != 4 {
		t.Errorf("%v", m)
	}
	c.send(`[{"id":1}]`)
	if m := c.receive(); m["batch"] == nil {
		t.Errorf("%v", m)
	}
	c.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`)
	c.wants("session", map[string]any{"action": "status"}, false)
}

// repeated returns the same text again and again.
type repeated struct{ left int }

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.left)
	for i := range n {
		p[i] = 'x'
	}
	r.left -= n
	return n, nil
}

func TestLongLineIsNotKept(t *testing.T) { //nolint:paralleltest // measures memory
	in := io.MultiReader(strings.NewReader(`{"id": 3, "a":"`), &repeated{20 << 20}, strings.NewReader("\"}\nnext\n"))
	r := bufio.NewReaderSize(in, 64<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := readLine(r, 1<<20)
	runtime.ReadMemStats(&after)
	if err != nil || !l.tooLong || len(l.data) > 0 || string(l.id) != "3" {
		t.Errorf("%v %v %q", err, l.tooLong, l.id)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 10<<20 {
		t.Errorf("allocated %d bytes", got)
	}
	if l, err := readLine(r, 1<<20); err != nil || string(l.data) != "next\n" {
		t.Errorf("%v %q", err, l.data)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	c := started(t, Options{}, func(f *livetest.Session) {
		f.OnStep = func(context.Context, live.StepRequest) (live.StepReport, error) { panic("oops") }
		f.OnReplay = func(context.Context) (live.Replayed, error) { panic("oops") }
	})
	step := map[string]any{"step": "Pay", "calls": []any{map[string]any{"tap": map[string]any{}}}}
	if a, _ := c.answer(c.request("tools/call", toolParams("step", step))); errorCode(a) != -32603.0 {
		t.Errorf("%v", a)
	}
	c.wants("run_trail", map[string]any{"file": "a.trail.yaml"}, true, "oops")
	c.wants("session", map[string]any{"action": "status"}, false, "driver playwright-native")
}

// hanging is a step that ends with its context, whose cause it passes on.
func hanging(began chan<- struct{}, cancelled chan<- error) func(context.Context, live.StepRequest) (live.StepReport, error) {
	return func(ctx context.Context, _ live.StepRequest) (live.StepReport, error) {
		began <- struct{}{}
		<-ctx.Done()
		cancelled <- context.Cause(ctx)
		return live.StepReport{}, context.Cause(ctx)
	}
}

func TestCancellationEndsTheWork(t *testing.T) {
	t.Parallel()
	began, cancelled := make(chan struct{}, 1), make(chan error, 1)
	c := started(t, Options{}, func(f *livetest.Session) {
		f.OnStep = hanging(began, cancelled)
		f.OnReplay = func(ctx context.Context) (live.Replayed, error) {
			_, err := hanging(began, cancelled)(ctx, live.StepRequest{})
			return live.Replayed{}, err
		}
	})
	c.wants("session", map[string]any{"action": "start"}, false)
	for name, args := range map[string]map[string]any{
		"step":       {"step": "Pay", "calls": []any{map[string]any{"tap": map[string]any{}}}},
		"save_trail": {"file": "a.trail.yaml"},
		"run_trail":  {"file": "a.trail.yaml"},
	} {
		id := c.request("tools/call", toolParams(name, args))
		<-began
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"no"}}`, id))
		<-cancelled
	}
	c.wants("session", map[string]any{"action": "status"}, false, "mcp_1")
}

func TestEndOfInputEndsTheWork(t *testing.T) {
	t.Parallel()
	began, cancelled := make(chan struct{}, 1), make(chan error, 1)
	c := started(t, Options{}, func(f *livetest.Session) { f.OnStep = hanging(began, cancelled) })
	c.request("tools/call", toolParams("step", map[string]any{"step": "Pay", "calls": []any{map[string]any{"tap": map[string]any{}}}}))
	<-began
	if err := c.end(); err != nil {
		t.Error(err)
	}
	<-cancelled
	if !c.opened[0].IsClosed() {
		t.Error("the session is open")
	}
}

func TestRequestsBeforeTheEndOfInputAreAnswered(t *testing.T) {
	t.Parallel()
	for range 20 {
		var out bytes.Buffer
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		err := Serve(t.Context(), in, &out, Options{Tools: livetool.Options{Output: strings.Clone}})
		if err != nil || strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), "save_trail") {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
}

func TestParentsDeathEndsTheServer(t *testing.T) {
	t.Parallel()
	var parent atomic.Int64
	parent.Store(100)
	began, cancelled := make(chan struct{}, 1), make(chan error, 1)
	c := started(t, Options{Parent: func() int { return int(parent.Load()) }, ParentInterval: time.Millisecond},
		func(f *livetest.Session) { f.OnStep = hanging(began, cancelled) })
	c.request("tools/call", toolParams("step", map[string]any{"step": "Pay", "calls": []any{map[string]any{"tap": map[string]any{}}}}))
	<-began
	parent.Store(1)
	if cause := <-cancelled; !errors.Is(cause, errParentEnded) {
		t.Error(cause)
	}
	for range c.lines { // until the server has ended
	}
	if !c.opened[0].IsClosed() {
		t.Error("the session is open")
	}
}

func TestClientThatDoesNotReadEndsTheServer(t *testing.T) {
	t.Parallel()
	in, write := io.Pipe()
	closed, out := io.Pipe()
	_ = closed.Close()
	ended := make(chan error)
	go func() { ended <- Serve(t.Context(), in, out, Options{}) }()
	if _, err := io.WriteString(write, "garbage\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	_ = write.Close()
}

func TestSignalEndsServerWhoseClientDoesNotRead(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, "garbage %d"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			testSignalWithoutReader(t, line)
		})
	}
}

func testSignalWithoutReader(t *testing.T, line string) {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		o := Options{Drain: time.Millisecond, Tools: livetool.Options{Output: strings.Clone}}
		ended <- Serve(ctx, inRead, outWrite, o)
	}()
	if _, err := fmt.Fprintf(inWrite, line+"\n", 1); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	if _, err := outRead.Read(one); err != nil { // an answer is being written
		t.Fatal(err)
	}
	signal := errors.New("a signal")
	cancel(signal)
	if err := <-ended; !errors.Is(err, signal) {
		t.Errorf("error %v", err)
	}
	for _, end := range []io.Closer{inWrite, inRead, outRead, outWrite} {
		_ = end.Close()
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	c := started(t, Options{Progress: time.Millisecond}, func(f *livetest.Session) {
		f.OnReplay = func(context.Context) (live.Replayed, error) {
			<-proceed
			return live.Replayed{Outcome: "passed"}, nil
		}
	})
	params := toolParams("run_trail", map[string]any{"file": "a.trail.yaml"})
	params["_meta"] = map[string]any{"progressToken": "p"}
	id := c.request("tools/call", params)
	for range 2 {
		if m := c.receive(); m["method"] != "notifications/progress" {
			t.Errorf("%v", m)
		}
	}
	close(proceed)
	a, _ := c.answer(id)
	if text, _ := textOf(t, a); !strings.Contains(text, "a.trail.yaml: passed") {
		t.Error(text)
	}
}

func TestAllToolsAreListed(t *testing.T) {
	t.Parallel()
	c := started(t, Options{Tools: livetool.Options{AllTools: true}}, nil)
	id := c.request("tools/call", toolParams("session", map[string]any{"action": "start"}))
	_, others := c.answer(id)
	for !slices.ContainsFunc(others, func(m map[string]any) bool { return m["method"] == "notifications/tools/list_changed" }) {
		others = append(others, c.receive())
	}
	a, _ := c.answer(c.request("tools/list", nil))
	data, _ := json.Marshal(a)
	if !strings.Contains(string(data), `"addToCart"`) || !strings.Contains(string(data), `"required":["text","step"]`) {
		t.Errorf("%s", data)
	}
	c.wants("tap", map[string]any{"step": "Pays", "kind": "verify", "text": "Pay"}, false, "ok: 1 tap")
	c.wants("addToCart", map[string]any{"step": "Buys"}, false, "ok: 1 addToCart")
	r := c.opened[0].Steps()[0]
	if r.Text != "Pays" || r.Kind != "verify" || len(r.Calls[0].Args) != 1 {
		t.Errorf("%+v", r)
	}
	c.wants("session", map[string]any{"action": "end"}, false)
	a, _ = c.answer(c.request("tools/list", nil))
	if data, _ := json.Marshal(a); strings.Contains(string(data), "addToCart") {
		t.Error("a tool of the session that ended is listed")
	}
}

func TestAnotherClientGetsNoReplaysOfTheFirst(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	c := started(t, Options{Tools: livetool.Options{RunWait: time.Millisecond}}, func(f *livetest.Session) {
		f.OnReplay = func(ctx context.Context) (live.Replayed, error) {
			<-ctx.Done()
			close(cancelled)
			return live.Replayed{}, context.Cause(ctx)
		}
	})
	c.wants("run_trail", map[string]any{"file": "a.trail.yaml"}, false, "still runs")
	c.initialize("2025-06-18")
	<-cancelled
	c.wants("run_trail", map[string]any{"id": "r1"}, true, "no replay has the id")
}

func TestRestrictedToolsAreMarked(t *testing.T) {
	t.Parallel()
	c := started(t, Options{Tools: livetool.Options{AllTools: true}}, func(f *livetest.Session) { f.Restricted = "addToCart" })
	c.wants("toolbox", nil, false, "server shop: step, addToCart (not allowed)\n")
	c.wants("toolbox", map[string]any{"search": "cart"}, false, "addToCart{} (not allowed) Adds to the cart.")
	a, _ := c.answer(c.request("tools/list", nil))
	if data, _ := json.Marshal(a); !strings.Contains(string(data), "(not allowed) Adds to the cart.") {
		t.Errorf("%s", data)
	}
}

func TestDescriptionsOfListedToolsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	c := started(t, Options{Tools: livetool.Options{AllTools: true}}, func(f *livetest.Session) {
		f.Registry = &discover.Registry{Offered: []*discover.Tool{{
			Name: "tap", Description: "Uses hunter2.", IsForLLM: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","default":"hunter2"}}}`),
		}}}
	})
	c.wants("session", map[string]any{"action": "start"}, false)
	a, _ := c.answer(c.request("tools/list", nil))
	if data, _ := json.Marshal(a); strings.Contains(string(data), "hunter2") || !strings.Contains(string(data), "Uses {{PIN}}.") {
		t.Errorf("%s", data)
	}
}

func TestToolsThatChangeNothingSaySo(t *testing.T) {
	t.Parallel()
	c := started(t, Options{}, nil)
	a, _ := c.answer(c.request("tools/list", nil))
	result, _ := a["result"].(map[string]any)
	tools, _ := result["tools"].([]any)
	for _, item := range tools {
		tool, _ := item.(map[string]any)
		annotations, _ := tool["annotations"].(map[string]any)
		if want := tool["name"] == "snapshot" || tool["name"] == "toolbox"; (annotations["readOnlyHint"] == true) != want {
			t.Errorf("%v: annotations %v, want readOnlyHint %t", tool["name"], annotations, want)
		}
	}
}

// TestTokens measures what every client pays for the definitions, with the tokenizer o200k.
func TestTokens(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{}, nil)
	c.initialize("2025-06-18")
	a, _ := c.answer(c.request("tools/list", nil))
	result, _ := a["result"].(map[string]any)
	tools, _ := result["tools"].([]any)
	var text strings.Builder
	text.WriteString(livetool.Instructions)
	for _, tool := range tools {
		object, _ := tool.(map[string]any)
		for key := range object {
			if !slices.Contains([]string{"name", "description", "inputSchema", "annotations"}, key) {
				t.Errorf("definitions have %q", key)
			}
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	node := exec.Command("node", "-e", `const {encode} = require("gpt-tokenizer/encoding/o200k_base");
		console.log(encode(require("fs").readFileSync(0, "utf8")).length)`)
	node.Dir = "../../testdata/agents"
	node.Stdin = strings.NewReader(text.String())
	out, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var tokens int
	if _, err := fmt.Sscan(string(out), &tokens); err != nil || tokens == 0 || tokens > 1300 {
		t.Errorf("%s tokens, at most 1300 are allowed", out)
	}
	t.Logf("%d tokens", tokens)
}
