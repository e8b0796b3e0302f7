package callback

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// variant is one way to fill in a part of a request, and the status of its rejection; 0 when it is accepted.
type variant struct {
	name   string
	change func(*rawRequest)
	status int
}

func header(lines ...string) func(*rawRequest) {
	return func(q *rawRequest) { q.headers = append(q.headers, lines...) }
}

func setBody(body string) func(*rawRequest) {
	return func(q *rawRequest) {
		q.body = body
		q.headers[1] = fmt.Sprintf("Content-Length: %d", len(body))
	}
}

func chunked(body string) func(*rawRequest) {
	return func(q *rawRequest) {
		q.body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		q.headers[1] = "Transfer-Encoding: chunked"
	}
}

// table is the specification's: a row for each check, in order. The first variant of a row is accepted and the second
// is rejected.
func table(s *Server, id string) [][]variant {
	host := func(h string) func(*rawRequest) { return func(q *rawRequest) { q.host = fmt.Sprintf(h, s.port) } }
	method := func(m string) func(*rawRequest) { return func(q *rawRequest) { q.method = m } }
	target := func(p string) func(*rawRequest) { return func(q *rawRequest) { q.target = p } }
	kind := func(lines ...string) func(*rawRequest) {
		return func(q *rawRequest) { q.headers = append(append([]string{}, lines...), q.headers[1:]...) }
	}
	const ours = "application/json"
	large := strings.Repeat(" ", maxBody)
	fine := body(id, "greet", 1)
	return [][]variant{
		{
			{"host 127.0.0.1", host("127.0.0.1:%d"), 0},
			{"host elsewhere", host("rebound.example:%d"), 403},
			{"host localhost", host("localhost:%d"), 0},
			{"host LocalHost", host("LocalHost:%d"), 0},
			{"host [::1]", host("[::1]:%d"), 0},
			{"host with another port", host("127.0.0.1:1%d"), 403},
			{"host without port", func(q *rawRequest) { q.host = "localhost" }, 403},
			{"host with a trailing dot", host("localhost.:%d"), 403},
			{"host that ends with ours", host("x.localhost:%d"), 403},
			{"host that begins with ours", host("127.0.0.1:%d.example"), 403},
			{"host of another loopback address", host("127.0.0.2:%d"), 403},
			{"empty host", func(q *rawRequest) { q.host = "" }, 403},
			{"host in the target, ours in the header", target("http://rebound.example" + callbackPath), 403},
			{"ours in the target, host in the header", func(q *rawRequest) {
				q.target, q.host = s.CallbackURL(), "rebound.example"
			}, 403},
		},
		{
			{"no origin", func(*rawRequest) {}, 0},
			{"origin elsewhere", header("Origin: https://page.example"), 403},
			{"our own origin", header("Origin: " + s.URL()), 403},
			{"empty origin", header("Origin:"), 403},
			{"null origin", header("Origin: null"), 403},
			{"lower-case origin", header("origin: x"), 403},
		},
		{
			{"no Sec-Fetch-Site", func(*rawRequest) {}, 0},
			{"cross-site", header("Sec-Fetch-Site: cross-site"), 403},
			{"none", header("Sec-Fetch-Site: none"), 0},
			{"same-origin", header("Sec-Fetch-Site: same-origin"), 403},
			{"empty Sec-Fetch-Site", header("Sec-Fetch-Site:"), 403},
			{"none and another", header("Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"), 403},
			{"none, another in one line", header("Sec-Fetch-Site: none, cross-site"), 403},
		},
		{
			{"no token", func(*rawRequest) {}, 0},
			{"wrong token", header("Authorization: Bearer " + strings.Repeat("x", len(s.token))), 401},
			{"our token", header("Authorization: Bearer " + s.token), 0},
			{"our token, bEARER", header("Authorization: bEARER " + s.token), 0},
			{"token cut", header("Authorization: Bearer " + s.token[:len(s.token)-1]), 401},
			{"token and more", header("Authorization: Bearer " + s.token + "0"), 401},
			{"Basic", header("Authorization: Basic " + s.token), 401},
			{"no scheme", header("Authorization: " + s.token), 401},
			{"empty authorization", header("Authorization:"), 401},
			{"Bearer alone", header("Authorization: Bearer"), 401},
			{"our token twice", header("Authorization: Bearer "+s.token, "Authorization: Bearer "+s.token), 401},
			{"our token and a wrong one", header("Authorization: Bearer "+s.token, "Authorization: Bearer x"), 401},
		},
		{
			{"POST", method("POST"), 0},
			{"GET", method("GET"), 405},
			{"PUT", method("PUT"), 405},
			{"HEAD", method("HEAD"), 405},
			{"OPTIONS", method("OPTIONS"), 405},
			{"post", method("post"), 405},
		},
		{
			{"our path", target(callbackPath), 0},
			{"the root", target("/"), 404},
			{"a query", target(callbackPath + "?x=1"), 0},
			{"a trailing slash", target(callbackPath + "/"), 404},
			{"two slashes", target("/" + callbackPath), 404},
			{"dots", target("/x/.." + callbackPath), 404},
			{"escapes", target("/scripting%2Fcallback"), 404},
			{"case", target("/Scripting/Callback"), 404},
		},
		{
			{"JSON", kind("Content-Type: " + ours), 0},
			{"text", kind("Content-Type: text/plain"), 415},
			{"JSON with a charset", kind("Content-Type: Application/JSON ; charset=UTF-8"), 0},
			{"another JSON type", kind("Content-Type: application/json-seq"), 415},
			{"JSON as a parameter", kind("Content-Type: text/plain; application/json"), 415},
			{"an HTML form", kind("Content-Type: application/x-www-endpoint-urlencoded"), 415},
			{"no type", kind("X: y"), 415},
			{"two types", func(q *rawRequest) { q.headers = append(q.headers, "Content-Type: text/plain") }, 415},
		},
		{
			{"a small body", setBody(fine), 0},
			{"a body that is too large", setBody(large + "{}"), 413},
			{"a body of 1 MiB", setBody(fine + large[len(fine):]), 0},
			{"a body of 1 MiB, chunked", chunked(fine + large[len(fine):]), 0},
			{"a body of 1 MiB and a byte, chunked", chunked(fine + large[len(fine):] + " "), 413},
		},
		{
			{"a valid body", func(*rawRequest) {}, 0},
			{"not JSON", func(q *rawRequest) { setBody(strings.Repeat("x", min(len(q.body), 2<<20)))(q) }, 400},
		},
	}
}

