//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/bundle"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/stdio"
)

const (
	servers   = "../testdata/servers"
	shopTools = shop + "/tools"
)

// ways are the ways to run a script. The others are compared with the first one, which is the only one for the servers
// of the benchmark: they use the same packages as other servers. A short run tries node on two scripts.
func ways(script string) []string {
	if strings.Contains(script, "/bench-") {
		return []string{"bun"}
	}
	switch {
	case !testing.Short():
		return []string{"bun", "node", "node+bundle", "embedded"}
	case script == servers+"/same2.mts":
		return []string{"bun", "node", "embedded"}
	case script == servers+"/delegate.mjs":
		return []string{"bun", "node+bundle", "embedded"}
	}
	return []string{"bun", "embedded"}
}

// notStdio has the scripts that are not servers on stdin and stdout, with the reason.
func notStdio() map[string]string {
	return map[string]string{
		servers + "/hostile.js":       "a web page runs it",
		servers + "/http1.ts":         "it listens at a port instead",
		servers + "/http2.mts":        "it listens at a port instead, by Bun.serve",
		servers + "/sample1.ts":       "it asks for a model, as only a run has one",
		servers + "/sample2.mts":      "it asks for a model, as only a run has one",
		servers + "/same-work.mjs":    "servers import it",
		servers + "/shared-tools.mjs": "servers import it",
	}
}

// say is one message of a dialogue. It is sent after the responses to all earlier requests.
type say struct {
	method, params string
	notify         bool // a notification
	unanswered     bool // nothing responds, or the response is not awaited
}

