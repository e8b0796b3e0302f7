package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// sent returns the parameters of the nth tools/call that the fake server received.
func (r *testServer) sent(t *testing.T, n int) map[string]any {
	t.Helper()
	lines := r.lines(`"tools/call"`)
	if len(lines) <= n {
		t.Fatalf("only %d calls were sent", len(lines))
	}
	return args(t, lines[n])["params"].(map[string]any)
}

func TestCallSendsBothContexts(t *testing.T) {
	t.Parallel()
	bare := tool.Context{SessionID: "s-2", Device: tool.Device{Platform: "WEB", Driver: "playwright-native"}}
	noApps := bare
	noApps.Target = &tool.Target{ID: "site"}
	tests := []struct {
		name    string
		context tool.Context
		args    map[string]any
		want    string
	}{
		{
			"everything is known", fullContext(),
			map[string]any{"a": 1.0, "b": map[string]any{"c": "<&>"}},
			`{"name":"echo","arguments":{"a":1,"b":{"c":"<&>"},"_trailblazeContext":{"memory":{"n":1,"who":"ada"},"device":{"platform":"ANDROID",
			"widthPixels":1080,"heightPixels":2400,"driverType":"android-ondevice-accessibility"}}},
			"_meta":{"progressToken":"1","trailblazeInvocationId":"i-1","trailblaze":{"sessionId":"s-1","invocationId":"i-1","memory":{"n":1,"who":"ada"},
			"device":{"platform":"android","widthPixels":1080,"heightPixels":2400,"driverType":"android-ondevice-accessibility"},
			"target":{"id":"shop","displayName":"Shop","appIds":["com.shop"],"appId":"com.shop","baseUrl":"http://127.0.0.1:3000"}}}}`,
		},
		{
			"no target, no memory, no arguments", bare, nil,
			`{"name":"echo","arguments":{"_trailblazeContext":{"memory":{},"device":{"platform":"WEB","widthPixels":0,"heightPixels":0,
			"driverType":"playwright-native"}}},
			"_meta":{"progressToken":"1","trailblazeInvocationId":"i-1","trailblaze":{"sessionId":"s-2","invocationId":"i-1","memory":{},
			"device":{"platform":"web","widthPixels":0,"heightPixels":0,"driverType":"playwright-native"}}}}`,
		},
		{
			"a target without app ids", noApps, nil,
			`{"name":"echo","arguments":{"_trailblazeContext":{"memory":{},"device":{"platform":"WEB","widthPixels":0,"heightPixels":0,
			"driverType":"playwright-native"}}},
			"_meta":{"progressToken":"1","trailblazeInvocationId":"i-1","trailblaze":{"sessionId":"s-2","invocationId":"i-1","memory":{},
			"device":{"platform":"web","widthPixels":0,"heightPixels":0,"driverType":"playwright-native"},"target":{"id":"site","appIds":[]}}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, script{}, nil)
			before := len(tt.args)
			call(t, r.Server, tool.Call{Tool: "echo", InvocationID: "i-1", Args: tt.args, Context: tt.context})
			if diff := cmp.Diff(args(t, tt.want), r.sent(t, 0)); diff != "" {
				t.Errorf("params (-want +got):\n%s", diff)
			}
			if len(tt.args) != before {
				t.Errorf("the caller's arguments were changed: %v", tt.args)
			}
		})
	}
}

func TestInvalidArgumentsAreNotSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		call tool.Call
		want string
	}{
		{"the reserved key", tool.Call{Args: map[string]any{"_trailblazeContext": nil}}, "_trailblazeContext"},
		{"not a number", tool.Call{Args: map[string]any{"n": math.NaN()}}, "JSON"},
		{"not a number in memory", tool.Call{Context: tool.Context{Memory: map[string]any{"n": math.Inf(1)}}}, "JSON"},
	}
	r := startFakeServer(t, script{}, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.call.Tool = "echo"
			result := call(t, r.Server, tt.call)
			if result.OK || result.Kind != fault.InvalidArguments {
				t.Errorf("result %+v", result)
			}
			mustContain(t, result.Text, `server "shop"`, `tool "echo"`, tt.want)
			if sent := r.lines("tools/call"); len(sent) != 0 {
				t.Errorf("sent: %v", sent)
			}
		})
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		response string // arguments of the tool raw
		want     tool.Result
		warns    string
	}{
		{"text", `{"result":{"content":[{"type":"text","text":"hi"}]}}`, tool.Result{OK: true, Text: "hi"}, ""},
		{
			"the first of several texts",
			`{"result":{"content":[{"type":"image","data":"AA=="},{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`,
			tool.Result{OK: true, Text: "a", Attachments: []tool.Attachment{{Type: "image", Data: []byte{0}}}},
			"",
		},
		{
			"an unknown content type",
			`{"result":{"content":[{"type":"hologram","x":1},null,7,{"type":"text","text":"a"}]}}`,
			tool.Result{OK: true, Text: "a"},
			"",
		},
		{"a single content", `{"result":{"content":{"type":"text","text":"a"}}}`, tool.Result{OK: true, Text: "a"}, ""},
		{"no content", `{"result":{}}`, tool.Result{OK: true}, ""},
		{"isError false", `{"result":{"content":[],"isError":false}}`, tool.Result{OK: true}, ""},
		{
			"structuredContent stays as it is", `{"result":{"content":[],"structuredContent":{"z":1,"a":[1e2]}}}`,
			tool.Result{OK: true, Text: `{"a":[100],"z":1}`, Structured: json.RawMessage(`{"a":[100],"z":1}`)},
			"",
		},
		{
			"structuredContent beside text",
			`{"result":{"content":[{"type":"text","text":"one"}],"structuredContent":{"a":1}}}`,
			tool.Result{OK: true, Text: "one", Structured: json.RawMessage(`{"a":1}`)},
			"",
		},
		{
			"structuredContent of a failure", `{"result":{"content":[],"structuredContent":{"a":1},"isError":true}}`,
			tool.Result{Text: `{"a":1}`, Kind: fault.ToolFailed, Structured: json.RawMessage(`{"a":1}`)},
			"",
		},
		{
			"attachments", `{"result":{"content":[
				{"type":"image","mimeType":"image/png","data":"aGk="},{"type":"audio","mimeType":"audio/wav","data":"aG8="},
				{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","text":"a"}},
				{"type":"resource","resource":{"uri":"file:///b","blob":"Yg=="}},
				{"type":"resource_link","uri":"https://c","name":"c","mimeType":"text/html"},{"type":"resource"}]}}`,
			tool.Result{OK: true, Attachments: []tool.Attachment{
				{Type: "image", MIME: "image/png", Data: []byte("hi")},
				{Type: "audio", MIME: "audio/wav", Data: []byte("ho")},
				{Type: "resource", MIME: "text/plain", URI: "file:///a.txt", Data: []byte("a")},
				{Type: "resource", URI: "file:///b", Data: []byte("b")},
				{Type: "resource_link", MIME: "text/html", URI: "https://c", Name: "c"},
			}},
			"",
		},
		{
			"an attachment that is not base64",
			`{"result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"?"}]}}`,
			tool.Result{OK: true, Text: "a"},
			"content[1]: the data of the image is not base64",
		},
		{"structuredContent null", `{"result":{"content":[],"structuredContent":null}}`, tool.Result{OK: true}, ""},
		{
			"isError", `{"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`,
			tool.Result{Text: "no", Kind: fault.ToolFailed},
			"",
		},
		{
			"isError without a text", `{"result":{"content":[],"isError":true}}`,
			tool.Result{Text: `server "shop", tool "raw": it failed without a message`, Kind: fault.ToolFailed},
			"",
		},
		{
			"FatalError",
			`{"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"trailblaze":{"variant":"FatalError"}}}}`,
			tool.Result{Text: "no", Kind: fault.ToolFatal, Fatal: true},
			"",
		},
		{
			"a position in the project",
			`{"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"trailblaze":{"thrownAt":"/project/tools/shop.ts:42"}}}}`,
			tool.Result{Text: "no", Kind: fault.ToolFailed, Hint: "thrown at tools/shop.ts:42"},
			"",
		},
		{
			"a position elsewhere",
			`{"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"trailblaze":{"thrownAt":"/app/shop.ts:42"}}}}`,
			tool.Result{Text: "no", Kind: fault.ToolFailed, Hint: "thrown at /app/shop.ts:42"},
			"",
		},
		{
			"FatalError without isError", `{"result":{"content":[],"_meta":{"trailblaze":{"variant":"FatalError"}}}}`,
			tool.Result{OK: true},
			"",
		},
		{
			"memory",
			`{"result":{"content":[],"_meta":{"trailblaze":{"memoryDelta":{"a":"1","b":""},"memoryDeletions":["c","d"]}}}}`,
			tool.Result{OK: true, MemoryDelta: map[string]any{"a": "1", "b": ""}, MemoryDeletions: []string{"c", "d"}},
			"",
		},
		{
			"no memory on failure",
			`{"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"trailblaze":{"memoryDelta":{"a":"1"},"memoryDeletions":["c"]}}}}`,
			tool.Result{Text: "no", Kind: fault.ToolFailed},
			"",
		},
		{
			"memory of other types",
			`{"result":{"content":[],"_meta":{"trailblaze":{"memoryDelta":{"a":1,"b":null,"c":"3"},"memoryDeletions":["d",5]}}}}`,
			tool.Result{OK: true, MemoryDelta: map[string]any{"c": "3"}, MemoryDeletions: []string{"d"}},
			`memoryDelta["a"]`,
		},
		{
			"memoryDelta that is not an object", `{"result":{"content":[],"_meta":{"trailblaze":{"memoryDelta":["a"]}}}}`,
			tool.Result{OK: true},
			"memoryDelta is not an object",
		},
		{
			"memoryDeletions that is not a list",
			`{"result":{"content":[],"_meta":{"trailblaze":{"memoryDeletions":"a"}}}}`,
			tool.Result{OK: true},
			"memoryDeletions is not a list",
		},
		{
			"trailblaze that is not an object", `{"result":{"content":[],"_meta":{"trailblaze":[]}}}`,
			tool.Result{OK: true},
			"_meta.trailblaze",
		},
		{"_meta null", `{"result":{"content":[],"_meta":null}}`, tool.Result{OK: true}, ""},
		{
			"a permanent error", `{"error":{"code":-32602,"message":"no such tool"}}`, tool.Result{
				Kind: fault.ProtocolError, Text: `server "shop", tool "raw": protocol error -32602: no such tool`,
				Hint: "trying again will not help: the server rejects the call as it is",
			}, "",
		},
		{
			"a temporary error", `{"error":{"code":-32603,"message":"busy"}}`, tool.Result{
				Kind: fault.ProtocolError, Text: `server "shop", tool "raw": protocol error -32603: busy`,
				Hint: "trying again can help",
			}, "",
		},
	}
	r := startFakeServer(t, script{}, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := call(t, r.Server, tool.Call{Tool: "raw", Args: args(t, tt.response)})
			if diff := cmp.Diff(tt.want, result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if tt.warns != "" && !r.logged("warn", `server "shop"`, `tool "raw"`, tt.warns) {
				t.Errorf("no warning about %s in:\n%s", tt.warns, r)
			}
		})
	}
}

func TestMalformedResultFailsTheCall(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	for response, want := range map[string]string{
		`{"result":null}`:              "its response has no result",
		`{}`:                           "its response has no result",
		`{"result":[1]}`:               `it is an array [1]; expected an object such as {"content": [{"type": "text", "text": "done"}]}`,
		`{"result":"x"}`:               `it is a string "x"; expected an object such as {"content": [{"type": "text", "text": "done"}]}`,
		`{"result":{"isError":"yes"}}`: "its isError is a string; expected true or false",
		`{"result":{"resultType":"input_required","inputRequests":{}}}`: "input_required",
	} {
		t.Run(response, func(t *testing.T) {
			t.Parallel()
			result := call(t, r.Server, tool.Call{Tool: "raw", Args: args(t, response)})
			if result.OK || result.Kind != fault.ProtocolError {
				t.Errorf("result %+v", result)
			}
			mustContain(t, result.Text, `server "shop"`, `tool "raw"`, want)
			if strings.Contains(result.Text, "json:") || strings.Contains(result.Text, "Go value") {
				t.Errorf("the message of the JSON package: %s", result.Text)
			}
		})
	}
}

// TestPartsOfAResultAreBounded reads results with many parts, which take far more memory than their text.
func TestPartsOfAResultAreBounded(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{"objects": `{"type":"text","text":"x"}`, "numbers": "1"} {
		for _, tt := range []struct{ parts, read int }{{1, 1}, {maxParts, maxParts}, {maxParts + 1, maxParts + 1}, {10 * maxParts, maxParts + 1}} {
			raw := `{"content":[` + strings.Repeat(part+",", tt.parts-1) + part + `]}`
			result, err := readResult(json.RawMessage(raw))
			if err != nil || len(result.Content) != tt.read {
				t.Errorf("%s: %d of %d parts were read, want %d, %v", name, len(result.Content), tt.parts, tt.read, err)
			}
		}
	}
	r := startFakeServer(t, script{}, nil)
	many := make([]any, maxParts+1)
	many[0] = map[string]any{"type": "text", "text": "first"}
	response := map[string]any{"result": map[string]any{"content": many}}
	if result := call(t, r.Server, tool.Call{Tool: "raw", Args: response}); !result.OK || result.Text != "first" {
		t.Errorf("%+v", result)
	}
	if !r.logged("warn", `tool "raw"; this part is ignored: the parts of content after the first 10000`) {
		t.Errorf("no warning in:\n%s", r)
	}
}

func TestChangesOfMemoryAreBounded(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	result := func(delta int) tool.Result {
		values := map[string]any{"text": strings.Repeat(",", 2*maxChanges) + `"{[\\`}
		for i := len(values); i < delta; i++ {
			values[fmt.Sprint("v", i)] = "a,b"
		}
		meta := map[string]any{"trailblaze": map[string]any{"memoryDelta": values, "memoryDeletions": []any{"a,b"}}}
		return call(t, r.Server, tool.Call{Tool: "raw", Args: map[string]any{"result": map[string]any{"content": []any{}, "_meta": meta}}})
	}
	if got := result(maxChanges); !got.OK || len(got.MemoryDelta) != maxChanges || len(got.MemoryDeletions) != 1 {
		t.Errorf("%d values: %+v", len(got.MemoryDelta), got.Text)
	}
	got := result(maxChanges + 1)
	if got.OK || got.Kind != fault.ProtocolError || got.MemoryDelta != nil {
		t.Errorf("%+v", got)
	}
	mustContain(t, got.Text, `tool "raw": it changes more than 10000 values of memory`)
}

func TestTooLargeAttachmentIsReplacedByANote(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		size int
		note string
	}{
		"the limit":       {tool.MaxAttachment, ""},
		"one byte more":   {tool.MaxAttachment + 1, "8.0 MiB, over the limit of 8 MiB"},
		"twice the limit": {2 * tool.MaxAttachment, "16.0 MiB, over the limit of 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, note, err := decodeData(base64.StdEncoding.EncodeToString(make([]byte, tc.size)))
			if err != nil || note != tc.note || (data != nil) != (tc.note == "") {
				t.Errorf("%d bytes, note %q, %v", len(data), note, err)
			}
		})
	}
}

func TestMostSpecificTimeoutAppliesAndIsNamed(t *testing.T) {
	t.Parallel()
	const quick = 120 * time.Millisecond
	tests := []struct {
		name   string
		server time.Duration
		call   tool.Call
		want   []string
	}{
		{"the server's", quick, tool.Call{Tool: "hang"}, []string{`tool "hang"`, "120ms", "callTimeout"}},
		{
			"the tool's before the server's", time.Hour,
			tool.Call{Tool: "quick"},
			[]string{`tool "quick"`, "150ms", "trailblaze/timeoutMs"},
		},
		{
			"the call's before the tool's", time.Hour,
			tool.Call{Tool: "quick", Timeout: quick},
			[]string{`tool "quick"`, "120ms", "recorded call", "timeout:"},
		},
		{
			"the call's before the server's", time.Hour,
			tool.Call{Tool: "hang", Timeout: quick},
			[]string{`tool "hang"`, "120ms", "recorded call"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, script{}, func(c *Config) { c.CallTimeout = tt.server })
			result := call(t, r.Server, tt.call)
			if result.OK || result.Kind != fault.CallTimeout {
				t.Errorf("result %+v", result)
			}
			mustContain(t, result.Text, append(tt.want, `server "shop"`, "timeout", "may have executed")...)
		})
	}
}

func TestLongerTimeoutOfTheCallApplies(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.CallTimeout = 50 * time.Millisecond })
	result := call(t, r.Server, tool.Call{Tool: "slow", Args: args(t, `{"everyMs":300}`), Timeout: testTimeout})
	if !result.OK {
		t.Errorf("result %+v", result)
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	s := &Server{cfg: Config{Name: "shop"}.withDefaults()}
	s.SetListing(&Listing{})
	if a := s.callLimit(tool.Call{Tool: "x"}); a.duration != 30*time.Second || !strings.Contains(a.source, "default") {
		t.Errorf("%+v", a)
	}
	got := s.cfg.timing
	if s.cfg.StartupTimeout != time.Minute || got.startNotice != 5*time.Second || got.list != 30*time.Second ||
		got.maxExtension != 10*time.Minute ||
		got.registry != 5*time.Second {
		t.Errorf("%s, %+v", s.cfg.StartupTimeout, got)
	}
}

func TestInvalidTimeoutMsIsIgnored(t *testing.T) {
	t.Parallel()
	var tools []tool.Advertised
	for name, value := range map[string]any{
		"text": "150", "zero": 0.0, "negative": -1.0, "endless": 1e300,
		"list": []any{1.0}, "good": 1.5,
	} {
		tools = append(tools, tool.Advertised{Name: name, Meta: map[string]any{"trailblaze/timeoutMs": value}})
	}
	if diff := cmp.Diff(map[string]time.Duration{"good": 1500 * time.Microsecond}, toolTimeouts(tools)); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

// progressTool reports progress every 500 ms, times times, and then responds.
func progressTool(times int) func(*memoryCall) {
	return func(c *memoryCall) {
		for i := range times {
			c.progress(fmt.Sprintf("step %d", i+1))
			select {
			case <-time.After(500 * time.Millisecond):
			case <-c.link.closed:
				return
			}
		}
		c.respond("arrived")
	}
}

func TestProgressRestartsTheTimeoutAndIsReportedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memoryServer{tools: map[string]func(*memoryCall){"crawl": progressTool(6)}}
		s := startMemory(t, m, func(c *Config) { c.CallTimeout = time.Second })
		var got []string
		result := mustCall(t, s, tool.Call{Tool: "crawl", Progress: func(text string) { got = append(got, text) }})
		if !result.OK || result.Text != "arrived" {
			t.Errorf("result %+v", result)
		}
		want := []string{"step 1", "step 2", "step 3", "step 4", "step 5", "step 6"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

// TestCallbacksRestartTheTimeout makes six callbacks, one each 500 ms, and then none.
func TestCallbacksRestartTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		callbacks := make(chan struct{}, 1)
		m := &memoryServer{tools: map[string]func(*memoryCall){"ask": func(c *memoryCall) {
			for range 6 {
				<-time.After(500 * time.Millisecond)
				callbacks <- struct{}{}
			}
			<-c.link.closed
		}}}
		s := startMemory(t, m, func(c *Config) { c.CallTimeout = time.Second })
		started := time.Now()
		result := mustCall(t, s, tool.Call{Tool: "ask", Callbacks: callbacks})
		if took := time.Since(started); result.Kind != fault.CallTimeout || took != 4*time.Second {
			t.Errorf("took %s: %+v", took, result)
		}
	})
}

