package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// script says how the test binary behaves as a server.
type script struct {
	Exit         string            // the phase in which it exits: start, initialize, rejection, list, relist, read
	Code         int               // its exit code
	Kill         bool              // exits by SIGKILL instead
	Hang         string            // the phase in which it stops responding; in phase calls it does not read either
	Silent       string            // read: it responds to everything but resources/read
	Close        string            // the phase in which it closes its output and keeps running
	Stderr       string            // written to stderr before it exits
	Reject       *rpcError         // the response to initialize
	Protocol     string            // the version it chooses; default: the requested one
	Modern       bool              // supports server/discover
	Unknown      string            // unknown methods: "" rejects, ignore, exit
	Pages        []json.RawMessage // the responses to tools/list, in order
	EndlessPages bool              // every response to tools/list has another cursor
	NoTools      bool              // does not support tools/list
	OnlyRun      int               // fails as above only in this run, counted from 1; 0 means always
	Before       []json.RawMessage // messages sent before the response to tools/list
	After        []json.RawMessage // messages sent after the first response to tools/list
	// the response to resources/read; with it or one of the next two, the server has resources
	Registry      json.RawMessage
	RegistrySize  int             // the response to resources/read is a text of so many spaces
	RegistryError *rpcError       // the response to resources/read, an error
	ExitDelayMs   int             // delays its exit after the end of its input
	First         json.RawMessage // a message sent at start
	Dir           string          // where it writes its log
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

type callArgs struct {
	Name      string `json:"name"`
	Arguments struct {
		Result   json.RawMessage   `json:"result"`
		Error    *rpcError         `json:"error"`
		Times    int               `json:"times"`
		EveryMs  int               `json:"everyMs"`
		Code     int               `json:"code"`
		Requests []json.RawMessage `json:"requests"`
	} `json:"arguments"`
	Meta struct {
		Token json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

// fakeServer is a server that follows its script.
type fakeServer struct {
	script
	mu        sync.Mutex // guards standard output and the fields below
	listed    int
	waiting   map[string]json.RawMessage // ids of calls that wait for a cancellation, by id
	responses chan json.RawMessage       // to the requests of the server
}

const fakeTools = `{"tools":[{"name":"raw","inputSchema":{"type":"object"}},{"name":"echo"},{"name":"hang"},{"name":"late"},` +
	`{"name":"slow"},{"name":"exit"},{"name":"crawl"},{"name":"ask"},{"name":"quick","_meta":{"trailblaze/timeoutMs":150}}]}`

func runFakeServer(raw string) {
	f := &fakeServer{waiting: map[string]json.RawMessage{}, responses: make(chan json.RawMessage, 16)}
	if err := json.Unmarshal([]byte(raw), &f.script); err != nil {
		panic(err)
	}
	f.note("started")
	if f.OnlyRun != 0 && f.OnlyRun != f.starts() {
		f.Exit, f.Hang, f.Close, f.Reject = "", "", "", nil
	}
	if !isAbsent(f.First) {
		f.send(f.First)
	}
	f.maybeFail("start")
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			f.note("eof")
			<-time.After(time.Duration(f.ExitDelayMs) * time.Millisecond)
			f.note("exited")
			return
		}
		f.note(string(line[:len(line)-1]))
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		f.handle(m)
	}
}

// note appends a line to the server's log: a message that it received, or what it does.
func (f *fakeServer) note(line string) {
	file, err := os.OpenFile(f.Dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

func (f *fakeServer) starts() int { return len(linesIn(f.Dir, "started")) }

func (f *fakeServer) send(m any) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Printf("%s\n", line)
}

func (f *fakeServer) respond(id json.RawMessage, result string) {
	f.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": json.RawMessage(result)})
}

func (f *fakeServer) respondError(id json.RawMessage, err *rpcError) {
	f.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": err})
}

// maybeFail exits, hangs or closes its output if the script says so for this phase.
func (f *fakeServer) maybeFail(name string) {
	switch name {
	case f.Exit:
		f.exit()
	case f.Hang:
		if name == "calls" { // without reading
			for !exists(f.Dir + "/continue") {
				<-time.After(5 * time.Millisecond)
			}
		}
		f.ignoreInput()
	case f.Close:
		os.Stdout.Close()
		f.ignoreInput()
	}
}

// ignoreInput reads until the end of the input, and exits.
func (f *fakeServer) ignoreInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (f *fakeServer) exit() {
	fmt.Fprintln(os.Stderr, f.Stderr)
	if f.Kill {
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	os.Exit(f.Code)
}

func (f *fakeServer) handle(m message) {
	switch m.Method {
	case "":
		got, _ := json.Marshal(m)
		f.responses <- got
	case "initialize":
		f.initialize(m)
	case "tools/list":
		f.maybeFail("list")
		if f.listed > 0 {
			f.maybeFail("relist")
		}
		if f.NoTools {
			f.unknown(m)
			return
		}
		for _, before := range f.Before {
			f.send(before)
		}
		page := json.RawMessage(fakeTools)
		if len(f.Pages) > 0 {
			page = f.Pages[min(f.listed, len(f.Pages)-1)]
		}
		if f.EndlessPages {
			page = json.RawMessage(fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":"c%d"}`, f.listed, f.listed))
		}
		f.listed++
		f.respond(m.ID, string(page))
		for _, after := range f.After {
			f.send(after)
		}
		f.After = nil
		f.maybeFail("calls")
	case "resources/read":
		f.read(m)
	case "tools/call":
		f.call(m)
	case "notifications/cancelled":
		f.cancelled(m)
	case "notifications/initialized":
	default:
		f.unknown(m)
	}
}

func (f *fakeServer) initialize(m message) {
	f.maybeFail("initialize")
	if f.Reject != nil {
		f.respondError(m.ID, f.Reject)
		f.maybeFail("rejection")
		return
	}
	version := f.Protocol
	if version == "" {
		version = classic
	}
	capabilities := `{"tools":{}}`
	if !isAbsent(f.Registry) || f.RegistrySize > 0 || f.RegistryError != nil {
		capabilities = `{"tools":{},"resources":{}}`
	}
	f.respond(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}}`,
		version, capabilities))
}

func (f *fakeServer) read(m message) {
	if f.Silent == "read" {
		return
	}
	f.maybeFail("read")
	switch {
	case f.RegistryError != nil:
		f.respondError(m.ID, f.RegistryError)
	case f.RegistrySize > 0:
		f.respond(m.ID, string(resource(strings.Repeat(" ", f.RegistrySize))))
	case !isAbsent(f.Registry):
		f.respond(m.ID, string(f.Registry))
	default:
		f.unknown(m)
	}
}

func (f *fakeServer) unknown(m message) {
	switch {
	case m.Method == "server/discover" && f.Modern:
		f.respond(m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`)
	case f.Unknown == "exit":
		f.exit()
	case f.Unknown == "ignore":
	default:
		f.respondError(m.ID, &rpcError{Code: -32601, Message: "unknown method"})
	}
}

func (f *fakeServer) call(m message) {
	var p callArgs
	if err := json.Unmarshal(m.Params, &p); err != nil {
		panic(err)
	}
	switch p.Name {
	case "raw":
		if p.Arguments.Error != nil {
			f.respondError(m.ID, p.Arguments.Error)
			return
		}
		if p.Arguments.Result == nil {
			f.send(map[string]any{"jsonrpc": "2.0", "id": m.ID})
			return
		}
		f.respond(m.ID, string(p.Arguments.Result))
	case "huge":
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
		for range 65 { // encoding it would take longer than the rest of the test
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		fmt.Println(`"}]}}`)
	case "echo":
		f.respond(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"process %d"}],"structuredContent":%s}`,
			f.starts(), m.Params))
	case "hang", "quick":
	case "late":
		f.mu.Lock()
		f.waiting[string(m.ID)] = m.ID
		f.mu.Unlock()
	case "slow":
		go func() {
			<-time.After(time.Duration(p.Arguments.EveryMs) * time.Millisecond)
			f.note("slept")
			f.respond(m.ID, `{"content":[]}`)
		}()
	case "exit":
		f.Code = p.Arguments.Code
		if p.Arguments.Result != nil {
			f.respond(m.ID, string(p.Arguments.Result))
		}
		if f.Close == "call" {
			f.maybeFail("call")
		}
		f.exit()
	case "crawl":
		go f.crawl(m.ID, p)
	case "ask":
		go f.ask(m.ID, p)
	case "say":
		for _, one := range p.Arguments.Requests {
			f.send(one)
		}
		f.respond(m.ID, `{"content":[]}`)
	}
}

func (f *fakeServer) crawl(id json.RawMessage, p callArgs) {
	for i := 1; i <= p.Arguments.Times; i++ {
		f.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{
			"progressToken": p.Meta.Token, "progress": i, "message": fmt.Sprintf("step %d", i),
		}})
		<-time.After(time.Duration(p.Arguments.EveryMs) * time.Millisecond)
	}
	f.respond(id, `{"content":[{"type":"text","text":"arrived"}]}`)
}

// ask sends requests and responds with the responses to them.
func (f *fakeServer) ask(id json.RawMessage, p callArgs) {
	var got []json.RawMessage
	for _, request := range p.Arguments.Requests {
		f.send(request)
		got = append(got, <-f.responses)
	}
	all, err := json.Marshal(got)
	if err != nil {
		panic(err)
	}
	f.respond(id, fmt.Sprintf(`{"structuredContent":%s}`, all))
}

// cancelled responds to a call that was cancelled.
func (f *fakeServer) cancelled(m message) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		panic(err)
	}
	f.mu.Lock()
	id, late := f.waiting[string(p.RequestID)]
	f.mu.Unlock()
	if late {
		f.respond(id, `{"content":[{"type":"text","text":"too late"}]}`)
	}
}
