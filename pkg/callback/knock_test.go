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

// variant is one way to fill in a part of a request, and the status that is due to it; 0 for none.
type variant struct {
	name   string
	change func(*knock)
	status int
}

func header(lines ...string) func(*knock) {
	return func(k *knock) { k.headers = append(k.headers, lines...) }
}

func setBody(body string) func(*knock) {
	return func(k *knock) {
		k.body = body
		k.headers[1] = fmt.Sprintf("Content-Length: %d", len(body))
	}
}

func chunked(body string) func(*knock) {
	return func(k *knock) {
		k.body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		k.headers[1] = "Transfer-Encoding: chunked"
	}
}

// table is the specification's, a row for each thing that is checked, in its order. The first variant of a row is good and the
// second is not.
func table(s *Server, id string) [][]variant {
	host := func(h string) func(*knock) { return func(k *knock) { k.host = fmt.Sprintf(h, s.port) } }
	method := func(m string) func(*knock) { return func(k *knock) { k.method = m } }
	target := func(p string) func(*knock) { return func(k *knock) { k.target = p } }
	kind := func(lines ...string) func(*knock) {
		return func(k *knock) { k.headers = append(append([]string{}, lines...), k.headers[1:]...) }
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
			{"host without port", func(k *knock) { k.host = "localhost" }, 403},
			{"host with a dot at its end", host("localhost.:%d"), 403},
			{"host with ours at its end", host("x.localhost:%d"), 403},
			{"host with ours at its beginning", host("127.0.0.1:%d.example"), 403},
			{"host of another loopback address", host("127.0.0.2:%d"), 403},
			{"empty host", func(k *knock) { k.host = "" }, 403},
			{"host in the target, ours in the header", target("http://rebound.example" + callbackPath), 403},
			{"ours in the target, host in the header", func(k *knock) {
				k.target, k.host = s.CallbackURL(), "rebound.example"
			}, 403},
		},
		{
			{"no origin", func(*knock) {}, 0},
			{"origin elsewhere", header("Origin: https://page.example"), 403},
			{"our own origin", header("Origin: " + s.URL()), 403},
			{"empty origin", header("Origin:"), 403},
			{"null origin", header("Origin: null"), 403},
			{"lower-case origin", header("origin: x"), 403},
		},
		{
			{"no Sec-Fetch-Site", func(*knock) {}, 0},
			{"cross-site", header("Sec-Fetch-Site: cross-site"), 403},
			{"none", header("Sec-Fetch-Site: none"), 0},
			{"same-origin", header("Sec-Fetch-Site: same-origin"), 403},
			{"empty Sec-Fetch-Site", header("Sec-Fetch-Site:"), 403},
			{"none and another", header("Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"), 403},
			{"none, another in one line", header("Sec-Fetch-Site: none, cross-site"), 403},
		},
		{
			{"no token", func(*knock) {}, 0},
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
			{"a slash at its end", target(callbackPath + "/"), 404},
			{"two slashes", target("/" + callbackPath), 404},
			{"dots", target("/x/.." + callbackPath), 404},
			{"escapes", target("/scripting%2Fcallback"), 404},
			{"case", target("/Scripting/Callback"), 404},
		},
		{
			{"JSON", kind("Content-Type: " + ours), 0},
			{"text", kind("Content-Type: text/plain"), 415},
			{"JSON with a charset", kind("Content-Type: Application/JSON ; charset=UTF-8"), 0},
			{"JSON of a kind", kind("Content-Type: application/json-seq"), 415},
			{"JSON as a parameter", kind("Content-Type: text/plain; application/json"), 415},
			{"a form", kind("Content-Type: application/x-www-form-urlencoded"), 415},
			{"no type", kind("X: y"), 415},
			{"two types", func(k *knock) { k.headers = append(k.headers, "Content-Type: text/plain") }, 415},
		},
		{
			{"a small body", setBody(fine), 0},
			{"a body that is too large", setBody(large + "{}"), 413},
			{"a body of 1 MiB", setBody(fine + large[len(fine):]), 0},
			{"a body of 1 MiB, chunked", chunked(fine + large[len(fine):]), 0},
			{"a body of 1 MiB and a byte, chunked", chunked(fine + large[len(fine):] + " "), 413},
		},
		{
			{"a good body", func(*knock) {}, 0},
			{"no JSON", func(k *knock) { setBody(strings.Repeat("x", min(len(k.body), 2<<20)))(k) }, 400},
		},
	}
}