// TestChecksOfSpecification changes one part of a request at a time.
func TestChecksOfSpecification(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	for _, row := range table(s, id) {
		for _, v := range row {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				q := validRequest(s, body(id, "greet", 1))
				v.change(&q)
				got := sendRaw(t, s, q)
				if v.status == 0 {
					if got.status != 200 || !got.Result.Success || got.Result.Text != "greet 1" {
						t.Errorf("want the tool's result, got %d %s", got.status, got.text)
					}
					return
				}
				checkRejection(t, s, id, q, got, v.status)
			})
		}
	}
}

// TestFirstFailedCheckDecides combines the accepted and the rejected variants of all rows.
func TestFirstFailedCheckDecides(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	rows := table(s, id)
	for bad := range 1 << len(rows) {
		q := validRequest(s, body(id, "greet", 1))
		want, names := 0, []string{}
		for i, row := range rows {
			if bad>>i&1 == 0 {
				continue
			}
			row[1].change(&q)
			names = append(names, row[1].name)
			if want == 0 {
				want = row[1].status
			}
		}
		got := sendRaw(t, s, q)
		if want == 0 {
			want = 200
		} else {
			checkRejection(t, s, id, q, got, want)
		}
		if got.status != want {
			t.Errorf("%s: status %d, want %d", strings.Join(names, ", "), got.status, want)
		}
	}
}

// checkRejection checks what all rejections have in common.
func checkRejection(t *testing.T, s *Server, id string, q rawRequest, got reply, status int) {
	t.Helper()
	if got.status != status || len(got.text) < 10 && q.method != "HEAD" {
		t.Errorf("%d %q, want %d and a reason", got.status, got.text, status)
	}
	if strings.Contains(got.text, id) || strings.Contains(got.text, s.token) {
		t.Errorf("secret in %q", got.text)
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "text/plain; charset=utf-8",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), want)
		}
	}
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("a CORS header: %s", name)
		}
	}
	if status == 401 != (got.header.Get("WWW-Authenticate") != "") || status == 405 != (got.header.Get("Allow") != "") {
		t.Errorf("headers of %d: %v", status, got.header)
	}
}

