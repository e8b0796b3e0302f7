package studio

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTokenOpensThePageAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	once := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for _, address := range []string{"/?token=" + s.token, "/" + s.token, "/" + s.token + "/", "/" + s.token + "/any/more", "/?token=" + s.token} {
		r := get(t, once, "http://"+s.host()+address)
		if r.status != http.StatusSeeOther || r.header.Get("Location") != s.guard.cookie.Path || strings.Contains(r.header.Get("Location"), s.token) {
			t.Errorf("%s: %+v", address, r)
		}
		cookies, err := http.ParseSetCookie(r.header.Get("Set-Cookie"))
		if err != nil || !cookies.HttpOnly || cookies.SameSite != http.SameSiteStrictMode || cookies.Name != fmt.Sprintf("trailblaze_%d", s.port) || cookies.Domain != "" {
			t.Errorf("%s: cookie %+v, %v", address, cookies, err)
		}
	}
	c := s.browser(t)
	for _, name := range []string{"", "index.html"} {
		r := get(t, c, s.page(name))
		if r.status != http.StatusOK || r.body != "the page" || r.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%q: %+v", name, r)
		}
	}
	zip, err := gzip.NewReader(strings.NewReader(get(t, c, s.page("app.js"), "Accept-Encoding: gzip, br").body))
	if err != nil {
		t.Fatal(err)
	}
	zipped, _ := io.ReadAll(zip)
	for accepted, body := range map[string]string{"identity": get(t, c, s.page("app.js"), "Accept-Encoding: identity").body, "gzip": string(zipped)} {
		if body != "code" {
			t.Errorf("app.js, %s: %q", accepted, body)
		}
	}
	if r := get(t, c, s.page("app.js")); r.body != "code" || r.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("app.js: %+v", r)
	}
	if r := get(t, c, s.page("past/a%20b_1/before.png")); r.body != "file /past/a b_1/before.png" {
		t.Errorf("past: %+v", r)
	}
	for _, name := range []string{"secret.go", "none.js", "past"} {
		if r := get(t, c, s.page(name)); r.status != http.StatusNotFound {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Cookies do not know ports. A client that keeps to RFC 6265 must send ours to no other server on this machine, which may
// be one of another user.
func TestCookieGoesToNoOtherServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	c := s.browser(t)
	if sent := c.Jar.Cookies(mustParse(t, s.page("app.js"))); len(sent) != 1 {
		t.Errorf("to this server: %v", sent)
	}
	for _, address := range []string{"http://127.0.0.1:1/", "http://127.0.0.1:1/app.js", "http://127.0.0.1/", "http://localhost:1/"} {
		if sent := c.Jar.Cookies(mustParse(t, address)); len(sent) > 0 {
			t.Errorf("%s gets %v", address, sent)
		}
	}
}

func TestLinkOfAnotherPageOpensThePage(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}
	r := get(t, c, URL(s.port, s.token), "Sec-Fetch-Site: cross-site")
	if r.status != http.StatusOK || !strings.Contains(r.body, `content="0; url=`+s.guard.cookie.Path+`"`) || r.header.Get("Set-Cookie") == "" {
		t.Errorf("%+v", r)
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	c := s.browser(t)
	for _, address := range []string{s.page(""), s.page("none"), s.page("past/x"), "http://" + s.host() + "/"} {
		header := get(t, c, address).header
		policy := header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "connect-src 'self' ws://" + s.host() + ";"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: %s is missing in %s", address, part, policy)
			}
		}
		want := map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
		}
		for name, value := range want {
			if got := header.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", address, name, got, value)
			}
		}
	}
}

