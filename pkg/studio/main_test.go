package studio

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// waitLimit bounds every wait of these tests.
const waitLimit = 90 * time.Second

// fakeDesk is a handler that notes what it is asked for.
type fakeDesk struct {
	release chan struct{} // closed when the requests "wait" may end

	mu       sync.Mutex
	greeting []push
	begun    []string
	ended    []string // what the requests "wait" ended with
	counts   []int    // of watched
	keeps    bool
}

func newFakeDesk() *fakeDesk { return &fakeDesk{release: make(chan struct{})} }

func (d *fakeDesk) greet() []push {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.greeting
}

func (d *fakeDesk) begin(name string, params json.RawMessage) func(context.Context) (any, error) {
	d.mu.Lock()
	d.begun = append(d.begun, name)
	d.mu.Unlock()
	return func(ctx context.Context) (any, error) {
		switch name {
		case "echo":
			return params, nil
		case "wait":
			select {
			case <-d.release:
			case <-ctx.Done():
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.ended = append(d.ended, fmt.Sprint(ctx.Err()))
			return nil, ctx.Err()
		case "panic":
			panic("oh")
		case "problems":
			return nil, fault.Problems{{Line: 2, Column: 3, Message: "secret is wrong", Hint: "leave secret out"}}
		case "nan":
			return func() {}, nil
		case "act", "look":
			return nil, nil
		}
		return nil, fault.New(fault.InvalidArguments, "look for secret", "the request %q is not known to secret", name)
	}
}

func (d *fakeDesk) watched(pages int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts = append(d.counts, pages)
}

func (d *fakeDesk) file(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "file "+r.URL.Path)
}

func (d *fakeDesk) unsaved() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keeps
}

func (d *fakeDesk) keep(unsaved bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keeps = unsaved
}

func (d *fakeDesk) noted() (begun, ended []string, counts []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.begun), slices.Clone(d.ended), slices.Clone(d.counts)
}

// testServer is a server that runs until the end of the test.
type testServer struct {
	*server
	desk   *fakeDesk
	cancel context.CancelFunc
	done   chan error
}

func startServer(tb testing.TB, change func(*serverOptions)) *testServer {
	tb.Helper()
	return startServerWith(tb, newFakeDesk(), change)
}

// zipped is a file that is compressed with gzip.
func zipped(text string) *fstest.MapFile {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, _ = io.WriteString(zip, text) // a buffer takes everything
	_ = zip.Close()
	return &fstest.MapFile{Data: out.Bytes()}
}

func startServerWith(tb testing.TB, d *fakeDesk, change func(*serverOptions)) *testServer {
	tb.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	o := serverOptions{
		token: tool.NewCapability(), port: portOf(l), now: time.Now, limits: defaultLimits(), endReason: "trailblaze studio has ended",
		files:  fstest.MapFS{"index.html.gz": zipped("the page"), "app.js.gz": zipped("code"), "app.css.gz": zipped("styles"), "secret.go.gz": zipped("source")},
		output: func(text string) string { return strings.ReplaceAll(text, "secret", "{{SECRET}}") },
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	s := &testServer{server: newServer(o), desk: d, cancel: cancel, done: make(chan error, 1)}
	go func() { s.done <- s.serve(ctx, l, d) }()
	tb.Cleanup(func() { s.end(tb) })
	return s
}

// end ends the server, and waits until everything has ended that it began.
func (s *testServer) end(tb testing.TB) {
	tb.Helper()
	s.cancel()
	s.wait(tb)
}

func (s *testServer) wait(tb testing.TB) {
	tb.Helper()
	select {
	case err := <-s.done:
		s.done <- err
		if err != nil {
			tb.Errorf("serve: %v", err)
		}
	case <-time.After(waitLimit):
		tb.Fatalf("serve did not return within %s", waitLimit)
	}
}

func (s *testServer) host() string { return s.guard.hosts[0] }

// browser returns a client that opened the page.
func (s *testServer) browser(tb testing.TB) *http.Client {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	c := &http.Client{Transport: transport, Timeout: waitLimit, Jar: jar}
	if r := get(tb, c, URL(s.port, s.token)); r.status != http.StatusOK || r.body != "the page" {
		tb.Fatalf("the page: %+v", r)
	}
	return c
}

// page returns the address of something in the folder of the page.
func (s *testServer) page(name string) string {
	return "http://" + s.host() + s.guard.cookie.Path + name
}

type response struct {
	status int
	header http.Header
	body   string
}

func get(tb testing.TB, c *http.Client, address string, headers ...string) response {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, address, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := c.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	return read(tb, answer)
}

func read(tb testing.TB, r *http.Response) response {
	tb.Helper()
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response{r.StatusCode, r.Header, string(body)}
}

func dialRaw(tb testing.TB, s *testServer) net.Conn {
	tb.Helper()
	c, err := net.DialTimeout("tcp", s.host(), waitLimit)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(waitLimit))
	return c
}

