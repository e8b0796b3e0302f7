package studio

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// handler carries out what pages ask for. Its methods may be called from any goroutine.
type handler interface {
	// greet returns what a page that opens must know, whole. What was pushed since the page connected counts more.
	greet() []push
	// begin takes a request, in the order of those of a page, and does not block. The returned function carries it out on a
	// goroutine of its own. Its ctx ends with the server, and not when the page is closed.
	begin(name string, params json.RawMessage) func(ctx context.Context) (result any, err error)
	// watched says how many visible pages there are, whenever that has changed.
	watched(pages int)
	// file answers GET /past/…
	file(w http.ResponseWriter, r *http.Request)
	// unsaved reports whether something would be lost if the studio ended.
	unsaved() bool
}

// push is something that pages are told. It is encoded as {"on": on, …fields of body}.
type push struct {
	on   string
	body any
}

// The pushes of which only the newest waits for a slow page, and the lines of the log, of which the newest wait.
const (
	onState    = "state"
	onDocument = "document"
	onLog      = "log"
)

const maxPages = 16

// limits are the times that clients may take.
type limits struct {
	header time.Duration // to send the headers of a request
	answer time.Duration // to receive the answer to it
	idle   time.Duration // between the requests of a connection
	write  time.Duration // to receive one message of a socket
	ping   time.Duration // between pings of a socket, and to answer one
	bye    time.Duration // to close the socket when the server ends
}

func defaultLimits() limits {
	return limits{
		header: 10 * time.Second, answer: 30 * time.Second, idle: 2 * time.Minute, write: 10 * time.Second,
		ping: 30 * time.Second, bye: time.Second,
	}
}

type serverOptions struct {
	token     string
	port      int
	files     fs.FS  // of the page, compressed with gzip
	endReason string // that pages are told at the end
	output    func(string) string
	pagesGone time.Duration // 0 for a minute
	now       func() time.Time
	limits    limits
}

// server serves the page and what it and the handler say to each other. Nothing that a page does, or leaves, makes
// another page or the handler wait.
type server struct {
	serverOptions
	guard       guard
	connections connections
	handler     handler
	changed     chan struct{} // receives when a page was opened, closed, shown or hidden
	running     sync.WaitGroup

	mu         sync.Mutex
	ended      bool
	opened     bool    // a page was open
	pages      []*page // the oldest first
	controller *page   // the page that controls; nil while there is none
	newest     *shot   // the picture of the screen; nil before the first
}

func newServer(o serverOptions) *server {
	if o.output == nil {
		o.output = func(text string) string { return text }
	}
	if o.pagesGone == 0 {
		o.pagesGone = time.Minute
	}
	return &server{serverOptions: o, guard: newGuard(o.port, o.token), changed: make(chan struct{}, 1)}
}

// serve answers requests until ctx ends, or until all pages have been closed for a while and nothing is unsaved. It
// closes the listener, says "bye" to every page and waits for all that runs.
func (s *server) serve(ctx context.Context, l net.Listener, h handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.handler = h
	hs := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handle(ctx, w, r) }),
		ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.header, WriteTimeout: s.limits.answer,
		IdleTimeout: s.limits.idle, MaxHeaderBytes: maxHeader,
		ErrorLog:                     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
		ConnContext: withConnection, ConnState: s.connections.changed,
	}
	hs.Protocols.SetHTTP1(true)
	served := make(chan error, 1)
	go func() { served <- hs.Serve(l) }()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.follow(ctx)
	}()
	var err error
	ended := false
	select {
	case <-ctx.Done():
	case <-gone:
	case err = <-served:
		ended = true
	}
	cancel()
	s.end()
	_ = hs.Close()
	if !ended {
		err = <-served
	}
	<-gone
	s.running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fault.Wrap(fault.IO, err, "", "serve the page")
}

// follow tells the handler how many visible pages there are. It returns when ctx ends, or when the last page has been
// closed for pagesGone and nothing is unsaved.
func (s *server) follow(ctx context.Context) {
	watched := 0
	gone := time.NewTimer(s.pagesGone)
	gone.Stop()
	defer gone.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
			open, visible, opened := s.count()
			if visible != watched {
				watched = visible
				s.handler.watched(visible)
			}
			if gone.Stop(); open == 0 && opened {
				gone.Reset(s.pagesGone)
			}
		case <-gone.C:
			if !s.handler.unsaved() {
				return
			}
			gone.Reset(s.pagesGone)
		}
	}
}

func (s *server) count() (open, visible int, opened bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		if p.visible {
			visible++
		}
	}
	return len(s.pages), visible, s.opened
}

// begun reports whether something may begin, which then calls s.running.Done.
func (s *server) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running.Add(1)
	return true
}

// end has every page closed, and lets nothing begin any more.
func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, p := range s.pages {
		p.bye(s.endReason)
	}
}

// handle answers a request. ctx ends with the server.
func (s *server) handle(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if !s.begun() {
		return
	}
	defer s.running.Done()
	name, ok := s.guard.admit(w, r, func() { s.connections.authenticated(r) })
	if !ok {
		return
	}
	switch {
	case name == "socket":
		s.socket(ctx, w, r)
	case strings.HasPrefix(name, "past/"):
		r.URL.Path, r.URL.RawPath = "/"+name, ""
		s.handler.file(w, r)
	default:
		s.file(w, r, name)
	}
}

// file answers with a file of the page.
func (s *server) file(w http.ResponseWriter, r *http.Request, name string) {
	content, err := fs.ReadFile(s.files, name+".gz")
	kind := contentType(path.Ext(name))
	if err != nil || kind == "" {
		http.Error(w, "404 not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(content)
		return
	}
	if text, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		_, _ = io.Copy(w, text)
	}
}

// contentType returns the type of the files with an extension, empty for others. Those that the system knows may be
// others.
func contentType(ext string) string {
	return map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
	}[ext]
}

// push tells all pages something.
func (s *server) push(on string, body any) {
	if open, _, _ := s.count(); open == 0 {
		return // greet says it to the next one
	}
	m := encodePush(push{on, body}, s.now)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		p.push(m)
	}
}

// controls reports whether a page controls the session.
func (s *server) controls(p *page) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.controller == p
}

// open adds a page, which controls if no other one does. It returns false when there are too many, or when the server
// has ended.
func (s *server) open(p *page) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.pages) >= maxPages {
		return false
	}
	s.pages, s.opened = append(s.pages, p), true
	if s.controller == nil {
		s.controller = p
	}
	s.pagesChanged()
	return true
}

// close removes a page. If it controlled, the one that was opened first does now.
func (s *server) close(p *page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = slices.DeleteFunc(s.pages, func(other *page) bool { return other == p })
	if s.controller == p {
		s.controller = nil
		if len(s.pages) > 0 {
			s.controller = s.pages[0]
		}
	}
	s.pagesChanged()
}

// takeOver gives a page the control.
func (s *server) takeOver(p *page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controller = p
	s.pagesChanged()
}

// pagesChanged sends every page its state again. The caller holds mu.
func (s *server) pagesChanged() {
	for _, p := range s.pages {
		p.again(onState)
	}
	s.signal()
}

// signal has follow look at the pages.
func (s *server) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
