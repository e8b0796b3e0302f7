package studio

import (
	"container/list"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

const maxHeader = 16 << 10

// guard decides which requests are answered (specification, section 19.2).
//
// A request with the token gets a cookie. Browsers send the cookies of 127.0.0.1 to every port, also to a server of
// another user there, so the cookie is for a folder with a random name: only this server is asked for what is in it. All
// addresses in the page are relative to that folder.
type guard struct {
	token  string
	cookie http.Cookie
	hosts  []string // accepted values of the Host header
}

func newGuard(port int, token string) guard {
	return guard{
		token: token,
		cookie: http.Cookie{
			Name: fmt.Sprintf("trailblaze_%d", port), Value: tool.NewCapability(), Path: "/" + rand.Text() + "/",
			HttpOnly: true, SameSite: http.SameSiteStrictMode,
		},
		hosts: []string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("localhost:%d", port)},
	}
}

// admit returns the name of what a request may get: a path without a slash at its start. It answers other requests
// itself, those without the token or the cookie all alike. It calls authenticated for the others.
func (g *guard) admit(w http.ResponseWriter, r *http.Request, authenticated func()) (name string, ok bool) {
	g.setHeaders(w, r)
	hasToken := g.hasToken(r)
	switch {
	case !g.isOurs(r) || !hasToken && !g.hasCookie(r):
		http.Error(w, "403 forbidden\n\nOpen the URL that `trailblaze studio` printed; it has a token.", http.StatusForbidden)
		return "", false
	case r.Method != http.MethodGet:
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
		return "", false
	}
	authenticated()
	if hasToken {
		g.welcome(w, r)
		return "", false
	}
	name = strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, g.cookie.Path), "/")
	if name == "" {
		name = "index.html"
	}
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") {
		http.Error(w, "404 not found", http.StatusNotFound)
		return "", false
	}
	return name, true
}

// setHeaders sets those of every answer.
func (g *guard) setHeaders(w http.ResponseWriter, r *http.Request) {
	socket := ""
	if slices.Contains(g.hosts, r.Host) {
		socket = " ws://" + r.Host // 'self' does not mean sockets in all browsers
	}
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; " +
			"img-src 'self' blob: data:; font-src 'self'; connect-src 'self'" + socket + "; frame-ancestors 'none'; " +
			"base-uri 'none'; form-action 'none'",
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control": "no-store",
	} {
		w.Header().Set(name, value)
	}
}

// isOurs reports whether a request is for this server, rather than for a name that another site has for 127.0.0.1, and
// comes from the page or from no page at all. Browsers name the origin of every socket.
func (g *guard) isOurs(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	isSocket := r.Header.Get("Upgrade") != ""
	return slices.Contains(g.hosts, r.Host) && (len(origins) == 0 && !isSocket ||
		len(origins) == 1 && origins[0] == "http://"+r.Host)
}

func (g *guard) hasToken(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	inPath, inQuery := equal(first, g.token), equal(r.URL.Query().Get("token"), g.token)
	return inPath || inQuery
}

// hasCookie reports whether a request has the cookie, and was not made by the page of another server on this machine.
func (g *guard) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(g.cookie.Name)
	return err == nil && equal(c.Value, g.cookie.Value) && !fromElsewhere(r)
}

// equal reports whether two texts are the same. The time that it takes says nothing about them.
func equal(given, want string) bool {
	x, y := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// fromElsewhere reports whether another page has the browser make a request.
func fromElsewhere(r *http.Request) bool {
	return !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site"))
}

// welcome sets the cookie and has the browser load the page, at an address without the token. After a redirection, a
// browser still takes a request to come from the page with the link, if there was one, and sends no cookie. So this page
// is the link then.
func (g *guard) welcome(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &g.cookie)
	if !fromElsewhere(r) {
		w.Header().Set("Location", g.cookie.Path)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><link rel=icon href=\"data:,\"><meta http-equiv=refresh content=\"0; url=%s\"><title>trailblaze studio</title>", g.cookie.Path)
}

// maxUnauthenticated is how many connections may be open on which nobody has shown the token or the cookie. Any program
// on the machine can connect.
const maxUnauthenticated = 128

// connections closes the oldest unauthenticated connection for a new one when there are too many. The zero value is
// ready.
type connections struct {
	mu      sync.Mutex
	oldest  list.List // of net.Conn
	waiting map[net.Conn]*list.Element
}

// changed is the http.Server's ConnState hook.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.add(conn)
	case http.StateClosed, http.StateHijacked:
		c.remove(conn)
	default:
	}
}

func (c *connections) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[net.Conn]*list.Element{}
	}
	c.waiting[conn] = c.oldest.PushBack(conn)
	if c.oldest.Len() > maxUnauthenticated {
		first, _ := c.oldest.Remove(c.oldest.Front()).(net.Conn)
		delete(c.waiting, first)
		_ = first.Close()
	}
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, found := c.waiting[conn]; found {
		c.oldest.Remove(element)
		delete(c.waiting, conn)
	}
}

type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// authenticated says that the connection of a request may stay.
func (c *connections) authenticated(r *http.Request) {
	if conn, ok := r.Context().Value(connectionKey{}).(net.Conn); ok {
		c.remove(conn)
	}
}
