// Package webserver starts the servers of the app under test, waits until they respond, and stops them, and runs the
// command that resets the app. It does not know projects and trails.
package webserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/stdio"
)

// Timeout is how long a server may take to respond, unless its Spec has another limit.
const Timeout = time.Minute

// The time between two requests to the URL doubles from minInterval to maxInterval, since a server may log each of
// them.
const (
	minInterval = 50 * time.Millisecond
	maxInterval = 500 * time.Millisecond
)

// Spec says which server to start.
type Spec struct {
	Name          string // of the key in messages, such as webServer
	Command       string // for the shell
	URL           string // responds when the server is ready
	Dir           string
	Env           []string // complete
	Timeout       time.Duration
	ReuseExisting bool                           // use what responds at URL already
	LogPath       string                         // file for stdout and stderr, see [stdio.Spec]; Start removes an earlier one
	Redact        func(io.Writer) io.WriteCloser // see [spawn.Spec]
	Log           func(level, message, hint string)
}

// Server is a running server.
type Server struct {
	spec    Spec
	link    *stdio.Link // nil for a server that was running already
	watched chan struct{}
}

// Start starts a server and waits until its URL responds with a status below 404. ctx bounds the wait. The error is a
// *fault.Error, or the cause of ctx.
func Start(ctx context.Context, supervisor *spawn.Supervisor, spec Spec) (*Server, error) {
	s := &Server{spec: spec, watched: make(chan struct{})}
	if InUse(ctx, spec.URL) {
		if !spec.ReuseExisting {
			return nil, fault.New(fault.Server, "stop it, or write reuseExisting: true under "+spec.Name+" to use it",
				"%s: something is running at %s already", spec.Name, spec.URL)
		}
		close(s.watched)
		spec.Log("info", "uses what is running at "+spec.URL+" already", "")
		return s, s.awaitReady(ctx, nil)
	}
	spec.Log("info", "starting: "+spec.Command, "")
	_ = os.Remove(spec.LogPath) // one that cannot be removed is appended to
	var err error
	if s.link, err = startCommand(ctx, supervisor, spec); err != nil {
		return nil, err
	}
	if err := s.awaitReady(ctx, s.link.Done()); err != nil {
		close(s.watched)
		_ = s.Stop(context.WithoutCancel(ctx)) // the first error counts
		return nil, err
	}
	go s.watch()
	return s, nil
}

// watch logs the end of a server that was not stopped.
func (s *Server) watch() {
	defer close(s.watched)
	<-s.link.Done()
	if err := s.link.ExitError(); err != nil {
		s.spec.Log("warn", "it ended during the run: "+err.Message, "its output is in "+s.spec.LogPath)
	}
}

// Running reports whether the server has not exited. One that was running already has to accept connections.
func (s *Server) Running(ctx context.Context) bool {
	if s.link == nil {
		return InUse(ctx, s.spec.URL)
	}
	select {
	case <-s.link.Done():
		return false
	default:
		return true
	}
}

// Stop stops the server with everything that it started. One that was running already runs on.
func (s *Server) Stop(ctx context.Context) error {
	if s.link == nil {
		return nil
	}
	err := s.link.Stop(ctx)
	<-s.watched
	return err
}

// awaitReady waits until the URL responds or the server exits.
func (s *Server) awaitReady(ctx context.Context, exited <-chan struct{}) error {
	limit := s.spec.Timeout
	if limit == 0 {
		limit = Timeout
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for interval := minInterval; ; interval = min(2*interval, maxInterval) {
		last := respond(ctx, s.spec.URL)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-exited:
			return s.explain(fault.New(fault.Server, "its output is in "+s.spec.LogPath,
				"%s: the command exited before %s responded", s.spec.Name, s.spec.URL))
		case <-timeout.C:
			return s.explain(fault.New(fault.Server, "raise timeout under "+s.spec.Name+", or check url and the server's output in "+s.spec.LogPath,
				"%s: %s did not respond within %s: %v", s.spec.Name, s.spec.URL, limit, last))
		case <-time.After(interval):
		}
	}
}

func (s *Server) explain(err *fault.Error) error {
	if s.link == nil {
		return err
	}
	return s.link.Explain(err)
}

// respond returns why the server at a URL is not ready.
func respond(ctx context.Context, target string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	client := &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // only whether it responds counts
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // without the URL
	}
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusNotFound {
		return fmt.Errorf("it responds with %s", response.Status)
	}
	return nil
}

// InUse reports whether something accepts connections at the host and port of a URL.
func InUse(ctx context.Context, target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[u.Scheme == "https"]
	}
	dialer := net.Dialer{Timeout: time.Second}
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
