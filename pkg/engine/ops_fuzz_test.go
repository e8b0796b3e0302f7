package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// newBareEngine returns an engine without a VM, for operations that do not need one.
func newBareEngine(tb testing.TB) *Engine {
	tb.Helper()
	e := &Engine{spec: Spec{Dir: tb.TempDir()}, tasks: newTaskQueue(), vm: &vm{heap: heap{limit: math.MaxInt}}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	e.ctx = ctx
	tb.Cleanup(func() {
		cancel()
		e.handles.closeAll()
		e.goroutines.Wait()
	})
	return e
}

// newTestCall returns a call with arguments.
func newTestCall(e *Engine, args ...any) *call {
	return &call{Engine: e, ctx: e.ctx, args: args, async: true}
}

func FuzzURL(f *testing.F) {
	e := newBareEngine(f)
	for _, seed := range []string{
		"http://user:pass@example.com:8080/a/../b?q#h", "file:///C:/x", "mailto:a@b", "http://[::1]/", "http://%zz", "http://x/\xff", "x://",
		"http://`/%zz#%", "http:\\\\x", "//", "data:,\x00", "http://0x7f.1", "a:/..//b", "http://[1::2::3]", "http://x:65536", "?", "file:C|/",
	} {
		f.Add(seed, "")
		f.Add(seed, "http://a/b/c")
	}
	f.Fuzz(func(t *testing.T, input, base string) {
		var from any
		if base != "" {
			from = base
		}
		first, _ := parseURL(newTestCall(e, input, from))
		if first == nil {
			return
		}
		parts := strings.Split(first.(string), "\n")
		if len(parts) != 10 {
			t.Fatalf("%q on %q has %d parts: %q", input, base, len(parts), parts)
		}
		if again, _ := parseURL(newTestCall(e, parts[0], nil)); again != first && !strings.HasPrefix(parts[1], "file") {
			t.Errorf("%q with base %q is %q, which parses to %q", input, base, first, again)
		}
		for _, part := range []string{"protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"} {
			changed, _ := setURL(newTestCall(e, parts[0], part, input))
			if n := strings.Count(changed.(string), "\n"); n != 9 {
				t.Errorf("%s of %q set to %q: %q", part, parts[0], input, changed)
			}
		}
		if parts[1] == "http:" || parts[1] == "https:" {
			if _, err := requestURL(parts[0]); err != nil {
				t.Errorf("requestURL(%q): %v", parts[0], err)
			}
		}
	})
}

// Decoding in pieces gives the same valid text as decoding at once.
func FuzzTextDecoder(f *testing.F) {
	e := newBareEngine(f)
	for _, seed := range []string{"", "a", "h\u00e9", "\xff", "\xe2\x82", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x00\xd8", "\x3d\xd8\x00\xde"} {
		for _, encoding := range []string{"utf-8", "utf-16le", "utf-16be", "windows-1252"} {
			f.Add([]byte(seed), encoding, 1)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, encoding string, at int) {
		decode := func(data []byte, last bool) (string, int, bool) {
			out, err := decodeText(newTestCall(e, encoding, data, last))
			if err != nil {
				t.Fatal(err)
			}
			parts := out.([]any)
			return textOf(parts[0]), int(parts[1].(float64)), parts[2].(bool)
		}
		whole, left, valid := decode(data, true)
		if left != 0 || !utf8.ValidString(whole) {
			t.Errorf("%x as %s: rest %d, text %q", data, encoding, left, whole)
		}
		if at < 0 || at > len(data) {
			return
		}
		first, left, ok := decode(data[:at], false)
		second, _, also := decode(data[at-left:], true)
		if first+second != whole || (ok && also) != valid {
			t.Errorf("%x as %s, split at %d: %q and %q, valid %t and %t; at once: %q, %t", data, encoding, at, first, second, ok, also, whole, valid)
		}
	})
}

// textOf returns a text that is the result of an operation.
func textOf(x any) string {
	if text, ok := x.(scriptText); ok {
		return string(text)
	}
	return x.(string)
}

func FuzzBinaryEncodings(f *testing.F) {
	for _, seed := range []string{"", "a", "\x00\xff", "hello", "\xfb\xff\xfe"} {
		f.Add([]byte(seed), seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		for name, back := range map[string][]byte{
			"base64":    decodeBase64(base64.StdEncoding.EncodeToString(data)),
			"base64url": decodeBase64(base64.RawURLEncoding.EncodeToString(data)),
			"hex":       decodeHex(hex.EncodeToString(data)),
			"latin1":    encodeLatin1(decodeLatin1(string(data))),
		} {
			if !bytes.Equal(back, data) {
				t.Errorf("%x encoded and decoded as %s is %x", data, name, back)
			}
		}
		decodeBase64(text) // must not panic
		decodeHex(text)
		encodeLatin1(text)
	})
}

// No path causes a panic, each error has a code and a message, and relative paths are relative to the engine's
// directory.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"", "x", "a\x00b", "../x", strings.Repeat("long/", 2000), strings.Repeat("n", 300), "\xff\xfe", ".", "nul", "x/", "//x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if filepath.IsAbs(path) || strings.Contains(path, "..") {
			return // stay in the test's directory
		}
		e := newBareEngine(t)
		ours := t.TempDir()
		t.Chdir(ours)
		_, jobs := fileOps()
		for name, args := range map[string][]any{
			"fs.readAll": {path, 0.0, true}, "fs.stat": {path}, "fs.readdir": {path}, "fs.mkdir": {path, true, 511.0}, "fs.mkdtemp": {path},
			"fs.copy": {path, path + "2", false}, "fs.rename": {path, path + "3"}, "fs.unlink": {path}, "fs.open": {path, 577.0, 438.0},
			"fs.utimes": {path, 1e300, -1e300}, "fs.truncate": {path, 1e300}, "fs.symlink": {path, path + "4"}, "fs.access": {path, 7.0},
		} {
			_, err := jobs[name](newTestCall(e, args...))
			if h, ok := errors.AsType[*hostError](err); err != nil && (!ok || h.Code == "" || h.Message == "") {
				t.Errorf("%s %q: %#v", name, path, err)
			}
			if left, err := os.ReadDir(ours); err != nil || len(left) > 0 {
				t.Fatalf("%s %q created %v outside of the engine's directory (%v)", name, path, left, err)
			}
		}
	})
}