func TestProgressExtendsACallUpToAMaximum(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memoryServer{tools: map[string]func(*memoryCall){"crawl": progressTool(10_000)}}
		s := startMemory(t, m, func(c *Config) { c.CallTimeout = time.Second })
		started := time.Now()
		result := mustCall(t, s, tool.Call{Tool: "crawl"})
		if result.OK || result.Kind != fault.CallTimeout {
			t.Errorf("result %+v", result)
		}
		if took := time.Since(started); took < 10*time.Minute || took > 10*time.Minute+time.Second {
			t.Errorf("took %s", took)
		}
		mustContain(t, result.Text, `server "memory"`, `tool "crawl"`, "progress", "10m0s", "callTimeout",
			"may have executed")
	})
}

func TestTimeoutLongerThanTheMaximumExtensionApplies(t *testing.T) {
	t.Parallel()
	c := startTimer(callLimit{duration: 20 * time.Minute}, 10*time.Minute, func() {})
	c.timer.Stop()
	if c.max != 20*time.Minute {
		t.Errorf("total %s", c.max)
	}
}

// idOf returns the JSON-RPC id in a line of the log.
func idOf(t *testing.T, line string) any {
	t.Helper()
	return args(t, line)["id"]
}

func TestTimedOutCallIsCancelledBeforeTheProcessIsStopped(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	call(t, r.Server, tool.Call{Tool: "hang", Timeout: 100 * time.Millisecond})
	stop(t, r.Server)
	lines := r.lines("")
	at := func(part string) int {
		for i, line := range lines {
			if strings.Contains(line, part) {
				return i
			}
		}
		t.Fatalf("no %s in:\n%s", part, strings.Join(lines, "\n"))
		return 0
	}
	sent, cancelled, eof := at(`"tools/call"`), at(`"notifications/cancelled"`), at("eof")
	if sent > cancelled || cancelled > eof {
		t.Errorf("order:\n%s", strings.Join(lines, "\n"))
	}
	params := args(t, lines[cancelled])["params"].(map[string]any)
	if params["requestId"] != idOf(t, lines[sent]) {
		t.Errorf("cancelled %v, sent %v", params, lines[sent])
	}
}