func TestResponsesAreNotCached(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	for _, request := range []string{body(id, "greet", 1), body("tbk_gone", "greet", 1)} {
		got := mustPost(t, s, request)
		if got.header.Get("Content-Type") != "application/json" || got.header.Get("Cache-Control") != "no-store" ||
			got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers: %v", got.header)
		}
	}
}

func TestServesOnlyLoopbackAddresses(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for name, c := range map[string]struct {
		local  net.Addr
		remote string
		status int
	}{
		"both loopback":          {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "127.0.0.1:1", 0},
		"mapped":                 {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1).To16()}, "[::ffff:127.0.0.1]:1", 0},
		"version 6":              {&net.TCPAddr{IP: net.IPv6loopback}, "[::1]:1", 0},
		"remote is not loopback": {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "192.0.2.1:1", 403},
		"local is not loopback":  {&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, "127.0.0.1:1", 403},
		"no local":               {nil, "127.0.0.1:1", 403},
		"no remote":              {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "", 403},
		"another network":        {&net.UnixAddr{Name: "x"}, "@", 403},
	} {
		r := httptest.NewRequest(http.MethodPost, callbackPath, nil)
		r.Host, r.RemoteAddr = s.hosts[0], c.remote
		r.Header.Set("Content-Type", "application/json")
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
		status := 0
		if rejected := s.check(r, endpointOf(r)); rejected != nil {
			status = rejected.status
		}
		if status != c.status {
			t.Errorf("%s: %d, want %d", name, status, c.status)
		}
	}
}

func TestListensOnlyOnLoopbackAddress(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"::1"}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.String() != "127.0.0.1" && !n.IP.IsLinkLocalUnicast() {
			others = append(others, n.IP.String())
		}
	}
	for _, ip := range others {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(ip, fmt.Sprint(s.Port())), waitLimit)
		if err == nil {
			_ = c.Close()
			t.Errorf("%s accepts connections", ip)
		}
	}
}

func TestRequestsThatNetHTTPRejects(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	register(t, s, func(context.Context, Request) Response {
		t.Error("a tool was called")
		return Response{}
	})
	fine := validRequest(s, "{}").String()
	for name, raw := range map[string]string{
		"two hosts":             strings.Replace(fine, "Host:", "Host: localhost\r\nHost:", 1),
		"no host":               "POST " + callbackPath + " HTTP/1.1\r\n\r\n",
		"HTTP/1.0 without host": "POST " + callbackPath + " HTTP/1.0\r\n\r\n",
		"HTTP/2":                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"the server itself":     "OPTIONS * HTTP/1.1\r\nHost: " + s.hosts[0] + "\r\n\r\n",
		"a tunnel":              "CONNECT " + s.hosts[0] + " HTTP/1.1\r\nHost: " + s.hosts[0] + "\r\n\r\n",
		"large headers":         strings.Replace(fine, "Host:", "X: "+strings.Repeat("x", 32<<10)+"\r\nHost:", 1),
		"an expectation":        strings.Replace(fine, "Host:", "Expect: the unexpected\r\nHost:", 1),
		"two lengths":           strings.Replace(fine, "Host:", "Content-Length: 7\r\nHost:", 1),
		"an encoding":           strings.Replace(fine, "Content-Length: 2", "Transfer-Encoding: gzip", 1),
		"noise":                 "\x16\x03\x01\x02\x00\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			_, _ = io.WriteString(c, raw)
			response, _ := io.ReadAll(io.LimitReader(c, 4096))
			if !strings.HasPrefix(string(response), "HTTP/1.1 4") && !strings.HasPrefix(string(response), "HTTP/1.0 4") &&
				!strings.HasPrefix(string(response), "HTTP/1.1 501") {
				t.Errorf("got %q", response)
			}
		})
	}
}