// TestHostileRequests sends what the page and its browser do not send. All that lack the token and the cookie, or come
// from another page, get the same answer.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	host, cookie, folder := "Host: "+s.host()+"\r\n", s.cookieHeader(), s.guard.cookie.Path
	const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	ours := "Origin: http://" + s.host() + "\r\n"
	request := func(line string, headers ...string) string {
		return line + " HTTP/1.1\r\n" + strings.Join(headers, "") + "\r\n"
	}
	forbidden := s.raw(t, request("GET /", host))
	if forbidden.status != http.StatusForbidden {
		t.Fatalf("without a token: %+v", forbidden)
	}
	for name, tc := range map[string]struct {
		request string
		status  int
	}{
		"no token, file":      {request("GET /app.js", host), 403},
		"no token, folder":    {request("GET "+folder, host), 403},
		"no token, past":      {request("GET /past/x", host), 403},
		"no token, socket":    {request("GET "+folder+"socket", host, upgrade, ours), 403},
		"no token, POST":      {request("POST /", host), 403},
		"no token, OPTIONS":   {request("OPTIONS /", host, "Origin: https://evil.example\r\n", "Access-Control-Request-Method: GET\r\n"), 403},
		"no token, OPTIONS *": {request("OPTIONS *", host), 403},
		"empty token":         {request("GET /?token=", host), 403},
		"wrong token":         {request("GET /?token="+strings.Repeat("0", len(s.token)), host), 403},
		"short token":         {request("GET /?token="+s.token[:len(s.token)-1], host), 403},
		"longer token":        {request("GET /?token="+s.token+"0", host), 403},
		"upper-case token":    {request("GET /?token="+strings.ToUpper(s.token), host), 403},
		"token in the cookie": {request("GET /", host, "Cookie: "+s.guard.cookie.Name+"="+s.token+"\r\n"), 403},
		"token in a header":   {request("GET /", host, "Authorization: Bearer "+s.token+"\r\n"), 403},
		"second token":        {request("GET /?token=x&token="+s.token, host), 403},
		"cookie of another port": {
			request("GET "+folder, host, fmt.Sprintf("Cookie: trailblaze_%d=%s\r\n", s.port+1, s.guard.cookie.Value)), 403,
		},
		"wrong cookie":                {request("GET "+folder, host, "Cookie: "+s.guard.cookie.Name+"=x\r\n"), 403},
		"rebound name":                {request("GET /?token="+s.token, "Host: evil.example:"+fmt.Sprint(s.port)+"\r\n", cookie), 403},
		"rebound name, no port":       {request("GET "+folder, "Host: 127.0.0.1\r\n", cookie), 403},
		"Host of another port":        {request("GET "+folder, "Host: 127.0.0.1:1\r\n", cookie), 403},
		"Host with a dot":             {request("GET "+folder, "Host: localhost.:"+fmt.Sprint(s.port)+"\r\n", cookie), 403},
		"absolute URL of others":      {request("GET http://evil.example/", host, cookie), 403},
		"foreign origin":              {request("GET "+folder, host, cookie, "Origin: https://evil.example\r\n"), 403},
		"null origin":                 {request("GET "+folder, host, cookie, "Origin: null\r\n"), 403},
		"origin of another port":      {request("GET "+folder, host, cookie, "Origin: http://127.0.0.1:1\r\n"), 403},
		"https origin":                {request("GET "+folder, host, cookie, "Origin: https://"+s.host()+"\r\n"), 403},
		"two origins":                 {request("GET "+folder, host, cookie, ours, "Origin: https://evil.example\r\n"), 403},
		"origin of the other name":    {request("GET "+folder, host, cookie, "Origin: http://"+s.guard.hosts[1]+"\r\n"), 403},
		"foreign origin, token":       {request("GET /?token="+s.token, host, "Origin: https://evil.example\r\n"), 403},
		"page of another port":        {request("GET "+folder, host, cookie, "Sec-Fetch-Site: same-site\r\n"), 403},
		"page of another site":        {request("GET "+folder, host, cookie, "Sec-Fetch-Site: cross-site\r\n"), 403},
		"socket without origin":       {request("GET "+folder+"socket", host, cookie, upgrade), 403},
		"socket, null origin":         {request("GET "+folder+"socket", host, cookie, upgrade, "Origin: null\r\n"), 403},
		"socket, foreign origin":      {request("GET "+folder+"socket", host, cookie, upgrade, "Origin: https://evil.example\r\n"), 403},
		"socket, Upgrade in disguise": {request("GET "+folder+"socket", host, cookie, strings.ReplaceAll(upgrade, "websocket", "WebSocket , h2c")), 403},

		"POST":                   {request("POST "+folder, host, cookie, ours), 405},
		"HEAD":                   {request("HEAD "+folder, host, cookie), 405},
		"OPTIONS":                {request("OPTIONS "+folder, host, cookie, ours, "Access-Control-Request-Method: GET\r\n"), 405},
		"CONNECT":                {request("CONNECT "+s.host(), host, cookie), 405},
		"TRACE":                  {request("TRACE "+folder, host, cookie), 405},
		"POST with a token":      {request("POST /?token="+s.token, host, "Content-Length: 0\r\n"), 405},
		"other method":           {request("get "+folder, host, cookie), 405},
		"traversal":              {request("GET "+folder+"past/../../server.go", host, cookie), 404},
		"encoded traversal":      {request("GET "+folder+"past/%2e%2e/%2e%2e/etc/passwd", host, cookie), 404},
		"encoded slashes":        {request("GET "+folder+"past/..%2f..%2fetc%2fpasswd", host, cookie), 404},
		"twice encoded":          {request("GET "+folder+"past%2f%2e%2e%2fx", host, cookie), 404},
		"backslashes":            {request(`GET `+folder+`past/..\..\x`, host, cookie), 404},
		"encoded backslashes":    {request("GET "+folder+"past/..%5c..%5cx", host, cookie), 404},
		"drive":                  {request("GET "+folder+"past/C:/x", host, cookie), 404},
		"NUL":                    {request("GET "+folder+"past/x%00.png", host, cookie), 404},
		"not UTF-8":              {request("GET "+folder+"past/%ff", host, cookie), 404},
		"two slashes":            {request("GET "+folder+"past//x", host, cookie), 404},
		"slash at the end":       {request("GET "+folder+"past/x/", host, cookie), 404},
		"file of no kind":        {request("GET "+folder+"secret.go", host, cookie), 404},
		"socket without upgrade": {request("GET "+folder+"socket", host, cookie), 426},
		"socket, old version":    {request("GET "+folder+"socket", host, cookie, ours, strings.ReplaceAll(upgrade, "13", "8")), 400},
		"no Host":                {request("GET "+folder, cookie), 400},
		"two Hosts":              {request("GET "+folder, host, "Host: evil.example\r\n", cookie), 400},
		"header without a colon": {request("GET "+folder, host, cookie, "x\r\n"), 400},
		"huge header":            {request("GET "+folder, host, cookie, "X: "+strings.Repeat("x", 1<<20)+"\r\n"), 431},
		"huge path":              {request("GET /"+strings.Repeat("x", 1<<20), host, cookie), 431},
		"many headers":           {request("GET "+folder, host, cookie, strings.Repeat("X: x\r\n", 100_000)), 431},
		"HTTP/2":                 {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403},
		"TLS":                    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		"HTTP/0.9":               {"GET /\r\n\r\n", 400},
		"HTTP/1.0":               {"GET " + folder + " HTTP/1.0\r\n" + host + cookie + "\r\n", 200},
	} {
		got := s.raw(t, tc.request)
		if got.status != tc.status {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, tc.status, got.body)
		}
		for header := range got.header {
			if strings.HasPrefix(header, "Access-Control-") {
				t.Errorf("%s: the answer has %s", name, header)
			}
		}
		if strings.Contains(got.body, s.token) || strings.Contains(got.body, s.guard.cookie.Value) || got.status != 200 && got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: the answer has a secret: %+v", name, got)
		}
		if tc.status == http.StatusForbidden && !strings.HasPrefix(tc.request, "PRI") {
			if diff := cmp.Diff(forbidden.body, got.body); diff != "" {
				t.Errorf("%s: the answer tells more than others:\n%s", name, diff)
			}
		}
	}
	if begun, _, _ := s.desk.noted(); len(begun) > 0 {
		t.Errorf("requests reached the desk: %q", begun)
	}
	if r := get(t, s.browser(t), s.page("")); r.status != http.StatusOK {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestConnectionsThatSendNothingLockNobodyOut(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	c, page := s.browser(t), s.connect(t)
	var idle []net.Conn
	for range 1000 {
		idle = append(idle, dialRaw(t, s))
	}
	if r := get(t, c, s.page("")); r.status != http.StatusOK {
		t.Errorf("during the flood: %+v", r)
	}
	if r := page.ask(t, "echo", ""); !r.OK {
		t.Errorf("the page that was connected: %+v", r)
	}
	for _, conn := range idle[:len(idle)-maxUnauthenticated] {
		if !isClosed(conn) {
			t.Fatal("the oldest connections stayed open")
		}
	}
}

func TestConnectionsThatSendSlowlyAreClosed(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *serverOptions) { o.limits.header, o.limits.idle = 50*time.Millisecond, 50*time.Millisecond })
	for name, start := range map[string]string{
		"nothing":           "",
		"half a line":       "GET / HT",
		"half the headers":  "GET / HTTP/1.1\r\nHost: " + s.host() + "\r\nX: ",
		"nothing afterward": "GET / HTTP/1.1\r\nHost: " + s.host() + "\r\n\r\n",
	} {
		conn := dialRaw(t, s)
		if _, err := io.WriteString(conn, start); err != nil {
			t.Fatal(err)
		}
		if !isClosed(conn) {
			t.Errorf("%s: the connection stayed open", name)
		}
	}
}