// Whatever a server sends, a script gets a response or an error.
func FuzzHTTPResponses(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", "nonsense", "",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nx\x9c", "HTTP/1.1 999 \xff\r\nX: \xff\x00\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n", "HTTP/0.9\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		e := newBareEngine(t)
		e.handles.transport = newTransport(nil)
		e.handles.transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return respondingConn(answer), nil }
		id, err := openExchange(newTestCall(e))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = closeExchange(newTestCall(e, id)) }()
		head, err := sendRequest(newTestCall(e, id, "GET", "http://x/", []any{"X-A", "b"}, nil, false))
		if err == nil {
			if len(head.([]any)) != 3 {
				t.Errorf("%q: result %v", answer, head)
			}
			_, err = readResponseWhole(newTestCall(e, id))
		}
		if h, ok := errors.AsType[*hostError](err); err != nil && (!ok || h.Code == "") {
			t.Errorf("%q: %#v", answer, err)
		}
	})
}

// respondingConn returns a connection that sends the same bytes after each request, and closes.
func respondingConn(answer []byte) net.Conn {
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		_ = theirs.SetDeadline(time.Now().Add(testTimeout))
		r := bufio.NewReader(theirs)
		for line, err := r.ReadString('\n'); err == nil && line != "\r\n"; line, err = r.ReadString('\n') {
			_ = line
		}
		_, _ = theirs.Write(answer)
	}()
	return ours
}

// No header value can add another header.
func FuzzResponseHeaders(f *testing.F) {
	for _, seed := range []string{"", "a", "a\r\nSet-Cookie: x=1", "h\u00e9", "\u0141", "\x00", "a\nb"} {
		f.Add("X-Name", seed)
		f.Add("content-length", seed)
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		h := http.Header{}
		setResponseHeaders(h, responsePiece{status: 200, headers: []any{name, value}, data: []byte("x"), last: true})
		var wire bytes.Buffer
		response := &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: http.NoBody, ContentLength: -1}
		if err := response.Write(&wire); err != nil {
			return
		}
		if head, _, _ := strings.Cut(wire.String(), "\r\n\r\n"); strings.Contains(strings.ToLower(head), "\nset-cookie:") && !strings.EqualFold(name, "set-cookie") {
			t.Errorf("%q: %q has become %q", name, value, head)
		}
	})
}