func TestRejectsTooLargeBodyBeforeItsEnd(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	t.Run("announced", func(t *testing.T) {
		t.Parallel()
		q := validRequest(s, "")
		q.headers[1] = fmt.Sprintf("Content-Length: %d", maxBody+1)
		checkRejection(t, s, id, q, sendRaw(t, s, q), 413)
	})
	t.Run("announced, with Expect: 100-continue", func(t *testing.T) {
		t.Parallel()
		q := validRequest(s, "")
		q.headers = []string{q.headers[0], fmt.Sprintf("Content-Length: %d", 2*maxBody), "Expect: 100-continue"}
		checkRejection(t, s, id, q, sendRaw(t, s, q), 413)
	})
	t.Run("chunked, without an end", func(t *testing.T) {
		t.Parallel()
		q := validRequest(s, "")
		q.headers[1] = "Transfer-Encoding: chunked"
		q.body = fmt.Sprintf("%x\r\n%s", 2*maxBody, strings.Repeat("x", maxBody+1))
		checkRejection(t, s, id, q, sendRaw(t, s, q), 413)
	})
	t.Run("chunked, 2 MiB, and closed after it", func(t *testing.T) {
		t.Parallel()
		q := validRequest(s, "")
		q.headers = append(q.headers, "Connection: close")
		chunked(strings.Repeat("x", 2*maxBody))(&q)
		checkRejection(t, s, id, q, sendRaw(t, s, q), 413)
	})
	t.Run("announced and sent, and closed after it", func(t *testing.T) {
		t.Parallel()
		q := validRequest(s, strings.Repeat("x", 7*maxBody))
		q.headers = append(q.headers, "Connection: close")
		checkRejection(t, s, id, q, sendRaw(t, s, q), 413)
	})
	t.Run("rejected for another reason, sent, and closed after it", func(t *testing.T) {
		t.Parallel()
		q := validRequest(s, strings.Repeat("x", 7*maxBody))
		q.headers = append(q.headers, "Connection: close", "Authorization: Bearer nothing")
		checkRejection(t, s, id, q, sendRaw(t, s, q), 401)
	})
}

// endlessBody counts the bytes that are read from it.
type endlessBody struct{ read int }

func (e *endlessBody) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func (e *endlessBody) Close() error { return nil }

func TestReadsNotMoreThanLimit(t *testing.T) {
	t.Parallel()
	s, all := &Server{limits: defaultLimits()}, &endlessBody{}
	r := httptest.NewRequest(http.MethodPost, callbackPath, all)
	if _, rejected := s.readBody(httptest.NewRecorder(), r); rejected == nil || rejected.status != 413 {
		t.Errorf("got %+v, want 413", rejected)
	}
	if all.read > maxBody+1 {
		t.Errorf("%d bytes were read", all.read)
	}
}

// TestDoesNotReadEndlessBody sends far more than the system buffers.
func TestDoesNotReadEndlessBody(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c := dial(t, s)
	q := validRequest(s, "")
	q.headers[1] = "Transfer-Encoding: chunked"
	_, _ = io.WriteString(c, q.String())
	const flood = 256 << 20
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	sent := 0
	for sent < flood {
		n, err := c.Write(chunk)
		sent += n
		if err != nil {
			break
		}
	}
	if sent >= flood {
		t.Errorf("all %d bytes were read", sent)
	}
}

func TestClosesConnectionsOfSlowRequests(t *testing.T) {
	t.Parallel()
	limits := defaultLimits()
	limits.header = 200 * time.Millisecond
	s := startServerWith(t, limits)
	wantClosed := func(t *testing.T, c net.Conn, began time.Time, limit time.Duration) string {
		t.Helper()
		response, err := io.ReadAll(c)
		if took := time.Since(began); err != nil || took < limit {
			t.Errorf("closed after %s with %v, want not before %s", took, err, limit)
		}
		return string(response)
	}
	t.Run("nothing at all", func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		wantClosed(t, dial(t, s), began, limits.header)
	})
	t.Run("half a header", func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		c := dial(t, s)
		_, _ = io.WriteString(c, "POST /scripting/callback HTTP/1.1\r\nHost: ")
		wantClosed(t, c, began, limits.header)
	})
	t.Run("half a body", func(t *testing.T) {
		t.Parallel()
		limits := defaultLimits()
		limits.body, limits.drain = 200*time.Millisecond, 10*time.Millisecond
		s := startServerWith(t, limits)
		began := time.Now()
		c := dial(t, s)
		whole := validRequest(s, body(register(t, s, echo), "greet", 1)).String()
		_, _ = io.WriteString(c, whole[:len(whole)-1])
		if response := wantClosed(t, c, began, limits.body); !strings.HasPrefix(response, "HTTP/1.1 400") || !strings.Contains(response, "200ms") {
			t.Errorf("got %q", response)
		}
	})
	t.Run("a header byte by byte", func(t *testing.T) {
		t.Parallel()
		c := dial(t, s)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		began := time.Now()
		for _, b := range []byte("POST /scripting/callback HTTP/1.1\r\nX: " + strings.Repeat("x", 1000)) {
			<-tick.C
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
		}
		t.Errorf("still open after %s", time.Since(began))
	})
}