// TestTheTable changes one thing at a time.
func TestTheTable(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	for _, row := range table(s, id) {
		for _, v := range row {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				k := good(s, body(id, "greet", 1))
				v.change(&k)
				got := send(t, s, k)
				if v.status == 0 {
					if got.status != 200 || !got.Result.Success || got.Result.Text != "greet 1" {
						t.Errorf("want the tool's answer, got %d %s", got.status, got.text)
					}
					return
				}
				refused(t, s, id, k, got, v.status)
			})
		}
	}
}

// TestTheFirstOfSeveralThingsDecides combines the good and the bad of every row.
func TestTheFirstOfSeveralThingsDecides(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	rows := table(s, id)
	for bad := range 1 << len(rows) {
		k := good(s, body(id, "greet", 1))
		want, names := 0, []string{}
		for i, row := range rows {
			if bad>>i&1 == 0 {
				continue
			}
			row[1].change(&k)
			names = append(names, row[1].name)
			if want == 0 {
				want = row[1].status
			}
		}
		got := send(t, s, k)
		if want == 0 {
			want = 200
		} else {
			refused(t, s, id, k, got, want)
		}
		if got.status != want {
			t.Errorf("%s: status %d, want %d", strings.Join(names, ", "), got.status, want)
		}
	}
}

// refused checks what all refusals have in common.
func refused(t *testing.T, s *Server, id string, k knock, got said, status int) {
	t.Helper()
	if got.status != status || len(got.text) < 10 && k.method != "HEAD" {
		t.Errorf("%d %q, want %d and why", got.status, got.text, status)
	}
	if strings.Contains(got.text, id) || strings.Contains(got.text, s.token) {
		t.Errorf("a secret in %q", got.text)
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

func TestAnswersAreNotKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	for _, request := range []string{body(id, "greet", 1), body("tbk_gone", "greet", 1)} {
		got := mustAsk(t, s, request)
		if got.header.Get("Content-Type") != "application/json" || got.header.Get("Cache-Control") != "no-store" ||
			got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers: %v", got.header)
		}
	}
}

func TestOnlyLoopbackAddressesAreServed(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, c := range map[string]struct {
		local  net.Addr
		remote string
		status int
	}{
		"both loopback":        {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "127.0.0.1:1", 0},
		"mapped":               {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1).To16()}, "[::ffff:127.0.0.1]:1", 0},
		"version 6":            {&net.TCPAddr{IP: net.IPv6loopback}, "[::1]:1", 0},
		"remote from outside":  {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "192.0.2.1:1", 403},
		"local to the outside": {&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, "127.0.0.1:1", 403},
		"no local":             {nil, "127.0.0.1:1", 403},
		"no remote":            {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "", 403},
		"another network":      {&net.UnixAddr{Name: "x"}, "@", 403},
	} {
		r := httptest.NewRequest(http.MethodPost, callbackPath, nil)
		r.Host, r.RemoteAddr = s.hosts[0], c.remote
		r.Header.Set("Content-Type", "application/json")
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
		status := 0
		if no := s.check(r, formOf(r)); no != nil {
			status = no.status
		}
		if status != c.status {
			t.Errorf("%s: %d, want %d", name, status, c.status)
		}
	}
}

func TestNothingButTheLoopbackAddressIsBound(t *testing.T) {
	t.Parallel()
	s := open(t)
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
		c, err := net.DialTimeout("tcp", net.JoinHostPort(ip, fmt.Sprint(s.Port())), patience)
		if err == nil {
			_ = c.Close()
			t.Errorf("%s answers", ip)
		}
	}
}