// call is a call of a session.
func call(tool, arguments string) say {
	const session = `{"sessionId":"same","invocationId":"1","memory":{"a":"1"},"device":{"platform":"web","widthPixels":1,"heightPixels":2,"driverType":"x"}}`
	return say{method: "tools/call", params: fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"p","trailblaze":%s}}`, tool, arguments, session)}
}

// outside is a call of another client.
func outside(tool, arguments string) say {
	return say{method: "tools/call", params: fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)}
}

// cancelled is a call that is cancelled after it has created a file in its working directory.
func cancelled(tool string) []say {
	hang := call(tool, "{}")
	hang.unanswered = true
	return []say{hang, {method: "notifications/cancelled", params: `{"requestId":{{last}},"reason":"enough"}`, notify: true}}
}

// everyAnswer are the messages to the servers same1 to same3.
func everyAnswer() []say {
	all := []say{
		call("echo", `{"text":"grüße 😀 \u2028 \u0000"}`), call("echo", `{"text":5}`), call("echo", `{}`), call("nobody", `{}`),
		call("remember", `{"value":"ä"}`), call("hand", `{"to":["a","b"]}`), call("structured", `{"n":0.1}`), call("big", `{"size":400000}`),
		call("crawl", `{}`),
		{method: "no/such/method", params: `{}`},
		{method: "ping", params: `{}`},
	}
	for _, how := range []string{"error", "subclass", "aggregate", "text", "late"} {
		all = append(all, call("fail", fmt.Sprintf(`{"how":%q}`, how)))
	}
	return append(all, cancelled("hang")...)
}

// dialogues are the messages to each server besides tools/list, one after another.
func dialogues(api string) map[string][]say {
	const context = `"_trailblazeContext":{"memory":{"a":1},"device":{"platform":"IOS"}}`
	sdk := []say{call("echo", `{"text":"hi",`+context+`}`), call("echo", `{}`), call("fail", `{}`), call("crawl", `{}`), call("nobody", `{}`)}
	registry := []say{
		{method: "resources/list", params: `{}`},
		{method: "resources/read", params: `{"uri":"trailblaze://registry"}`},
		call("old", `{}`),
		call("change", `{}`),
		{method: "tools/list", params: `{}`},
		call("fresh", `{"word":"ho"}`), call("fresh", `{"word":"no"}`), call("old", `{}`),
	}
	return map[string][]say{
		servers + "/sdk1.ts": sdk, servers + "/sdk2.mts": sdk, servers + "/hand.mjs": sdk[:1],
		servers + "/same1.ts": everyAnswer(), servers + "/same2.mts": everyAnswer(), servers + "/same3.ts": everyAnswer(),
		servers + "/same-host.ts":        {call("facts", `{}`)},
		servers + "/registry1.ts":        registry,
		servers + "/registry2.mts":       registry,
		servers + "/talkback1.ts":        {call("relay", `{"tool":"x"}`)},
		servers + "/talkback2.mts":       {call("relay", `{}`)},
		servers + "/crash3.ts":           {call("count", `{"n":1}`), call("count", `{"n":2}`)},
		servers + "/callback.mjs":        {call("echo", `{"key":"k"}`), call("remember", `{"name":"a","value":"b","forget":"c"}`), call("touch", `{}`), call("touch", `{}`)},
		servers + "/delegate.mjs":        {call("typed", `{"ratio":1e-7,"list":[null],"any":{"b":1,"a":[]}}`), call("quiet", `{}`), call("fail", `{"text":"ä"}`), call("fatal", `{}`), call("deeper", `{"levels":2}`)},
		servers + "/shared-sdk1.ts":      {call("say", `{"text":"hi"}`), call("meet", `{"of":"two"}`)},
		servers + "/shared-scripting.ts": {call("say", `{"text":"hi"}`), call("say", `{}`), call("meet", `{"of":"two"}`), call("nobody", `{}`)},
		servers + "/faults.ts":           {call("bad", `{"fault":"none"}`), call("bad", `{"fault":"throw"}`)},
		servers + "/bench-echo.ts":       {call("echo", `{"text":"hi"}`)},
		servers + "/bench-scripting.ts":  {call("echo", `{"text":"hi"}`)},
		servers + "/bench-wait.ts":       {call("waitFor", `{"ms":3}`)},
		servers + "/bench-callback.ts":   {call("ask", `{"callbacks":0}`), call("ask", `{"callbacks":"no"}`)},

		shopTools + "/users.ts": {
			call("createTestUser", `{"seed":"s"}`), call("createTestUser", `{"country":"JP"}`), call("createTestUser", `{"country":"XX"}`),
			call("signInLink", `{"email":"a+b@example.com","next":"/ä?x=1&y"}`), call("signInLink", `{"email":"no"}`), call("listTestUsers", `{}`),
		},
		shopTools + "/catalog.ts": {
			call("clearCatalog", `{}`), call("queryCatalog", `{}`), call("queryCatalog", `{"limit":0,"sortBy":"colour"}`),
			call("seedCatalog", `{"products":[{"sku":"b","name":"B","category":"x","price":"2.00"},{"sku":"a","name":"Ä","category":"x","price":"10.50"}]}`),
			call("seedCatalog", `{"products":[{"sku":"a","name":"A","category":"x","price":"1.00"}]}`), call("seedCatalog", `{"products":[{"sku":"c","price":"1"}]}`),
			call("queryCatalog", `{"sortBy":"price","descending":true}`), call("queryCatalog", `{"maxPrice":5}`), call("clearCatalog", `{}`),
		},
		shopTools + "/dates.ts": {
			call("addBusinessDays", `{"from":"2026-11-20","days":3,"holidays":["2026-11-24"]}`), call("addBusinessDays", `{"from":"2026-02-30","days":1}`),
			call("formatDate", `{"date":"2026-03-01","now":"2026-02-28",`+context+`}`), call("formatDate", `{"date":"2026-03-02","now":"2026-02-28",`+context+`}`), call("nobody", `{}`),
		},
		shopTools + "/http.ts": {
			call("apiRequest", `{"url":"`+api+`/json?q=ä"}`), call("apiRequest", `{"url":"`+api+`/text","method":"POST","body":{"a":["ö",1.0]}}`),
			call("apiRequest", `{"url":"`+api+`/nowhere","expectStatus":200}`), call("apiRequest", `{"url":"ftp://example.com"}`),
			call("expectJson", `{"json":"{\"a\":[1,{\"b\":2}]}","path":"a.1","equals":{"b":2}}`), call("expectJson", `{"json":{"a":1},"path":"b","equals":1}`),
			call("expectText", `{"text":"order 42","matches":"^order \\d+$"}`),
		},
		shopTools + "/shop-api.mjs":  {call("startShopApi", `{}`), call("startShopApi", `{}`), call("stopShopApi", `{}`), call("stopShopApi", `{}`), call("startShopApi", `{}`)},
		shopTools + "/checkout.ts":   {call("thankYou", `{"total":"1.00"}`), outside("thankYou", `{"total":"1.00"}`), call("thankYou", `{}`), outside("openShop", `{}`)},
		shopTools + "/shopping.ts":   {call("putIntoCart", `{"product":"Enamel mug"}`), call("enterAddress", `{"email":"x"}`)},
		shopTools + "/storefront.ts": {call("startShop", `{}`)},
	}
}

// api is an HTTP server that sends the same response to all clients.
func api(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(w, `{"method":%q,"query":%q,"type":%q,"list":[1.50,"ä"]}`, r.Method, r.URL.RawQuery, r.Header.Get("Content-Type"))
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = fmt.Fprintf(w, "%s ", r.Method)
			_ = r.Write(&withoutHeader{w: w})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withoutHeader writes what follows the first empty line.
type withoutHeader struct {
	w    http.ResponseWriter
	body bool
}

func (b *withoutHeader) Write(p []byte) (int, error) {
	n := len(p)
	if !b.body {
		_, after, found := strings.Cut(string(p), "\r\n\r\n")
		p, b.body = []byte(after), found
	}
	_, err := b.w.Write(p)
	return n, err
}

func TestServersRespondAlikeOnEveryRuntime(t *testing.T) {
	t.Parallel()
	all := dialogues(api(t))
	everyScriptIsKnown(t, all)
	cache := t.TempDir()
	for script, dialogue := range all {
		if testing.Short() && !inShortRun(script) {
			continue
		}
		t.Run(strings.TrimPrefix(script, "../testdata/"), func(t *testing.T) {
			t.Parallel()
			want := ""
			for _, way := range ways(script) {
				got := transcript(t, way, script, cache, dialogue)
				if want == "" {
					want = got
				}
				if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
					t.Errorf("%s says other things than bun (-bun +%s):\n%s", way, way, diff)
				}
			}
			if !strings.Contains(want, `{"tools":[{`) || strings.Count(want, "\n") < len(dialogue) {
				t.Errorf("little was said:\n%s", want)
			}
		})
	}
}

// lines splits a transcript, and the texts in responses, into lines.
func lines(said string) []string { return strings.Split(strings.ReplaceAll(said, `\n`, "\n"), "\n") }

// inShortRun are the scripts that a short run starts. The others use the same packages as these.
func inShortRun(script string) bool {
	return slices.Contains([]string{
		servers + "/same1.ts", servers + "/same2.mts", servers + "/same3.ts", servers + "/same-host.ts", servers + "/hand.mjs",
		servers + "/callback.mjs", servers + "/delegate.mjs", servers + "/faults.ts",
		shopTools + "/catalog.ts", shopTools + "/http.ts", shopTools + "/shop-api.mjs",
	}, script)
}

// everyScriptIsKnown fails the test when a script has neither a dialogue nor a reason why not.
func everyScriptIsKnown(t *testing.T, dialogues map[string][]say) {
	t.Helper()
	for _, dir := range []string{servers, shopTools} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			script := dir + "/" + file.Name()
			if !slices.Contains([]string{".ts", ".mts", ".js", ".mjs"}, filepath.Ext(script)) {
				continue
			}
			_, asked := dialogues[script]
			if _, excused := notStdio()[script]; asked == excused {
				t.Errorf("%s has to have either a dialogue or a reason why it has none", script)
			}
		}
	}
}

// transcript returns all messages of a server in a dialogue, one line for each. Ports are replaced.
func transcript(t *testing.T, way, script, cache string, dialogue []say) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	marker, dir := spawntest.Marker(), t.TempDir()
	spec := spawn.Spec{Name: way, Dir: dir, Env: append(os.Environ(), "PREFIX=", "TRAILBLAZE_SESSION_ID=same", "SAME="+filepath.Base(script), "DIARY="+filepath.Join(dir, "diary"), marker)}
	finder := startWith(t, way, script, cache, &spec)
	if strings.HasSuffix(script, "catalog.ts") {
		spec.Dir = filepath.Join(dir, "tools") // it keeps its file beside that folder
		if err := os.Mkdir(spec.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := spawn.NewSupervisor(spawn.Options{Runtimes: finder, ExitGrace: time.Hour}) // it has to exit by itself
	p, err := stdio.Start(ctx, s, stdio.Spec{Spec: spec})
	if err != nil {
		t.Fatalf("%s: %v", way, err)
	}
	conn, err := p.Transport().Connect(ctx)
	if err != nil {
		t.Fatalf("%s: %v", way, err)
	}
	c := &conversation{t: t, way: way, dir: spec.Dir, p: p, conn: conn}
	c.say(ctx, say{method: "initialize", params: `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`})
	c.say(ctx, say{method: "notifications/initialized", params: `{}`, notify: true})
	c.say(ctx, say{method: "tools/list", params: `{}`})
	for _, one := range dialogue {
		c.say(ctx, one)
	}
	if err := errors.Join(p.Stop(ctx), ctx.Err()); err != nil {
		t.Errorf("%s: to end with its input: %v", way, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	spawntest.NoSurvivors(t, marker)
	if seen, err := os.ReadFile(filepath.Join(spec.Dir, "cancelled")); err == nil {
		c.line("the cancelled call saw", string(seen))
	}
	return regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(c.received.String(), "127.0.0.1:port")
}

// startWith completes a spec with how to start a script, and returns the finder of its runtime.
func startWith(t *testing.T, way, script, cache string, spec *spawn.Spec) *jsruntime.Finder {
	t.Helper()
	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	spec.Script = path
	programs := map[string][]string{"bun": {bunPath}, "node": {"node"}, "node+bundle": {"node"}, "embedded": nil}[way]
	folders := bin(t, programs...)
	if way == "node+bundle" { // as where tsx is not installed, which the packages of these servers have
		made, err := bundle.Open(cache).Bundle(t.Context(), path, bundle.Node)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = made.Close() })
		spec.Script, spec.Command, spec.Args = "", filepath.Join(folders, "node"), []string{"--enable-source-maps", made.File}
	}
	return jsruntime.NewFinder(jsruntime.Options{PATH: folders, CacheDir: cache})
}

// conversation records the messages of a server.
type conversation struct {
	t        *testing.T
	way      string
	dir      string
	p        *stdio.Link
	conn     mcp.Connection
	last     int
	received strings.Builder
}

func (c *conversation) line(of string, what string) { fmt.Fprintf(&c.received, "%s: %s\n", of, what) }

// say sends one message, and records what the server sends until its response.
func (c *conversation) say(ctx context.Context, s say) {
	c.t.Helper()
	msg := &jsonrpc.Request{Method: s.method, Params: json.RawMessage(strings.ReplaceAll(s.params, "{{last}}", fmt.Sprint(c.last)))}
	if !s.notify {
		c.last++
		id, err := jsonrpc.MakeID(float64(c.last))
		if err != nil {
			c.t.Fatal(err)
		}
		msg.ID = id
	}
	if err := c.conn.Write(ctx, msg); err != nil {
		c.t.Fatalf("%s: %s: %v", c.way, s.method, err)
	}
	if s.unanswered {
		c.appears(ctx, "reached-call")
	}
	for answered := s.notify || s.unanswered; !answered; {
		message, err := c.conn.Read(ctx)
		if err != nil {
			c.t.Fatalf("%s: %s: %v\n%s", c.way, s.method, err, c.p.Stderr())
		}
		switch message := message.(type) {
		case *jsonrpc.Response:
			answered = message.ID == msg.ID
			c.line(s.method, fmt.Sprint(string(message.Result), message.Error))
		case *jsonrpc.Request:
			c.line(s.method, message.Method+" "+string(message.Params))
		}
	}
	if s.method == "notifications/cancelled" {
		c.appears(ctx, "cancelled")
	}
}

// appears waits for a file of the server's.
func (c *conversation) appears(ctx context.Context, file string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for tick := time.Tick(5 * time.Millisecond); ; {
		if _, err := os.Stat(filepath.Join(c.dir, file)); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			c.t.Fatalf("%s: there is no file %s\n%s", c.way, file, c.p.Stderr())
		case <-tick:
		}
	}
}

// inPlace has a copy of servers and of what they import in a project, where tsx is only for the way that needs it.
func (p *project) inPlace(way string, scripts ...string) {
	p.t.Helper()
	for _, script := range append(scripts, "package.json", "same-work.mjs") {
		text, err := os.ReadFile(filepath.Join(servers, script))
		if err != nil {
			p.t.Fatal(err)
		}
		p.write("testdata/servers/"+script, string(text))
	}
	packages, err := filepath.Abs(servers + "/node_modules")
	if err != nil {
		p.t.Fatal(err)
	}
	p.packages("testdata/servers", packages, way == "node+tsx")
	sdks, err := filepath.Abs("../sdks")
	if err == nil {
		err = os.Symlink(sdks, filepath.Join(p.dir, "sdks"))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// packages links the packages that are installed elsewhere into a folder of the project.
func (p *project) packages(dir, installed string, tsx bool) {
	p.t.Helper()
	found, err := os.ReadDir(installed)
	if err == nil {
		err = os.MkdirAll(filepath.Join(p.dir, dir, "node_modules"), 0o755)
	}
	for _, one := range found {
		if err == nil && one.Name() != ".bin" && (tsx || one.Name() != "tsx") {
			err = os.Symlink(filepath.Join(installed, one.Name()), filepath.Join(p.dir, dir, "node_modules", one.Name()))
		}
	}
	if err != nil {
		p.t.Fatalf("%v: run make deps", err)
	}
}

// wayPath is a PATH on which trailblaze finds that way to run TypeScript.
func wayPath(t *testing.T, way string) string {
	switch way {
	case "bun":
		return bin(t, bunPath)
	case "embedded":
		return bin(t)
	}
	return bin(t, "node")
}

// A short run leaves the scripts out whose dialogues TestServersRespondAlikeOnEveryRuntime compares.
func TestSessionIsTheSameOnEveryRuntime(t *testing.T) {
	t.Parallel()
	works := webTrail(
		"rememberValue: { name: gone, value: away }", "relay: { tool: echo, times: 3 }\n          saveAs: related", `remember: { value: "{{related.said.1}} ä" }`,
		`hand: { to: [a, "{{kept}}"] }`, "crawl: {}", "structured: { n: 4 }\n          saveAs: numbers", "assertEquals: { expected: 4, actual: \"{{numbers.n}}\" }",
		"big: { size: 40000 }", "dumpMemory: {}", "fail: { how: late }",
	)
	for script, env := range map[string]string{"same1.ts": "", "same2.mts": "", "same2.mts, modern": "reject", "same3.ts": ""} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			file, _, _ := strings.Cut(script, ",")
			if testing.Short() && file != "same3.ts" {
				return
			}
			var want []string
			for _, way := range []string{"bun", "node+bundle", "embedded"} {
				p := newProject(t, map[string]string{
					"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - name: same\n    script: ./testdata/servers/" + file +
						"\n    env: { LEGACY: \"" + env + "\" }\n",
					"trails/1.trail.yaml": works, "trails/2.trail.yaml": webTrail("hang: {}\n          timeout: 1s"), "trails/3.trail.yaml": webTrail("echo: { text: fine }"),
				})
				p.inPlace(way, file)
				p.env = append(p.env, "PATH="+wayPath(t, way))
				r := p.run("run", "--json")
				r.want(t, 1, "runs on "+way+":", "step 3")
				seen, err := os.ReadFile(filepath.Join(p.dir, "testdata/servers/cancelled"))
				if err != nil {
					t.Errorf("%s: a tool that was over its limit was not told: %v", way, err)
				}
				got := append(r.told(t), string(seen))
				if want == nil {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-bun +%s):\n%s", way, way, diff)
				}
				spawntest.NoSurvivors(t, p.marker)
			}
		})
	}
}

// told returns the events of a run's calls, sorted, without the parts that differ between runs.
func (r result) told(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range r.events(t) {
		said := fmt.Sprint(e["message"])
		slow := strings.HasPrefix(said, "its script is being bundled") || strings.Contains(said, "has sent nothing for") ||
			strings.Contains(said, "for it to exit")
		if e["level"] == "debug" || e["type"] == "run.started" || slow {
			continue
		}
		for _, key := range []string{"v", "time", "seq", "session", "durationMs", "dir", "logsDir", "artifacts", "finished"} {
			delete(e, key)
		}
		if number, ok := e["call"].(string); ok && strings.Contains(number, ".") { // several callbacks at once are counted as they come
			e["call"] = strings.Split(number, ".")[0] + ".n"
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(line))
	}
	slices.Sort(out)
	return out
}
