//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// pendingSession is a session in a separate process. A call of its tool one_gate is pending while a test attacks the
// callback port with all data that the tool has. Attacks try to call the tool one_touch, which counts its calls.
type pendingSession struct {
	*project
	seen
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	port           string
}

func startPendingSession(t *testing.T, runtime string) *pendingSession {
	t.Helper()
	s := &pendingSession{project: callers(t, runtime, webTrail(
		"one_gate: { file: first }\n          timeout: 5m", "one_gate: { file: second }\n          timeout: 5m"), nil)}
	s.cmd = s.command("run", "--json")
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
			t.Logf("stdout:\n%s\nstderr:\n%s", &s.stdout, &s.stderr)
		}
	})
	s.seen = s.project.seen("first")
	s.port = s.Env["TRAILBLAZE_PORT"]
	return s
}

func (s *pendingSession) token() string { return s.Env["TRAILBLAZE_SESSION_TOKEN"] }

// callbackBody returns the body of a callback for an invocation.
func (s *pendingSession) callbackBody(session, invocation, tool, args string) string {
	out, _ := json.Marshal(map[string]any{
		"version": 1, "session_id": session, "invocation_id": invocation,
		"action": map[string]any{"type": "call_tool", "tool_name": tool, "arguments_json": args},
	})
	return string(out)
}

// validBody returns the body of a callback with the ids of the pending call.
func (s *pendingSession) validBody() string {
	return s.callbackBody(s.Meta.Trailblaze.SessionID, s.Meta.InvocationID, "one_touch", "{}")
}

// post sends a valid request with more headers and returns the status and the body of the response.
func (s *pendingSession) post(body string, headers ...string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.Env["TRAILBLAZE_CALLBACK_URL"], strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(err)
	}
	return resp.StatusCode, string(answer)
}

// finish lets the pending calls return. It fails the test unless the session passes and one_touch was called accepted
// times.
func (s *pendingSession) finish(t *testing.T, accepted int) {
	t.Helper()
	s.write("first.go", "")
	s.write("second.go", "")
	err := s.cmd.Wait()
	r := result{s.cmd.ProcessState.ExitCode(), s.stdout.String(), s.stderr.String()}
	r.want(t, 0, fmt.Sprintf(`"text":"touched %d"`, accepted))
	calls := slices.DeleteFunc(r.called(t), func(call string) bool { return !strings.HasSuffix(call, " one_touch") })
	if err != nil || len(calls) != accepted {
		t.Errorf("%v: the calls of one_touch are %q, want %d", err, calls, accepted)
	}
	spawntest.NoSurvivors(t, s.marker)
}

// raw sends bytes to the callback port and returns the response, with status 0 if there is none.
func (s *pendingSession) raw(request string) (status int, header http.Header, body string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		s.t.Error(err)
		return 0, nil, ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	_, _ = io.WriteString(conn, request) // fails if the server responds before the end
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(answer)
}

func TestCallbackServerRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		s := startPendingSession(t, runtime)
		session, invocation := s.Meta.Trailblaze.SessionID, s.Meta.InvocationID
		request := func(line, host, headers, body string) string {
			return fmt.Sprintf("%s HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n%s", line, host, headers, len(body), body)
		}
		const line, isJSON = "POST /scripting/callback", "Content-Type: application/json\r\n"
		host := "Host: 127.0.0.1:" + s.port + "\r\n"
		large := s.callbackBody(session, invocation, "one_touch", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`)
		for name, tc := range map[string]struct {
			request string
			status  int
			want    string
		}{
			"accepted":                   {request(line, host, isJSON, s.validBody()), 200, `"success":true`},
			"accepted, with the token":   {request(line, host, isJSON+"Authorization: Bearer "+s.token()+"\r\n", s.validBody()), 200, `"success":true`},
			"accepted, says localhost":   {request(line, "Host: localhost:"+s.port+"\r\n", isJSON, s.validBody()), 200, `"success":true`},
			"wrong token":                {request(line, host, isJSON+"Authorization: Bearer "+s.token()[1:]+"\r\n", s.validBody()), 401, ""},
			"invocation id as the token": {request(line, host, isJSON+"Authorization: Bearer "+invocation+"\r\n", s.validBody()), 401, ""},
			"token without its scheme":   {request(line, host, isJSON+"Authorization: "+s.token()+"\r\n", s.validBody()), 401, ""},
			"rebound name":               {request(line, "Host: evil.test:"+s.port+"\r\n", isJSON, s.validBody()), 403, "Host"},
			"our name in another":        {request(line, "Host: 127.0.0.1.evil.test:"+s.port+"\r\n", isJSON, s.validBody()), 403, "Host"},
			"another port":               {request(line, "Host: 127.0.0.1:1\r\n", isJSON, s.validBody()), 403, "Host"},
			"no port":                    {request(line, "Host: 127.0.0.1\r\n", isJSON, s.validBody()), 403, "Host"},
			"a proxy's request":          {request("POST http://evil.test/scripting/callback", host, isJSON, s.validBody()), 403, "Host"},
			"no name":                    {request(line, "", isJSON, s.validBody()), 400, ""},
			"two names":                  {request(line, host+"Host: evil.test\r\n", isJSON, s.validBody()), 400, ""},
			"a page":                     {request(line, host, isJSON+"Origin: https://evil.test\r\n", s.validBody()), 403, "Origin"},
			"a page without an origin":   {request(line, host, isJSON+"Origin: null\r\n", s.validBody()), 403, "Origin"},
			"a page of ours":             {request(line, host, isJSON+"Origin: http://127.0.0.1:"+s.port+"\r\n", s.validBody()), 403, "Origin"},
			"a page, by metadata":        {request(line, host, isJSON+"Sec-Fetch-Site: same-origin\r\n", s.validBody()), 403, "Sec-Fetch-Site"},
			"a page that asks first": {request("OPTIONS /scripting/callback", host, "Origin: http://a.test\r\n"+
				"Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n", ""), 403, ""},
			"a websocket":        {request("GET /scripting/callback", host, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", ""), 405, ""},
			"a form":             {request(line, host, "Content-Type: text/plain\r\n", s.validBody()), 415, ""},
			"no type":            {request(line, host, "", s.validBody()), 415, ""},
			"too much":           {request(line, host, isJSON, large), 413, ""},
			"too much, chunked":  {line + " HTTP/1.1\r\n" + host + isJSON + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(large), large), 413, ""},
			"guessed invocation": {request(line, host, isJSON, s.callbackBody(session, "tbk_"+strings.Repeat("0", 64), "one_touch", "{}")), 200, "unknown invocation id"},
			"token as one":       {request(line, host, isJSON, s.callbackBody(session, s.token(), "one_touch", "{}")), 200, "unknown invocation id"},
			"another session":    {request(line, host, isJSON, s.callbackBody(session+"x", invocation, "one_touch", "{}")), 200, "another session"},
			"short, no token":    {request("POST /scripting/primitives/ExecuteTool", host, isJSON, `{"tool_name":"one_touch","params_json":"{}"}`), 401, ""},
		} {
			status, header, body := s.raw(tc.request)
			if status != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("%s: %d %q, want %d %q", name, status, body, tc.status, tc.want)
			}
			for key := range header {
				if strings.HasPrefix(key, "Access-Control-") {
					t.Errorf("%s: the answer has %s", name, key)
				}
			}
			if capability.MatchString(body) {
				t.Errorf("%s: the answer repeats what is secret: %q", name, body)
			}
		}
		s.finish(t, 3)
	})
}

func TestInvocationIsInvalidAfterReturn(t *testing.T) {
	t.Parallel()
	s := startPendingSession(t, bunPath)
	s.write("first.go", "")
	now := s.project.seen("second")
	if status, answer := s.post(s.validBody()); status != 200 || !strings.Contains(answer, "unknown invocation id") {
		t.Errorf("a replay is answered with %d %q", status, answer)
	}
	if status, answer := s.post(s.callbackBody(now.Meta.Trailblaze.SessionID, now.Meta.InvocationID, "one_touch", "{}")); !strings.Contains(answer, "answer 1") {
		t.Errorf("the pending call is answered with %d %q", status, answer)
	}
	s.finish(t, 1)
}

func TestSessionsRejectCallbacksOfEachOther(t *testing.T) {
	t.Parallel()
	both := []*pendingSession{startPendingSession(t, bunPath), startPendingSession(t, "node")}
	for i, s := range both {
		other := both[1-i]
		for name, tc := range map[string]struct {
			body, token string
			status      int
			want        string
		}{
			"all is the other's":        {other.validBody(), other.token(), 401, ""},
			"without its token":         {other.validBody(), s.token(), 200, "unknown invocation id"},
			"its id with our session":   {s.callbackBody(s.Meta.Trailblaze.SessionID, other.Meta.InvocationID, "one_touch", "{}"), s.token(), 200, "unknown invocation id"},
			"our id with its session":   {s.callbackBody(other.Meta.Trailblaze.SessionID, s.Meta.InvocationID, "one_touch", "{}"), s.token(), 200, "another session"},
			"all is ours but the token": {s.validBody(), other.token(), 401, ""},
		} {
			if status, answer := s.post(tc.body, "Authorization: Bearer "+tc.token); status != tc.status || !strings.Contains(answer, tc.want) {
				t.Errorf("%s: %d %q, want %d %q", name, status, answer, tc.status, tc.want)
			}
		}
	}
	for _, s := range both {
		s.finish(t, 0)
	}
}

func TestSlowBodyIsRejected(t *testing.T) {
	t.Parallel()
	s := startPendingSession(t, bunPath)
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begun := time.Now()
	go func() {
		fmt.Fprintf(conn, "POST /scripting/callback HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", s.port)
		for err := error(nil); err == nil; _, err = conn.Write([]byte(" ")) {
			<-time.After(50 * time.Millisecond)
		}
	}()
	_ = conn.SetReadDeadline(begun.Add(30 * time.Second))
	answer, err := io.ReadAll(conn)
	if took := time.Since(begun); err != nil && !strings.Contains(err.Error(), "reset") || took < 5*time.Second || took > 20*time.Second {
		t.Errorf("%v, %q after %s, want an end after 10s", err, answer, took)
	}
	_ = conn.Close()
	s.finish(t, 0)
}

// TestManyConnectionsDoNotBlockCallbacks keeps connections open that send nothing, or no complete request, while the
// test and real tools make callbacks.
func TestManyConnectionsDoNotBlockCallbacks(t *testing.T) {
	t.Parallel()
	s := startPendingSession(t, bunPath)
	var limit syscall.Rlimit // of files; the Go runtime has raised it as far as it may
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	flood := min(10_000, int(limit.Cur)/2)
	begun := "POST /scripting/callback HTTP/1.1\r\nHost: 127.0.0.1:" + s.port + "\r\n"
	openings := []string{"", "P", begun, begun + "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"}
	conns := make(chan net.Conn, flood)
	next := make(chan int)
	var dialers sync.WaitGroup
	for range 100 {
		dialers.Go(func() {
			for i := range next {
				conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 20*time.Second)
				if err != nil {
					continue
				}
				_, _ = io.WriteString(conn, openings[i%len(openings)])
				conns <- conn
			}
		})
	}
	var slowest time.Duration
	accepted := 0
	for i := range flood {
		next <- i
		if i%(flood/10) == 0 {
			accepted++
			asked := time.Now()
			if status, answer := s.post(s.validBody()); status != 200 || !strings.Contains(answer, fmt.Sprintf("answer %d", accepted)) {
				t.Errorf("after %d connections: %d %q", i, status, answer)
			}
			slowest = max(slowest, time.Since(asked))
		}
	}
	many := s.callbackBody(s.Meta.Trailblaze.SessionID, s.Meta.InvocationID, "two_fan", `{"key":"k","n":50,"tool":"one_spin"}`)
	if status, answer := s.post(many); !strings.Contains(answer, `"success":true`) {
		t.Errorf("tools that call tools in the flood: %d %q", status, answer)
	}
	close(next)
	dialers.Wait()
	if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)); err == nil && len(files) > 2000 {
		t.Errorf("the flood has trailblaze hold %d files", len(files))
	}
	if got := len(conns); got < flood*9/10 {
		t.Errorf("only %d connections of %d came about, so the test shows little", got, flood)
	}
	if slowest > 15*time.Second {
		t.Errorf("the slowest accepted call took %s", slowest)
	}
	s.finish(t, accepted)
	close(conns)
	for conn := range conns {
		_ = conn.Close()
	}
}

func TestCallbackServerListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	s := startPendingSession(t, bunPath)
	addresses := []string{"::1"}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range mine {
		if network, ok := address.(*net.IPNet); ok && !network.IP.IsLoopback() {
			addresses = append(addresses, network.IP.String())
		}
	}
	for _, address := range addresses {
		if conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, s.port), 5*time.Second); err == nil {
			_ = conn.Close()
			t.Errorf("%s answers", address)
		}
	}
	s.finish(t, 0)
}

// found is the report of a page: what it could read for each attempt at the target and at the unprotected server.
type found struct {
	Page  string
	Found map[string]map[string]string
}

// browserAttack serves hostile pages. unprotected behaves like the target without protection: it accepts every request,
// and lets every page read the response.
type browserAttack struct {
	pages, unprotected, proxy *httptest.Server
	target                    *pendingSession
	reports                   chan found

	mu       sync.Mutex
	executed map[string]bool // page and attempt that would have called a tool
}

func newBrowserAttack(t *testing.T, s *pendingSession) *browserAttack {
	t.Helper()
	a := &browserAttack{target: s, reports: make(chan found, 10), executed: map[string]bool{}}
	a.unprotected = httptest.NewServer(http.HandlerFunc(a.serveUnprotected))
	a.pages = httptest.NewServer(http.HandlerFunc(a.serve))
	a.proxy = httptest.NewServer(http.HandlerFunc(a.rebind))
	for _, server := range []*httptest.Server{a.unprotected, a.pages, a.proxy} {
		t.Cleanup(server.Close)
	}
	return a
}

func (a *browserAttack) serveUnprotected(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{"Origin", "Methods", "Headers", "Private-Network", "Local-Network"} {
		w.Header().Set("Access-Control-Allow-"+name, "*")
	}
	w.Header().Set("Access-Control-Allow-Headers", "content-type")
	w.Header().Set("Access-Control-Allow-Private-Network", "true")
	body, err := io.ReadAll(r.Body)
	attempt, _ := url.QueryUnescape(r.URL.RawQuery)
	if err == nil && r.Method == http.MethodPost && bytes.Contains(body, []byte(a.target.Meta.InvocationID)) {
		a.mu.Lock()
		a.executed[attempt] = true
		a.mu.Unlock()
	}
	_, _ = io.WriteString(w, "executed")
}

// visits returns the addresses of the pages, in the order in which they are opened.
func (a *browserAttack) visits() []string {
	port := a.pages.URL[strings.LastIndex(a.pages.URL, ":"):]
	return []string{"http://127.0.0.1" + port, "http://localhost" + port, "http://evil.test" + port, "http://rebound.test:" + a.target.port}
}

// page returns the source of the page at an address, or of one without an address.
func (a *browserAttack) page(address, next, frame, callback string) string {
	script, err := os.ReadFile("../testdata/servers/hostile.js")
	if err != nil {
		panic(err)
	}
	given, _ := json.Marshal(map[string]any{
		"page": address, "next": next, "frame": frame, "body": a.target.validBody(), "report": a.pages.URL + "/report",
		"redirect": a.pages.URL + "/redirect?", "addresses": map[string]string{"target": callback, "unprotected": a.unprotected.URL + "/scripting/callback"},
	})
	return "<!doctype html><meta charset=utf-8><script>const given = " + string(given) + "\n" + string(script) + "</script>"
}

func (a *browserAttack) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/report":
		var f found
		if json.NewDecoder(r.Body).Decode(&f) == nil {
			a.reports <- f
		}
	case "/redirect":
		to, _ := url.QueryUnescape(r.URL.RawQuery)
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	case "/":
		a.show(w, "http://"+r.Host)
	default:
		http.NotFound(w, r)
	}
}

// show sends the page at an address. The page attacks the port by the host name of the page, and then opens the next
// page.
func (a *browserAttack) show(w http.ResponseWriter, address string) {
	visits := a.visits()
	i := slices.Index(visits, address)
	var next, frame string
	if i+1 < len(visits) {
		next = visits[i+1]
	}
	callback := a.target.Env["TRAILBLAZE_CALLBACK_URL"]
	switch i {
	case 0:
		frame = "data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte(a.page("data:", "", "", callback)))
	case 1:
		callback = strings.Replace(callback, "127.0.0.1", "localhost", 1)
	case 2:
		callback = strings.Replace(callback, "127.0.0.1", "evil.test", 1)
	case 3:
		callback = strings.Replace(callback, "127.0.0.1", "rebound.test", 1)
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, a.page(address, next, frame, callback))
}

// rebind is a proxy for which a name first is the attacker's machine, which serves a page, and then this machine. For
// the browser, the callback port then has the origin of the page.
func (a *browserAttack) rebind(w http.ResponseWriter, r *http.Request) {
	if address := "http://" + r.Host; r.URL.Path == "/" && address == a.visits()[3] {
		a.show(w, address)
		return
	}
	(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:" + a.target.port, Path: p.In.URL.Path, RawQuery: p.In.URL.RawQuery}
		p.Out.Host = p.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}).ServeHTTP(w, r)
}

// browse opens an address in a browser, which is stopped at the end of the test.
func browse(t *testing.T, address string, flags ...string) (log *bytes.Buffer) {
	t.Helper()
	home, marker := t.TempDir(), spawntest.Marker()
	c := exec.Command(spawntest.Chromium(t), append(append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-breakpad", "--remote-debugging-pipe",
		"--user-data-dir=" + filepath.Join(home, "profile"),
	}, flags...), address)...)
	c.Env = append(os.Environ(), "HOME="+home, marker)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	commands, hold, err := os.Pipe() // the browser exits when it closes, also if the test is killed
	if err != nil {
		t.Fatal(err)
	}
	answers, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer commands.Close()
	defer answers.Close()
	c.ExtraFiles = []*os.File{commands, answers}
	log = &bytes.Buffer{}
	c.Stdout, c.Stderr, c.WaitDelay = log, log, 10*time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = hold.Close()
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
		spawntest.NoSurvivors(t, marker)
	})
	return log
}

// expectedAttempts are attempts that succeed at an unprotected port, which shows that the pages make them.
var expectedAttempts = []string{
	"fetch json", "fetch text", "fetch text, no-cors", "fetch no referrer", "beacon text", "xhr json", "xhr text", "form text", "form redirected",
}

func TestCallbackServerRejectsWebPages(t *testing.T) {
	t.Parallel()
	s := startPendingSession(t, bunPath)
	a := newBrowserAttack(t, s)
	s.write("page.html", a.page("file:", a.visits()[0], "", s.Env["TRAILBLAZE_CALLBACK_URL"]))
	log := browse(t, "file://"+filepath.Join(s.dir, "page.html"),
		"--host-resolver-rules=MAP evil.test 127.0.0.1", "--proxy-server="+a.proxy.URL, "--proxy-bypass-list=evil.test")
	seen := map[string]map[string]map[string]string{}
	for range len(a.visits()) + 2 {
		select {
		case f := <-a.reports:
			seen[f.Page] = f.Found
		case <-time.After(2 * time.Minute):
			t.Fatalf("no report in two minutes; there are %d\n%s", len(seen), log)
		}
	}
	for page, found := range seen {
		a.checkReport(t, page, found)
	}
	s.finish(t, 0)
}

func (a *browserAttack) checkReport(t *testing.T, page string, found map[string]map[string]string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, attempt := range expectedAttempts {
		if !a.executed[page+" "+attempt] {
			t.Errorf("%s, %s: the unprotected server did not execute it either, so the test shows nothing", page, attempt)
		}
	}
	if read := found["unprotected"]["fetch json"]; !strings.Contains(read, "executed") {
		t.Errorf("%s: the page cannot read the response of the unprotected server: %q", page, read)
	}
	if len(found["target"]) == 0 {
		t.Errorf("%s: no attempt was made", page)
	}
	for attempt, read := range found["target"] {
		if strings.HasPrefix(page, "http://rebound.test") {
			if read != "" && !strings.Contains(read, "the Host header is not this server") {
				t.Errorf("%s, %s: the page reads %q", page, attempt, read)
			}
		} else if read != "" {
			t.Errorf("%s, %s: the page reads %q", page, attempt, read)
		}
	}
}
