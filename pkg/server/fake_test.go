package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// script is what the test binary does when it plays a hand-written server.
type script struct {
	Exit     string            // the phase in which it exits: start, initialize, refusal, list, relist, read
	Code     int               // its exit code
	Kill     bool              // exits by SIGKILL instead
	Hang     string            // the phase in which it falls silent
	Silent   string            // read: it answers everything but resources/read
	Close    string            // the phase in which it closes its output and goes on running
	Stderr   string            // its last words
	Refuse   *rpcError         // the answer to initialize
	Protocol string            // the version it settles for; default: the one asked for
	Modern   bool              // knows server/discover
	Unknown  string            // unknown methods: "" refuses, ignore, exit
	Pages    []json.RawMessage // the answers to tools/list, in order
	Endless  bool              // every answer to tools/list has another cursor
	NoTools  bool              // does not know tools/list
	Only     int               // misbehaves as above only in this life, counted from 1; 0 means always
	Before   []json.RawMessage // messages sent before the answer to tools/list
	After    []json.RawMessage // messages sent after the first answer to tools/list
	Resource json.RawMessage   // the answer to resources/read; with it or one of the next two, the server has resources
	Blanks   int               // the answer to resources/read is a text of so many
	NoRead   *rpcError         // the answer to resources/read, an error
	LingerMs int               // takes this long to exit
	Greeting json.RawMessage   // a message sent at start
	Dir      string            // where it writes down what happens
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

type callParams struct {
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

// fake is a server that does what its script says.
type fake struct {
	script
	mu      sync.Mutex // guards standard output and the fields below
	listed  int
	waiting map[string]json.RawMessage // ids of calls that wait for a cancellation, by id
	answers chan json.RawMessage       // to requests of ours
}

const fakeTools = `{"tools":[{"name":"raw","inputSchema":{"type":"object"}},{"name":"echo"},{"name":"hang"},{"name":"late"},` +
	`{"name":"slow"},{"name":"exit"},{"name":"crawl"},{"name":"ask"},{"name":"quick","_meta":{"trailblaze/timeoutMs":150}}]}`

func playFake(raw string) {
	f := &fake{waiting: map[string]json.RawMessage{}, answers: make(chan json.RawMessage, 16)}
	if err := json.Unmarshal([]byte(raw), &f.script); err != nil {
		panic(err)
	}
	f.note("born")
	if f.Only != 0 && f.Only != f.lives() {
		f.Exit, f.Hang, f.Close, f.Refuse = "", "", "", nil
	}
	if !absent(f.Greeting) {
		f.send(f.Greeting)
	}
	f.phase("start")
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			f.note("eof")
			<-time.After(time.Duration(f.LingerMs) * time.Millisecond)
			f.note("gone")
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

// note appends a line to the server's diary.
func (f *fake) note(line string) {
	file, err := os.OpenFile(f.Dir+"/diary", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

func (f *fake) lives() int { return len(diaryIn(f.Dir, "born")) }

func (f *fake) send(m any) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Printf("%s\n", line)
}

func (f *fake) answer(id json.RawMessage, result string) {
	f.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": json.RawMessage(result)})
}

func (f *fake) refuse(id json.RawMessage, err *rpcError) {
	f.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": err})
}

// phase misbehaves if this is where the script says so.
func (f *fake) phase(name string) {
	switch name {
	case f.Exit:
		f.die()
	case f.Hang:
		select {}
	case f.Close:
		os.Stdout.Close()
		select {}
	}
}

func (f *fake) die() {
	fmt.Fprintln(os.Stderr, f.Stderr)
	if f.Kill {
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	os.Exit(f.Code)
}

func (f *fake) handle(m message) {
	switch m.Method {
	case "":
		got, _ := json.Marshal(m)
		f.answers <- got
	case "initialize":
		f.initialize(m)
	case "tools/list":
		f.phase("list")
		if f.listed > 0 {
			f.phase("relist")
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
		if f.Endless {
			page = json.RawMessage(fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":"c%d"}`, f.listed, f.listed))
		}
		f.listed++
		f.answer(m.ID, string(page))
		for _, after := range f.After {
			f.send(after)
		}
		f.After = nil
		f.phase("calls")
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

func (f *fake) initialize(m message) {
	f.phase("initialize")
	if f.Refuse != nil {
		f.refuse(m.ID, f.Refuse)
		f.phase("refusal")
		return
	}
	version := f.Protocol
	if version == "" {
		version = classic
	}
	capabilities := `{"tools":{}}`
	if !absent(f.Resource) || f.Blanks > 0 || f.NoRead != nil {
		capabilities = `{"tools":{},"resources":{}}`
	}
	f.answer(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}}`, version, capabilities))
}

func (f *fake) read(m message) {
	if f.Silent == "read" {
		return
	}
	f.phase("read")
	switch {
	case f.NoRead != nil:
		f.refuse(m.ID, f.NoRead)
	case f.Blanks > 0:
		f.answer(m.ID, string(resource(strings.Repeat(" ", f.Blanks))))
	case !absent(f.Resource):
		f.answer(m.ID, string(f.Resource))
	default:
		f.unknown(m)
	}
}

func (f *fake) unknown(m message) {
	switch {
	case m.Method == "server/discover" && f.Modern:
		f.answer(m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`)
	case f.Unknown == "exit":
		f.die()
	case f.Unknown == "ignore":
	default:
		f.refuse(m.ID, &rpcError{Code: -32601, Message: "unknown method"})
	}
}

func (f *fake) call(m message) {
	var p callParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		panic(err)
	}
	switch p.Name {
	case "raw":
		if p.Arguments.Error != nil {
			f.refuse(m.ID, p.Arguments.Error)
			return
		}
		if p.Arguments.Result == nil {
			f.send(map[string]any{"jsonrpc": "2.0", "id": m.ID})
			return
		}
		f.answer(m.ID, string(p.Arguments.Result))
	case "huge":
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
		for range 65 { // to encode it would take longer than all else
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		fmt.Println(`"}]}}`)
	case "echo":
		f.answer(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"life %d"}],"structuredContent":%s}`, f.lives(), m.Params))
	case "hang", "quick":
	case "late":
		f.mu.Lock()
		f.waiting[string(m.ID)] = m.ID
		f.mu.Unlock()
	case "slow":
		go func() {
			<-time.After(time.Duration(p.Arguments.EveryMs) * time.Millisecond)
			f.note("slept")
			f.answer(m.ID, `{"content":[]}`)
		}()
	case "exit":
		f.Code = p.Arguments.Code
		if p.Arguments.Result != nil {
			f.answer(m.ID, string(p.Arguments.Result))
		}
		if f.Close == "call" {
			f.phase("call")
		}
		f.die()
	case "crawl":
		go f.crawl(m.ID, p)
	case "ask":
		go f.ask(m.ID, p)
	case "say":
		for _, one := range p.Arguments.Requests {
			f.send(one)
		}
		f.answer(m.ID, `{"content":[]}`)
	}
}

func (f *fake) crawl(id json.RawMessage, p callParams) {
	for i := 1; i <= p.Arguments.Times; i++ {
		f.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{
			"progressToken": p.Meta.Token, "progress": i, "message": fmt.Sprintf("step %d", i),
		}})
		<-time.After(time.Duration(p.Arguments.EveryMs) * time.Millisecond)
	}
	f.answer(id, `{"content":[{"type":"text","text":"arrived"}]}`)
}

// ask sends requests of its own and answers with what came back.
func (f *fake) ask(id json.RawMessage, p callParams) {
	var got []json.RawMessage
	for _, request := range p.Arguments.Requests {
		f.send(request)
		got = append(got, <-f.answers)
	}
	all, err := json.Marshal(got)
	if err != nil {
		panic(err)
	}
	f.answer(id, fmt.Sprintf(`{"structuredContent":%s}`, all))
}

// cancelled answers a call after the client has given it up.
func (f *fake) cancelled(m message) {
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
		f.answer(id, `{"content":[{"type":"text","text":"too late"}]}`)
	}
}