func TestLateResponseIsNotUsedForLaterCall(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	if result := call(t, r.Server, tool.Call{
		Tool:    "late",
		Timeout: 100 * time.Millisecond,
	}); result.Kind != fault.CallTimeout {
		t.Fatalf("result %+v", result)
	}
	for range 3 {
		if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 2" {
			t.Errorf("result %+v", result)
		}
	}
	if r.Err() != nil {
		t.Errorf("failed: %v", r.Err())
	}
}

func TestNewProcessStartsAfterThePreviousOneExited(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{ExitDelayMs: 100}, nil)
	call(t, r.Server, tool.Call{Tool: "hang", Timeout: 50 * time.Millisecond})
	call(t, r.Server, tool.Call{Tool: "echo"})
	lines := strings.Join(r.lines(""), "\n")
	if exited := strings.Index(lines, "exited"); exited < 0 || exited > strings.LastIndex(lines, "started") {
		t.Errorf("the second process started before the first had exited:\n%s", lines)
	}
}

func TestInterruptedCallReturnsPromptlyAndIsCancelled(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("ctrl-c")
	go func() {
		waitFor(t, "the call is sent", func() bool { return len(r.lines("tools/call")) == 1 })
		cancel(why)
	}()
	result, err := r.Call(ctx, tool.Call{Tool: "hang"})
	if fault.KindOf(err) != fault.Cancelled || !errors.Is(err, why) {
		t.Errorf("result %+v, error %v", result, err)
	}
	mustContain(t, err.Error(), `server "shop"`, `tool "hang"`, "ctrl-c")
	waitFor(t, "the server receives the cancellation",
		func() bool { return len(r.lines("notifications/cancelled")) == 1 })
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 2" {
		t.Errorf("the next call: %+v", result)
	}
}