func TestRequestsThatNetHTTPAnswersItselfReachNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	begin(t, s, func(context.Context, Request) Answer {
		t.Error("a tool was called")
		return Answer{}
	})
	fine := good(s, "{}").String()
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
			answer, _ := io.ReadAll(io.LimitReader(c, 4096))
			if !strings.HasPrefix(string(answer), "HTTP/1.1 4") && !strings.HasPrefix(string(answer), "HTTP/1.0 4") &&
				!strings.HasPrefix(string(answer), "HTTP/1.1 501") {
				t.Errorf("got %q", answer)
			}
		})
	}
}

func TestATooLargeBodyIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	t.Run("announced", func(t *testing.T) {
		t.Parallel()
		k := good(s, "")
		k.headers[1] = fmt.Sprintf("Content-Length: %d", maxBody+1)
		refused(t, s, id, k, send(t, s, k), 413)
	})
	t.Run("announced, and asked whether to send it", func(t *testing.T) {
		t.Parallel()
		k := good(s, "")
		k.headers = []string{k.headers[0], fmt.Sprintf("Content-Length: %d", 2*maxBody), "Expect: 100-continue"}
		refused(t, s, id, k, send(t, s, k), 413)
	})
	t.Run("chunked, without an end", func(t *testing.T) {
		t.Parallel()
		k := good(s, "")
		k.headers[1] = "Transfer-Encoding: chunked"
		k.body = fmt.Sprintf("%x\r\n%s", 2*maxBody, strings.Repeat("x", maxBody+1))
		refused(t, s, id, k, send(t, s, k), 413)
	})
	t.Run("chunked, 2 MiB, and closed after it", func(t *testing.T) {
		t.Parallel()
		k := good(s, "")
		k.headers = append(k.headers, "Connection: close")
		chunked(strings.Repeat("x", 2*maxBody))(&k)
		refused(t, s, id, k, send(t, s, k), 413)
	})
	t.Run("sent although it was announced, and closed after it", func(t *testing.T) {
		t.Parallel()
		k := good(s, strings.Repeat("x", 7*maxBody))
		k.headers = append(k.headers, "Connection: close")
		refused(t, s, id, k, send(t, s, k), 413)
	})
	t.Run("refused for another reason, sent, and closed after it", func(t *testing.T) {
		t.Parallel()
		k := good(s, strings.Repeat("x", 7*maxBody))
		k.headers = append(k.headers, "Connection: close", "Authorization: Bearer nothing")
		refused(t, s, id, k, send(t, s, k), 401)
	})
}

// endless is a body that counts what is taken of it.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	e.taken += len(p)
	return len(p), nil
}

func (e *endless) Close() error { return nil }

func TestNoMoreIsReadThanTheLimit(t *testing.T) {
	t.Parallel()
	all := &endless{}
	r := httptest.NewRequest(http.MethodPost, callbackPath, all)
	if _, no := read(httptest.NewRecorder(), r); no == nil || no.status != 413 {
		t.Errorf("got %+v, want 413", no)
	}
	if all.taken > maxBody+1 {
		t.Errorf("%d bytes were read", all.taken)
	}
}

// TestAFloodInOneBodyIsNotRead sends far more than the system holds for a reader who does not read.
func TestAFloodInOneBodyIsNotRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := dial(t, s)
	k := good(s, "")
	k.headers[1] = "Transfer-Encoding: chunked"
	_, _ = io.WriteString(c, k.String())
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
		t.Errorf("all %d bytes were taken", sent)
	}
}