// raw sends what looks like a request and returns the answer, with status 0 if there is none.
func (s *testServer) raw(tb testing.TB, request string) response {
	tb.Helper()
	c := dialRaw(tb, s)
	defer c.Close()
	_, _ = io.WriteString(c, request) // fails if the server answers before the end
	method, _, _ := strings.Cut(request, " ")
	answer, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return response{}
	}
	return read(tb, answer)
}

func (s *testServer) cookieHeader() string {
	return "Cookie: " + s.guard.cookie.Name + "=" + s.guard.cookie.Value + "\r\n"
}

// testPage is a page that reads what it is sent when it is asked to.
type testPage struct {
	*websocket.Conn
	id int
}

// connect opens a page.
func (s *testServer) connect(tb testing.TB) *testPage {
	tb.Helper()
	conn, answer, err := websocket.Dial(tb.Context(), "ws://"+s.host()+s.guard.cookie.Path+"socket", &websocket.DialOptions{
		HTTPHeader: http.Header{
			"Cookie": {s.guard.cookie.Name + "=" + s.guard.cookie.Value}, "Origin": {"http://" + s.host()},
		},
	})
	if answer != nil && answer.Body != nil {
		_ = answer.Body.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	return &testPage{Conn: conn}
}

// message is what a page is sent.
type message struct {
	On       string
	Re       *int
	OK       bool
	Result   json.RawMessage
	Error    *failure
	Controls *bool
	Pages    int
	Version  int
	Text     string
	Why      string
	Seq      int
	Lines    []logLine
	picture  []byte
	raw      string
}

// next returns the next message. It fails the test if the socket is closed.
func (p *testPage) next(tb testing.TB) message {
	tb.Helper()
	m, err := p.read(tb)
	if err != nil {
		tb.Fatalf("no message: %v", err)
	}
	return m
}

func (p *testPage) read(tb testing.TB) (message, error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitLimit)
	defer cancel()
	kind, data, err := p.Read(ctx)
	if err != nil {
		return message{}, err
	}
	var m message
	if kind == websocket.MessageBinary {
		return message{On: "binary", picture: data}, nil
	}
	if err := json.Unmarshal(data, &m); err != nil {
		tb.Fatalf("%s: %v", data, err)
	}
	m.raw = string(data)
	return m, nil
}

// until returns the first message that fits.
func (p *testPage) until(tb testing.TB, fits func(message) bool) message {
	tb.Helper()
	for {
		if m := p.next(tb); fits(m) {
			return m
		}
	}
}

// state waits for a state after which the page controls or not, among a number of pages.
func (p *testPage) state(tb testing.TB, controls bool, pages int) {
	tb.Helper()
	p.until(tb, func(m message) bool { return m.On == onState && *m.Controls == controls && m.Pages == pages })
}

func (p *testPage) send(tb testing.TB, kind websocket.MessageType, data string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitLimit)
	defer cancel()
	if err := p.Write(ctx, kind, []byte(data)); err != nil {
		tb.Fatal(err)
	}
}

// request sends a request with fields such as "visible": true.
func (p *testPage) request(tb testing.TB, do, fields string) (id int) {
	tb.Helper()
	p.id++
	p.send(tb, websocket.MessageText, fmt.Sprintf(`{"id":%d,"do":%q%s}`, p.id, do, fields))
	return p.id
}

// ask sends a request and returns the reply to it.
func (p *testPage) ask(tb testing.TB, do, fields string) message {
	tb.Helper()
	id := p.request(tb, do, fields)
	return p.until(tb, func(m message) bool { return m.Re != nil && *m.Re == id })
}

func eventually(tb testing.TB, what string, happened func() bool) {
	tb.Helper()
	deadline := time.Now().Add(waitLimit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		if time.Now().After(deadline) {
			tb.Fatalf("timed out after %s waiting for: %s", waitLimit, what)
		}
		<-tick.C
	}
}

// isClosed waits until the other side has closed a connection, and reports whether it did.
func isClosed(c net.Conn) bool {
	_, err := io.Copy(io.Discard, c)
	timeout, isTimeout := errors.AsType[net.Error](err)
	return !isTimeout || !timeout.Timeout()
}

func mustParse(tb testing.TB, address string) *url.URL {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}