func TestCallsToOneServerRunOneAtATime(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			call(t, r.Server, tool.Call{Tool: "slow", Args: args(t, `{"everyMs":20}`), Timeout: testTimeout})
		})
	}
	wg.Wait()
	var order []string
	for _, line := range r.lines("") {
		switch {
		case line == "slept":
			order = append(order, "end")
		case strings.Contains(line, `"tools/call"`):
			order = append(order, "begin")
		}
	}
	if diff := cmp.Diff([]string{"begin", "end", "begin", "end", "begin", "end", "begin", "end"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestParallelCallsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.Parallel = true })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = r.Call(ctx, tool.Call{Tool: "hang"}) })
	waitFor(t, "the first call is sent", func() bool { return len(r.lines("tools/call")) == 1 })
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 1" {
		t.Errorf("result %+v", result)
	}
	cancel()
	wg.Wait()
}

func TestParallelCallsFinishAfterATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memoryServer{tools: map[string]func(*memoryCall){
			"slow":  func(c *memoryCall) { <-time.After(2 * time.Second); c.respond("done") },
			"which": func(c *memoryCall) { c.respond(fmt.Sprint("process ", c.link.run)) },
		}}
		s := startMemory(t, m, func(c *Config) { c.Parallel = true })
		var wg sync.WaitGroup
		wg.Go(func() {
			if result := mustCall(t, s, tool.Call{Tool: "slow"}); !result.OK {
				t.Errorf("the other call: %+v", result)
			}
		})
		synctest.Wait() // the other call is pending
		if result := mustCall(t, s, tool.Call{Tool: "hang", Timeout: time.Second}); result.Kind != fault.CallTimeout {
			t.Errorf("result %+v", result)
		}
		if result := mustCall(t, s, tool.Call{Tool: "which"}); result.Text != "process 2" {
			t.Errorf("result %+v", result)
		}
		wg.Wait()
	})
}