// TestCallMayTakeLongerThanBody checks that the deadline of the body does not end the call.
func TestCallMayTakeLongerThanBody(t *testing.T) {
	t.Parallel()
	limits := defaultLimits()
	limits.body = 200 * time.Millisecond
	s := startServerWith(t, limits)
	id := register(t, s, func(ctx context.Context, _ Request) Response {
		select {
		case <-ctx.Done():
			return Response{Error: context.Cause(ctx).Error()}
		case <-time.After(2 * limits.body):
			return Response{OK: true}
		}
	})
	if got := mustPost(t, s, body(id, "wait", 1)); !got.Result.Success {
		t.Errorf("got %s", got.text)
	}
}

func TestRejectsIncompleteRequest(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	c := dial(t, s)
	whole := validRequest(s, body(id, "greet", 1)).String()
	_, _ = io.WriteString(c, whole[:len(whole)-1])
	_ = c.(*net.TCPConn).CloseWrite()
	if got := readResponse(t, c, "POST"); got.status != 400 {
		t.Errorf("got %d %s", got.status, got.text)
	}
}

func TestExecuteToolRequiresToken(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	const request = `{"tool_name":"greet","params_json":"{\"n\":3}"}`
	execute := func(token string, changes ...func(*rawRequest)) reply {
		q := validRequest(s, request)
		q.target = executePath
		if token != "" {
			q.headers = append(q.headers, "Authorization: Bearer "+token)
		}
		for _, change := range changes {
			change(&q)
		}
		return sendRaw(t, s, q)
	}
	check := func(what string, got reply, isError bool, message string) {
		t.Helper()
		if got.status != 200 || got.IsError == nil || *got.IsError != isError || got.Message != message {
			t.Errorf("%s: %d %s", what, got.status, got.text)
		}
	}
	if got := execute(""); got.status != 401 {
		t.Errorf("without token: %d", got.status)
	}
	if got := execute("x"); got.status != 401 {
		t.Errorf("with a wrong token: %d", got.status)
	}
	if got := execute("", func(q *rawRequest) { q.method = "GET" }); got.status != 401 {
		t.Errorf("GET without token: %d", got.status)
	}
	if got := execute(s.token, func(q *rawRequest) { q.method = "GET" }); got.status != 405 {
		t.Errorf("GET: %d", got.status)
	}
	for _, wrong := range []string{
		`{}`, `{"tool_name":"greet"}`, `{"tool_name":"greet","params_json":"[]"}`, `{"tool_name":7,"params_json":"{}"}`, `x`,
	} {
		if got := execute(s.token, setBody(wrong)); got.status != 400 {
			t.Errorf("%s: %d %s", wrong, got.status, got.text)
		}
	}
	check("none pending", execute(s.token), true, "unknown invocation id; the tool call may have completed or timed out")
	_, unregister := s.Register(t.Context(), Invocation{Dispatch: echo})
	check("one pending", execute(s.token), false, "greet 3")
	_, other := s.Register(t.Context(), Invocation{Dispatch: echo})
	if got := execute(s.token); got.IsError == nil || !*got.IsError || !strings.Contains(got.Message, "several tool calls are pending") {
		t.Errorf("two pending: %s", got.text)
	}
	unregister()
	other()
	register(t, s, func(context.Context, Request) Response { return Response{Text: "t", Error: "declined"} })
	check("a tool that fails", execute(s.token), true, "declined")
}