func TestSlowRequestsAreCutOff(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	closes := func(t *testing.T, c net.Conn, after time.Duration) string {
		t.Helper()
		began := time.Now()
		answer, err := io.ReadAll(c)
		if took := time.Since(began); err != nil || took < after-time.Second {
			t.Errorf("closed after %s with %v, want about %s", took, err, after)
		}
		return string(answer)
	}
	t.Run("nothing at all", func(t *testing.T) {
		t.Parallel()
		closes(t, dial(t, s), headerTime)
	})
	t.Run("half a header", func(t *testing.T) {
		t.Parallel()
		c := dial(t, s)
		_, _ = io.WriteString(c, "POST /scripting/callback HTTP/1.1\r\nHost: ")
		closes(t, c, headerTime)
	})
	t.Run("half a body", func(t *testing.T) {
		t.Parallel()
		c := dial(t, s)
		whole := good(s, body(id, "greet", 1)).String()
		_, _ = io.WriteString(c, whole[:len(whole)-1])
		if answer := closes(t, c, bodyTime); !strings.HasPrefix(answer, "HTTP/1.1 400") || !strings.Contains(answer, "10s") {
			t.Errorf("got %q", answer)
		}
	})
	t.Run("a header byte by byte", func(t *testing.T) {
		t.Parallel()
		c := dial(t, s)
		tick := time.NewTicker(50 * time.Millisecond)
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

// TestACallMayTakeLongerThanABody keeps the deadline of the body from ending the call.
func TestACallMayTakeLongerThanABody(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, func(ctx context.Context, _ Request) Answer {
		select {
		case <-ctx.Done():
			return Answer{Error: context.Cause(ctx).Error()}
		case <-time.After(bodyTime + time.Second):
			return Answer{OK: true}
		}
	})
	if got := mustAsk(t, s, body(id, "wait", 1)); !got.Result.Success {
		t.Errorf("got %s", got.text)
	}
}

func TestHalfARequestIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	c := dial(t, s)
	whole := good(s, body(id, "greet", 1)).String()
	_, _ = io.WriteString(c, whole[:len(whole)-1])
	_ = c.(*net.TCPConn).CloseWrite()
	if got := receive(t, c, "POST"); got.status != 400 {
		t.Errorf("got %d %s", got.status, got.text)
	}
}

func TestTheShortFormNeedsTheToken(t *testing.T) {
	t.Parallel()
	s := open(t)
	const request = `{"tool_name":"greet","params_json":"{\"n\":3}"}`
	short := func(token string, changes ...func(*knock)) said {
		k := good(s, request)
		k.target = executePath
		if token != "" {
			k.headers = append(k.headers, "Authorization: Bearer "+token)
		}
		for _, change := range changes {
			change(&k)
		}
		return send(t, s, k)
	}
	check := func(what string, got said, isError bool, message string) {
		t.Helper()
		if got.status != 200 || got.IsError == nil || *got.IsError != isError || got.Message != message {
			t.Errorf("%s: %d %s", what, got.status, got.text)
		}
	}
	if got := short(""); got.status != 401 {
		t.Errorf("without token: %d", got.status)
	}
	if got := short("x"); got.status != 401 {
		t.Errorf("with a wrong token: %d", got.status)
	}
	if got := short("", func(k *knock) { k.method = "GET" }); got.status != 401 {
		t.Errorf("GET without token: %d", got.status)
	}
	if got := short(s.token, func(k *knock) { k.method = "GET" }); got.status != 405 {
		t.Errorf("GET: %d", got.status)
	}
	for _, wrong := range []string{
		`{}`, `{"tool_name":"greet"}`, `{"tool_name":"greet","params_json":"[]"}`, `{"tool_name":7,"params_json":"{}"}`, `x`,
	} {
		if got := short(s.token, setBody(wrong)); got.status != 400 {
			t.Errorf("%s: %d %s", wrong, got.status, got.text)
		}
	}
	check("none in flight", short(s.token), true, "unknown invocation id; the tool call may have completed or timed out")
	_, end := s.Begin(t.Context(), Invocation{Dispatch: echo})
	check("one in flight", short(s.token), false, "greet 3")
	_, other := s.Begin(t.Context(), Invocation{Dispatch: echo})
	if got := short(s.token); got.IsError == nil || !*got.IsError || !strings.Contains(got.Message, "several tool calls are in flight") {
		t.Errorf("two in flight: %s", got.text)
	}
	end()
	other()
	begin(t, s, func(context.Context, Request) Answer { return Answer{Text: "t", Error: "declined"} })
	check("a tool that fails", short(s.token), true, "declined")
}