// upgrade opens a socket by hand, for what no client sends.
func (s *testServer) upgrade(t *testing.T) net.Conn {
	t.Helper()
	conn := dialRaw(t, s)
	fmt.Fprintf(conn, "GET %ssocket HTTP/1.1\r\nHost: %s\r\n%sOrigin: http://%[2]s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", s.guard.cookie.Path, s.host(), s.cookieHeader())
	answer := make([]byte, 12)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 101" {
		t.Fatalf("%q, %v", answer, err)
	}
	return conn
}

// frame returns a frame of a client, with a length that its content need not have.
func frame(opcode byte, length uint64, content string) string {
	header := []byte{opcode, 0x80 | 127}
	header = binary.BigEndian.AppendUint64(header, length)
	return string(append(header, 0, 0, 0, 0)) + content // a mask of zeros changes nothing
}

func TestHostileFramesCloseOnlyTheirSocket(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *serverOptions) { o.limits.ping = 100 * time.Millisecond })
	for name, sent := range map[string]string{
		"giant frame":       frame(0x81, 1<<40, "x"),
		"negative length":   frame(0x81, 1<<63, "x"),
		"9 MiB":             frame(0x81, 9<<20, strings.Repeat("x", 9<<20)),
		"endless fragments": frame(0x01, 1<<20, strings.Repeat("x", 1<<20)) + strings.Repeat(frame(0x00, 1<<20, strings.Repeat("x", 1<<20)), 9),
		"half a frame":      frame(0x81, 100, "x"),
		"nothing at all":    "",
		"no mask":           "\x81\x02{}",
		"reserved bits":     frame(0xf1, 2, "{}"),
		"reserved opcode":   frame(0x83, 2, "{}"),
		"long ping":         frame(0x89, 200, strings.Repeat("x", 200)),
		"continuation":      frame(0x80, 2, "{}"),
		"not a frame":       strings.Repeat("GET / HTTP/1.1\r\n\r\n", 10),
		"invalid close":     frame(0x88, 1, "x"),
	} {
		conn := s.upgrade(t)
		_, _ = io.WriteString(conn, sent) // fails if the server has closed it
		if !isClosed(conn) {
			t.Errorf("%s: the socket stayed open", name)
		}
	}
	eventually(t, "no page is watched", func() bool {
		open, _, _ := s.count()
		return open == 0
	})
	page := s.connect(t)
	if r := page.ask(t, "echo", ""); !r.OK {
		t.Errorf("afterwards: %+v", r)
	}
}