func TestParallelCallsGetTheirOwnResponses(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.Parallel = true })
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			text := fmt.Sprintf("response %d", i)
			result := call(t, r.Server, tool.Call{Tool: "raw", Args: map[string]any{
				"result": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}},
			}})
			if result.Text != text {
				t.Errorf("want %q, got %+v", text, result)
			}
		})
	}
	wg.Wait()
}

func TestLargeMessages(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	for _, size := range []int{64<<10 - 1, 64 << 10, 5 << 20} {
		text := strings.Repeat("x", size)
		result := call(t, r.Server, tool.Call{Tool: "raw", Args: map[string]any{
			"result": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}},
		}, Timeout: testTimeout})
		if len(result.Text) != size {
			t.Errorf("%d bytes became %d: %.200s", size, len(result.Text), result.Text)
		}
	}
}

func TestTooLargeResponseFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	result := call(t, r.Server, tool.Call{Tool: "huge", Timeout: testTimeout})
	if result.OK || result.Kind != fault.TooLarge {
		t.Errorf("result %+v", result)
	}
	mustContain(t, result.Text, `server "shop"`, `tool "huge"`, "64 MiB")
	mustContain(t, result.Hint, "trying again will not help")
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 1" {
		t.Errorf("result %+v", result)
	}
}

func TestNestedCallDoesNotWaitForTheProcessOfItsCaller(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outer := make(chan struct{})
	go func() {
		defer close(outer)
		_, _ = r.Call(ctx, tool.Call{Tool: "hang", InvocationID: "outer"})
	}()
	waitFor(t, "the outer call is sent", func() bool { return len(r.lines("tools/call")) == 1 })
	if result := call(t, r.Server, tool.Call{
		Tool: "hang", Ancestors: []string{"outer"},
		Timeout: 100 * time.Millisecond,
	}); result.Kind != fault.CallTimeout {
		t.Fatalf("result %+v", result)
	}
	result := call(t, r.Server, tool.Call{Tool: "echo", Ancestors: []string{"outer"}, Timeout: testTimeout})
	select {
	case <-outer:
		t.Error("the outer call ended")
	default:
	}
	if result.Text != "process 2" {
		t.Errorf("result %+v", result)
	}
	cancel()
	<-outer
}
